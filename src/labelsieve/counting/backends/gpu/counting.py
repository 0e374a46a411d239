"""Counting on a GPU: features and targets in its memory, conditions, and panels of joint counts."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu.device import (
    BIT_LEVELS,
    BLOCK,
    MOST_COLUMNS,
    WORDS,
    all_rows,
    n_stages,
    pack_plain,
    padded_levels,
    rows_of_fragments,
    unpack_codes,
)
from labelsieve.counting.backends.gpu.kernels import Counted, GivenRows, Margins, NLogN, Output, TargetGroup
from labelsieve.counting.backends.gpu.transfer import BitBlock, CodeBlock, PlainBlock, RowParts, fill, place_of
from labelsieve.tables.codes import Codes
from labelsieve.tables.types import DeviceArray

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu.kernels import CudaKernels


class EveryRow:
    """The absence of a condition: a variable with one level, which every row has."""

    n_levels = 1
    codes = None
    plain = None

    def __init__(self, xp: ModuleType, n_rows: int) -> None:
        self.fragments = xp.full((n_stages(n_rows), WORDS), 0xFFFFFFFF, dtype=xp.uint32)

    def counts_of(self, group: TargetGroup, margins: Margins | None) -> None:
        """Return nothing: there is no level but the first."""

    def rows(self, stages: slice) -> GivenRows:
        """Return the columns in some stages of the rows."""
        return GivenRows(None, self.fragments[stages])


class DeviceColumn:
    """A variable to condition on, in the memory of the GPU: codes, or the block of a packed feature and its place in it."""

    def __init__(
        self,
        kernels: "CudaKernels",
        codes: Any,
        n_levels: int,
        n_rows: int,
        feature: tuple[BitBlock, Any] | None = None,
    ) -> None:
        self._kernels, self._xp, self._codes = kernels, kernels.xp, codes
        self.n_levels, self._n_rows, self.feature = n_levels, n_rows, feature
        self._bits: tuple[Any, Any] | None = None

    @property
    def plain(self) -> Any:
        """The columns as ``[level - 1][stage][word]``."""
        return self._columns()[0]

    @property
    def fragments(self) -> Any:
        """The columns in passes of four levels, in the order in which the threads of a warp group hold them."""
        return self._columns()[1]

    def rows(self, stages: slice) -> GivenRows:
        """Return the columns in some stages of the rows."""
        xp, (plain, fragments) = self._xp, self._columns()
        return GivenRows(xp.ascontiguousarray(plain[:, stages]), rows_of_fragments(xp, fragments, stages))

    def _columns(self, known: tuple[Margins, DeviceArray] | None = None) -> tuple[Any, Any]:
        """Return the columns in both forms, made at the first call.

        ``known`` has margins of the feature, and the counts with the targets, which the same kernel takes from them.
        """
        if self._bits is not None and known is None:
            return self._bits
        xp, stages = self._xp, n_stages(self._n_rows)
        if self._bits is None:
            plain = xp.empty((self.n_levels - 1, stages, WORDS), dtype=xp.uint32)
            if self.feature is None:
                plain[...] = pack_plain(xp, self._codes[None], self.n_levels)
            elif not self.feature[0].is_resident:
                plain[...] = xp.asarray(self.feature[0].plain_columns(self.feature[1]))
            self._bits = plain, xp.empty((padded_levels(self.n_levels), stages, WORDS), dtype=xp.uint32)
        block, place = (None, 0) if self.feature is None else self.feature
        features = None if block is None or not block.is_resident else block.parts[0]
        self._kernels.condition(features, place, self.n_levels - 1, *self._bits, known)
        return self._bits

    def counts_of(self, group: TargetGroup, margins: Margins | None) -> Any:
        """Count (condition, target); ``margins`` are those of the block of a packed feature, where they are kept."""
        given = self._xp.empty((self.n_levels - 1, group.totals.size), dtype=self._xp.int32)
        if margins is None:
            self._kernels.cross(self.plain, group.plain, given)
        else:
            self._columns((margins, given))
        return given

    @cached_property
    def codes(self) -> Any:
        """The code of each row."""
        if self._codes is not None:
            return self._codes
        return unpack_codes(self._xp, self.plain, self.n_levels, self._n_rows)[0].astype(self._xp.uint32)


BLOCK_BYTES = 2**31  # of packed features that are copied to the GPU together, where they do not stay there
RESIDENT = 0.75  # of the free memory, for packed features
PART_BYTES = 2**26  # of packed features that are copied together, however small the limit is


class DeviceFeatures:
    """The features in the memory of a GPU, packed as bits where they have few levels, unless rows are weighted."""

    def __init__(
        self, kernels: "CudaKernels", X: Codes, row_index: NDArray[np.uint32] | None, weighted: bool, memory_limit: int | None
    ) -> None:
        self._kernels, self.n_features = kernels, X.n_columns
        self._n_rows = X.n_rows if row_index is None else len(row_index)
        self.packed: list[BitBlock] = []
        self.codes: list[CodeBlock] = []
        self.every: dict[int, Any] = {}
        """By block: the counts of all rows."""
        self._make_blocks(X, weighted, memory_limit)
        fill(kernels, X, row_index, [*self.packed, *self.codes])

    def _make_blocks(self, X: Codes, weighted: bool, memory_limit: int | None) -> None:
        limit = int(RESIDENT * self._kernels.free_bytes()) if memory_limit is None else memory_limit
        levels = np.maximum(X.levels, 2)
        packed = np.zeros(X.n_columns, dtype=bool) if weighted else levels <= BIT_LEVELS
        part_bytes = max(PART_BYTES, min(BLOCK_BYTES, limit // 4))
        for n_levels in map(int, np.unique(levels[packed])):
            same = np.flatnonzero(packed & (levels == n_levels))
            if BitBlock.bytes_of(len(same), n_levels, self._n_rows) <= limit:
                step = len(same)
            else:
                step = max(1, part_bytes // BitBlock.bytes_of(256, n_levels, self._n_rows)) * 256
            for start in range(0, len(same), step):
                some = same[start : start + step]
                n_bytes = BitBlock.bytes_of(len(some), n_levels, self._n_rows)
                stays = n_bytes <= limit
                self.packed.append(BitBlock(self._kernels, some, n_levels, self._n_rows, None if stays else part_bytes))
                limit -= n_bytes if n_bytes <= limit else 0
        if not packed.all():
            rest = np.flatnonzero(~packed)
            self.codes.append(CodeBlock(self._kernels, rest, X.levels[rest].astype(np.int64), self._n_rows))

    @property
    def bytes(self) -> int:
        """Number of bytes that the packed features take on the device."""
        return sum(block.bytes for block in self.packed) + sum(int(block.codes.nbytes) for block in self.codes)

    @property
    def is_one_block(self) -> bool:
        """True when all features have the same number of levels and stay packed on the GPU."""
        return not self.codes and len(self.packed) == 1 and self.packed[0].is_resident

    def with_bits(self) -> Iterator[tuple[BitBlock, DeviceArray | RowParts]]:
        """Yield packed blocks with their bits on the GPU; others are copied there, one while another is used."""
        streamed = self._kernels.streamed([block.parts[0] for block in self.packed if self._is_streamed(block)])
        for block in self.packed:
            if self._is_streamed(block):
                yield block, next(streamed)
            else:
                yield block, block.parts[0] if block.is_resident else RowParts(self._kernels, block)
        next(streamed, None)

    def _is_streamed(self, block: BitBlock) -> bool:
        return not block.is_resident and len(block.parts) == 1

    def column(self, index: int | DeviceArray) -> DeviceColumn:
        """Return a feature as a condition, by its number, or, with one block, by an array of one number on the GPU."""
        if not isinstance(index, int | np.integer):
            return DeviceColumn(self._kernels, None, self.packed[0].n_levels, self._n_rows, feature=(self.packed[0], index))
        for block in self.packed:
            if (place := place_of(int(index), block.columns)) is not None:
                return DeviceColumn(self._kernels, None, block.n_levels, self._n_rows, feature=(block, place))
        (codes,) = self.codes
        place = place_of(int(index), codes.columns)
        assert place is not None
        column = codes.codes[place].astype(self._kernels.xp.uint32)
        return DeviceColumn(self._kernels, column, int(codes.levels[place]), self._n_rows)


# By codes: features on a GPU as long as some backend uses them. Tests with permuted targets, and other targets of the same
# features, find them packed.
_ON_CARDS: WeakKeyDictionary[Codes, WeakValueDictionary[tuple[Any, ...], DeviceFeatures]] = WeakKeyDictionary()


def features_on_gpu(
    kernels: "CudaKernels", X: Codes, row_index: NDArray[np.uint32] | None, weighted: bool, memory_limit: int | None
) -> DeviceFeatures:
    """Return the features of ``X``, packed unless a backend on the same GPU has done so."""
    if row_index is not None:
        return DeviceFeatures(kernels, X, row_index, weighted, memory_limit)
    known = _ON_CARDS.setdefault(X, WeakValueDictionary())
    key = type(kernels), kernels.device.id, weighted, memory_limit
    if (features := known.get(key)) is None:
        features = known[key] = DeviceFeatures(kernels, X, row_index, weighted, memory_limit)
    return features


class TargetCodes(NamedTuple):
    """Codes of some targets, their levels, and their places in a row of sums."""

    codes: DeviceArray
    levels: NDArray[np.integer]
    places: DeviceArray


class DeviceTargets:
    """The targets of a backend on a GPU, copied to it as bits, or as codes if rows are weighted, when they are needed."""

    def __init__(self, kernels: "CudaKernels", Y: Codes, weighted: bool) -> None:
        self._kernels, self._xp, self._Y = kernels, kernels.xp, Y
        self._is_packed = (Y.levels <= BIT_LEVELS) & (not weighted)
        widths = np.where(self._is_packed, np.maximum(Y.levels.astype(np.int64), 2) - 1, 0)
        self._starts = np.concatenate([[0], np.cumsum(widths)])  # the first column of each target

    @property
    def n_columns(self) -> int:
        """Number of columns of all targets that are packed."""
        return int(self._starts[-1])

    @cached_property
    def _plain(self) -> Any:
        xp, Y = self._xp, self._Y
        plain = xp.zeros((self.n_columns, n_stages(Y.n_rows), WORDS), dtype=xp.uint32)
        levels = np.maximum(Y.levels, 2)
        packed = [np.flatnonzero(self._is_packed & (levels == n)) for n in np.unique(levels[self._is_packed])]
        blocks = [PlainBlock(xp, plain, columns, int(levels[columns[0]]), self._starts) for columns in packed]
        fill(self._kernels, Y, None, blocks)
        return plain

    @cached_property
    def _all_rows(self) -> Any:
        return all_rows(self._xp, self._Y.n_rows)

    @cached_property
    def _block(self) -> CodeBlock:
        block = CodeBlock(self._kernels, np.arange(self._Y.n_columns), self._Y.levels.astype(np.int64), self._Y.n_rows)
        fill(self._kernels, self._Y, None, [block])
        return block

    @cached_property
    def no_target(self) -> TargetGroup:
        """The column that is 1 in every row, alone."""
        return self._group(np.arange(0), 0)

    @cached_property
    def all_groups(self) -> list[TargetGroup]:
        """Groups of all packed targets."""
        return self._split(0, self._Y.n_columns)

    def groups(self, first: int, last: int) -> list[TargetGroup]:
        """Return groups of the packed targets in a range; at least one, which may have no target."""
        return self.all_groups if last - first == self._Y.n_columns else self._split(first, last)

    def _split(self, first: int, last: int) -> list[TargetGroup]:
        groups, members = [], np.flatnonzero(self._is_packed[first:last]) + first
        while len(members):
            most = self._starts[members[0]] + MOST_COLUMNS - 1
            n_taken = int(np.searchsorted(self._starts[members + 1], most, side="right"))
            groups.append(self._group(members[:n_taken], first))
            members = members[n_taken:]
        return groups or [self.no_target]

    def _group(self, members: NDArray[np.intp], first: int) -> TargetGroup:
        xp = self._xp
        begin, end = (int(self._starts[members[0]]), int(self._starts[members[-1] + 1])) if len(members) else (0, 0)
        plain = xp.concatenate([self._plain[begin:end], self._all_rows]) if len(members) else self._all_rows
        totals = xp.zeros(MOST_COLUMNS, dtype=xp.int32)
        self._kernels.cross(None, plain, totals)
        starts = xp.asarray(np.append(self._starts[members], end) - begin, dtype=xp.int32)
        return TargetGroup(len(members), slice(begin, end), plain, totals, starts, xp.asarray(members - first, dtype=xp.int32))

    def codes(self, first: int, last: int, *, packed: bool) -> TargetCodes | None:
        """Return the codes of the targets in a range: all, or those that are not packed; None if there are none."""
        members = np.arange(first, last)
        if not packed:
            members = members[~self._is_packed[first:last]]
        if not len(members):
            return None
        block, xp = self._block, self._xp
        contiguous = len(members) == members[-1] - members[0] + 1
        rows = slice(members[0], members[-1] + 1) if contiguous else xp.asarray(members)
        return TargetCodes(block.codes[rows], block.levels[members], xp.asarray(members - first, dtype=xp.int32))


COUNT_BYTES = 2**30  # of the counts of one panel
KEPT = 0.5  # of the memory that is free once features are packed, for margins


class DeviceCounts:
    """Features and targets on a GPU; :meth:`add` counts and adds up one panel."""

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
        self.features = features_on_gpu(kernels, X, row_index, weights is not None, memory_limit)
        self._margins: dict[int, Any] = {}  # by block: counts with the columns of all targets
        self._room = int(KEPT * kernels.free_bytes())

    @cached_property
    def no_condition(self) -> EveryRow:
        return EveryRow(self._xp, self._n_rows)

    def column(self, codes: NDArray[np.integer], n_levels: int) -> DeviceColumn:
        """Return codes of the host as a condition."""
        return DeviceColumn(self._kernels, self._xp.asarray(codes.astype(np.uint32)), max(n_levels, 2), self._n_rows)

    def add(self, given: DeviceColumn | EveryRow, first: int, last: int, out: Output) -> None:
        """Add the sums of a panel: pairs of features and condition, triples with the targets ``first`` to ``last``."""
        packed, code_blocks, with_bits = self.features.packed, self.features.codes, given.n_levels <= BIT_LEVELS
        if packed and with_bits:
            groups = self._targets.groups(first, last)
            for block, bits in self.features.with_bits():
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
        """Return the margins of the feature that is the condition, if they are kept: they have its counts with the targets."""
        if isinstance(given, EveryRow) or given.feature is None:
            return None
        block = given.feature[0]
        rows, every = self._margins.get(id(block)), self.features.every.get(id(block))
        if every is None or (rows is None and group.n_targets):
            return None
        return Margins(every[None] if rows is None else rows[group.columns], every, group.n_columns)

    def _margins_of(self, block: BitBlock, bits: DeviceArray | RowParts, group: TargetGroup, repeated: bool) -> Margins:
        """Return the counts without a condition; ``repeated``: those of all targets are kept if they fit into memory."""
        key, n_columns, width = id(block), self._targets.n_columns, len(bits) * BLOCK
        if key not in self.features.every:
            self.features.every[key] = self._count_margins(bits, self._targets.no_target)[-1]
        if not group.n_targets:
            return Margins(self.features.every[key][None], self.features.every[key], 1)
        kind = self._count_type(bits)
        needed = np.dtype(kind).itemsize * (n_columns + 1) * width
        if key not in self._margins and needed <= self._room and (repeated or group.n_columns > n_columns):
            self._room -= needed
            kept = self._xp.empty((n_columns + 1, width), dtype=kind)
            for other in self._targets.all_groups:
                self._count(bits, self.no_condition, 1, other, kept[None, other.columns.start : other.columns.stop + 1])
            self._margins[key] = kept
        rows = self._margins[key][group.columns] if key in self._margins else self._count_margins(bits, group)
        return Margins(rows, self.features.every[key], group.n_columns)

    def _count_margins(self, bits: DeviceArray | RowParts, group: TargetGroup) -> Any:
        counts = self._xp.empty((1, group.n_columns, len(bits) * BLOCK), dtype=self._count_type(bits))
        self._count(bits, self.no_condition, 1, group, counts)
        return counts[0]

    def _count(
        self, bits: DeviceArray | RowParts, given: DeviceColumn | EveryRow, levels: int, group: TargetGroup, counts: DeviceArray
    ) -> None:
        """Count features by columns of targets and of a condition; the counts of parts of the rows are added up."""
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
