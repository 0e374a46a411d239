"""Predictions from the first 1, 2, 3, ... features of a ranking, sharing work between sizes."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing

from labelsieve.classifiers.nearest_neighbors import Neighbors, nested_neighbors
from labelsieve.classifiers.neighbors import BaseNeighborClassifier, BRkNN, KNNRegressor, MLkNN
from labelsieve.errors import InputError, unknown_name
from labelsieve.labelspace import read_targets
from labelsieve.metrics import MEASURES, Scorer
from labelsieve.tables.cut_points import require_finite
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.sparse import check_sparse
from labelsieve.tables.targets import TargetTable, part_of_the_rows
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike, as_table, is_sparse

MAX_INDICATORS = 20  # columns of a nominal feature, for its most frequent levels
LARGEST_DENSE = 2**25  # cells of a sparse matrix that is made dense: most learners are much faster then

Real = NDArray[np.float64]
Scale = Literal["standard", "minmax"]
SCALES = ("standard", "minmax")
NONE = "none"  # None in files and on the command line


class LearnerFeatures:
    """Features as columns of numbers: a nominal feature has an indicator for each of its most frequent levels.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.5, None], "color": ["red", "blue", "green"]})
    >>> LearnerFeatures(frame).columns([1, 0])
    (array([[0. , 0. , 1. , 1. ],
           [1. , 0. , 0. , 2.5],
           [0. , 1. , 0. , nan]]), array([3, 4]))
    """

    def __init__(self, X: TableLike) -> None:
        self._table: NumberTable = read_table(X, allow_missing=True)
        require_finite(self._table, allow_missing=True)
        self.n_features = self._table.shape[1]

    def columns(self, features: Sequence[int]) -> tuple[Real, NDArray[np.intp]]:
        """Columns of these features side by side, and their number up to every feature. Missing cells are NaN."""
        blocks = [self._columns_of(int(feature)) for feature in features]
        return np.column_stack(blocks), np.cumsum([block.shape[1] for block in blocks], dtype=np.intp)

    def everything(self) -> Any:
        """Columns of all features; a large sparse matrix stays sparse."""
        if self._table.dense is None:
            rows = self._table.sparse.tocsr().astype(np.float64)
            return rows.toarray() if rows.shape[0] * rows.shape[1] <= LARGEST_DENSE else rows
        if not self._table.nominal:
            return np.asarray(self._table.dense, dtype=np.float64)
        return self.columns(range(self.n_features))[0]

    @property
    def has_gaps(self) -> bool:
        """Whether some feature is nominal or has missing cells, so that methods that calculate refuse the table."""
        values = self._table.sparse.data if self._table.dense is None else self._table.dense
        return bool(self._table.nominal) or bool(np.isnan(values).any())

    def _columns_of(self, feature: int) -> Real:
        values = np.asarray(self._table.column(feature), dtype=np.float64)
        if feature not in self._table.nominal:
            return values[:, np.newaxis]
        levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if len(levels) <= 2:  # the second level against the first
            return np.where(np.isnan(values), np.nan, values == levels[-1])[:, np.newaxis] if len(levels) else values[:, None]
        kept = np.sort(levels[np.argsort(-counts, kind="stable")[:MAX_INDICATORS]])
        indicators: Real = (values[:, np.newaxis] == kept).astype(np.float64)
        return indicators


def scaled_rows(scale: Scale | None, train: Any, test: Any) -> tuple[Any, Any]:
    """Training and test rows, scaled by the training rows; missing cells get their means.

    >>> scaled_rows("standard", np.array([[1.0], [3.0], [np.nan]]), np.array([[np.nan], [5.0]]))[1]
    array([[0.],
           [3.]])
    """
    train, test = scaled(scale, train, test)
    if is_sparse(train):
        for table in (train, test):
            table.data[np.isnan(table.data)] = 0.0
        return train, test
    known = ~np.isnan(train)
    means = np.where(known, train, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, train, means), np.where(np.isnan(test), means, test)


def learner_targets(targets: TargetTable) -> tuple[NDArray[Any], bool]:
    """Targets for learners, and whether they are numeric: numbers, or indicators of classes.

    A target of classes 0 and 1 is a column, any other has a column for each class; so has one that is the only target, because
    a ranking of a single label is always right.

    >>> from labelsieve.labelspace import read_targets
    >>> learner_targets(read_targets(["rock", "folk", "rock"]))
    (array([[0, 1],
           [1, 0],
           [0, 1]]), False)
    """
    if targets.is_numeric.all():
        return targets.numbers, True
    if targets.is_numeric.any():
        n_numeric = int(targets.is_numeric.sum())
        raise InputError(
            f"Predictions of all targets are evaluated by one measure, and {n_numeric} of {targets.n_columns} targets "
            "are numeric, the others classes; select for each kind by itself, or pass target_type."
        )
    columns = []
    for column in range(targets.n_columns):
        codes = targets.classes.column(column)
        classes = np.unique(codes)
        if targets.n_columns > 1 and set(classes.tolist()) <= {0, 1}:
            columns.append(codes[:, np.newaxis])
        else:
            columns.append(codes[:, np.newaxis] == classes)
    return np.column_stack(columns).astype(np.intp), False


def read_scale(given: object) -> Scale | None:
    """Validate the name of a scale; ``"none"`` is None.

    >>> read_scale("minmax"), read_scale("none")
    ('minmax', None)
    """
    if given is None or given == NONE:
        return None
    if not isinstance(given, str) or given not in SCALES:
        raise unknown_name("scale", given, (*SCALES, NONE))
    return given  # type: ignore[return-value]


def scaled(scale: Scale | None, train: Any, *others: Any) -> tuple[Any, ...]:
    """Scale tables by the columns of ``train``: its means and deviations, or its ranges.

    Parameters
    ----------
    scale : {"standard", "minmax", None}
        "standard": columns of ``train`` get mean 0 and variance 1. "minmax": they get the range from 0 to 1. A constant column
        is only shifted. None: tables are returned as they are.
    train, *others : array, data frame or sparse matrix
        Missing values stay missing.

    Returns
    -------
    tuple
        One table for each. Sparse tables stay sparse, so they are not shifted: "standard" divides by the deviations, which
        gives the same distances between rows, and "minmax" by the largest absolute values.

    Examples
    --------
    >>> scaled("minmax", np.array([[0.0], [4.0]]), np.array([[5.0]]))
    (array([[0.],
           [1.]]), array([[1.25]]))
    """
    if scale is None:
        return (train, *others)
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler  # loaded late: most uses need no scaler

    for table in (train, *others):
        check_sparse(table, "X")
    if sp.issparse(train):
        scaler = StandardScaler(with_mean=False) if scale == "standard" else MaxAbsScaler()
    else:
        scaler = StandardScaler() if scale == "standard" else MinMaxScaler()
    tables = [
        table.astype(np.float64) if sp.issparse(table) else np.asarray(table, dtype=np.float64) for table in (train, *others)
    ]
    scaler.fit(tables[0])
    return tuple(scaler.transform(table) for table in tables)


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
