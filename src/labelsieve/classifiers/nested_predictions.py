"""Predictions with the first 1, 2, ..., K features of a ranking, from distances updated one feature at a time."""

import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.classifiers.brknn import BaseNeighborClassifier
from labelsieve.classifiers.knn_regressor import KNNRegressor
from labelsieve.classifiers.nearest_neighbors import Neighbors, nested_neighbors
from labelsieve.errors import InputError


def nested_predictions(
    estimator: BaseNeighborClassifier | KNNRegressor,
    X: Any,
    Y: Any,
    queries: Any,
    *,
    features: Sequence[int],
    sizes: Sequence[int] | None = None,
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Predictions of a nearest-neighbor estimator with the best 1, 2, ..., features.

    Parameters
    ----------
    estimator : BRkNN, MLkNN, IBLR or KNNRegressor
        A clone of it is fitted.
    X, Y : array-like
        Training rows and their labels or targets.
    queries : array-like
        Rows to predict.
    features : sequence of int
        Columns, best first: ``selected_`` of a selector fitted on the same training rows.
    sizes : increasing sequence of int, default=None
        Numbers of features; None: 1 up to all.

    Yields
    ------
    size : int
    predictions : ndarray
        ``predict_proba`` of a classifier, ``predict`` of a regressor: the same numbers as from a fit on those columns.

    Notes
    -----
    Cost: with ``n`` training rows and ``m`` queries, distances take ``(n + m) * n`` steps for each feature in place of
    ``(n + m) * n * size`` for each size; the search of neighbors and the fit are repeated for each size. The used columns are
    stored densely; small whole numbers take two bytes per row.

    Examples
    --------
    >>> from labelsieve.classifiers import BRkNN
    >>> X, Y = np.array([[0.0, 5.0], [1.0, 0.0], [9.0, 5.0]]), np.array([[1], [1], [0]])
    >>> for size, probabilities in nested_predictions(BRkNN(k=1), X, Y, [[6.0, 0.0]], features=[0, 1]):
    ...     print(size, probabilities)
    1 [[0.]]
    2 [[1.]]
    """
    if not isinstance(estimator, BaseNeighborClassifier | KNNRegressor):
        raise InputError(
            f"Nested predictions need a nearest-neighbor estimator (BRkNN, MLkNN, IBLR, KNNRegressor), not {estimator!r}."
        )
    fitted = clone(estimator)
    fitted._validate_params()
    X, labels = fitted._read(X, Y)
    queries = fitted._read_queries(queries)
    columns = checked_features(features, X.shape[1])
    neighbors = partial(
        nested_neighbors,
        X,
        features=columns.tolist(),
        sizes=sizes,
        k=fitted.k,
        ties=fitted.ties,
        n_jobs=fitted.n_jobs,
        distances=False,
    )
    of_queries = neighbors(queries)
    of_rows: list[Neighbors] | None = neighbors() if fitted._needs_neighbors_of_rows else None
    buffers = RecycledArrays((queries.shape[0], labels.shape[1] if labels.ndim == 2 else 1))
    for step, size in enumerate(range(1, len(columns) + 1) if sizes is None else sizes):
        rows, points = (X[:, columns[:size]], queries[:, columns[:size]]) if fitted._needs_features else (None, None)
        fitted._learn(rows, None if of_rows is None else of_rows[step], labels)
        predictions = fitted._estimate(points, of_queries[step], buffers.array())
        yield int(size), fitted._in_form_of_y(predictions) if isinstance(fitted, BaseNeighborClassifier) else predictions


def checked_features(features: Sequence[int], n_features: int) -> NDArray[np.intp]:
    """A ranking of features as validated columns of X.

    >>> checked_features([2, 0], 3)
    array([2, 0])
    """
    columns = np.asarray(features)
    if columns.shape == (0,):
        raise InputError("features must not be empty.")
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or (columns < 0).any() or (columns >= n_features).any():
        raise InputError(f"features must be columns from 0 to {n_features - 1}.")
    return columns.astype(np.intp)


class RecycledArrays:
    """Arrays of one shape that reuse released memory, because allocating memory costs as much as filling it.

    The memory of an array is reused once the array and all its views are garbage-collected.

    >>> arrays = RecycledArrays((2, 3))
    >>> first, second = arrays.array(), arrays.array()
    >>> np.shares_memory(first, second)
    False
    >>> address, view = first.ctypes.data, first[1:]
    >>> del first
    >>> arrays.array().ctypes.data == address
    False
    >>> del view
    >>> arrays.array().ctypes.data == address
    True
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._free: list[NDArray[np.uint8]] = []

    def array(self) -> NDArray[np.float64]:
        """An uninitialized array that shares no memory with another one in use."""
        n_rows, n_columns = self._shape
        memory = self._free.pop() if self._free else np.empty(8 * n_rows * n_columns, dtype=np.uint8)
        array = np.frombuffer(memory.data, dtype=np.float64)
        # Every view of the array holds a reference to its base.
        weakref.finalize(array.base, self._free.append, memory).atexit = False
        return array.reshape(self._shape)
