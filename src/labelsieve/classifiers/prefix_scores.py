"""Predictions with the first 1, 2, ..., K features of a ranking, and their evaluation."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing

from labelsieve.classifiers.brknn import BaseNeighborClassifier, BRkNN
from labelsieve.classifiers.knn_regressor import KNNRegressor
from labelsieve.classifiers.learner_features import LearnerFeatures, Scale, learner_targets, scaled, scaled_rows
from labelsieve.classifiers.mlknn import MLkNN
from labelsieve.classifiers.nearest_neighbors import Neighbors, nested_neighbors
from labelsieve.counting.constant_targets import part_of_the_rows
from labelsieve.errors import InputError, unknown_name
from labelsieve.labelspace import read_targets
from labelsieve.metrics import MEASURES, Scorer
from labelsieve.table_types import TableLike, TargetsLike, WeightsLike, as_table


def nested_predictions(
    estimator: BaseNeighborClassifier | KNNRegressor,
    X: TableLike,
    Y: TargetsLike,
    queries: TableLike,
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
        Number of features.
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
    table, labels = fitted._read(X, Y)
    searched = fitted._read_queries(queries)
    columns = checked_features(features, table.shape[1])
    neighbors = partial(
        nested_neighbors,
        table,
        features=columns.tolist(),
        sizes=sizes,
        k=fitted.k,
        ties=fitted.ties,
        n_jobs=fitted.n_jobs,
        backend=fitted.backend,
        distances=False,
    )
    of_queries = neighbors(searched)
    of_rows: list[Neighbors] | None = neighbors() if fitted._needs_neighbors_of_rows else None
    buffers = RecycledArrays((searched.shape[0], labels.shape[1] if labels.ndim == 2 else 1))
    for step, size in enumerate(range(1, len(columns) + 1) if sizes is None else sizes):
        rows, points = (table[:, columns[:size]], searched[:, columns[:size]]) if fitted._needs_features else (None, None)
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


Measured = str | Callable[[Any, Any, Any], float]


def prefix_scores(
    estimator: BaseEstimator,
    measure: Measured,
    X: TableLike,
    Y: TargetsLike,
    X_test: TableLike,
    Y_test: TargetsLike,
    *,
    features: Sequence[int],
    sizes: Sequence[int] | None = None,
    parts: Sequence[NDArray[np.intp]] | None = None,
) -> NDArray[np.float64]:
    """Fit an estimator to ``X`` and ``Y`` with the first 1, 2, ..., features and evaluate its predictions for ``X_test``.

    Parameters
    ----------
    estimator : estimator
        Clones of it are fitted.
    measure : str or callable
        A name of :data:`labelsieve.metrics.MEASURES`, or a scorer ``(estimator, X, Y) -> float``.
    X, Y : array-like
        Training rows and their targets.
    X_test, Y_test : array-like
        Test rows and their targets.
    features : sequence of int
        Columns, best first.
    sizes : increasing sequence of int, default=None
        Numbers of features; None: 1 up to all.
    parts : sequence of arrays of int, default=None
        Test rows that are evaluated together; None: all of them.

    Returns
    -------
    ndarray of shape (n_sizes,), or (n_parts, n_sizes) with ``parts``

    Notes
    -----
    Cost: for nearest-neighbor estimators that of :func:`nested_predictions`; for others, and for scorers, a fit for each
    number of features. Parts share the fits.

    Examples
    --------
    >>> X, Y = np.array([[0.0, 5.0], [1.0, 0.0], [9.0, 5.0]]), np.array([[1], [1], [0]])
    >>> prefix_scores(BRkNN(k=1), "hamming_loss", X, Y, [[6.0, 0.0]], [[1]], features=[0, 1])
    array([1., 0.])
    """
    if isinstance(measure, str) and measure not in MEASURES:
        raise unknown_name("measure", measure, MEASURES)
    X, X_test, Y_test = as_table(X), as_table(X_test), as_table(Y_test)
    tested = [np.arange(X_test.shape[0])] if parts is None else parts
    truths = [Y_test if parts is None else _safe_indexing(Y_test, rows) for rows in tested]
    scores = []
    if isinstance(measure, str) and _has_nested_predictions(estimator, measure) and len(as_table(Y).shape) == 2:
        function, labels = MEASURES[measure].function, MEASURES[measure].needs == "labels"
        for _, found in nested_predictions(estimator, X, Y, X_test, features=features, sizes=sizes):
            answers = (found > 0.5).astype(int) if labels else found
            scores.append([function(truth, answers[rows]) for rows, truth in zip(tested, truths, strict=True)])
    else:
        ranking = checked_features(features, X.shape[1])
        # A scorer negates losses, and the sign restores them.
        sign = -1 if isinstance(measure, str) and MEASURES[measure].lower_is_better else 1
        scorer = Scorer(measure, {}) if isinstance(measure, str) else measure
        for size in range(1, len(ranking) + 1) if sizes is None else sizes:
            columns = ranking[:size]
            fitted = clone(estimator).fit(_safe_indexing(X, columns, axis=1), Y)
            test = _safe_indexing(X_test, columns, axis=1)
            tests = [test if parts is None else _safe_indexing(test, rows) for rows in tested]
            scores.append([sign * float(scorer(fitted, *pair)) for pair in zip(tests, truths, strict=True)])
    curves = np.array(scores).T
    return curves[0] if parts is None else curves


def evaluate_selector(
    selector: BaseEstimator,
    X: TableLike,
    Y: TargetsLike,
    sample_weight: WeightsLike,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    estimator: BaseEstimator,
    measure: Measured | None,
    n_features: int,
    scale: Scale | None = "standard",
) -> NDArray[np.float64]:
    """Select features on the rows ``train`` and evaluate predictions for the rows ``test`` with the first 1, 2, ..., of them.

    Clones of the selector and the estimator are fitted. The default estimator is MLkNN with the Hamming loss, or KNNRegressor
    with the relative root mean squared error if a target is numeric; it gets text and other classes than 0 and 1 as a label for
    each class. Nearest-neighbor estimators get features scaled by the
    rows ``train``, with their means in missing cells and indicators of the most frequent levels of nominal features; the
    selector, and other estimators, get them as they are.
    """
    targets = read_targets(Y, getattr(selector, "target_types_", "auto"))
    numeric = bool(targets.is_numeric.any())
    answers = learner_targets(targets)[0] if estimator is None and not sparse.issparse(Y) and not _is_plain(Y, numeric) else Y
    estimator = estimator if estimator is not None else (KNNRegressor() if numeric else MLkNN())
    measure = measure if measure is not None else ("rrmse" if numeric else "hamming_loss")
    weights = () if sample_weight is None else (np.asarray(sample_weight)[train],)
    X_train, Y_train = _safe_indexing(X, train), _safe_indexing(Y, train)
    fold = clone(selector).set_params(n_features_to_select=n_features)
    # A fold continues no search, and its targets are of the types that they have in all rows.
    settings = {"warm_start": False, "target_type": targets.types.tolist()}
    fold.set_params(**{name: value for name, value in settings.items() if name in fold.get_params(deep=False)})
    with part_of_the_rows():
        fold.fit(X_train, Y_train, *weights)
    Y_train, X_test, Y_test = _safe_indexing(answers, train), _safe_indexing(X, test), _safe_indexing(answers, test)
    if isinstance(estimator, BaseNeighborClassifier | KNNRegressor):
        features = LearnerFeatures(X)
        if features.has_gaps:
            columns, ends = features.columns(fold.selected_)
            X_train, X_test = scaled_rows(scale, columns[train], columns[test])
            order = range(columns.shape[1])
            return prefix_scores(estimator, measure, X_train, Y_train, X_test, Y_test, features=order, sizes=ends.tolist())
        X_train, X_test = scaled(scale, X_train, X_test)
    return prefix_scores(estimator, measure, X_train, Y_train, X_test, Y_test, features=fold.selected_)


def _is_plain(Y: TargetsLike, numeric: bool) -> bool:
    """Whether measures read targets as they are: numbers, which for classes are 0 and 1."""
    values = np.asarray(Y)
    return values.dtype.kind in "biuf" and (numeric or bool(((values == 0) | (values == 1)).all()))


def _has_nested_predictions(estimator: BaseEstimator, measure: str) -> bool:
    """True if the measure can be computed from the nested probabilities or numbers."""
    if MEASURES[measure].needs == "numbers":
        return isinstance(estimator, KNNRegressor)
    extended = isinstance(estimator, BRkNN) and estimator.extension is not None  # predictions do not follow from probabilities
    return isinstance(estimator, BaseNeighborClassifier) and not extended
