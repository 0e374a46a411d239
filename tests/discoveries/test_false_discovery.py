"""Adjusted and combined p-values, and tests in two levels, compared with naive loops over levels."""

import numpy as np
import pytest
from scipy.stats import combine_pvalues

from labelsieve import InputError
from labelsieve.discoveries import adjusted, combined, hierarchical_tests


def discovered(p_values, alpha, correction="bh"):
    """Benjamini and Hochberg's (or Yekutieli's) step-up procedure as it is written in the papers."""
    m = len(p_values)
    harmonic = sum(1 / i for i in range(1, m + 1)) if correction == "by" else 1.0
    order = sorted(range(m), key=lambda test: p_values[test])
    last = max((k for k in range(1, m + 1) if p_values[order[k - 1]] <= alpha * k / (m * harmonic) + 1e-15), default=0)
    return set(order[:last])


def discovered_in_two_levels(p_values, alpha, combination, correction):
    """Peterson et al. (2016) at one level: selected families, then tests inside of them at alpha * selected / families."""
    families = [combined_naively(row, combination) for row in p_values]
    selected = discovered(families, alpha, correction)
    level = alpha * len(selected) / len(families)
    return selected, {(j, l) for j in selected for l in discovered(p_values[j], level)}


def combined_naively(row, combination):
    if combination == "fisher":
        return combine_pvalues(row, method="fisher").pvalue
    return min(len(row) * p / (k + 1) for k, p in enumerate(sorted(row)))


def some_p_values(seed, shape):
    rng = np.random.default_rng(seed)
    p_values = rng.uniform(size=shape)
    p_values[: shape[0] // 3, : 1 + shape[1] // 2] **= 6
    return np.maximum(p_values.round(3 if seed % 2 else 9), 1e-9)  # ties, too


@pytest.mark.parametrize("correction", ["bh", "by"])
def test_a_test_is_discovered_at_a_level_if_its_q_value_is_at_most_that(correction):
    p_values = some_p_values(3, (30, 1))[:, 0]
    q_values = adjusted(p_values, correction)
    for alpha in (0.01, 0.05, 0.2, 0.7):
        assert set(np.flatnonzero(q_values <= alpha + 1e-15)) == discovered(p_values, alpha, correction)


@pytest.mark.parametrize("combination", ["simes", "fisher"])
def test_combined_p_values_are_those_of_a_loop(combination):
    p_values = some_p_values(0, (12, 5))
    expected = [combined_naively(row, combination) for row in p_values]
    assert combined(p_values, combination) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("correction", ["bh", "by"])
@pytest.mark.parametrize("combination", ["simes", "fisher"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (9, 1), (25, 7)])
def test_pairs_are_discovered_at_a_level_if_both_q_values_are_at_most_that(shape, combination, correction):
    for seed in range(4):
        p_values = some_p_values(seed, shape)
        tests = hierarchical_tests(p_values, combination=combination, correction=correction)
        levels = np.concatenate([tests.family_q_values, tests.q_values.ravel(), [0.01, 0.05, 0.1, 0.3]])
        for alpha in levels * (1 + 1e-9):
            if alpha < 1:
                selected, pairs = discovered_in_two_levels(p_values, alpha, combination, correction)
                assert set(np.flatnonzero(tests.family_q_values <= alpha)) == selected
                assert set(map(tuple, np.argwhere(tests.q_values <= alpha).tolist())) == pairs


def test_simes_selects_no_family_without_a_discovery_inside():
    tests = hierarchical_tests(some_p_values(5, (40, 9)))
    assert np.allclose(tests.q_values.min(axis=1), tests.family_q_values)


def test_values_that_are_no_p_values_are_refused():
    for wrong in (np.nan, -0.1, 1.1):
        with pytest.raises(InputError, match="between 0 and 1"):
            hierarchical_tests(np.array([[0.5, wrong]]))
    with pytest.raises(InputError, match="combine"):
        combined(np.array([0.5]), "stouffer")
    with pytest.raises(InputError, match="correction"):
        adjusted(np.array([0.5]), "holm")
