"""A classifier by the first 1, 2, ..., K features of a ranking, from distances that grow by one feature at a time."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.classifiers.brknn import NeighborClassifier
from labelsieve.classifiers.buffers import Recycled
from labelsieve.classifiers.knn_regressor import KNNRegressor
from labelsieve.classifiers.nearest_neighbors import Neighbors, nested_neighbors
from labelsieve.errors import InputError


def nested_predictions(
    estimator: NeighborClassifier | KNNRegressor,
    X: Any,
    Y: Any,
    queries: Any,
    *,
    features: Sequence[int],
    sizes: Sequence[int] | None = None,
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """What an estimator of the neighbors' family learns and answers with the best 1, 2, ..., features.

    Parameters
    ----------
    estimator : BRkNN, MLkNN, IBLR or KNNRegressor
        Its settings; it is not fitted itself.
    X, Y : training rows and their labels or targets
    queries : rows to answer for
    features : sequence of int
        Columns, best first: ``selected_`` of a selector fitted on the same training rows.
    sizes : rising sequence of int, optional
        How many of them to use; by default 1 up to all.

    Yields
    ------
    size : int
    answers : ndarray
        ``predict_proba`` of a classifier, ``predict`` of a regressor: the same numbers as from a fit on those columns.

    Notes
    -----
    Cost: distances grow by one feature at a time. With ``n`` training rows and ``m`` queries, ``(n + m) * n`` steps for each
    feature in place of ``(n + m) * n * size`` for each size, but neighbors are chosen and learned from anew at each. The
    columns that are used are made dense; where they hold small whole numbers, two bytes a row are enough.

    Examples
    --------
    >>> from labelsieve.classifiers import BRkNN
    >>> X, Y = np.array([[0.0, 5.0], [1.0, 0.0], [9.0, 5.0]]), np.array([[1], [1], [0]])
    >>> for size, probabilities in nested_predictions(BRkNN(k=1), X, Y, [[6.0, 0.0]], features=[0, 1]):
    ...     print(size, probabilities)
    1 [[0.]]
    2 [[1.]]
    """
    if not isinstance(estimator, NeighborClassifier | KNNRegressor):
        raise InputError(
            f"Nested predictions are for estimators by neighbors (BRkNN, MLkNN, IBLR, KNNRegressor), not {estimator!r}."
        )
    learner = clone(estimator)
    learner._validate_params()
    X, labels = learner._read(X, Y)
    queries = learner._read_queries(queries)
    columns = checked_features(features, X.shape[1])
    how: dict[str, Any] = {
        "features": columns,
        "sizes": sizes,
        "k": learner.k,
        "ties": learner.ties,
        "n_jobs": learner.n_jobs,
        "distances": False,
    }
    found = nested_neighbors(X, queries, **how)
    own: list[Neighbors] | None = nested_neighbors(X, **how) if learner._needs_neighbors_of_rows else None
    room = Recycled((queries.shape[0], labels.shape[1] if labels.ndim == 2 else 1))
    for step, size in enumerate(range(1, len(columns) + 1) if sizes is None else sizes):
        rows, asked = (X[:, columns[:size]], queries[:, columns[:size]]) if learner._needs_features else (None, None)
        learner._learn(rows, None if own is None else own[step], labels)
        answers = learner._answer(asked, found[step], room.array())
        yield int(size), learner._in_form_of_y(answers) if isinstance(learner, NeighborClassifier) else answers


def checked_features(features: Sequence[int], n_features: int) -> NDArray[np.intp]:
    """A ranking as columns of X, or an error that says what they are.

    >>> checked_features([2, 0], 3)
    array([2, 0])
    """
    columns = np.asarray(features)
    if columns.shape == (0,):
        raise InputError("features must not be empty.")
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or (columns < 0).any() or (columns >= n_features).any():
        raise InputError(f"features must be columns from 0 to {n_features - 1}.")
    return columns.astype(np.intp)
