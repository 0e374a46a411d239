"""Codes are copied to a GPU piece by piece, into blocks of packed columns."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu.device import (
    BLOCK,
    STAGE,
    STAGING_THREADS,
    WORDS,
    from_fragments,
    n_stages,
    pack_plain,
    to_fragments,
    unpack_codes,
)
from labelsieve.tables.codes import Codes, SparseCodes
from labelsieve.tables.types import DeviceArray

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu.kernels import CudaKernels

WIDEST = 2**32  # codes of a stage that are copied at once, however many columns they have
PIECE = 2**28  # codes that are copied at once, and bytes of their bits before packing


class Block(Protocol):
    """Columns of a table that are stored together."""

    columns: NDArray[np.intp]

    def write(self, first: int, codes: DeviceArray, first_row: int) -> None:
        """Store codes of shape (columns, rows) from this column (a multiple of 64) and row (of 1,024) of the block on."""


class BitBlock:
    """Features with the same number of levels, packed as fragments; constant ones count as having two levels.

    They are stored on the GPU or, with ``part_bytes``, in the memory of the host, in parts of as many bytes, each some stages
    of the rows, which are copied to the GPU whenever they are counted.
    """

    def __init__(
        self, kernels: "CudaKernels", columns: NDArray[np.intp], n_levels: int, n_rows: int, part_bytes: int | None = None
    ) -> None:
        self.columns, self.n_levels, self._n_rows, self._kernels = columns, n_levels, n_rows, kernels
        xp = self._xp = kernels.xp
        self.is_resident = part_bytes is None
        n_blocks, stages, size = self.shape = BitBlock.shape_of(len(columns), n_levels, n_rows)
        step = max(1, stages if part_bytes is None else min(stages, part_bytes // (4 * n_blocks * size)))
        self.stages = [slice(start, min(start + step, stages)) for start in range(0, stages, step)]
        """The stages of the rows that each part has."""
        if self.is_resident:
            self.parts = [xp.zeros(self.shape, dtype=xp.uint32)]
        else:
            shapes = [(n_blocks, part.stop - part.start, size) for part in self.stages]
            self.parts = [kernels.host_array(shape, np.uint32) for shape in shapes]
            for part in self.parts:
                part[...] = 0
        self.index = xp.asarray(columns, dtype=xp.int64)

    @staticmethod
    def shape_of(n_columns: int, n_levels: int, n_rows: int) -> tuple[int, int, int]:
        """Return the shape of the packed bits; columns fill tiles of 256."""
        return -(-n_columns * (n_levels - 1) // 256) * 4, n_stages(n_rows), 2 * STAGE

    @staticmethod
    def bytes_of(n_columns: int, n_levels: int, n_rows: int) -> int:
        """Return the bytes of the packed bits."""
        return 4 * math.prod(BitBlock.shape_of(n_columns, n_levels, n_rows))

    def plain_columns(self, place: int) -> NDArray[np.uint32]:
        """Return the columns of a feature of a block in the memory of the host: ``[level - 1][stage][word]``."""
        columns = [divmod(place * (self.n_levels - 1) + level, BLOCK) for level in range(self.n_levels - 1)]
        with ThreadPoolExecutor(STAGING_THREADS) as pool:  # most of the time goes into waiting for memory
            found = [pool.map(_plain_column, [part[block] for part in self.parts], repeat(x)) for block, x in columns]
            return np.stack([np.concatenate(list(stages)) for stages in found])

    @property
    def bytes(self) -> int:
        return sum(int(part.nbytes) for part in self.parts)

    def write(self, first: int, codes: DeviceArray, first_row: int) -> None:
        xp, width = self._xp, self.n_levels - 1
        step = max(1, PIECE // (width * codes.shape[1]) // BLOCK) * BLOCK
        for start in range(0, len(codes), step):
            packed = to_fragments(xp, pack_plain(xp, codes[start : start + step], self.n_levels))
            block, stage = (first + start) * width // BLOCK, first_row // STAGE
            packed = packed if self.is_resident else self._kernels.to_host(packed)
            for part, stages in zip(self.parts, self.stages, strict=True):
                begin, end = max(stage, stages.start), min(stage + packed.shape[1], stages.stop)
                if begin < end:
                    within = slice(begin - stages.start, end - stages.start)
                    part[block : block + len(packed), within] = packed[:, begin - stage : end - stage]

    def codes(self) -> Iterator[tuple[slice, Any]]:
        """Yield some features at a time: which they are, and their codes."""
        xp, width = self._xp, self.n_levels - 1
        step = max(1, PIECE // (2 * width * self._n_rows) // BLOCK) * BLOCK
        for start in range(0, len(self.columns), step):
            some = slice(start, min(start + step, len(self.columns)))
            n_columns = (some.stop - start) * width
            blocks = slice(start * width // BLOCK, -(-(start * width + n_columns) // BLOCK))
            plain = from_fragments(xp, xp.concatenate([xp.asarray(part[blocks]) for part in self.parts], axis=1))
            yield some, unpack_codes(xp, plain[:n_columns], self.n_levels, self._n_rows)


def _plain_column(stages: NDArray[np.uint32], x: int) -> NDArray[np.uint32]:
    """Return column ``x`` of some stages of a block of 64 columns: ``[stage][word]``."""
    words = stages.reshape(-1, 4, 4, 8, 4, 2, 2)[:, x // 16, :, x % 16 // 2, :, :, x % 2]  # [stage][k][t][h]
    return words.transpose(0, 1, 3, 2).reshape(-1, WORDS)


class RowParts:
    """The bits of a block that the GPU reads part by part, one copied while another is used."""

    def __init__(self, kernels: "CudaKernels", block: BitBlock) -> None:
        self._kernels, self._block = kernels, block

    def __len__(self) -> int:
        return self._block.shape[0]

    def on_device(self) -> Iterator[tuple[slice, Any]]:
        """Yield the stages of each part, and their bits on the GPU."""
        yield from zip(self._block.stages, self._kernels.streamed(self._block.parts), strict=True)


class CodeBlock:
    """Columns of many levels, or of weighted rows, as codes of 16 bits."""

    def __init__(self, kernels: "CudaKernels", columns: NDArray[np.intp], levels: NDArray[np.integer], n_rows: int) -> None:
        self.columns, self.levels = columns, levels
        xp = kernels.xp
        self.codes = xp.empty((len(columns), n_rows), dtype=xp.uint16)
        self.index = xp.asarray(columns, dtype=xp.int64)

    def write(self, first: int, codes: DeviceArray, first_row: int) -> None:
        self.codes[first : first + len(codes), first_row : first_row + codes.shape[1]] = codes


class PlainBlock:
    """Targets with the same number of levels: their plain columns, in a table that has those of all targets."""

    def __init__(
        self, xp: ModuleType, plain: DeviceArray, columns: NDArray[np.intp], n_levels: int, starts: NDArray[np.integer]
    ) -> None:
        self.columns, self.n_levels, self._xp, self._plain = columns, n_levels, xp, plain
        self._rows = (starts[columns][:, np.newaxis] + np.arange(n_levels - 1)).ravel()

    def write(self, first: int, codes: DeviceArray, first_row: int) -> None:
        width, stage = self.n_levels - 1, first_row // STAGE
        packed = pack_plain(self._xp, codes, self.n_levels)
        rows = self._xp.asarray(self._rows[first * width : (first + len(codes)) * width])
        self._plain[rows, stage : stage + packed.shape[1]] = packed


def place_of(column: int, columns: NDArray[np.intp]) -> int | None:
    """Return the place of a column among sorted ones; None if it is not there.

    >>> place_of(7, np.array([2, 7])), place_of(3, np.array([2, 7]))
    (1, None)
    """
    place = int(np.searchsorted(columns, column))
    return place if place < len(columns) and columns[place] == column else None


def fill(kernels: "CudaKernels", table: Codes, row_index: NDArray[np.uint32] | None, blocks: Sequence[Block]) -> None:
    """Copy the codes of a table into blocks of its columns."""
    xp = kernels.xp
    n_rows = table.n_rows if row_index is None else len(row_index)
    widest = min(WIDEST, kernels.free_bytes() // 8)
    if table.dense is not None and table.dense.flags.c_contiguous and table.n_columns * STAGE <= widest:
        step = max(1, PIECE // table.n_columns // STAGE) * STAGE
        for start in range(0, n_rows, step):  # whole rows are contiguous: the GPU sorts out the columns
            rows = table.dense[start : start + step] if row_index is None else table.dense[row_index[start : start + step]]
            codes = kernels.to_device(rows)
            for block in blocks:
                whole = len(block.columns) == table.n_columns
                taken = codes if whole else codes[:, xp.asarray(block.columns)]
                block.write(0, xp.ascontiguousarray(taken.T), start)
        return
    height = max(STAGE, PIECE // BLOCK // STAGE * STAGE)
    width = max(1, PIECE // min(n_rows, height) // BLOCK) * BLOCK
    for block in blocks:
        for first in range(0, len(block.columns), width):
            columns = block.columns[first : first + width]
            for start in range(0, n_rows, height):
                part = slice(start, min(start + height, n_rows))
                block.write(first, _piece(kernels, table, columns, part, row_index), start)


def _piece(
    kernels: "CudaKernels", table: Codes, columns: NDArray[np.intp], rows: slice, row_index: NDArray[np.uint32] | None
) -> Any:
    """Return codes of shape (columns, rows) on the GPU."""
    if table.dense is not None:
        contiguous = len(columns) == columns[-1] - columns[0] + 1
        taken = table.dense[:, columns[0] : columns[-1] + 1] if contiguous else table.dense[:, columns]
        return kernels.to_device((taken[rows] if row_index is None else taken[row_index[rows]]).T)
    assert table.sparse is not None
    xp = kernels.xp
    codes = _from_sparse(xp, table.sparse, columns, table.n_rows)
    return codes[:, rows] if row_index is None else codes[:, xp.asarray(row_index[rows])]


def _from_sparse(xp: ModuleType, sparse: SparseCodes, columns: NDArray[np.intp], n_rows: int) -> Any:
    starts, counts = sparse.starts[columns], sparse.starts[columns + 1] - sparse.starts[columns]
    before = np.cumsum(counts) - counts  # entries of the columns to the left
    listed = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    codes = xp.empty((len(columns), n_rows), dtype=xp.uint16)
    codes[...] = xp.asarray(sparse.implicit[columns])[:, None]
    places = xp.asarray(np.repeat(np.arange(len(columns)), counts)), xp.asarray(sparse.rows[listed])
    codes[places] = xp.asarray(sparse.codes[listed])
    return codes
