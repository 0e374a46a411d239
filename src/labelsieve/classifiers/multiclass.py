"""A multi-class model fitted to the variable of a label space."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from labelsieve.classifiers.shared_logistic import SharedLogistic
from labelsieve.classifiers.weight_routing import Weights, fit_weighted
from labelsieve.errors import InputError
from labelsieve.labelspace import EncodedTargets
from labelsieve.table_types import Matrix


@dataclass(frozen=True)
class ClassModel:
    """A fitted classifier of classes ``0 .. n_classes - 1``, or a constant class."""

    estimator: BaseEstimator
    n_classes: int
    constant: int = 0  # the predicted class if there is no estimator

    def _spread(self, values: NDArray[np.float64], absent: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """A column for every class; the estimator has columns for the classes of its training rows."""
        if self.estimator is not None and len(self.estimator.classes_) == self.n_classes:
            return values
        spread = np.empty((values.shape[0], self.n_classes))
        spread[:] = absent
        spread[:, [self.constant] if self.estimator is None else self.estimator.classes_] = values
        return spread

    def probabilities(self, X: Matrix) -> NDArray[np.float64]:
        """Probability of every class: shape (n_rows, n_classes)."""
        values = np.ones((X.shape[0], 1)) if self.estimator is None else self.estimator.predict_proba(X)
        return self._spread(values, 0.0)

    def decisions(self, X: Matrix) -> NDArray[np.float64]:
        """Decision values, the largest for the predicted class: shape (n_rows, n_classes). Unseen classes are 1 below all."""
        if self.estimator is None:
            values = np.ones((X.shape[0], 1))
        else:
            values = self.estimator.decision_function(X)
            if values.ndim == 1:  # two classes: the value of the second
                values = np.column_stack([-values / 2, values / 2])
            elif values.shape[1] != len(self.estimator.classes_) or _decides_between_pairs(self.estimator):
                raise InputError(
                    f"{self.estimator!r} has decision values for pairs of classes, and one for each class is needed; use "
                    "decision_function_shape='ovr'."
                )
        return self._spread(values, values.min(axis=1, keepdims=True) - 1)

    def classes(self, X: Matrix) -> NDArray[np.intp]:
        """Prediction of the estimator."""
        if self.estimator is None:
            return np.full(X.shape[0], self.constant, dtype=np.intp)
        classes: NDArray[np.intp] = self.estimator.predict(X)
        return classes


def _decides_between_pairs(estimator: BaseEstimator) -> bool:
    """True for one-versus-one support vector machines, also in a pipeline; three classes have as many pairs as classes."""
    settings = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return any(name.endswith("decision_function_shape") and value == "ovo" for name, value in settings.items())


def fit_classes(
    base: BaseEstimator, X: Matrix, encoded: EncodedTargets, weights: Weights = None, shared: SharedLogistic | None = None
) -> ClassModel:
    """A clone of ``base`` fitted to one variable of a label space, on its rows with their weights and repetitions.

    Positive ``weights`` of the rows multiply with those of the label space. Cost: the fit, and a copy of its rows; a row that
    counts for several classes is copied several times. ``shared`` has X and ``weights`` prepared for this base, for a label
    space that keeps every row once.
    """
    classes = encoded.codes.column(0).astype(np.intp)
    n_classes = int(encoded.codes.levels[0])
    if len(classes) == 0:
        scaled = "" if weights is None else ", or a sample_weight that adds up to the number of rows"
        raise InputError(
            f"No row of n_samples = {X.shape[0]} is left to learn from: every labelset is rarer than min_count. Use a smaller "
            f"min_count{scaled}."
        )
    if (classes == classes[0]).all():
        return ClassModel(None, n_classes, int(classes[0]))
    if shared is not None:
        return ClassModel(shared.fit(classes), n_classes)
    if encoded.share is not None:
        weights = encoded.share if weights is None else weights * encoded.share
    kept = encoded.rows if encoded.row_index is None else encoded.row_index
    if kept is None:
        return ClassModel(fit_weighted(clone(base), X, classes, weights), n_classes)
    rows = np.flatnonzero(kept) if kept.dtype == bool else kept
    return ClassModel(fit_weighted(clone(base), X[rows], classes, None if weights is None else weights[rows]), n_classes)
