"""Repeated random halves, the protocol of many feature-selection studies."""

from collections.abc import Iterator
from typing import Any

import numpy as np

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
from labelsieve.errors import InputError, whole_number


class HalfSplits(Splitter):
    """Random halves, drawn again and again: one part to select and train on, all other rows to test.

    Thirty repetitions of 50/50 are what Sechidis, Nikolaou and Brown (2014) and Sechidis et al. (2019) report means over.
    Labels are not looked at; :class:`IterativeStratifiedShuffleSplit` keeps their shares.
    For plain folds scikit-learn's ``KFold(shuffle=True)`` serves as it is, also with many labels.

    Cost: one permutation of the rows per repetition.

    Parameters
    ----------
    n_repeats : int
        How many times the rows are halved.
    train_size : float or int
        Share of the rows to train on, rounded down, or their number. All others are test rows.
    random_state : int, Generator, RandomState or None
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

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of repetitions; the arguments are not looked at."""
        return self.n_repeats

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Training and test rows of every repetition; ``groups`` is not looked at."""
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
