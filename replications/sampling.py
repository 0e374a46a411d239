"""Groups of cells of which only the first splits have been run: estimates with intervals, and what they decide.

The splits to run first are fixed beforehand, as those that the paper's order has first; none is picked by its result. An
estimate is never counted as a replicated value.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as t_distribution

FEWEST = 2  # splits of an estimate
CONFIDENCE = 0.95


class Interval(NamedTuple):
    """The ends of an interval; they are equal where all splits have been run."""

    low: float
    high: float


def first_splits(splits: Collection[int]) -> int:
    """Return how many of the first splits have been run, without a gap.

    >>> first_splits({0, 1, 2, 7})
    3
    """
    done = set(splits)
    return next(split for split in range(len(done) + 1) if split not in done)


def intervals(values: NDArray[np.float64], n_splits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return the ends of the 95 % t intervals for the means over all splits, from values of the first splits in rows.

    .. math:: \bar x \pm t_{n - 1} \, s \sqrt{\frac{1}{n} - \frac{1}{N}}

    with the standard deviation :math:`s` of :math:`n` of :math:`N` splits. The splits that have been run are part of the mean,
    so an interval has no width once all have been run.

    >>> low, high = intervals(np.array([[0.1], [0.2], [0.3]]), 5)
    >>> low.round(3), high.round(3)
    (array([0.043]), array([0.357]))
    """
    n = len(values)
    mean = values.mean(axis=0)
    if n >= n_splits:
        return mean, mean
    quantile = float(t_distribution.ppf((1 + CONFIDENCE) / 2, n - 1))
    half = quantile * values.std(axis=0, ddof=1) * np.sqrt(1 / n - 1 / n_splits)
    return mean - half, mean + half


def rank_differences(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest difference of the average ranks of every two methods, for any values in intervals.

    ``low`` and ``high`` have a row for each data set and a column for each method; the largest value has rank 1, and equal
    values share their ranks. The result has the rank of the row's method minus that of the column's.

    >>> least, most = rank_differences(np.array([[0.5, 0.4, 0.1]]), np.array([[0.5, 0.6, 0.1]]))
    >>> least[0], most[0]
    (array([ 0., -1., -2.]), array([ 0.,  1., -1.]))
    """
    n_methods = low.shape[1]
    most = np.zeros((n_methods, n_methods))
    for first in range(n_methods):
        for second in range(n_methods):
            if first != second:
                worst, best = low[:, first], high[:, second]
                most[first, second] = np.mean(_ahead(best, worst) - _ahead(worst, best) + _between(low, high, first, second))
    return 0.0 - most.T, most


def _ahead(value: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where a value is larger than another, 1/2 where they are equal, else 0."""
    return np.asarray((np.sign(value - other) + 1) / 2)


def _between(low: NDArray[np.float64], high: NDArray[np.float64], first: int, second: int) -> NDArray[np.float64]:
    """Return how many ranks the other methods can put between the worst value of the first and the best of the second."""
    total = np.zeros(len(low))
    worst, best = low[:, first], high[:, second]
    for other in set(range(low.shape[1])) - {first, second}:
        # A method counts for the difference if it is ahead of one of the two values and not of the other. What an end of its
        # interval, or a value inside both intervals, can reach:
        middle = np.clip((worst + best) / 2, low[:, other], high[:, other])
        reached = [_ahead(value, worst) - _ahead(value, best) for value in (low[:, other], high[:, other], middle)]
        total += np.max(reached, axis=0)
    return total
