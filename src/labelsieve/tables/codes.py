"""Codes: tables whose columns are small integers, the form in which everything is counted."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.errors import InputError
from labelsieve.resources import n_threads
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.types import CompressedMatrix, TargetsLike

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
