"""MDDM: the toolbox's projection with mu = 0, the constraint and the trace with any mu."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from labelsieve.datasets import load
from labelsieve.selectors import MDDM
from tests.support.reference_rankings import mddm_problem
from tests.support.shared_files import shared_file


def limit_squares(monkeypatch, largest):
    for name in ("LARGEST_SQUARE", "LARGEST_SYSTEM"):
        monkeypatch.setattr(f"labelsieve.selectors.regressions.base.{name}", largest)


def make_data(n_rows=80, n_features=7, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n_rows, n_features)) + 0.5) * (rng.random((n_rows, n_features)) < 0.7)
    Y = (X[:, :3] + 0.4 * rng.normal(size=(n_rows, 3)) > 0.3).astype(float)
    return X, Y


@pytest.mark.parametrize("mu", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("shape", [(80, 7), (12, 30)], ids=["tall", "wide"])
def test_the_projection_is_the_best_under_its_constraint(mu, shape):
    X, Y = make_data(*shape)
    dependence, constraint = mddm_problem(X, Y, mu)
    mddm = MDDM(mu=mu).fit(X, Y)
    P = mddm.components_.T
    assert P.T @ constraint @ P == pytest.approx(np.eye(3), abs=1e-9)
    values = scipy.linalg.eigh(dependence, constraint, eigvals_only=True)[::-1]
    assert mddm.eigenvalues_ == pytest.approx(values[:3], rel=1e-8)
    assert np.trace(P.T @ dependence @ P) == pytest.approx(values.sum(), rel=1e-8), "no other direction adds anything"
    assert np.all(P[np.abs(P).argmax(axis=0), range(3)] > 0)


@pytest.mark.parametrize("name", ["full", "fold1"])
def test_without_mu_it_is_the_projection_of_a_public_toolbox(name):
    reference = np.load(shared_file("reference", f"mlctoolbox_emotions_{name}.npz"), allow_pickle=False)
    X = load(shared_file("data", "emotions", "emotions.arff.gz")).X[reference["train_index"]]
    mddm = MDDM(mu=0).fit(X, reference["Y_train"])
    assert mddm.eigenvalues_ == pytest.approx(reference["MDDM_eigenvalues"], rel=1e-9)
    signs = np.sign((mddm.components_.T * reference["MDDM_U"]).sum(axis=0))
    assert np.abs(mddm.components_.T - reference["MDDM_U"] * signs).max() < 1e-8


@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize("largest", [2048, 0])
@pytest.mark.parametrize("shape", [(80, 7), (12, 30)], ids=["tall", "wide"])
def test_sparse_and_dense_give_the_same(mu, largest, shape, monkeypatch):
    X, Y = make_data(*shape)
    expected = MDDM(mu=mu).fit(X, Y)
    limit_squares(monkeypatch, largest)
    found = MDDM(mu=mu).fit(sp.csr_array(X), sp.csr_array(Y))
    assert found.components_ == pytest.approx(expected.components_, abs=1e-7)
    assert found.transform(sp.csr_array(X)) == pytest.approx(expected.transform(X), abs=1e-6)


def test_wide_data_never_become_a_square():
    X = sp.random_array((40, 300_000), density=1e-4, random_state=0, format="csr")
    Y = np.random.default_rng(0).integers(0, 2, size=(40, 3))
    for mu in (0, 0.5):
        assert MDDM(mu=mu).fit(X, Y).components_.shape == (3, 300_000)


@pytest.mark.parametrize(("asked", "got"), [(None, 3), (2, 2), (50, 3), (0.1, 1), (0.9, 3)])
def test_there_are_as_many_directions_as_labels_at_the_most(asked, got):
    X, Y = make_data()
    mddm = MDDM(asked).fit(X, Y)
    assert mddm.n_components_ == got
    assert mddm.transform(X).shape == (80, got)
    assert mddm.get_feature_names_out().tolist() == [f"mddm{k}" for k in range(got)]


def test_repeated_and_absent_labels_add_no_direction():
    X, Y = make_data()
    expected = MDDM().fit(X, Y[:, :2])
    more = MDDM().fit(X, np.column_stack([Y[:, 0], Y[:, 0], Y[:, 1], np.zeros(80), np.ones(80)]))
    assert more.n_components_ == expected.n_components_ == 2


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_large_and_small_numbers_have_as_many_directions(scale):
    X, Y = make_data()
    for mu in (0, 0.5):
        assert MDDM(mu=mu).fit(scale * X, Y).n_components_ == MDDM(mu=mu).fit(X, scale * Y).n_components_ == 3


def test_nothing_to_depend_on_leaves_no_direction():
    X, _ = make_data()
    assert MDDM().fit(X, np.ones((80, 2))).transform(X).shape == (80, 0)
    assert MDDM().fit(np.full((80, 2), 0.1), X[:, :2]).n_components_ == 0
    assert MDDM().fit(X[:1], [[1, 0]]).n_components_ == 0


def test_whole_weights_count_as_rows():
    X, Y = make_data()
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    repeated = MDDM().fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    assert MDDM().fit(X, Y, sample_weight=weights).components_ == pytest.approx(repeated.components_, abs=1e-9)
