"""Support vector machines that share their rows: the minimum that liblinear approaches."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.multioutput import ClassifierChain as SklearnChain
from sklearn.svm import LinearSVC

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.classifiers.newton_svm import SharedRows

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 12)) * np.geomspace(0.1, 10, 12)
Y = (X @ rng.normal(size=(12, 4)) / 8 + rng.normal(size=(300, 4)) > [0, 1, 2, -1]).astype(int)
WEIGHTS = rng.integers(1, 5, 300).astype(float)
SETTINGS = [{}, {"C": 100.0}, {"C": 1e-4}, {"fit_intercept": False}, {"intercept_scaling": 7.0}, {"dual": False}]


def objective(model, Z, y, weights):
    constant = [model.intercept_ / model.intercept_scaling] if model.fit_intercept else []
    coefficients = np.concatenate([*constant, model.coef_[0]])
    margins = np.where(y > 0, 1, -1) * (Z @ model.coef_[0] + model.intercept_)
    return 0.5 * coefficients @ coefficients + model.C * weights @ np.maximum(0, 1 - margins) ** 2


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_minimum_is_that_of_liblinear(settings, weights):
    base = LinearSVC(**settings)
    shared = SharedRows.of(base, X, weights, 3)
    for label in range(4):
        own = Y[:, :label].astype(float)
        Z = np.hstack([X, own])
        ours = shared.fit(own, Y[:, label])
        theirs = LinearSVC(**{**settings, "dual": False}, tol=1e-12, max_iter=10_000).fit(Z, Y[:, label], weights)
        given = np.ones(300) if weights is None else weights
        assert objective(ours, Z, Y[:, label], given) <= objective(theirs, Z, Y[:, label], given) * (1 + 1e-9)
        assert np.allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-3)
        assert np.array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize(
    "base",
    [LinearSVC(loss="hinge"), LinearSVC(penalty="l1", dual=False), LinearSVC(class_weight="balanced"), LinearSVC(dual=True)],
    ids=str,
)
def test_other_settings_are_left_to_liblinear(base):
    assert SharedRows.of(base, X) is None


def test_a_chain_of_other_settings_is_that_of_liblinear():
    base = LinearSVC(class_weight="balanced", dual=False)
    chain = ClassifierChain(base, network="cc", random_state=0).fit(X, Y)
    first = chain.chain_.links[0]
    assert np.array_equal(first.model.estimator.coef_, clone(base).fit(X, Y[:, first.label]).coef_)


def test_sparse_wide_and_huge_rows_are_left_to_liblinear():
    assert SharedRows.of(LinearSVC(), sp.csr_array(X)) is None
    assert SharedRows.of(LinearSVC(), X[:10]) is None
    assert SharedRows.of(LinearSVC(), X * 1e200) is None
    assert SharedRows.of(LinearSVC(), np.ones((600, 513))) is None


def test_an_ensemble_votes_like_the_chains_of_sklearn():
    base = LinearSVC(dual=False, tol=1e-8, max_iter=10_000)
    ours = ChainEnsemble("cc", base, sampling="all", n_chains=3, random_state=0).fit(X, Y)
    orders = [list(member.network_.order) for member in ours.chains_]
    votes = np.mean([SklearnChain(base, order=order).fit(X, Y).predict(X) for order in orders], axis=0)
    assert np.array_equal(ours.predict_proba(X), votes)
    together = ChainEnsemble("cc", base, sampling="all", n_chains=3, random_state=0, n_jobs=2).fit(X, Y)
    for one, other in zip(ours.chains_, together.chains_, strict=True):
        for link, same in zip(one.chain_.links, other.chain_.links, strict=True):
            assert np.array_equal(link.model.estimator.coef_, same.model.estimator.coef_)
