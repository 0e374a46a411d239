"""From raw counts of one-hot columns to whole tables, and to their sums.

Counts of sets of rows are arrays with a row for each set and a column for each one-hot column; the last column has the
number of rows of the set (or their weight). Such counts add up over chunks of rows, and every operation here is exact.
"""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.packed_rows import Layout, Part

Counts = NDArray[np.int64]
NOT_COUNTED = np.iinfo(np.uint32).max  # as in the core


class LevelCells:
    """The cells of a variable: the most frequent level is not counted, levels that do not occur have none; or ``every`` one.

    >>> cells = LevelCells(np.array([2, 0, 9]))
    >>> cells.cell, cells.n_counted
    (array([         0, 4294967295, 4294967295], dtype=uint32), 1)
    """

    def __init__(self, sizes: NDArray[np.integer], *, every: bool = False) -> None:
        occurs = np.flatnonzero(sizes)
        counted = np.arange(len(sizes)) if every else occurs[occurs != np.argmax(sizes)]
        self.cell = np.full(len(sizes), NOT_COUNTED, dtype=np.uint32)
        self.cell[counted] = np.arange(len(counted))
        self.n_counted = len(counted)


def complete(counted: Counts, all_rows: Counts) -> Counts:
    """Counts of all levels: those of the most frequent one, the rest of ``all_rows``, come last.

    >>> complete(np.array([[1, 2], [0, 1]]), np.array([4, 9])).tolist()
    [[1, 2], [0, 1], [3, 6]]
    """
    rest = all_rows - counted.sum(axis=0)
    return np.concatenate([counted, rest[np.newaxis]])


def complete_pairs(counted: Counts, with_class: Counts, with_given: Counts) -> Counts:
    """Counts of all pairs of a class and a given level, one after the other.

    ``counted`` has shape ``(classes - 1, levels - 1, columns)``; the margins have all classes and all given levels.
    """
    rest = with_class[:-1] - counted.sum(axis=1)
    of_classes = np.concatenate([counted, rest[:, np.newaxis]], axis=1)
    last = with_given - of_classes.sum(axis=0)
    return np.concatenate([of_classes, last[np.newaxis]]).reshape(-1, counted.shape[-1])


class TableSums:
    """Sums over the cells of the tables of some features with any variable.

    Parameters
    ----------
    part : Part
        Features and columns.
    layout : Layout
    fixed : FixedPoint
    """

    def __init__(self, part: Part, layout: Layout, fixed: FixedPoint) -> None:
        self._fixed, self._n_features = fixed, len(part.features)
        n_columns = layout.levels[part.features] - 1
        with_columns = np.flatnonzero(n_columns)
        self._order = with_columns[np.argsort(part.first[with_columns], kind="stable")]
        self._first = part.first[self._order]

    def __call__(self, counts: Counts) -> Counts:
        """``(features,)``: sums over the rows of ``counts`` and all levels of each feature."""
        columns, sizes = counts[:, :-1], counts[:, -1]
        sums = np.full(self._n_features, self._values(sizes).sum())  # of features with one level
        if len(self._order):
            # Columns between features are always zero, and so are their values.
            of_levels = np.add.reduceat(self._values(columns).sum(axis=0), self._first)
            left_out = sizes[:, np.newaxis] - np.add.reduceat(columns, self._first, axis=1)
            sums[self._order] = of_levels + self._values(left_out).sum(axis=0)
        return sums

    def _values(self, counts: Counts) -> Counts:
        return values_of(self._fixed, counts)


def values_of(fixed: FixedPoint, counts: Counts) -> Counts:
    """The fixed-point value of every count."""
    return fixed(counts) if fixed.values is None else fixed.values[counts]
