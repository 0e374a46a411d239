"""The redundancy matrix of the features, column by column or as a whole if it is small, and its Nystrom approximation."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions, make_backend
from labelsieve.counting.backends.protocol import pairs_from
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.resources import n_threads

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]

LARGEST_WHOLE = 4096  # features whose matrix may be stored as a whole: 128 MB
BLOCK = 64  # columns counted together for the mean: larger blocks are hardly faster, and each doubling costs a bit
_LOW = 20  # bits
_ROUNDING = 1e-12  # smaller eigenvalues, relative to the largest


class Redundancy:
    r""":math:`H_{ij} = I(x_i; x_j)` with :math:`H_{ii} = H(x_i)`, in bits.

    Parameters
    ----------
    X : Codes
    columns : ndarray of int, default=None
        Only these features, in ascending order.
    options : CountingOptions
    memory_limit : int
        Bytes of columns that are kept; the least recently used one is dropped first.

    Notes
    -----
    Every entry is an integer of fixed point before it becomes a number, so columns and the mean do not depend on threads.
    Cost: a column takes one pass over pairs; the mean all columns, counted in blocks, a fourth of that or less.

    Examples
    --------
    >>> matrix = Redundancy(Codes.from_values([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    >>> matrix.column(0)
    array([1., 1., 0.])
    >>> round(matrix.mean() * 9, 9)
    5.0
    """

    def __init__(
        self,
        X: Codes,
        options: CountingOptions = DEFAULT_OPTIONS,
        *,
        columns: NDArray[np.intp] | None = None,
        memory_limit: int = 2**30,
    ) -> None:
        self._columns = np.arange(X.n_columns) if columns is None else columns
        self._all = len(self._columns) == X.n_columns
        self._fixed = FixedPoint.for_data(X.n_rows, options.weights, n_targets=BLOCK, estimator=options.estimator)
        self._backend = make_backend(X, X, self._fixed, options)
        self._threads = core.Threads(n_threads(options.n_jobs))
        self._sums = self._of_columns(self._backend.singles()[0])
        self._whole: Array | None = None
        self._total: int | None = None  # of all entries, in fixed point
        self._kept: OrderedDict[int, Array] = OrderedDict()
        self._may_store = len(self._columns) <= LARGEST_WHOLE and 8 * len(self._columns) ** 2 <= memory_limit
        self._most_kept = max(2, memory_limit // (8 * len(self._columns)))

    def __len__(self) -> int:
        return len(self._columns)

    @cached_property
    def diagonal(self) -> Array:
        """Entropies."""
        return self._bits(self._fixed.top - self._sums)

    def column(self, j: int) -> Array:
        """Column ``j``, which must not be modified."""
        if self._whole is not None:
            row: Array = self._whole[j]  # it is symmetric
            return row
        if j in self._kept:
            self._kept.move_to_end(j)
            return self._kept[j]
        feature = int(self._columns[j])
        pairs = self._backend.pairs(targets=slice(feature, feature + 1))[:, 0]
        column = self._bits(self._of_columns(pairs) - self._sums - (int(self._sums[j]) - self._fixed.top))
        self._kept[j] = column
        if len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)
        return column

    def whole(self, *, counted: bool = False) -> Array | None:
        """All columns, which must not be modified; None if they exceed the memory limit or 4,096 features.

        With ``counted``, only if they are stored already, as after :meth:`mean`.
        """
        if self._may_store and self._whole is None and not counted:
            self._count_all(None)
        return self._whole

    def _count_all(self, progress: Progress | None) -> None:
        """Count all columns in blocks, for their sum and, if they may be stored, to keep them; a pair is counted once."""
        matrix = np.empty((len(self), len(self))) if self._may_store else None
        total = 0
        for block in self._blocks():
            first, after = int(block[0]), int(block[-1]) + 1
            margins = self._sums[block] - self._fixed.top
            if matrix is None:
                shared = self._of_columns(self._pairs_of(block, "sum")) - len(block) * self._sums - int(margins.sum())
            else:
                pairs = self._of_columns(self._pairs_of(block))
                shared = core.information_of_pairs(
                    pairs, self._sums, margins, self._fixed.divisor, self._is_plugin, matrix, first, self._threads
                )
            total += _exact_sum(shared[first:after]) + 2 * _exact_sum(shared[after:])
            if progress is not None:
                progress(after, len(self))
        self._whole, self._total = matrix, total

    def _pairs_of(self, block: NDArray[np.intp], reduce: Literal["sum"] | None = None) -> NDArray[np.int64]:
        """Sums of the columns of a block with all features from its first one on."""
        features = slice(int(self._columns[block[0]]), int(self._columns[block[-1]]) + 1)
        return pairs_from(self._backend, features.start, targets=features, reduce=reduce)

    def mean(self, progress: Progress | None = None) -> float:
        """The exact mean of all entries; memory is one block of sums, or the whole matrix if it may be stored."""
        if self._total is None:
            self._count_all(progress)
        assert self._total is not None
        return self._total / (self._fixed.scale * self._fixed.total * math.log(2)) / len(self) ** 2

    def sampled_mean(self, sample: NDArray[np.intp], progress: Progress | None = None) -> float:
        """The mean estimated from the columns ``sample``: the diagonal is exact, the other entries are estimated."""
        d, diagonal, off_diagonal = len(self), self.diagonal, 0.0
        for done, j in enumerate(map(int, sample)):
            off_diagonal += math.fsum(self.column(j)) - float(diagonal[j])
            if progress is not None:
                progress(done + 1, len(sample))
        return (math.fsum(diagonal) + off_diagonal * d / len(sample)) / d**2

    def _of_columns(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        return values if self._all else values[self._columns]

    def _bits(self, fixed: NDArray[np.int64]) -> Array:
        information = self._fixed.information(fixed)
        information /= math.log(2)
        # A plug-in estimate is never negative; the last bit of the fixed point may be.
        return np.maximum(information, 0.0, out=information) if self._is_plugin else information

    @property
    def _is_plugin(self) -> bool:
        return self._fixed.estimator == "plugin"

    def _blocks(self) -> Iterator[NDArray[np.intp]]:
        """The columns in runs without gaps, none longer than a block."""
        gaps = np.flatnonzero(np.diff(self._columns) != 1) + 1
        for run in np.split(np.arange(len(self)), gaps):
            yield from np.split(run, range(BLOCK, len(run), BLOCK))


class Nystrom:
    r""":math:`\tilde H = C A^+ C'` with :math:`C` some columns of :math:`H` and :math:`A` their rows in it.

    Rodriguez-Lujan, Huerta, Elkan and Cruz (2010). :math:`\tilde H` is positive semi-definite: eigenvalues of
    :math:`A` that are not positive are left out. Up to those it agrees with :math:`H` in the sampled rows and columns.

    Parameters
    ----------
    matrix : Redundancy
    sample : ndarray of int
        Indices of the sampled columns.

    Notes
    -----
    Cost: one pass over pairs for each sampled column, :math:`r^3` for their eigenvalues, and :math:`8 d r` bytes. The products
    are numpy's: their last bits may depend on its threads (the selector allows it one), never on ours.

    Examples
    --------
    >>> matrix = Redundancy(Codes.from_values([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    >>> Nystrom(matrix, np.array([0, 2])).column(1).round(12)
    array([1., 1., 0.])
    """

    def __init__(self, matrix: Redundancy, sample: NDArray[np.intp]) -> None:
        columns = np.column_stack([matrix.column(int(j)) for j in sample])
        values, vectors = np.linalg.eigh(columns[sample])
        positive = values > _ROUNDING * max(values[-1], np.finfo(float).tiny)
        self._factor = columns @ (vectors[:, positive] / np.sqrt(values[positive]))
        self.diagonal: Array = np.einsum("ij,ij->i", self._factor, self._factor)

    def __len__(self) -> int:
        return len(self._factor)

    def column(self, j: int) -> Array:
        """Column ``j`` of the approximation."""
        column: Array = self._factor @ self._factor[j]
        return column

    def whole(self, *, counted: bool = False) -> Array | None:
        """None: columns are products with the factor."""
        return None

    def mean(self) -> float:
        """The mean of all entries."""
        sums = self._factor.sum(axis=0)
        return float(sums @ sums) / len(self) ** 2


def _exact_sum(values: NDArray[np.int64]) -> int:
    """The sum of many large integers, which may exceed 64 bits."""
    high, low = values >> _LOW, values & (2**_LOW - 1)
    return (int(high.sum()) << _LOW) + int(low.sum())
