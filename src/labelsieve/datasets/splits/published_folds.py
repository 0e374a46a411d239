"""Folds that somebody else drew, so that their experiment can be repeated on the same splits."""

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.io import loadmat

from labelsieve.datasets.readers.matlab import check_elements
from labelsieve.datasets.splits.plain import MOST, Split, Splitter, parts, row_count
from labelsieve.errors import InputError, whole_number
from labelsieve.tables.types import TableLike, TargetsLike

VARIABLE = "indices"


def read_folds(path: str | os.PathLike[str]) -> NDArray[np.intp]:
    """The folds of a Matlab file: rows by partitions, folds counted from 0.

    The files hold one variable, ``indices``: a row per row of the data, a column per partition, the fold in which the row is
    tested as a number from 1. Such are the files of ten 5-fold partitions that come with the MLC toolbox for Matlab.

    Cost: one byte per cell in the file, eight in memory.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import savemat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     savemat(Path(folder, "toy.mat"), {"indices": np.array([[1, 2], [2, 1], [1, 1]], dtype=np.uint8)})
    ...     read_folds(Path(folder, "toy.mat"))
    array([[0, 1],
           [1, 0],
           [0, 0]])
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: there is no such file. Pass the path of a Matlab file of folds.")
    data = file.read_bytes()
    try:
        check_elements(data)  # scipy's reader can crash on a damaged file
        content = loadmat(io.BytesIO(data))
    except Exception as problem:  # scipy raises many kinds for files that are not what they seem
        raise InputError(
            f"{file}: not a readable Matlab file up to version 7 ({problem}). Save it again with -v7."
        ) from problem
    if VARIABLE not in content:
        found = ", ".join(repr(name) for name in content if not name.startswith("__")) or "nothing"
        raise InputError(f"{file}: has no variable {VARIABLE!r}, but {found}. Rename the variable that holds the folds.")
    return check_folds(content[VARIABLE], file.name)


def check_folds(folds: ArrayLike, source: str) -> NDArray[np.intp]:
    """Fold numbers as rows by partitions, counted from 0; ``source`` is named in errors.

    They may be counted from 0 or from 1. Every partition must have two folds or more and no number between them may be missing.
    """
    table = np.asarray(folds)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iuf":
        raise InputError(
            f"{source}: folds must be numbers, a row per row of the data and a column per partition, not an array of shape "
            f"{table.shape} and type {table.dtype}."
        )
    wrong = np.argwhere(~np.isfinite(table) | (table != np.floor(table)) | (table < 0))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise InputError(
            f"{source}, row {row + 1}, partition {column + 1}: {table[row, column]!s} is not the number of a fold. "
            "Every row needs a whole number, 1 for the first fold."
        )
    numbers: NDArray[np.intp] = table.astype(np.intp) - int(table.min() > 0)
    for column in range(numbers.shape[1]):
        present = np.unique(numbers[:, column])
        missing = np.setdiff1d(np.arange(min(present[-1] + 1, present.size + 1)), present)
        if missing.size or present.size < 2:
            shift = int(table.min() > 0)
            which = f"fold {missing[0] + shift} has no rows" if missing.size else "there is one fold only"
            raise InputError(f"{source}, partition {column + 1}: {which}. Every fold must test some row; renumber the folds.")
    return numbers


def folds_of_test_rows(partitions: Any, n_rows: int, source: str) -> NDArray[np.intp]:
    """Fold numbers, of a list of partitions, each a list of the test rows of its folds, counted from 0."""
    folds = np.full((n_rows, len(partitions)), -1, dtype=np.intp)
    for column, partition in enumerate(partitions):
        for number, rows in enumerate(partition):
            location = f"{source}, partition {column + 1}, fold {number + 1}"
            tested = np.asarray(rows)
            if tested.ndim != 1 or tested.dtype.kind not in "iu" or tested.size == 0:
                raise InputError(f"{location}: test rows must be a list of one whole number or more.")
            outside = tested[(tested < 0) | (tested >= n_rows)]
            if outside.size:
                raise InputError(
                    f"{location}: there is no row {outside[0]}; rows are 0 to {n_rows - 1:,}. Subtract 1 if they count from 1."
                )
            twice = tested[folds[tested, column] >= 0]
            values, times = np.unique(tested, return_counts=True)
            twice = np.concatenate([twice, values[times > 1]])
            if twice.size:
                raise InputError(f"{location}: row {twice[0]} is tested twice. The folds of a partition must not overlap.")
            folds[tested, column] = number
        untested = np.flatnonzero(folds[:, column] < 0)
        if untested.size:
            raise InputError(
                f"{source}, partition {column + 1}: row {untested[0]} is in no fold (and {untested.size - 1:,} more). "
                "The folds of a partition must cover all rows."
            )
    return check_folds(folds, source)


class PublishedFolds(Splitter):
    """Folds that are given by a file or an array, for one or several partitions of the rows.

    Cost: one comparison of the fold numbers per split.

    Parameters
    ----------
    folds : path or array of shape (n_rows,) or (n_rows, n_partitions)
        A Matlab file as :func:`read_folds` takes it, or the fold in which each row is tested, counted from 0 or from 1.
    partition : int or None, default=None
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
        """Folds from the test rows of every fold of every partition, counted from 0.

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
        """The number of partitions that are used."""
        return int(self._numbers.shape[1])

    def split(self, X: TableLike, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Split]:
        """Training and test rows of every fold of every partition; ``groups`` is ignored."""
        n = row_count(X, y)
        if n != self.n_rows:
            raise InputError(
                f"The folds are for {self.n_rows:,} rows and the data has {n:,}. Pass the whole data set, its rows in the "
                "published order."
            )
        for column in self._numbers.T:
            for number in range(int(column.max()) + 1):
                yield parts(column == number)
