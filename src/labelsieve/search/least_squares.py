"""The least-squares gain: the columns of a linear model of all targets, and how much each feature improves its fit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import chdtrc, gammainccinv

from labelsieve import core
from labelsieve.core import PursuitColumns
from labelsieve.resources import n_threads, require_memory
from labelsieve.search.gains import Gain
from labelsieve.tables.cut_points import require_finite
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.magnitude import column_exponents
from labelsieve.tables.nominal import declare_nominal
from labelsieve.tables.problem import column_numbers
from labelsieve.tables.targets import TargetTable
from labelsieve.tables.types import ColumnsLike, CompressedMatrix

Real = NDArray[np.float64]
Basis = Literal["linear", "clipped", "ranks", "quadratic-ranks"]
CLIP = 2.5  # standard deviations
CONSTANT = 1e-13  # a standard deviation below this fraction of the largest value is rounding
MOST_LEVELS, FEW_ROWS = 20, 10  # a nominal column of more levels has those of fewer rows pooled


def n_per_feature(basis: Basis) -> int:
    """Return the number of columns that a numeric feature has in this basis."""
    return 2 if basis == "quadratic-ranks" else 1


def _standardize(values: Real, shares: Real) -> None:
    """Give columns mean 0 and variance 1 in weighted rows, in place; missing cells become 0, and all of a constant column."""
    weights, missing = shares[:, np.newaxis], np.isnan(values)
    known: Any = 1.0
    if missing.any():
        values[missing] = 0.0
        weights = np.where(missing, 0.0, weights)
        known = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
    exponents = column_exponents(values)
    if exponents.any():
        np.ldexp(values, -exponents, out=values)
    largest = np.abs(values).max(axis=0, initial=0.0)
    values -= (weights * values).sum(axis=0) / known
    values[missing] = 0.0
    scale = np.sqrt((weights * values * values).sum(axis=0))
    varies = scale > CONSTANT * largest
    values *= np.divide(1.0, scale, out=np.zeros(len(scale)), where=varies)


def write_basis(values: Real, basis: Basis, shares: Real) -> None:
    """Replace columns by those of a basis, standardized, in place; those of squares follow each of ranks."""
    if basis == "quadratic-ranks":
        for column in values[:, ::2].T:
            column[:] = _ranks(column, shares)
        _standardize(values[:, ::2], shares)
        values[:, 1::2] = values[:, ::2] ** 2
        _standardize(values[:, 1::2], shares)
        return
    if basis == "ranks":
        for column in values.T:
            column[:] = _ranks(column, shares)
    _standardize(values, shares)
    if basis == "clipped":
        _standardize(np.clip(values, -CLIP, CLIP, out=values), shares)


def basis_columns(values: NDArray[Any], basis: Basis, shares: Real) -> Real:
    """Return the standardized columns of a numeric feature."""
    columns = np.empty((len(values), n_per_feature(basis)), order="F")
    columns[:, 0] = values
    write_basis(columns, basis, shares)
    return columns.T


def _ranks(values: NDArray[Any], shares: Real) -> Real:
    """Mean ranks in weighted rows, as fractions of all known rows; NaN where a cell is missing."""
    ranks = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    _, index = np.unique(values[known], return_inverse=True)
    weights = np.bincount(index, shares[known])
    ranks[known] = (np.cumsum(weights) - weights / 2)[index]
    return ranks


def sparse_basis(
    table: NumberTable, feature: int, basis: Basis, shares: Real, total: float
) -> Iterator[tuple[NDArray[Any], Real]]:
    """The columns of a feature as stored rows and values; what is not stored is 0."""
    if feature in table.nominal:
        yield from _level_columns(table.column(feature), shares, total)
        return
    if table.dense is not None:
        for column in basis_columns(table.dense[:, feature], basis, shares):
            yield np.arange(len(column)), column
        return
    listed = slice(table.sparse.indptr[feature], table.sparse.indptr[feature + 1])
    rows = table.sparse.indices[listed]
    for column in basis_columns(table.column(feature), basis, shares):
        zero = _value_of_zero(column, rows)
        yield rows, column[rows] - zero  # moved so that what is not stored stays 0; centered again where it is multiplied


def _value_of_zero(column: Real, rows: NDArray[Any]) -> float:
    """Return the value of a sparse column in the rows that it does not list."""
    others = np.ones(len(column), dtype=bool)
    others[rows] = False
    return float(column[np.argmax(others)]) if others.any() else 0.0


def _level_columns(values: NDArray[Any], shares: Real, total: float) -> Iterator[tuple[NDArray[Any], Real]]:
    """A 0/1 column for each level but the most frequent one; missing cells are a level."""
    levels, index = np.unique(values, return_inverse=True)  # NaN is one value, the last
    counts = np.bincount(index, shares) * total
    if len(levels) > MOST_LEVELS:
        pooled = counts < FEW_ROWS
        index = np.where(pooled, 0, np.cumsum(~pooled))[index]
        counts = np.bincount(index, shares, int(index.max()) + 1) * total
    order = np.argsort(index, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(index, minlength=len(counts)))[:-1])
    for level, rows in enumerate(rows_of):
        if level != int(counts.argmax()) and len(rows):
            yield rows, np.ones(len(rows))


SPARSE = 0.2  # an array with a smaller share of nonzero cells is multiplied faster as a sparse matrix
CELLS_AT_ONCE = 2**17


@dataclass(frozen=True, eq=False)
class LinearColumns:
    """Columns of the features, adjacent for each feature, as the core multiplies them.

    Attributes
    ----------
    core : PursuitColumns
    starts : ndarray of int64, shape (n_features + 1,)
        The first column of every feature, and the end of the last.
    varies : ndarray of bool, shape (n_columns,)
        Columns that are not constant.
    squares : ndarray of float
        Products of the columns of each feature with each other in weighted rows, 1 for a column with itself: lower triangles,
        row after row, one feature after the other.
    shares : ndarray of float, shape (n_rows,)
        Weights of the rows, adding up to 1.
    total : float
        The sum of the weights as given: the number of rows.
    """

    core: PursuitColumns
    starts: NDArray[np.int64]
    varies: NDArray[np.bool_]
    squares: Real
    shares: Real
    total: float

    @property
    def constant_features(self) -> NDArray[np.intp]:
        """Return the features none of whose columns varies."""
        return np.flatnonzero(np.diff(np.concatenate([[0], np.cumsum(self.varies)])[self.starts]) == 0)


def row_shares(weights: Real | None, n_rows: int) -> tuple[Real, float]:
    """Scale row weights so that they add up to 1; also return their sum before."""
    if weights is None:
        return np.full(n_rows, 1.0 / n_rows), float(n_rows)
    scaled = weights / weights.max()
    return scaled / scaled.sum(), float(scaled.sum()) * float(weights.max())


def linear_columns(
    table: NumberTable,
    nominal: ColumnsLike | None,
    basis: Basis = "linear",
    weights: Real | None = None,
    n_jobs: int | None = None,
    *,
    allow_missing: bool = True,
) -> LinearColumns:
    """The columns of a linear model of a table; ``nominal`` are columns of numbers that are categories, by number or name."""
    require_finite(table, allow_missing=allow_missing)
    if nominal is not None:
        named = nominal if isinstance(nominal, str) else column_numbers(nominal, table.names, table.shape[1], "nominal")
        table = declare_nominal(table, named)
    return feature_columns(table, basis=basis, weights=weights, n_jobs=n_jobs)


def feature_columns(
    table: NumberTable, *, basis: Basis = "linear", weights: Real | None = None, n_jobs: int | None = None
) -> LinearColumns:
    """The columns of every feature, with mean 0 and variance 1 in weighted rows.

    ``basis`` of a numeric feature: its values, values cut at 2.5 standard deviations, ranks, or ranks and their squares.
    A nominal feature has a column for each level but the most frequent one, missing cells being a level. Missing cells of a
    numeric feature have its mean.

    Cost: one pass over the values; sorting for ranks. Memory: 8 bytes for each cell, 12 for each that a sparse matrix stores.
    """
    require_finite(table, allow_missing=True)
    n_rows, n_features = table.shape
    shares, total = row_shares(weights, n_rows)
    per_feature = n_per_feature(basis)
    plain, cells = basis == "linear" and not table.nominal, table.dense
    if plain and cells is not None and np.count_nonzero(cells) < SPARSE * cells.size:
        table = replace(table, values=sp.csc_array(cells, dtype=np.float64))
    if table.dense is not None and not table.nominal:
        require_memory(8 * n_rows * n_features * per_feature, "A linear model of", n_features, 1)
        values = np.zeros((n_rows, n_features * per_feature), order="F")
        values[:, ::per_feature] = table.dense
        at_once = max(1, CELLS_AT_ONCE // n_rows) * per_feature
        for first in range(0, values.shape[1], at_once):
            write_basis(values[:, first : first + at_once], basis, shares)
        varies: NDArray[np.bool_] = np.asarray(values.any(axis=0))
        starts = np.arange(0, values.shape[1] + 1, per_feature, dtype=np.int64)
        squares = varies.astype(np.float64)
        if per_feature == 2:
            products = np.array([(shares * values[:, j] * values[:, j + 1]).sum() for j in range(0, values.shape[1], 2)])
            squares = np.column_stack([squares[::2], products, squares[1::2]]).reshape(-1)
        return LinearColumns(PursuitColumns(values, n_threads(n_jobs)), starts, varies, squares, shares, total)
    if plain:
        starts, matrix = np.arange(n_features + 1, dtype=np.int64), sp.csc_array(table.sparse, dtype=np.float64, copy=True)
    else:
        groups = [list(sparse_basis(table, feature, basis, shares, total)) for feature in range(n_features)]
        starts = np.cumsum([0, *map(len, groups)], dtype=np.int64)
        matrix = _joined([column for group in groups for column in group], n_rows)
    columns, deviations = sparse_columns(matrix, shares, n_jobs)
    squares = (deviations > 0).astype(np.float64)
    if len(squares) > n_features or (np.diff(starts) != 1).any():
        scaled = matrix @ sp.diags_array(np.divide(1.0, deviations, out=np.zeros(len(squares)), where=deviations > 0))
        means = np.asarray(scaled.T @ shares)
        squares = np.concatenate(
            [_triangle(scaled[:, first:last], means[first:last], shares) for first, last in pairwise(starts.tolist())]
        )
    return LinearColumns(columns, starts, deviations > 0, squares, shares, total)


def target_columns(targets: TargetTable, shares: Real) -> Any:
    """Targets as a CSC matrix: 0/1 for two classes, a 0/1 column for each of more classes, standardized numbers.

    Unknown cells have the mean of the known ones, so that nothing is left of them once the column is centered.
    """
    codes, columns = targets.classes, list[tuple[NDArray[Any], Real]]()
    numbers = iter(np.asarray(targets.numbers, dtype=np.float64).T)
    for column in range(targets.n_columns):
        if targets.is_numeric[column]:
            columns.append((np.arange(len(shares)), basis_columns(next(numbers), "linear", shares)[0]))
            continue
        unknown = codes.missing is not None and bool(codes.missing[column])
        n_classes = int(codes.levels[column]) - unknown
        if codes.sparse is not None and n_classes <= 2 and not unknown and not codes.sparse.implicit[column]:
            listed = slice(codes.sparse.starts[column], codes.sparse.starts[column + 1])
            rows = codes.sparse.rows[listed][codes.sparse.codes[listed] == 1]
            columns.append((rows, np.ones(len(rows))))
            continue
        classes = codes.column(column)
        missing = np.flatnonzero(classes == n_classes) if unknown else np.empty(0, dtype=np.intp)
        known = 1.0 - float(shares[missing].sum())
        for level in range(1, 2) if n_classes <= 2 else range(n_classes):
            rows = np.flatnonzero((classes == level) & (level < n_classes))  # unknown cells have the code after the last class
            mean = float(shares[rows].sum()) / known if known > 0 else 0.0
            values = np.concatenate([np.ones(len(rows)), np.full(len(missing), mean)])
            order = np.argsort(cells := np.concatenate([rows, missing]), kind="stable")
            columns.append((cells[order], values[order]))
    return _joined(columns, len(shares))


def sparse_columns(matrix: CompressedMatrix, shares: Real, n_jobs: int | None, *, standardize: bool = True) -> tuple[Any, Real]:
    """The core's view of a CSC matrix whose columns are centered, and divided by their deviations, where they are multiplied.

    Also the standard deviations, 0 for constant columns. Missing cells of ``matrix`` are filled with the means, in place.
    """
    n_rows, n_columns = matrix.shape
    of_entry = np.repeat(np.arange(n_columns), np.diff(matrix.indptr))
    weight, missing = shares[matrix.indices], np.isnan(matrix.data)
    if missing.any():
        matrix.data[missing] = 0.0
    exponents = column_exponents(matrix) if matrix.nnz else np.zeros(n_columns, dtype=np.int32)
    if exponents.any():
        matrix.data = np.ldexp(matrix.data, -exponents[of_entry])
    known = 1.0 - _sums(of_entry[missing], weight[missing], n_columns)
    sums = _sums(of_entry, weight * matrix.data, n_columns)
    centers = np.divide(sums, known, out=np.zeros(n_columns), where=known > 0)
    matrix.data[missing] = centers[of_entry[missing]]
    squares = _sums(of_entry, weight * (matrix.data - centers[of_entry]) ** 2, n_columns)
    stored = _sums(of_entry, weight, n_columns)
    squares += np.where(np.diff(matrix.indptr) < n_rows, np.maximum(1.0 - stored, 0.0) * centers**2, 0.0)
    largest, listed = np.zeros(n_columns), np.flatnonzero(np.diff(matrix.indptr))
    if len(listed):
        largest[listed] = np.maximum.reduceat(np.abs(matrix.data), matrix.indptr[listed])
    deviations = np.where(np.sqrt(squares) > CONSTANT * largest, np.sqrt(squares), 0.0)
    factors = np.ones(n_columns)
    if standardize:
        factors = np.divide(1.0, deviations, out=np.zeros(n_columns), where=deviations > 0)
    arrays = matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.data
    return PursuitColumns(*arrays, n_rows, centers, factors, n_threads(n_jobs)), deviations


def _sums(index: NDArray[Any], values: Real, n: int) -> Real:
    """Sums of the values of every index; also of none, where ``bincount`` returns whole numbers."""
    return np.bincount(index, values, n).astype(np.float64, copy=False)


def _triangle(columns: Any, means: Real, shares: Real) -> Real:
    """Return the lower triangle of the products of some centered columns."""
    products = (columns.T @ (sp.diags_array(shares) @ columns)).toarray() - np.outer(means, means)
    return np.asarray(products[np.tril_indices(len(means))])


def _joined(columns: list[tuple[NDArray[Any], Real]], n_rows: int) -> Any:
    """A CSC matrix of columns, each the rows that it stores and their values."""
    starts = np.cumsum([0, *(len(rows) for rows, _ in columns)])
    rows = np.concatenate([rows for rows, _ in columns]) if columns else np.empty(0, dtype=np.intp)
    values = np.concatenate([values for _, values in columns]) if columns else np.empty(0)
    return sp.csc_array((values, rows, starts), shape=(n_rows, len(columns)))


LEAST_LEFT = 0.01  # of the variance of a column: with less left, given the selected features, it has no gain
INDEPENDENT = 1e-10  # of the variance: with less left, a selected column adds no direction
EXPLAINED = 1e-12  # of the variance of a target: with less left there is nothing to gain
NEVER = 1e300  # a penalty that no drop exceeds
_STEPS = 2.0**40  # gains are multiples of the largest divided by this: equal ones are equal in spite of rounding


class LeastSquaresGain(Gain):
    r"""Reduction of the mean squared residuals when a feature is added to a linear model of all targets.

    .. math:: O(f) = \sum_y \max\Big(0, \frac{(z_f' R_y)^2}{z_f' z_f} - c \, d_f \frac{|R_y|^2}{N}\Big) / N

    :math:`z_f` and the residuals :math:`R_y` are kept orthogonal to the selected features. :math:`c \, d_f |R_y|^2 / N`
    is a penalty for the degrees of freedom: a column of noise lowers the sum of squares by :math:`|R_y|^2 / N` on average. The
    first term is the drop by all columns of a feature (levels, or ranks and their squares), and :math:`d_f` is their number.

    Nothing of the size of X'X is formed. With products A = X'R, a step makes the selected column orthogonal to those before
    it, a vector u of unit length, and then :math:`A \leftarrow A - (X'u)(u'Y)'`, since u'R = u'Y.
    Columns are centered implicitly, so sparse ones stay sparse.

    Cost of a step: the stored cells of X and Y, N for every feature selected before, and d q. Memory: d q. The same bits on any
    number of threads.

    Parameters
    ----------
    columns : LinearColumns
    targets : TargetTable
    penalty : float, default=2.0
        c.
    n_jobs : int, default=None
    """

    name = "least squares"
    is_ranking = False

    def __init__(
        self, columns: LinearColumns, targets: TargetTable, *, penalty: float = 2.0, n_jobs: int | None = None
    ) -> None:
        shares, self._columns, self._penalty = columns.shares, columns, float(penalty)
        matrix = target_columns(targets, shares)
        self._targets, deviations = sparse_columns(matrix, shares, n_jobs, standardize=False)
        self._left = deviations**2
        self._explained = EXPLAINED * self._left
        n_columns, n_targets = len(columns.varies), matrix.shape[1]
        require_memory(8 * n_columns * n_targets, "Products of", n_columns, n_targets)
        by_row = matrix.tocsr()
        weighted = by_row.data * np.repeat(shares, np.diff(by_row.indptr))
        self._products = np.empty((n_columns, n_targets))
        columns.core.times_targets(by_row.indptr.astype(np.int64), by_row.indices.astype(np.uint32), weighted, self._products)
        self._least = np.where(columns.varies, LEAST_LEFT, np.inf)
        self._n_independent = _n_independent(matrix, shares)
        self._root = np.sqrt(shares)
        # The first direction is the constant: whatever is orthogonal to it is centered.
        self._directions, self._n_directions = np.empty((8, len(shares))), 1
        self._directions[0] = self._root
        self._squares = columns.squares.copy()

    def scores(self) -> Real:
        """Return the least-squares gain of every feature."""
        gains = np.empty(len(self._columns.starts) - 1)
        penalties = np.where(self._left > self._explained, self._penalty * self._left / self._columns.total, NEVER)
        self._columns.core.gains(self._columns.starts, self._products, self._squares, self._least, penalties, gains)
        largest = gains.max(initial=0.0)
        if largest > 0:
            unit = 2.0 ** np.floor(np.log2(largest)) / _STEPS
            gains = np.rint(gains / unit) * unit
        self._gains = gains
        return gains

    def noise_level(self, alpha: float) -> float:
        r"""What the largest gain exceeds with a probability of about ``alpha`` if no feature is related to the residuals.

        The gain of such a feature is :math:`\sum_y v_y (\chi^2_y - c\,d_f)_+ / N` with the mean squared residuals :math:`v_y`
        and variables of a chi-square distribution of :math:`d_f` degrees of freedom, which depend on each other as the
        targets do. Its mean and its variance define a gamma distribution, whose quantile for :math:`1 - (1 - \alpha)^{1/d}` is
        the level.
        The number of independent targets, :math:`(\operatorname{tr} C)^2 / |C|_F^2` for their covariances C, is that of the
        beginning.
        The approximation is for large samples: too low for values and labels that are both rare.
        """
        if alpha >= 1:
            return 0.0
        n_columns = np.diff(self._columns.starts)
        of_one = -np.expm1(np.log1p(-alpha) / len(n_columns))  # of one feature above a level that none exceeds, 1 - alpha
        scale = self._left.sum() / self._columns.total
        return float(scale * max((self._quantile(of_one, size) for size in np.unique(n_columns[n_columns > 0])), default=0.0))

    def _quantile(self, probability: float, n_columns: int) -> float:
        """Of the gain of noise with so many columns, for residuals of 1 in all and one row."""
        least = self._penalty * n_columns
        tails = [float(chdtrc(n_columns + more, least)) for more in (0, 2, 4)]  # of chi-square distributions
        mean = n_columns * tails[1] - least * tails[0]
        square = n_columns * (n_columns + 2) * tails[2] - 2 * least * n_columns * tails[1] + least**2 * tails[0]
        if mean <= 0 or square <= mean**2:
            return 0.0  # the penalty is never exceeded
        variance = (square - mean**2) / self._n_independent
        return float(gammainccinv(mean**2 / variance, probability) * variance / mean)

    def components(self, feature: int) -> dict[str, float]:
        """The least-squares gain has a single component: the gain itself."""
        return {self.name: float(self._gains[feature])}

    def select(self, feature: int) -> None:
        """Make columns and residuals orthogonal to a feature."""
        starts = self._columns.starts
        for column in range(int(starts[feature]), int(starts[feature + 1])):
            if self._columns.varies[column]:
                self._take_out(column)

    def _take_out(self, column: int) -> None:
        direction = np.empty(len(self._root))
        self._columns.core.column(column, direction)
        direction *= self._root
        left = core.orthogonalize(self._directions, self._n_directions, direction)
        if left <= INDEPENDENT:
            return
        direction /= np.sqrt(left)
        if self._n_directions == len(self._directions):
            self._directions = np.concatenate([self._directions, np.empty_like(self._directions)])
        self._directions[self._n_directions] = direction
        self._n_directions += 1
        of_columns, of_targets = self._times(direction)
        self._columns.core.fold(self._columns.starts, self._products, self._squares, of_columns, of_targets)
        self._left = np.maximum(self._left - of_targets**2, 0.0)

    def _times(self, direction: Real) -> tuple[Real, Real]:
        """Products of a direction with all columns, and with all targets."""
        weighted = direction * self._root
        of_columns, of_targets = np.empty(len(self._columns.varies)), np.empty(self._products.shape[1])
        self._columns.core.times(weighted, of_columns)
        self._targets.times(weighted, of_targets)
        return of_columns, of_targets


def _n_independent(targets: Any, shares: Real) -> float:
    """The number of independent targets with the same sum and sum of squares of their variances; 1 if none varies."""
    weighted = sp.diags_array(shares) @ targets
    means = np.asarray(targets.T @ shares)
    products = targets.T @ weighted
    total = float(products.diagonal().sum() - means @ means)
    squares = float((products.data**2).sum() - 2 * means @ (products @ means) + (means @ means) ** 2)
    return max(1.0, total**2 / squares) if total > 0 and squares > 0 else 1.0
