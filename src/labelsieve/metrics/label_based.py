"""Label-based F1: macro- and micro-averaged."""

from typing import Any

import numpy as np

from labelsieve.metrics.overlap import mean_of_ratios, overlap_of_labels


def macro_f1(Y: Any, predicted: Any, *, zero_division: float = 0.0, sample_weight: Any = None) -> float:
    r"""Macro-averaged F1: the mean of the F1 of every label; rare labels count as much as frequent ones.

    .. math:: \frac{1}{q} \sum_j \frac{2 \, tp_j}{2 \, tp_j + fp_j + fn_j}

    Equal to scikit-learn's ``f1_score(average="macro")``.

    Parameters
    ----------
    Y, predicted : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        One dimension is one label.
    zero_division : {0.0, 1.0, nan}, default=0.0
        Value of a label that is absent and predicted in no row; NaN leaves it out. If no label is left the result is NaN.
        Results for rare labels depend on this setting: report it.
    sample_weight : array-like of shape (n_rows,), default=None

    Notes
    -----
    Cost: one pass over the cells, or over the stored ones of sparse matrices.

    Examples
    --------
    >>> macro_f1([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    counts = overlap_of_labels(Y, predicted, sample_weight)
    return mean_of_ratios(2 * counts.both, counts.true + counts.predicted, zero_division)


def micro_f1(Y: Any, predicted: Any, *, zero_division: float = 0.0, sample_weight: Any = None) -> float:
    r"""Micro-averaged F1: the F1 of all cells together; every occurrence of a label counts the same.

    .. math:: \frac{2 \sum_j tp_j}{\sum_j (2 \, tp_j + fp_j + fn_j)}

    Equal to scikit-learn's ``f1_score(average="micro")``. Parameters and cost: see :func:`macro_f1`.

    Examples
    --------
    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.8
    """
    counts = overlap_of_labels(Y, predicted, sample_weight)
    hits, sizes = counts.both.sum(), (counts.true + counts.predicted).sum()
    return mean_of_ratios(np.array([2 * hits]), np.array([sizes]), zero_division)
