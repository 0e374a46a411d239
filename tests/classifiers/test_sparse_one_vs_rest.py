"""One linear model per label on sparse data, against scikit-learn's, and its sparse predictions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from labelsieve import InputError
from labelsieve.classifiers import SparseOneVsRest
from labelsieve.datasets import make_extreme
from labelsieve.metrics import precision_at_k
from labelsieve.registry.learners import make_classifier

EXACT = {"tol": 1e-3, "dual": False}  # the primal problem does not depend on chance


@pytest.fixture(scope="module")
def data():
    X, Y = make_extreme("eurlex-4k", scale=0.006)
    keep = np.diff(Y.tocsc().indptr) > 0
    return X.astype(float), Y[:, keep][:, 3:15]


def test_every_label_has_the_weights_of_its_own_machine(data):
    X, Y = data
    model = SparseOneVsRest(prune=0.0, **EXACT).fit(X, Y)
    for label in range(0, Y.shape[1], 5):
        single = LinearSVC(**EXACT).fit(X, Y[:, [label]].toarray().ravel())
        np.testing.assert_allclose(model.coef_[[label]].toarray(), single.coef_, atol=1e-9)
        np.testing.assert_allclose(model.decision_function(X)[:, label], single.decision_function(X), atol=1e-8)


def test_small_weights_are_pruned_and_the_others_stay(data):
    X, Y = data
    whole, pruned = (SparseOneVsRest(prune=prune, **EXACT).fit(X, Y).coef_.toarray() for prune in (0.0, 0.02))
    np.testing.assert_array_equal(pruned, np.where(np.abs(whole) >= 0.02, whole, 0.0))
    assert 0 < np.count_nonzero(pruned) < np.count_nonzero(whole)


@pytest.mark.parametrize("k", [1, 3, 1000])
def test_best_labels_are_those_of_the_largest_decision_values(data, k):
    X, Y = data
    model = SparseOneVsRest(**EXACT).fit(X[:60], Y[:60])
    best, decisions = model.top_labels(X[60:], k=k), model.decision_function(X[60:])
    decisions[:, model.untrained_] = -np.inf
    assert sp.issparse(best)
    assert best.shape == decisions.shape
    trained = Y.shape[1] - len(model.untrained_)
    for row, values in enumerate(decisions):
        expected = np.sort(np.argsort(-values, kind="stable")[: min(k, trained)])
        np.testing.assert_array_equal(best[[row]].nonzero()[1], expected)
        found = best[[row]].toarray().ravel()[expected]
        np.testing.assert_allclose(found, 1 / (1 + np.exp(-values[expected])))
    assert precision_at_k(Y[60:], best, k=1) == precision_at_k(Y[60:], np.where(np.isinf(decisions), -1e9, decisions), k=1)


def test_labels_with_too_few_rows_get_no_model(data):
    X, Y = data
    model = SparseOneVsRest(min_positives=12, **EXACT).fit(X, Y)
    few = np.flatnonzero(np.diff(Y.tocsc().indptr) < 12)
    assert len(few)
    np.testing.assert_array_equal(model.untrained_, few)
    assert not model.predict(X)[:, few].sum()
    assert not model.top_labels(X, k=Y.shape[1])[:, few].sum()
    always = sp.csc_array(np.column_stack([np.ones(len(Y.toarray())), Y[:, [0]].toarray(), np.zeros(len(Y.toarray()))]))
    found = SparseOneVsRest(**EXACT).fit(X, always)
    np.testing.assert_array_equal(found.untrained_, [0, 2])
    assert (found.top_labels(X, k=1).nonzero()[1] == 0).all()


def test_sampled_negatives_are_weighted_for_all_and_do_not_depend_on_threads(data):
    X, Y = data
    sampled = SparseOneVsRest(max_negatives=30, prune=0.0, **EXACT).fit(X, Y)
    again = SparseOneVsRest(max_negatives=30, prune=0.0, n_jobs=2, **EXACT).fit(X, Y)
    np.testing.assert_array_equal(sampled.coef_.toarray(), again.coef_.toarray())
    all_rows = SparseOneVsRest(max_negatives=X.shape[0], **EXACT).fit(X, Y)
    np.testing.assert_array_equal(all_rows.coef_.toarray(), SparseOneVsRest(**EXACT).fit(X, Y).coef_.toarray())
    label = int(np.argmin(sampled.n_positives_))
    y = Y[:, [label]].toarray().ravel()
    rng = np.random.default_rng([0, label])
    rows = np.sort(np.concatenate([np.flatnonzero(y), rng.choice(np.flatnonzero(y == 0), 30, replace=False)]))
    weights = np.where(y[rows], 1.0, (y == 0).sum() / 30)
    single = LinearSVC(**EXACT).fit(X[rows], y[rows], sample_weight=weights)
    np.testing.assert_allclose(sampled.decision_function(X)[:, label], single.decision_function(X), atol=1e-6)


def test_it_is_a_learner_by_name_and_k_is_checked(data):
    X, Y = data
    model = make_classifier("sparse-svm", C=2.0)
    assert model.C == 2.0
    with pytest.raises(InputError, match="k must be a whole number from 1"):
        model.fit(X, Y[:, :3]).top_labels(X, k=0)
