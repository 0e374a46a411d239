"""Chi-square under every label space, against scipy's tables and scikit-learn's own reading."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import chi2

from labelsieve import InputError
from labelsieve.datasets import make_feature_roles
from labelsieve.discretize import EqualWidth, equal_width
from labelsieve.information import Codes
from labelsieve.selectors import ChiSquare, chi_square
from labelsieve.selectors.rankings import chi_square as contingency
from tests.support import reference_rankings

SPACES = ["single", "joint", "copy", "copy-weight"]
spaces = pytest.mark.parametrize("space", SPACES)


def make_data(seed=0, n_rows=90):
    """Codes with a constant column and a gap, labels of which one never occurs, rows without labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 6))
    X[:, 2] = 3
    X[:, 3][X[:, 3] == 1] = 0
    Y = rng.random((n_rows, 4)) < [0.2, 0.5, 0.05, 0]
    Y[:, 1] |= X[:, 0] > 2
    return X, Y.astype(int)


@spaces
@pytest.mark.parametrize("kind", ["none", "whole", "real", "equal"])
def test_statistics_are_those_of_scipy(space, kind):
    X, Y = make_data()
    rng = np.random.default_rng(1)
    weights = {"none": None, "whole": rng.integers(0, 4, 90), "real": rng.random(90), "equal": np.full(90, 2.5)}[kind]
    expected = reference_rankings.chi_square(X, Y, space, np.ones(90) if weights is None else weights.astype(float))
    assert chi_square(X, Y, targets=space, sample_weight=weights) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@spaces
def test_dense_and_sparse_give_the_same_bits(space):
    X, Y = make_data()
    expected = chi_square(X, Y, targets=space)
    for features in (sp.csr_array(X), sp.csc_array(X), Codes.from_values(X), X.astype(float), X.tolist()):
        for labels in (sp.csr_array(Y), Y.astype(bool), Y.tolist()):
            assert np.array_equal(chi_square(features, labels, targets=space), expected)


@spaces
def test_tables_made_in_pieces_give_the_same_bits(space, monkeypatch):
    X, Y = make_data()
    expected = chi_square(X, Y, targets=space)
    monkeypatch.setattr(contingency, "CELLS_AT_ONCE", 1)
    assert np.array_equal(chi_square(X, Y, targets=space), expected)
    assert np.array_equal(chi_square(sp.csr_array(X), sp.csr_array(Y), targets=space), expected)


def test_scikit_learn_leaves_out_the_zeros_of_a_binary_feature():
    X, Y = make_data()
    X = (X > 1).astype(int)
    X[:, 2] = Y[:, 0]
    theirs, _ = chi2(X, Y[:, 1])
    assert chi_square(X, Y[:, 1])[:, 0] * (1 - X.mean(axis=0)) == pytest.approx(theirs)


@spaces
def test_constant_features_and_labels_score_exactly_zero(space):
    X, Y = make_data()
    weights = np.random.default_rng(0).random(90)
    assert np.all(chi_square(X, Y, targets=space, sample_weight=weights)[2] == 0)
    assert np.all(chi_square(X, Y, sample_weight=weights)[:, 3] == 0)
    assert np.all(chi_square(X, np.zeros_like(Y), targets=space) == 0)
    assert np.all(chi_square(X[:1], Y[:1], targets=space) == 0)


@spaces
@pytest.mark.parametrize("combine", ["sum", "max"])
def test_the_selector_bins_scores_and_keeps_the_best(space, combine):
    rng = np.random.default_rng(0)
    X, (_, Y) = rng.normal(size=(90, 6)), make_data()
    sieve = ChiSquare(targets=space, combine=combine, discretizer=EqualWidth(3), n_features_to_select=2).fit(X, Y)
    statistics = chi_square(equal_width(X, 3), Y, targets=space)
    expected = statistics.sum(axis=1) if combine == "sum" else statistics.max(axis=1)
    assert np.array_equal(sieve.feature_scores_, expected)
    assert sieve.selected_.tolist() == np.argsort(-expected, kind="stable")[:2].tolist()
    assert sieve.n_rows_without_labels_ == (np.sum(Y.sum(axis=1) == 0) if "copy" in space else 0)


def test_rows_without_weight_do_not_move_the_bins():
    X, Y = np.random.default_rng(0).normal(size=(90, 6)), make_data()[1]
    X[0] = 1000.0
    weights = np.ones(90)
    weights[0] = 0
    one, other = ChiSquare().fit(X, Y, sample_weight=weights), ChiSquare().fit(X[1:], Y[1:])
    assert np.array_equal(one.feature_scores_, other.feature_scores_)


@spaces
def test_relevant_features_are_found(space):
    data = make_feature_roles(1000, n_labels=3, n_relevant=3, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=20)
    assert sorted(ChiSquare(targets=space, n_features_to_select=3).fit(data.X, data.Y).selected_) == data.columns("relevant")


def test_copies_of_classes_are_refused_with_a_remedy():
    X, Y = make_data()
    with pytest.raises(InputError, match=r'column 0 has 4 classes; copies are made for labels.*targets="single"'):
        chi_square(X, X, targets="copy")
    with pytest.raises(InputError, match="X has 90 rows and Y has 89"):
        chi_square(X, Y[:-1])
