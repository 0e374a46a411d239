"""Operations of reducers: what a formula is reduced by, whatever variable it is reduced over.

An operation owns everything that depends on it: its identity, how values are reduced and folded, and what is left when all
have been folded. Planning asks only whether it is ``linear``, and nothing anywhere compares names. To define one, add an
:class:`Operation` and its reducers in :mod:`labelsieve.formula.symbols`.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.values import Fixed, Value, fixed_value, real_value


@dataclass(frozen=True)
class Operation:
    """A reduction of fixed-point values, exact in any order.

    Attributes
    ----------
    name : str
        As in the names of reducers: ``sum`` of ``sum_y``.
    ufunc : numpy.ufunc
        Of two arrays: associative and commutative.
    identity : int
        Of ``ufunc``.
    linear : bool
        It distributes over sums and constant factors, and is 0 for an empty selection.
    averages : bool
        It is divided by the number of values.
    """

    name: str
    ufunc: np.ufunc
    identity: int
    linear: bool
    averages: bool = False

    def start(self, shape: tuple[int, int], xp: ModuleType = np) -> Fixed:
        """An array to fold into, of numpy or another module."""
        started: Fixed = xp.full(shape, self.identity, dtype=np.int64)
        return started

    def reduce(self, values: Fixed) -> Fixed:
        """Over the targets, the last axis, which stays with length one."""
        given: Any = values
        if isinstance(given, np.ndarray):
            reduced: Fixed = self.ufunc.reduce(given, axis=-1, keepdims=True)
        else:  # CuPy's functions cannot reduce, its arrays can
            reduced = getattr(given, _METHODS[self.ufunc])(axis=-1, keepdims=True)
        return reduced

    def fold(self, into: Fixed, values: Fixed, where: NDArray[np.bool_] | None = None) -> None:
        """Fold values in place, only the targets in ``where``."""
        self.ufunc(into, values if where is None else np.where(where, values, self.identity), out=into)

    def finish(self, folded: Fixed, counts: NDArray[np.intp], fixed: FixedPoint) -> Value:
        """The result of as many folds as ``counts``; 0 where there were none."""
        if self.averages:
            return real_value(fixed.information(folded) / np.maximum(counts, 1))
        if self.linear or (counts.ndim == 0 and counts > 0):
            return fixed_value(folded)
        return fixed_value(np.where(counts > 0, folded, 0))


_METHODS: dict[np.ufunc, str] = {np.add: "sum", np.minimum: "min", np.maximum: "max"}

SUM = Operation("sum", np.add, 0, linear=True)
MEAN = Operation("mean", np.add, 0, linear=True, averages=True)
MIN = Operation("min", np.minimum, np.iinfo(np.int64).max, linear=False)
MAX = Operation("max", np.maximum, np.iinfo(np.int64).min, linear=False)
