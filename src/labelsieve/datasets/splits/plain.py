"""Random halves, and the base class and helpers of all splitters."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from labelsieve.errors import InputError, is_whole, whole_number
from labelsieve.tables.types import TableLike, TargetsLike

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]
Seed = int | np.random.Generator | np.random.RandomState | None
MOST = 2**31 - 1  # splits or rows; far beyond what anyone runs, and it fits every integer type


class Splitter(BaseCrossValidator):
    """A splitter of scikit-learn whose rows come in ascending order, in training and in test rows."""

    n_splits: int

    def get_n_splits(self, X: TableLike | None = None, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; the arguments are ignored."""
        return self.n_splits

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield pairs of training and test rows."""
        raise NotImplementedError


class HalfSplits(Splitter):
    """Repeated random splits into halves, or parts of other sizes: one part to select and train on, the other to test.

    Thirty repetitions of 50/50 are what Sechidis, Nikolaou and Brown (2014) and Sechidis et al. (2019) report means over.
    Labels are ignored; :class:`IterativeStratifiedShuffleSplit` keeps their shares.
    For plain folds scikit-learn's ``KFold(shuffle=True)`` serves as it is, also with many labels.

    Cost: one permutation of the rows per repetition.

    Parameters
    ----------
    n_repeats : int, default=30
        Number of splits.
    train_size : float or int, default=0.5
        Share of the rows to train on, rounded down, or their number. All others are test rows.
    random_state : int, Generator, RandomState or None, default=None
        A number gives the same halves in every call of ``split``.

    Examples
    --------
    >>> halves = HalfSplits(n_repeats=2, random_state=0)
    >>> for train, test in halves.split([[0], [1], [2], [3], [4]]):
    ...     len(train), len(test)
    (2, 3)
    (2, 3)
    """

    def __init__(self, n_repeats: int = 30, train_size: float = 0.5, random_state: Seed = None) -> None:
        self.n_repeats = whole_number(n_repeats, "n_repeats", 1, MOST)
        self.train_size = train_size
        self.random_state = checked_seed(random_state)
        part_size(train_size, "train_size", MOST)

    def get_n_splits(self, X: TableLike | None = None, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> int:
        """Return the number of repetitions; the arguments are ignored."""
        return self.n_repeats

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Yield training and test rows of every repetition; ``groups`` is ignored."""
        n = row_count(X, y)
        taken = part_size(self.train_size, "train_size", n)
        if not 0 < taken < n:
            raise InputError(
                f"train_size={self.train_size!r} of {n:,} rows leaves {taken:,} to train and {n - taken:,} to test on; "
                "both need at least one: pass more rows or another train_size."
            )
        rng = generator(self.random_state)
        for _ in range(self.n_repeats):
            test = np.ones(n, dtype=bool)
            test[rng.permutation(n)[:taken]] = False
            yield parts(test)


def row_count(X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> int:
    """Return the number of rows of ``X``, or of ``y`` where ``X`` is None; refuse lengths that differ."""
    lengths = {name: _length(value, name) for name, value in (("X", X), ("y", y), ("groups", groups)) if value is not None}
    if not lengths:
        raise InputError("X and y are both None: pass the data whose rows shall be split.")
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {count:,}" for name, count in lengths.items())
        raise InputError(f"The numbers of rows differ: {found}. Pass X, y and groups of the same rows.")
    return next(iter(lengths.values()))


def _length(value: Any, name: str) -> int:
    shape = getattr(value, "shape", None)
    if shape:
        return int(shape[0])
    try:
        return len(value)
    except TypeError:
        raise InputError(f"{name} has no rows: expected an array, a table or a list, not {type(value).__name__}.") from None


def checked_seed(random_state: Seed) -> Seed:
    """Refuse a ``random_state`` of which no generator can be made; return any other as it is."""
    if random_state is not None and not isinstance(random_state, np.random.Generator | np.random.RandomState):
        return whole_number(random_state, "random_state", 0, 2**63 - 1)
    return random_state


def generator(random_state: Seed) -> np.random.Generator:
    """Make a generator: always the same of a number, a different one every time of a generator or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(MOST))
    return np.random.default_rng(random_state)


def part_size(size: object, name: str, n: int) -> int:
    """Convert ``size`` to a number of rows: a fraction of ``n`` where it is between 0 and 1, rounded down, else a count."""
    if is_whole(size):
        return whole_number(size, name, 1, max(n - 1, 1))
    if isinstance(size, float | np.floating) and 0 < float(size) < 1:
        # The tiny addition keeps 0.7 * 10 at seven rows.
        return int(np.floor(float(size) * n + 1e-9))
    raise InputError(f"{name} must be a fraction between 0 and 1 or a whole number of rows, not {size!r}.")


def parts(test: NDArray[np.bool_]) -> Split:
    """Convert a mask of the test rows to training and test rows."""
    return np.flatnonzero(~test), np.flatnonzero(test)
