"""The significance tests of the stopping rules: their statistics, and their level."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from labelsieve import Sieve
from labelsieve.discoveries.permutations import permutation_within, permuted_rows
from labelsieve.information import Codes, conditional_mutual_information
from labelsieve.stopping import GTest, PermutationTest
from labelsieve.stopping.significance import g_statistic

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


def permutations(n_permutations, max_features):
    return lambda seed: PermutationTest(ALPHA, n_permutations=n_permutations, random_state=seed, max_features=max_features)


def test_the_permutation_test_holds_its_level_under_the_null():
    n_trials = 600
    n_false = false_alarms(permutations(19, 1), n_trials)
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
    n_false = false_alarms(permutations(19, 2), n_trials, redundant_features, criterion, forced=[0])
    assert within_binomial_bounds(n_false, n_trials)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["mim", "jmi", "cmim", "pmu"])
def test_the_permutation_test_holds_its_level_in_a_long_run(criterion):
    n_trials = 2000
    n_false = false_alarms(permutations(39, 1), n_trials, criterion=criterion)
    assert stats.binom.ppf(1e-4, n_trials, ALPHA) <= n_false <= stats.binom.isf(1e-4, n_trials, ALPHA)


@pytest.mark.parametrize("given", ["each", "all"])
def test_the_g_test_holds_its_level_with_enough_rows(given):
    def make(seed):
        return irrelevant_features(seed, n_rows=400)

    n_trials = 300
    assert within_binomial_bounds(false_alarms(lambda _: GTest(ALPHA, given=given, max_features=2), n_trials, make), n_trials)


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
    assert (found.degrees, found.cells) == (3 * 1 * 3, 4 * 2 * 3)
    other = stats.chi2_contingency(np.histogram2d(x, y, bins=(4, 2))[0], correction=False, lambda_="log-likelihood")
    plain = g_statistic(x, y)
    assert (plain.value, plain.p_value, plain.degrees) == pytest.approx((other.statistic, other.pvalue, other.dof))


def test_p_values_are_corrected_for_targets_and_candidates():
    X, Y = irrelevant_features(1, n_rows=300)
    X[:, 2] = Y[:, 0] + (np.random.default_rng(1).random(300) < 0.4)
    found = Sieve("mim", discretizer=None, n_features_to_select=GTest(max_features=1)).fit(X, Y).stopping_
    plain = min(g_statistic(X[:, 2], label).p_value for label in Y.T)
    assert found.p_values_[0] == pytest.approx(3 * 8 * plain)


def test_too_few_rows_for_a_test_end_the_selection():
    X, Y = irrelevant_features(2)
    found = Sieve("mim", discretizer=None, n_features_to_select=GTest(0.99, given="all")).fit(X, Y).stopping_
    assert found.p_value_left_out_ is None
    assert "rows for each cell" in found.reason_


def test_the_g_test_names_targets_without_enough_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 8, 300), rng.integers(0, 5, 300)])
    Y = np.column_stack([X[:, 0] % 2, X[:, 1] > 2, X[:, 1] > 0])  # within a level of the first column, its label is constant
    rule = Sieve("mim", discretizer=None, forced=[0], n_features_to_select=GTest()).fit(X, Y).stopping_
    assert rule.reason_ == "The next feature has p = 1; 2 of 3 targets have fewer than 5 rows for each cell, without a test."
