"""A constant feature is never preferred to one that varies, unless the formula alone is asked for."""

import numpy as np
import pytest

from labelsieve import LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.registry import CRITERIA
from labelsieve.stopping import ScoreThreshold


def redundant_data():
    """Copies of one feature with noise, and constant columns first and in between: redundancy makes scores negative."""
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, size=(300, 3))
    base = Y[:, 0] ^ (rng.random(300) < 0.3)
    copies = [base ^ (rng.random(300) < 0.02) for _ in range(6)]
    X = np.column_stack([np.zeros(300), *copies[:3], np.full(300, 2), *copies[3:]]).astype(int)
    return X, Y


@pytest.mark.parametrize("estimator", ["plugin", "miller-madow", "shrinkage"])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", [Sieve, LabelwiseSieve])
def test_constant_features_are_selected_last(kind, criterion, estimator):
    X, Y = redundant_data()
    parents = {"parents": [[1], [2], [0]]} if criterion == "mlfs" else {}
    fitted = kind(criterion, n_features_to_select=None, discretizer=None, estimator=estimator, **parents).fit(X, Y)
    for columns in np.atleast_2d(fitted.selected_):
        assert sorted(columns) == list(range(8))
        assert sorted(columns[-2:]) == [0, 4]


@pytest.mark.parametrize("kind", [Sieve, LabelwiseSieve])
def test_the_formula_alone_prefers_them_to_redundant_features(kind):
    X, Y = redundant_data()
    fitted = kind("mrmr", n_features_to_select=None, discretizer=None, constant_features="score").fit(X, Y)
    assert 0 in np.atleast_2d(fitted.selected_)[0, :3]
    assert fitted.set_params(constant_features="last").fit(X, Y).selected_.ravel()[2] != 0


def test_weights_of_constant_features_do_not_rank_them():
    X, Y = redundant_data()
    fitted = QuadraticSieve(n_features_to_select=None, discretizer=None).fit(X, Y)
    assert sorted(fitted.selected_[-2:]) == [0, 4]
    by_weight = QuadraticSieve(n_features_to_select=None, discretizer=None, constant_features="score").fit(X, Y)
    assert np.array_equal(by_weight.weights_, fitted.weights_)
    assert sorted(by_weight.selected_[-2:]) != [0, 4]


def test_forced_and_excluded_constant_features_and_rules():
    X, Y = redundant_data()
    forced = Sieve("mrmr", n_features_to_select=3, discretizer=None, forced=[4]).fit(X, Y)
    assert forced.selected_[0] == 4
    assert 0 not in forced.selected_
    excluded = Sieve("mrmr", n_features_to_select=None, discretizer=None, excluded=[0, 2]).fit(X, Y)
    assert excluded.selected_[-1] == 4
    assert len(excluded.selected_) == 6
    for kind in (Sieve, LabelwiseSieve):
        rule = kind("mrmr", n_features_to_select=ScoreThreshold(-10.0), discretizer=None).fit(X, Y)
        assert sorted(rule.selected_[0, -2:] if rule.selected_.ndim == 2 else rule.selected_[-2:]) == [0, 4]


def test_numeric_columns_that_fall_into_one_bin_are_last_too():
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, size=(200, 1))
    X = np.column_stack([np.full(200, 3.5), Y[:, 0] + rng.normal(size=200), rng.normal(size=200)])
    assert Sieve("mrmr", n_features_to_select=None).fit(X, Y).selected_[-1] == 0
