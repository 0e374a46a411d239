"""Discretizers that look at the values alone: bins of equal width or frequency, clusters of k-means, distance from the mean."""

from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from typing import ClassVar, Literal

from sklearn.utils._param_validation import Interval, Options

from labelsieve.discretize.base import BaseBins
from labelsieve.errors import InputError, one_of, whole_number
from labelsieve.parameters import POSITIVE, parameter
from labelsieve.tables.codes import MAX_LEVELS, Codes
from labelsieve.tables.cut_points import ColumnCuts, bin_equal_width, cut_by_values
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike
from labelsieve.tables.weights import RowWeights

Closed = Literal["left", "right"]


@dataclass(eq=False, repr=False)
class NumberedBins(BaseBins):
    """Base of discretizers with a given number of bins.

    A column with no more than ``n_bins`` distinct values keeps them as levels.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins.
    """

    _method: ClassVar[str]  # name of the rule in cut_by_values

    n_bins: int = parameter(5, Interval(Integral, 1, MAX_LEVELS, closed="both"))

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        return [cut_by_values(table, self._method, self.n_bins, weights=weights)]


@dataclass(eq=False, repr=False)
class EqualWidth(NumberedBins):
    r"""Discretize every column into bins of equal width.

    With :math:`w = (\max - \min) / n`, the cut points are :math:`\min + i w`. Bins are closed on the left, the last on both
    sides; with ``closed="right"`` they are closed on the right, the first on both sides. A column with no more than ``n_bins``
    distinct values keeps them as levels, in ascending order.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins: five in Sechidis, Nikolaou and Brown (2014); ten, closed on the right, in Pereira et al. (2015).
    closed : {"left", "right"}, default="left"
        The side of a bin whose limit belongs to it.

    Notes
    -----
    Positive weights have no effect; rows of weight 0 are ignored. Cost: two passes over the values. Discretizers use the
    threads of joblib's context, as in ``with joblib.parallel_config("threading", n_jobs=2): ...``; selectors set it to their
    ``n_jobs``. The codes do not depend on it.

    Examples
    --------
    >>> binning = EqualWidth(n_bins=3).fit([[0.0], [0.5], [0.7], [1.0], [0.1]])
    >>> binning.cut_points_[0].round(3)
    array([0.333, 0.667])
    >>> binning.transform([[-7.0], [0.4], [2.0]]).ravel()
    array([0, 1, 2], dtype=uint8)
    """

    name = "equal-width"

    closed: Closed = field(default="left", kw_only=True)

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Encode ``X`` without fitting the object."""
        self._validate_params()
        table = read_table(X, allow_missing=self.missing != "error")
        if sample_weight is None and self.nominal is None and not table.nominal:
            codes = bin_equal_width(table, self.n_bins, closed_right=self.closed == "right")
            if codes is not None:  # faster, since no cut points are stored, but for finite numbers only
                return codes
        return super().encode(table, y, sample_weight)

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        return [cut_by_values(table, "equal-width", self.n_bins, closed_right=self.closed == "right")]


class EqualFrequency(NumberedBins):
    r"""Discretize every column into bins with about equal numbers of rows.

    The boundary between two neighboring distinct values :math:`a < b` has the fraction :math:`F(a)` of the rows (or of their
    weight) below it. For :math:`i = 1, \dots, n - 1` the column is cut at the boundary whose fraction is nearest to :math:`i /
    n` (in a tie, the lower one), half-way between the two values. If a value is so frequent that one boundary is nearest for
    several :math:`i`, the most frequent value gets a separate bin, and the values below and above it share the other bins by
    the same rule, in proportion to their rows, as long as a bin has about :math:`1 / (2n)` of all rows. Equal values are never
    split, and in a column of mostly zeros the zeros are separate from the other values, and these from each other. A column
    with no more than ``n_bins`` distinct values keeps them as levels.

    Notes
    -----
    Bins are closed on the left. The codes are invariant under increasing transformations of a column. Cost: three passes over
    the columns and a sort of the values near the cut points; sorting the columns if rows are weighted, few or mostly equal, and
    the stored values of sparse columns.

    Examples
    --------
    >>> EqualFrequency(2).fit_transform([[1.0], [2.0], [3.0], [1000.0]]).ravel()
    array([0, 0, 1, 1], dtype=uint8)
    """

    name = _method = "equal-frequency"


class KMeansBins(NumberedBins):
    r"""Discretize every column into the clusters of one-dimensional k-means.

    The bins :math:`B_1, \dots, B_n` minimize

    .. math:: \sum_{b} \sum_{x \in B_b} w_x (x - \mu_b)^2

    over all partitions of the sorted values. Dynamic programming (Wang and Song 2011) finds the global optimum, so the result
    depends on no random start. Cut points are half-way between neighboring means. A column with no more than ``n_bins``
    distinct values keeps them as levels.

    Notes
    -----
    Bins are closed on the left. Cost: sorting a column, and ``n_bins * m * log(m)`` steps for its ``m`` distinct values.

    Examples
    --------
    >>> KMeansBins(2).fit_transform([[1.0], [2.0], [3.0], [1000.0]]).ravel()
    array([0, 0, 0, 1], dtype=uint8)
    """

    name = _method = "k-means"


@dataclass(eq=False, repr=False)
class MeanStd(BaseBins):
    r"""Levels by the distance from the mean in standard deviations.

    Three levels are cut at :math:`\mu \pm c \sigma`; five also at :math:`\mu \pm 2 c \sigma`. The standard deviation is
    that of a sample, with :math:`N - 1`. Bins are closed on the left. A cut point without data on one side of it is dropped:
    a constant column has one level, and in a sparse column of counts zero is in the first bin.

    Parameters
    ----------
    n_levels : {3, 5}, default=3
        Number of levels.
    factor : float, default=1.0
        The factor :math:`c`. Sun and Kudo (2017) write 1; their program uses 0.5.
    decimals : int, default=None
        Round the cut points to this number of decimals; their program uses 3.
    keep_binary : bool, default=False
        Keep the values of columns of zeros and ones as levels, as their program does.

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

    n_levels: int = parameter(3, Options(Integral, {3, 5}))
    _: KW_ONLY
    factor: float = parameter(1.0, POSITIVE)
    decimals: int | None = parameter(None, Interval(Integral, 0, 15, closed="both"))
    keep_binary: bool = False

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


def equal_width(X: TableLike, n_bins: int = 5, *, closed: Closed = "left") -> Codes:
    """Encode a table by :class:`EqualWidth` bins, in one call.

    The codes depend on the values, not on their data type; in a sparse column the bin of zero is not stored.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        Finite numbers.
    n_bins, closed : int, {"left", "right"}, default=5 and "left"
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
    codes = EqualWidth(n_bins, closed=closed).encode(X)
    assert isinstance(codes, Codes)
    return codes
