"""Counts of levels, and margins of the tables of all features and targets: degrees of freedom, expected counts, corrections."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from labelsieve.counting.codes import Codes

Real = NDArray[np.float64]
CODES_AT_ONCE = 2**22


@dataclass(frozen=True)
class TableMargins:
    """Degrees of freedom, the smallest expected count, and Williams' correction of every pair, over all strata."""

    degrees: NDArray[np.int64]
    expected: Real
    correction: Real

    @classmethod
    def of_tables(cls, X: Codes, Y: Codes, strata: NDArray[np.integer] | None) -> "TableMargins":
        """Of every feature with every target."""
        shape = X.n_columns, Y.n_columns
        degrees, expected, excess = np.zeros(shape, dtype=np.int64), np.full(shape, np.inf), np.zeros(shape)
        masks = [None] if strata is None else [strata == stratum for stratum in np.unique(strata)]
        for rows in masks:
            x, y = (LevelCounts.of_columns(codes if rows is None else codes.take_rows(rows)) for codes in (X, Y))
            n = X.n_rows if rows is None else int(np.count_nonzero(rows))
            own = np.outer(x.occurring - 1, y.occurring - 1)
            degrees += own
            expected = np.where(own > 0, np.minimum(expected, np.outer(x.smallest, y.smallest) / n), expected)
            excess += np.outer(n * x.reciprocals - 1, n * y.reciprocals - 1) / (6 * n)
        return cls(degrees, expected, 1 + excess / np.maximum(degrees, 1))


class LevelCounts(NamedTuple):
    """Of every column: the number of levels that occur, the count of the rarest, and the sum of reciprocal counts."""

    occurring: NDArray[np.int64]
    smallest: NDArray[np.int64]
    reciprocals: Real

    @classmethod
    def of_columns(cls, codes: Codes) -> "LevelCounts":
        """Count the levels of every column."""
        counts, starts = level_counts(codes)
        occurs = counts > 0
        first = starts[:-1]
        smallest = np.minimum.reduceat(np.where(occurs, counts, np.iinfo(np.int64).max), first)
        reciprocals = np.add.reduceat(np.divide(1.0, counts, out=np.zeros(len(counts)), where=occurs), first)
        return cls(np.add.reduceat(occurs.astype(np.int64), first), smallest, reciprocals)


def occurring_counts(codes: Codes) -> list[NDArray[np.int64]]:
    """Of every column, the counts of the levels that occur."""
    counts, starts = level_counts(codes)
    return [part[part > 0] for part in np.split(counts, starts[1:-1])]


def level_counts(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of the levels of all columns, one column after the other, and where each column begins.

    >>> level_counts(Codes.from_values([[0, 2], [1, 2], [1, 0]]))
    (array([1, 2, 1, 0, 2]), array([0, 2, 5]))
    """
    levels = codes.levels.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    counts = np.zeros(starts[-1], dtype=np.int64)
    if codes.dense is not None:
        step = max(1, CODES_AT_ONCE // max(1, codes.n_rows))
        for first in range(0, codes.n_columns, step):
            some = slice(first, first + step)
            cells = codes.dense[:, some] + starts[:-1][some] - starts[first]
            size = int(starts[min(first + step, codes.n_columns)] - starts[first])
            counts[starts[first] : starts[first] + size] = np.bincount(cells.ravel(order="K"), minlength=size)
        return counts, starts
    assert codes.sparse is not None
    sizes = np.diff(codes.sparse.starts)
    counts += np.bincount(np.repeat(starts[:-1], sizes) + codes.sparse.codes, minlength=len(counts))
    counts[starts[:-1] + codes.sparse.implicit] += codes.n_rows - sizes
    return counts, starts


def largest_entropy(codes: Codes) -> float:
    """The largest entropy of a column, in nats: no column has more information about anything.

    >>> round(largest_entropy(Codes.from_values([[0, 0], [0, 1], [0, 0], [1, 1]])), 4)
    0.6931
    """
    counts, starts = level_counts(codes)
    known, weighted = (np.add.reduceat(values, starts[:-1]) for values in (counts.astype(np.float64), xlogy(counts, counts)))
    return float((np.log(np.maximum(known, 1)) - weighted / np.maximum(known, 1)).max(initial=0.0))
