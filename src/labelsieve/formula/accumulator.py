"""Accumulators over the selected features: a step costs the same however many there are."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from labelsieve.counting.backends.protocol import Backend, Panel, PanelFold, fold_newest, fold_panel
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.linear_evaluation import Linear, PanelFactors
from labelsieve.formula.nodes import Formula
from labelsieve.formula.operations import Operation
from labelsieve.formula.values import Fixed, Value, fixed_value, real_value

SPILL_AFTER = 512  # additions of numbers below 2^53


class Accumulator:
    """The value of a reducer over the selected features, for every candidate (and target)."""

    def __init__(self, operation: Operation, by_target: bool, n_features: int, n_targets: int, xp: ModuleType = np) -> None:
        self.operation, self.by_target, self._xp = operation, by_target, xp
        self._shape = (n_features, n_targets if by_target else 1)
        self._low: Fixed | None = None
        self._high: Fixed | None = None  # in units of 2^32, after the first spill
        self._n_folds = 0

    def fold_panel(self, panel: Panel, fold: PanelFold) -> None:
        """Fold a linear function of the newest feature's panel: one pass. :meth:`carry` follows."""
        fold_panel(self._started().ravel(), panel, fold)

    def fold_newest(self, backend: Backend, feature: Any, fold: PanelFold, targets: slice) -> None:
        """The same for a panel that no other accumulator needs."""
        fold_newest(backend, self._started().ravel(), feature, fold, targets)

    def _started(self) -> Fixed:
        if self._low is None:
            self._low = self.operation.start(self._shape, self._xp)
        return self._low

    def fold(self, value: Fixed, targets: slice | None) -> None:
        """Fold the values of one more selected feature, for a slice of the targets."""
        low = self._started()
        self.operation.fold(low if targets is None else low[:, targets], value)
        if self.operation.linear and (targets is None or targets.stop == self._shape[1]):
            self.carry()

    @property
    def spills_next(self) -> bool:
        """True when high bits are carried over after the next fold."""
        return (self._n_folds + 1) % SPILL_AFTER == 0

    def carry(self) -> None:
        """Count a fold, and carry the high bits over before they overflow."""
        self._n_folds += 1
        if self._n_folds % SPILL_AFTER == 0:
            assert self._low is not None
            if self._high is None:
                self._high = self._xp.zeros(self._shape, dtype=np.int64)
            self._high += self._low >> 32
            self._low &= 2**32 - 1

    def value(self, n_folds: Any, targets: slice, fixed: FixedPoint) -> Value:
        """The reduced value of as many folds, for a slice of the targets; 0 while nothing is folded."""
        if self._low is None:
            return fixed_value(self._xp.zeros((self._shape[0], 1), dtype=np.int64))
        low = self._low[:, targets] if self.by_target else self._low
        if self._high is None and not self.operation.averages:
            return fixed_value(low)
        total = fixed.information(low)
        if self._high is not None:
            high = self._high[:, targets] if self.by_target else self._high
            total = fixed.information(high) * 2.0**32 + total
        return real_value(total / n_folds if self.operation.averages else total)


@dataclass
class Fold:
    """A reducer over the selected: its body, the linear form of the body if there is one, and its accumulator."""

    body: Formula
    linear: Linear | None
    accumulator: Accumulator
    panel_factors: PanelFactors | None = None  # set when the newest feature's panel is all that it needs
    static: Fixed | None = None
    pairs: bool = False  # of selected features, each with all before it

    def of_panel(self, single: int, static: Fixed | None) -> PanelFold:
        """The fold of the panel of a feature whose table is ``single``; ``static`` is added for every feature."""
        factors = self.panel_factors
        assert factors is not None
        constant = factors.single * single
        if static is not None and static.size == 1:
            return PanelFold(constant + int(static[0, 0]), None, factors.pair, factors.triple)
        return PanelFold(constant, None if static is None else static.ravel(), factors.pair, factors.triple)
