"""Mutual information of many continuous columns together with classes, by distances to the k-th neighbor."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.information.input import Real
from labelsieve.information.neighbor_estimator import digamma

MATRIX_BYTES = 2**28  # of the distances by the columns taken, which are kept if they fit: up to 5,792 rows
BLOCK_BYTES = 2**23  # of the distances looked at in one go
AS_NEAR = 1 + 1e-9  # scaled columns are rounded, so distances that tie differ in their last digits


class ClassDistances:
    r"""Mutual information of a growing set of columns, and of the set with one more column, with the classes.

    .. math::
        I(X_S; Y) = \psi(N) - \frac1N \sum_y n_y \psi(n_y)
        + \frac{D}{N} \Big[ \sum_i \log e_i - \sum_i \log e_i^{(y)} \Big]

    with :math:`D` columns, :math:`n_y` of :math:`N` rows of class :math:`y`, and :math:`e_i`, :math:`e_i^{(y)}` the distances
    (Euclidean) of row :math:`i` to its k-th neighbor among all rows and among those of its class: the difference of two
    Kozachenko-Leonenko entropies, as Gómez-Verdejo, Verleysen and Fleury (2009) and Doquire and Verleysen use it.

    Parameters
    ----------
    columns : list of ndarray
        Numbers, on comparable scales.
    classes : ndarray of int
        From 0; every class with two rows at the least.
    k : int
        A class of fewer than k + 1 rows takes all :math:`k_y` it has, and :math:`\psi(k_y) - \psi(k)` is added for its rows.

    Notes
    -----
    A row with k or more exact copies has :math:`\log e_i = -\infty`. For such rows both counts are taken within
    :math:`e_i^{(y)}`, as Ross (2014) does: :math:`\psi(m^{(y)}) - \psi(m)` for the rows :math:`m` of all and :math:`m^{(y)}` of
    the class that are as near, instead of :math:`D (\log e_i - \log e_i^{(y)})`. So columns of a few values are scored by
    counts, as they must be. Other ties change nothing: the k-th distance is the same for all that tie.

    Cost: :math:`3 N^2` steps for each column asked about: a difference squared, a sum, and a partial sort. The distances by the
    columns taken are kept when they fit in 256 MB and computed again, block by block, when they do not; then every column asked
    about in a step shares them, but a step costs :math:`N^2 |S|` more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> distances = ClassDistances([rng.normal(size=200), y + 0.1 * rng.normal(size=200)], y, k=4)
    >>> distances.information([0, 1]).round(1)
    array([0.1, 0.7])
    """

    def __init__(self, columns: list[Real], classes: NDArray[np.integer], k: int) -> None:
        order = np.argsort(classes, kind="stable")  # so that a class is a range of rows
        sizes = np.bincount(classes)
        sizes = sizes[sizes > 0]
        if not len(sizes) or sizes.min() < 2:
            raise InputError("every class needs two rows at the least; drop classes of one row, which has no neighbor.")
        self._columns = [column[order] for column in columns]
        self._k, self._n_rows = min(k, len(order) - 1), len(order)
        ends = np.cumsum(sizes)
        self._classes = list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
        self._taken: list[int] = []
        keeps = 8 * self._n_rows**2 <= MATRIX_BYTES
        self._kept = np.zeros((self._n_rows, self._n_rows)) if keeps else None

    def take(self, column: int) -> None:
        """Add a column to the set."""
        self._taken.append(column)
        if self._kept is not None:
            for first, last, _ in self._blocks():
                self._kept[first:last] += _squares(self._columns[column], first, last)

    def information(self, candidates: list[int]) -> Real:
        """Information of the set with each of the candidates added, in nats."""
        totals = np.zeros(len(candidates))
        for first, last, same_class in self._blocks():
            near = self._near(first, last)
            for position, candidate in enumerate(candidates):
                totals[position] += self._local(near + _squares(self._columns[candidate], first, last), first, same_class)
        return totals / self._n_rows

    def _blocks(self) -> Iterator[tuple[int, int, slice]]:
        """Rows of one class, so many at a time, and all rows of that class."""
        height = max(1, BLOCK_BYTES // (8 * self._n_rows))
        for start, stop in self._classes:
            for first in range(start, stop, height):
                yield first, min(stop, first + height), slice(start, stop)

    def _near(self, first: int, last: int) -> Real:
        """Squared distances of some rows to all, by the columns taken."""
        if self._kept is not None:
            return self._kept[first:last]
        near = np.zeros((last - first, self._n_rows))
        for column in self._taken:
            near += _squares(self._columns[column], first, last)
        return near

    def _local(self, squares: Real, first: int, same_class: slice) -> float:
        """The sum over the rows of a block; their class is the columns ``same_class``."""
        rows = np.arange(len(squares))
        squares[rows, first + rows] = np.inf  # no row is a neighbor of itself
        n_same = same_class.stop - same_class.start
        k_same = min(self._k, n_same - 1)
        everywhere = np.partition(squares, self._k - 1, axis=1)[:, self._k - 1]
        among_same = np.partition(squares[:, same_class], k_same - 1, axis=1)[:, k_same - 1]
        copies = everywhere == 0
        plain = ~copies
        constant = float(digamma(self._n_rows) - digamma(n_same))
        total = len(squares) * constant + float(digamma(k_same) - digamma(self._k)) * int(plain.sum())
        # Half the logarithm of a squared distance is that of the distance.
        total += 0.5 * (len(self._taken) + 1) * float((np.log(everywhere[plain]) - np.log(among_same[plain])).sum())
        if copies.any():
            as_near = squares[copies] <= AS_NEAR * among_same[copies, np.newaxis]
            total += float((digamma(as_near[:, same_class].sum(axis=1)) - digamma(as_near.sum(axis=1))).sum())
        return total


def _squares(column: Real, first: int, last: int) -> Real:
    """Squared differences of some rows to all."""
    difference = column[first:last, np.newaxis] - column[np.newaxis, :]
    difference *= difference
    return difference
