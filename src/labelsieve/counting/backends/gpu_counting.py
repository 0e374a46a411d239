"""Counts of features and targets on a card, and their sums, block by block."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu_bits import BIT_LEVELS, BLOCK, MOST_COLUMNS, padded_levels
from labelsieve.counting.backends.gpu_conditions import DeviceColumn, EveryRow
from labelsieve.counting.backends.gpu_outputs import Counted, Margins, NLogN, Output, TargetGroup
from labelsieve.counting.backends.gpu_targets import DeviceTargets, TargetCodes
from labelsieve.counting.backends.gpu_transfer import BitBlock, CodeBlock, fill, place_of
from labelsieve.counting.codes import Codes

BLOCK_BYTES = 2**31  # of packed features that are copied to the card together, where they do not stay there
COUNT_BYTES = 2**30  # of the counts of one panel
RESIDENT = 0.75  # of the free memory, for packed features
KEPT = 0.5  # of what then is free, for margins


class DeviceCounts:
    """Features and targets on a card; :meth:`add` counts and adds up one panel.

    Parameters
    ----------
    kernels : CudaKernels
    X, Y, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    table : NLogN
    weights : ndarray of uint64 on the card, optional
        Of the rows of ``Y``.
    memory_limit : int, optional
        Bytes of packed features that stay on the card.
    """

    def __init__(
        self,
        kernels: Any,
        X: Codes,
        Y: Codes,
        row_index: NDArray[np.uint32] | None,
        table: NLogN,
        weights: Any,
        memory_limit: int | None,
    ) -> None:
        self._kernels, self._xp, self._table, self._weights = kernels, kernels.xp, table, weights
        self.n_features, self._n_rows = X.n_columns, Y.n_rows
        self._targets = DeviceTargets(kernels, Y, weights is not None)
        self._packed: list[BitBlock] = []
        self._codes: list[CodeBlock] = []
        self._margins: dict[int, Any] = {}  # by block: counts with the columns of all targets
        self._every: dict[int, Any] = {}  # by block: counts of all rows
        self._make_blocks(X, weights is not None, memory_limit)
        fill(kernels, X, row_index, [*self._packed, *self._codes])
        self._room = int(KEPT * kernels.free_bytes())

    def _make_blocks(self, X: Codes, weighted: bool, memory_limit: int | None) -> None:
        limit = int(RESIDENT * self._kernels.free_bytes()) if memory_limit is None else memory_limit
        levels = np.maximum(X.levels, 2)
        packed = np.zeros(X.n_columns, dtype=bool) if weighted else levels <= BIT_LEVELS
        for n_levels in map(int, np.unique(levels[packed])):
            same = np.flatnonzero(packed & (levels == n_levels))
            if BitBlock.bytes_of(len(same), n_levels, self._n_rows) <= limit:
                step = len(same)
            else:
                step = max(1, min(BLOCK_BYTES, limit // 4) // BitBlock.bytes_of(256, n_levels, self._n_rows)) * 256
            for start in range(0, len(same), step):
                some = same[start : start + step]
                n_bytes = BitBlock.bytes_of(len(some), n_levels, self._n_rows)
                self._packed.append(BitBlock(self._kernels, some, n_levels, self._n_rows, resident=n_bytes <= limit))
                limit -= n_bytes if n_bytes <= limit else 0
        if not packed.all():
            rest = np.flatnonzero(~packed)
            self._codes.append(CodeBlock(self._kernels, rest, X.levels[rest].astype(np.int64), self._n_rows))

    @property
    def bytes(self) -> int:
        """Memory of the features."""
        return sum(block.bytes for block in self._packed) + sum(int(block.codes.nbytes) for block in self._codes)

    @cached_property
    def no_condition(self) -> EveryRow:
        return EveryRow(self._xp, self._n_rows)

    def feature(self, index: int) -> DeviceColumn:
        """A feature as a condition."""
        for block in self._packed:
            if (place := place_of(index, block.columns)) is not None:
                return DeviceColumn(self._kernels, None, block.n_levels, self._n_rows, feature=(block, place))
        (codes,) = self._codes
        place = place_of(index, codes.columns)
        assert place is not None
        column = codes.codes[place].astype(self._xp.uint32)
        return DeviceColumn(self._kernels, column, int(codes.levels[place]), self._n_rows)

    def column(self, codes: NDArray[np.integer], n_levels: int) -> DeviceColumn:
        """Codes of the host as a condition."""
        return DeviceColumn(self._kernels, self._xp.asarray(codes.astype(np.uint32)), max(n_levels, 2), self._n_rows)

    def add(self, given: DeviceColumn | EveryRow, first: int, last: int, out: Output) -> None:
        """Add the sums of a panel: pairs of features and condition, triples with the targets ``first`` to ``last``."""
        with_bits = given.n_levels <= BIT_LEVELS
        if self._packed and with_bits:
            groups = self._targets.groups(first, last)
            for block in self._packed:
                self._add_bits(block, given, groups, out)
        every = self._targets.codes(first, last, packed=True) if self._codes or not with_bits else None
        others = self._targets.codes(first, last, packed=False) if with_bits and self._packed else None
        for block in self._packed:
            for some, codes in block.codes() if others is not None or not with_bits else ():
                x = codes, np.full(len(codes), block.n_levels)
                self._add_tables(x, given, every if not with_bits else others, block.index[some], out, pairs=not with_bits)
        for code_block in self._codes:
            self._add_tables((code_block.codes, code_block.levels), given, every, code_block.index, out, pairs=True)

    def _add_bits(self, block: BitBlock, given: DeviceColumn | EveryRow, groups: list[TargetGroup], out: Output) -> None:
        bits, width, padded = block.bits, block.n_levels - 1, padded_levels(given.n_levels)
        step = 256 * max(1, COUNT_BYTES // (4 * MOST_COLUMNS * max(1, padded) * 256 * width))  # features counted at once
        for number, group in enumerate(groups):
            of_given = given.counts_of(group, self._known_margins(given, group))
            margins = self._margins_of(block, bits, group, given.n_levels > 1)
            into = out if number == 0 else replace(out, pairs=None)
            for start in range(0, len(block.columns), step):
                some = slice(start, min(start + step, len(block.columns)))
                blocks = slice(start * width // BLOCK, -(-some.stop * width // 256) * 4)
                columns, counts = slice(blocks.start * BLOCK, blocks.stop * BLOCK), None
                if padded:
                    counts = self._xp.empty((padded, MOST_COLUMNS, columns.stop - columns.start), dtype=self._xp.int32)
                    self._kernels.count(bits[blocks], given, given.n_levels - 1, group, counts)
                part = Margins(margins.rows[:, columns], margins.every[columns], margins.n_columns)
                counted = Counted(block.n_levels, given.n_levels, counts, part, of_given)
                self._kernels.sums(counted, group, self._table, block.index[some], into)

    def _known_margins(self, given: DeviceColumn | EveryRow, group: TargetGroup) -> Margins | None:
        """Margins of the feature that is the condition, if they are kept: its counts with the targets are among them."""
        if isinstance(given, EveryRow) or given.feature is None:
            return None
        block = given.feature[0]
        rows, every = self._margins.get(id(block)), self._every.get(id(block))
        if every is None or (rows is None and group.n_targets):
            return None
        return Margins(every[None] if rows is None else rows[group.columns], every, group.n_columns)

    def _margins_of(self, block: BitBlock, bits: Any, group: TargetGroup, repeated: bool) -> Margins:
        """Counts without a condition; ``repeated``: those of all targets are kept if they fit into memory."""
        key, n_columns, width = id(block), self._targets.n_columns, len(bits) * BLOCK
        if key not in self._every:
            self._every[key] = self._count_margins(bits, self._targets.no_target)[-1]
        if not group.n_targets:
            return Margins(self._every[key][None], self._every[key], 1)
        needed = 4 * (n_columns + 1) * width
        if key not in self._margins and needed <= self._room and (repeated or group.n_columns > n_columns):
            self._room -= needed
            kept = self._xp.empty((n_columns + 1, width), dtype=self._xp.int32)
            for other in self._targets.all_groups:
                self._kernels.count(bits, self.no_condition, 1, other, kept[None, other.columns.start : other.columns.stop + 1])
            self._margins[key] = kept
        rows = self._margins[key][group.columns] if key in self._margins else self._count_margins(bits, group)
        return Margins(rows, self._every[key], group.n_columns)

    def _count_margins(self, bits: Any, group: TargetGroup) -> Any:
        counts = self._xp.empty((1, group.n_columns, len(bits) * BLOCK), dtype=self._xp.int32)
        self._kernels.count(bits, self.no_condition, 1, group, counts)
        return counts[0]

    def _add_tables(
        self,
        x: tuple[Any, NDArray[np.integer]],
        given: DeviceColumn | EveryRow,
        y: TargetCodes | None,
        index: Any,
        out: Output,
        *,
        pairs: bool,
    ) -> None:
        z = None if given.codes is None else (given.codes, given.n_levels)
        histograms, table, weights = self._kernels.histograms, self._table, self._weights
        if pairs and out.pairs is not None:
            histograms(x, z, None, weights, table, index, (out.pairs, out.pair_factor, 0))
        if y is not None and out.triples is not None:
            histograms(x, z, tuple(y), weights, table, index, (out.triples, out.triple_factor, out.wide))
