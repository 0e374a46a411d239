"""p-values of association, compared with all permutations of a few rows and with naive random ones."""

from collections import Counter
from itertools import combinations
from math import comb, log, prod

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import fisher_exact, hypergeom

from labelsieve.discoveries.association import (
    TESTS,
    TestSettings,
    association_tests,
    fourfold_p_values,
    level_counts,
    two_column_p_values,
)
from labelsieve.discoveries.error_rates import detectable_information
from labelsieve.discoveries.permutations import BlockPermutations
from labelsieve.errors import InputError
from labelsieve.tables.codes import Codes


def information(x, y, strata=None):
    """Mutual information in nats from counts, given the strata."""
    s = [0] * len(x) if strata is None else list(strata)
    x, y, n = list(x), list(y), len(x)
    of_x, of_y, of_s = (Counter(zip(*columns, strict=True)) for columns in ((x, s), (y, s), (s,)))
    joint = Counter(zip(x, y, s, strict=True))
    return sum(count / n * log(count * of_s[c,] / (of_x[a, c] * of_y[b, c])) for (a, b, c), count in joint.items())


def share_of_all_permutations(x, y):
    """The share of the ways to place the ones of ``y`` that are at least as informative."""
    observed = information(x, y)
    placed = [[int(row in ones) for row in range(len(y))] for ones in combinations(range(len(y)), int(y.sum()))]
    return np.mean([information(x, labels) >= observed - 1e-9 for labels in placed])


def associations(X, Y, **settings):
    return association_tests(Codes.from_values(X), Codes.from_values(Y), TestSettings(**settings))


@pytest.mark.parametrize("n_levels", [2, 3, 4])
def test_exact_p_values_are_the_share_of_all_permutations(n_levels):
    rng = np.random.default_rng(n_levels)
    X, Y = rng.integers(0, n_levels, size=(9, 4)), rng.integers(0, 2, size=(9, 3))
    tests = associations(X, Y)
    for j in range(4):
        for l in range(3):
            assert tests.information[j, l] == pytest.approx(information(X[:, j], Y[:, l]))
            assert tests.p_values[j, l] == pytest.approx(share_of_all_permutations(X[:, j], Y[:, l]))
    assert {TESTS[kind] for kind in np.unique(tests.tests)} == {"exact"}
    swapped = associations(Y, X)  # a binary feature and a target with several classes
    assert swapped.p_values == pytest.approx(tests.p_values.T)


def test_fourfold_p_values_have_the_tails_of_the_hypergeometric_distribution():
    for n, a, b in ((60, 20, 9), (2000, 700, 40), (50, 25, 25)):
        counts = np.arange(max(0, a + b - n), min(a, b) + 1)
        tables = [np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [n - a - b + k, b - k, a - k, k], axis=0) for k in counts]
        nats = np.array([information(table[:, 0], table[:, 1]) for table in tables])
        expected = [hypergeom.pmf(counts[nats >= value - 1e-12], n, a, b).sum() for value in nats]
        assert fourfold_p_values(np.array(n), np.array(a), np.array(b), nats) == pytest.approx(np.array(expected), rel=1e-6)
    symmetric = fisher_exact([[3, 17], [17, 3]]).pvalue
    x, y = np.repeat([0, 1], 20), np.repeat([0, 1, 0, 1], [3, 17, 17, 3])
    assert associations(x[:, np.newaxis], y[:, np.newaxis]).p_values[0, 0] == pytest.approx(symmetric)


def test_p_values_of_two_columns_are_never_below_the_exact_ones():
    margin, m = np.array([14, 9, 7]), 8
    cells = [(k, l, m - k - l) for k in range(m + 1) for l in range(m + 1 - k) if m - k - l <= 7]
    weights = np.array([prod(map(comb, margin.tolist(), cell)) for cell in cells]) / comb(30, m)
    nats = []
    for cell in cells:
        x = np.repeat([0, 1, 2], margin)
        y = np.concatenate([np.repeat([1, 0], [k, n - k]) for n, k in zip(margin, cell, strict=True)])
        nats.append(information(x, y))
    nats = np.array(nats)
    exact = np.array([weights[nats >= value - 1e-9].sum() for value in nats])
    bound = two_column_p_values(margin, np.full(len(nats), m), nats)
    assert (bound >= exact * (1 - 1e-9)).all()
    assert np.median(bound / exact) < 1.02


@pytest.mark.parametrize("settings", ["plain", "strata", "whole groups", "groups of one size"])
def test_random_permutations_estimate_what_naive_ones_do(settings):
    rng = np.random.default_rng(3)
    n = 36
    groups = np.arange(n) // 3
    strata = np.arange(n) // 18
    X, Y = rng.integers(0, 4, size=(n, 2)), rng.integers(0, 3, size=(n, 2))
    Y[:, 0] = (X[:, 0] + rng.integers(0, 2, size=n)) % 3
    if settings == "whole groups":
        Y = Y[::3][groups]
    given = {"plain": {}, "strata": {"strata": strata}}.get(settings, {"groups": groups, "strata": strata})
    tests = associations(X, Y, n_permutations=1999, **given)
    assert {TESTS[kind] for kind in np.unique(tests.tests)} == {"permutation"}
    reached, n_drawn = np.zeros((2, 2)), 200
    by_stratum = given.get("strata", np.zeros(n, dtype=int))
    observed = np.array([[information(X[:, j], Y[:, l], by_stratum) for l in range(2)] for j in range(2)])
    for _ in range(n_drawn):
        order = np.arange(n)
        for stratum in np.unique(by_stratum):
            rows = np.flatnonzero(by_stratum == stratum)
            order[rows] = rng.permutation(rows.reshape(-1, 3) if "groups" in given else rows).ravel()
        for j, l in np.ndindex(2, 2):
            reached[j, l] += information(X[:, j], Y[order, l], by_stratum) >= observed[j, l] - 1e-9
    naive = (1 + reached) / (1 + n_drawn)
    error = 4 * np.sqrt(naive * (1 - naive) / n_drawn) + 0.25 * naive + 3 / n_drawn  # of 200, and of 20 that stop a pair
    assert (np.abs(tests.p_values - naive) <= error).all()
    assert tests.information == pytest.approx(observed)
    assert associations(X, Y, n_permutations=1999, **given).p_values.tolist() == tests.p_values.tolist()


def test_the_chi_square_distribution_is_used_where_counts_allow_and_is_uniform_under_independence():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 4, size=(900, 60)), rng.integers(0, 3, size=(900, 50))
    tests = associations(X, Y)
    assert {TESTS[kind] for kind in np.unique(tests.tests)} == {"g-test"}
    for level in (0.01, 0.1, 0.5):
        assert np.mean(tests.p_values <= level) == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 3000))
    few = associations(X[:60], Y[:60], n_permutations=99)
    assert {TESTS[kind] for kind in np.unique(few.tests)} == {"permutation"}


def test_sparse_tables_and_missing_cells_are_those_of_the_known_rows():
    rng = np.random.default_rng(1)
    X, Y = (rng.random((80, 6)) < 0.2) * 1, (rng.random((80, 3)) < 0.3) * 1
    dense, sparse = associations(X, Y), associations(sp.csc_array(X), sp.csc_array(Y))
    assert np.array_equal(dense.p_values, sparse.p_values)
    unknown = Y.copy()
    unknown[:20, 1] = 2
    codes = Codes(
        80, np.array([2, 3, 2], dtype=np.uint32), dense=unknown.astype(np.uint8), missing=np.array([False, True, False])
    )
    tests = association_tests(Codes.from_values(X), codes)
    assert np.array_equal(tests.p_values[:, [0, 2]], dense.p_values[:, [0, 2]])
    assert np.allclose(tests.p_values[:, 1], associations(X[20:], Y[20:]).p_values[:, 1])


def test_columns_and_their_counts_are_the_same_dense_and_sparse():
    rng = np.random.default_rng(2)
    values = rng.integers(0, 4, size=(30, 5)) * (rng.random((30, 5)) < 0.4)
    dense, sparse = Codes.from_values(values), Codes.from_values(sp.csc_array(values))
    expected = np.concatenate([np.bincount(values[:, j], minlength=values[:, j].max() + 1) for j in range(5)])
    for codes in (dense, sparse):
        counts, starts = level_counts(codes)
        assert counts.tolist() == expected.tolist()
        assert starts.tolist() == [0, *np.cumsum(values.max(axis=0) + 1)]
        assert np.array_equal(codes.take_columns(np.array([3, 0])).to_dense(), values[:, [3, 0]])


def test_groups_that_cannot_be_exchanged_are_refused():
    Y = Codes.from_values(np.array([[0], [1], [1], [0], [1], [0]]))
    same = np.zeros(6, dtype=int)
    with pytest.raises(InputError, match="no two groups can be exchanged"):
        BlockPermutations.of_groups(np.array([0, 1, 1, 2, 2, 2]), same, Y)
    with pytest.raises(InputError, match="several strata"):
        BlockPermutations.of_groups(np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 0, 0, 0]), Y)


def test_a_pair_with_the_minimum_information_has_the_level_as_its_p_value():
    rng = np.random.default_rng(4)
    level, n, repeats = 1e-3, 2000, 150
    assert detectable_information(n, 4, level) * 2 * n == pytest.approx(18.4668, abs=1e-3)
    wanted = detectable_information(n, 1, level, power=0.8)
    shift = np.sqrt(wanted * 2)  # of a binary pair with uniform margins, to second order
    x = rng.integers(0, 2, size=(n, repeats))
    y = (rng.random(x.shape) < 0.5 + shift / 2 * (2 * x - 1)) * 1
    found = np.diag(associations(x, y).p_values) <= level
    assert found.mean() == pytest.approx(0.8, abs=0.11)
