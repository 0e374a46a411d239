"""Chunks of sparse rows, stored by columns in temporary files."""

import tempfile
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from labelsieve.counting.column_log import OpenFile
from labelsieve.datasets.column_sources import CELL_BYTES, ColumnSource, Names, Rows
from labelsieve.errors import require_same_rows
from labelsieve.fingerprint import array_print

MOST_COLUMNS = 4096  # that are binned together


class SparseFiles:
    """Writes chunks of sparse rows to files without names, of which nothing stays; later chunks may have more columns.

    Cost: 12 bytes on disk for each stored cell, and 12 more until the columns are joined.
    """

    def __init__(self) -> None:
        self._file = OpenFile(tempfile.TemporaryFile())  # noqa: SIM115  closed by OpenFile
        self._shapes: list[tuple[int, int, int]] = []
        self._sizes = np.zeros(0, dtype=np.int64)

    def add(self, X: object) -> None:
        """Store some rows."""
        columns = sp.csc_array(X, dtype=np.float64)
        if columns.data is getattr(X, "data", None):
            columns = columns.copy()
        columns.sum_duplicates()
        columns.prune()
        for values, dtype in ((columns.indptr, np.int64), (columns.indices, np.uint32), (columns.data, np.float64)):
            values.astype(dtype, copy=False).tofile(self._file.raw)
        self._sizes.resize(max(len(self._sizes), columns.shape[1]), refcheck=False)
        self._sizes[: columns.shape[1]] += np.diff(columns.indptr)
        self._shapes.append((*columns.shape, columns.nnz))

    def columns(self, first: int = 0, n_columns: int | None = None) -> "StoredColumns":
        """All rows by columns, from column ``first`` on; chunks of the same rows come one after the other."""
        n_columns = len(self._sizes) - first if n_columns is None else n_columns
        sizes = np.zeros(n_columns, dtype=np.int64)
        found = self._sizes[first : first + n_columns]
        sizes[: len(found)] = found
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows, values = (_temporary(dtype, int(starts[-1])) for dtype in (np.uint32, np.float64))
        next_cell, top = starts[:-1].copy(), 0
        self._file.raw.seek(0)
        for n_rows, width, n_cells in self._shapes:
            ends = np.fromfile(self._file.raw, np.int64, width + 1)[first:]
            of_rows = np.fromfile(self._file.raw, np.uint32, n_cells)
            cell_values = np.fromfile(self._file.raw, np.float64, n_cells)
            counts = np.diff(ends)
            cells = slice(ends[0], ends[-1]) if len(ends) else slice(0)
            where = np.repeat(next_cell[: len(counts)] - ends[:-1], counts) + np.arange(cells.start or 0, cells.stop)
            rows[where] = of_rows[cells] + np.uint32(top)
            values[where] = cell_values[cells]
            next_cell[: len(counts)] += counts
            top += n_rows
        self._file.raw.close()
        return StoredColumns(top, starts, rows, values)


def _temporary(dtype: DTypeLike, size: int) -> NDArray[Any]:
    """A mapped array in a file without a name."""
    if size == 0:
        return np.empty(0, dtype=dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,))


class StoredColumns:
    """The columns of a sparse matrix in files."""

    def __init__(self, n_rows: int, starts: NDArray[np.int64], rows: NDArray[Any], values: NDArray[Any]) -> None:
        self._starts, self._rows, self._values = starts, rows, values
        self.shape = n_rows, len(starts) - 1
        self.sizes = np.diff(starts)

    @cached_property
    def content(self) -> str:
        """A hash of all cells."""
        return array_print(np.array(self.shape), self._starts, self._rows, self._values)

    def take(self, columns: Sequence[int]) -> sp.csc_array:
        """Some columns, in memory."""
        cells = [slice(self._starts[j], self._starts[j + 1]) for j in columns]
        empty = np.empty(0, dtype=np.int64)
        rows = np.concatenate([empty, *(self._rows[of_column] for of_column in cells)])
        values = np.concatenate([empty.astype(np.float64), *(self._values[of_column] for of_column in cells)])
        ends = np.concatenate([[0], np.cumsum(self.sizes[list(columns)])])
        return sp.csc_array((values, rows, ends), shape=(self.shape[0], len(columns)))


class SparseSource(ColumnSource):
    """A source of sparse features; the labels are in memory, a sparse matrix or an array."""

    is_sparse: ClassVar[bool] = True

    def __init__(self, columns: StoredColumns, Y: Any, names: Names) -> None:
        self._columns, self.names = columns, names
        self._Y: Any = sp.csc_array(Y) if sp.issparse(Y) else np.asarray(Y).reshape(len(Y), -1)
        self.n_rows, self.n_features = columns.shape
        self.n_labels = self._Y.shape[1]
        self.longest = int(columns.sizes.max(initial=1))
        require_same_rows(self.n_rows, self._Y.shape[0])

    @property
    def origin(self) -> str | None:
        """A hash of the cells: of libsvm and ARFF files too, whatever their names and times."""
        return self._columns.content

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        table = self._columns.take(columns)
        return table if rows is None else table[np.flatnonzero(rows)]

    def label(self, column: int, rows: Rows) -> Any:
        values = self._Y[:, [column]].toarray()[:, 0] if sp.issparse(self._Y) else self._Y[:, column]
        return values if rows is None else values[rows]

    def sparse_labels(self, rows: Rows) -> Any:
        if not sp.issparse(self._Y):
            return None
        return self._Y if rows is None else self._Y[np.flatnonzero(rows)]

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        groups: list[list[int]] = []
        used = 0
        for column in columns:
            needed = CELL_BYTES * int(self._columns.sizes[column])
            if not groups or used + needed > limit or len(groups[-1]) == MOST_COLUMNS:
                groups.append([])
                used = 0
            groups[-1].append(column)
            used += needed
        return groups
