from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError
from labelsieve.statistics import bayesian_signed_rank, confidence_band, holm, stability_index


def naive_posterior(z, same_within, prior, n_samples, seed):
    random = np.random.default_rng(seed)
    z = [0.0, *z]
    wins = [0, 0, 0]
    for _ in range(n_samples):
        w = random.dirichlet([prior] + [1.0] * (len(z) - 1))
        parts = [0.0, 0.0, 0.0]
        for i, j in np.ndindex(len(z), len(z)):
            total = round(z[i] + z[j], 12)  # 0.5 - 0.52 is -0.02, and that is within 0.02
            parts[0 if total > 2 * same_within else 2 if total < -2 * same_within else 1] += w[i] * w[j]
        wins[int(np.argmax(parts))] += 1
    return [share / n_samples for share in wins]


def test_posterior_equals_its_twin():
    first, second = np.array([0.9, 0.8, 0.6, 0.5, 0.7]), np.array([0.85, 0.81, 0.5, 0.52, 0.7])
    found = bayesian_signed_rank(first, second, same_within=0.02, n_samples=1500, random_state=5)
    assert [found.first, found.same, found.second] == pytest.approx(naive_posterior(first - second, 0.02, 0.5, 1500, 5))


def test_posterior_says_better_same_or_unknown():
    random = np.random.default_rng(1)
    base = random.random(20)
    assert bayesian_signed_rank(base + 0.1, base, same_within=0.01).first > 0.99
    assert bayesian_signed_rank(base + 0.1, base, same_within=0.01, lower_is_better=True).second > 0.99
    assert bayesian_signed_rank(base + random.normal(0, 0.001, 20), base, same_within=0.01).same > 0.99
    noise = random.normal(0, 1, 20)
    noise -= noise.mean()
    assert bayesian_signed_rank(base + noise, base).first < 0.9
    alike = bayesian_signed_rank(base, base)
    assert (alike.first, alike.same, alike.second) == (0.5, 0.0, 0.5)


def test_differences_up_to_the_border_are_the_same_in_decimals_too():
    first, second = np.array([0.85, 0.75, 0.65, 0.55]), np.array([0.84, 0.74, 0.64, 0.54])
    for one, other in ((first, second), (second, first)):
        assert bayesian_signed_rank(one, other, same_within=0.01, n_samples=500).same == 1
    assert bayesian_signed_rank(first, second, same_within=0.0099, n_samples=500).same < 0.5


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8), st.sampled_from([0.0, 1.0]), st.integers(0, 100))
def test_posterior_is_a_distribution_that_swaps_with_the_methods(z, same_within, seed):
    zeros = [0] * len(z)
    found = bayesian_signed_rank(z, zeros, same_within=same_within, n_samples=300, random_state=seed)
    turned = bayesian_signed_rank(zeros, z, same_within=same_within, n_samples=300, random_state=seed)
    assert found.first + found.same + found.second == pytest.approx(1)
    assert (turned.first, turned.same, turned.second) == pytest.approx((found.second, found.same, found.first))


def test_shared_rows_widen_a_band():
    values = np.random.default_rng(0).normal(size=(30, 5))
    plain, honest = confidence_band(values), confidence_band(values, test_share=0.5)
    assert np.array_equal(plain.mean, honest.mean)
    assert (honest.high - honest.low) / (plain.high - plain.low) == pytest.approx(np.sqrt(31))
    single = confidence_band([1.0, 1.0, 1.0])
    assert single.low == single.high == 1.0


def masks_of(selections, d):
    masks = np.zeros((len(selections), d), dtype=bool)
    for row, columns in enumerate(selections):
        masks[row, list(columns)] = True
    return masks


def mean_pairwise(selections, d):
    """For selections of one size k, the index is the mean over pairs of (shared - k^2/d) / (k - k^2/d)."""
    k = len(selections[0])
    pairs = [(len(set(a) & set(b)) - k * k / d) / (k - k * k / d) for a, b in combinations(selections, 2)]
    return sum(pairs) / len(pairs)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_stability_of_equal_sizes_is_kunchevas_mean_over_pairs(data):
    d = data.draw(st.integers(3, 10))
    k = data.draw(st.integers(1, d - 1))
    selections = data.draw(st.lists(st.permutations(range(d)).map(lambda order: order[:k]), min_size=2, max_size=6))
    found = stability_index(masks_of(selections, d))
    assert found.index == pytest.approx(mean_pairwise(selections, d), abs=1e-12)
    assert found.interval[0] <= found.index <= found.interval[1]


@pytest.mark.parametrize(
    "refused",
    [
        lambda: bayesian_signed_rank([1.0], [1.0, 2.0]),
        lambda: bayesian_signed_rank([], []),
        lambda: bayesian_signed_rank([1.0, np.nan], [1.0, 2.0]),
        lambda: bayesian_signed_rank([1.0], [2.0], same_within=-1),
        lambda: bayesian_signed_rank([1.0], [2.0], prior=0),
        lambda: bayesian_signed_rank([1.0], [2.0], n_samples=0),
        lambda: bayesian_signed_rank(["a"], ["b"]),
        lambda: bayesian_signed_rank([1.0], [2.0], same_within=None),
        lambda: bayesian_signed_rank([1.0], [2.0], prior="a"),
        lambda: bayesian_signed_rank([1.0], [2.0], random_state=-1),
        lambda: confidence_band([1.0]),
        lambda: confidence_band([[1.0, 2.0], [1.0]]),
        lambda: confidence_band(["a", "b"]),
        lambda: confidence_band([1.0, 2.0], confidence="95 %"),
        lambda: confidence_band(np.ma.masked_greater([1.0, 2.0, 9.0], 5.0)),
        lambda: holm(["a"]),
        lambda: stability_index([[0, 1], [1]]),
        lambda: stability_index([[0, 1], [1, 0]], confidence="95 %"),
        lambda: confidence_band([[1.0, np.nan], [1.0, 2.0]]),
        lambda: confidence_band([1.0, 2.0], confidence=95),
        lambda: confidence_band([1.0, 2.0], test_share=1.0),
        lambda: holm([0.5, 1.5]),
        lambda: stability_index([[0, 1]]),
        lambda: stability_index([[0, 2], [1, 0]]),
    ],
)
def test_what_cannot_be_used_is_refused(refused):
    with pytest.raises(InputError):
        refused()


def test_the_option_that_is_wrong_is_the_one_that_is_named():
    with pytest.raises(InputError, match="confidence must be between 0 and 1, not 95"):
        confidence_band([1.0, 2.0], confidence=95)
