"""Bins of equal frequency."""

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from labelsieve.counting.codes import MAX_LEVELS, Codes
from labelsieve.counting.cut_points import ColumnCuts, cut_by_values
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize.base_discretizer import BaseBins, Missing


class EqualFrequency(BaseBins):
    r"""Cut every column into bins of about equal numbers of rows.

    The boundary between two neighboring distinct values :math:`a < b` has the fraction :math:`F(a)` of the rows (or of their
    weight) below it. For :math:`i = 1, \dots, n - 1` the column is cut at the boundary whose fraction is nearest to
    :math:`i / n`, the lower of two, half-way between its values; a boundary that is nearest for several :math:`i` is cut
    once. Equal values are never split, and every column but a constant one has at least two bins, also one that is mostly
    zeros. A column with no more than ``n_bins`` distinct values keeps them as levels.

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
    Bins are closed on the left. The codes are invariant under increasing transformations of a column. Cost: sorting the
    columns; in a sparse column, the stored values.

    Examples
    --------
    >>> EqualFrequency(2).fit_transform([[1.0], [2.0], [3.0], [1000.0]]).ravel()
    array([0, 0, 1, 1], dtype=uint8)
    """

    name = "equal-frequency"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBins._parameter_constraints,
        "n_bins": [Interval(Integral, 1, MAX_LEVELS, closed="both")],
    }

    def __init__(self, n_bins: int = 5, *, missing: Missing = "error") -> None:
        self.n_bins = n_bins
        self.missing = missing

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        return [cut_by_values(table, "equal-frequency", self.n_bins, weights=weights)]
