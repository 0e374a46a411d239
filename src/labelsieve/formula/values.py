"""Values of formulas, fixed-point integers or doubles, and the operations that reduce them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import InputError
from labelsieve.tables.weights import TargetWeights

Fixed = NDArray[np.int64]
Real = NDArray[np.float64]
LARGEST = 2**53  # of a folded value: no accumulator overflows between two spills
TOO_LARGE = "A term of the formula is too large for 64-bit fixed point: divide the formula by a constant."
SMALL_FACTOR = 2**10  # for which every sum over the targets has headroom


class Value(NamedTuple):
    """An array of fixed-point integers (``exact``), or of doubles in nats."""

    array: NDArray[Any]
    exact: bool

    def real(self, fixed: FixedPoint) -> Real:
        """Return the value in nats."""
        return fixed.information(self.array) if self.exact else self.array

    def fixed(self, fixed: FixedPoint) -> Fixed:
        """Return the value in fixed point; doubles are rounded."""
        if self.exact:
            return self.array
        scaled = np.floor(self.array * (fixed.scale * fixed.total) + 0.5)
        if largest(scaled) >= LARGEST:
            raise InputError(TOO_LARGE)
        return scaled.astype(np.int64)

    @property
    def whole(self) -> int | None:
        """The whole number that a single double is; None for other values."""
        if self.exact or self.array.size != 1:
            return None
        number = float(self.array[0, 0])
        return int(number) if number.is_integer() and abs(number) < 2**31 else None

    @staticmethod
    def total(values: "list[Value]", fixed: FixedPoint) -> "Value":
        """Add values; the sum is exact when all of them are."""
        exact = all(value.exact for value in values)
        total, *others = together([value.array if exact else value.real(fixed) for value in values])
        for array in others:
            total = total + array
        return Value(total, exact)

    @staticmethod
    def product(values: "list[Value]", fixed: FixedPoint) -> "Value":
        """Multiply values; the product is exact for one exact value and whole numbers."""
        wholes = [value.whole for value in values]
        others = [value for value, whole in zip(values, wholes, strict=True) if whole is None]
        number = 1
        for whole in wholes:
            number *= 1 if whole is None else whole
        if len(others) == 1 and others[0].exact and _fits(others[0].array, number):
            return Value(others[0].array * np.int64(number), True)
        real, *others_real = together([value.real(fixed) for value in values])
        for array in others_real:
            real = real * array
        return Value(real, False)

    @staticmethod
    def ratio(top: "Value", bottom: "Value", fixed: FixedPoint) -> "Value":
        """Divide values; the ratio is 0 where the denominator is 0."""
        numerator, denominator = together([top.real(fixed), bottom.real(fixed)])
        if isinstance(denominator, float):
            return Value(numerator / denominator if denominator else numerator * 0.0, False)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = numerator / denominator
        return Value(np.where(denominator == 0, 0.0, ratio), False)

    @staticmethod
    def apply(function: str, values: "list[Value]", fixed: FixedPoint) -> "Value":
        """Apply ``pos``, ``minimum``, ``maximum`` (exact when their arguments are) or ``sqrt``."""
        if function == "sqrt":
            return Value(np.sqrt(np.maximum(values[0].real(fixed), 0.0)), False)
        exact = all(value.exact for value in values)
        arrays = together([value.array if exact else value.real(fixed) for value in values])
        if function == "pos":
            return Value(np.maximum(arrays[0], 0), exact)
        return Value({"minimum": np.minimum, "maximum": np.maximum}[function](*arrays), exact)


def _fits(array: Fixed | Real, factor: int) -> bool:
    """True when the products stay well inside 64 bits."""
    return abs(factor) < SMALL_FACTOR or int(largest(array)) * abs(factor) < LARGEST


def largest(array: Any) -> Any:
    """Return the largest absolute value of an array of any device; 0 for an empty one."""
    return np.abs(array).max() if array.size else 0


def together(arrays: list[Any]) -> list[Any]:
    """Return arrays that can be computed with together: next to arrays of a GPU, single numbers of the host are Python numbers.

    >>> together([np.array([[2.0]]), np.array([[1.0], [3.0]])])
    [array([[2.]]), array([[1.],
           [3.]])]
    """
    for array in arrays:
        if not isinstance(array, np.ndarray):
            break
    else:
        return arrays
    return [array.item() if isinstance(array, np.ndarray) else array for array in arrays]


def weighted_sum(values: Iterable[tuple[Value, slice]], weights: TargetWeights, fixed: FixedPoint) -> Value:
    """Add values over targets with weights: exact for whole weights, else in doubles, one target after the other."""
    exact, real = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1))
    for value, targets in values:
        of_targets = weights.values[targets]
        if weights.whole:
            whole = value.fixed(fixed) * of_targets.astype(np.int64)
            exact = exact + whole.sum(axis=1, keepdims=True)
            continue
        array = value.real(fixed)
        for column, weight in zip(np.broadcast_to(array, (len(array), len(of_targets))).T, of_targets, strict=True):
            real = real + column[:, np.newaxis] * weight
    return Value(exact, True) if weights.whole else Value(real, False)


@dataclass(frozen=True)
class Operation:
    """A reduction of fixed-point values, exact in any order."""

    name: str  # as in the names of reducers: ``sum`` of ``sum_y``
    ufunc: np.ufunc  # of two arrays: associative and commutative
    identity: int
    linear: bool  # it distributes over sums and constant factors, and is 0 for an empty selection
    averages: bool = False  # it is divided by the number of values

    def reduce(self, values: Fixed) -> Fixed:
        """Reduce over the targets, the last axis, which stays with length one."""
        given: Any = values
        if isinstance(given, np.ndarray):
            reduced: Fixed = self.ufunc.reduce(given, axis=-1, keepdims=True)
        else:  # CuPy's functions cannot reduce, its arrays can
            reduced = getattr(given, _METHODS[self.ufunc])(axis=-1, keepdims=True)
        return reduced

    def fold(self, into: Fixed, values: Fixed, where: NDArray[np.bool_] | None = None) -> None:
        """Fold values into an array in place, or only those of the targets in ``where``."""
        self.ufunc(into, values if where is None else np.where(where, values, self.identity), out=into)

    def finish(self, folded: Fixed, counts: NDArray[np.intp], fixed: FixedPoint) -> Value:
        """Return the result of ``counts`` folds for each target; 0 where there were none."""
        if self.averages:
            return Value(fixed.information(folded) / np.maximum(counts, 1), False)
        if self.linear or (counts.ndim == 0 and counts > 0):
            return Value(folded, True)
        return Value(np.where(counts > 0, folded, 0), True)


_METHODS: dict[np.ufunc, str] = {np.add: "sum", np.minimum: "min", np.maximum: "max"}

SUM = Operation("sum", np.add, 0, linear=True)
MEAN = Operation("mean", np.add, 0, linear=True, averages=True)
MIN = Operation("min", np.minimum, np.iinfo(np.int64).max, linear=False)
MAX = Operation("max", np.maximum, np.iinfo(np.int64).min, linear=False)
