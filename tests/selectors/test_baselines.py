"""Baselines: random order, variance, all features."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from labelsieve import BaselineSieve, InputError
from labelsieve.selectors import FScore, L1Importance
from tests.support.selection_data import NAMES, assert_same_selection, make_data

everyone = pytest.mark.parametrize("criterion", ["random", "variance", "all"])


def test_variance_is_that_of_the_values_and_ties_go_to_the_first():
    X, _ = make_data()
    X = np.hstack([X * np.arange(1, 9), np.full((150, 2), 0.1), X[:, [7]] * 8])
    sieve = BaselineSieve("variance", n_features_to_select=None).fit(X)
    assert sieve.scores_ == pytest.approx(X.var(axis=0)[sieve.selected_], rel=1e-12, abs=1e-15)
    assert sieve.selected_[-2:].tolist() == [8, 9]
    assert sieve.scores_[-1] == 0
    assert list(sieve.selected_).index(7) + 1 == list(sieve.selected_).index(10)


def test_variance_counts_weights_as_rows():
    X, _ = make_data()
    times = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = BaselineSieve("variance", n_features_to_select=None).fit(X, sample_weight=times)
    repeated = BaselineSieve("variance", n_features_to_select=None).fit(np.repeat(X, times, axis=0))
    assert np.array_equal(weighted.selected_, repeated.selected_)
    assert weighted.scores_ == pytest.approx(repeated.scores_)


def test_a_random_order_is_the_seeds():
    X, Y = make_data()
    orders = [BaselineSieve(n_features_to_select=None, random_state=seed).fit(X, Y).selected_.tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(8))
    firsts = {int(BaselineSieve(random_state=seed).fit(X).selected_[0]) for seed in range(100)}
    assert firsts == set(range(8))


def test_all_keeps_every_column_whatever_the_number():
    X, Y = make_data()
    sieve = BaselineSieve("all", n_features_to_select=3).fit(X, Y)
    assert sieve.selected_.tolist() == list(range(8))
    assert np.array_equal(sieve.transform(X), X)
    assert BaselineSieve("all", excluded=[2]).fit(X, Y).selected_.tolist() == [0, 1, 3, 4, 5, 6, 7]


@everyone
def test_any_container_gives_the_same(criterion):
    X, Y = make_data()
    expected = BaselineSieve(criterion, n_features_to_select=4, forced=[5], excluded=[0]).fit(X, Y)
    assert expected.selected_[0] == 5
    assert 0 not in expected.selected_
    for same in (sp.csr_array(X), sp.csc_array(X), pd.DataFrame(X, columns=NAMES), np.asfortranarray(X)):
        assert_same_selection(BaselineSieve(criterion, n_features_to_select=4, forced=[5], excluded=[0]).fit(same, Y), expected)


def test_a_missing_value_has_no_variance():
    X = pd.DataFrame({"tone": [1.0, 2.0], "pace": [np.nan, 1.0]})
    with pytest.raises(InputError, match=r"X, row 0, column 1 \('pace'\): the value is missing"):
        BaselineSieve("variance").fit(X)


def test_the_lasso_of_numeric_targets_keeps_some_coefficients():
    X, _ = make_data()
    fitted = L1Importance(n_features_to_select=2).fit(X, np.column_stack([X[:, 7] + X[:, 3], X[:, 7]]))
    assert fitted.selected_.tolist() == [7, 3]
    assert (fitted.scores_ > 0).all()


def validated_loss(X, Y, C, n_folds, seed):
    """Log loss on held-out rows of L1-penalized logistic regression, from scikit-learn."""
    total = 0.0
    for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(X):
        for y in Y.T:
            model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=C, random_state=seed, max_iter=1000)
            total += log_loss(y[test], model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]) * len(test)
    return total


def test_the_penalty_is_that_of_the_smallest_loss_on_held_out_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    Y = (X[:, :2] + rng.normal(size=(150, 2)) > 0).astype(int)
    fitted = L1Importance(C="cv", cv=4, n_features_to_select=2).fit(X, Y)
    scaled, seed = StandardScaler().fit_transform(X), np.random.RandomState(0).randint(2**31 - 1)
    losses = [validated_loss(scaled, Y, C, 4, seed) for C in (0.01, 0.03, 0.1, 0.3, 1.0)]
    assert {"class": (0.01, 0.03, 0.1, 0.3, 1.0)[int(np.argmin(losses))]} == fitted.C_
    again = L1Importance(C=fitted.C_["class"], n_features_to_select=2).fit(X, Y)
    np.testing.assert_array_equal(fitted.feature_scores_, again.feature_scores_)


def test_the_penalty_of_numeric_targets_is_validated_too():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 8))
    clear, noise = X[:, :2] * 5 + 0.1 * rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    assert L1Importance(C="cv").fit(X, clear).C_["numeric"] > L1Importance(C="cv").fit(X, noise).C_["numeric"]


def test_tables_of_mostly_zeros_are_scaled_and_not_centered_whatever_their_format():
    rng = np.random.default_rng(0)
    words = np.where(rng.random((200, 30)) < 0.07, rng.integers(1, 4, size=(200, 30)), 0).astype(float)
    Y = (words[:, :3] + words[:, 3:6] > 0).astype(int)
    scaled = words / words.std(axis=0)
    expected = sum(
        np.abs(LogisticRegression(l1_ratio=1.0, solver="liblinear", C=0.1, max_iter=1000).fit(scaled, y).coef_[0]) for y in Y.T
    )
    dense, sparse = (L1Importance(n_features_to_select=6).fit(X, Y) for X in (words, sp.csr_matrix(words)))
    assert dense.feature_scores_ == pytest.approx(expected, abs=1e-3)
    assert np.array_equal(dense.feature_scores_, sparse.feature_scores_)
    assert set(dense.selected_) == set(range(6))


def test_f_statistic_of_a_constant_column_is_zero_without_a_warning():
    X, Y = make_data()
    X = np.hstack([np.ones((len(X), 1)), X])
    assert FScore().fit(X, Y).feature_scores_[0] == 0


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("combine", ["mean", "max"])
def test_a_feature_that_determines_the_target_has_the_largest_f_statistic(combine, numeric):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = rng.normal(size=31).round(2) if numeric else rng.integers(0, 2, size=rng.integers(7, 40))
        X = np.column_stack([rng.normal(size=len(y)), 0.1 * y + 0.3, -y])
        ranking = FScore(combine=combine, n_features_to_select=2).fit(X, y)
        assert ranking.selected_.tolist() == [1, 2]
        assert ranking.scores_.tolist() == [float(np.finfo(np.float32).max)] * 2
        assert 0 <= ranking.feature_scores_[0] < 1e6
