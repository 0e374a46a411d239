"""Measures of rankings of labels: formulas of the ranks of the true labels."""

from typing import Literal

import numpy as np

from labelsieve.errors import InputError, one_of
from labelsieve.metrics.label_ranks import Rows, Ties, average, rank_labels
from labelsieve.metrics.measure_arrays import TrueLabels
from labelsieve.table_types import TableLike, TargetsLike, WeightsLike

_ALL_TIES = ("worst", "half", "best", "earlier", "later")
_RANK_TIES = ("worst", "earlier", "later")  # the ties that define a rank


def ranking_loss(
    Y: TargetsLike | TrueLabels,
    scores: TableLike,
    *,
    ties: Ties = "worst",
    rows: Rows = "informative",
    sample_weight: WeightsLike = None,
) -> float:
    r"""Fraction of the pairs of a true and an absent label that are ranked in the wrong order, averaged over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|Y_i| |\bar Y_i|} |\{(k, l) \in Y_i \times \bar Y_i : f_{ik} \leq f_{il}\}|

    Equation 16 of Soheili and Eftekhari Moghadam (MLQPFS). scikit-learn's ``label_ranking_loss`` counts rows without a pair as
    0: ``rows="all"``. With ``ties="half"`` it is 1 minus the mean area under the ROC curve of the rows.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        The true labels.
    scores : array-like, frame or sparse matrix of the same shape
        Higher for labels that are more likely; what a sparse matrix does not store is 0.
    ties : {"worst", "half", "best", "earlier", "later"}, default="worst"
        A tie of a true and an absent label is wrong ("worst": the papers, scikit-learn, Matlab toolboxes), half wrong, right,
        or broken in favor of the earlier or the later column ("later": Mulan).
    rows : {"informative", "all"}, default="informative"
        Rows without labels and rows with all labels have no pairs. They are left out, or (scikit-learn, Mulan) count 0.
    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row.

    Returns
    -------
    float
        Between 0 and 1; 0 if no row has a pair.

    Notes
    -----
    Cost: one sort of every row, in blocks of a million cells; sparse input is never dense as a whole.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]])
    0.25
    """
    ranks, weights = rank_labels(Y, scores, ties, _ALL_TIES, sample_weight)
    losses = ranks.mean(ranks.absent_above) / np.maximum(ranks.n_labels - ranks.n_true, 1)
    return average(losses, ranks, weights, rows, 0.0)


def one_error(
    Y: TargetsLike | TrueLabels,
    scores: TableLike,
    *,
    ties: Ties = "worst",
    rows: Rows = "all",
    sample_weight: WeightsLike = None,
) -> float:
    r"""Fraction of the rows in which the label with the highest score is absent; 0 if no row is left.

    .. math:: \frac{1}{n} \sum_i [\arg\max_l f_{il} \notin Y_i]

    Equation 14 of Soheili and Eftekhari Moghadam (MLQPFS), which omits the negation. scikit-learn does not have it.

    Parameters
    ----------
    Y, scores, sample_weight
        See :func:`ranking_loss`, also for the cost; it is twice that for ``ties="half"``.
    ties : {"worst", "half", "best", "earlier", "later"}, default="worst"
        If several labels share the highest score: an error if one of them is absent, the fraction of absent ones among them, an
        error if all are absent ("best": Matlab toolboxes), or if the first ("earlier": ``argmax``) or the last ("later": Mulan)
        of them is absent.
    rows : {"all", "informative"}, default="all"
        A row without labels is always an error, a row with all labels never. "informative" leaves both out.

    Examples
    --------
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.2]])
    0.5
    """
    ranks, weights = rank_labels(Y, scores, "worst" if ties == "half" else ties, _ALL_TIES, sample_weight)
    above = -ranks.largest(-ranks.absent_above, empty=-1.0)  # absent labels above the best true label
    errors = np.minimum(above, 1.0)
    if ties == "half":
        best, _ = rank_labels(Y, scores, "best", _ALL_TIES, None)
        beaten = best.largest(-best.absent_above, empty=-1.0) < 0
        first_rank = -ranks.largest(-ranks.rank, empty=-1.0)
        errors = np.where(beaten, 1.0, above / first_rank)
    return average(errors, ranks, weights, rows, 0.0)


def average_precision(
    Y: TargetsLike | TrueLabels,
    scores: TableLike,
    *,
    ties: Ties = "worst",
    rows: Rows = "all",
    sample_weight: WeightsLike = None,
) -> float:
    r"""Label-ranking average precision: the precision of the labels ranked at or above each true label, averaged.

    .. math:: \frac{1}{n} \sum_i \frac{1}{|Y_i|} \sum_{k \in Y_i}
        \frac{|\{l \in Y_i : \mathrm{rank}_i(l) \leq \mathrm{rank}_i(k)\}|}{\mathrm{rank}_i(k)}

    Equation 17 of Soheili and Eftekhari Moghadam (MLQPFS). The mean is over rows, unlike that of the measure of the same name
    in information retrieval, which is over labels. Equal to scikit-learn's ``label_ranking_average_precision_score``. Above 0
    and at most 1; 1 if no row is left.

    Parameters
    ----------
    Y, scores, sample_weight
        See :func:`ranking_loss`, also for the cost.
    ties : {"worst", "earlier", "later"}, default="worst"
        Labels of equal score all get the last of their ranks (scikit-learn), or ranks in the order of their columns, or in the
        reverse order (Mulan, Matlab toolboxes).
    rows : {"all", "informative"}, default="all"
        Rows without labels and rows with all labels have no wrong ranking. They count 1, or are left out.

    Examples
    --------
    >>> round(average_precision([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]]), 4)
    0.9167
    """
    ranks, weights = rank_labels(Y, scores, ties, _RANK_TIES, sample_weight)
    precision = np.where(ranks.informative, ranks.mean(ranks.true_above / ranks.rank), 1.0)
    return average(precision, ranks, weights, rows, 1.0)


def coverage(
    Y: TargetsLike | TrueLabels,
    scores: TableLike,
    *,
    ties: Ties = "worst",
    count_from: int = 0,
    normalize: Literal["q", "q-1"] | None = None,
    rows: Rows = "all",
    sample_weight: WeightsLike = None,
) -> float:
    r"""Coverage: the mean number of steps down the ranked labels until all true ones are covered.

    .. math:: \frac{1}{n} \sum_i \max_{l \in Y_i} \mathrm{rank}_i(l) - 1

    Equation 15 of Soheili and Eftekhari Moghadam (MLQPFS). scikit-learn's ``coverage_error`` counts from 1: ``count_from=1``.
    Mulan's is this one with ``ties="later"``. Sechidis et al. (2019) report a normalized coverage without defining the
    normalization. Between 0 and :math:`q - 1`, plus ``count_from``; 0 if no row is left.

    Parameters
    ----------
    Y, scores, ties, sample_weight
        See :func:`average_precision`, also for the cost.
    count_from : {0, 1}, default=0
        The number of the first rank. A row without labels counts 0 in both cases.
    normalize : {"q", "q-1"}, default=None
        Divide by the number of labels :math:`q`, or by the largest value when counting from 0. With one label, the latter is 0
        and so is the result.
    rows : {"all", "informative"}, default="all"
        "informative" leaves out rows without labels and rows with all labels.

    Examples
    --------
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]])
    1.0
    >>> coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.1, 0.2], [0.5, 0.3, 0.8]], normalize="q-1")
    0.5
    """
    if count_from not in (0, 1):
        raise InputError(f"count_from must be 0 or 1, not {count_from!r}.")
    if normalize is not None:
        one_of(normalize, "normalize", ("q", "q-1"))
    ranks, weights = rank_labels(Y, scores, ties, _RANK_TIES, sample_weight)
    steps = np.where(ranks.n_true > 0, ranks.largest(ranks.rank, empty=0.0) - 1.0 + count_from, 0.0)
    divisor = {None: 1, "q": ranks.n_labels, "q-1": max(ranks.n_labels - 1, 1)}[normalize]
    return average(steps, ranks, weights, rows, 0.0) / divisor
