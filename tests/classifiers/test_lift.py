"""LIFT against the numbers of a program in Matlab with libsvm, given its cluster centers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB

from labelsieve.classifiers import LIFT, lift
from labelsieve.classifiers.lift import distances_to
from tests.support.shared_files import shared_file


@pytest.fixture
def published():
    return np.load(shared_file("reference", "lift_emotions_fold1.npz"), allow_pickle=False)


@pytest.fixture
def fitted(published, monkeypatch):
    """LIFT on the centers that the other program found."""
    centers = iter([published[f"centres_{side}_{label}"] for label in range(6) for side in ("pos", "neg")])
    sizes = []

    def given(X, n_clusters, seed, weights):
        sizes.append(n_clusters)
        return next(centers)

    monkeypatch.setattr(lift, "_centers", given)
    model = LIFT().fit(published["X_train_minmax"], published["Y_train"])
    assert sizes == [len(published[f"centres_{side}_{label}"]) for label in range(6) for side in ("pos", "neg")]
    return model


def test_distances_are_those_of_the_reference(published):
    for part in ("train", "test"):
        for label in range(6):
            centers = np.vstack([published[f"centres_{side}_{label}"] for side in ("pos", "neg")])
            X = published[f"X_{part}_minmax"]
            np.testing.assert_allclose(distances_to(X, centers), published[f"Z_{part}_{label}"], rtol=0, atol=1e-10)
            np.testing.assert_allclose(distances_to(sp.csr_matrix(X), centers), published[f"Z_{part}_{label}"], atol=1e-6)


def test_decision_values_are_those_of_the_reference(published, fitted):
    found = fitted.decision_values(published["X_test_minmax"])
    np.testing.assert_allclose(found, published["decision_values"], rtol=0, atol=0.02)


def test_platt_probabilities_are_near_those_of_the_reference(published, fitted):
    """Both fit a sigmoid to held-out decisions, over folds drawn at random there and in order here."""
    found = fitted.predict_proba(published["X_test_minmax"])
    assert np.abs(found - published["Outputs_platt"]).mean() < 0.02
    assert (fitted.predict(published["X_test_minmax"]) == published["Pre_Labels"]).mean() > 0.97


def test_same_seed_same_answers_and_own_base():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = np.column_stack([X[:, 0] ** 2 > 1, X[:, 1] > 0, np.arange(120) == 7]).astype(int)
    first, again = (LIFT(random_state=5).fit(X, Y).predict_proba(X) for _ in range(2))
    assert np.array_equal(first, again)
    own = LIFT(0.3, base=GaussianNB(), random_state=5).fit(X, Y)
    assert not hasattr(own, "decision_values")
    assert [len(centers) for centers in own.centers_] == [2 * np.ceil(0.3 * min(n, 120 - n)) for n in Y.sum(axis=0)]
    assert (own.predict(X)[:, :2] == Y[:, :2]).mean() > 0.8


def test_a_label_of_one_row_cannot_be_calibrated_and_is_predicted_absent():
    X = np.random.default_rng(0).normal(size=(60, 4))
    Y = np.column_stack([X[:, 0] > 0, np.arange(60) == 7]).astype(int)
    assert not LIFT(random_state=0).fit(X, Y).predict(X)[:, 1].any()


def test_a_label_that_no_row_has_is_never_predicted_whether_rows_are_sparse_or_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 5)).astype(float)
    Y = np.column_stack([X[:, 0], np.zeros(40)]).astype(int)
    for rows in (X, sp.csr_matrix(X)):
        assert not LIFT(random_state=0).fit(rows, Y).predict(rows)[:, 1].any()


def test_sparse_rows_have_the_same_centers_also_where_rows_are_equal():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(60, 3)).astype(float)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] == X[:, 2]]).astype(int)
    dense, sparse = (LIFT(0.5, random_state=0).fit(make(X), Y) for make in (np.asarray, sp.csr_matrix))
    assert [len(centers) for centers in sparse.centers_] == [len(centers) for centers in dense.centers_]
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_matrix(X)), dense.predict_proba(X), atol=1e-5)


def test_threads_do_not_change_the_clusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 8))
    Y = (X[:, :2] > 0.2).astype(int)
    one, two = (LIFT(base=GaussianNB(), random_state=0, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2))
    for first, second in zip(one.centers_, two.centers_, strict=True):
        np.testing.assert_array_equal(first, second)
