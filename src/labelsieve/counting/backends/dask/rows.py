"""The Dask backend with rows on the workers: each counts some of the rows, and the counts are added up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.chunked.backend import (
    CellCounts,
    ChunkCounts,
    ChunkedBackend,
    Counts,
    EntryChunks,
    GivenColumn,
    LevelCells,
)
from labelsieve.counting.backends.chunked.codes_file import MappedCodes, dense_rows
from labelsieve.counting.backends.chunked.packed_rows import Layout, PackedRows, Part
from labelsieve.counting.backends.dask.cluster import Cluster
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import RowWeights

PART_BYTES = 2**22  # of codes that are sent in one message
ADDED = 8  # parts whose counts are added up in one task


@dataclass(frozen=True, eq=False)
class StoredCodes:
    """Some rows and columns of codes in a file that the workers can read."""

    path: str
    dtype: str
    shape: tuple[int, int]
    levels: NDArray[np.uint32]
    rows: slice
    columns: slice

    @classmethod
    def of(cls, X: Codes, rows: slice, columns: slice) -> "StoredCodes | None":
        """Return a part of codes that are in a file with a name; None for other codes."""
        if not isinstance(X, MappedCodes) or X.folder is None or X.file is None or X.dense is None:
            return None
        return cls(str(X.file.raw.name), X.dense.dtype.str, X.shape, X.levels[columns], rows, columns)

    def read(self) -> Codes:
        """Read the codes."""
        table = np.memmap(self.path, dtype=self.dtype, mode="r", shape=self.shape, order="F")
        dense = np.array(table[self.rows, self.columns], order="F")
        return Codes(len(dense), self.levels, dense=dense)


@dataclass(eq=False)
class RowsOfWorker:
    """Some of the rows, packed where they are counted. It can be sent, or made again, if a worker is lost."""

    X: Codes | StoredCodes
    Y: Codes
    weights: RowWeights | None
    row_index: NDArray[np.uint32] | None
    classes: list[LevelCells]

    @cached_property
    def _counts(self) -> ChunkCounts:
        rows = PackedRows(self.X.read() if isinstance(self.X, StoredCodes) else self.X, in_memory=2**62)
        entries = EntryChunks(self.Y, self.weights, self.row_index)
        return ChunkCounts(rows, entries, most=2**62, n_threads=1, classes=self.classes)

    def count(self, part: Part, targets: list[int], codes: NDArray[Any] | None, levels: LevelCells | None) -> list[Counts]:
        """Count the rows of this worker; see :meth:`~labelsieve.counting.backends.chunked.backend.CellCounts.count`."""
        given = None if codes is None or levels is None else GivenColumn(codes.astype(np.uint32), levels)
        return self._counts.count(part, targets, given)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_counts"}


def _count(rows: RowsOfWorker, *arguments: Any) -> list[Counts]:
    return rows.count(*arguments)


def _total(*parts: list[Counts]) -> list[Counts]:
    return [np.sum(counts, axis=0) for counts in zip(*parts, strict=True)]


class DaskCounts(CellCounts):
    """Counts that the workers of a cluster compute. They are added up on the workers, eight parts at a time."""

    def __init__(self, cluster: Cluster, X: Codes, entries: EntryChunks, *, most: int, part_rows: int) -> None:
        super().__init__(Layout.of(X), entries, most=most)
        self._cluster, self._X, self._part_rows = cluster, X, part_rows
        self._send()

    def count(self, part: Part, targets: Sequence[int], given: GivenColumn | None) -> list[Counts]:
        return self._cluster.repeat(lambda: self._count_once(part, list(targets), given), self._send)

    def _send(self) -> None:
        """Submit the rows of all parts."""
        X, entries = self._X, self._entries
        self._where: list[Any] = []
        self._parts: list[Any] = []
        for start in range(0, X.n_rows, self._part_rows):
            n_rows = min(self._part_rows, X.n_rows - start)
            some = entries.of_rows(start, n_rows)
            if some.size == 0:
                continue
            self._where.append(some.where)
            weights = entries.row_weights(start, n_rows)
            of_part = None if weights is None else RowWeights(weights, 1.0, int(weights.sum()))
            targets = entries.classes(some, range(entries.Y.n_columns))
            Y = Codes(some.size, entries.Y.levels, dense=targets)
            rows = _rows_of(X, start, n_rows)
            self._parts.append(self._cluster.submit(RowsOfWorker, rows, Y, of_part, some.rows, self.classes))

    def _count_once(self, part: Part, targets: list[int], given: GivenColumn | None) -> list[Counts]:
        waiting = []
        for rows, where in zip(self._parts, self._where, strict=True):
            codes = levels = None
            if given is not None:
                codes, levels = narrow(given.codes[where], len(given.levels.cell)), given.levels
            waiting.append(self._cluster.submit(_count, rows, part, targets, codes, levels))
        while len(waiting) > 1:
            waiting = [self._cluster.submit(_total, *waiting[i : i + ADDED]) for i in range(0, len(waiting), ADDED)]
        total: list[Counts] = self._cluster.results(waiting)[0]
        return total


@dataclass(eq=False, repr=False, kw_only=True)
class DaskRows(ChunkedBackend):
    """A :class:`~labelsieve.counting.backends.protocol.Backend` whose rows are on the workers of a Dask cluster.

    Parameters
    ----------
    X, Y, fixed, weights, row_index, n_jobs, memory_limit
        As for :class:`~labelsieve.counting.backends.chunked.backend.ChunkedBackend`. Codes in a ``cache_folder``
        are read there by the workers, so it must be a folder that all of them see.
    cluster : Cluster
    part_rows : int, default=None
        Rows of a part; default: about 4 MB of codes.

    Notes
    -----
    Packed rows stay on the workers. A step sends the selected column, one byte for each row, and returns the counts. The rows
    of a worker that is lost are packed again by another one.
    """

    cluster: Cluster
    part_rows: int | None = None

    def _make_counts(self, limit: int, most: int) -> CellCounts:
        part_rows = self.part_rows or default_part_rows(self.n_features, self.n_targets)
        return DaskCounts(self.cluster, self.X, self._entries, most=most, part_rows=part_rows)


def default_part_rows(n_features: int, n_targets: int) -> int:
    """Return the number of rows whose codes are about 4 MB."""
    return max(1, PART_BYTES // (n_features + n_targets))


def _rows_of(X: Codes, start: int, n_rows: int) -> Codes | StoredCodes:
    if (stored := StoredCodes.of(X, slice(start, start + n_rows), slice(None))) is not None:
        return stored
    if X.sparse is not None:
        rows = np.zeros(X.n_rows, dtype=bool)
        rows[start : start + n_rows] = True
        return X.take_rows(rows)
    return Codes(n_rows, X.levels, dense=np.array(dense_rows(X, start, n_rows), order="F"))


def narrow(codes: NDArray[np.integer], n_levels: int) -> NDArray[Any]:
    """Return codes in as few bytes as they need."""
    return codes.astype(np.uint8 if n_levels <= 256 else np.uint16 if n_levels <= 65_536 else np.uint32)
