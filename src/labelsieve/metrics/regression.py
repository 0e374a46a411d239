"""The measure of numeric targets: the relative root mean squared error."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, one_of
from labelsieve.metrics.arrays import Floats, read_numbers, read_row_weights, same_shape
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike, is_sparse


def rrmse(
    Y: TargetsLike,
    predicted: TableLike,
    *,
    baseline: ArrayLike | None = None,
    multioutput: Literal["uniform_average", "raw_values"] = "uniform_average",
    sample_weight: WeightsLike = None,
) -> Any:
    r"""Compute the relative root mean squared error, averaged over the targets.

    .. math:: \frac{1}{q} \sum_j \sqrt{\frac{\sum_i (y_{ij} - \hat y_{ij})^2}{\sum_i (y_{ij} - b_j)^2}}

    1 is the error of always predicting :math:`b_j`. In Sechidis et al. (2019) and the multi-target literature that they cite,
    :math:`b_j` is the mean of the training rows: pass it as ``baseline``. The default is the mean of ``Y``, for which the value
    of a target is :math:`\sqrt{1 - R^2}` with scikit-learn's ``r2_score``.

    Parameters
    ----------
    Y, predicted : array-like, frame or sparse matrix of shape (n_rows, n_targets)
        Finite numbers; one dimension is one target.
    baseline : array-like of shape (n_targets,), default=None
        The values :math:`b_j`; None: the means of ``Y``.
    multioutput : {"uniform_average", "raw_values"}, default="uniform_average"
        The mean over the targets, or an array with the value of each.
    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row.

    Returns
    -------
    float or ndarray
        0 or more. A target that always equals the baseline counts 0 if it is predicted exactly and 1 if not, as in
        ``r2_score``.

    Notes
    -----
    Cost: a few passes over the cells.

    Examples
    --------
    >>> rrmse([[0.0], [1.0], [2.0]], [[0.5], [1.0], [1.5]])
    0.5
    >>> rrmse([[0.0, 5.0], [2.0, 5.0]], [[1.0, 5.0], [1.0, 5.0]], multioutput="raw_values")
    array([1., 0.])
    """
    one_of(multioutput, "multioutput", ("uniform_average", "raw_values"))
    truth, prediction = _dense(Y, "Y"), _dense(predicted, "predicted")
    same_shape(truth.shape, prediction.shape, "predicted")
    weights = read_row_weights(sample_weight, len(truth))
    truth, prediction, weights = truth[weights > 0], prediction[weights > 0], weights[weights > 0]
    deviations = truth - _baseline(baseline, truth, weights)
    if baseline is None:
        deviations[:, np.ptp(truth, axis=0) == 0] = 0.0  # rounding: the mean of equal numbers may differ from them
    (error, above), (spread, below) = _squares(truth - prediction, weights), _squares(deviations, weights)
    ratios = np.divide(error, spread, out=(error > 0).astype(np.float64), where=spread > 0)
    values = np.ldexp(np.sqrt(ratios), np.where(spread > 0, above - below, 0))
    return values if multioutput == "raw_values" else float(values.mean())


def _squares(differences: Floats, weights: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return sums of squares of every column in units of a power of two, and its exponent, so that squares cannot overflow."""
    exponents = np.frexp(np.abs(differences).max(axis=0))[1]
    return weights @ np.ldexp(differences, -exponents) ** 2, exponents


def _baseline(baseline: ArrayLike | None, truth: Floats, weights: Floats) -> Floats:
    if baseline is None:
        return np.asarray(np.average(truth, axis=0, weights=weights))
    scalar = np.isscalar(baseline) or getattr(baseline, "ndim", 1) == 0
    means = _dense(np.atleast_1d(np.asarray(baseline)) if scalar else baseline, "baseline")
    if means.shape != (truth.shape[1], 1):
        raise InputError(f"baseline must be a finite number for each of the {truth.shape[1]} targets, not {baseline!r}.")
    return means[:, 0]


def _dense(values: TargetsLike, what: str) -> Floats:
    numbers = read_numbers(values, what=what)
    dense: Floats = numbers.toarray() if is_sparse(numbers) else numbers
    return dense
