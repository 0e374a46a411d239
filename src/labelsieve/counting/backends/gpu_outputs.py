"""What the backend and its kernels hand to each other: columns of targets, margins, counts, and where sums go."""

from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, NamedTuple

from labelsieve.counting.backends.gpu_bits import to_swizzled
from labelsieve.table_types import DeviceArray


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
    """Sums on the GPU and what they are multiplied with; ``wide`` is the length of a row of triples, 0: targets are added."""

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
        """The columns as the tensor cores read them."""
        if self._swizzled is None:
            whole = self._whole
            self._swizzled = to_swizzled(xp, self.plain) if whole is None else whole[0].swizzled(xp)[whole[1]]
        return self._swizzled

    def rows(self, xp: ModuleType, stages: slice) -> "TargetGroup":
        """The same for some stages of the rows; totals are those of all."""
        return replace(self, plain=xp.ascontiguousarray(self.plain[:, stages]), _swizzled=None, _whole=(self, stages))


class GivenRows(NamedTuple):
    """The columns of a condition in some stages of the rows, in both forms."""

    plain: DeviceArray | None
    fragments: DeviceArray
