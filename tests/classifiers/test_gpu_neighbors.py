"""Neighbors on a GPU: those of the core, ties included; with a kernel in numpy, and on a GPU (``make gpu``)."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.classifiers import MLkNN, nearest_neighbors, neighbor_search, nested_neighbors, nested_predictions


class NumpyNeighbors:
    """In the place of ``CudaNeighbors``, on the same memory."""

    xp, device = np, nullcontext()

    def to_host(self, values):
        return np.array(values)

    def nearest(self, columns, points, first, sizes, leave_out, sums, rows, squares):
        assert len(sums) >= rows.shape[1]
        for query in range(rows.shape[1]):
            for step, size in enumerate(sizes):
                sums[query] = 0.0
                for column, at in zip(columns[:size], points[first + query], strict=False):
                    sums[query] += (at - column) * (at - column)
                distances = sums[query].copy()
                if leave_out:
                    distances[first + query] = np.inf
                nearest = np.argsort(distances, kind="stable")[: rows.shape[2]]
                rows[step, query] = nearest
                if squares is not None:
                    squares[step, query] = distances[nearest]


@pytest.fixture(params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def on_device(request, monkeypatch):
    monkeypatch.setattr(neighbor_search, "SUM_BYTES", 8 * 150 * 13)  # several searches
    if request.param == "stand-in":
        monkeypatch.setattr(neighbor_search, "CudaNeighbors", NumpyNeighbors)


TABLES = {
    "numbers": lambda rng, n: rng.normal(size=(n, 9)),
    "whole numbers, with ties": lambda rng, n: rng.integers(3, size=(n, 9)).astype(float),
    "zeros and ones": lambda rng, n: rng.integers(2, size=(n, 9)).astype(float),
    "huge": lambda rng, n: rng.normal(size=(n, 9)) * 1e200,
    "equal rows": lambda rng, n: np.ones((n, 9)),
}


def assert_same(found, expected):
    assert np.array_equal(found.starts, expected.starts)
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.squared_distances, expected.squared_distances)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("k", [1, 10, 200])
def test_neighbors_are_those_of_the_core(on_device, kind, k):
    rng = np.random.default_rng(5)
    X, queries = TABLES[kind](rng, 150), TABLES[kind](rng, 40)
    for points in (None, queries):
        assert_same(nearest_neighbors(X, points, k=k, backend="gpu"), nearest_neighbors(X, points, k=k))
        for distances in (True, False):
            options = {"features": [4, 0, 8, 2, 7], "sizes": [1, 2, 5], "k": k, "distances": distances}
            nested = nested_neighbors(X, points, backend="gpu", **options)
            for found, expected in zip(nested, nested_neighbors(X, points, **options), strict=True):
                assert_same(found, expected)


def test_predictions_do_not_depend_on_the_backend(on_device):
    rng = np.random.default_rng(6)
    X, queries = rng.integers(4, size=(150, 6)).astype(float), rng.integers(4, size=(30, 6)).astype(float)
    Y = (X[:, :3] + rng.normal(size=(150, 3)) > 2).astype(int)
    Y[:, 2] = 0
    native, on_gpu = MLkNN(k=5), MLkNN(k=5, backend="gpu")
    expected = native.fit(X, Y).predict_proba(queries)
    assert np.array_equal(on_gpu.fit(X, Y).predict_proba(queries), expected)
    pairs = (nested_predictions(each, X, Y, queries, features=[1, 5, 0, 2]) for each in (native, on_gpu))
    for (size, mine), (other, theirs) in zip(*pairs, strict=True):
        assert size == other
        assert np.array_equal(mine, theirs)


def test_what_a_card_does_not_search_raises():
    X = np.eye(4)
    with pytest.raises(InputError, match="exactly k neighbors: use ties='first', or backend='native'"):
        nearest_neighbors(X, k=1, ties="all", backend="gpu")
    with pytest.raises(InputError, match=r"dense tables: use X.toarray\(\), or backend='native'"):
        nearest_neighbors(sp.csr_matrix(X), k=1, backend="gpu")
    with pytest.raises(InputError, match="backend"):
        nearest_neighbors(X, k=1, backend="cuda")
