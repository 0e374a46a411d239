"""The targets on a GPU: groups of columns for the counting kernels, and codes for whole tables."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu_bits import BIT_LEVELS, MOST_COLUMNS, WORDS, all_rows, n_stages
from labelsieve.counting.backends.gpu_outputs import TargetGroup
from labelsieve.counting.backends.gpu_transfer import CodeBlock, PlainBlock, fill
from labelsieve.counting.codes import Codes
from labelsieve.table_types import DeviceArray

if TYPE_CHECKING:
    from labelsieve.counting.backends.gpu_kernels import CudaKernels


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
