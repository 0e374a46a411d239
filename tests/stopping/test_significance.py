"""The significance tests of the stopping rules: their statistics, and their level."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from labelsieve import Sieve
from labelsieve.discoveries.permutations import permutation_within, permuted_rows
from labelsieve.information import Codes, conditional_mutual_information
from labelsieve.stopping import GTest, PermutationTest
from labelsieve.stopping.significance import g_statistic
from tests.support.reference_stopping import g_test_p_value

ALPHA = 0.05


def within_binomial_bounds(n_false, n_trials, alpha=ALPHA):
    """False alarms do not exceed the level, except with probability 1/1000."""
    return n_false <= stats.binom.isf(1e-3, n_trials, alpha)


def irrelevant_features(seed, n_rows=60, n_features=8, n_labels=3):
    """Features and labels that are independent of each other; labels depend on each other, and one is rare."""
    rng = np.random.default_rng(seed)
    shared = rng.random((n_rows, 1))
    Y = (0.5 * shared + 0.5 * rng.random((n_rows, n_labels)) > [0.5, 0.5, 0.7][:n_labels]).astype(int)
    return rng.integers(0, 3, size=(n_rows, n_features)), Y


def false_alarms(rule, n_trials, make=irrelevant_features, criterion="jmi", forced=()):
    sieve = Sieve(criterion, discretizer=None, forced=forced)
    kept = [len(sieve.set_params(n_features_to_select=rule(seed)).fit(*make(seed)).selected_) for seed in range(n_trials)]
    return sum(size > len(forced) for size in kept)


def permutation_tests(n_permutations, max_features):
    return lambda seed: PermutationTest(ALPHA, n_permutations=n_permutations, random_state=seed, max_features=max_features)


def test_the_permutation_test_holds_its_level_under_the_null():
    n_trials = 600
    n_false = false_alarms(permutation_tests(19, 1), n_trials)
    assert within_binomial_bounds(n_false, n_trials)
    assert n_false >= stats.binom.ppf(1e-3, n_trials, ALPHA), "the first feature has exactly this level"


def redundant_features(seed):
    """The first feature is relevant; the others are noisy copies of it and add no information."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, size=80)
    Y = (rng.random((80, 2)) < 0.2 + 0.3 * first[:, np.newaxis]).astype(int)
    copies = np.where(rng.random((80, 5)) < 0.3, rng.integers(0, 3, size=(80, 5)), first[:, np.newaxis])
    return np.column_stack([first, copies]), Y


@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmi"])
def test_the_permutation_test_holds_its_level_after_the_first_feature(criterion):
    n_trials = 300
    n_false = false_alarms(permutation_tests(19, 2), n_trials, redundant_features, criterion, forced=[0])
    assert within_binomial_bounds(n_false, n_trials)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmim", "pmu"])
def test_the_permutation_test_holds_its_level_in_a_long_run(criterion):
    n_trials = 2000
    n_false = false_alarms(permutation_tests(39, 1), n_trials, criterion=criterion)
    assert stats.binom.ppf(1e-4, n_trials, ALPHA) <= n_false <= stats.binom.isf(1e-4, n_trials, ALPHA)


@pytest.mark.parametrize("given", ["each", "all"])
def test_the_g_test_holds_its_level_with_enough_rows(given):
    def make(seed):
        return irrelevant_features(seed, n_rows=400)

    n_trials = 300
    assert within_binomial_bounds(false_alarms(lambda _: GTest(ALPHA, given=given, max_features=2), n_trials, make), n_trials)


@pytest.mark.parametrize(("n_rows", "rate"), [(60, 0.4), (200, 0.4), (200, 0.05)])
def test_the_g_test_holds_its_level_with_few_rows_in_a_cell(n_rows, rate):
    """After a forced feature, five bins of it and of a candidate and two classes make 50 cells."""

    def make(seed):
        rng = np.random.default_rng(seed)
        return rng.integers(0, 5, size=(n_rows, 10)), (rng.random((n_rows, 3)) < rate).astype(int)

    n_trials = 200
    n_false = false_alarms(lambda _: GTest(ALPHA, min_rows=1, max_features=2), n_trials, make, forced=[0])
    assert within_binomial_bounds(n_false, n_trials)


@pytest.mark.parametrize("n_rows", [120, 200, 240])
def test_the_g_test_keeps_three_strong_features_with_few_rows(n_rows):
    kept = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 20))
        Y = (X[:, :3] + 0.3 * rng.normal(size=(n_rows, 3)) > 0).astype(int)
        kept.append(Sieve("cmim", n_features_to_select=GTest()).fit(X, Y).selected_.tolist())
    assert all(sorted(selected) == [0, 1, 2] for selected in kept)


def test_a_signal_is_found():
    for seed in range(10):
        X, Y = irrelevant_features(seed, n_rows=200)
        X[:, 5] = Y[:, 1] + (np.random.default_rng(seed).random(200) < 0.2)
        for rule in (PermutationTest(n_permutations=39), GTest()):
            sieve = Sieve("jmi", discretizer=None, n_features_to_select=rule).fit(X, Y)
            assert 5 in sieve.selected_


def test_the_first_p_value_counts_the_permutations_with_scores_as_large():
    X, Y = irrelevant_features(3)
    observed = Sieve("mim", discretizer=None, n_features_to_select=1).fit(X, Y).scores_[0]
    random, as_good = np.random.RandomState(7), 0
    for _ in range(30):
        permuted = Y[permutation_within(np.zeros(len(Y), dtype=int), random)]
        as_good += Sieve("mim", discretizer=None, n_features_to_select=1).fit(X, permuted).scores_[0] >= observed
    rule = PermutationTest(0.999, n_permutations=30, random_state=7, max_features=1)
    found = Sieve("mim", discretizer=None, n_features_to_select=rule).fit(X, Y).stopping_
    assert [*found.p_values_, found.p_value_left_out_][0] == (1 + as_good) / 31


def test_permutations_stay_within_strata_and_agree_for_sparse_and_dense_codes():
    rng = np.random.default_rng(0)
    strata = rng.integers(0, 4, size=50)
    order = permutation_within(strata, np.random.RandomState(1))
    assert np.array_equal(strata[order], strata)
    assert sorted(order) == list(range(50))
    assert (order != np.arange(50)).any()
    Y = (rng.random((50, 6)) < 0.2).astype(int)
    dense = permuted_rows(Codes.from_values(Y), order).to_dense()
    sparse = permuted_rows(Codes.from_values(sp.csc_array(Y)), order).to_dense()
    assert np.array_equal(dense, Y[order])
    assert np.array_equal(sparse, Y[order])


def test_the_statistic_is_twice_the_rows_times_the_information():
    rng = np.random.default_rng(0)
    x, y, s = rng.integers(0, 4, 300), rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    found = g_statistic(x, y, s)
    information = conditional_mutual_information(x[:, np.newaxis], y[:, np.newaxis], s)
    assert found.value == pytest.approx(600 * float(np.ravel(information)[0]))
    assert found.degrees == 3 * 1 * 3
    assert (found.p_value, found.degrees) == pytest.approx(g_test_p_value(x, y, s))
    other = stats.chi2_contingency(np.histogram2d(x, y, bins=(4, 2))[0], correction=False, lambda_="log-likelihood")
    plain = g_statistic(x, y)
    assert (plain.value, plain.degrees) == pytest.approx((other.statistic, other.dof))
    assert plain.p_value == pytest.approx(other.pvalue, rel=0.1)


def test_the_mean_of_the_statistic_is_that_of_all_permutations():
    x, y, s = np.array([0, 0, 1, 1, 2, 0, 1]), np.array([0, 1, 1, 1, 0, 1, 0]), np.array([0, 0, 0, 0, 0, 1, 1])
    orders = [(*first, *last) for first in permutations(range(5)) for last in permutations((5, 6))]
    assert g_statistic(x, y, s).mean == pytest.approx(np.mean([g_statistic(x, y[list(order)], s).value for order in orders]))


def test_the_mean_of_the_statistic_approaches_its_degrees_of_freedom():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 2_000_000), (rng.random(2_000_000) < 0.3).astype(int)
    assert g_statistic(x, y).mean == pytest.approx(4, abs=1e-4)


def test_p_values_are_corrected_for_targets_and_candidates():
    X, Y = irrelevant_features(1, n_rows=300)
    X[:, 2] = Y[:, 0] + (np.random.default_rng(1).random(300) < 0.4)
    found = Sieve("mim", discretizer=None, n_features_to_select=GTest(max_features=1)).fit(X, Y).stopping_
    plain = min(g_statistic(X[:, 2], label).p_value for label in Y.T)
    assert found.p_values_[0] == pytest.approx(3 * 8 * plain)


def test_too_few_rows_for_a_test_end_the_selection():
    X, Y = irrelevant_features(2)
    found = Sieve("mim", discretizer=None, forced=[0], n_features_to_select=GTest(min_rows=20)).fit(X, Y).stopping_
    assert found.p_value_left_out_ is None
    assert found.reason_ == "The next test would have fewer than 20 rows for each degree of freedom."


def test_the_g_test_names_targets_without_enough_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 8, 300), rng.integers(0, 5, 300)])
    Y = np.column_stack([X[:, 0] % 2, X[:, 1] > 2, X[:, 1] > 0])  # within a level of the first column, its label is constant
    rule = Sieve("mim", discretizer=None, forced=[0], n_features_to_select=GTest(min_rows=10)).fit(X, Y).stopping_
    few = "2 of 3 targets have fewer than 10 rows for each degree of freedom, without a test."
    assert rule.reason_ == f"The next feature has p = 1; {few}"
