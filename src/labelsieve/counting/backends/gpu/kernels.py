"""The CUDA kernels: what they read, where they write, and how they are launched."""

from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu.device import (
    KERNELS,
    MMA_SHARED,
    MMA_THREADS,
    TENSOR_SHARED,
    WORDS,
    CardMemory,
    compiled_kernel,
    count_type,
    mma_kernels,
    portable_kernel,
    to_swizzled,
    wgmma_kernels,
)
from labelsieve.tables.types import DeviceArray


class NLogN(NamedTuple):
    """Values of n log n on the GPU: of every count, or, for sums of weights, the numbers that they are computed from."""

    values: Any  # None for sums of weights
    logs: DeviceArray | None
    scale: float
    penalty: int


class Margins(NamedTuple):
    """Counts of features by the columns of a group of targets, without a condition."""

    rows: DeviceArray
    """``[column of the targets][column of the features]``"""
    every: DeviceArray
    """Of the column that is 1 in every row."""
    n_columns: int
    """With the one that is 1 in every row."""


class Counted(NamedTuple):
    """Counts of the features of a block from which the cells of their tables follow."""

    feature_levels: int
    given_levels: int
    counts: DeviceArray | None
    """``[level of the condition - 1][column of the targets][column of the features]``; None for one level."""
    margins: Margins
    given: DeviceArray | None
    """``[level of the condition - 1][column of the targets]``"""


@dataclass
class Output:
    """Sums on the GPU, and factors of what is added; ``wide`` is the length of a row of triples, 0 if targets are added up."""

    pairs: DeviceArray | None
    triples: DeviceArray | None
    wide: int
    pair_factor: int = 1
    triple_factor: int = 1


@dataclass
class TargetGroup:
    """Targets whose columns fit into one block of counts."""

    n_targets: int
    columns: slice
    """Which of all columns these are."""
    plain: DeviceArray
    """``[column][stage][word]``; the last column is 1 in every row."""
    totals: DeviceArray
    starts: DeviceArray
    """The first column of each target, and of what follows."""
    places: DeviceArray
    """Of the targets in a row of sums."""
    _swizzled: DeviceArray | None = field(default=None, repr=False)
    _whole: "tuple[TargetGroup, slice] | None" = field(default=None, repr=False)

    @property
    def n_columns(self) -> int:
        return len(self.plain)

    def swizzled(self, xp: ModuleType) -> DeviceArray:
        """Return the columns in the order in which the tensor cores read them."""
        if self._swizzled is None:
            whole = self._whole
            self._swizzled = to_swizzled(xp, self.plain) if whole is None else whole[0].swizzled(xp)[whole[1]]
        return self._swizzled

    def rows(self, xp: ModuleType, stages: slice) -> "TargetGroup":
        """Return the group in some stages of the rows; totals are those of all rows."""
        return replace(self, plain=xp.ascontiguousarray(self.plain[:, stages]), _swizzled=None, _whole=(self, stages))


class GivenRows(NamedTuple):
    """The columns of a condition in some stages of the rows, in both forms."""

    plain: DeviceArray | None
    fragments: DeviceArray


SHARED_BYTES = 48 * 1024  # of a block, without asking for more
FEWEST_TENSOR_COLUMNS = 4  # of the targets; with fewer, reading the features takes longer than counting
NARROW_COLUMNS = 2048  # of features for each processor, from which on tiles need not be shared
SCRATCH_BYTES = 2**30
SUM_THREADS, SUM_COLUMNS, SUM_VECTORS = 256, 8, 4  # of a block that adds up products, as in sums.cu
MOST_SLAB = 2**16  # rows, of whose products 64 bits hold the sum
FEWEST_SLAB, SUM_BLOCKS = 2**11, 8  # rows, and blocks of threads for each processor, that keep it busy
KNOWN_LEVELS = 6  # of a condition: kernels for up to so many are compiled for the number


class CudaKernels(CardMemory):
    """The kernels on one GPU, and what the backend needs to know about it.

    ``instruction`` is what counts: the one-bit tensor cores as GPUs of compute capability 9.0 have them (``"wgmma"``), as those
    from 8.0 to 9.0 do (``"mma"``), or AND and population count (``"popcount"``), which every GPU has; by default the first of
    these that the GPU has. Later GPUs only emulate them.
    """

    def __init__(self, device: int | None = None, *, instruction: str | None = None) -> None:
        super().__init__(device)
        self._of_blocks: tuple[Any, Any, Any] | None = None
        self._n_processors = self.device.attributes["MultiProcessorCount"]
        capability = int(self.device.compute_capability)
        best = "wgmma" if capability == 90 else "mma" if 80 <= capability < 100 else "popcount"
        self._instruction = best if instruction is None else instruction
        self.has_tensor = self._instruction != "popcount"

    def _launch(self, kernel: Any, grid: tuple[int, ...], threads: int, *arguments: Any, shared: int = 0) -> None:
        kernel(grid, (threads,), [0 if argument is None else argument for argument in arguments], shared_mem=shared)

    def condition(
        self,
        features: DeviceArray | None,
        place: int | DeviceArray,
        levels: int,
        plain: DeviceArray,
        fragments: DeviceArray,
        known: tuple[Margins, DeviceArray] | None,
    ) -> None:
        """Write the columns of a condition in both forms, from packed features or from ``plain``.

        ``place``: of its feature, a number, or an array of one on the GPU. ``known``: margins of its feature, and the counts
        with the targets, which are set.
        """
        margins, given = (None, None) if known is None else known
        padded, stages, _ = fragments.shape
        rows, every, n_columns = (None, None, 0) if margins is None else margins
        pitch = 0 if margins is None else _pitch(margins.rows)
        n_blocks = min(4 * self._n_processors, -(-padded * stages * WORDS // 256))
        column, chosen = (place * levels, None) if isinstance(place, int) else (0, place)
        arguments = features, column, chosen, stages, levels, padded, plain, fragments, rows, every, pitch, n_columns, given
        kernel = portable_kernel("condition", "-DCONDITION", _stored(every))
        self._launch(kernel, (n_blocks,), 256, *arguments)

    def cross(self, first: DeviceArray | None, second: DeviceArray, out: DeviceArray) -> None:
        """Count the rows that two sets of plain columns have in common, or, without the first, those of the second alone."""
        n_first, (n_second, stages, _) = 1 if first is None else len(first), second.shape
        n_blocks = -(-n_first * n_second // 8)
        arguments = first, second, stages * WORDS, n_first, n_second, out
        self._launch(portable_kernel("cross", "-DCONDITION", _stored(None)), (n_blocks,), 256, *arguments)

    def count(self, bits: DeviceArray, given: Any, levels: int, group: TargetGroup, counts: DeviceArray) -> None:
        """Count features by columns of targets and of a condition, which has plain columns and fragments."""
        if self.has_tensor and group.n_columns >= FEWEST_TENSOR_COLUMNS:
            self._count_tensor(bits, given.fragments, levels, group, counts)
        else:
            self._count_bits(bits, given.plain, levels, group, counts)

    def _count_bits(
        self, bits: DeviceArray, plain: DeviceArray | None, levels: int, group: TargetGroup, counts: DeviceArray
    ) -> None:
        n_blocks, stages, _ = bits.shape
        n_masks = levels * group.n_columns
        masks = next(size for size in (1, 2, 4, 8, 16) if size >= min(n_masks, 16))
        wide = -(-n_masks // masks)
        shares = max(1, min(-(-8 * self._n_processors // (n_blocks * wide)), stages // 16))
        shares = 1 if counts.itemsize == 2 else shares
        if shares > 1:
            counts[:, : group.n_columns] = 0
        share = -(-stages // shares // 4) * 4
        grid = n_blocks, wide, -(-stages // share)
        arguments = bits, plain, group.plain, counts, stages, share, _pitch(counts[0]), levels, group.n_columns
        self._launch(portable_kernel("popcount", f"-DMASKS={masks}", _stored(counts)), grid, 128, *arguments)

    def _count_tensor(
        self, bits: DeviceArray, fragments: DeviceArray, levels: int, group: TargetGroup, counts: DeviceArray
    ) -> None:
        n_blocks, stages, _ = bits.shape
        pitch = _pitch(counts[0])
        for first in range(0, levels, 4):
            width = min(4, levels - first)
            width += width == 3
            tiles, part = n_blocks * width // 4, counts[first:]
            masks = fragments.reshape(-1)[first * stages * WORDS :]
            blocks = self._n_processors
            narrow = counts.itemsize == 2
            threads, shared = (384, TENSOR_SHARED) if self._instruction == "wgmma" else (MMA_THREADS, MMA_SHARED)
            if self._instruction == "wgmma":
                clear, count = wgmma_kernels(width, narrow, self.device.id)
            else:
                clear, count = mma_kernels(width, narrow)
            if not narrow:
                self._launch(clear, (8 * blocks,), 256, part, stages, tiles, pitch, group.n_columns, blocks)
            arguments = bits, group.swizzled(self.xp), masks, part, stages, tiles, pitch, group.n_columns
            self._launch(count, (blocks,), threads, *arguments, shared=shared)

    def sums(self, counted: Counted, group: TargetGroup, table: NLogN, index: DeviceArray, out: Output) -> None:
        """Add the sums of n log n over the cells of counts to ``out``."""
        n_features, n_targets = len(index), group.n_targets
        given_levels = counted.given_levels if counted.given_levels <= KNOWN_LEVELS else 0
        stored, in_block = _stored(counted.margins.every), self._has_table_in_block(counted, table)
        levels = f"-DFEATURE_LEVELS={counted.feature_levels}", f"-DGIVEN_LEVELS={given_levels}"
        kernel = portable_kernel("sums", *levels, f"-DTABLE_IN_BLOCK={int(in_block)}", stored)
        n_warps, n_rows = -(-n_features // 32), len(table.values) - 1
        per = max(1, min(n_targets, n_targets * n_warps // 8192))
        items = n_warps * max(1, -(-n_targets // per))
        counts = counted.counts
        arguments = (
            *(counts, 0 if counts is None else _pitch(counts[0]), counted.margins.rows, _pitch(counted.margins.rows)),
            *(counted.margins.every, counted.given, group.totals, group.starts, group.places, index, table.values),
            *(n_rows, counted.given_levels, n_features, n_targets, per),
            *(out.pairs, out.pair_factor, out.triples, out.triple_factor, out.wide),
        )
        if in_block:
            kernel.max_dynamic_shared_size_bytes = TENSOR_SHARED
            self._launch(kernel, (self._n_processors,), 1024, *arguments, shared=8 * (n_rows + 1))
        else:
            self._launch(kernel, (-(-items // 8),), 256, *arguments)

    def _has_table_in_block(self, counted: Counted, table: NLogN) -> bool:
        """True for few rows and so many features that copying the table to every processor pays."""
        return counted.margins.every.itemsize == 2 and counted.feature_levels == 2 and table.values.nbytes <= TENSOR_SHARED

    def stores_narrow(self, n_rows: int, n_columns: int, n_targets: int) -> bool:
        """True for counts of 16 bits: blocks take whole tiles of features, of which there must be enough."""
        enough = n_targets >= FEWEST_TENSOR_COLUMNS and n_columns >= NARROW_COLUMNS * self._n_processors
        return self.has_tensor and n_rows < 2**16 and enough

    def best(self, scores: DeviceArray, is_taken: DeviceArray, chosen: DeviceArray, value: DeviceArray) -> None:
        """Find the first of the largest scores that are not taken; write its place and its score, and take it."""
        xp, n_blocks = self.xp, min(4 * self._n_processors, -(-scores.size // 1024))
        if self._of_blocks is None:
            n_most = 4 * self._n_processors
            self._of_blocks = xp.empty(n_most), xp.empty(n_most, dtype=xp.int64), xp.zeros(1, dtype=xp.uint32)
        arguments = scores, is_taken, scores.size, *self._of_blocks, chosen, value
        self._launch(portable_kernel("best", "-DBEST"), (n_blocks,), 256, *arguments)

    def histograms(
        self,
        x: tuple[DeviceArray, NDArray[np.integer]],
        z: tuple[DeviceArray, int] | None,
        y: tuple[DeviceArray, NDArray[np.integer], DeviceArray] | None,
        weights: DeviceArray | None,
        table: NLogN,
        index: DeviceArray,
        out: tuple[DeviceArray, int, int],
    ) -> None:
        """Add the sums over the cells of whole tables of codes: one block of threads for a feature and a target.

        ``x``: codes and levels of features; ``z``: of a condition; ``y``: of targets, with their places in a row of sums;
        ``out``: sums, a factor, and the length of a row, or 0 to add up the targets.
        """
        xp = self.xp
        (codes, x_levels), (z_codes, z_levels) = x, (None, 1) if z is None else z
        y_codes, y_levels, places = (None, np.ones(1, dtype=np.int64), None) if y is None else y
        n_features, n_rows, n_targets = len(codes), codes.shape[1], len(y_levels)
        size = 4 if weights is None else 8
        cells = int(x_levels.max()) * z_levels * int(y_levels.max())
        n_blocks, capacity, scratch = min(n_features * n_targets, 8 * self._n_processors), SHARED_BYTES // size - 16, None
        if cells > capacity:
            n_blocks = min(n_blocks, max(1, SCRATCH_BYTES // (cells * size)))
            capacity, scratch = cells, xp.empty(n_blocks * cells, dtype=xp.uint32 if weights is None else xp.uint64)
        logs, scale, penalty = (None, 0.0, 0) if weights is None else (table.logs, table.scale, table.penalty)
        sums, factor, wide = out
        arguments = (
            *(codes, xp.asarray(x_levels, dtype=xp.int32), z_codes, z_levels, y_codes, xp.asarray(y_levels, dtype=xp.int32)),
            *(weights, n_rows, n_features, n_targets, index, places, table.values, logs, np.float64(scale), penalty),
            *(scratch, capacity, sums, factor, wide),
        )
        kernel = portable_kernel("histogram", f"-DWEIGHTED={int(weights is not None)}")
        self._launch(kernel, (n_blocks,), 256, *arguments, shared=0 if scratch is not None else capacity * size)

    def products(self, columns: DeviceArray, vectors: DeviceArray) -> Any:
        """Add up the products of columns ``(n_columns, n_rows)`` with vectors: ``(n_slabs, n_columns, n_vectors)``."""
        (n_columns, n_rows), n_vectors = columns.shape, len(vectors)
        tiles = -(-n_columns // SUM_COLUMNS), -(-n_vectors // SUM_VECTORS)
        arguments = columns, _pitch(columns), n_columns, vectors, n_vectors
        return self._slabs("products", tiles, n_rows, (n_columns, n_vectors), *arguments)

    def squares(self, columns: DeviceArray, weights: DeviceArray | None) -> Any:
        """Add up the squares of columns: ``(n_slabs, n_columns, n_pieces)``."""
        n_columns, n_rows = columns.shape
        shape = n_columns, 1 if weights is None else 3
        return self._slabs("squares", (n_columns, 1), n_rows, shape, columns, _pitch(columns), weights)

    def level_products(self, levels: DeviceArray, tiles: DeviceArray, n_columns: int, vectors: DeviceArray) -> Any:
        """Add up the products of levels with vectors: ``(n_slabs, n_columns, n_vectors)``; tiles are those of sums.cu."""
        n_vectors, n_rows = vectors.shape
        arguments = levels, _pitch(levels), tiles, n_columns, vectors, n_vectors
        return self._slabs("level_products", (len(tiles), n_vectors), n_rows, (n_columns, n_vectors), *arguments)

    def _slabs(self, name: str, tiles: tuple[int, int], n_rows: int, shape: tuple[int, int], *arguments: Any) -> Any:
        """Launch a kernel of sums.cu in slabs of rows: as long as sums allow, or shorter to keep all processors busy."""
        wide, deep = tiles
        enough = -(-SUM_BLOCKS * self._n_processors // (wide * deep))
        slab = min(MOST_SLAB, max(FEWEST_SLAB, -(-n_rows // enough)))
        n_slabs = -(-n_rows // slab)
        out = self.xp.empty((n_slabs, *shape), dtype=np.int64)
        kernel = compiled_kernel(KERNELS, "sums.cu", name)
        self._launch(kernel, (wide, n_slabs, deep), SUM_THREADS, *arguments, n_rows, slab, out)
        return out


def _pitch(rows: DeviceArray) -> int:
    """Return how many numbers it is from one row to the next."""
    return int(rows.strides[0] // rows.itemsize)


def _stored(counts: DeviceArray | None) -> str:
    """Return the type of counts as an option of the compiler."""
    return f"-DCOUNT={count_type(counts is not None and counts.itemsize == 2)}"
