"""Counts of features and targets on a GPU, and their sums, block by block."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu_bits import BIT_LEVELS, BLOCK, MOST_COLUMNS, padded_levels
from labelsieve.counting.backends.gpu_conditions import DeviceColumn, EveryRow
from labelsieve.counting.backends.gpu_features import DeviceTargets, TargetCodes, features_on_gpu
from labelsieve.counting.backends.gpu_outputs import Counted, Margins, NLogN, Output, TargetGroup
from labelsieve.counting.backends.gpu_transfer import BitBlock, RowParts
from labelsieve.counting.codes import Codes
from labelsieve.table_types import DeviceArray

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu_kernels import CudaKernels

COUNT_BYTES = 2**30  # of the counts of one panel
KEPT = 0.5  # of the memory that is free once features are packed, for margins


class DeviceCounts:
    """Features and targets on a GPU; :meth:`add` counts and adds up one panel.

    Parameters
    ----------
    kernels : CudaKernels
    X, Y, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    table : NLogN
    weights : ndarray of uint64 on the GPU, optional
        Of the rows of ``Y``.
    memory_limit : int, optional
        Bytes of packed features that stay on the GPU.
    """

    def __init__(
        self,
        kernels: "CudaKernels",
        X: Codes,
        Y: Codes,
        row_index: NDArray[np.uint32] | None,
        table: NLogN,
        weights: DeviceArray | None,
        memory_limit: int | None,
    ) -> None:
        self._kernels, self._xp, self._table, self._weights = kernels, kernels.xp, table, weights
        self.n_features, self._n_rows = X.n_columns, Y.n_rows
        self._targets = DeviceTargets(kernels, Y, weights is not None)
        self._features = features_on_gpu(kernels, X, row_index, weights is not None, memory_limit)
        self._margins: dict[int, Any] = {}  # by block: counts with the columns of all targets
        self._room = int(KEPT * kernels.free_bytes())

    @property
    def bytes(self) -> int:
        """Memory of the features."""
        return self._features.bytes

    @property
    def is_one_block(self) -> bool:
        """True when all features are packed together and stay on the GPU."""
        return self._features.is_one_block

    @cached_property
    def no_condition(self) -> EveryRow:
        return EveryRow(self._xp, self._n_rows)

    def feature(self, index: int | DeviceArray) -> DeviceColumn:
        """A feature as a condition: a number, or, with :attr:`is_one_block`, an array of one number on the GPU."""
        return self._features.column(index)

    def column(self, codes: NDArray[np.integer], n_levels: int) -> DeviceColumn:
        """Codes of the host as a condition."""
        return DeviceColumn(self._kernels, self._xp.asarray(codes.astype(np.uint32)), max(n_levels, 2), self._n_rows)

    def add(self, given: DeviceColumn | EveryRow, first: int, last: int, out: Output) -> None:
        """Add the sums of a panel: pairs of features and condition, triples with the targets ``first`` to ``last``."""
        packed, code_blocks, with_bits = self._features.packed, self._features.codes, given.n_levels <= BIT_LEVELS
        if packed and with_bits:
            groups = self._targets.groups(first, last)
            for block, bits in self._features.with_bits():
                self._add_bits(block, bits, given, groups, out)
        every = self._targets.codes(first, last, packed=True) if code_blocks or not with_bits else None
        others = self._targets.codes(first, last, packed=False) if with_bits and packed else None
        for block in packed:
            for some, codes in block.codes() if others is not None or not with_bits else ():
                x = codes, np.full(len(codes), block.n_levels)
                self._add_tables(x, given, every if not with_bits else others, block.index[some], out, pairs=not with_bits)
        for code_block in code_blocks:
            self._add_tables((code_block.codes, code_block.levels), given, every, code_block.index, out, pairs=True)

    def _count_type(self, bits: DeviceArray | RowParts) -> Any:
        narrow = self._kernels.stores_narrow(self._n_rows, len(bits) * BLOCK, self._targets.n_columns + 1)
        return self._xp.uint16 if narrow else self._xp.int32

    def _add_bits(
        self,
        block: BitBlock,
        bits: DeviceArray | RowParts,
        given: DeviceColumn | EveryRow,
        groups: list[TargetGroup],
        out: Output,
    ) -> None:
        width, padded, kind = block.n_levels - 1, padded_levels(given.n_levels), self._count_type(bits)
        for number, group in enumerate(groups):
            rows = group.n_columns if padded == 1 else MOST_COLUMNS
            column_bytes = np.dtype(kind).itemsize * rows * max(1, padded)
            step = 256 * max(1, COUNT_BYTES // (column_bytes * 256 * width))  # features counted at once
            of_given = given.counts_of(group, self._known_margins(given, group))
            margins = self._margins_of(block, bits, group, given.n_levels > 1)
            into = out if number == 0 else replace(out, pairs=None)
            for start in range(0, len(block.columns), step):
                some = slice(start, min(start + step, len(block.columns)))
                blocks = slice(start * width // BLOCK, -(-some.stop * width // 256) * 4)
                columns, counts = slice(blocks.start * BLOCK, blocks.stop * BLOCK), None
                if padded:
                    counts = self._xp.empty((padded, rows, columns.stop - columns.start), dtype=kind)
                    some_bits = bits if isinstance(bits, RowParts) else bits[blocks]
                    self._count(some_bits, given, given.n_levels - 1, group, counts)
                part, index = margins, block.index
                if step < len(block.columns):
                    part = Margins(margins.rows[:, columns], margins.every[columns], margins.n_columns)
                    index = index[some]
                counted = Counted(block.n_levels, given.n_levels, counts, part, of_given)
                self._kernels.sums(counted, group, self._table, index, into)

    def _known_margins(self, given: DeviceColumn | EveryRow, group: TargetGroup) -> Margins | None:
        """Margins of the feature that is the condition, if they are kept: its counts with the targets are among them."""
        if isinstance(given, EveryRow) or given.feature is None:
            return None
        block = given.feature[0]
        rows, every = self._margins.get(id(block)), self._features.every.get(id(block))
        if every is None or (rows is None and group.n_targets):
            return None
        return Margins(every[None] if rows is None else rows[group.columns], every, group.n_columns)

    def _margins_of(self, block: BitBlock, bits: DeviceArray | RowParts, group: TargetGroup, repeated: bool) -> Margins:
        """Counts without a condition; ``repeated``: those of all targets are kept if they fit into memory."""
        key, n_columns, width = id(block), self._targets.n_columns, len(bits) * BLOCK
        if key not in self._features.every:
            self._features.every[key] = self._count_margins(bits, self._targets.no_target)[-1]
        if not group.n_targets:
            return Margins(self._features.every[key][None], self._features.every[key], 1)
        kind = self._count_type(bits)
        needed = np.dtype(kind).itemsize * (n_columns + 1) * width
        if key not in self._margins and needed <= self._room and (repeated or group.n_columns > n_columns):
            self._room -= needed
            kept = self._xp.empty((n_columns + 1, width), dtype=kind)
            for other in self._targets.all_groups:
                self._count(bits, self.no_condition, 1, other, kept[None, other.columns.start : other.columns.stop + 1])
            self._margins[key] = kept
        rows = self._margins[key][group.columns] if key in self._margins else self._count_margins(bits, group)
        return Margins(rows, self._features.every[key], group.n_columns)

    def _count_margins(self, bits: DeviceArray | RowParts, group: TargetGroup) -> Any:
        counts = self._xp.empty((1, group.n_columns, len(bits) * BLOCK), dtype=self._count_type(bits))
        self._count(bits, self.no_condition, 1, group, counts)
        return counts[0]

    def _count(
        self, bits: DeviceArray | RowParts, given: DeviceColumn | EveryRow, levels: int, group: TargetGroup, counts: DeviceArray
    ) -> None:
        """Counts of features by columns of targets and of a condition; those of parts of the rows are added up."""
        if not isinstance(bits, RowParts):
            self._kernels.count(bits, given, levels, group, counts)
            return
        counts[...] = 0
        for stages, part in bits.on_device():
            of_part = self._xp.zeros_like(counts)
            self._kernels.count(part, given.rows(stages), levels, group.rows(self._xp, stages), of_part)
            counts += of_part

    def _add_tables(
        self,
        x: tuple[DeviceArray, NDArray[np.integer]],
        given: DeviceColumn | EveryRow,
        y: TargetCodes | None,
        index: DeviceArray,
        out: Output,
        *,
        pairs: bool,
    ) -> None:
        z = None if given.codes is None else (given.codes, given.n_levels)
        histograms, table, weights = self._kernels.histograms, self._table, self._weights
        if pairs and out.pairs is not None:
            histograms(x, z, None, weights, table, index, (out.pairs, out.pair_factor, 0))
        if y is not None and out.triples is not None:
            histograms(x, z, (y.codes, y.levels, y.places), weights, table, index, (out.triples, out.triple_factor, out.wide))
