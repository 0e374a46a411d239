"""Codes: tables whose columns are small integers, the form in which everything is counted, and cut points that make them.

:func:`cut_by_values` finds the cut points of numeric columns, :func:`apply_cuts` encodes a table by them, and
:func:`bin_by_values` does both. They hand blocks of columns to the compiled core, in threads where a table is large.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.errors import InputError
from labelsieve.resources import n_threads
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.types import CompressedMatrix, TargetsLike
from labelsieve.tables.weights import RowWeights

MAX_LEVELS = 65_535
WIDE = 64  # columns of bytes, of which numpy finds the largest faster than the core
SCANNED_AT_ONCE = 2**26  # numbers, from twice which on they are scanned in parallel


@dataclass(frozen=True)
class SparseCodes:
    """Codes of a sparse table, listed by columns; a row that a column does not list has the column's ``implicit`` code."""

    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    codes: NDArray[np.uint16]
    implicit: NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Codes:
    """A table of codes: column ``j`` holds integers from 0 to ``levels[j] - 1``.

    Build one with :meth:`from_values`, or with a discretizer such as :func:`labelsieve.discretize.equal_width`.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    levels : ndarray of uint32
        One more than the largest code of each column.
    names : tuple of str or None
        Column names, when the input had them.
    dense : ndarray of uint8 or uint16, or None
        The codes, shape ``(n_rows, n_columns)``, any memory layout. ``uint8`` input is not copied.
    sparse : SparseCodes or None
        The codes of a sparse table, by columns.
    missing : ndarray of bool, or None
        The columns whose last level stands for missing cells, which are not counted. None: no column.

    Examples
    --------
    >>> codes = Codes.from_values([[0, 2], [1, 0], [1, 1]])
    >>> codes.levels
    array([2, 3], dtype=uint32)
    >>> codes
    Codes(3 rows, 2 columns, 2 to 3 levels, dense)
    """

    n_rows: int
    levels: NDArray[np.uint32]
    names: tuple[str, ...] | None = None
    dense: NDArray[np.uint8] | NDArray[np.uint16] | None = None
    sparse: SparseCodes | None = None
    missing: NDArray[np.bool_] | None = None
    in_file: ClassVar[bool] = False  # True for codes that are read from a file whenever they are counted

    @classmethod
    def from_values(cls, X: "TargetsLike | Codes", *, names: Sequence[str] | None = None, what: str = "X") -> "Codes":
        """Use values that are codes already: whole numbers from 0 to 65,534, of any number type.

        The same values give the same codes whether they come as integers, floats or booleans, in an array, a frame
        or a sparse matrix (whose unlisted entries are 0). Text and categorical columns of a frame are numbered in
        the order of their sorted values.

        Cost: one pass over the values to check them, and one to copy those that are not bytes already.
        """
        if isinstance(X, Codes):
            return X if names is None else X.rename(names)
        codes = cls.from_table(read_table(X, what=what), what=what)
        return codes if names is None else codes.rename(names)

    @classmethod
    def from_table(cls, table: NumberTable, *, what: str = "X") -> "Codes":
        """Take the numbers of a table as codes: see :meth:`from_values`."""
        values = table.values
        if not isinstance(values, np.ndarray):
            return _from_sparse(table, values, what)
        levels, bad = _scan(values) if values.size < 2 * SCANNED_AT_ONCE else _scan_in_threads(values)
        if bad is not None:
            raise _not_a_code(values[bad], bad[0], table.name(bad[1]), what)
        if values.dtype == np.bool_ or values.dtype == np.int8:
            values = values.view(np.uint8)
        elif values.dtype not in (np.uint8, np.uint16):
            copied = np.empty(values.shape, dtype=np.uint8 if levels.max() <= 256 else np.uint16, order="F")
            core.copy_codes(values, copied)
            values = copied
        return Codes(len(values), levels, table.names, dense=values)

    def rename(self, names: Sequence[str]) -> "Codes":
        """Return the same codes with these names of the columns."""
        if len(names) != self.n_columns:
            raise InputError(f"{len(names)} names for {self.n_columns} columns.")
        return Codes(self.n_rows, self.levels, tuple(map(str, names)), self.dense, self.sparse, self.missing)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.levels)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def has_missing(self) -> bool:
        """Whether some column has a level for missing cells."""
        return self.missing is not None and bool(self.missing.any())

    @cached_property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of every column."""
        counts = np.zeros(self.n_columns, dtype=np.int64)
        if self.missing is None or not self.n_rows:
            return counts
        flagged = np.flatnonzero(self.missing)
        if self.dense is not None:
            last = (self.levels[flagged] - 1).astype(self.dense.dtype)
            all_flagged = len(flagged) == self.n_columns
            counts[flagged] = np.count_nonzero((self.dense if all_flagged else self.dense[:, flagged]) == last, axis=0)
            return counts
        for j in map(int, flagged):
            counts[j] = np.count_nonzero(self.column(j) == self.levels[j] - 1)
        return counts

    def is_known(self, j: int) -> NDArray[np.bool_]:
        """Return the mask of the rows in which column ``j`` is not missing."""
        if self.missing is None or not self.missing[j]:
            return np.ones(self.n_rows, dtype=bool)
        known: NDArray[np.bool_] = self.column(j) != self.levels[j] - 1
        return known

    def column(self, j: int) -> NDArray[np.uint16]:
        """Return the codes of column ``j``, one for each row."""
        if not -self.n_columns <= j < self.n_columns:
            raise IndexError(f"column {j} of {self.n_columns}")
        j %= self.n_columns
        if self.dense is not None:
            return self.dense[:, j].astype(np.uint16)
        assert self.sparse is not None
        column = np.full(self.n_rows, self.sparse.implicit[j], dtype=np.uint16)
        listed = slice(self.sparse.starts[j], self.sparse.starts[j + 1])
        column[self.sparse.rows[listed]] = self.sparse.codes[listed]
        return column

    def to_dense(self) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Return all codes as one array of shape ``(n_rows, n_columns)``."""
        if self.dense is not None:
            return self.dense
        out = np.empty(self.shape, dtype=np.uint8 if self.levels.max() <= 256 else np.uint16, order="F")
        for j in range(self.n_columns):
            out[:, j] = self.column(j)
        return out

    def take_rows(self, rows: NDArray[np.bool_]) -> "Codes":
        """Return the codes of the rows where ``rows`` is true; levels stay as they are."""
        n_rows = int(np.count_nonzero(rows))
        if self.dense is not None:
            return Codes(n_rows, self.levels, self.names, dense=self.dense[rows], missing=self.missing)
        assert self.sparse is not None
        kept = rows[self.sparse.rows]
        new_index = np.cumsum(rows, dtype=np.int64) - 1
        starts = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[self.sparse.starts]
        new_rows = new_index[self.sparse.rows[kept]].astype(np.uint32)
        sparse = SparseCodes(starts, new_rows, self.sparse.codes[kept], self.sparse.implicit)
        return Codes(n_rows, self.levels, self.names, sparse=sparse, missing=self.missing)

    def take_columns(self, columns: NDArray[np.integer]) -> "Codes":
        """Return the codes of some columns, in the order given.

        >>> Codes.from_values([[0, 2], [1, 0]]).take_columns(np.array([1])).to_dense().ravel()
        array([2, 0], dtype=uint8)
        """
        names = None if self.names is None else tuple(self.names[j] for j in columns)
        missing = None if self.missing is None else self.missing[columns]
        if self.dense is not None:
            return Codes(self.n_rows, self.levels[columns], names, dense=self.dense[:, columns], missing=missing)
        assert self.sparse is not None
        starts = self.sparse.starts
        sizes = starts[columns + 1] - starts[columns]
        new_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        listed = np.repeat(starts[columns] - new_starts[:-1], sizes) + np.arange(new_starts[-1])
        sparse = SparseCodes(new_starts, self.sparse.rows[listed], self.sparse.codes[listed], self.sparse.implicit[columns])
        return Codes(self.n_rows, self.levels[columns], names, sparse=sparse, missing=missing)

    @cached_property
    def native(self) -> core.Table:
        """The table for the compiled core: a view, not a copy."""
        if self.dense is not None:
            return core.dense_table(self.dense, self.levels)
        assert self.sparse is not None
        starts, rows, codes, implicit = self.sparse.starts, self.sparse.rows, self.sparse.codes, self.sparse.implicit
        return core.sparse_table(starts, rows, codes, implicit, self.n_rows, self.levels)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("native", "n_missing")}

    def __repr__(self) -> str:
        low, high = int(self.levels.min()), int(self.levels.max())
        levels = f"{low}" if low == high else f"{low} to {high}"
        kind = "dense" if self.dense is not None else "sparse"
        return f"Codes({self.n_rows} rows, {self.n_columns} columns, {levels} levels, {kind})"


def constant_column(n_rows: int) -> Codes:
    """Return one column with a single level, for backends that count without a second table."""
    return Codes.from_values(np.zeros((n_rows, 1), dtype=np.uint8))


def with_missing_cells(codes: Codes, row_index: NDArray[np.uint32] | None = None) -> Codes:
    """Return the codes with only those columns marked as missing that have a missing cell in the rows that are counted.

    ``row_index`` names these rows, by default all. A column whose missing cells are all in other rows is not marked: the last
    level that is counted would be taken for missing cells otherwise.
    """
    if not codes.has_missing:
        return codes
    assert codes.missing is not None
    if row_index is None:
        missing = codes.n_missing > 0
    else:
        missing = codes.missing.copy()
        for j in map(int, np.flatnonzero(missing)):
            missing[j] = not codes.is_known(j)[row_index].all()
    return codes if np.array_equal(missing, codes.missing) else replace(codes, missing=missing)


def positive_cells(codes: Codes) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the rows and the columns of all codes that are not 0, sorted by row and then by column.

    >>> positive_cells(Codes.from_values([[1, 1], [0, 0], [0, 1]]))
    (array([0, 0, 2], dtype=uint32), array([0, 1, 1]))
    """
    if codes.dense is not None:
        rows, columns = np.nonzero(codes.dense)
        return rows.astype(np.uint32), columns
    sparse = codes.sparse
    assert sparse is not None
    if sparse.implicit.any():
        of_columns = [np.flatnonzero(codes.column(j)) for j in range(codes.n_columns)]
        rows = np.concatenate(of_columns)
        columns = np.repeat(np.arange(codes.n_columns), [len(of_column) for of_column in of_columns])
    else:
        positive = sparse.codes > 0
        rows = sparse.rows[positive].astype(np.int64)
        columns = np.repeat(np.arange(codes.n_columns), np.diff(sparse.starts))[positive]
    order = np.argsort(rows, kind="stable")
    return rows[order].astype(np.uint32), columns[order]


def _scan(values: NDArray[Any]) -> tuple[NDArray[np.uint32], tuple[int, int] | None]:
    """Find the number of levels of every column, and the position of the first number that is not a code, if there is one."""
    levels = np.empty(values.shape[1], dtype=np.uint32)
    if values.dtype == np.uint8 and values.flags.c_contiguous and len(levels) >= WIDE:  # all are codes
        np.add(values.max(axis=0), 1, out=levels, dtype=np.uint32)
        return levels, None
    return levels, core.scan_codes(values, levels)


def _scan_in_threads(values: NDArray[Any]) -> tuple[NDArray[np.uint32], tuple[int, int] | None]:
    """Do what :func:`_scan` does, for some rows in each thread of joblib's context."""
    n_parts = min(values.size // SCANNED_AT_ONCE, len(values), n_threads(None))
    starts = np.linspace(0, len(values), n_parts + 1, dtype=int).tolist()
    with ThreadPoolExecutor(n_parts) as pool:
        scanned = list(pool.map(_scan, [values[first:last] for first, last in pairwise(starts)]))
    levels = np.max([of_part for of_part, _ in scanned], axis=0)
    bad = next(((first + at[0], at[1]) for first, (_, at) in zip(starts, scanned, strict=False) if at is not None), None)
    return levels, bad


def _from_sparse(table: NumberTable, columns: CompressedMatrix, what: str) -> Codes:
    n_rows, n_columns = columns.shape
    data = columns.data.reshape(-1, 1)
    bad = core.scan_codes(data, np.empty(1, dtype=np.uint32))
    if bad is not None:
        column = int(np.searchsorted(columns.indptr, bad[0], side="right")) - 1
        raise _not_a_code(data[bad], int(columns.indices[bad[0]]), table.name(column), what)
    codes = np.empty(data.shape, dtype=np.uint16, order="F")
    core.copy_codes(data, codes)
    codes = codes[:, 0]
    starts = columns.indptr.astype(np.int64, copy=False)
    levels = np.ones(n_columns, dtype=np.uint32)
    listed = np.flatnonzero(np.diff(starts))
    if len(listed):
        levels[listed] += np.maximum.reduceat(codes, starts[listed])
    sparse = SparseCodes(starts, sparse_rows(columns), codes, np.zeros(n_columns, dtype=np.uint16))
    return Codes(n_rows, levels, table.names, sparse=sparse)


def sparse_rows(columns: CompressedMatrix) -> NDArray[np.uint32]:
    """Return the row numbers of a CSC matrix as the core reads them: a copy, since the core trusts what it has checked once."""
    rows: NDArray[np.uint32] = columns.indices.astype(np.uint32)
    return rows


def _not_a_code(value: float, row: int, column: str, what: str) -> InputError:
    if np.isnan(value):
        reason, remedy = "is missing", "fill missing values or drop their rows."
    elif np.isinf(value):
        reason, remedy = "is not a finite number", "fill such values or drop their rows."
    elif value < 0:
        reason, remedy = "is negative", "shift or renumber the codes to start at 0, or bin the column."
    elif value >= MAX_LEVELS:
        reason = f"is larger than {MAX_LEVELS - 1:,}"
        remedy = "renumber the codes (numpy.unique with return_inverse=True), or bin the column."
    else:
        reason, remedy = ("is not a whole number", "bin continuous columns first: labelsieve.discretize.equal_width(X).")
    return InputError(f"{what}, row {row}, {column}: {value!s} {reason}, so it is not a code; {remedy}")


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
