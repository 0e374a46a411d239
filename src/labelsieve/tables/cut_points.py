"""Cut points of numeric columns, and the codes that follow from them.

:func:`cut_by_values` finds cut points, :func:`apply_cuts` encodes a table by them, :func:`bin_by_values` does both. All of them
hand blocks of columns to the compiled core, in threads where a table is large.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.errors import InputError
from labelsieve.resources import n_threads
from labelsieve.tables.codes import MAX_LEVELS, Codes, SparseCodes, sparse_rows
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.types import CompressedMatrix
from labelsieve.tables.weights import RowWeights

Result = TypeVar("Result")

FEW_VALUES = 200_000  # for which starting threads takes as long as the work
LINE = 8  # numbers that share a line of the cache in a table by rows: columns of a block are a multiple of it
BLOCKS = 4  # for each thread, or 2 if there are few columns: columns differ in cost


@dataclass(frozen=True, eq=False)
class ColumnCuts:
    """Cut points of all columns, or the values that a column keeps as levels.

    Column ``j`` has ``points[starts[j]:starts[j + 1]]``, in ascending order. They are cut points, or its values where
    ``kept[j]``. Bins are closed on the left unless ``closed_right``.
    """

    starts: NDArray[np.int64]
    points: NDArray[np.float64]
    kept: NDArray[np.bool_]
    closed_right: bool = False

    @classmethod
    def joined(cls, blocks: Sequence[Any], closed_right: bool = False) -> "ColumnCuts":
        """Join the cuts of blocks of columns: starts, points and kept of each, as the core returns them."""
        if len(blocks) == 1:
            starts, points, kept = blocks[0]
        else:
            all_starts, all_points, all_kept = zip(*blocks, strict=True)
            counts = [np.diff(some) for some in all_starts]
            starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
            points, kept = np.concatenate(all_points), np.concatenate(all_kept)
        return cls(starts, points, kept.astype(bool), closed_right)

    @classmethod
    def none(cls, n_columns: int) -> "ColumnCuts":
        """Return the cuts of columns that are not cut at all."""
        return cls(np.zeros(n_columns + 1, dtype=np.int64), np.empty(0), np.zeros(n_columns, dtype=bool))

    def spread(self, n_columns: int, without: frozenset[int]) -> "ColumnCuts":
        """Return the cuts of a table that also has the columns ``without``, which have no cut points."""
        cut = np.array([column not in without for column in range(n_columns)])
        counts = np.zeros(n_columns, dtype=np.int64)
        counts[cut] = np.diff(self.starts)
        kept = np.zeros(n_columns, dtype=bool)
        kept[cut] = self.kept
        return ColumnCuts(np.concatenate([[0], np.cumsum(counts)]), self.points, kept, self.closed_right)

    @cached_property
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Starts and cut points of all columns. Levels that are kept are cut half-way: a new value goes to the nearest."""
        if not self.kept.any():
            return self.starts, self.points
        low, high = self.points[:-1], self.points[1:]
        with np.errstate(over="ignore"):
            middle = (low + high) / 2
        middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
        # Rounding may put the middle on a level, which must stay on its own side of the cut.
        separates, otherwise = (middle < high, low) if self.closed_right else (middle > low, high)
        of_kept = np.repeat(self.kept, np.diff(self.starts))
        edges = self.points.copy()
        edges[:-1][of_kept[:-1]] = np.where(separates, middle, otherwise)[of_kept[:-1]]
        last = self.starts[1:][self.kept] - 1
        starts = self.starts - np.concatenate([[0], np.cumsum(self.kept)])
        return starts, np.delete(edges, last)

    def split(self) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64] | None]]:
        """Return, for every column, its cut points, and the values that it keeps or None."""
        points = [self.points[first:last] for first, last in pairwise(self.starts.tolist())]
        empty = np.empty(0)
        cuts = [empty if kept else values for values, kept in zip(points, self.kept.tolist(), strict=True)]
        return cuts, [values if kept else None for values, kept in zip(points, self.kept.tolist(), strict=True)]


def cut_by_values(
    table: NumberTable,
    rule: str,
    n_bins: int,
    *,
    weights: RowWeights | None = None,
    factor: float = 1.0,
    decimals: int | None = None,
    keep_binary: bool = False,
    closed_right: bool = False,
) -> ColumnCuts:
    """Cut every column by a rule that looks at nothing but its values and the weights of their rows.

    Rules are "equal-width", "equal-frequency", "k-means" and "mean-std"; ``factor``, ``decimals`` and ``keep_binary`` are
    settings of the last, see :class:`labelsieve.discretize.MeanStd`.
    """
    steps = 0.0 if decimals is None else 10.0**decimals
    of_rows, unit = (None, 1.0) if weights is None else (weights.values, weights.unit)
    calls = []
    for block in column_blocks(table):
        calls.append((block.numbers, rule, n_bins, factor, steps, keep_binary, of_rows, unit))
    return ColumnCuts.joined(in_threads(core.cut_numbers, calls), closed_right)


def apply_cuts(table: NumberTable, cuts: ColumnCuts, *, mark_missing: bool = False) -> Codes:
    """Encode a table by cut points. A missing value (NaN) has the code after the last bin.

    With ``mark_missing`` the codes know the columns with missing values, which are then left out of all counts.
    """
    values = table.values
    n_rows, n_columns = values.shape
    starts, edges = cuts.edges
    bins = np.diff(starts) + 1
    codes: NDArray[Any]
    if isinstance(values, np.ndarray):
        codes = np.empty(values.size, dtype=np.uint8 if bins.max(initial=1) < 256 else np.uint16)
    else:
        codes = np.empty(values.nnz, dtype=np.uint16)
    implicit = np.empty(n_columns, dtype=np.uint16)
    missing = np.empty(n_columns, dtype=np.uint8)
    calls = []
    for block in column_blocks(table):
        of_block = starts[block.columns.start : block.columns.stop + 1]
        points, out = edges[of_block[0] : of_block[-1]], (codes[block.cells], implicit[block.columns], missing[block.columns])
        calls.append((block.numbers, of_block - of_block[0], points, cuts.closed_right, *out))
    in_threads(core.apply_cuts, calls)
    levels = (bins + missing).astype(np.uint32)
    if levels.max() > MAX_LEVELS:
        raise InputError(f"{table.name(int(np.argmax(levels)))} has {MAX_LEVELS:,} bins and missing values; use fewer bins.")
    marked = missing.astype(bool) if mark_missing and missing.any() else None
    if isinstance(values, np.ndarray):
        return Codes(n_rows, levels, table.names, dense=codes.reshape((n_rows, n_columns), order="F"), missing=marked)
    sparse = SparseCodes(values.indptr.astype(np.int64, copy=False), sparse_rows(values), codes, implicit)
    return Codes(n_rows, levels, table.names, sparse=sparse, missing=marked)


def bin_by_values(table: NumberTable, rule: str, n_bins: int, **settings: Any) -> Codes:
    """Encode a table by a rule of :func:`cut_by_values`, with its ``settings``.

    >>> from labelsieve.tables.frames import read_table
    >>> bin_by_values(read_table([[1.0], [2.0], [3.0], [1000.0]]), "equal-frequency", 2).column(0)
    array([0, 0, 1, 1], dtype=uint16)
    """
    return apply_cuts(table, cut_by_values(table, rule, n_bins, **settings))


def bin_equal_width(table: NumberTable, n_bins: int, *, closed_right: bool) -> Codes | None:
    """Encode a table by bins of equal width in one call, without storing cut points; None if a number is not finite."""
    values = table.values
    n_rows, n_columns = values.shape
    levels = np.empty(n_columns, dtype=np.uint32)
    calls: list[tuple[Any, ...]] = []
    if isinstance(values, np.ndarray):
        dense = np.empty((n_rows, n_columns), dtype=np.uint8 if n_bins <= 256 else np.uint16, order="F")
        for first, last in ranges(n_columns, values.size):
            calls.append((values[:, first:last], n_bins, closed_right, dense[:, first:last], levels[first:last]))
        found = in_threads(core.equal_width, calls)
        return Codes(n_rows, levels, table.names, dense=dense) if found == [None] * len(found) else None
    codes, implicit = np.empty(values.nnz, dtype=np.uint16), np.empty(n_columns, dtype=np.uint16)
    for first, last in ranges(n_columns, values.nnz):
        cells, starts, listed = _listed(values, first, last)
        out = codes[cells], implicit[first:last], levels[first:last]
        calls.append((starts, listed, n_rows, n_bins, closed_right, *out))
    found = in_threads(core.equal_width_sparse, calls)
    sparse = SparseCodes(values.indptr.astype(np.int64, copy=False), sparse_rows(values), codes, implicit)
    return Codes(n_rows, levels, table.names, sparse=sparse) if found == [None] * len(found) else None


def require_finite(table: NumberTable, *, allow_missing: bool, what: str = "X") -> None:
    """Raise InputError with the position of the first infinite value, or missing one where these are not allowed."""
    values = table.values
    numbers = values if isinstance(values, np.ndarray) else values.data.reshape(-1, 1)
    # Columns do not matter for the scan: numbers that follow each other in memory are read as a single column.
    in_order = numbers.flags.c_contiguous
    lines = numbers.reshape(-1, 1) if in_order else numbers.T
    calls = []
    for first, last in ranges(len(lines), numbers.size):
        calls.append((lines[first:last] if in_order else lines[first:last].T, allow_missing))
    found = in_threads(core.scan_finite, calls)
    if found == [None] * len(found):
        return
    bad = core.scan_finite(numbers, allow_missing)
    assert bad is not None
    row, column = bad
    if not isinstance(values, np.ndarray):
        row, column = int(values.indices[row]), int(np.searchsorted(values.indptr, row, side="right")) - 1
    value, place = numbers[bad], f"{what}, row {row}, {table.name(column)}"
    remedy = "fill such values or drop their rows"
    if np.isnan(value):
        remedy += ', or give them a separate level: a discretizer with missing="level"'
        raise InputError(f"{place}: the value is missing (NaN); {remedy}.")
    raise InputError(f"{place}: {value!s} is not a finite number; {remedy}.")


class Block(NamedTuple):
    """Neighboring columns of a table as the core reads them; ``cells`` are their stored values, column after column."""

    columns: slice
    cells: slice
    numbers: core.NumberColumns


def column_blocks(table: NumberTable) -> list[Block]:
    """Divide the columns of a table into blocks for threads; a small table is a single block."""
    values = table.values
    n_rows, n_columns = values.shape
    blocks = []
    if isinstance(values, np.ndarray):
        for first, last in ranges(n_columns, values.size):
            numbers = core.dense_numbers(values[:, first:last])
            blocks.append(Block(slice(first, last), slice(first * n_rows, last * n_rows), numbers))
        return blocks
    for first, last in ranges(n_columns, values.nnz):
        cells, starts, listed = _listed(values, first, last)
        numbers = core.sparse_numbers(starts, values.indices[cells].astype(np.uint32), listed, n_rows)
        blocks.append(Block(slice(first, last), cells, numbers))
    return blocks


def _listed(columns: CompressedMatrix, first: int, last: int) -> tuple[slice, NDArray[np.int64], NDArray[np.float64]]:
    """Return the cells of some columns of a CSC matrix, where each column starts among them, and their values."""
    starts = columns.indptr[first : last + 1].astype(np.int64)
    cells = slice(int(starts[0]), int(starts[-1]))
    return cells, starts - starts[0], columns.data[cells].astype(np.float64, copy=False)


def ranges(n: int, n_values: int) -> list[tuple[int, int]]:
    """Divide ``n`` columns or rows, with ``n_values`` numbers in all, into ranges for the threads of joblib's context.

    Selectors encode in such a context: ``joblib.parallel_config(n_jobs=...)``.

    >>> ranges(3, n_values=30)
    [(0, 3)]
    """
    threads = 1 if n_values < FEW_VALUES else n_threads(None)
    width = min(-(-n // (BLOCKS * threads * LINE)) * LINE, -(-n // (2 * threads)))
    if threads == 1 or width >= n:
        return [(0, n)]
    return [(first, min(first + width, n)) for first in range(0, n, width)]


def in_threads(work: Callable[..., Result], calls: Sequence[tuple[Any, ...]]) -> list[Result]:
    """Call ``work`` with each tuple of arguments, in the threads of joblib's context if there are several; results in order."""
    if len(calls) == 1:
        return [work(*calls[0])]
    with ThreadPoolExecutor(n_threads(None)) as pool:
        return list(pool.map(lambda call: work(*call), calls))
