"""Cut points of numeric columns, and the codes that follow from them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.errors import InputError
from labelsieve.resources import n_threads
from labelsieve.tables.codes import MAX_LEVELS, Codes, SparseCodes, sparse_rows
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.weights import RowWeights

Result = TypeVar("Result")

FEW_VALUES = 200_000  # for which starting threads takes as long as the work
LINE = 8  # numbers that share a line of the cache in a table by rows: columns of a block are a multiple of it
BLOCKS = 4  # for each thread, or 2 if there are few columns: columns differ in cost


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of a table; ``cells`` are their values among those that the table holds, column after column."""

    table: NumberTable
    columns: slice
    cells: slice

    @property
    def dense(self) -> NDArray[Any]:
        assert self.table.dense is not None
        return self.table.dense[:, self.columns]

    @property
    def listed(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Starts of the columns and values of a sparse table."""
        starts = self.table.sparse.indptr[self.columns.start : self.columns.stop + 1].astype(np.int64)
        return starts - starts[0], self.table.sparse.data[self.cells].astype(np.float64, copy=False)

    def numbers(self) -> core.NumberColumns:
        """The columns as the core reads them."""
        if self.table.dense is not None:
            return core.dense_numbers(self.dense)
        starts, values = self.listed
        return core.sparse_numbers(starts, self.table.sparse.indices[self.cells].astype(np.uint32), values, self.table.shape[0])


def map_blocks(work: Callable[[Block], Result], table: NumberTable) -> list[Result]:
    """``work`` for blocks of columns, in their order: see :func:`map_ranges`."""
    n_rows, n_columns = table.shape
    starts = range(0, n_rows * n_columns + 1, n_rows) if table.dense is not None else table.sparse.indptr

    def of_columns(first: int, last: int) -> Result:
        return work(Block(table, slice(first, last), slice(int(starts[first]), int(starts[last]))))

    return map_ranges(of_columns, n_columns, int(starts[n_columns]))


def map_ranges(work: Callable[[int, int], Result], n: int, n_values: int) -> list[Result]:
    """``work(first, last)`` for ranges of ``n`` columns or numbers, in their order.

    The number of threads is that of joblib's context (``joblib.parallel_config(n_jobs=...)``), in which the selectors encode.

    >>> map_ranges(lambda first, last: list(range(first, last)), 3, n_values=30)
    [[0, 1, 2]]
    """
    threads = 1 if n_values < FEW_VALUES else n_threads(None)
    width = min(-(-n // (BLOCKS * threads * LINE)) * LINE, -(-n // (2 * threads)))
    if threads == 1 or width >= n:
        return [work(0, n)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda first: work(first, min(first + width, n)), range(0, n, width)))


@dataclass(frozen=True, eq=False)
class ColumnCuts:
    """Column ``j`` has ``points[starts[j]:starts[j + 1]]``: cut points, or the values it keeps as levels where ``kept``."""

    starts: NDArray[np.int64]
    points: NDArray[np.float64]
    kept: NDArray[np.bool_]
    closed_right: bool = False

    def spread(self, n_columns: int, without: frozenset[int]) -> "ColumnCuts":
        """The cuts of a table with more columns, those in ``without``, which have no cut points."""
        cut = np.array([column not in without for column in range(n_columns)])
        counts = np.zeros(n_columns, dtype=np.int64)
        counts[cut] = np.diff(self.starts)
        kept = np.zeros(n_columns, dtype=bool)
        kept[cut] = self.kept
        return ColumnCuts(np.concatenate([[0], np.cumsum(counts)]), self.points, kept, self.closed_right)

    @classmethod
    def joined(cls, blocks: Sequence[Any], closed_right: bool = False) -> "ColumnCuts":
        """The cuts of blocks of columns: starts, points and kept of each."""
        starts, points, kept = zip(*blocks, strict=True)
        counts = np.concatenate([np.diff(some) for some in starts])
        all_starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(all_starts, np.concatenate(points), np.concatenate(kept).astype(bool), closed_right)

    @classmethod
    def none(cls, n_columns: int) -> "ColumnCuts":
        """No cut points."""
        return cls(np.zeros(n_columns + 1, dtype=np.int64), np.empty(0), np.zeros(n_columns, dtype=bool))

    @cached_property
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Starts and points with a cut half-way between neighboring levels that are kept: a new value goes to the nearest."""
        if not self.kept.any():
            return self.starts, self.points
        low, high = self.points[:-1], self.points[1:]
        with np.errstate(over="ignore"):
            middle = (low + high) / 2
        middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
        separates, otherwise = (middle < high, low) if self.closed_right else (middle > low, high)
        of_kept = np.repeat(self.kept, np.diff(self.starts))
        edges = self.points.copy()
        edges[:-1][of_kept[:-1]] = np.where(separates, middle, otherwise)[of_kept[:-1]]
        last = self.starts[1:][self.kept] - 1
        starts = self.starts - np.concatenate([[0], np.cumsum(self.kept)])
        return starts, np.delete(edges, last)

    def split(self) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64] | None]]:
        """For every column its cut points, and the values that it keeps or None."""
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
    """Cut every column by a rule that looks at nothing but its values (and the weights of their rows)."""
    steps = 0.0 if decimals is None else 10.0**decimals
    of_rows, unit = (None, 1.0) if weights is None else (weights.values, weights.unit)
    settings = rule, n_bins, factor, steps, keep_binary, of_rows, unit
    cut = map_blocks(lambda some: core.cut_numbers(some.numbers(), *settings), table)
    return ColumnCuts.joined(cut, closed_right)


def apply_cuts(table: NumberTable, cuts: ColumnCuts, *, mark_missing: bool = False) -> Codes:
    """Codes of a table by cut points. A missing value (NaN) has the code after the last bin.

    ``mark_missing`` makes the codes know the columns with missing values, which are then not counted.
    """
    n_rows, n_columns = table.shape
    starts, edges = cuts.edges
    bins = np.diff(starts) + 1
    wide = bins.max(initial=1) >= 256
    implicit = np.empty(n_columns, dtype=np.uint16)
    missing = np.empty(n_columns, dtype=np.uint8)
    n_codes = n_rows * n_columns if table.dense is not None else table.sparse.nnz
    codes: NDArray[Any] = np.empty(n_codes, dtype=np.uint16 if wide or table.dense is None else np.uint8)

    def encode(some: Block) -> None:
        of_block = starts[some.columns.start : some.columns.stop + 1]
        points, out = edges[of_block[0] : of_block[-1]], (codes[some.cells], implicit[some.columns], missing[some.columns])
        core.apply_cuts(some.numbers(), of_block - of_block[0], points, cuts.closed_right, *out)

    map_blocks(encode, table)
    levels = (bins + missing).astype(np.uint32)
    if levels.max() > MAX_LEVELS:
        raise InputError(f"{table.name(int(np.argmax(levels)))} has {MAX_LEVELS:,} bins and missing values; use fewer bins.")
    marked = missing.astype(bool) if mark_missing and missing.any() else None
    if table.dense is not None:
        return Codes(n_rows, levels, table.names, dense=codes.reshape((n_rows, n_columns), order="F"), missing=marked)
    columns = table.sparse
    sparse = SparseCodes(columns.indptr.astype(np.int64, copy=False), sparse_rows(columns), codes, implicit)
    return Codes(n_rows, levels, table.names, sparse=sparse, missing=marked)


def bin_equal_width(table: NumberTable, n_bins: int, *, closed_right: bool) -> Codes | None:
    """Codes by bins of equal width, without storing cut points; None if a number is not finite."""
    n_rows, n_columns = table.shape
    levels = np.empty(n_columns, dtype=np.uint32)
    if table.dense is not None:
        dense = np.empty((n_rows, n_columns), dtype=np.uint8 if n_bins <= 256 else np.uint16, order="F")
        bad = map_blocks(
            lambda some: core.equal_width(some.dense, n_bins, closed_right, dense[:, some.columns], levels[some.columns]), table
        )
        return Codes(n_rows, levels, table.names, dense=dense) if bad == [None] * len(bad) else None
    columns = table.sparse
    codes, implicit = np.empty(columns.nnz, dtype=np.uint16), np.empty(n_columns, dtype=np.uint16)

    def encode(some: Block) -> tuple[int, int] | None:
        starts, values = some.listed
        out = codes[some.cells], implicit[some.columns], levels[some.columns]
        return core.equal_width_sparse(starts, values, n_rows, n_bins, closed_right, *out)

    bad = map_blocks(encode, table)
    sparse = SparseCodes(columns.indptr.astype(np.int64, copy=False), sparse_rows(columns), codes, implicit)
    return Codes(n_rows, levels, table.names, sparse=sparse) if bad == [None] * len(bad) else None


def require_finite(table: NumberTable, *, allow_missing: bool, what: str = "X") -> None:
    """Raise InputError with the position of the first infinite value, or missing one where these are not allowed."""
    numbers = table.sparse.data.reshape(-1, 1) if table.dense is None else table.dense
    by_rows = numbers.flags.c_contiguous  # columns do not matter then
    values = numbers.reshape(-1) if by_rows else numbers.T

    def scan(first: int, last: int) -> tuple[int, int] | None:
        some = values[first:last]
        return core.scan_finite(some[:, np.newaxis] if by_rows else some.T, allow_missing)

    found = map_ranges(scan, len(values), numbers.size)
    if found == [None] * len(found):
        return
    bad = core.scan_finite(numbers, allow_missing)
    assert bad is not None
    row, column = bad
    if table.dense is None:
        column = int(np.searchsorted(table.sparse.indptr, bad[0], side="right")) - 1
        row = int(table.sparse.indices[bad[0]])
    raise not_finite(numbers[bad], row, column, table, what)


def not_finite(value: float, row: int, column: int, table: NumberTable, what: str = "X") -> InputError:
    """The error for a value that no bin can hold."""
    remedy = "fill such values or drop their rows"
    if np.isnan(value):
        remedy += ', or give them a separate level: a discretizer with missing="level"'
        return InputError(f"{what}, row {row}, {table.name(column)}: the value is missing (NaN); {remedy}.")
    return InputError(f"{what}, row {row}, {table.name(column)}: {value!s} is not a finite number; {remedy}.")
