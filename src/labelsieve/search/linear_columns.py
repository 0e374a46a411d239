"""Features and targets as columns of a linear model: standardized without making sparse ones dense, categories as groups."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.core import PursuitColumns
from labelsieve.counting.cut_points import require_finite
from labelsieve.counting.magnitude import column_exponents
from labelsieve.counting.number_table import NumberTable
from labelsieve.counting.resources import n_threads, require_memory
from labelsieve.counting.target_table import TargetTable
from labelsieve.search.column_basis import CONSTANT, Basis, basis_columns, n_per_feature, sparse_basis, write_basis
from labelsieve.table_types import CompressedMatrix

Real = NDArray[np.float64]
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
        """Features none of whose columns varies."""
        return np.flatnonzero(np.diff(np.concatenate([[0], np.cumsum(self.varies)])[self.starts]) == 0)


def row_shares(weights: Real | None, n_rows: int) -> tuple[Real, float]:
    """Weights that add up to 1, and their sum before."""
    if weights is None:
        return np.full(n_rows, 1.0 / n_rows), float(n_rows)
    scaled = weights / weights.max()
    return scaled / scaled.sum(), float(scaled.sum()) * float(weights.max())


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
    """The lower triangle of the products of some columns, centered."""
    products = (columns.T @ (sp.diags_array(shares) @ columns)).toarray() - np.outer(means, means)
    return np.asarray(products[np.tril_indices(len(means))])


def _joined(columns: list[tuple[NDArray[Any], Real]], n_rows: int) -> Any:
    """A CSC matrix of columns, each the rows that it stores and their values."""
    starts = np.cumsum([0, *(len(rows) for rows, _ in columns)])
    rows = np.concatenate([rows for rows, _ in columns]) if columns else np.empty(0, dtype=np.intp)
    values = np.concatenate([values for _, values in columns]) if columns else np.empty(0)
    return sp.csc_array((values, rows, starts), shape=(n_rows, len(columns)))
