"""The features and the targets on a GPU: blocks of packed columns, shared by all backends for the same codes."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu_bits import BIT_LEVELS, MOST_COLUMNS, WORDS, all_rows, n_stages
from labelsieve.counting.backends.gpu_conditions import DeviceColumn
from labelsieve.counting.backends.gpu_outputs import TargetGroup
from labelsieve.counting.backends.gpu_transfer import BitBlock, CodeBlock, PlainBlock, RowParts, fill, place_of
from labelsieve.counting.codes import Codes
from labelsieve.table_types import DeviceArray

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu_kernels import CudaKernels

BLOCK_BYTES = 2**31  # of packed features that are copied to the GPU together, where they do not stay there
RESIDENT = 0.75  # of the free memory, for packed features
PART_BYTES = 2**26  # of packed features that are copied together, however small the limit is


class DeviceFeatures:
    """Features on a GPU.

    Parameters
    ----------
    kernels : CudaKernels
    X, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    weighted : bool
        Then no feature is packed as bits.
    memory_limit : int, optional
        Bytes of packed features that stay on the GPU.
    """

    def __init__(
        self, kernels: "CudaKernels", X: Codes, row_index: NDArray[np.uint32] | None, weighted: bool, memory_limit: int | None
    ) -> None:
        self._kernels, self.n_features = kernels, X.n_columns
        self._n_rows = X.n_rows if row_index is None else len(row_index)
        self.packed: list[BitBlock] = []
        self.codes: list[CodeBlock] = []
        self.every: dict[int, Any] = {}
        """By block: counts of all rows."""
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
        """Memory of the features."""
        return sum(block.bytes for block in self.packed) + sum(int(block.codes.nbytes) for block in self.codes)

    @property
    def is_one_block(self) -> bool:
        """True when all features have the same number of levels and stay packed on the GPU."""
        return not self.codes and len(self.packed) == 1 and self.packed[0].is_resident

    def with_bits(self) -> Iterator[tuple[BitBlock, DeviceArray | RowParts]]:
        """Packed blocks with their bits on the GPU; those that do not stay there are copied, one while another is used."""
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
        """A feature as a condition: its number, or, with one block, an array of one number on the GPU."""
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
    """The features of ``X``, packed unless a backend on the same GPU has done so."""
    if row_index is not None:
        return DeviceFeatures(kernels, X, row_index, weighted, memory_limit)
    known = _ON_CARDS.setdefault(X, WeakValueDictionary())
    key = type(kernels), getattr(kernels.device, "id", None), weighted, memory_limit
    if (features := known.get(key)) is None:
        features = known[key] = DeviceFeatures(kernels, X, row_index, weighted, memory_limit)
    return features


class TargetCodes(NamedTuple):
    """Codes of some targets, their levels, and their places in a row of sums."""

    codes: DeviceArray
    levels: NDArray[np.integer]
    places: DeviceArray


class DeviceTargets:
    """The targets of a backend on a GPU, copied to it in either form when they are first needed.

    Parameters
    ----------
    kernels : CudaKernels
    Y : Codes
    weighted : bool
        Then no target is counted as bits.
    """

    def __init__(self, kernels: "CudaKernels", Y: Codes, weighted: bool) -> None:
        self._kernels, self._xp, self._Y = kernels, kernels.xp, Y
        self._is_packed = (Y.levels <= BIT_LEVELS) & (not weighted)
        widths = np.where(self._is_packed, np.maximum(Y.levels.astype(np.int64), 2) - 1, 0)
        self._starts = np.concatenate([[0], np.cumsum(widths)])  # the first column of each target

    @property
    def n_columns(self) -> int:
        """Of all targets that are packed."""
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
        """Groups of the packed targets in a range; at least one, which may have no target."""
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
        """Codes of the targets in a range: all, or those that are not packed; None if there are none."""
        members = np.arange(first, last)
        if not packed:
            members = members[~self._is_packed[first:last]]
        if not len(members):
            return None
        block, xp = self._block, self._xp
        contiguous = len(members) == members[-1] - members[0] + 1
        rows = slice(members[0], members[-1] + 1) if contiguous else xp.asarray(members)
        return TargetCodes(block.codes[rows], block.levels[members], xp.asarray(members - first, dtype=xp.int32))
