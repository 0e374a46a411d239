"""Scores of predictions from the first 1, 2, 3, ... features of a ranking, and the tables that learners get for them.

:func:`prefix_scores` fits and scores, with shared work between the sizes where it can. The rest of the module prepares what
learners see: nominal features as indicators, scaled columns, classes as 0/1 labels.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from labelsieve.classifiers.neighbors import (
    BaseNeighborClassifier,
    BRkNN,
    KNNRegressor,
    MLkNN,
    checked_features,
    nested_predictions,
)
from labelsieve.errors import InputError, unknown_name
from labelsieve.labelspace import read_targets
from labelsieve.metrics import MEASURES, Scorer
from labelsieve.parameters import take_columns, take_rows
from labelsieve.tables.frames import check_sparse
from labelsieve.tables.nominal import LearnerFeatures
from labelsieve.tables.targets import TargetTable, part_of_the_rows
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike, as_table, is_sparse

Scale = Literal["standard", "minmax"]
SCALES = ("standard", "minmax")
NONE = "none"  # None in files and on the command line
Measured = str | Callable[[Any, Any, Any], float]  # the name of a measure, or a scorer


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
    truths = [Y_test if parts is None else take_rows(Y_test, rows) for rows in tested]
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
            fitted = clone(estimator).fit(take_columns(X, columns), Y)
            test = take_columns(X_test, columns)
            tests = [test if parts is None else take_rows(test, rows) for rows in tested]
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
    each class. Nearest-neighbor estimators get features scaled by the rows ``train``, with their means in missing cells and
    indicators of the most frequent levels of nominal features; the selector, and other estimators, get them as they are.
    """
    types = getattr(selector, "target_types_", None)
    targets = read_targets(Y, "auto" if types is None else list(types))
    numeric = bool(targets.is_numeric.any())
    answers = learner_targets(targets)[0] if estimator is None and not is_sparse(Y) and not _is_plain(Y, numeric) else Y
    estimator = estimator if estimator is not None else (KNNRegressor() if numeric else MLkNN())
    measure = measure if measure is not None else ("rrmse" if numeric else "hamming_loss")
    weights = () if sample_weight is None else (np.asarray(sample_weight)[train],)
    X_train, Y_train = take_rows(X, train), take_rows(Y, train)
    fold = clone(selector).set_params(n_features_to_select=n_features)
    # A fold continues no search, and its targets are of the types that they have in all rows.
    settings = {"warm_start": False, "target_type": targets.types.tolist()}
    fold.set_params(**{name: value for name, value in settings.items() if name in fold.get_params(deep=False)})
    with part_of_the_rows():
        fold.fit(X_train, Y_train, *weights)
    Y_train, X_test, Y_test = take_rows(answers, train), take_rows(X, test), take_rows(answers, test)
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
    """Tell whether measures read targets as they are: numbers, which for classes are 0 and 1."""
    values = np.asarray(Y)
    return values.dtype.kind in "biuf" and (numeric or bool(((values == 0) | (values == 1)).all()))


def _has_nested_predictions(estimator: BaseEstimator, measure: str) -> bool:
    """Tell whether the measure can be computed from nested probabilities or numbers."""
    if MEASURES[measure].needs == "numbers":
        return isinstance(estimator, KNNRegressor)
    extended = isinstance(estimator, BRkNN) and estimator.extension is not None  # predictions do not follow from probabilities
    return isinstance(estimator, BaseNeighborClassifier) and not extended


def learner_targets(targets: TargetTable) -> tuple[NDArray[Any], bool]:
    """Return the targets for learners, numbers or indicators of classes, and whether they are numeric.

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


def scaled_rows(scale: Scale | None, train: Any, test: Any) -> tuple[Any, Any]:
    """Scale training and test rows by the training rows, and fill missing cells with the means of these.

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


def scaled(scale: Scale | None, train: Any, *others: Any) -> tuple[Any, ...]:
    """Scale tables by the columns of ``train``: to mean 0 and variance 1 ("standard"), or to the range from 0 to 1 ("minmax").

    Missing values stay missing, and a constant column is only shifted. Sparse tables stay sparse, so they are not shifted:
    "standard" divides by the deviations, which gives the same distances between rows, and "minmax" by the largest absolute
    values.

    >>> scaled("minmax", np.array([[0.0], [4.0]]), np.array([[5.0]]))
    (array([[0.],
           [1.]]), array([[1.25]]))
    """
    if scale is None:
        return (train, *others)
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler  # loaded late: most uses need no scaler

    for table in (train, *others):
        check_sparse(table, "X")
    if is_sparse(train):
        scaler = StandardScaler(with_mean=False) if scale == "standard" else MaxAbsScaler()
    else:
        scaler = StandardScaler() if scale == "standard" else MinMaxScaler()
    tables = [
        table.astype(np.float64) if is_sparse(table) else np.asarray(table, dtype=np.float64) for table in (train, *others)
    ]
    scaler.fit(tables[0])
    return tuple(scaler.transform(table) for table in tables)


def read_scale(given: object) -> Scale | None:
    """Validate the name of a scale; ``"none"`` is None.

    >>> read_scale("minmax"), read_scale("none")
    ('minmax', None)
    """
    if given is None or given == NONE:
        return None
    if not isinstance(given, str) or given not in SCALES:
        raise unknown_name("scale", given, (*SCALES, NONE))
    return "standard" if given == "standard" else "minmax"
