"""Weka's discretization: equal-width bins for all numeric columns."""

from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from labelsieve.counting.checked_parameters import parameter
from labelsieve.counting.codes import MAX_LEVELS, Codes
from labelsieve.counting.cut_points import ColumnCuts
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize.base_discretizer import BaseBins
from labelsieve.table_types import FloatArray, SparseMatrix, is_sparse


@dataclass(eq=False, repr=False)
class WekaBins(BaseBins):
    r"""Equal-width bins for every column, closed on the right, as in Weka's unsupervised ``Discretize``.

    The cut points are :math:`\min + i (\max - \min) / n`. Unlike :class:`labelsieve.discretize.EqualWidth` it never uses
    values as levels: a column with few, close values loses some of them.

    Parameters
    ----------
    n_bins : int, default=10

    Examples
    --------
    >>> WekaBins(10).encode([[0.0], [1.0], [40.0]]).column(0)
    array([0, 0, 9], dtype=uint16)
    """

    n_bins: int = parameter(10, Interval(Integral, 1, MAX_LEVELS, closed="both"))

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        values = table.values
        low, high = column_ends(values, "min"), column_ends(values, "max")
        points = low[:, np.newaxis] + ((high - low) / self.n_bins)[:, np.newaxis] * np.arange(1, self.n_bins)
        points = points[high > low]
        starts = np.concatenate([[0], np.cumsum(np.where(high > low, self.n_bins - 1, 0))]).astype(np.int64)
        return [ColumnCuts(starts, points.ravel(), np.zeros(len(low), dtype=bool), closed_right=True)]


def column_ends(X: FloatArray | SparseMatrix, end: Literal["min", "max"]) -> NDArray[np.float64]:
    """Return the minimum or maximum of every column, dense or sparse."""
    ends = X.min(axis=0) if end == "min" else X.max(axis=0)
    return np.array(ends.toarray() if is_sparse(ends) else ends, dtype=np.float64).ravel()
