"""Weka's discretization: equal-width bins for all numeric columns, none for nominal ones."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval

from labelsieve.counting.codes import MAX_LEVELS, Codes
from labelsieve.counting.cut_points import ColumnCuts
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize import Discretizer
from labelsieve.discretize.base_discretizer import BaseBins, Missing


class WekaBins(BaseBins):
    r"""Equal-width bins for every column, closed on the right, as in Weka's unsupervised ``Discretize``.

    The cut points are :math:`\min + i (\max - \min) / n`. Unlike :class:`labelsieve.discretize.EqualWidth` it never uses
    values as levels: a column with few, close values loses some of them.

    Parameters
    ----------
    n_bins : int, default=10
    missing : {"error", "level"}, default="error"

    Examples
    --------
    >>> WekaBins(10).encode([[0.0], [1.0], [40.0]]).column(0)
    array([0, 0, 9], dtype=uint16)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBins._parameter_constraints,
        "n_bins": [Interval(Integral, 1, MAX_LEVELS, closed="both")],
    }

    def __init__(self, n_bins: int = 10, *, missing: Missing = "error") -> None:
        self.n_bins = n_bins
        self.missing = missing

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        values = table.dense if table.dense is not None else table.sparse
        low, high = column_ends(values, "min"), column_ends(values, "max")
        points = low[:, np.newaxis] + ((high - low) / self.n_bins)[:, np.newaxis] * np.arange(1, self.n_bins)
        points = points[high > low]
        starts = np.concatenate([[0], np.cumsum(np.where(high > low, self.n_bins - 1, 0))]).astype(np.int64)
        return [ColumnCuts(starts, points.ravel(), np.zeros(len(low), dtype=bool), closed_right=True)]


class KeepNominal(Discretizer):
    """Discretize numeric columns by a rule, and use the values of nominal ones as codes.

    Weka discretizes only columns that the file declares numeric. This matters for a supervised rule: a nominal feature with
    little information keeps it, a numeric one without any cut point has none.

    Parameters
    ----------
    rule : Discretizer
        For numeric columns.
    nominal : sequence of int
        Columns whose values are codes.

    Notes
    -----
    Cost: that of the rule. Sparse data with both kinds are encoded densely, one byte per value.

    Examples
    --------
    >>> from labelsieve.discretize import EqualWidth
    >>> KeepNominal(EqualWidth(2), [1]).encode(np.array([[0.1, 0], [0.2, 2], [0.9, 1]])).to_dense()
    array([[0, 0],
           [0, 2],
           [1, 1]], dtype=uint8)
    """

    def __init__(self, rule: Discretizer, nominal: Sequence[int] = ()) -> None:
        self.rule = rule
        self.nominal = nominal

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes | list[Codes]:
        """Return the codes of ``X``; a list of them where the rule has cut points for each target and a column is numeric."""
        is_nominal = np.zeros(X.shape[1], dtype=bool)
        is_nominal[list(self.nominal)] = True
        if is_nominal.all():
            return Codes.from_values(X)
        if not is_nominal.any():
            return self.rule.encode(X, y, sample_weight)
        columns = sparse.csc_array(X) if sparse.issparse(X) else X
        kept = Codes.from_values(columns[:, is_nominal])
        cut = self.rule.encode(columns[:, ~is_nominal], y, sample_weight)
        if isinstance(cut, list):
            return [_merged(kept, codes, is_nominal) for codes in cut]
        return _merged(kept, cut, is_nominal)


def _merged(kept: Codes, cut: Codes, is_nominal: Any) -> Codes:
    levels = np.empty(len(is_nominal), dtype=np.uint32)
    levels[is_nominal], levels[~is_nominal] = kept.levels, cut.levels
    codes = np.empty((kept.n_rows, len(is_nominal)), dtype=np.uint8 if levels.max() <= 256 else np.uint16, order="F")
    codes[:, is_nominal], codes[:, ~is_nominal] = kept.to_dense(), cut.to_dense()
    return Codes(kept.n_rows, levels, dense=codes)


def column_ends(X: Any, end: Literal["min", "max"]) -> NDArray[np.float64]:
    """Return the minimum or maximum of every column, dense or sparse."""
    ends = X.min(axis=0) if end == "min" else X.max(axis=0)
    return np.array(ends.toarray() if sparse.issparse(ends) else ends, dtype=np.float64).ravel()
