"""Packed features and targets with their arithmetic, shared by everything that scores them."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import Backend, NativeBackend
from labelsieve.counting.backends.joint_tables import TableBackend
from labelsieve.counting.backends.protocol import Sums
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.row_weights import Estimator, RowWeights
from labelsieve.counting.shrinkage import shrink
from labelsieve.counting.target_weights import TargetWeights

PAIR_BYTES = 2**28  # of the tables (feature, target), which are kept when parts of them are asked for again and again


class Workspace:
    """Features ``X`` and targets ``Y``, packed once, and the tables that do not depend on a selection.

    ``weights`` are quantized row weights; ``row_index`` name the row of ``X`` that each row of ``Y`` belongs to, where that is
    not the row of the same number; ``target_weights`` count in sums over the targets; ``estimator`` as for
    :func:`labelsieve.information.entropy`. With shrinkage nothing is packed, and ``tables`` has whole ones.
    """

    tables: TableBackend | None

    def __init__(
        self,
        X: Codes,
        Y: Codes,
        *,
        weights: RowWeights | None = None,
        row_index: NDArray[np.uint32] | None = None,
        target_weights: TargetWeights | None = None,
        estimator: Estimator = "plugin",
        n_jobs: int | None = None,
    ) -> None:
        self.X, self.Y, self.row_index, self._n_jobs = X, Y, row_index, n_jobs
        self.target_weights = target_weights
        self.weights = None if weights is None else weights.of(row_index)
        n_targets = Y.n_columns if target_weights is None else max(Y.n_columns, target_weights.n_targets)
        self.estimator, self.tables = estimator, None
        if estimator == "shrinkage":  # fixed point is for what scores add up to, then
            self.fixed = FixedPoint.for_data(Y.n_rows, weights, n_targets=n_targets)
            of_rows = None if self.weights is None else self.weights.values / self.weights.unit
            self.tables = TableBackend(X, Y, shrink, weights=of_rows, row_index=row_index)
            return
        self.fixed = FixedPoint.for_data(Y.n_rows, weights, n_targets=n_targets, estimator=estimator)
        self.features: Backend = NativeBackend(X, Y, self.fixed, weights=weights, row_index=row_index, n_jobs=n_jobs)
        self.feature_sums, self.target_sums = self.features.singles()

    def with_targets(self, Y: Codes) -> "Workspace":
        """The same features with other targets of the same rows, for rows that have no weights and count once."""
        assert self.weights is None
        assert self.row_index is None
        return Workspace(self.X, Y, target_weights=self.target_weights, estimator=self.estimator, n_jobs=self._n_jobs)

    @cached_property
    def among_targets(self) -> Backend:
        """The targets counted among themselves, in place of features."""
        constant = Codes.from_values(np.zeros((self.Y.n_rows, 1), dtype=np.uint8))
        return NativeBackend(self.Y, constant, self.fixed, weights=self.weights, n_jobs=self._n_jobs)

    @property
    def keeps_pairs(self) -> bool:
        """True when the tables (feature, target) are small enough to be kept."""
        return 8 * self.X.n_columns * self.Y.n_columns <= PAIR_BYTES

    @cached_property
    def pairs(self) -> Sums:
        """Tables (feature, target) for every target."""
        return self.features.pairs()

    @cached_property
    def running_pairs(self) -> Sums:
        """Running sums of those over the targets, so that any range of targets is a difference."""
        running = np.zeros((self.X.n_columns, self.Y.n_columns + 1), dtype=np.int64)
        np.cumsum(self.pairs, axis=1, out=running[:, 1:])
        return running
