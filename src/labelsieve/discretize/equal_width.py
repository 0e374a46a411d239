"""Bins of equal width."""

from typing import Any, Literal

from labelsieve.discretize.discretizer import Discretizer
from labelsieve.errors import one_of, whole_number
from labelsieve.information.binning import bin_equal_width
from labelsieve.information.codes import MAX_LEVELS, Codes

Closed = Literal["left", "right"]


class EqualWidth(Discretizer):
    """Bins of equal width, as a setting of a selector: see :func:`equal_width`.

    >>> EqualWidth(n_bins=3).encode([[0.0], [0.5], [0.7], [1.0]]).column(0)
    array([0, 1, 2, 2], dtype=uint16)
    """

    def __init__(self, n_bins: int = 5, *, closed: Closed = "left") -> None:
        self.n_bins = n_bins
        self.closed = closed

    def encode(self, X: Any) -> Codes:
        """Codes of ``X``."""
        return equal_width(X, self.n_bins, closed=self.closed)


def equal_width(X: Any, n_bins: int = 5, *, closed: Closed = "left") -> Codes:
    r"""Cut the range of every column into ``n_bins`` parts of equal width.

    With :math:`w = (\max - \min) / n`, the cut points are :math:`\min + i w`. Bins are closed on the left, the last on both
    sides; ``closed="right"`` turns that around. A column with no more than ``n_bins`` distinct values keeps them as levels,
    in their order. What a column is depends on its values, never on their type; in a sparse column the bin that holds zero is
    the one that is not stored.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        Finite numbers.
    n_bins : int
        Five in Sechidis, Nikolaou and Brown (2014); ten, closed on the right, in Pereira et al. (2015).
    closed : {"left", "right"}

    Returns
    -------
    Codes

    Notes
    -----
    Cost: two passes over the values.

    Examples
    --------
    >>> equal_width([[0.0], [0.1], [0.5], [0.9], [1.0]], n_bins=2).column(0)
    array([0, 0, 1, 1, 1], dtype=uint16)
    """
    n_bins = whole_number(n_bins, "n_bins", 1, MAX_LEVELS)
    one_of(closed, "closed", ("left", "right"))
    return bin_equal_width(X, n_bins, closed_right=closed == "right")
