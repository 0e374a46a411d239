"""The labelsets of binary targets as lists of labels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError


class Labelsets(NamedTuple):
    """The labels of all rows, sorted by row and then by label."""

    rows: NDArray[np.uint32]
    labels: NDArray[np.int64]
    n_rows: int
    n_labels: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of labels of each row."""
        return np.bincount(self.rows, minlength=self.n_rows)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Index of the first label of each row."""
        sizes = self.sizes
        return np.cumsum(sizes) - sizes

    def counts(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Number of rows (or their weight) of each label."""
        of_labels = None if weights is None else weights[self.rows]
        return np.bincount(self.labels, weights=of_labels, minlength=self.n_labels).astype(np.float64)


def read_labelsets(targets: TargetTable, space: str) -> Labelsets:
    """The labelset of every row; refuses targets that are not 0/1, naming ``space`` in the message.

    >>> from labelsieve.labelspace import read_targets
    >>> read_labelsets(read_targets([[0, 1], [1, 1], [0, 0]]), "copy").labels
    array([1, 0, 1])
    """
    codes = targets.classes
    not_binary = (codes.levels > 2) | targets.is_number
    if not_binary.any():
        column = int(np.argmax(not_binary))
        name = f"column {column}" if codes.names is None else f"column {column} ({codes.names[column]!r})"
        found = "real numbers" if targets.is_number[column] else f"classes up to {int(codes.levels[column]) - 1}"
        raise InputError(f"Y, {name}: {space} needs binary labels (0 or 1), and this target has {found}.")
    if codes.dense is not None:
        rows, labels = np.nonzero(codes.dense)
        return Labelsets(rows.astype(np.uint32), labels, targets.n_rows, targets.n_columns)
    if codes.sparse is not None and not codes.sparse.implicit.any():
        present = codes.sparse.codes > 0
        rows = codes.sparse.rows[present].astype(np.int64)
        labels = np.repeat(np.arange(codes.n_columns), np.diff(codes.sparse.starts))[present]
    else:
        columns = [np.flatnonzero(codes.column(j)) for j in range(codes.n_columns)]
        rows = np.concatenate(columns)
        labels = np.repeat(np.arange(codes.n_columns), [len(rows_of_label) for rows_of_label in columns])
    order = np.argsort(rows, kind="stable")
    return Labelsets(rows[order].astype(np.uint32), labels[order], targets.n_rows, targets.n_columns)
