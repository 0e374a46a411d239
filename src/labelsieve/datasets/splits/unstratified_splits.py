"""Splits that do not look at the labels: repeated random halves, and blocks of rows in the order of time."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from labelsieve.datasets.splits.base_splitter import (
    MOST,
    Seed,
    Split,
    Splitter,
    checked_seed,
    generator,
    part_size,
    parts,
    row_count,
)
from labelsieve.errors import InputError, one_of, whole_number
from labelsieve.table_types import TableLike, TargetsLike


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
        """The number of repetitions; the arguments are ignored."""
        return self.n_repeats

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Training and test rows of every repetition; ``groups`` is ignored."""
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


class ForwardSplits(Splitter):
    """Test on consecutive blocks of rows, each after the rows it is trained on.

    The rows after the first ``min_train + gap`` are split into ``n_splits`` blocks whose sizes differ by at most one, so
    every one of them is tested exactly once. scikit-learn's ``TimeSeriesSplit`` instead makes the first training part as
    large as a block; here it is stated.

    Cost: none beyond the indices.

    Parameters
    ----------
    n_splits : int
        Number of test blocks.
    min_train : int
        Rows to train on before the first block, and the length of a sliding window.
    gap : int, default=0
        Rows left out between training and test, for labels that become known late.
    window : {"growing", "sliding"}, default="growing"
        Train on everything before the gap, or on the last ``min_train`` rows before it.

    Examples
    --------
    >>> for train, test in ForwardSplits(n_splits=2, min_train=3, gap=1).split(range(8)):
    ...     train.tolist(), test.tolist()
    ([0, 1, 2], [4, 5])
    ([0, 1, 2, 3, 4], [6, 7])
    >>> for train, test in ForwardSplits(2, 3, window="sliding").split(range(7)):
    ...     train.tolist(), test.tolist()
    ([0, 1, 2], [3, 4])
    ([2, 3, 4], [5, 6])
    """

    def __init__(self, n_splits: int, min_train: int, gap: int = 0, window: str = "growing") -> None:
        self.n_splits = whole_number(n_splits, "n_splits", 1, MOST)
        self.min_train = whole_number(min_train, "min_train", 1, MOST)
        self.gap = whole_number(gap, "gap", 0, MOST)
        one_of(window, "window", ("growing", "sliding"))
        self.window = window

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Training and test rows of every block, the earliest first; ``groups`` is ignored."""
        n = row_count(X, y)
        first = self.min_train + self.gap
        if n - first < self.n_splits:
            raise InputError(
                f"{n:,} rows are too few for n_splits={self.n_splits} blocks after min_train={self.min_train} and "
                f"gap={self.gap}: {first + self.n_splits:,} are needed. Pass more rows or lower one of the three."
            )
        for block in np.array_split(np.arange(first, n), self.n_splits):
            end = int(block[0]) - self.gap
            start = end - self.min_train if self.window == "sliding" else 0
            yield np.arange(start, end), block
