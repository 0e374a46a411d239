"""The conditional randomization test: uniform p-values of null features, power, and samplers."""

import numpy as np
import pytest
from scipy.stats import kstest

from labelsieve.discoveries import conditional_randomization_test
from labelsieve.errors import InputError


def data(seed, *, binary, n_rows=150):
    """Column 1 is associated with the targets through column 0 only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    X = (X > 0).astype(int) if binary else X
    Y = X[:, [0]] * [1.0, -1.0, 0.0] + 0.8 * rng.normal(size=(n_rows, 3))
    return X, np.median(Y, axis=0) < Y


@pytest.mark.parametrize("binary", [False, True], ids=["copula", "tree"])
def test_p_values_of_null_features_are_uniform_or_larger_and_those_of_others_small(binary):
    found = [conditional_randomization_test(*data(seed, binary=binary), [0, 1, 5], n_resamples=49) for seed in range(100)]
    relevant, confounded, irrelevant = np.transpose(found)
    assert np.median(relevant) == pytest.approx(1 / 50)
    for p in (confounded, irrelevant):
        assert kstest(p - 0.01, "uniform", alternative="greater").pvalue > 0.001  # larger than uniform: shrunk correlations
        assert np.mean(p <= 0.1) <= 0.1 + 3 * np.sqrt(0.09 / 100)


def test_the_p_value_is_the_rank_of_the_statistic_among_draws_of_a_sampler():
    X, Y = data(0, binary=False)
    draws = np.random.default_rng(1).normal(size=(19, len(X)))
    p = conditional_randomization_test(X[:, [4]], Y, [0], sampler=lambda j, n, generator: draws[:n], n_resamples=19)
    target = (Y - Y.mean(axis=0)) / Y.std(axis=0)  # nothing to regress on
    table = np.vstack([X[:, 4], draws])
    statistics = (((table - table.mean(axis=0)) @ target) ** 2).sum(axis=1)
    assert p[0] == (1 + np.count_nonzero(statistics[1:] >= statistics[0])) / 20


def test_a_feature_is_tested_alike_with_others_and_a_duplicate_never_rejected():
    X, Y = data(3, binary=False)
    one = conditional_randomization_test(X, Y, [2], n_resamples=99)
    assert conditional_randomization_test(X, Y, [0, 2], n_resamples=99)[1] == one[0]
    assert conditional_randomization_test(np.column_stack([X, X[:, 0]]), Y, [0], n_resamples=99)[0] == 1


def test_input_that_cannot_be_used_is_refused():
    X, Y = data(0, binary=False)
    with pytest.raises(InputError, match="features"):
        conditional_randomization_test(X, Y, [9])
    with pytest.raises(InputError, match="same rows"):
        conditional_randomization_test(X, Y[:10], [0])
    with pytest.raises(InputError, match="Did you mean 'gaussian'"):
        conditional_randomization_test(X, Y, [0], sampler="gausian")
    with pytest.raises(InputError, match="sample_given_others"):
        conditional_randomization_test(X, Y, [0], sampler=3)
