"""Sums of products of tables that do not fit into memory: whole numbers in a file, added up chunk by chunk."""

import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.chunked.codes_file import OpenFile
from labelsieve.counting.sums import BLOCK, LinearSums, RowSums, Wanted, WholeColumns, WholeTargets, starts_of

MOST_BYTES = 2**26  # of a chunk, whatever the limit
AHEAD = 16  # columns whose products are added up in one pass, since reading the file takes longer than they do


@dataclass(frozen=True, eq=False)
class SumRows:
    """Some rows of all features, with their targets and weights; they can be sent to another process."""

    groups: list[WholeColumns]
    targets: WholeTargets
    weights: NDArray[np.int64] | None
    per_feature: int

    def sums(self, wanted: Wanted, n_threads: int = 1) -> LinearSums:
        """Add up what is wanted over these rows."""
        return self.added(wanted, core.Threads(n_threads))

    def added(self, wanted: Wanted, threads: core.Threads) -> LinearSums:
        """Add up what is wanted over these rows, in threads that exist."""
        return RowSums(self.groups, self.targets, self.weights, threads, per_feature=self.per_feature).sums(wanted)


class _Piece(NamedTuple):
    """Where the columns of a group are in the file, for the rows of a chunk."""

    position: int
    size: int


class ChunkedSums:
    """A :class:`~labelsieve.counting.sums.SumSource` whose columns are in a temporary file, where :meth:`add` puts them.

    The file takes 4 bytes for each cell, 8 for each that is listed, and every answer reads it once. A chunk takes an eighth of
    ``memory_limit``, and at most 64 MB. A numeric feature has ``per_feature`` columns.
    """

    ahead = AHEAD

    def __init__(
        self,
        n_features: int,
        targets: WholeTargets,
        weights: NDArray[np.int64] | None,
        *,
        per_feature: int,
        memory_limit: int,
        threads: core.Threads,
        folder: Path | None = None,
    ) -> None:
        self._targets, self._weights, self._per_feature, self._threads = targets, weights, per_feature, threads
        self._n_rows, self._n_features = targets.columns.shape[0], n_features
        self._limit = min(MOST_BYTES, memory_limit // 8)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._file = OpenFile(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115  closed by OpenFile
        self._pieces: list[list[_Piece]] = []  # of every chunk
        self._bounds: list[int] = []
        self._widths: list[NDArray[np.int64]] = []

    @property
    def starts(self) -> NDArray[np.int64]:
        return starts_of(np.concatenate(self._widths))

    @property
    def n_added(self) -> int:
        """Number of features that were added."""
        return sum(map(len, self._widths))

    def add(self, group: WholeColumns) -> None:
        """Store the next features, each with all rows."""
        if not self._bounds:
            self._bounds = _row_bounds(group, self._n_features, self._n_rows, self._limit)
            self._pieces = [[] for _ in self._bounds[1:]]
        self._widths.append(group.widths)
        for pieces, start, stop in zip(self._pieces, self._bounds[:-1], self._bounds[1:], strict=True):
            parts = [part.take_rows(start, stop) for part in group.parts]
            content = pickle.dumps(WholeColumns(parts, group.places, group.widths), protocol=pickle.HIGHEST_PROTOCOL)
            pieces.append(_Piece(self._file.raw.seek(0, 2), len(content)))
            self._file.raw.write(content)

    def chunks(self) -> Iterator[SumRows]:
        """Read the rows of one chunk after the other."""
        for pieces, start, stop in zip(self._pieces, self._bounds[:-1], self._bounds[1:], strict=True):
            groups = []
            for position, size in pieces:
                self._file.raw.seek(position)
                groups.append(pickle.loads(self._file.raw.read(size)))
            weights = None if self._weights is None else self._weights[start:stop]
            yield SumRows(groups, self._targets.take_rows(start, stop), weights, self._per_feature)

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted over all chunks."""
        total: LinearSums | None = None
        for rows in self.chunks():
            found = rows.added(wanted, self._threads)
            total = found if total is None else total + found
        assert total is not None
        return total


def _row_bounds(group: WholeColumns, n_features: int, n_rows: int, limit: int) -> list[int]:
    """Return where chunks begin and end, whole blocks of rows that take ``limit`` bytes if all groups are as this one."""
    taken = sum(array.nbytes for part in group.parts for array in vars(part).values() if isinstance(array, np.ndarray))
    of_row = max(1.0, taken / n_rows * n_features / len(group.widths))
    size = max(BLOCK, int(limit / of_row) // BLOCK * BLOCK)
    return [*range(0, n_rows, size), n_rows]
