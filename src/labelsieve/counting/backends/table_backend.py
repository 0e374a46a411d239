"""What backends share that have the codes in this process: their parameters, conditions, and whole tables."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.joint_tables import ConditionColumns, JointTables
from labelsieve.counting.backends.protocol import ALL_TARGETS, Condition, CountBlock, Reduce
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.joint_codes import sum_of_levels
from labelsieve.counting.row_weights import RowWeights
from labelsieve.errors import InputError, require_same_rows


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
