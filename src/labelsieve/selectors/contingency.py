"""Chi-square of the tables of many features with many targets, counted by sparse products of their levels."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes

Array = NDArray[np.float64]
CELLS_AT_ONCE = 2**21  # of the tables that are held in memory together
ENTRIES_AT_ONCE = 2**22  # of the features' levels
LEVELS_OF_A_FEW = 64  # of features: targets are sliced so that their tables with a few features fit


@dataclass(frozen=True)
class Classes:
    """Targets as columns of a matrix, one for each level.

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
    """The levels of some targets, every row counting its weight in each."""
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
    """The cells without the column of whole rows, which fills the empty levels."""
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
    """Rows by levels of the columns, one level of each omitted (0, or the one that is not stored), and which."""
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
    """Columns in slices whose tables, and whose entries, fit into memory together; at least one column in each."""
    entries = np.full(codes.n_columns, codes.n_rows) if codes.sparse is None else np.diff(codes.sparse.starts)
    cells = codes.levels.astype(np.int64) * n_classes
    start = 0
    while start < codes.n_columns:
        ahead = slice(start, None)
        fits = (np.cumsum(cells[ahead]) <= CELLS_AT_ONCE) & (np.cumsum(entries[ahead]) <= ENTRIES_AT_ONCE)
        stop = start + max(1, int(np.argmin(fits)) if not fits.all() else len(fits))
        yield slice(start, stop)
        start = stop
