"""Sparse features and many sparse targets: tables without a common row are added up from margins, with the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import Sieve
from labelsieve.counting.backends import Column, Feature, JointFeatures, NativeBackend, Target
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes

CRITERIA = ("mim", "mlinfogain", "mrmr", "scls", "ami", "jmi", "cife", "cmim", "icap", "jmim")


def sparse_table(rng, n_rows, n_columns, n_levels=2, density=0.05):
    """Columns with power-law frequencies; the first one is zero everywhere, and some are mostly ones."""
    share = np.minimum(1.0, density * n_columns / (np.arange(n_columns) + 1) / 4)
    share[:1] = 0
    share[5:6] = 0.9
    return (rng.random((n_rows, n_columns)) < share) * rng.integers(1, n_levels, size=(n_rows, n_columns))


@pytest.mark.parametrize("n_levels", [2, 4])
@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
def test_sums_equal_those_of_packed_bits(n_levels, estimator):
    rng = np.random.default_rng(n_levels)
    X, Y = sparse_table(rng, 120, 50, n_levels), sparse_table(rng, 120, 40)
    fixed = FixedPoint.for_rows(120, n_targets=40, estimator=estimator)
    dense = NativeBackend(Codes.from_values(X), Codes.from_values(Y), fixed, strategy="positional")
    tables = Codes.from_values(sp.csc_array(X)), Codes.from_values(sp.csc_array(Y))
    sparse = NativeBackend(*tables, fixed, strategy="non-empty", n_jobs=2)
    conditions = Feature(3), Feature(0), JointFeatures((1, 5)), Target(2), Column(rng.integers(0, 70, size=120), 70)
    for ours, expected in zip(sparse.singles(), dense.singles(), strict=True):
        np.testing.assert_array_equal(ours, expected)
    for targets in (slice(None), slice(4, 30), slice(0)):
        for reduce in ("sum", None, "sum"):
            pairs = sparse.pairs(targets=targets, reduce=reduce)
            np.testing.assert_array_equal(pairs, dense.pairs(targets=targets, reduce=reduce))
            for given in conditions:
                ours, expected = (backend.panel(given, targets=targets, reduce=reduce) for backend in (sparse, dense))
                np.testing.assert_array_equal(ours.pair, expected.pair)
                np.testing.assert_array_equal(ours.triple, expected.triple)


@pytest.fixture(scope="module")
def many_labels():
    """Enough rare labels for the library to choose this way of counting by itself; two labels without positives."""
    rng = np.random.default_rng(0)
    X, Y = sparse_table(rng, 150, 90), rng.random((150, 700)) < 0.02
    Y[:, 10:20] = X[:, 20:30] | (rng.random((150, 10)) < 0.1)
    Y[:, :2] = False
    return X, Y


@pytest.mark.parametrize("criterion", CRITERIA)
def test_selection_from_sparse_tables_is_that_of_the_dense_path(criterion, many_labels):
    X, Y = many_labels
    settings = {"discretizer": None, "n_features_to_select": 6}
    dense = Sieve(criterion, **settings).fit(X, Y)
    sparse = Sieve(criterion, **settings).fit(sp.csr_array(X), sp.csr_array(Y))
    np.testing.assert_array_equal(sparse.selected_, dense.selected_)
    np.testing.assert_array_equal(sparse.scores_, dense.scores_)
    np.testing.assert_array_equal(sparse.feature_scores_, dense.feature_scores_)


def test_weights_and_unknown_labels_count_as_in_the_dense_path(many_labels):
    X, Y = many_labels
    weight = np.random.default_rng(1).integers(1, 4, size=len(X))
    for labels, weights in ((Y, weight), (np.where(Y & (np.arange(700) == 12), np.nan, Y), None)):
        dense = Sieve("jmi", discretizer=None, n_features_to_select=4).fit(X, labels, sample_weight=weights)
        sparse = Sieve("jmi", discretizer=None, n_features_to_select=4).fit(sp.csr_array(X), labels, sample_weight=weights)
        np.testing.assert_array_equal(sparse.selected_, dense.selected_)
        np.testing.assert_array_equal(sparse.scores_, dense.scores_)
