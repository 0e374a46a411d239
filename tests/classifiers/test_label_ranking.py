"""Calibrated label ranking and MetaLabeler, compared with naive code and with Mulan."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.tree import DecisionTreeClassifier

from labelsieve.classifiers import CLR, BinaryRelevance, MetaLabeler
from labelsieve.datasets import load
from labelsieve.errors import InputError
from replications.mulan import MulanJ48
from tests.support.classifier_data import make_data
from tests.support.reference_transformations import calibrated_ranking, meta_labels
from tests.support.shared_files import shared_file

BASES = [GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)]


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_votes_are_those_of_naive_code(base, seed):
    X, Y, queries, _ = make_data(seed, n_labels=4)
    Y[:, 3] = Y[:, 2]  # no row has exactly one of the two
    model = CLR(base).fit(X, Y)
    votes, virtual = model.votes(queries)
    assert np.column_stack([votes, virtual]).tolist() == calibrated_ranking(base, X, Y, queries)
    assert (2, 3) not in model.pairs_
    np.testing.assert_array_equal(model.predict(queries), votes > virtual[:, np.newaxis])
    np.testing.assert_array_equal(CLR(base, ties="present").fit(X, Y).predict(queries), votes >= virtual[:, np.newaxis])


def test_scores_rank_labels_by_votes_and_the_virtual_label_at_a_half():
    X, Y, queries, _ = make_data(n_labels=5)
    model = CLR(GaussianNB()).fit(X, Y)
    votes, virtual = model.votes(queries)
    np.testing.assert_allclose(model.predict_proba(queries), 0.5 + (votes - virtual[:, np.newaxis]) / 10)
    np.testing.assert_array_equal(model.predict_proba(queries) > 0.5, model.predict(queries) == 1)


def test_calibrated_ranking_predicts_as_mulan_does():
    train, test = (load(shared_file("data", "emotions", f"emotions-{part}.arff.gz")) for part in ("train", "test"))
    with np.load(shared_file("reference", "mulan_predictions_emotions.npz"), allow_pickle=False) as answers:
        labels, confidences = answers["CLR_J48__bip"], answers["CLR_J48__conf"]
    base = FixedThresholdClassifier(MulanJ48(), threshold=0.5, response_method="predict_proba")
    model = CLR(base, ties="present").fit(train.X, train.Y)
    np.testing.assert_array_equal(model.predict(test.X), labels)
    np.testing.assert_allclose(model.votes(test.X)[0] / 6, confidences, atol=1e-12)


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_predicted_numbers_of_labels_are_those_of_naive_code(base, seed):
    X, Y, queries, _ = make_data(seed, n_labels=4)
    Y[:, 1] = seed % 2  # a label that no row, or every row, has
    model = MetaLabeler(base).fit(X, Y)
    assert model.predict(queries).tolist() == meta_labels(base, X, Y, queries)
    np.testing.assert_array_equal(model.predict_proba(queries), BinaryRelevance(base).fit(X, Y).predict_proba(queries))


def test_a_counter_of_its_own_decides_how_many_labels_are_predicted():
    X, Y, queries, _ = make_data(n_labels=4)
    counter = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = MetaLabeler(GaussianNB(), counter).fit(X, Y)
    np.testing.assert_array_equal(model.predict(queries).sum(axis=1), counter.fit(X, Y.sum(axis=1)).predict(queries))


def test_labels_are_ranked_by_decision_values_where_there_are_no_probabilities():
    X, Y, queries, _ = make_data(n_labels=4)
    Y[:, 2] = 1
    model = MetaLabeler(RidgeClassifier()).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    scores = np.column_stack([RidgeClassifier().fit(X, y).decision_function(queries) for y in Y.T[[0, 1, 3]]])
    present = model.predict(queries)
    assert present[:, 2].all() == (model.predict(queries).sum(axis=1) > 0).all()
    for row, values in zip(present[:, [0, 1, 3]], scores, strict=True):
        assert set(np.flatnonzero(row)) == set(np.argsort(-values)[: row.sum()])


def test_equal_numbers_of_labels_need_no_counter():
    X, *_ = make_data()
    Y = np.column_stack([X[:, 0] > 0.5, X[:, 0] <= 0.5]).astype(int)
    model = MetaLabeler(Perceptron()).fit(X, Y)
    assert model.counter_ is None
    assert (model.predict(X).sum(axis=1) == 1).all()


def test_a_base_without_scores_is_refused():
    class Silent(NearestCentroid):
        predict_proba = decision_function = property()

    with pytest.raises(InputError, match="neither predict_proba nor decision_function"):
        MetaLabeler(Silent()).fit([[0.0], [1.0]], [[0, 1], [1, 0]])


@pytest.mark.parametrize("make", [CLR, MetaLabeler])
def test_sparse_rows_and_labels_and_any_number_of_jobs_give_the_same(make):
    X, Y, queries, _ = make_data()
    base = LogisticRegression(max_iter=500)
    dense = make(base).fit(X, Y).predict(queries)
    sparse = make(base, n_jobs=2).fit(sp.csr_matrix(X), sp.csr_matrix(Y)).predict(sp.csr_matrix(queries))
    np.testing.assert_array_equal(sparse.toarray(), dense)
