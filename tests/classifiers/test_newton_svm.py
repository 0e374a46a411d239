"""Support vector machines that share their rows: the minimum that liblinear approaches."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.multioutput import ClassifierChain as SklearnChain
from sklearn.svm import LinearSVC

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.classifiers.newton_svm import SharedRows, SharedSparseRows

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


TEXT = sp.csr_array((rng.random((300, 400)) < 0.03) * rng.integers(1, 4, (300, 400)).astype(float))
TOPICS = (TEXT @ rng.normal(size=(400, 4)) > [0, 3, 8, -4]).astype(int)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("rows", ["dense", "sparse", "text"])
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # it stays at its rounding, above this tol
def test_the_minimum_is_that_of_liblinear(rows, settings, weights):
    base = LinearSVC(**settings)
    inputs, labels = (TEXT, TOPICS) if rows == "text" else (X, Y)
    shared = SharedRows.of(base, X, weights, 3) if rows == "dense" else SharedSparseRows.of(base, sp.csr_array(inputs), weights)
    dense = inputs.toarray() if rows == "text" else inputs
    for label in range(4):
        Z, y = np.hstack([dense, labels[:, :label]]), labels[:, label]
        ours = shared.fit(sp.csc_matrix(labels[:, :label]), y)
        theirs = LinearSVC(**{**settings, "dual": False}, tol=1e-12, max_iter=1000).fit(Z, y, weights)
        given = np.ones(300) if weights is None else weights
        assert objective(ours, Z, y, given) <= objective(theirs, Z, y, given) * (1 + 1e-9)
        if theirs.n_iter_ < 1000:
            assert np.allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-3)
        assert np.array_equal(ours.classes_, theirs.classes_)
        assert ours.n_features_in_ == Z.shape[1]


@pytest.mark.parametrize(
    "base",
    [LinearSVC(loss="hinge"), LinearSVC(penalty="l1", dual=False), LinearSVC(class_weight="balanced"), LinearSVC(dual=True)],
    ids=str,
)
def test_other_settings_are_left_to_liblinear(base):
    assert SharedRows.of(base, X) is None
    assert SharedSparseRows.of(base, TEXT) is None


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
    assert SharedSparseRows.of(LinearSVC(), X) is None
    assert SharedSparseRows.of(LinearSVC(), sp.csr_array(X * 1e200)) is None


@pytest.mark.parametrize(("X", "Y"), [(X, Y), (TEXT, TOPICS)], ids=["dense", "sparse"])
def test_an_ensemble_votes_like_the_chains_of_sklearn(X, Y):
    base = LinearSVC(dual=False, tol=1e-8, max_iter=10_000)
    ours = ChainEnsemble("cc", base, sampling="all", n_chains=3, random_state=0).fit(X, Y)
    orders = [list(member.network_.order) for member in ours.chains_]
    given = sp.csr_matrix(X) if sp.issparse(X) else X  # sklearn's chains stack matrices only
    votes = np.mean([SklearnChain(base, order=order).fit(given, Y).predict(given) for order in orders], axis=0)
    assert np.array_equal(ours.predict_proba(X), votes)
    together = ChainEnsemble("cc", base, sampling="all", n_chains=3, random_state=0, n_jobs=2).fit(X, Y)
    for one, other in zip(ours.chains_, together.chains_, strict=True):
        for link, same in zip(one.chain_.links, other.chain_.links, strict=True):
            assert np.array_equal(link.model.estimator.coef_, same.model.estimator.coef_)
