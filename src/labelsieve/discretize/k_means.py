"""Bins that are the clusters of one-dimensional k-means."""

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from labelsieve.counting.codes import MAX_LEVELS, Codes
from labelsieve.counting.cut_points import ColumnCuts, cut_by_values
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize.base_discretizer import BaseBins, Missing


class KMeansBins(BaseBins):
    r"""Cut every column into the clusters of one-dimensional k-means.

    The bins :math:`B_1, \dots, B_n` minimize

    .. math:: \sum_{b} \sum_{x \in B_b} w_x (x - \mu_b)^2

    over all partitions of the sorted values. Dynamic programming (Wang and Song 2011) finds the global optimum, so the result
    depends on no random start. Cut points are half-way between neighboring means. A column with no more than ``n_bins``
    distinct values keeps them as levels.

    Parameters
    ----------
    n_bins : int, default=5
    missing : {"error", "level"}, default="error"
        Refuse NaN, or encode it as an additional last level.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Cut points of every column, ascending; empty for a column that keeps its values.
    categories_ : list of ndarray or None
        The values that a column keeps as levels. An unseen value gets the code of the nearest, the upper of two.

    Notes
    -----
    Bins are closed on the left. Cost: sorting a column, and ``n_bins * m * log(m)`` steps for its ``m`` distinct values.

    Examples
    --------
    >>> KMeansBins(2).fit_transform([[1.0], [2.0], [3.0], [1000.0]]).ravel()
    array([0, 0, 0, 1], dtype=uint8)
    """

    name = "k-means"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBins._parameter_constraints,
        "n_bins": [Interval(Integral, 1, MAX_LEVELS, closed="both")],
    }

    def __init__(self, n_bins: int = 5, *, missing: Missing = "error") -> None:
        self.n_bins = n_bins
        self.missing = missing

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        return [cut_by_values(table, "k-means", self.n_bins, weights=weights)]
