"""Evaluation of predictions with the first 1, 2, ..., K features of a ranking."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from labelsieve.classifiers.brknn import BaseNeighborClassifier, BRkNN
from labelsieve.classifiers.knn_regressor import KNNRegressor
from labelsieve.classifiers.mlknn import MLkNN
from labelsieve.classifiers.nested_predictions import checked_features, nested_predictions
from labelsieve.labelspace import read_targets
from labelsieve.metrics import MEASURES, Scorer
from labelsieve.names import unknown_name

Measured = str | Callable[[Any, Any, Any], float]


def prefix_scores(
    estimator: Any, measure: Measured, X: Any, Y: Any, X_test: Any, Y_test: Any, *, features: Sequence[int]
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

    Returns
    -------
    ndarray of shape (n_features,)

    Notes
    -----
    Cost: for nearest-neighbor estimators that of :func:`nested_predictions`; for others, and for scorers, a fit for each
    number of features.

    Examples
    --------
    >>> X, Y = np.array([[0.0, 5.0], [1.0, 0.0], [9.0, 5.0]]), np.array([[1], [1], [0]])
    >>> prefix_scores(BRkNN(k=1), "hamming_loss", X, Y, [[6.0, 0.0]], [[1]], features=[0, 1])
    array([1., 0.])
    """
    if isinstance(measure, str) and measure not in MEASURES:
        raise unknown_name("measure", measure, MEASURES)
    if isinstance(measure, str) and _has_nested_predictions(estimator, measure) and np.ndim(Y) == 2:
        function, labels = MEASURES[measure].function, MEASURES[measure].needs == "labels"
        nested = nested_predictions(estimator, X, Y, X_test, features=features)
        return np.array([function(Y_test, (found > 0.5).astype(int) if labels else found) for _, found in nested])
    scores = []
    X, X_test = (np.asarray(table) if isinstance(table, list) else table for table in (X, X_test))
    ranking = checked_features(features, X.shape[1])
    for size in range(1, len(ranking) + 1):
        columns = ranking[:size]
        fitted = clone(estimator).fit(_safe_indexing(X, columns, axis=1), Y)
        test = _safe_indexing(X_test, columns, axis=1)
        if isinstance(measure, str):  # a scorer negates losses, and the sign restores them
            sign = -1 if MEASURES[measure].lower_is_better else 1
            scores.append(sign * Scorer(measure, {})(fitted, test, Y_test))
        else:
            scores.append(float(measure(fitted, test, Y_test)))
    return np.array(scores)


def evaluate_selector(
    selector: Any,
    X: Any,
    Y: Any,
    sample_weight: Any,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    estimator: Any,
    measure: Measured | None,
    n_features: int,
) -> NDArray[np.float64]:
    """Select features on the rows ``train`` and evaluate predictions for the rows ``test`` with the first 1, 2, ..., of them.

    Clones of the selector and the estimator are fitted. The default estimator is MLkNN with the Hamming loss, or KNNRegressor
    with the relative root mean squared error if a target is numeric.
    """
    numeric = bool(read_targets(Y).is_number.any())
    estimator = estimator if estimator is not None else (KNNRegressor() if numeric else MLkNN())
    measure = measure if measure is not None else ("rrmse" if numeric else "hamming_loss")
    weights = () if sample_weight is None else (np.asarray(sample_weight)[train],)
    X_train, Y_train = _safe_indexing(X, train), _safe_indexing(Y, train)
    fold = clone(selector).set_params(n_features_to_select=n_features)
    if "warm_start" in fold.get_params(deep=False):
        fold.set_params(warm_start=False)
    fold.fit(X_train, Y_train, *weights)
    X_test, Y_test = _safe_indexing(X, test), _safe_indexing(Y, test)
    return prefix_scores(estimator, measure, X_train, Y_train, X_test, Y_test, features=fold.selected_)


def _has_nested_predictions(estimator: Any, measure: str) -> bool:
    """True if the measure can be computed from the nested probabilities or numbers."""
    if MEASURES[measure].needs == "numbers":
        return isinstance(estimator, KNNRegressor)
    extended = isinstance(estimator, BRkNN) and estimator.extension is not None  # predictions do not follow from probabilities
    return isinstance(estimator, BaseNeighborClassifier) and not extended
