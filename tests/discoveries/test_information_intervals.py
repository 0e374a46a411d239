"""Confidence intervals of mutual information and of ranks: coverage, and what they are made of."""

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from labelsieve.discoveries import information_intervals, information_ranks, rank_intervals
from labelsieve.errors import InputError
from labelsieve.information import mutual_information


def draws(cells, n_rows, n_tables, seed):
    """Pairs of columns with this joint distribution, next to each other: X and Y of shape (n_rows, n_tables)."""
    flat = np.random.default_rng(seed).choice(cells.size, size=(n_rows, n_tables), p=cells.ravel())
    return np.divmod(flat, cells.shape[1])


@pytest.mark.parametrize("n_rows", [100, 500])
@pytest.mark.parametrize(
    "cells", [[[0.35, 0.35], [0.15, 0.15]], [[0.3, 0.2], [0.2, 0.3]], [[0.5, 0.05, 0.05], [0.05, 0.05, 0.3]]]
)
def test_intervals_contain_the_information_as_often_as_they_say(cells, n_rows):
    cells = np.array(cells)
    margins = np.outer(cells.sum(axis=1), cells.sum(axis=0))
    true = float((cells * np.log(cells / margins)).sum())
    X, Y = draws(cells, n_rows, 300, seed=n_rows)
    found = [information_intervals(X[:, [j]], Y[:, [j]], confidence=0.9) for j in range(300)]
    lower, estimate, upper = np.array([(one.lower, one.estimate, one.upper) for one in found]).reshape(-1, 3).T
    inside = ((lower <= true + 1e-12) & (true <= upper + 1e-12)).mean()
    assert inside >= 0.9 - 3 * np.sqrt(0.09 / 300)
    assert estimate.mean() == pytest.approx(true, abs=0.01)
    assert ((lower <= estimate) & (estimate <= upper + 0.01)).all()


def test_bootstrap_intervals_are_those_of_resampled_rows_and_contain_the_information():
    cells = np.array([[0.35, 0.15], [0.1, 0.4]])
    true = float((cells * np.log(cells / np.outer(cells.sum(axis=1), cells.sum(axis=0)))).sum())
    X, Y = draws(cells, 150, 6, seed=3)
    found = information_intervals(X, Y, confidence=0.9, method="bootstrap", n_resamples=20, random_state=7, n_jobs=1)
    rng = np.random.RandomState(7)
    samples = [rng.randint(150, size=150) for _ in range(20)]
    drawn = np.array([mutual_information(X[rows], Y[rows]) for rows in samples])
    bias = 1 / 300  # one degree of freedom
    np.testing.assert_allclose(found.estimate, np.maximum(mutual_information(X, Y) - bias, 0), atol=1e-12)
    np.testing.assert_allclose(found.lower, np.maximum(np.quantile(drawn, 0.05, axis=0) - 2 * bias, 0), atol=1e-12)
    np.testing.assert_allclose(found.upper, np.maximum(np.quantile(drawn, 0.95, axis=0) - 2 * bias, 0), atol=1e-12)
    own = np.arange(6), np.arange(6)
    assert ((found.lower[own] <= true) & (true <= found.upper[own])).sum() >= 4


def test_independence_is_rejected_where_the_chi_square_test_rejects_it():
    X, Y = draws(np.array([[0.35, 0.25], [0.2, 0.2]]), 200, 30, seed=1)
    p = chi2.sf(2 * 200 * mutual_information(X, Y), 1)
    found = information_intervals(X, Y, confidence=0.9).lower > 0
    clear = np.abs(p - 0.05) > 0.01  # the variance is that of the sample for a small part
    np.testing.assert_array_equal(found[clear], (p < 0.05)[clear])


def test_limits_of_weak_information_are_quantiles_of_the_noncentral_chi_square():
    x, y = np.tile([0, 1], 50), np.r_[np.tile([0, 1], 27), np.tile([1, 0], 23)]
    found = information_intervals(x[:, None], y[:, None], confidence=0.9)
    statistic = 2 * 100 * mutual_information(x[:, None], y[:, None])[0, 0]
    assert found.lower[0, 0] == 0
    assert ncx2.cdf(statistic, 1, 200 * found.upper[0, 0]) == pytest.approx(0.05, abs=1e-3)
    constant = information_intervals(np.zeros((100, 1), dtype=int), y[:, None])
    assert constant.lower[0, 0] == constant.upper[0, 0] == 0


def test_rank_sets_contain_the_true_ranks_as_often_as_they_say():
    rng = np.random.default_rng(0)
    true = np.array([3.0, 2.0, 1.9, 1.0, 0.2])
    hits = 0
    for _ in range(200):
        scores = true + 0.2 * rng.normal(size=5)
        first, last = rank_intervals(scores, scores + 0.2 * rng.normal(size=(100, 5)), confidence=0.9).T
        hits += bool(((first <= [1, 2, 3, 4, 5]) & (last >= [1, 2, 3, 4, 5])).all())
    assert hits >= 170
    assert (last - first).max() <= 2


def test_features_without_difference_share_ranks_and_others_do_not():
    rng = np.random.default_rng(2)
    Y = (rng.random((600, 2)) < 0.5).astype(int)
    noisy = [np.where(rng.random(600) < rate, 1 - Y[:, 0], Y[:, 0]) for rate in (0.05, 0.4, 0.4)]
    ranks = information_ranks(np.column_stack(noisy), Y, n_resamples=60)
    assert ranks[0].tolist() == [1, 1]
    assert ranks[1:].tolist() == [[2, 3], [2, 3]]


def test_input_that_cannot_be_used_is_refused():
    with pytest.raises(InputError, match="same rows"):
        information_intervals([[0], [1]], [[0], [1], [1]])
    with pytest.raises(InputError, match="ten rows"):
        rank_intervals([1.0, 2.0], [[1.0, 2.0]])
