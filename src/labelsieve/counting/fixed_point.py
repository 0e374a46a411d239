r"""The one arithmetic of entropies: :math:`n \log n` in 64-bit fixed point.

Sums of integers do not depend on their order, so a sum over the cells of a table is the same bits on any number of
threads, for any way of counting, from one array or from chunks. The values are computed here once and handed to every
backend, because logarithms differ between machines; what is derived from them uses only operations that IEEE 754
rounds exactly.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.errors import InputError
from labelsieve.tables.weights import Estimator, RowWeights

ESTIMATORS = ("plugin", "miller-madow")

_N_LOGS = 4096
_HEADROOM_BITS = 52  # of 63: a double holds every sum over the targets, and 1,024 of them add up without overflow
_MOST_BITS = 50  # about as fine as a double
_CACHED_ROWS = 2**14  # for few rows the table of values is a sixth of a call, and repeated calls need the same one


@cache
def logarithms() -> NDArray[np.float64]:
    """Return ``log(1 + i/4096)`` for i < 4096, then ``log(2)``: all logarithms that are ever computed."""
    table = np.log1p(np.arange(_N_LOGS + 1) / _N_LOGS)
    table.flags.writeable = False
    return table


def table_log(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of positive numbers, operation by operation as in the core's function of this name.

    For 0 it returns a finite number, so that ``n log n`` is 0 there.
    """
    logs, bits = logarithms(), n.view(np.int64)
    one, leading, fraction = 0x3FF0000000000000, 0x000FFF0000000000, 0x000FFFFFFFFFFFFF
    first_bits = bits & leading
    log: NDArray[np.float64] = logs[first_bits >> 40]
    first_bits |= one
    center, mantissa = first_bits.view(np.float64), (bits & fraction | one).view(np.float64)
    # Arrays are changed in place: fresh memory for every operation takes longer than the operations.
    r = np.subtract(mantissa, center, out=mantissa)
    r /= center
    series = np.multiply(r, 0.25, out=center)
    for term in (1.0 / 3.0, 0.5, 1.0):
        np.subtract(term, series, out=series)
        series *= r
    log += series
    exponent = (bits >> 52).astype(np.float64)
    exponent -= 1023.0
    exponent *= logs[_N_LOGS]
    log += exponent
    return log


@dataclass(frozen=True, eq=False)
class FixedPoint:
    r"""Fixed-point values of :math:`f(n) = n \log n` (plug-in) or :math:`n \log n - \frac{1}{2} [n > 0]` (Miller-Madow).

    With :math:`S = \sum f(n)` over the cells of a table, its entropy is :math:`(f(N) - S) / N` for both estimators. The scale
    :math:`2^s` depends on the number of rows (or their weight) and of targets alone.
    """

    total: int  # rows, or the sum of their quantized weights
    bits: int  # the scale s
    unit: float  # what a row of weight one counts: 1 without weights
    estimator: Estimator
    # of every count from 0 to the total; None with weights, whose sums are too large for a table
    values: NDArray[np.int64] | None

    @classmethod
    def for_rows(cls, n_rows: int, *, n_targets: int = 1, estimator: Estimator = "plugin") -> "FixedPoint":
        """Make the arithmetic of counts of ``n_rows`` rows, added over up to ``n_targets`` targets.

        >>> fixed = FixedPoint.for_rows(4)
        >>> fixed.values / fixed.scale
        array([0.        , 0.        , 1.38629436, 3.29583687, 5.54517744])
        """
        return cls.for_data(n_rows, None, n_targets=n_targets, estimator=estimator)

    @classmethod
    def for_data(
        cls, n_rows: int, weights: RowWeights | None, *, n_targets: int = 1, estimator: Estimator = "plugin"
    ) -> "FixedPoint":
        """Make the arithmetic of rows that are weighted or not, for sums over up to ``n_targets`` targets."""
        if weights is None:
            return (_for_rows if n_rows <= _CACHED_ROWS else _for_rows.__wrapped__)(n_rows, n_targets, estimator)
        cells = weights.total if weights.unit == 1 else n_rows  # weights that repeat rows: the scale of the repeated rows
        return cls.for_weights(weights.total, unit=weights.unit, n_rows=cells, n_targets=n_targets, estimator=estimator)

    @classmethod
    def for_weights(
        cls, total: int, *, unit: float, n_rows: int = 0, n_targets: int = 1, estimator: Estimator = "plugin"
    ) -> "FixedPoint":
        """Make the arithmetic of ``n_rows`` weights that add up to ``total``, where a weight of one is ``unit``."""
        if estimator not in ESTIMATORS:
            raise InputError(
                f"estimator={estimator!r} needs whole tables, and only sums over their cells are available here (learned "
                "networks, quadratic programs); use 'plugin' or 'miller-madow', or give the network itself."
            )
        largest = max(1.0, total * math.log(max(total, 2)))
        if estimator != "plugin":
            largest += 0.5 * unit * n_rows  # a penalty for every cell
        bits = min(_MOST_BITS, _HEADROOM_BITS - math.ceil(math.log2(largest * max(1, n_targets))))
        return cls(total, bits, unit, estimator, None)

    @property
    def scale(self) -> float:
        """The scale as a number: ``2**bits``."""
        return math.ldexp(1.0, self.bits)

    @property
    def penalty(self) -> int:
        """The fixed-point number that Miller and Madow's estimator takes off every cell that is not empty."""
        return 0 if self.estimator == "plugin" else math.floor(0.5 * self.unit * self.scale + 0.5)

    def __call__(self, counts: NDArray[np.integer] | NDArray[np.float64]) -> NDArray[np.int64]:
        """Return ``f`` of every count: from the table, or operation by operation as in the core's ``WeightedTerm``."""
        if self.values is not None:
            known: NDArray[np.int64] = self.values[counts.astype(np.intp, copy=False)]
            return known
        n = np.array(counts, dtype=np.float64)
        fixed = table_log(n)
        fixed *= n
        fixed *= self.scale
        fixed += 0.5
        whole: NDArray[np.int64] = fixed.astype(np.int64)  # not negative: truncated is rounded down
        return whole if self.penalty == 0 else whole - self.penalty * (n > 0)

    @cached_property
    def top(self) -> int:
        """The value ``f(N)`` of all rows."""
        return int(self(np.array([self.total]))[0])

    def information(self, fixed: NDArray[np.int64]) -> NDArray[np.float64]:
        """Convert fixed-point sums to nats: divide by the scale, a power of two, and by ``N``."""
        return fixed / self.divisor

    @cached_property
    def divisor(self) -> float:
        """The number that converts a fixed-point sum to nats: the scale times the number of rows."""
        return self.scale * self.total


@lru_cache(maxsize=8)
def _for_rows(n_rows: int, n_targets: int, estimator: Estimator) -> FixedPoint:
    plain = FixedPoint.for_weights(n_rows, unit=1.0, n_rows=n_rows, n_targets=n_targets, estimator=estimator)
    values = np.empty(n_rows + 1, dtype=np.int64)
    core.fixed_terms(0, logarithms(), plain.scale, plain.penalty, values)
    values.flags.writeable = False
    return FixedPoint(n_rows, plain.bits, 1.0, estimator, values)
