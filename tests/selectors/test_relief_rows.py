"""Neighbors are exact: ties are ties, and the lowest row wins them."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.selectors.rankings.relief import NO_ROW, Neighbors


def test_of_rows_at_the_same_distance_the_lowest_is_nearer():
    X = np.array([[0.3], [0.1], [0.5], [0.1], [0.5], [0.0], [1.0]])
    assert Neighbors(X).nearest(np.array([0]), [np.arange(7)], k=4).tolist() == [[[1, 2, 3, 4]]]


def test_the_order_of_the_features_cannot_break_a_tie():
    """0.1 + 0.2 + 0.3 rounds differently from 0.3 + 0.2 + 0.1; here the two rows are equally far."""
    X = np.array([[0, 0, 0, 0], [0.1, 0.2, 0.3, 1], [0.3, 0.2, 0.1, 1], [1, 1, 1, 0]])
    for order in ([0, 1, 2, 3], [2, 1, 0, 3], [3, 0, 2, 1]):
        assert Neighbors(X[:, order]).nearest(np.array([0]), [np.array([1, 2])], k=2).tolist() == [[[1, 2]]]


@pytest.mark.parametrize("full", [False, True], ids=["with zeros", "without zeros"])
def test_sparse_rows_have_the_neighbors_of_dense_ones(full):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 11)), 1)
    X[rng.random(X.shape) < 0.5] = 0
    X += 5000.0 * full
    everybody = [np.arange(80), np.arange(0, 80, 9)]
    dense, sparse = Neighbors(X), Neighbors(sp.coo_array(X).tocsr(), n_jobs=2)
    near = dense.nearest(np.arange(80), everybody, k=12)
    assert np.array_equal(near, sparse.nearest(np.arange(80), everybody, k=12))
    assert np.all(near[:, 1, 9:] == NO_ROW)
    factors = rng.normal(size=near.shape)
    expected = dense.weighted_differences(np.arange(80), near, factors)
    assert np.array_equal(sparse.weighted_differences(np.arange(80), near, factors), expected)


def test_explicit_zeros_and_repeated_entries_are_read_as_numbers():
    X = sp.csr_array(([1.0, 2.0, 0.0, 4.0], ([0, 0, 1, 2], [0, 0, 0, 0])), shape=(4, 1))
    assert Neighbors(X).nearest(np.array([3]), [np.arange(4)], k=3).tolist() == [[[1, 0, 2]]]
    assert X.nnz == 3 or X.data.tolist() == [1.0, 2.0, 0.0, 4.0], "the caller's matrix stays as it was"


def test_too_many_columns_for_exact_distances_are_refused():
    with pytest.raises(InputError, match="4,194,305 columns"):
        Neighbors(sp.csr_array((1, 2**22 + 1)))


def test_the_core_refuses_what_would_read_beyond_its_memory():
    from labelsieve.core import _native

    rows = np.zeros((3, 8))
    with pytest.raises(ValueError, match="multiple of 8"):
        _native.ReliefRows(np.zeros((3, 7)), 7, 1)
    core = _native.ReliefRows(rows, 5, 1)
    one = np.array([0], dtype=np.uint32)
    whole = np.array([0, 1], dtype=np.int64)
    out = np.zeros(2, dtype=np.uint32)
    with pytest.raises(ValueError, match="no such row"):
        core.nearest(one + 3, whole, one, 2, out)
    with pytest.raises(ValueError, match="below their limit"):
        core.nearest(one, whole, one + 3, 2, out)
    with pytest.raises(ValueError, match="span the lists"):
        core.nearest(one, whole + 1, one, 2, out)
    with pytest.raises(ValueError, match="k entries"):
        core.nearest(one, whole, one, 3, out)
    with pytest.raises(ValueError, match="no such row"):
        core.add(one, one + 3, np.ones(1), np.zeros(5))
    with pytest.raises(ValueError, match="one sum for each column"):
        core.add(one, one, np.ones(1), np.zeros(4))
