"""Rows that sparse columns of two levels list, and the numbers of rows that such columns have in common."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ListedRows:
    """For each column, the rows in which it has its rarer level, ascending.

    >>> listed = ListedRows.of(Codes.from_values(sp.csc_array([[1, 0], [0, 0], [1, 1]])))
    >>> listed[0], listed.counts
    (array([0, 2]), array([2, 1]))
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    n_rows: int

    @classmethod
    def of(cls, codes: Codes) -> "ListedRows | None":
        """Of sparse codes with at most two levels in every column, all cells known; None for others."""
        sparse = codes.sparse
        if sparse is None or codes.has_missing or codes.levels.max() > 2:
            return None
        listed = sparse.codes != np.repeat(sparse.implicit, np.diff(sparse.starts))
        if listed.all():
            return cls(sparse.starts, sparse.rows.astype(np.int64), codes.n_rows)
        starts = np.concatenate([[0], np.cumsum(listed, dtype=np.int64)])[sparse.starts]
        return cls(starts, sparse.rows[listed].astype(np.int64), codes.n_rows)

    def __getitem__(self, column: int) -> NDArray[np.int64]:
        return self.rows[self.starts[column] : self.starts[column + 1]]

    def rows_of(self, columns: NDArray[np.intp]) -> tuple[NDArray[np.int64], Counts]:
        """The rows that some columns list, one column after the other, and where each of them starts and the last one ends."""
        counts = self.counts[columns]
        return self.rows[ragged(self.starts[columns], counts)], np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def counts(self) -> Counts:
        """The number of rows that each column lists."""
        return np.diff(self.starts)

    @cached_property
    def by_row(self) -> sp.csr_array:
        """Rows by columns, with ones where a row is listed."""
        ones = np.ones(len(self.rows), dtype=np.int32)
        return sp.csc_array((ones, self.rows, self.starts), shape=(self.n_rows, len(self.counts))).tocsr()

    def by_column(self, first: int, last: int) -> sp.csr_array:
        """Columns ``first`` to ``last`` by rows, with ones where a row is listed."""
        starts = self.starts[first : last + 1]
        rows = self.rows[starts[0] : starts[-1]]
        return sp.csr_array((np.ones(len(rows), dtype=np.int32), rows, starts - starts[0]), shape=(last - first, self.n_rows))


def ragged(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> Counts:
    """The numbers from each start, as many as its count, one range after the other.

    >>> ragged(np.array([7, 2]), np.array([2, 3]))
    array([7, 8, 2, 3, 4])
    """
    ends = np.cumsum(counts)
    numbers: Counts = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
    return numbers


def visits(features: ListedRows, targets: ListedRows) -> Counts:
    """For each target, the number of pairs of a row that it lists and a feature that lists this row too."""
    of_row = np.bincount(features.rows, minlength=features.n_rows)
    return np.diff(np.concatenate([[0], np.cumsum(of_row[targets.rows])])[targets.starts])


def blocks_of(work: Counts, most: int, start: int = 0) -> Iterator[slice]:
    """Consecutive items whose work adds up to at most ``most``, or single ones.

    >>> [(block.start, block.stop) for block in blocks_of(np.array([3, 3, 9, 1]), 6)]
    [(0, 2), (2, 3), (3, 4)]
    """
    ends = np.cumsum(work)
    first = 0
    while first < len(work):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield slice(start + first, start + last)
        first = last
