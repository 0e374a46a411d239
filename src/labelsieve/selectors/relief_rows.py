"""Nearest rows and sums of differences, on features scaled to [0, 1]: the code of the Relief family that calls the core."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.resources import n_threads
from labelsieve.errors import InputError
from labelsieve.table_types import Matrix, is_sparse

NO_ROW = 2**32 - 1
MAX_COLUMNS = 2**22  # their differences add up to less than 2^53: exact
# The core calculates with whole numbers from 0 to this one. It has many divisors, so that values 1/2, 1/3, ..., 1/18 of the way
# are whole, and rows tie where they tie on paper.
_GRID = 1_102_701_600.0  # 2^5 3^4 5^2 7 11 13 17
_LANE = 8  # the core adds eight columns at a time


class Neighbors:
    r"""Rows among which neighbors are sought, at the distance of Weka's ReliefF.

    .. math:: \delta(i, j) = \sum_f \frac{|x_{if} - x_{jf}|}{\max_f - \min_f}

    Scaled values are rounded to multiples of 1/1,102,701,600, and distances are exact sums of those: whether rows tie does
    not depend on the order of the features, on dense or sparse storage or on the processor, and features of up to 18 evenly
    spaced values tie where they should. A constant feature makes no difference.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        Finite numbers.
    n_jobs : int, default=None
        Threads; None is one, -1 is all. Results do not depend on it.

    Notes
    -----
    Memory: one copy of X (two, when it is sparse), and a few numbers per row and thread. There is no table of all pairs.

    Examples
    --------
    >>> table = Neighbors(np.array([[0.0], [10.0], [4.0], [5.0]]))
    >>> table.nearest(np.array([3]), [np.arange(4)], k=2)
    array([[[2, 0]]], dtype=uint32)
    """

    def __init__(self, X: Matrix, n_jobs: int | None = None) -> None:
        self.n_rows, self.n_columns = X.shape
        if self.n_columns > MAX_COLUMNS:
            raise InputError(f"X has {self.n_columns:,} columns; distances are exact for {MAX_COLUMNS:,} at the most.")
        threads = n_threads(n_jobs)
        if is_sparse(X):
            columns = _scaled_columns(X)
            rows = columns.tocsr()
            arrays = [(side.indptr.astype(np.int64), side.indices.astype(np.uint32), side.data) for side in (rows, columns)]
            self._core = core.ReliefRows(*arrays[0], *arrays[1], threads)
        else:
            width = -(-self.n_columns // _LANE) * _LANE
            values = np.zeros((self.n_rows, width))
            low, high = X.min(axis=0), X.max(axis=0)
            for column in range(self.n_columns):
                values[:, column] = _scaled(X[:, column], low[column], high[column])
            self._core = core.ReliefRows(values, self.n_columns, threads)

    def nearest(self, references: NDArray[Any], groups: list[NDArray[Any]], k: int) -> NDArray[np.uint32]:
        """``(n_references, n_groups, k)``: the nearest rows of every group, nearest first, of equals the lowest row.

        A row is not its own neighbor. Positions that a small group cannot fill hold ``NO_ROW``.
        """
        starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
        rows = np.concatenate(groups).astype(np.uint32) if groups else np.empty(0, dtype=np.uint32)
        out = np.empty(len(references) * len(groups) * k, dtype=np.uint32)
        self._core.nearest(references.astype(np.uint32), starts, rows, k, out)
        return out.reshape(len(references), len(groups), k)

    def weighted_differences(
        self, references: NDArray[Any], neighbors: NDArray[np.uint32], factors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``(n_columns,)``: differences of every reference and its neighbors, times their factors, added up."""
        sums = np.zeros(self.n_columns)
        factors = np.ascontiguousarray(factors, dtype=np.float64)
        self._core.add(references.astype(np.uint32), np.ascontiguousarray(neighbors).reshape(-1), factors.reshape(-1), sums)
        return sums / _GRID


def _scaled(values: NDArray[Any], low: float, high: float) -> NDArray[np.float64]:
    """Whole numbers from 0 for ``low`` to the largest for ``high``. Halves: the range of finite numbers may not be finite."""
    values, low, high = np.asarray(values, dtype=np.float64) / 2, float(low) / 2, float(high) / 2
    if not high > low:
        return np.zeros(len(values))
    scaled: NDArray[np.float64] = np.rint((values - low) / (high - low) * _GRID)
    return scaled


def _scaled_columns(X: Matrix) -> Any:
    """The columns as whole numbers, moved so that zero stays zero: differences are those of the dense form."""
    columns = sp.csc_array(X, dtype=np.float64, copy=True)
    columns.sum_duplicates()
    for start, end in pairwise(columns.indptr):
        if start == end:
            continue
        values = columns.data[start:end]
        low, high, has_zeros = float(values.min()), float(values.max()), end - start < X.shape[0]
        if has_zeros:
            low, high = min(low, 0.0), max(high, 0.0)
        columns.data[start:end] = _scaled(values, low, high)
        if has_zeros:
            columns.data[start:end] -= _scaled(np.zeros(1), low, high)[0]
    columns.eliminate_zeros()
    columns.sort_indices()
    return columns
