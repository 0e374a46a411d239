"""Folds that somebody else drew, so that their experiment can be repeated on the same splits."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import ArrayLike

from labelsieve.datasets.splits.base_splitter import MOST, Split, Splitter, parts, row_count
from labelsieve.datasets.splits.fold_files import check_folds, folds_of_test_rows, read_folds
from labelsieve.errors import InputError, whole_number


class PublishedFolds(Splitter):
    """Given folds, of a file or an array; one partition of the rows after the other.

    Cost: one comparison of the fold numbers per split.

    Parameters
    ----------
    folds : path or array of shape (n_rows,) or (n_rows, n_partitions)
        A Matlab file as :func:`read_folds` takes it, or the fold in which each row is tested, counted from 0 or from 1.
    partition : int or None
        Only this partition, counted from 0; None for all of them.

    Examples
    --------
    >>> for train, test in PublishedFolds([1, 2, 1, 2]).split("abcd"):
    ...     train.tolist(), test.tolist()
    ([1, 3], [0, 2])
    ([0, 2], [1, 3])
    """

    def __init__(self, folds: str | os.PathLike[str] | ArrayLike, partition: int | None = None) -> None:
        self.folds = folds
        numbers = read_folds(folds) if isinstance(folds, str | os.PathLike) else check_folds(folds, "folds")
        self.partition = partition
        if partition is not None:
            index = whole_number(partition, "partition", 0, numbers.shape[1] - 1)
            numbers = numbers[:, index : index + 1]
        self._numbers = numbers
        self.n_splits = int((numbers.max(axis=0) + 1).sum())

    @classmethod
    def from_test_rows(cls, partitions: Sequence[Sequence[ArrayLike]], n_rows: int) -> "PublishedFolds":
        """Of the test rows of every fold of every partition, counted from 0.

        They must exist, and in every partition each row must be tested exactly once.

        >>> PublishedFolds.from_test_rows([[[0, 1], [2]], [[0], [1, 2]]], n_rows=3).get_n_splits()
        4
        """
        if not len(partitions):
            raise InputError("partitions is empty: pass a list of partitions, each a list of the test rows of its folds.")
        return cls(folds_of_test_rows(partitions, whole_number(n_rows, "n_rows", 2, MOST), "partitions"))

    @property
    def n_rows(self) -> int:
        """The number of rows that the folds are for."""
        return int(self._numbers.shape[0])

    @property
    def n_partitions(self) -> int:
        """The number of partitions that are walked through."""
        return int(self._numbers.shape[1])

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Training and test rows of every fold of every partition; ``groups`` is not looked at."""
        n = row_count(X, y)
        if n != self.n_rows:
            raise InputError(
                f"The folds are for {self.n_rows:,} rows and the data has {n:,}. Pass the whole data set, its rows in the "
                "published order."
            )
        for column in self._numbers.T:
            for number in range(int(column.max()) + 1):
                yield parts(column == number)
