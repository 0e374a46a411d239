"""Sums of products of tables that do not fit into memory: whole numbers in a file, added up chunk by chunk."""

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.chunked.codes_file import OpenFile
from labelsieve.counting.sums import BLOCK, Digits, LinearSums, Part, RowSums, Wanted, WholeColumns, WholeTargets, starts_of

MOST_BYTES = 2**26  # of a chunk, whatever the limit
AHEAD = 16  # columns whose products are added up in one pass, since reading the file takes longer than they do


@dataclass(frozen=True, eq=False)
class SumRows:
    """Some rows of all features, with their targets and weights; they can be sent to another process."""

    groups: list[WholeColumns]
    targets: WholeTargets
    weights: NDArray[np.int64] | None

    def sums(self, wanted: Wanted, n_threads: int = 1) -> LinearSums:
        """Add up what is wanted over these rows."""
        return self.added(wanted, core.Threads(n_threads))

    def added(self, wanted: Wanted, threads: core.Threads) -> LinearSums:
        """Add up what is wanted over these rows, in threads that exist."""
        return RowSums(self.groups, self.targets, self.weights, threads).sums(wanted)


class _Piece(NamedTuple):
    """Where the columns of a group are in the file, for the rows of a chunk: a pickle, and the arrays that it leaves out."""

    position: int
    sizes: tuple[int, ...]


class ChunkedSums:
    """A :class:`~labelsieve.counting.sums.SumSource` whose columns are in a temporary file, where :meth:`add` puts them.

    The file takes 4 bytes for each cell, 8 for each that is listed, and every answer reads it once. A chunk takes an eighth of
    ``memory_limit``, and at most 64 MB.
    """

    ahead = AHEAD

    def __init__(
        self,
        n_features: int,
        targets: WholeTargets,
        weights: NDArray[np.int64] | None,
        *,
        memory_limit: int,
        threads: core.Threads,
        folder: Path | None = None,
    ) -> None:
        self._targets, self._weights, self._threads = targets, weights, threads
        self._n_rows, self._n_features = targets.columns.shape[0], n_features
        self._limit = min(MOST_BYTES, memory_limit // 8)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._file = OpenFile(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115  closed by OpenFile
        self._pieces: list[list[_Piece]] = []  # of every chunk
        self._bounds: list[int] = []
        self._widths: list[NDArray[np.int64]] = []
        self._n_digits = 0  # dense columns

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
        self._n_digits += sum(part.n_columns for part in group.parts if isinstance(part, Digits))
        for pieces, start, stop in zip(self._pieces, self._bounds[:-1], self._bounds[1:], strict=True):
            parts = [part.take_rows(start, stop) for part in group.parts]
            arrays: list[pickle.PickleBuffer] = []
            rest = WholeColumns(parts, group.places, group.widths)
            content: list[bytes | memoryview] = [
                pickle.dumps(rest, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
            ]
            content += [array.raw() for array in arrays]
            pieces.append(_Piece(self._file.raw.seek(0, 2), tuple(map(len, content))))
            for each in content:
                self._file.raw.write(each)

    def chunks(self) -> Iterator[SumRows]:
        """Read the rows of one chunk after the other."""
        return map(self._chunk, range(len(self._pieces)))

    def _chunk(self, number: int, memory: NDArray[np.int16] | None = None) -> SumRows:
        """Read the rows of a chunk; dense columns go to ``memory``, which is that of an earlier chunk, or to new memory."""
        start, stop = self._bounds[number : number + 2]
        digits = Digits.empty(stop - start, self._n_digits, memory)
        columns = _joined(map(self._read, self._pieces[number]), digits)
        weights = None if self._weights is None else self._weights[start:stop]
        return SumRows([columns], self._targets.take_rows(start, stop), weights)

    def _read(self, piece: _Piece) -> WholeColumns:
        self._file.raw.seek(piece.position)
        content, *arrays = (self._file.raw.read(size) for size in piece.sizes)
        columns: WholeColumns = pickle.loads(content, buffers=arrays)
        return columns

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted over all chunks."""
        total: LinearSums | None = None
        memory = Digits.empty(self._bounds[1], self._n_digits).cells  # the last chunk is the smallest one
        for number in range(len(self._pieces)):
            found = self._chunk(number, memory).added(wanted, self._threads)
            total = found if total is None else total + found
        assert total is not None
        return total


def _joined(groups: Iterable[WholeColumns], digits: Digits) -> WholeColumns:
    """Make one group of several, with all dense columns in one part: vectors then go through them together."""
    parts: list[Part] = []
    places, of_digits, widths = [], [np.empty(0, dtype=np.intp)], []
    first = n_put = 0
    for group in groups:
        for part, columns in zip(group.parts, group.places, strict=True):
            if isinstance(part, Digits):
                digits.put(n_put, part)
                n_put += part.n_columns
                of_digits.append(first + columns)
            else:
                parts.append(part)
                places.append(first + columns)
        first += group.n_columns
        widths.append(group.widths)
    if digits.n_columns:
        parts.append(digits)
        places.append(np.concatenate(of_digits))
    return WholeColumns(parts, places, np.concatenate(widths))


def _row_bounds(group: WholeColumns, n_features: int, n_rows: int, limit: int) -> list[int]:
    """Return where chunks begin and end, whole blocks of rows that take ``limit`` bytes if all groups are as this one."""
    taken = sum(array.nbytes for part in group.parts for array in vars(part).values() if isinstance(array, np.ndarray))
    of_row = max(1.0, taken / n_rows * n_features / len(group.widths))
    size = max(BLOCK, int(limit / of_row) // BLOCK * BLOCK)
    return [*range(0, n_rows, size), n_rows]
