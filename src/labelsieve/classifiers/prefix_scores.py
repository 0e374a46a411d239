"""A measure of predictions by the first 1, 2, ..., K features of a ranking."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from labelsieve.classifiers.brknn import BRkNN, NeighborClassifier
from labelsieve.classifiers.knn_regressor import KNNRegressor
from labelsieve.classifiers.mlknn import MLkNN
from labelsieve.classifiers.nested_predictions import checked_features, nested_predictions
from labelsieve.errors import InputError
from labelsieve.labelspace import read_targets
from labelsieve.metrics import MEASURES, Scorer

Measured = str | Callable[[Any, Any, Any], float]


def prefix_scores(
    estimator: Any, measure: Measured, X: Any, Y: Any, queries: Any, answers: Any, *, features: Sequence[int]
) -> NDArray[np.float64]:
    """Learn from ``X`` and ``Y`` with the first 1, 2, ..., features and measure the predictions for ``queries``.

    Parameters
    ----------
    estimator : estimator
        It is not fitted itself.
    measure : str or callable
        A name of :data:`labelsieve.metrics.MEASURES`, or a scorer ``(estimator, X, Y) -> float``.
    X, Y : training rows and their targets
    queries, answers : rows to predict for, and their targets
    features : sequence of int
        Columns, best first.

    Returns
    -------
    ndarray of shape (n_features,)

    Notes
    -----
    Cost: for learners by neighbors that of :func:`nested_predictions`; for others, and for measures that are scorers, a fit
    for each size.

    Examples
    --------
    >>> X, Y = np.array([[0.0, 5.0], [1.0, 0.0], [9.0, 5.0]]), np.array([[1], [1], [0]])
    >>> prefix_scores(BRkNN(k=1), "hamming_loss", X, Y, [[6.0, 0.0]], [[1]], features=[0, 1])
    array([1., 0.])
    """
    if isinstance(measure, str) and measure not in MEASURES:
        raise InputError(f"measure {measure!r} is not known; there are {', '.join(MEASURES)}.")
    if isinstance(measure, str) and _answers_by_neighbors(estimator, measure) and np.ndim(Y) == 2:
        function, labels = MEASURES[measure].function, MEASURES[measure].needs == "labels"
        nested = nested_predictions(estimator, X, Y, queries, features=features)
        return np.array([function(answers, (found > 0.5).astype(int) if labels else found) for _, found in nested])
    scores = []
    X, queries = (np.asarray(table) if isinstance(table, list) else table for table in (X, queries))
    ranking = checked_features(features, X.shape[1])
    for size in range(1, len(ranking) + 1):
        columns = ranking[:size]
        learner = clone(estimator).fit(_safe_indexing(X, columns, axis=1), Y)
        asked = _safe_indexing(queries, columns, axis=1)
        if isinstance(measure, str):  # a scorer turns losses round, and this turns them back
            sign = -1 if MEASURES[measure].lower_is_better else 1
            scores.append(sign * Scorer(measure, {})(learner, asked, answers))
        else:
            scores.append(float(measure(learner, asked, answers)))
    return np.array(scores)


def evaluate_selector(
    selector: Any, X: Any, Y: Any, sample_weight: Any, train: Any, test: Any, learner: Any, measure: Any, n_features: int
) -> NDArray[np.float64]:
    """Select from the rows ``train`` and measure predictions for the rows ``test`` with the first 1, 2, ..., features.

    The selector and the learner are not fitted themselves. Without a learner it is MLkNN, without a measure the Hamming loss;
    KNNRegressor and the relative root mean square error where a target is real.
    """
    numeric = bool(read_targets(Y).is_number.any())
    learner = learner if learner is not None else (KNNRegressor() if numeric else MLkNN())
    measure = measure if measure is not None else ("rrmse" if numeric else "hamming_loss")
    weights = () if sample_weight is None else (np.asarray(sample_weight)[train],)
    seen, answers = _safe_indexing(X, train), _safe_indexing(Y, train)
    fold = clone(selector).set_params(n_features_to_select=n_features)
    if "warm_start" in fold.get_params(deep=False):
        fold.set_params(warm_start=False)
    fold.fit(seen, answers, *weights)
    asked, expected = _safe_indexing(X, test), _safe_indexing(Y, test)
    return prefix_scores(learner, measure, seen, answers, asked, expected, features=fold.selected_)


def _answers_by_neighbors(estimator: Any, measure: str) -> bool:
    """True when probabilities or numbers for all sizes at once are all that the measure needs."""
    if MEASURES[measure].needs == "numbers":
        return isinstance(estimator, KNNRegressor)
    extended = isinstance(estimator, BRkNN) and estimator.extension is not None  # then predictions are more than probabilities
    return isinstance(estimator, NeighborClassifier) and not extended
