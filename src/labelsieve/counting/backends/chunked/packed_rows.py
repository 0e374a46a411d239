"""Features packed for counting in chunks of rows, in memory or in a temporary file.

A feature with ``r`` levels is ``r - 1`` one-hot columns; the level that is left out follows from the others. Columns of
features with few levels are bits, 512 of them to a block of a row. Others are rarely set, and every row lists them.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.chunked.codes_file import OpenFile, dense_rows
from labelsieve.tables.codes import Codes

BLOCK = 512  # one-hot columns of a block, as in the core
WORDS = BLOCK // 64
ALIGNMENT = 64  # of blocks, in bytes
FEW_LEVELS = 33  # of features that are stored as bits
CHUNK_ROWS = 2**16  # four megabytes of a block: what a cache holds


class Part(NamedTuple):
    """Some of the one-hot columns, whole blocks or all that are listed, and the features that they belong to."""

    blocks: slice
    listed: bool
    features: NDArray[np.intp]
    first: NDArray[np.int64]
    """The first column of each of the features, within the part."""
    n_columns: int


class Chunk(NamedTuple):
    """Some packed rows: bits in blocks of ``n_rows + 1`` rows, and the columns that every row lists."""

    start: int
    n_rows: int
    words: NDArray[np.uint64]
    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the one-hot columns of every feature are; no feature is in two blocks."""

    first: NDArray[np.int64]  # column of each feature: a bit, or a number among the listed columns
    is_packed: NDArray[np.bool_]  # features that are bits
    levels: NDArray[np.uint32]
    n_blocks: int
    n_listed: int

    @classmethod
    def of(cls, X: Codes) -> "Layout":
        """Lay out the columns of ``X``: bits for dense features with few levels, lists for the others."""
        is_packed = (X.levels <= FEW_LEVELS) & (X.dense is not None)
        first, n_bits, n_listed = np.empty(X.n_columns, dtype=np.int64), 0, 0
        for j, (levels, packed) in enumerate(zip(X.levels.tolist(), is_packed.tolist(), strict=True)):
            if packed:
                if n_bits // BLOCK != max(n_bits, n_bits + levels - 2) // BLOCK:
                    n_bits = -(-n_bits // BLOCK) * BLOCK
                first[j] = n_bits
                n_bits += levels - 1
            else:
                first[j] = n_listed
                n_listed += levels - 1
        return cls(first, is_packed, X.levels, -(-n_bits // BLOCK), n_listed)

    def parts(self, *, by_block: bool = False) -> list[Part]:
        """Return all columns in up to two parts, bits and lists; or every block of bits by itself."""
        parts = []
        for start in range(0, self.n_blocks, 1 if by_block else max(1, self.n_blocks)):
            stop = start + 1 if by_block else self.n_blocks
            low, high = start * BLOCK, stop * BLOCK
            features = np.flatnonzero(self.is_packed & (self.first >= low) & (self.first < high))
            parts.append(Part(slice(start, stop), False, features, self.first[features] - low, high - low))
        listed = np.flatnonzero(~self.is_packed | (self.first >= self.n_blocks * BLOCK))
        if len(listed):
            first = np.where(self.is_packed[listed], self.n_listed, self.first[listed])  # packed here: of one level, no column
            parts.append(Part(slice(0), True, listed, first, self.n_listed))
        return parts


class PackedRows:
    """The rows of ``X`` in chunks, packed once; counts never depend on the number of rows in a chunk.

    More than ``in_memory`` bytes are written to a temporary file in ``folder`` and mapped, one chunk at a time. The file has no
    name, so nothing of it stays when the process ends, whatever ends it.
    """

    def __init__(
        self, X: Codes, *, chunk_rows: int = CHUNK_ROWS, in_memory: int = 2**30, folder: Path | str | None = None
    ) -> None:
        self.layout, self.n_rows = Layout.of(X), X.n_rows
        self._bounds = [(start, min(chunk_rows, X.n_rows - start)) for start in range(0, X.n_rows, chunk_rows)]
        n_listed = X.sparse.starts[-1] if X.sparse is not None else (~self.layout.is_packed).sum() * X.n_rows
        self.bytes = int(8 * WORDS * self.layout.n_blocks * X.n_rows + 4 * n_listed + 8 * X.n_rows * bool(self.layout.n_listed))
        self._kept: list[Chunk] = []
        self._file: IO[bytes] | None = None
        self._end = 0  # of what the file has
        self._offsets: list[list[tuple[int, tuple[int, ...], np.dtype[Any]]]] = []
        if self.bytes > in_memory:
            self._open = OpenFile(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115  it lives as long as the object
            self._file = self._open.raw
        for start, n_rows in self._bounds:
            self._keep(pack(X, self.layout, start, n_rows))

    def chunks(self) -> Iterator[Chunk]:
        """Yield all chunks, one after the other; a mapped one is valid until the next."""
        if self._file is None:
            yield from self._kept
            return
        for (start, n_rows), places in zip(self._bounds, self._offsets, strict=True):
            yield Chunk(start, n_rows, *(self._mapped(*place) for place in places))

    def _keep(self, chunk: Chunk) -> None:
        if self._file is None:
            self._kept.append(chunk)
            return
        places: list[tuple[int, tuple[int, ...], np.dtype[Any]]] = []
        for array in (chunk.words, chunk.starts, chunk.columns):
            padding = -self._end % ALIGNMENT
            places.append((self._end + padding, array.shape, array.dtype))
            self._file.write(b"\0" * padding + array.tobytes())
            self._end += padding + array.nbytes
        self._file.flush()
        self._offsets.append(places)

    def _mapped(self, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        if 0 in shape:
            return np.empty(shape, dtype=dtype)
        assert self._file is not None
        return np.memmap(self._file, dtype=dtype, mode="r", offset=offset, shape=shape)


def aligned_zeros(n_words: int) -> NDArray[np.uint64]:
    """Return zeros on a boundary of a cache line, as the core reads them."""
    memory = np.zeros(n_words + ALIGNMENT // 8, dtype=np.uint64)
    skip = -memory.ctypes.data % ALIGNMENT // 8
    return memory[skip : skip + n_words]


def pack(X: Codes, layout: Layout, start: int, n_rows: int) -> Chunk:
    """Pack some rows of a table."""
    words = aligned_zeros(layout.n_blocks * (n_rows + 1) * WORDS)
    rows_of_chunk = None if X.dense is None else dense_rows(X, start, n_rows)
    if layout.n_blocks:
        assert rows_of_chunk is not None
        core.pack_rows(rows_of_chunk, X.levels, np.where(layout.is_packed, layout.first, -1), words)
    if not layout.n_listed:
        return Chunk(start, n_rows, words, np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint32))
    if rows_of_chunk is not None:
        rows, columns = _listed_dense(rows_of_chunk, layout)
    else:
        rows, columns = _listed_sparse(X, layout, start, n_rows)
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int64)
    return Chunk(start, n_rows, words, starts, columns[order])


def _listed_dense(chunk: NDArray[Any], layout: Layout) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """Return the rows and columns of the one-hot columns that are set, of dense features with many levels."""
    rows, columns = [], []
    for j in np.flatnonzero(~layout.is_packed).tolist():
        codes = chunk[:, j]
        where = np.flatnonzero(codes)
        rows.append(where)
        columns.append((layout.first[j] + codes[where].astype(np.int64) - 1).astype(np.uint32))
    return np.concatenate(rows), np.concatenate(columns)


def _listed_sparse(X: Codes, layout: Layout, start: int, n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """Return the rows and columns that are set, of a sparse table.

    The code of the rows that a column does not list is exchanged with 0, so that these rows are not listed here either.
    """
    sparse = X.sparse
    assert sparse is not None
    rows, columns = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.uint32)]
    for j in range(X.n_columns):
        of_column = sparse.rows[sparse.starts[j] : sparse.starts[j + 1]]
        low, high = np.searchsorted(of_column, (start, start + n_rows))
        codes = sparse.codes[sparse.starts[j] + low : sparse.starts[j] + high].astype(np.int64)
        other = codes != sparse.implicit[j]
        codes = np.where(codes == 0, sparse.implicit[j], codes)[other]
        rows.append(of_column[low:high][other].astype(np.intp) - start)
        columns.append((layout.first[j] + codes - 1).astype(np.uint32))
    return np.concatenate(rows), np.concatenate(columns)
