"""Logistic regressions on shared rows: the minimum of scikit-learn's objective, and the classifiers that use them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from labelsieve.chains import ClassifierChain
from labelsieve.classifiers import BinaryRelevance, RAkEL
from labelsieve.classifiers.shared_logistic import SharedLogistic

EXACT = {"tol": 1e-10, "max_iter": 10_000}


def make_rows(n_classes, n_rows=300, scale=1.0):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 5)) * np.array([1, scale, 1, 1 / scale, 1]) + 0.5
    score = X[:, 0] + X[:, 2] + rng.normal(size=n_rows)
    return X, np.searchsorted(np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score)


@pytest.mark.parametrize("settings", [{}, {"C": 0.05}, {"fit_intercept": False}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_minimum_is_that_of_scikit_learn(n_classes, settings):
    X, y = make_rows(n_classes)
    weights = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    ours = SharedLogistic.of(LogisticRegression(**settings), X, weights).fit(y)
    expected = LogisticRegression(**settings, **EXACT).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), expected.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(ours.coef_, expected.coef_, atol=2e-3)
    assert ours.intercept_.shape == expected.intercept_.shape
    assert np.array_equal(ours.classes_, expected.classes_)


def test_own_inputs_and_unscaled_columns():
    X, y = make_rows(2, scale=1000.0)
    labels = (np.random.default_rng(1).random((len(X), 3)) < 0.3).astype(np.uint8)
    shared = SharedLogistic.of(LogisticRegression(), X, labels=sp.csc_matrix(labels), n_own=2)
    own = [np.array([], dtype=int), np.array([0, 1]), np.array([0, 2])]
    for columns, ours in zip(own, shared.fit_labels([y.astype(np.uint8)] * 3, own), strict=True):
        inputs = np.hstack([X, labels[:, columns]])
        exact = LogisticRegression(solver="newton-cholesky", **EXACT).fit(inputs, y)
        np.testing.assert_allclose(ours.predict_proba(inputs), exact.predict_proba(inputs), atol=1e-4)


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(solver="liblinear"),
        LogisticRegression(class_weight="balanced"),
        LogisticRegression(warm_start=True),
        LogisticRegression(C=np.inf),
    ],
)
def test_other_settings_are_left_to_scikit_learn(base):
    X, _ = make_rows(2)
    assert SharedLogistic.of(base, X) is None
    assert SharedLogistic.of(LogisticRegression(), sp.csr_matrix(X)) is None
    assert SharedLogistic.of(LogisticRegression(), X, n_own=300) is None


@pytest.mark.parametrize("model", [BinaryRelevance, RAkEL, ClassifierChain])
def test_the_models_do_not_depend_on_the_number_of_threads(model):
    X, y = make_rows(8)
    Y = np.column_stack([y & 1, y & 2, y & 4, y > 5, y < 0]) > 0
    settings = {"random_state": 0} if model is RAkEL else {}
    one, three = (model(LogisticRegression(), n_jobs=n_jobs, **settings).fit(X, Y) for n_jobs in (1, 3))
    assert np.array_equal(one.predict_proba(X), three.predict_proba(X))
    exact = model(LogisticRegression(**EXACT, solver="newton-cholesky"), **settings).fit(X, Y)
    np.testing.assert_allclose(one.predict_proba(X), exact.predict_proba(X), atol=1e-3)
