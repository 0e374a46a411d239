"""Intersections of true and predicted labelsets: every measure of two labelsets is a formula of these counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.metrics.measure_arrays import Floats, read_row_weights, read_two


@dataclass(frozen=True, eq=False)
class Overlap:
    """Sizes of the true set, the predicted set and their intersection: one number for each row, or for each label."""

    true: Floats
    predicted: Floats
    both: Floats

    @property
    def different(self) -> Floats:
        """Size of the symmetric difference."""
        return self.true + self.predicted - 2 * self.both

    @property
    def either(self) -> Floats:
        """Size of the union."""
        return self.true + self.predicted - self.both


def overlap_of_rows(Y: Any, predicted: Any, sample_weight: Any) -> tuple[Overlap, Floats, int]:
    """Label counts of every row, the weights of the rows, and the number of labels."""
    truth, prediction = read_two(Y, predicted)
    n_rows, n_labels = truth.shape
    counts = (_sums(truth, 1), _sums(prediction, 1), _sums(_both(truth, prediction), 1))
    return Overlap(*counts), read_row_weights(sample_weight, n_rows), n_labels


def overlap_of_labels(Y: Any, predicted: Any, sample_weight: Any) -> Overlap:
    """Sums of row weights for every label."""
    truth, prediction = read_two(Y, predicted)
    weights = read_row_weights(sample_weight, truth.shape[0])
    if sample_weight is None:
        return Overlap(_sums(truth, 0), _sums(prediction, 0), _sums(_both(truth, prediction), 0))
    return Overlap(truth.T @ weights, prediction.T @ weights, _both(truth, prediction).T @ weights)


def mean_of_ratios(above: Floats, below: Floats, zero_division: float, weights: Floats | None = None) -> float:
    """The mean of ``above / below``; 0/0 counts as ``zero_division`` or, if that is NaN, is left out."""
    value = read_zero_division(zero_division)
    ratios = np.divide(above, below, out=np.full(len(above), value), where=below > 0)
    weights = np.ones(len(above)) if weights is None else weights
    counted = ~np.isnan(ratios) & (weights > 0)
    return float(np.average(ratios[counted], weights=weights[counted])) if counted.any() else float("nan")


def read_zero_division(zero_division: float) -> float:
    """0, 1 or NaN, as in scikit-learn."""
    try:
        value = float(zero_division)
    except (TypeError, ValueError):
        value = 2.0
    if not (np.isnan(value) or value in (0.0, 1.0)):
        raise InputError(f"zero_division must be 0, 1 or NaN (leave such cases out), not {zero_division!r}.")
    return value


def _both(truth: Any, prediction: Any) -> Any:
    return truth.multiply(prediction) if sp.issparse(truth) else truth & prediction


def _sums(labels: Any, axis: int) -> Floats:
    if sp.issparse(labels):
        counts: NDArray[Any] = np.asarray(labels.astype(np.int64).sum(axis=axis)).ravel()
    else:
        counts = np.count_nonzero(labels, axis=axis)
    return counts.astype(np.float64)
