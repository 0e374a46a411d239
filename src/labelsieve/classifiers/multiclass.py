"""One model of many classes: fitted to what a label space made of the labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.classifiers.weight_routing import Weights, fit_weighted
from labelsieve.errors import InputError
from labelsieve.labelspace import EncodedTargets


@dataclass(frozen=True)
class ClassModel:
    """A fitted classifier of classes ``0 .. n_classes - 1``, or the only class that there is."""

    estimator: Any
    n_classes: int
    only: int = 0  # the class to predict where there is no estimator

    def _spread(self, values: NDArray[np.float64], absent: Any) -> NDArray[np.float64]:
        """A column for every class; the estimator has them for the classes that it saw."""
        if self.estimator is not None and len(self.estimator.classes_) == self.n_classes:
            return values
        spread = np.empty((values.shape[0], self.n_classes))
        spread[:] = absent
        spread[:, [self.only] if self.estimator is None else self.estimator.classes_] = values
        return spread

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """Of every class: shape (n_rows, n_classes)."""
        values = np.ones((X.shape[0], 1)) if self.estimator is None else self.estimator.predict_proba(X)
        return self._spread(values, 0.0)

    def decisions(self, X: Any) -> NDArray[np.float64]:
        """Of every class, the largest for the one predicted: shape (n_rows, n_classes). Classes never seen are 1 below all."""
        if self.estimator is None:
            values = np.ones((X.shape[0], 1))
        else:
            values = self.estimator.decision_function(X)
            if values.ndim == 1:  # two classes: one number, for the second
                values = np.column_stack([-values / 2, values / 2])
            elif values.shape[1] != len(self.estimator.classes_) or _decides_between_pairs(self.estimator):
                raise InputError(
                    f"{self.estimator!r} decides between pairs of classes, and a decision for each class is needed; use "
                    "decision_function_shape='ovr'."
                )
        return self._spread(values, values.min(axis=1, keepdims=True) - 1)

    def classes(self, X: Any) -> NDArray[np.intp]:
        """As the estimator predicts."""
        if self.estimator is None:
            return np.full(X.shape[0], self.only, dtype=np.intp)
        classes: NDArray[np.intp] = self.estimator.predict(X)
        return classes


def _decides_between_pairs(estimator: Any) -> bool:
    """True for a support vector machine of pairs, also inside a pipeline; of three classes there are as many pairs."""
    settings = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return any(name.endswith("decision_function_shape") and value == "ovo" for name, value in settings.items())


def fit_classes(base: Any, X: Any, made: EncodedTargets, weights: Weights = None) -> ClassModel:
    """A clone of ``base`` fitted to one variable of a label space: on its rows, or on its entries with their weights.

    ``weights`` of the rows, all above 0, multiply with what the label space lets a row weigh. Cost: beside the fit, a copy of
    the rows that it is made of; a row that counts for several classes is there several times.
    """
    classes = made.codes.column(0).astype(np.intp)
    n_classes = int(made.codes.levels[0])
    if len(classes) == 0:
        scaled = "" if weights is None else ", or a sample_weight that adds up to the number of rows"
        raise InputError(
            f"No row of n_samples = {X.shape[0]} is left to learn from: every label row is rarer than min_count. Use a smaller "
            f"one{scaled}."
        )
    if (classes == classes[0]).all():
        return ClassModel(None, n_classes, int(classes[0]))
    chosen = made.rows if made.row_index is None else made.row_index
    if made.share is not None:
        weights = made.share if weights is None else weights * made.share
    if chosen is None:
        return ClassModel(fit_weighted(clone(base), X, classes, weights), n_classes)
    rows = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
    return ClassModel(fit_weighted(clone(base), X[rows], classes, None if weights is None else weights[rows]), n_classes)
