"""Bins of equal width."""

from numbers import Integral
from typing import Any, ClassVar, Literal

from sklearn.utils._param_validation import Interval, StrOptions

from labelsieve.counting.codes import MAX_LEVELS, Codes
from labelsieve.counting.cut_points import ColumnCuts, bin_equal_width, cut_by_values
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize.base_discretizer import BaseBins, Missing
from labelsieve.errors import one_of, whole_number

Closed = Literal["left", "right"]


class EqualWidth(BaseBins):
    r"""Cut the range of every column into bins of equal width.

    With :math:`w = (\max - \min) / n`, the cut points are :math:`\min + i w`. Bins are closed on the left, the last on both
    sides; with ``closed="right"`` they are closed on the right, the first on both sides. A column with no more than ``n_bins``
    distinct values keeps them as levels, in ascending order.

    Parameters
    ----------
    n_bins : int, default=5
        Five in Sechidis, Nikolaou and Brown (2014); ten, closed on the right, in Pereira et al. (2015).
    closed : {"left", "right"}, default="left"
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
    Positive weights have no effect; rows of weight 0 are ignored. Cost: two passes over the values.

    Examples
    --------
    >>> binning = EqualWidth(n_bins=3).fit([[0.0], [0.5], [0.7], [1.0], [0.1]])
    >>> binning.cut_points_[0].round(3)
    array([0.333, 0.667])
    >>> binning.transform([[-7.0], [0.4], [2.0]]).ravel()
    array([0, 1, 2], dtype=uint8)
    """

    name = "equal-width"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBins._parameter_constraints,
        "n_bins": [Interval(Integral, 1, MAX_LEVELS, closed="both")],
        "closed": [StrOptions({"left", "right"})],
    }

    def __init__(self, n_bins: int = 5, *, closed: Closed = "left", missing: Missing = "error") -> None:
        self.n_bins = n_bins
        self.closed = closed
        self.missing = missing

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes | list[Codes]:
        """Codes of ``X`` without fitting the object."""
        if self.missing == "error" and sample_weight is None:  # faster: no cut points are stored
            return equal_width(X, self.n_bins, closed=self.closed)
        return super().encode(X, y, sample_weight)

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        return [cut_by_values(table, "equal-width", self.n_bins, closed_right=self.closed == "right")]


def equal_width(X: Any, n_bins: int = 5, *, closed: Closed = "left") -> Codes:
    """Codes of :class:`EqualWidth` bins, in one call.

    The codes depend on the values, not on their data type; in a sparse column the bin of zero is not stored.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        Finite numbers.
    n_bins : int, default=5
    closed : {"left", "right"}, default="left"
        See :class:`EqualWidth`.

    Returns
    -------
    Codes

    Examples
    --------
    >>> equal_width([[0.0], [0.1], [0.5], [0.9], [1.0]], n_bins=2).column(0)
    array([0, 0, 1, 1, 1], dtype=uint16)
    """
    n_bins = whole_number(n_bins, "n_bins", 1, MAX_LEVELS)
    one_of(closed, "closed", ("left", "right"))
    return bin_equal_width(X, n_bins, closed_right=closed == "right")
