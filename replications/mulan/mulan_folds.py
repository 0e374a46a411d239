"""The folds of Mulan's cross-validation: Java's random numbers, and the shuffle of Weka."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.datasets.splits.plain import MOST, Split, Splitter, row_count
from labelsieve.errors import InputError, whole_number
from labelsieve.tables.types import TableLike, TargetsLike

_MASK = 2**48 - 1
_MULTIPLIER, _INCREMENT = 0x5DEECE66D, 0xB


class JavaRandom:
    r"""Integers of ``java.util.Random``, whose algorithm is fixed by Java's documentation.

    The state :math:`s` of 48 bits starts as the seed xor :math:`a`, with :math:`a` = 0x5DEECE66D, and steps by

    .. math:: s \leftarrow (a s + 11) \bmod 2^{48} .

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.below(10) for _ in range(5)]
    [0, 3, 8, 4, 0]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _next31(self) -> int:
        """Return the upper 31 bits of the next state."""
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> 17

    def below(self, bound: int) -> int:
        """Return the next number from 0 to ``bound - 1``: Java's ``nextInt(bound)``."""
        if bound & (bound - 1) == 0:  # a power of two takes the upper bits
            return (bound * self._next31()) >> 31
        while True:
            drawn = self._next31()
            if drawn - drawn % bound + bound <= 2**31:  # otherwise the last numbers would be less frequent
                return drawn % bound


class MulanFolds(Splitter):
    """Cross-validation with the folds of Mulan's ``Evaluator``, row by row.

    Rows are shuffled as in Weka: from the last to the second, each is swapped with one of those up to itself, drawn by
    :class:`JavaRandom`. The test folds are then consecutive blocks, the first ones a row longer where ``n_splits`` does not
    divide the rows.

    Parameters
    ----------
    n_splits : int, default=10
        Number of folds.
    seed : int, default=1
        Random state; Mulan's default.

    Notes
    -----
    Cost: a microsecond for each row. Rows are in ascending order, as from all splitters here; Mulan's are shuffled, which
    matters to a learner that depends on the order of its rows.

    Examples
    --------
    >>> [test.tolist() for _, test in MulanFolds(3).split(range(7))]
    [[0, 3, 5], [1, 2], [4, 6]]
    """

    def __init__(self, n_splits: int = 10, *, seed: int = 1) -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 2, MOST)
        self.seed = whole_number(seed, "seed", -(2**63), 2**63 - 1)

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield pairs of training and test rows; ``groups`` is ignored."""
        n = row_count(X, y)
        if n < self.n_splits:
            raise InputError(f"{n:,} rows are too few for n_splits={self.n_splits}; pass more rows or fewer folds.")
        for block in np.array_split(shuffled(n, self.seed), self.n_splits):
            yield np.setdiff1d(np.arange(n), block), np.sort(block)


def shuffled(n: int, seed: int) -> NDArray[np.intp]:
    """Return the rows 0 to ``n - 1`` in the order of Weka's ``randomize``."""
    rows, random = list(range(n)), JavaRandom(seed)
    for last in range(n - 1, 0, -1):
        other = random.below(last + 1)
        rows[last], rows[other] = rows[other], rows[last]
    return np.array(rows, dtype=np.intp)
