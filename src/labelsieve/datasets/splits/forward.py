"""Splits of rows in the order of time: train on the past, test on what came next."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from labelsieve.datasets.splits.base_splitter import MOST, Split, Splitter, row_count
from labelsieve.errors import InputError, one_of, whole_number


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
    gap : int
        Rows left out between training and test, for labels that become known late.
    window : {"growing", "sliding"}
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

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Training and test rows of every block, the earliest first; ``groups`` is not looked at."""
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
