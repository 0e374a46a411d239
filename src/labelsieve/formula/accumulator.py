"""Accounts: what has come together over the selected features."""

from dataclasses import dataclass

import numpy as np

from labelsieve.counting.backends.folding import PanelFold, fold_newest, fold_panel
from labelsieve.counting.backends.protocol import Backend, Panel
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.linear_evaluation import Linear, PanelFactors
from labelsieve.formula.nodes import Formula
from labelsieve.formula.values import Fixed, Value, fixed_value, real_value

SPILL_AFTER = 512  # additions of numbers below 2^53


class Accumulator:
    """A sum, mean, least or largest value over the selected features, for every candidate (and target)."""

    def __init__(self, operation: str, by_target: bool, n_features: int, n_targets: int) -> None:
        self.operation, self.by_target = operation, by_target
        self._shape = (n_features, n_targets if by_target else 1)
        self._low: Fixed | None = None
        self._high: Fixed | None = None  # of 2^32 each, once there are many
        self._folded = 0

    def fold_panel(self, panel: Panel, fold: PanelFold) -> None:
        """Take in a linear function of the newest feature's panel: one pass."""
        fold_panel(self._begun().ravel(), panel, fold)
        self._spill()

    def fold_newest(self, backend: Backend, feature: int, fold: PanelFold, targets: slice) -> None:
        """The same for a panel that no other accumulator needs."""
        fold_newest(backend, self._begun().ravel(), feature, fold, targets)
        self._spill()

    def _begun(self) -> Fixed:
        if self._low is None:
            start = {"min": np.iinfo(np.int64).max, "max": np.iinfo(np.int64).min}.get(self.operation, 0)
            self._low = np.full(self._shape, start, dtype=np.int64)
        return self._low

    def fold(self, value: Fixed, place: slice | None) -> None:
        """Take in one more selected feature's values, for the targets in ``place``."""
        low = self._begun()
        part = low if place is None else low[:, place]
        if self.operation == "min":
            np.minimum(part, value, out=part)
        elif self.operation == "max":
            np.maximum(part, value, out=part)
        else:
            part += value
            if place is None or place.stop == self._shape[1]:
                self._spill()

    def _spill(self) -> None:
        self._folded += 1
        if self._folded % SPILL_AFTER == 0:
            assert self._low is not None
            if self._high is None:
                self._high = np.zeros(self._shape, dtype=np.int64)
            self._high += self._low >> 32
            self._low &= 2**32 - 1

    def value(self, n_selected: int, place: slice, fixed: FixedPoint) -> Value:
        """What has come together, for the targets in ``place``; 0 while nothing has."""
        if self._low is None:
            return fixed_value(np.zeros((self._shape[0], 1), dtype=np.int64))
        low = self._low[:, place] if self.by_target else self._low
        if self._high is None and self.operation != "mean":
            return fixed_value(low)
        total = fixed.information(low)
        if self._high is not None:
            high = self._high[:, place] if self.by_target else self._high
            total = fixed.information(high) * 2.0**32 + total
        return real_value(total / n_selected if self.operation == "mean" else total)


@dataclass
class Fold:
    """A reducer over the selected: what is folded, in which way, and what came together."""

    body: Formula
    linear: Linear | None
    account: Accumulator
    panel_factors: PanelFactors | None = None  # set when the newest feature's panel is all that it needs
    static: Fixed | None = None

    def of_panel(self, single: int, static: Fixed | None) -> PanelFold:
        """What the panel of a feature adds, whose own table is ``single``; ``static`` is what every feature adds."""
        factors = self.panel_factors
        assert factors is not None
        constant = factors.single * single
        if static is not None and static.size == 1:
            return PanelFold(constant + int(static[0, 0]), None, factors.pair, factors.triple)
        return PanelFold(constant, None if static is None else static.ravel(), factors.pair, factors.triple)
