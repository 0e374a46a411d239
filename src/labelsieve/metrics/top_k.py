"""Measures of the k best-ranked labels, for data with very many labels: precision, nDCG, and both weighted by propensities."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, whole_number
from labelsieve.metrics.arrays import Floats, TrueLabels, read_labels
from labelsieve.metrics.labelsets import read_zero_division
from labelsieve.metrics.rankings import LabelRanks, rank_labels
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike


def precision_at_k(
    Y: TargetsLike | TrueLabels, scores: TableLike, *, k: int = 5, normalize: bool = False, sample_weight: WeightsLike = None
) -> float:
    r"""Compute the precision at k: the fraction of the k best-ranked labels that are true, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{1}{k} \sum_{r=1}^{k} Y_{i, \pi_i(r)}

    where :math:`\pi_i(r)` is the label at rank :math:`r`. The first measure of the extreme classification repository (Bhatia
    et al. 2016). A row with fewer than k labels cannot reach 1, and one without labels counts 0; with ``normalize`` the sum
    over the rows is divided by the largest that is possible.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        The true labels.
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0. A tie is broken in the worst way: the
        absent labels come first. Where more labels than k tie at 0, none of them is among the best k by luck.
    k : int, default=5
        Number of labels.
    normalize : bool, default=False
        Whether to divide by the value of the best prediction.
    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row.

    Notes
    -----
    Cost: of sparse scores a sort of the stored ones; no array has a column for every label.

    Examples
    --------
    >>> precision_at_k([[1, 0, 0, 1]], [[0.9, 0.5, 0.1, 0.2]], k=2)
    0.5
    """
    ranks, weights = rank_labels(Y, scores, "worst", ("worst",), sample_weight)
    k = whole_number(k, "k", 1, 2**31)
    hits = ranks.sum((_single_ranks(ranks, None) <= k).astype(np.float64))
    best = np.minimum(ranks.n_true, k)
    return _ratio(hits, best, weights) if normalize else float(np.average(hits, weights=weights)) / k


def ndcg_at_k(
    Y: TargetsLike | TrueLabels, scores: TableLike, *, k: int = 5, zero_division: float = 1.0, sample_weight: WeightsLike = None
) -> float:
    r"""Compute the normalized discounted cumulative gain of the k best-ranked labels, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i
        \frac{\sum_{r=1}^{k} Y_{i, \pi_i(r)} / \log_2(r + 1)}{\sum_{r=1}^{\min(k, |Y_i|)} 1 / \log_2(r + 1)}

    Equal to scikit-learn's ``ndcg_score(k=)`` of labels without ties, where rows without labels count 0: ``zero_division=0``.

    Parameters
    ----------
    Y, scores, k, sample_weight
        See :func:`precision_at_k`, also for the cost.
    zero_division : {1.0, 0.0, nan}, default=1.0
        Value of a row without labels; NaN leaves it out. If no row is left the result is NaN.

    Examples
    --------
    >>> round(ndcg_at_k([[1, 0, 0, 1]], [[0.9, 0.5, 0.1, 0.2]], k=3), 4)
    0.9197
    """
    empty = read_zero_division(zero_division)
    ranks, weights = rank_labels(Y, scores, "worst", ("worst",), sample_weight)
    k = whole_number(k, "k", 1, 2**31)
    gains = ranks.sum(_discounts(_single_ranks(ranks, None), k))
    most = np.minimum(ranks.n_true, k).astype(np.intp)
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, max(most.max(), 1) + 2)))])[most]
    values = np.divide(gains, ideal, out=np.full(len(gains), empty), where=ideal > 0)
    kept = ~np.isnan(values) & (weights > 0)
    return float(np.average(values[kept], weights=weights[kept])) if kept.any() else float("nan")


def psp_at_k(
    Y: TargetsLike | TrueLabels,
    scores: TableLike,
    inverse_propensity: ArrayLike,
    *,
    k: int = 5,
    normalize: bool = True,
    sample_weight: WeightsLike = None,
) -> float:
    r"""Compute the propensity-scored precision at k: hits of rare labels count more, as annotators miss them more often.

    .. math:: \frac{1}{n} \sum_i \frac{1}{k} \sum_{r=1}^{k} \frac{Y_{i, \pi_i(r)}}{p_{\pi_i(r)}}

    Jain, Prabhu and Varma (KDD 2016): an unbiased estimate of the precision under the complete labels, if :math:`p_l` is the
    probability that a true label is observed.

    Parameters
    ----------
    Y, scores, k, sample_weight
        See :func:`precision_at_k`, also for the cost. A tie of true labels is broken in the worst way, too: those of small
        weight come first.
    inverse_propensity : array-like of shape (n_labels,)
        The weights :math:`1 / p_l`: those of :func:`inverse_propensities` of the training labels.
    normalize : bool, default=True
        Divide by the value of the best prediction, as in the tables of the paper and of the repository; else the value of a
        perfect prediction depends on the data.

    Examples
    --------
    >>> weights = inverse_propensities([[1, 1], [1, 0], [1, 0]])
    >>> round(psp_at_k([[1, 1], [1, 0]], [[0.9, 0.1], [0.8, 0.3]], weights, k=1), 4)
    0.9874
    """
    ranks, row_weights = rank_labels(Y, scores, "worst", ("worst",), sample_weight)
    k, weight = whole_number(k, "k", 1, 2**31), _label_weights(inverse_propensity, ranks)
    hits = ranks.sum(weight * (_single_ranks(ranks, weight) <= k))
    if not normalize:
        return float(np.average(hits, weights=row_weights)) / k
    return _ratio(hits, ranks.sum(weight * (_best_ranks(ranks, weight) <= k)), row_weights)


def psndcg_at_k(
    Y: TargetsLike | TrueLabels,
    scores: TableLike,
    inverse_propensity: ArrayLike,
    *,
    k: int = 5,
    normalize: bool = True,
    sample_weight: WeightsLike = None,
) -> float:
    r"""Compute the propensity-scored nDCG at k: :func:`psp_at_k` with the discounts of :func:`ndcg_at_k`.

    .. math:: \frac{1}{n} \sum_i \frac{\sum_{r=1}^{k} Y_{i, \pi_i(r)} / (p_{\pi_i(r)} \log_2(r + 1))}
        {\sum_{r=1}^{k} 1 / \log_2(r + 1)}

    Parameters and cost: see :func:`psp_at_k`. ``normalize`` divides by the value of the best prediction.

    >>> weights = inverse_propensities([[1, 1], [1, 0], [1, 0]])
    >>> round(psndcg_at_k([[1, 1], [1, 0]], [[0.9, 0.1], [0.2, 0.3]], weights, k=2), 4)
    0.8575
    """
    ranks, row_weights = rank_labels(Y, scores, "worst", ("worst",), sample_weight)
    k, weight = whole_number(k, "k", 1, 2**31), _label_weights(inverse_propensity, ranks)
    gains = ranks.sum(weight * _discounts(_single_ranks(ranks, weight), k))
    if not normalize:
        return float(np.average(gains, weights=row_weights)) / float((1 / np.log2(np.arange(2, k + 2))).sum())
    return _ratio(gains, ranks.sum(weight * _discounts(_best_ranks(ranks, weight), k)), row_weights)


def inverse_propensities(Y: TargetsLike | TrueLabels, *, A: float = 0.55, B: float = 1.5) -> Floats:
    r"""Estimate the inverse propensities of the labels from the labels of the training rows.

    .. math:: \frac{1}{p_l} = 1 + C (N_l + B)^{-A}, \qquad C = (\log N - 1)(B + 1)^A

    with :math:`N` rows, of which :math:`N_l` have the label: Jain, Prabhu and Varma (KDD 2016), equation 5, who fitted ``A=0.5,
    B=0.4`` to Wikipedia, ``A=0.6, B=2.6`` to Amazon, and use the defaults, their mean, elsewhere. With fewer than three rows
    :math:`C` is negative, and the weights are below 1.

    >>> inverse_propensities([[1, 0], [1, 0], [1, 1], [1, 0]]).round(3)
    array([1.25 , 1.386])
    """
    if not (np.isfinite(A) and A >= 0 and np.isfinite(B) and B >= 0):
        raise InputError(f"A and B must be finite numbers and not negative, not {A!r} and {B!r}.")
    labels = sp.csr_array(read_labels(Y))
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    weights: Floats = 1 + (np.log(labels.shape[0]) - 1) * ((B + 1) / (counts + B)) ** A
    return weights


def _label_weights(inverse_propensity: ArrayLike, ranks: LabelRanks) -> Floats:
    """Check the weights of the labels, and return that of each true label."""
    weights = np.asarray(inverse_propensity, dtype=np.float64)
    if weights.shape != (ranks.n_labels,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(f"inverse_propensity must be a finite number, not negative, for each of the {ranks.n_labels} labels.")
    return weights[ranks.label]


def _single_ranks(ranks: LabelRanks, weight: Floats | None) -> NDArray[np.float64]:
    """Return ranks whose ties are broken in the worst way: after the absent labels, and by rising weight."""
    return ranks.absent_above + _order_in_rows(ranks, ranks.true_above, weight)


def _best_ranks(ranks: LabelRanks, weight: Floats) -> NDArray[np.float64]:
    """Return the ranks of the best prediction: the true labels by falling weight."""
    return _order_in_rows(ranks, -weight, None)


def _order_in_rows(ranks: LabelRanks, first: Floats, second: Floats | None) -> Floats:
    """Number the true labels of each row from 1, in the order of one array and then of another."""
    order = np.lexsort((*([] if second is None else [second]), first, ranks.row))
    starts = np.cumsum(ranks.n_true) - ranks.n_true
    positions = np.empty(len(order))
    positions[order] = np.arange(1, len(order) + 1) - starts[ranks.row[order]]
    return positions


def _discounts(rank: Floats, k: int) -> Floats:
    """Return the discount of every rank: 0 below the best k."""
    return np.where(rank <= k, 1 / np.log2(rank + 1), 0.0)


def _ratio(values: Floats, best: Floats, weights: Floats) -> float:
    """Return the sum over the rows as a fraction of the best one; 1 if there is nothing to find."""
    largest = weights @ best
    return float(weights @ values / largest) if largest > 0 else 1.0
