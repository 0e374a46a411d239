"""Binary targets as lists: which labels each row has."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.targets import TargetTable
from labelsieve.errors import InputError


class LabelRows(NamedTuple):
    """Every label of every row, sorted by row and then by label."""

    rows: NDArray[np.uint32]
    labels: NDArray[np.int64]
    n_rows: int
    n_labels: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many labels each row has."""
        return np.bincount(self.rows, minlength=self.n_rows)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the labels of each row begin."""
        sizes = self.sizes
        return np.cumsum(sizes) - sizes

    def counts(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """How many rows (or how much weight) each label has."""
        of_labels = None if weights is None else weights[self.rows]
        return np.bincount(self.labels, weights=of_labels, minlength=self.n_labels).astype(np.float64)


def label_rows(targets: TargetTable, space: str) -> LabelRows:
    """The labels of every row; targets that are not 0/1 are refused, in the name of ``space``.

    >>> from labelsieve.labelspace import read_targets
    >>> label_rows(read_targets([[0, 1], [1, 1], [0, 0]]), "copy").labels
    array([1, 0, 1])
    """
    codes = targets.classes
    odd = (codes.levels > 2) | targets.is_number
    if odd.any():
        column = int(np.argmax(odd))
        name = f"column {column}" if codes.names is None else f"column {column} ({codes.names[column]!r})"
        what = "real numbers" if targets.is_number[column] else f"classes up to {int(codes.levels[column]) - 1}"
        raise InputError(f"Y, {name}: {space} needs labels that are there or not (0 or 1), and this target has {what}.")
    if codes.dense is not None:
        rows, labels = np.nonzero(codes.dense)
        return LabelRows(rows.astype(np.uint32), labels, targets.n_rows, targets.n_columns)
    if codes.sparse is not None and not codes.sparse.implicit.any():
        there = codes.sparse.codes > 0
        rows = codes.sparse.rows[there].astype(np.int64)
        labels = np.repeat(np.arange(codes.n_columns), np.diff(codes.sparse.starts))[there]
    else:
        columns = [np.flatnonzero(codes.column(j)) for j in range(codes.n_columns)]
        rows = np.concatenate(columns)
        labels = np.repeat(np.arange(codes.n_columns), [len(some) for some in columns])
    order = np.argsort(rows, kind="stable")
    return LabelRows(rows[order].astype(np.uint32), labels[order], targets.n_rows, targets.n_columns)
