"""Measures of label rankings, whole or of the k best-ranked labels, and the ranks of the true labels that they share."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, one_of, whole_number
from labelsieve.metrics.arrays import BooleanMatrix, Floats, TrueLabels, read_labels, read_numbers, read_row_weights, same_shape
from labelsieve.metrics.labelsets import read_zero_division
from labelsieve.tables.frames import without_duplicates
from labelsieve.tables.types import CompressedMatrix, Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

Ties = Literal["worst", "half", "best", "earlier", "later"]
Rows = Literal["informative", "all"]

BLOCK = 2**20  # scores that are sorted at a time: some tens of megabytes, for tables of any size
# Up to this mean number of labels per row, comparing each with all scores of its row is faster than sorting: half the time for
# 1 to 3 labels, 0.8 for 4 to 6, equal for 8, 1.5 for 12, twice the time for 26 (6 to 174 columns, 250 to 1,200 rows).
_FEW = 6
# Rows and labels of the true labels, and the numbers of absent and of true labels that are ranked above each of them.
Ranked = tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats]
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
    r"""Compute the fraction of the pairs of a true and an absent label that are in the wrong order, averaged over the rows.

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
    r"""Compute the fraction of the rows in which the label with the highest score is absent; 0 if no row is left.

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
    r"""Compute the label-ranking average precision: the precision of the labels ranked at or above each true label, averaged.

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
    r"""Compute the coverage: the mean number of steps down the ranked labels until all true ones are covered.

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


@dataclass(frozen=True, eq=False)
class LabelRanks:
    """The ranks of the true labels: one entry for every true label of every row, rows in order.

    ``absent_above`` is the number of absent labels ranked above it, ``true_above`` that of true ones, itself included.
    """

    row: NDArray[np.intp]
    label: NDArray[np.intp]
    absent_above: Floats
    true_above: Floats
    n_true: Floats
    n_labels: int

    @property
    def rank(self) -> Floats:
        """Rank of the true label in its row, from 1."""
        return self.absent_above + self.true_above

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Mask of the rows with some labels but not all: only their ranking can be right or wrong."""
        return (self.n_true > 0) & (self.n_true < self.n_labels)

    def sum(self, values: Floats) -> Floats:
        """Sum values over the true labels of every row."""
        sums: Floats = np.bincount(self.row, values, minlength=len(self.n_true)).astype(np.float64, copy=False)
        return sums

    def mean(self, values: Floats) -> Floats:
        """Average values over the true labels of every row; 0 if there are none."""
        return self.sum(values) / np.maximum(self.n_true, 1)

    def largest(self, values: Floats, empty: float) -> Floats:
        """Return the largest value of the true labels of every row; ``empty`` if there are none."""
        found = np.full(len(self.n_true), -np.inf)
        np.maximum.at(found, self.row, values)
        return np.where(self.n_true > 0, found, empty)


def rank_labels(
    Y: TargetsLike | TrueLabels, scores: TableLike, ties: Ties, allowed: tuple[str, ...], sample_weight: WeightsLike
) -> tuple[LabelRanks, Floats]:
    """Rank the true labels by the scores; return also the weights of the rows."""
    one_of(ties, "ties", allowed)
    if isinstance(Y, TrueLabels) and Y.last is not None and Y.last[0] is scores and Y.last[1] == ties:
        return Y.last[2], read_row_weights(sample_weight, Y.labels.shape[0])
    truth, numbers = read_labels(Y), read_numbers(scores, what="scores")
    same_shape(truth.shape, numbers.shape, "scores")
    if is_sparse(numbers) and ties == "worst":
        blocks = sparse_ranks(sp.csr_array(truth), numbers)
    else:
        blocks = [
            (first + row, label, absent_above, true_above)
            for first, labels, block in _dense_blocks(truth, numbers)
            for row, label, absent_above, true_above in [_ranks(labels, block, ties)]
        ]
    row, label, absent_above, true_above = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    n_true = np.bincount(row, minlength=truth.shape[0]).astype(np.float64)
    ranks = LabelRanks(row, label, absent_above, true_above, n_true, truth.shape[1])
    if isinstance(Y, TrueLabels):
        Y.last = scores, ties, ranks
    return ranks, read_row_weights(sample_weight, truth.shape[0])


def average(values: Floats, ranks: LabelRanks, weights: Floats, rows: Rows, empty: float) -> float:
    """Average values over all or informative rows; ``empty`` if there are none."""
    one_of(rows, "rows", ("informative", "all"))
    counted = ranks.informative & (weights > 0) if rows == "informative" else weights > 0
    return float(np.average(values[counted], weights=weights[counted])) if counted.any() else empty


def _dense_blocks(truth: BooleanMatrix, scores: Matrix) -> Iterator[tuple[int, NDArray[np.bool_], Floats]]:
    """Yield blocks of rows as arrays, with the number of their first row."""
    n_rows, n_labels = truth.shape
    step = max(1, BLOCK // n_labels)
    for first in range(0, n_rows, step):
        labels, block = truth[first : first + step], scores[first : first + step]
        yield first, labels.toarray() if is_sparse(labels) else labels, block.toarray() if is_sparse(block) else block


def _ranks(labels: NDArray[np.bool_], scores: Floats, ties: Ties) -> Ranked:
    """Rank the true labels of dense rows.

    Positions run through all sorted rows, one after the other, and those of true labels are used.
    """
    n_labels = labels.shape[1]
    if ties == "worst" and np.count_nonzero(labels) <= _FEW * len(labels):
        return _by_comparing(labels, scores)
    if ties == "later":
        labels, scores = labels[:, ::-1], scores[:, ::-1]
    in_order = ties in ("earlier", "later")
    order = np.argsort(-scores, axis=1, kind="stable" if in_order else None)
    sorted_labels = np.take_along_axis(labels, order, axis=1).ravel()
    position = np.flatnonzero(sorted_labels)
    row, column = position // n_labels, order.ravel()[position]
    column = n_labels - 1 - column if ties == "later" else column
    first_of_row = np.searchsorted(position, row * n_labels)  # number of true labels in the rows before
    true_before = np.zeros(sorted_labels.size + 1, dtype=np.intp)
    np.cumsum(sorted_labels, out=true_before[1:])

    def absent_before(end: NDArray[np.intp]) -> NDArray[np.intp]:
        true = true_before[end] - first_of_row
        absent: NDArray[np.intp] = end - row * n_labels - true
        return absent

    true_above = (np.arange(1, len(position) + 1) - first_of_row).astype(np.float64)
    if in_order:
        return row, column, absent_before(position).astype(np.float64), true_above
    start, end = _tie_groups(np.take_along_axis(scores, order, axis=1), position)
    if ties == "best":
        return row, column, absent_before(start).astype(np.float64), true_above
    upto = absent_before(end)
    if ties == "half":
        return row, column, (absent_before(start) + upto) / 2, true_above
    true_above = (end - row * n_labels - upto).astype(np.float64)  # all get the last rank of the tie
    return row, column, upto.astype(np.float64), true_above


def _by_comparing(labels: NDArray[np.bool_], scores: Floats) -> Ranked:
    """Rank with ties to the worst: count the absent and the true labels with at least the same score."""
    row, column = np.nonzero(labels)
    no_less = scores[row] >= scores[row, column][:, np.newaxis]
    true_above = np.count_nonzero(no_less & labels[row], axis=1)
    return row, column, (np.count_nonzero(no_less, axis=1) - true_above).astype(np.float64), true_above.astype(np.float64)


def _tie_groups(scores: Floats, position: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return start and end of the group of equal scores at each position of the sorted rows."""
    starts_group = np.ones(scores.shape, dtype=np.bool_)
    np.not_equal(scores[:, 1:], scores[:, :-1], out=starts_group[:, 1:])
    starts = np.append(np.flatnonzero(starts_group), scores.size)
    group = np.searchsorted(starts, position, side="right")
    return starts[group - 1], starts[group]


def sparse_ranks(truth: CompressedMatrix, scores: CompressedMatrix) -> list[Ranked]:
    """Rank the true labels of sparse rows, block by block; tied labels are above each other. What is not stored scores 0.

    Cost: sorting the stored scores of every row, O(nnz log nnz).

    >>> import scipy.sparse as sp
    >>> ranks = sparse_ranks(sp.csr_array(np.array([[1, 0, 0, 1]])), sp.csr_array(np.array([[0.5, 0.7, 0, 0]])))
    >>> [numbers.tolist() for numbers in ranks[0]]
    [[0, 0], [0, 3], [1.0, 2.0], [1.0, 2.0]]
    """
    truth, scores = without_duplicates(truth), without_duplicates(scores)
    sizes = np.cumsum(np.diff(truth.indptr) + np.diff(scores.indptr))
    ends = np.unique(np.append(np.searchsorted(sizes, np.arange(BLOCK, sizes[-1], BLOCK)) + 1, truth.shape[0]))
    starts = np.append(0, ends[:-1])
    return [_sparse_block(truth, scores, int(first), int(last)) for first, last in zip(starts, ends, strict=True)]


def _sparse_block(truth: CompressedMatrix, scores: CompressedMatrix, first: int, last: int) -> Ranked:
    """Rank the true labels of the rows from ``first`` to ``last``."""
    q = truth.shape[1]
    row, label, _ = _entries(truth, first, last)
    stored_row, stored_label, stored = _entries(scores, first, last)
    # Scores of the true labels: 0 where nothing is stored.
    keys, stored_keys = row * q + label, stored_row * q + stored_label
    place = np.searchsorted(stored_keys, keys)
    inside = np.minimum(place, max(len(stored_keys) - 1, 0))
    found = (place < len(stored_keys)) & (stored_keys[inside] == keys) if len(stored_keys) else np.zeros(len(keys), np.bool_)
    own = np.zeros(len(keys))
    own[found] = stored[inside[found]]
    # Scores as codes in the order of their values, so that a row and a score are one number.
    levels, codes = np.unique(np.concatenate([stored, own]), return_inverse=True)
    stored_codes, own_codes = codes[: len(stored)], codes[len(stored) :]
    n_rows, width = last - first, len(levels) + 1
    per_row = np.bincount(stored_row, minlength=n_rows)
    no_less = _no_less(stored_row, stored_codes, row, own_codes, width, np.cumsum(per_row))
    no_less += np.where(own <= 0, q - per_row[row], 0)  # those that are not stored
    true_above = _no_less(row, own_codes, row, own_codes, width, np.cumsum(np.bincount(row, minlength=n_rows)))
    return row + first, label, (no_less - true_above).astype(np.float64), true_above.astype(np.float64)


def _entries(matrix: CompressedMatrix, first: int, last: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return row (from 0), column and value of what is stored in some rows."""
    ends = matrix.indptr[first : last + 1]
    part = slice(ends[0], ends[-1])
    rows = np.repeat(np.arange(last - first), np.diff(ends))
    return rows, matrix.indices[part].astype(np.intp), matrix.data[part]


def _no_less(
    rows: NDArray[np.intp],
    codes: NDArray[np.intp],
    query_rows: NDArray[np.intp],
    query_codes: NDArray[np.intp],
    width: int,
    ends: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Count, for each query, the entries of its row that have at least its code."""
    keys = np.sort(rows * width + codes)
    counts: NDArray[np.intp] = ends[query_rows] - np.searchsorted(keys, query_rows * width + query_codes)
    return counts


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
