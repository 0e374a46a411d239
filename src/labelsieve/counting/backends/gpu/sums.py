"""Columns of whole numbers in the memory of a GPU, which adds up their products: the least-squares gain on a GPU.

Columns are scaled on the host and copied once; vectors go there and sums come back at every step. Sums are exact integers, so
they are those of the core to the last bit. Sparse columns stay on the host: few of their cells are other than 0, and the core
multiplies these lists as fast as it reads them.
"""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.sums import BITS, BLOCK, WORD, Digits, LevelColumns, Part, Vectors, WholeColumns, Wide
from labelsieve.tables.types import DeviceArray

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu.kernels import CudaKernels

COPIED = 2**28  # bytes of digits that are copied to the GPU at once
LEVELS_OF_TILE = 8  # levels of a feature that a block of threads adds up, as in sums.cu


def held_columns(kernels: "CudaKernels", columns: WholeColumns, limit: int) -> WholeColumns:
    """Copy columns to the GPU as far as they take at most ``limit`` bytes: dense ones first, then those of nominal features.

    Columns that do not fit stay on the host, where the core adds them up: reading them there takes less time than copying
    them at every step.
    """
    parts: list[Part] = []
    places: list[NDArray[np.intp]] = []
    nominal: list[tuple[LevelColumns, NDArray[np.intp]]] = []
    for part, at in zip(columns.parts, columns.places, strict=True):
        if isinstance(part, LevelColumns) and part.n_columns:
            nominal.append((part, at))
            continue
        n_bytes = 4 * part.n_rows * part.n_columns
        if isinstance(part, Digits) and n_bytes <= limit:
            limit -= n_bytes
            part = DeviceNumbers.of(kernels, part)
        parts.append(part)
        places.append(at)
    if nominal and 2 * nominal[0][0].n_rows * len(nominal) <= limit:
        parts.append(DeviceLevels.of(kernels, [part for part, _ in nominal]))
        places.append(np.concatenate([at for _, at in nominal]))
    else:
        parts += [part for part, _ in nominal]
        places += [at for _, at in nominal]
    return WholeColumns(parts, places, columns.widths)


@dataclass(frozen=True, eq=False)
class DeviceNumbers:
    """Dense columns on a GPU: integers of 32 bits, ``(n_columns, n_rows)``."""

    kernels: "CudaKernels"
    cells: DeviceArray

    @classmethod
    def of(cls, kernels: "CudaKernels", digits: Digits) -> Self:
        """Copy digits to the GPU, some blocks of rows at a time, and put them together there."""
        n_columns, n_rows = digits.n_columns, digits.n_rows
        whole, step = n_rows // BLOCK * BLOCK, max(1, COPIED // (4 * BLOCK * n_columns)) * BLOCK
        with kernels.device:
            cells = kernels.xp.empty((n_columns, n_rows), dtype=np.int32)
            for start, stop in pairwise([*range(0, whole, step), whole, n_rows]):
                if start == stop:
                    continue
                size = min(BLOCK, -(-(stop - start) // 32) * 32)  # the last block is filled up to groups of 32 rows
                copied = kernels.to_device(digits.take_rows(start, stop).cells).reshape(-1, n_columns, size // 32, 2, 32)
                numbers = copied[:, :, :, 0].astype(np.int32) * 4096 + copied[:, :, :, 1]
                rows = numbers.reshape(-1, n_columns, size).transpose(1, 0, 2).reshape(n_columns, -1)
                cells[:, start:stop] = rows[:, : stop - start]
        return cls(kernels, cells)

    @property
    def n_columns(self) -> int:
        return self.cells.shape[0]

    @property
    def n_rows(self) -> int:
        return self.cells.shape[1]

    def take_rows(self, start: int, stop: int) -> Self:
        return replace(self, cells=self.cells[:, start:stop])

    def column(self, column: int) -> NDArray[np.int32]:
        with self.kernels.device:
            return self.kernels.to_host(self.cells[column])

    def add_products(self, vectors: Vectors, out: Wide, threads: core.Threads) -> None:
        with self.kernels.device:
            pieces = self.kernels.to_device(vectors.pieces)
            _add_slabs(self.kernels, self.kernels.products(self.cells, pieces), vectors.shifts, vectors.into, out)

    def add_squares(self, weights: NDArray[np.int64] | None, out: Wide, threads: core.Threads) -> None:
        with self.kernels.device:
            of_rows = None if weights is None else self.kernels.to_device(weights)
            slabs = self.kernels.squares(self.cells, of_rows)
            shifts = np.arange(slabs.shape[2], dtype=np.int32) * BITS
            _add_slabs(self.kernels, slabs, shifts, np.zeros_like(shifts), out)


@dataclass(frozen=True, eq=False)
class DeviceLevels:
    """The columns of several nominal features on a GPU: see :class:`~labelsieve.counting.sums.LevelColumns`."""

    kernels: "CudaKernels"
    levels: DeviceArray  # uint16, (n_features, n_rows)
    starts: NDArray[np.int64]  # the first column of every feature, and the end of the last
    # what a block of threads adds up: a feature, its first level, the column of that level, and the number of levels
    tiles: DeviceArray

    @classmethod
    def of(cls, kernels: "CudaKernels", features: list[LevelColumns]) -> Self:
        """Copy the levels of features to the GPU."""
        starts = list(accumulate((part.n_columns for part in features), initial=0))
        tiles = [
            (feature, 1 + first, starts[feature] + first, min(LEVELS_OF_TILE, part.n_columns - first))
            for feature, part in enumerate(features)
            for first in range(0, part.n_columns, LEVELS_OF_TILE)
        ]
        with kernels.device:
            levels = kernels.to_device(np.stack([part.levels for part in features]))
            return cls(kernels, levels, np.array(starts, dtype=np.int64), kernels.to_device(np.array(tiles, dtype=np.int64)))

    @property
    def n_columns(self) -> int:
        return int(self.starts[-1])

    @property
    def n_rows(self) -> int:
        return self.levels.shape[1]

    def take_rows(self, start: int, stop: int) -> Self:
        return replace(self, levels=self.levels[:, start:stop])

    def column(self, column: int) -> NDArray[np.int32]:
        feature = int(np.searchsorted(self.starts, column, side="right")) - 1
        with self.kernels.device:
            levels = self.kernels.to_host(self.levels[feature])
        return np.asarray(levels == column - self.starts[feature] + 1, dtype=np.int32)

    def add_products(self, vectors: Vectors, out: Wide, threads: core.Threads) -> None:
        with self.kernels.device:
            pieces = self.kernels.to_device(vectors.pieces)
            slabs = self.kernels.level_products(self.levels, self.tiles, self.n_columns, pieces)
            _add_slabs(self.kernels, slabs, vectors.shifts, vectors.into, out)

    def add_squares(self, weights: NDArray[np.int64] | None, out: Wide, threads: core.Threads) -> None:
        """Add squares, which are the numbers themselves."""
        self.add_products(Vectors.of(np.ones((1, self.n_rows), dtype=np.int32), weights), out, threads)


def _add_slabs(
    kernels: "CudaKernels", slabs: DeviceArray, shifts: NDArray[np.int32], into: NDArray[np.int32], out: Wide
) -> None:
    """Add sums of slabs of rows, ``(n_slabs, n_columns, n_pieces)``, each piece times a power of two, to wide numbers."""
    halves = kernels.xp.stack([(slabs[...] >> 32).sum(axis=0), (slabs[...] & WORD).sum(axis=0)])
    high, low = kernels.to_host(halves)
    for piece, (shift, number) in enumerate(zip(shifts.tolist(), into.tolist(), strict=True)):
        added = out[:, number] + (Wide(high[:, piece] + (low[:, piece] >> 32), low[:, piece] & WORD) << shift)
        out.high[:, number], out.low[:, number] = added.high, added.low
