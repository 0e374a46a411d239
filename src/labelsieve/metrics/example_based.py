"""Example-based accuracy and F1."""

from typing import Any

from labelsieve.metrics.overlap import mean_of_ratios, overlap_of_rows


def example_accuracy(Y: Any, predicted: Any, *, zero_division: float = 1.0, sample_weight: Any = None) -> float:
    r"""Example-based accuracy: the Jaccard index of the true and the predicted labelset, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{|Y_i \cap P_i|}{|Y_i \cup P_i|}

    A row without labels and without predicted labels is correct and counts 1, as in Mulan. It counts 0 in scikit-learn's
    ``jaccard_score(average="samples")`` and in the Matlab toolboxes: ``zero_division=0``.

    Parameters
    ----------
    Y, predicted : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        One dimension is one label.
    zero_division : {1.0, 0.0, nan}, default=1.0
        Value of a row without labels and without predicted labels; NaN leaves it out. If no row is left the result is NaN.
    sample_weight : array-like of shape (n_rows,), default=None

    Notes
    -----
    Cost: one pass over the cells, or over the stored ones of sparse matrices.

    Examples
    --------
    >>> example_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    0.75
    >>> example_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], zero_division=0)
    0.25
    """
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return mean_of_ratios(counts.both, counts.either, zero_division, weights)


def example_f1(Y: Any, predicted: Any, *, zero_division: float = 0.0, sample_weight: Any = None) -> float:
    r"""Example-based F1: the harmonic mean of precision and recall of every row, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{2 |Y_i \cap P_i|}{|Y_i| + |P_i|}

    Equal to scikit-learn's ``f1_score(average="samples")``. Parameters and cost: see :func:`example_accuracy`.

    Examples
    --------
    >>> round(example_f1([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]]), 4)
    0.8333
    """
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return mean_of_ratios(2 * counts.both, counts.true + counts.predicted, zero_division, weights)
