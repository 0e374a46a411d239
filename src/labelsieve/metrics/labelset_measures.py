"""Differences of labelsets: Hamming loss and subset 0/1 loss."""

from typing import Any

import numpy as np

from labelsieve.metrics.overlap import overlap_of_rows


def hamming_loss(Y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    r"""Fraction of the cells that are predicted wrongly.

    .. math:: \frac{1}{n q} \sum_i |Y_i \, \Delta \, P_i|

    Equal to scikit-learn's. Equation 13 of the MLQPFS paper omits the :math:`1/q`; its numbers include it.

    Parameters
    ----------
    Y, predicted : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        One dimension is one label.
    sample_weight : array-like of shape (n_rows,), optional

    Notes
    -----
    Cost: one pass over the cells, or over the stored ones of sparse matrices.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.16666666666666666
    """
    counts, weights, n_labels = overlap_of_rows(Y, predicted, sample_weight)
    return float(np.average(counts.different, weights=weights)) / n_labels


def hamming_score(Y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """Fraction of the cells that are predicted correctly: 1 - :func:`hamming_loss`.

    Examples
    --------
    >>> hamming_score([[1, 0, 1, 0]], [[1, 0, 0, 0]])
    0.75
    """
    return 1.0 - hamming_loss(Y, predicted, sample_weight=sample_weight)


def subset_loss(Y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    r"""Subset 0/1 loss: the fraction of the rows whose labelset is not predicted exactly.

    .. math:: \frac{1}{n} \sum_i [Y_i \neq P_i]

    Equal to scikit-learn's ``zero_one_loss`` of label indicators. Cost as :func:`hamming_loss`.

    Examples
    --------
    >>> subset_loss([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.5
    """
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return float(np.average(counts.different > 0, weights=weights))


def exact_match(Y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """Fraction of the rows whose labelset is predicted exactly: 1 - :func:`subset_loss`.

    Equal to scikit-learn's ``accuracy_score`` of label indicators.

    Examples
    --------
    >>> exact_match([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.5
    """
    counts, weights, _ = overlap_of_rows(Y, predicted, sample_weight)
    return float(np.average(counts.different == 0, weights=weights))
