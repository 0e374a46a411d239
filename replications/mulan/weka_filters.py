"""Bins of equal width and the scaling of features for distances, as in Weka."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from labelsieve.discretize.base import BaseBins
from labelsieve.parameters import parameter
from labelsieve.tables.codes import MAX_LEVELS, Codes
from labelsieve.tables.cut_points import ColumnCuts
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.sparse import validate_data
from labelsieve.tables.types import CompressedMatrix, FloatArray, Matrix, SparseMatrix, TableLike, TargetsLike, is_sparse
from labelsieve.tables.weights import RowWeights


class WekaScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Scale columns such that the Euclidean distance of two rows is that of Weka's ``EuclideanDistance``.

    A numeric column becomes :math:`(x - \min) / (\max - \min)` by the training rows, and 0 where these are constant. (New rows
    may be outside [0, 1].) Two nominal values have distance 0 if they are equal, else 1: a column of the codes 0 and 1 is
    unchanged; otherwise every value becomes two columns that are 1/2 where the row has the value, so that two values have
    distance :math:`\sqrt{4 \cdot 1/4}`, without rounding. An unseen value has distance 1 from all others.

    Parameters
    ----------
    nominal : sequence of int, default=()
        Nominal columns; a study sets them from the data set.

    Attributes
    ----------
    low_, width_ : ndarray
        Minimum and range of every column; 0 and 1 where it is nominal.
    values_ : dict of int to ndarray
        Values of nominal columns with other values than 0 and 1.

    Notes
    -----
    Sparse columns are not shifted, which does not change distances. Cost: one pass over the data.

    Examples
    --------
    >>> WekaScaler(nominal=[1]).fit_transform(np.array([[2.0, 0.0, 7.0], [4.0, 1.0, 7.0], [3.0, 1.0, 7.0]]))
    array([[0. , 0. , 0. ],
           [1. , 1. , 0. ],
           [0.5, 1. , 0. ]])
    """

    def __init__(self, nominal: Sequence[int] = ()) -> None:
        self.nominal = nominal

    def fit(self, X: TableLike, y: TargetsLike | None = None) -> Self:
        """Determine ranges and values."""
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64)
        low, high = column_ends(X, "min"), column_ends(X, "max")
        nominal = np.asarray(self.nominal, dtype=np.intp)
        fractions = X - X.floor() if is_sparse(X) else X - np.floor(X)
        two = (low >= 0) & (high <= 1) & (column_ends(fractions, "max") == 0)  # columns of the codes 0 and 1
        self.values_ = {int(column): np.unique(_dense(X, column)) for column in nominal[~two[nominal]]}
        low[nominal], high[nominal] = 0.0, 1.0
        self.low_, self.width_ = low, high - low
        return self

    def transform(self, X: TableLike) -> Any:
        """Return scaled columns; sparse stays sparse."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse=("csr", "csc"), dtype=np.float64)
        scaled = self.scaled(X)
        return self._spread(scaled, X) if self.values_ else scaled

    def scaled(self, X: Matrix) -> Matrix:
        """Return columns divided by their ranges; nominal ones are unchanged."""
        known = self.width_ > 0
        if is_sparse(X):
            inverse = np.divide(1.0, self.width_, out=np.zeros_like(self.width_), where=known)
            rows: CompressedMatrix = sparse.csr_array(X @ sparse.diags_array(inverse))
            return rows
        return np.divide(X - self.low_, self.width_, out=np.zeros_like(X), where=known)

    def _spread(self, scaled: Matrix, X: Matrix) -> Matrix:
        """Replace each nominal column by the columns of its values, in the same position, as distances are summed in order."""
        pieces: list[Any] = []
        done = 0
        for column, values in sorted(self.values_.items()):
            cells = _dense(X, column)
            codes = np.searchsorted(values, cells).clip(max=len(values) - 1)
            codes[values[codes] != cells] = len(values)  # unseen
            halves = np.repeat(np.eye(len(values) + 1)[codes] / 2, 2, axis=1)
            pieces += [scaled[:, done:column], sparse.csr_array(halves) if is_sparse(X) else halves]
            done = column + 1
        pieces.append(scaled[:, done:])
        spread: Matrix = sparse.hstack(pieces, format="csr") if is_sparse(X) else np.hstack(pieces)
        return spread

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _dense(X: Matrix, column: int) -> NDArray[np.float64]:
    return np.asarray(X[:, [column]].toarray() if is_sparse(X) else X[:, [column]])[:, 0]


@dataclass(eq=False, repr=False)
class WekaBins(BaseBins):
    r"""Equal-width bins for every column, closed on the right, as in Weka's unsupervised ``Discretize``.

    The cut points are :math:`\min + i (\max - \min) / n`. Unlike :class:`labelsieve.discretize.EqualWidth` it never uses
    values as levels: several distinct values may share a bin.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins.

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
