"""Rankings by statistics of contingency tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError, one_of, require_same_rows
from labelsieve.information import join
from labelsieve.labelspace import known_classes
from labelsieve.parameters import checked_fit
from labelsieve.selectors.base import Result
from labelsieve.selectors.counting import BaseCodeRanking
from labelsieve.tables.codes import Codes
from labelsieve.tables.problem import Problem
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike
from labelsieve.tables.weights import positive_weights, quantize

Array = NDArray[np.float64]
CELLS_AT_ONCE = 2**21  # of the tables that are held in memory together
ENTRIES_AT_ONCE = 2**22  # of the features' levels
LEVELS_OF_A_FEW = 64  # of features: targets are sliced so that their tables with a few features fit


@dataclass(frozen=True)
class Classes:
    """Indicator columns of the targets, one for each level.

    ``members[i, b]`` is what row i counts in level b. One level of each target may be left empty: ``empty`` names those
    columns, and they hold what of ``rows``, the whole of each row, the others leave. All numbers are whole, so counts are
    exact in any order.
    """

    members: sp.csr_array
    levels: NDArray[np.intp]
    rows: Array
    empty: NDArray[np.intp]

    def __post_init__(self) -> None:
        assert self.members.shape[1] == self.levels.sum()


def classes_of(targets: Codes, columns: slice, weights: Array) -> Classes:
    """Make indicator columns for the levels of some targets; a row counts with its weight."""
    levels = targets.levels[columns].astype(np.intp)
    members, omitted = _members(targets, columns, weights)
    return Classes(members, levels, weights, _starts(levels) + omitted)


def chi_square_table(features: Codes, classes: Classes) -> Array:
    r"""Pearson's statistic of every feature (rows) with every target (columns).

    .. math:: \chi^2 = \sum_{ab} \frac{(n_{ab} - n_a n_b / n)^2}{n_a n_b / n}

    over the levels that occur. Cost: for each row, its levels of features other than the omitted ones times its classes.
    """
    out = np.empty((features.n_columns, len(classes.levels)))
    whole = sp.hstack([classes.members, sp.csr_array(classes.rows[:, np.newaxis])], format="csr")
    everything = np.asarray(whole.sum(axis=0), dtype=np.float64)
    margin = _complete(everything.reshape(1, -1), classes)
    of_row = np.ones(features.n_rows)
    for some in column_slices(features, whole.shape[1]):
        levels = features.levels[some].astype(np.intp)
        starts = _starts(levels)
        listed, omitted = _members(features, some, of_row)
        cells = (listed.T @ whole).toarray()
        cells[starts + omitted] += everything - np.add.reduceat(cells, starts, axis=0)
        terms = _terms(_complete(cells, classes), cells[:, -1], margin[0], float(everything[-1]))
        out[some] = np.add.reduceat(np.add.reduceat(terms, starts, axis=0), _starts(classes.levels), axis=1)
    constant = np.add.reduceat(margin[0] > 0, _starts(classes.levels)) < 2
    out[:, constant] = 0.0
    return out


def _complete(cells: Array, classes: Classes) -> Array:
    """Fill the levels that were left empty from the last column, which counts whole rows, and drop that column."""
    complete = cells[:, :-1].copy()
    if len(classes.empty):
        complete[:, classes.empty] += cells[:, -1:] - np.add.reduceat(complete, _starts(classes.levels), axis=1)
    return complete


def _terms(cells: Array, of_level: Array, of_class: Array, total: float) -> Array:
    # The fraction first: that of a constant column is exactly 1, and its cells exactly as expected.
    expected = (of_level / total)[:, np.newaxis] * of_class
    difference = cells - expected
    return np.divide(difference * difference, expected, out=np.zeros_like(expected), where=expected > 0)


def _members(codes: Codes, columns: slice, weights: Array) -> tuple[sp.csr_array, NDArray[np.intp]]:
    """Return a sparse table of rows by levels, without one level of each column (0, or the one not stored), and that level."""
    levels = codes.levels[columns].astype(np.intp)
    starts = _starts(levels)
    if codes.dense is not None:
        some = codes.dense[:, columns]
        rows, positions = np.nonzero(some)
        level = some[rows, positions].astype(np.intp)
        omitted = np.zeros(len(levels), dtype=np.intp)
    else:
        assert codes.sparse is not None
        first, *_, last = bounds = codes.sparse.starts[columns.start : columns.stop + 1]
        rows = codes.sparse.rows[first:last].astype(np.intp)
        positions = np.repeat(np.arange(len(levels)), np.diff(bounds))
        level = codes.sparse.codes[first:last].astype(np.intp)
        omitted = codes.sparse.implicit[columns].astype(np.intp)
        other = level != omitted[positions]
        rows, positions, level = rows[other], positions[other], level[other]
    shape = (codes.n_rows, int(levels.sum()))
    return sp.csr_array((weights[rows], (rows, starts[positions] + level)), shape=shape), omitted


def _starts(levels: NDArray[np.intp]) -> NDArray[np.intp]:
    starts: NDArray[np.intp] = np.cumsum(levels) - levels
    return starts


def column_slices(codes: Codes, n_classes: int) -> Iterator[slice]:
    """Split the columns into slices whose tables and entries fit into memory together; each has at least one column."""
    entries = np.full(codes.n_columns, codes.n_rows) if codes.sparse is None else np.diff(codes.sparse.starts)
    cells = codes.levels.astype(np.int64) * n_classes
    start = 0
    while start < codes.n_columns:
        ahead = slice(start, None)
        fits = (np.cumsum(cells[ahead]) <= CELLS_AT_ONCE) & (np.cumsum(entries[ahead]) <= ENTRIES_AT_ONCE)
        stop = start + max(1, int(np.argmin(fits)) if not fits.all() else len(fits))
        yield slice(start, stop)
        start = stop


Targets = Literal["single", "joint", "copy", "copy-weight"]
TARGETS = ("single", "joint", "copy", "copy-weight")


def chi_square(X: TableLike, Y: TargetsLike, *, targets: Targets = "single", sample_weight: WeightsLike = None) -> Array:
    r"""Pearson's chi-square statistic of every column of ``X`` with the targets.

    .. math:: \chi^2 = \sum_{ab} \frac{(n_{ab} - n_a n_b / n)^2}{n_a n_b / n}

    Parameters
    ----------
    X : array-like, frame, sparse matrix or Codes of shape (n_rows, d)
        Codes: whole numbers from 0. Bin continuous columns first (:func:`labelsieve.discretize.equal_width`).
    Y : array-like, frame or sparse matrix of shape (n_rows, q)
        Classes, or labels 0 and 1.
    targets : {"single", "joint", "copy", "copy-weight"}, default="single"
        ``"single"``: every target by itself; ``"joint"``: the label powerset; ``"copy"``: one target whose classes are the
        labels, with a copy of a row for each of its labels; ``"copy-weight"``: these copies with a weight of 1 / the number of
        labels of the row, which is ELA-CHI (Chen et al. 2007). Copies leave out rows without labels.
    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row.

    Returns
    -------
    ndarray of shape (d, q), or (d, 1) for other ``targets`` than ``"single"``

    Notes
    -----
    The statistic is that of ``scipy.stats.chi2_contingency(table, correction=False)``, and 0 where that refuses a table of
    empty rows or columns. ``sklearn.feature_selection.chi2`` is another: it takes a feature for counts of events and leaves
    out the rest of the table; for a feature of zeros and ones, n_1 of n rows being ones, it is (1 - n_1 / n) times ours.

    Cost: for each row, the product of its levels other than 0 and its classes; rows are not repeated for copies. Counts are
    exact, so dense and sparse input give the same numbers.

    Examples
    --------
    >>> chi_square([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [0], [1], [1]])
    array([[4.], [0.]])
    """
    one_of(targets, "targets", TARGETS)
    features = Codes.from_values(X)
    rows, weights = positive_weights(sample_weight, features.n_rows)
    features, classes = features if rows is None else features.take_rows(rows), known_classes(Y, "chi_square", rows)
    require_same_rows(features.n_rows, classes.n_rows)
    return _statistics(features, classes, targets, weights)


def _statistics(features: Codes, targets: Codes, space: str, weights: Array | None) -> Array:
    whole, unit = np.ones(features.n_rows), 1.0
    if space in ("copy", "copy-weight"):
        return _copy_transformed(features, targets, whole if weights is None else weights, by_row=space == "copy-weight")
    if weights is not None:
        quantized = quantize(weights)
        whole, unit = quantized.values.astype(np.float64), quantized.unit
    if space == "joint":
        targets = join(targets)
    blocks = [chi_square_table(features, classes_of(targets, some, whole)) for some in column_slices(targets, LEVELS_OF_A_FEW)]
    return _in_units_of_weights(np.concatenate(blocks, axis=1), unit)


def _copy_transformed(features: Codes, targets: Codes, weights: Array, *, by_row: bool) -> Array:
    labels = _labels(targets)
    n_labels = np.asarray(labels.sum(axis=1)).ravel()
    if not (weights * n_labels).any():
        return np.zeros((features.n_columns, 1))
    of_copy = np.where(n_labels > 0, weights / np.maximum(n_labels, 1) if by_row else weights, 0.0)
    quantized = quantize(of_copy)
    members = sp.csr_array(sp.diags_array(quantized.values.astype(np.float64)) @ labels)
    rows = np.asarray(members.sum(axis=1), dtype=np.float64).ravel()
    classes = Classes(members, np.array([labels.shape[1]]), rows, np.empty(0, dtype=np.intp))
    return _in_units_of_weights(chi_square_table(features, classes), quantized.unit)


def _in_units_of_weights(statistics: Array, unit: float) -> Array:
    """Convert statistics of quantized weights to those of the weights: a statistic is proportional to the weights."""
    with np.errstate(over="ignore"):
        divided = statistics / unit
        if np.isfinite(divided.sum(axis=1)).all():
            return divided
    raise InputError(
        "sample_weight is so large that chi-square statistics, which grow with it, overflow; divide it by its mean."
    )


def _labels(targets: Codes) -> sp.csr_array:
    several = np.flatnonzero(targets.levels > 2)
    if len(several):
        raise InputError(
            f"Y, column {several[0]} has {targets.levels[several[0]]} classes; copies are made for labels, which are 0 or 1. "
            'Use targets="single" or "joint", or turn classes into labels.'
        )
    stored = targets.sparse
    if stored is None or stored.implicit.any():
        return sp.csr_array(targets.to_dense(), dtype=np.float64)
    return sp.csc_array(
        (stored.codes.astype(np.float64), stored.rows.astype(np.intp), stored.starts), shape=targets.shape
    ).tocsr()


@dataclass(eq=False, repr=False, kw_only=True)
class ChiSquare(BaseCodeRanking):
    """Rank features by their chi-square statistic with the targets: see :func:`chi_square`.

    Parameters
    ----------
    targets : {"single", "joint", "copy", "copy-weight"}, default="single"
        The label space. ``"copy-weight"`` is ELA-CHI (Chen et al. 2007; a baseline of Sechidis et al. 2019).
    combine : {"sum", "max"}, default="sum"
        How the scores of the targets are combined, for ``targets="single"``.
    discretizer : str, Discretizer or None, default="equal-width"
        As for :class:`labelsieve.Sieve`. Bins come from all rows, also from those that copies leave out.

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        The statistic of every feature.
    discretizer_, target_discretizer_ : Discretizer
        The objects that were used, with their settings.
    target_types_, label_names_
        As for :class:`labelsieve.Sieve`.
    n_rows_without_labels_ : int
        Rows that copies left out; 0 in the other label spaces.

    Notes
    -----
    The statistic is not divided by its degrees of freedom: features of more levels score higher, also independent ones.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_noisy_copies=0)
    >>> sieve = ChiSquare(targets="copy-weight", n_features_to_select=4).fit(data.X, data.Y)
    >>> sorted(sieve.selected_.tolist()) == data.columns("relevant")
    True
    """

    targets: Targets = "single"
    combine: Literal["sum", "max"] = "sum"

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Score the features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        return self._fit(X, y, sample_weight)

    def _select(self, problem: Problem) -> Result:
        features, targets, more = self._encode(problem)
        statistics = _statistics(features, targets, self.targets, problem.weights)
        copies = self.targets in ("copy", "copy-weight")
        more["n_rows_without_labels"] = int(np.count_nonzero(_labels(targets).sum(axis=1) == 0)) if copies else 0
        return self._best(problem, statistics.max(axis=1) if self.combine == "max" else statistics.sum(axis=1), **more)
