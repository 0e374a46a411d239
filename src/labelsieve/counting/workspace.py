"""Features and targets with their backend and arithmetic, shared by everything that scores them."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions, make_backend
from labelsieve.counting.backends.protocol import Sums
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.target_weights import TargetWeights
from labelsieve.errors import InputError

PAIR_BYTES = 2**28  # of the tables (feature, target), which are kept when slices of them are asked for repeatedly


class Workspace:
    """A backend for features ``X`` and targets ``Y``, and the tables that do not depend on a selection.

    Parameters
    ----------
    X, Y, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    options : CountingOptions
    target_weights : TargetWeights, optional
        Weights in sums over the targets.
    """

    def __init__(
        self,
        X: Codes,
        Y: Codes,
        options: CountingOptions = DEFAULT_OPTIONS,
        *,
        row_index: NDArray[np.uint32] | None = None,
        target_weights: TargetWeights | None = None,
    ) -> None:
        for codes, what in ((X, "X"), (Y, "Y")):
            if codes.has_missing:
                raise InputError(f"{what} has missing cells, which are not counted yet; fill them or drop their rows.")
        self.X, self.Y, self.options, self.row_index = X, Y, options, row_index
        self.target_weights = target_weights
        self.by_term = options.estimator == "shrinkage"  # terms are estimated one by one, each from a whole table
        n_targets = Y.n_columns if target_weights is None else max(Y.n_columns, target_weights.n_targets)
        estimator = "plugin" if self.by_term else options.estimator  # fixed point is then for sums of scores alone
        self.fixed = FixedPoint.for_data(Y.n_rows, options.weights, n_targets=n_targets, estimator=estimator)
        self.backend = make_backend(X, Y, self.fixed, options, row_index=row_index)

    def with_targets(self, Y: Codes) -> "Workspace":
        """The same features with other targets of the same rows, for rows without weights that count once."""
        assert self.options.weights is None
        assert self.row_index is None
        return Workspace(self.X, Y, self.options, target_weights=self.target_weights)

    @cached_property
    def _singles(self) -> tuple[Sums, Sums]:
        return self.backend.singles()

    @property
    def feature_sums(self) -> Sums:
        """``(d,)``: tables of every feature alone."""
        return self._singles[0]

    @property
    def target_sums(self) -> Sums:
        """``(q,)``: tables of every target alone."""
        return self._singles[1]

    @property
    def keeps_pairs(self) -> bool:
        """True when the tables (feature, target) are small enough to be kept."""
        return 8 * self.X.n_columns * self.Y.n_columns <= PAIR_BYTES

    @cached_property
    def pairs(self) -> Sums:
        """Tables (feature, target) for every target."""
        return self.backend.pairs()

    @cached_property
    def running_pairs(self) -> Sums:
        """Running sums of those over the targets, so that any range of targets is a difference."""
        running = np.zeros((self.X.n_columns, self.Y.n_columns + 1), dtype=np.int64)
        np.cumsum(self.pairs, axis=1, out=running[:, 1:])
        return running
