"""Measures of predicted labelsets, which follow from the sizes of the true set, the predicted set and their intersection."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.metrics.arrays import BooleanMatrix, Floats, TrueLabels, read_labels, read_row_weights, read_two
from labelsieve.tables.types import TargetsLike, WeightsLike, is_sparse


def hamming_loss(Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, sample_weight: WeightsLike = None) -> float:
    r"""Compute the Hamming loss: the fraction of the cells that are predicted wrongly.

    .. math:: \frac{1}{n q} \sum_i |Y_i \, \Delta \, P_i|

    Equal to scikit-learn's. Equation 13 of Soheili and Eftekhari Moghadam (MLQPFS) omits the :math:`1/q`; their numbers include
    it.

    Parameters
    ----------
    Y, predicted : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        One dimension is one label. A label that is unknown in some rows is NaN there: these cells are left out.
    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row.

    Notes
    -----
    Cost: one pass over the cells, or over the stored ones of sparse matrices.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.16666666666666666
    """
    counts, weights, n_known = overlap_of_rows(Y, predicted, sample_weight)
    if isinstance(n_known, int):
        return float(np.average(counts.different, weights=weights)) / n_known
    return float(weights @ counts.different / (weights @ n_known))


def hamming_score(Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, sample_weight: WeightsLike = None) -> float:
    """Compute the fraction of the cells that are predicted correctly: 1 - :func:`hamming_loss`, with its parameters.

    >>> hamming_score([[1, 0, 1, 0]], [[1, 0, 0, 0]])
    0.75
    """
    return 1.0 - hamming_loss(Y, predicted, sample_weight=sample_weight)


def subset_loss(Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, sample_weight: WeightsLike = None) -> float:
    r"""Compute the subset 0/1 loss: the fraction of the rows whose labelset is not predicted exactly.

    .. math:: \frac{1}{n} \sum_i [Y_i \neq P_i]

    Equal to scikit-learn's ``zero_one_loss`` of label indicators. All labels must be known. Parameters and cost: see
    :func:`hamming_loss`.

    >>> subset_loss([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.5
    """
    read_labels(Y)
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return float(np.average(counts.different > 0, weights=weights))


def exact_match(Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, sample_weight: WeightsLike = None) -> float:
    """Compute the fraction of the rows whose labelset is predicted exactly: 1 - :func:`subset_loss`, with its parameters.

    Equal to scikit-learn's ``accuracy_score`` of label indicators. All labels must be known.

    >>> exact_match([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.5
    """
    read_labels(Y)
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return float(np.average(counts.different == 0, weights=weights))


def example_accuracy(
    Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, zero_division: float = 1.0, sample_weight: WeightsLike = None
) -> float:
    r"""Compute the example-based accuracy: the Jaccard index of the true and the predicted labelset, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{|Y_i \cap P_i|}{|Y_i \cup P_i|}

    A row without labels and without predicted labels is correct and counts 1, as in Mulan. It counts 0 in scikit-learn's
    ``jaccard_score(average="samples")`` and in the Matlab toolboxes: ``zero_division=0``. A set has the labels that are known
    in its row; rows without any are left out.

    Parameters
    ----------
    Y, predicted, sample_weight
        See :func:`hamming_loss`, also for the cost.
    zero_division : {1.0, 0.0, nan}, default=1.0
        Value of a row without labels and without predicted labels; NaN leaves it out. If no row is left the result is NaN.

    Examples
    --------
    >>> example_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    0.75
    >>> example_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], zero_division=0)
    0.25
    """
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return mean_of_ratios(counts.both, counts.either, zero_division, weights)


def example_f1(
    Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, zero_division: float = 1.0, sample_weight: WeightsLike = None
) -> float:
    r"""Compute the example-based F1: the harmonic mean of precision and recall of every row, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{2 |Y_i \cap P_i|}{|Y_i| + |P_i|}

    A row without true and predicted labels counts 1, so that a perfect prediction scores 1; scikit-learn's
    ``f1_score(average="samples")`` counts 0: ``zero_division=0``. Parameters and cost: see :func:`example_accuracy`.

    >>> round(example_f1([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]]), 4)
    0.8333
    """
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return mean_of_ratios(2 * counts.both, counts.true + counts.predicted, zero_division, weights)


def macro_f1(
    Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, zero_division: float = 1.0, sample_weight: WeightsLike = None
) -> float:
    r"""Compute the macro-averaged F1: the mean of the F1 of every label; rare labels count as much as frequent ones.

    .. math:: \frac{1}{q} \sum_j \frac{2 \, tp_j}{2 \, tp_j + fp_j + fn_j}

    A label that no row has and that is predicted for none counts 1, as in Mulan, so that a perfect prediction scores 1. It
    counts 0 in scikit-learn's ``f1_score(average="macro")`` and in the Matlab toolboxes: ``zero_division=0``.

    Parameters
    ----------
    Y, predicted, sample_weight
        See :func:`hamming_loss`, also for the cost.
    zero_division : {1.0, 0.0, nan}, default=1.0
        Value of a label that is absent and predicted in no row; NaN leaves it out. If no label is left the result is NaN.
        Results for rare labels depend on this setting: report it.

    Examples
    --------
    >>> macro_f1([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    counts, is_known = overlap_of_labels(Y, predicted, sample_weight)
    return mean_of_ratios(2 * counts.both, counts.true + counts.predicted, zero_division, is_known)


def micro_f1(
    Y: TargetsLike | TrueLabels, predicted: TargetsLike, *, zero_division: float = 1.0, sample_weight: WeightsLike = None
) -> float:
    r"""Compute the micro-averaged F1: the F1 of all cells together; every occurrence of a label counts the same.

    .. math:: \frac{2 \sum_j tp_j}{\sum_j (2 \, tp_j + fp_j + fn_j)}

    Equal to scikit-learn's ``f1_score(average="micro")``, except that it is 1, not 0, if no label is present or predicted.
    Parameters and cost: see :func:`macro_f1`.

    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.8
    """
    counts, _ = overlap_of_labels(Y, predicted, sample_weight)
    hits, sizes = counts.both.sum(), (counts.true + counts.predicted).sum()
    return mean_of_ratios(np.array([2 * hits]), np.array([sizes]), zero_division)


@dataclass(frozen=True, eq=False)
class Overlap:
    """The sizes of the true set, the predicted set and their intersection, for each row or for each label."""

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


def overlap_of_rows(
    Y: TargetsLike | TrueLabels, predicted: TargetsLike, sample_weight: WeightsLike
) -> tuple[Overlap, Floats, int | Floats]:
    """Count the labels of every row; return also the weights of the rows and the number of labels that are known.

    That number is one for all rows or, if some labels are unknown, an array with a number for each.
    """
    truth, prediction, known = read_two(Y, predicted)
    n_rows, n_labels = truth.shape
    counts = (_sums(truth, 1), _sums(prediction, 1), _sums(_both(truth, prediction), 1))
    weights = read_row_weights(sample_weight, n_rows)
    if known is None:
        return Overlap(*counts), weights, n_labels
    n_known = _sums(known, 1)
    weights = np.where(n_known > 0, weights, 0.0)
    if not weights.any():
        raise InputError("Y: no label is known in any row that counts, so there is nothing to compare with.")
    return Overlap(*counts), weights, n_known


def overlap_of_labels(
    Y: TargetsLike | TrueLabels, predicted: TargetsLike, sample_weight: WeightsLike
) -> tuple[Overlap, Floats | None]:
    """Sum the row weights for every label; return also 1 or 0 for labels known in some row or in none (None: all are)."""
    truth, prediction, known = read_two(Y, predicted)
    weights = read_row_weights(sample_weight, truth.shape[0])
    is_known: Floats | None = None
    if known is not None:
        is_known = np.asarray((known & (weights > 0)[:, np.newaxis]).any(axis=0), dtype=np.float64)
    if sample_weight is None:
        return Overlap(_sums(truth, 0), _sums(prediction, 0), _sums(_both(truth, prediction), 0)), is_known
    return Overlap(truth.T @ weights, prediction.T @ weights, _both(truth, prediction).T @ weights), is_known


def mean_of_ratios(above: Floats, below: Floats, zero_division: float, weights: Floats | None = None) -> float:
    """Return the mean of ``above / below``; 0/0 counts as ``zero_division`` or, if that is NaN, is left out."""
    value = read_zero_division(zero_division)
    ratios = np.divide(above, below, out=np.full(len(above), value), where=below > 0)
    weights = np.ones(len(above)) if weights is None else weights
    counted = ~np.isnan(ratios) & (weights > 0)
    return float(np.average(ratios[counted], weights=weights[counted])) if counted.any() else float("nan")


def read_zero_division(zero_division: float) -> float:
    """Check that ``zero_division`` is 0, 1 or NaN, as in scikit-learn."""
    try:
        value = float(zero_division)
    except (TypeError, ValueError):
        value = 2.0
    if not (np.isnan(value) or value in (0.0, 1.0)):
        raise InputError(f"zero_division must be 0, 1 or NaN (leave such cases out), not {zero_division!r}.")
    return value


def _both(truth: Any, prediction: Any) -> BooleanMatrix:
    """Return the labels that are both true and predicted; the tables are both dense or both sparse."""
    both: BooleanMatrix = truth.multiply(prediction).tocsr() if is_sparse(truth) else truth & prediction
    return both


def _sums(labels: BooleanMatrix, axis: int) -> Floats:
    """Count the labels along an axis."""
    if is_sparse(labels):
        counts: NDArray[Any] = np.asarray(labels.astype(np.int64).sum(axis=axis)).ravel()
    else:
        counts = np.count_nonzero(labels, axis=axis)
    return counts.astype(np.float64)
