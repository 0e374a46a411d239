"""What backends share whose codes are in this process: conditions, parameters and whole joint tables."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.protocol import (
    ALL_TARGETS,
    Column,
    Condition,
    CountBlock,
    Feature,
    JointFeatures,
    Reduce,
    Target,
)
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.joint_codes import refine, sum_of_levels
from labelsieve.errors import InputError, require_same_rows
from labelsieve.resources import require_memory
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import RowWeights

Integers = NDArray[np.integer]

CODES_AT_ONCE = 2**20  # of a block of features: rows times columns, about what a cache holds
CELLS_AT_ONCE = 2**18  # of the tables of a block
KEPT = 2**24  # codes of features that are kept in the form in which they are counted, 8 bytes each


class ConditionColumns:
    """Columns to condition on, one code for each row of ``Y``, for backends whose codes are in this process."""

    def __init__(self, X: Codes, Y: Codes, row_index: NDArray[np.uint32] | None) -> None:
        self._X, self._Y, self._row_index = X, Y, row_index
        self._joined: tuple[int, ...] | None = None  # features of the joint that was asked for last

    def column(self, given: Condition) -> tuple[NDArray[np.integer], int]:
        """The codes of the condition and its number of levels."""
        match given:
            case Column(codes=codes, n_levels=n_levels):
                return codes, n_levels
            case Target(index=index):
                return self._Y.column(index), int(self._Y.levels[index])
            case Feature(index=index):
                return self._by_target_row(self._X.column(index)), int(self._X.levels[index])
            case JointFeatures(indices=indices):
                self._refine(indices)
                return self._by_target_row(self._joint), self._n_joint

    def _refine(self, indices: tuple[int, ...]) -> None:
        """One pass over the rows for each feature that the last joint did not have."""
        known = self._joined or ()
        if self._joined is None or indices[: len(known)] != known:
            self._joint, self._n_joint, known = np.zeros(self._X.n_rows, dtype=np.uint32), 1, ()
        for index in indices[len(known) :]:
            self._n_joint = refine(self._joint, self._n_joint, self._X, index)
        self._joined = indices

    def _by_target_row(self, column: NDArray[np.integer]) -> NDArray[np.integer]:
        return column if self._row_index is None else column[self._row_index]


class JointTables:
    """Joint tables (feature, target, condition) in blocks of features with the same number of levels.

    Parameters
    ----------
    X, Y, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    weights : ndarray of float, default=None
        The weight of each row of ``Y``.

    Notes
    -----
    Cost: for every feature and target a step for each row and some passes over the cells, in one thread: see
    docs/entropy_estimators.md for a comparison with the core. Columns of sparse tables are made dense block by block.
    """

    def __init__(
        self, X: Codes, Y: Codes, *, weights: NDArray[np.float64] | None = None, row_index: NDArray[np.uint32] | None = None
    ) -> None:
        self._X, self._Y, self._row_index, self._weights = X, Y, row_index, weights
        self._conditions = ConditionColumns(X, Y, row_index)
        self._targets = [_without_gaps(Y.column(target)) for target in range(Y.n_columns)]
        self._levels = np.array([_without_gaps(self._feature(j))[1] for j in range(X.n_columns)])
        self._kept: dict[tuple[int, int], Integers] = {}
        self._keeps = X.n_columns * Y.n_rows <= KEPT

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        """See :meth:`labelsieve.counting.backends.protocol.Backend.joint_counts`."""
        n_rows = self._Y.n_rows
        no_variable = np.zeros(n_rows, dtype=np.int64), 1
        z, z_levels = no_variable if given is None else _without_gaps(self._conditions.column(given)[0])
        columns = [no_variable] if targets is None else self._targets[targets]
        others = [(y * z_levels + z, y_levels) for y, y_levels in columns]
        widest = max((y_levels * z_levels for _, y_levels in others), default=1)
        one_block = [(np.zeros(1, dtype=np.intp), np.zeros((n_rows, 1), dtype=np.int64), 1)]
        for members, block, n_levels in self._blocks(widest) if features else one_block:
            weights = None if self._weights is None else np.repeat(self._weights, len(members))
            for target, (codes, y_levels) in enumerate(others):
                n_cells = y_levels * z_levels
                cells = (block * n_cells + codes[:, np.newaxis]).ravel()
                counts = np.bincount(cells, weights=weights, minlength=len(members) * n_levels * n_cells)
                shape = len(members), n_levels, y_levels, z_levels
                yield CountBlock(members, target, counts.reshape(shape).astype(np.float64))

    def _blocks(self, n_others: int) -> Iterator[tuple[NDArray[np.intp], Integers, int]]:
        """Features with the same number of levels: their indices, their codes (numbered on from feature to feature), levels."""
        for n_levels in np.unique(self._levels):
            same = np.flatnonzero(self._levels == n_levels)
            n_cells = int(n_levels) * n_others
            require_memory(32 * n_cells, f"a whole table has a cell for each combination of levels, here {n_cells:,};", 1, 1)
            width = max(1, min(CODES_AT_ONCE // max(1, self._Y.n_rows), CELLS_AT_ONCE // n_cells))
            for start in range(0, len(same), width):
                features = same[start : start + width]
                yield features, self._codes(features, int(n_levels)), int(n_levels)

    def _codes(self, features: NDArray[np.intp], n_levels: int) -> Integers:
        key = int(features[0]), len(features)
        if key in self._kept:
            return self._kept[key]
        codes = np.empty((self._Y.n_rows, len(features)), dtype=np.int64)
        for position, feature in enumerate(features):
            codes[:, position] = _without_gaps(self._feature(int(feature)))[0] + position * n_levels
        if self._keeps:
            self._kept[key] = codes
        return codes

    def _feature(self, j: int) -> Integers:
        column = self._X.column(j)
        return column if self._row_index is None else column[self._row_index]


def _without_gaps(column: Integers) -> tuple[Integers, int]:
    """Codes of the levels that occur, numbered in order, and the number of those levels.

    >>> _without_gaps(np.array([7, 2, 7]))
    (array([1, 0, 1]), 2)
    """
    occurs = np.bincount(column) > 0
    renumbered = np.cumsum(occurs) - 1
    return renumbered[column], int(renumbered[-1]) + 1


@dataclass(eq=False, repr=False)
class TableBackend:
    """The part of a :class:`~labelsieve.counting.backends.protocol.Backend` that does not depend on what counts.

    Parameters
    ----------
    X, Y, fixed, weights, row_index, n_jobs
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    """

    X: Codes
    Y: Codes
    fixed: FixedPoint
    _: KW_ONLY
    weights: RowWeights | None = None
    row_index: NDArray[np.uint32] | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        n_rows = self.X.n_rows if self.row_index is None else len(self.row_index)
        require_same_rows(n_rows, self.Y.n_rows)
        self.n_features, self.n_targets, self.n_rows = self.X.n_columns, self.Y.n_columns, n_rows
        self.conditions = ConditionColumns(self.X, self.Y, self.row_index)

    @cached_property
    def weights_of_targets(self) -> RowWeights | None:
        return None if self.weights is None else self.weights.of(self.row_index)

    @cached_property
    def _tables(self) -> JointTables:
        weights = self.weights_of_targets
        of_rows = None if weights is None else weights.values / weights.unit
        return JointTables(self.X, self.Y, weights=of_rows, row_index=self.row_index)

    def given_single(self, given: Condition) -> int:
        return sum_of_levels(*self.conditions.column(given), self.fixed, self.weights_of_targets)

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        return self._tables.joint_counts(given, targets=targets, features=features)


def target_range(targets: slice, n_targets: int, reduce: Reduce = None) -> tuple[int, int]:
    """The first target of a panel and the end of its targets, after a check of what was asked for.

    >>> target_range(slice(2, None), 5)
    (2, 5)
    """
    if reduce not in (None, "sum"):
        raise InputError(f"reduce must be None or 'sum', not {reduce!r}.")
    first, last, step = targets.indices(n_targets)
    if step != 1:
        raise InputError("The targets of a panel must be contiguous (a slice with step 1).")
    return first, max(first, last)
