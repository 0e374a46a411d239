"""Levels by mean and standard deviation."""

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, Options

from labelsieve.counting.codes import Codes
from labelsieve.counting.cut_points import ColumnCuts, cut_by_values
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize.base_discretizer import BaseBins, Missing
from labelsieve.errors import InputError


class MeanStd(BaseBins):
    r"""Levels by the distance from the mean in standard deviations.

    Three levels are cut at :math:`\mu \pm c \sigma`; five also at :math:`\mu \pm 2 c \sigma`. The standard deviation is
    that of a sample, with :math:`N - 1`. Bins are closed on the left. A cut point without data on one side of it is dropped:
    a constant column has one level, and in a sparse column of counts zero is in the first bin.

    Parameters
    ----------
    n_levels : {3, 5}, default=3
    factor : float, default=1.0
        :math:`c`. Sun and Kudo (2017) write 1; their program has 0.5.
    decimals : int, default=None
        Round the cut points to this number of decimals; their program has 3.
    keep_binary : bool, default=False
        Keep the values of columns of zeros and ones as levels, as their program does.
    missing : {"error", "level"}, default="error"
        Refuse NaN, or encode it as an additional last level.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Cut points of every column, ascending; empty for a column that keeps its values.
    categories_ : list of ndarray or None
        The values of a binary column that keeps them. An unseen value gets the code of the nearest.

    Notes
    -----
    Weights are frequencies of rows, also in :math:`N - 1`. Cost: sorting the columns, so that sums do not depend on the order
    of the rows.

    Examples
    --------
    >>> MeanStd().fit_transform([[0.0], [4.0], [5.0], [6.0], [10.0]]).ravel()
    array([0, 1, 1, 1, 2], dtype=uint8)
    """

    name = "mean-std"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBins._parameter_constraints,
        "n_levels": [Options(Integral, {3, 5})],
        "factor": [Interval(Real, 0, None, closed="neither")],
        "decimals": [Interval(Integral, 0, 15, closed="both"), None],
        "keep_binary": ["boolean"],
    }

    def __init__(
        self,
        n_levels: int = 3,
        *,
        factor: float = 1.0,
        decimals: int | None = None,
        keep_binary: bool = False,
        missing: Missing = "error",
    ) -> None:
        self.n_levels = n_levels
        self.factor = factor
        self.decimals = decimals
        self.keep_binary = keep_binary
        self.missing = missing

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        if weights is not None and weights.total <= weights.unit and table.shape[0] > 1:
            raise InputError(
                "sample_weight adds up to no more than one row, which has no standard deviation; "
                "weights are frequencies of rows: scale them."
            )
        cuts = cut_by_values(
            table,
            "mean-std",
            self.n_levels,
            weights=weights,
            factor=float(self.factor),
            decimals=self.decimals,
            keep_binary=self.keep_binary,
        )
        return [cuts]
