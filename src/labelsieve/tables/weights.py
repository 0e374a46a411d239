"""Weights of rows and of targets as integers, so that weighted sums are exact in any order too."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError
from labelsieve.tables.types import WeightsLike

Estimator = Literal["plugin", "miller-madow", "shrinkage"]

_TOTAL_BITS = 40
_WHOLE_LIMIT = 2**31
_SMALLEST_SHARE = 2**20  # of one row, that weights may add up to and still be corrected
_MOST_TARGETS = 2**16  # that whole weights may add up to: the fixed point needs headroom for them


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Integer weights of the rows. ``unit`` is what a weight of 1.0 became, ``total`` their sum over all that is counted."""

    values: NDArray[np.uint64]
    unit: float
    total: int

    def of(self, row_index: NDArray[np.uint32] | None) -> "RowWeights":
        """Return the weights of the rows in ``row_index``."""
        return self if row_index is None else RowWeights(self.values[row_index], self.unit, self.total)


def read_weights(sample_weight: WeightsLike, n_rows: int) -> NDArray[np.float64] | None:
    """Check weights: one for each row, finite, not negative, not all zero. None when every row weighs one."""
    if sample_weight is None:
        return None
    weights = checked_weights(sample_weight, "sample_weight", n_rows, "row")
    return None if np.all(weights == 1) else weights


def checked_weights(values: ArrayLike, what: str, n: int, kind: str) -> NDArray[np.float64]:
    """Check that there is one weight for each of ``n`` rows or targets (``kind``): finite, not negative, not all zero."""
    if np.ma.is_masked(values):
        raise InputError(f"{what} has masked values; give every {kind} a weight, 0 to leave it out.")
    try:
        weights = np.asarray(values)
        weights = weights.astype(np.float64, casting="same_kind" if weights.dtype.kind in "biufc" else "unsafe")
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be numbers up to 1.8e308, one for each of the {n} {kind}s.") from None
    if weights.shape != (n,):
        raise InputError(f"{what} has shape {weights.shape}; one weight for each of the {n} {kind}s is needed.")
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(f"{what}[{first}] is {weights[first]}; weights must be finite and not negative.")
    if not weights.any():
        raise InputError(f"{what} is zero for every {kind}; at least one {kind} must count.")
    return weights


def quantize(weights: NDArray[np.float64], times: NDArray[np.int64] | None = None) -> RowWeights:
    r"""Turn weights into integers; ``times`` is the number of times each row is counted, by default once.

    Whole numbers that add up to less than :math:`2^{31}` stay as they are: a row of weight 3 is then exactly three rows.
    Others are scaled by a power of two so that they add up to about :math:`2^{40}` and rounded; the error of a weight is at
    most :math:`2^{-40}` of the sum of all.

    >>> quantize(np.array([1.0, 3.0])).values
    array([1, 3], dtype=uint64)
    """
    largest = int(np.frexp(weights.max())[1])
    shares = np.ldexp(weights, -largest)  # below one: no overflow
    total = float((shares if times is None else shares * times).sum())
    if largest <= 31 and np.ldexp(total, largest) < _WHOLE_LIMIT and np.array_equal(weights, np.floor(weights)):
        values, unit = weights.astype(np.uint64), 1.0
    else:
        exponent = _TOTAL_BITS - int(np.frexp(total)[1]) - largest
        values = np.floor(np.ldexp(weights, exponent) + 0.5).astype(np.uint64)
        unit = float(np.ldexp(1.0, min(exponent, 1000)))
    return RowWeights(values, unit, int((values if times is None else values * times.astype(np.uint64)).sum()))


def weigh(sample_weight: WeightsLike, n_rows: int, estimator: Estimator) -> tuple[NDArray[np.bool_] | None, RowWeights | None]:
    """Return the rows to keep (None: all) and their weights (None: one each, counted at full speed)."""
    rows, kept = positive_weights(sample_weight, n_rows)
    return rows, quantized_weights(kept, estimator)


def positive_weights(sample_weight: WeightsLike, n_rows: int) -> tuple[NDArray[np.bool_] | None, NDArray[np.float64] | None]:
    """Which rows to keep (None: all), and the weights of those kept (None: one each).

    A row without weight does not count, not even for the bins of a discretizer.
    """
    weights = read_weights(sample_weight, n_rows)
    if weights is None:
        return None, None
    positive = weights > 0
    return None if positive.all() else positive, weights[positive]


def quantized_weights(
    weights: NDArray[np.float64] | None, estimator: Estimator, times: NDArray[np.int64] | None = None
) -> RowWeights | None:
    """Integer weights of the rows, each counted ``times`` times; None when no weights are needed.

    Whole numbers count as repeated rows, to the last bit. Other equal weights do not change a plug-in estimate and are left
    out, but Miller and Madow's correction and shrinkage depend on the number of rows.
    """
    equal = weights is None or bool(np.all(weights == weights[0]))
    if weights is None or (equal and weights[0] == 1):
        return None
    quantized = quantize(weights, times)
    if equal and estimator == "plugin" and quantized.unit != 1:
        return None
    if estimator != "plugin" and quantized.unit > quantized.total * _SMALLEST_SHARE:
        raise InputError(
            f"sample_weight adds up to less than a millionth of a row; estimator={estimator!r} needs frequency "
            "weights. Scale them, or use estimator='plugin'."
        )
    return quantized


@dataclass(frozen=True, eq=False)
class TargetWeights:
    r"""One weight for every target: :math:`\sum_y` becomes :math:`\sum_y w_y` and the number of targets :math:`\sum_y w_y`.

    Whole weights keep sums exact: a target of weight 3 is that target three times, to the last bit. With others, the weighted
    sum is taken in doubles, target by target in their order, so it does not depend on threads either.
    """

    values: NDArray[np.float64]
    whole: bool  # they are whole numbers, small enough to count as that many targets

    @property
    def n_targets(self) -> int:
        """Number of targets that sums need headroom for."""
        return int(self.values.sum()) if self.whole else len(self.values)


def read_target_weights(target_weight: WeightsLike, n_targets: int) -> TargetWeights | None:
    """Check weights of targets: one for each, finite, not negative, not all zero.

    >>> read_target_weights([2, 1, 0.5], 3).whole
    False
    """
    if target_weight is None:
        return None
    values = checked_weights(target_weight, "target_weight", n_targets, "target")
    return TargetWeights(values, bool(np.array_equal(values, np.floor(values)) and values.sum() <= _MOST_TARGETS))
