"""What stratification keeps in proportion: a sparse 0/1 matrix with a column per label, class or pair of labels."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelsieve.counting.sparse_format import check_sparse
from labelsieve.datasets.splits.base_splitter import row_count
from labelsieve.errors import InputError
from labelsieve.table_types import TableLike, TargetsLike, is_sparse

# Building the matrix takes about 63 bytes for every pair in a row, 4 GB for this many. delicious has 3 million.
MOST_PAIRS = 2**26


def label_matrix(y: TargetsLike | None) -> sparse.csr_array:
    """``y`` as a sparse 0/1 matrix of rows by labels.

    Columns of zeros and ones are labels as they are. Any other column of whole numbers, truth values or text, and a
    one-dimensional ``y``, becomes one column per value. A sparse ``y`` is never made dense and must be of zeros and ones.
    """
    if y is None:
        raise InputError("Stratified splits need the labels: pass y.")
    check_sparse(y, "y")
    if is_sparse(y) and y.ndim == 2:
        return _sparse_labels(y)
    table = np.asarray(y.toarray() if is_sparse(y) else y)
    if table.ndim not in (1, 2):
        raise InputError(f"y must have one or two dimensions, not {table.ndim}.")
    if table.ndim == 2 and table.dtype.kind in "biuf" and bool(np.isin(table, (0, 1)).all()):
        return sparse.csr_array(table.astype(np.int32))
    columns = [table] if table.ndim == 1 else list(table.T)
    blocks = [_one_hot(column, number) for number, column in enumerate(columns)]
    if not blocks:
        return sparse.csr_array((table.shape[0], 0), dtype=np.int32)
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def _sparse_labels(y: TargetsLike) -> sparse.csr_array:
    labels = sparse.csr_array(y, copy=True)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    wrong = np.flatnonzero(labels.data != 1)
    if wrong.size:
        row = int(np.searchsorted(labels.indptr, wrong[0], side="right")) - 1
        raise InputError(
            f"y, row {row}, column {labels.indices[wrong[0]]}: {labels.data[wrong[0]]!s} is neither 0 nor 1. A sparse y must "
            "be binary; pass categories as a dense array."
        )
    return labels.astype(np.int32)


def _one_hot(column: NDArray[Any], number: int) -> sparse.csr_array:
    """A 0/1 column as it is, any other as one column per value."""
    missing = [row for row, value in enumerate(column.tolist()) if _is_missing(value)]
    if missing:
        raise InputError(
            f"y, row {missing[0]}, column {number}: missing value. Drop such rows or give them a class of their own."
        )
    if column.dtype.kind == "O" and all(isinstance(value, Real) for value in column):
        column = column.astype(float)
    broken = ~np.isfinite(column) | (column != np.floor(column)) if column.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if broken.any():
        row = int(np.argmax(broken))
        raise InputError(
            f"y, row {row}, column {number}: {column[row]!s} is not a whole number, so y is neither binary nor categorical. "
            "Discretize it, or use KFold or HalfSplits, which do not look at y."
        )
    try:
        values, codes = np.unique(column, return_inverse=True)
    except TypeError:
        raise InputError(f"y, column {number} mixes types that have no common order; make all of it text or numbers.") from None
    if values.tolist() in ([0], [0, 1], [1]):
        return sparse.csr_array(column.astype(np.int32)[:, None])
    ones = np.ones(codes.size, dtype=np.int32)
    return sparse.csr_array((ones, (np.arange(codes.size), codes.ravel())), shape=(codes.size, values.size))


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA refuses to be true or false
        return True


def with_pairs(labels: sparse.csr_array) -> sparse.csr_array:
    """The labels, and additionally a column for every pair of labels that some row has both of.

    Cost: a row with m labels has m (m - 1) / 2 pairs; time and memory follow their sum over the rows.
    """
    per_row = np.diff(labels.indptr).astype(np.int64)
    total = int((per_row * (per_row - 1) // 2).sum())
    if total > MOST_PAIRS:
        raise InputError(f"The rows have {total:,} pairs of labels and {MOST_PAIRS:,} is the limit; use order=1.")
    n, q = labels.shape
    labels.sort_indices()
    rows, keys = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    at = 0
    # All rows with the same number of labels at once.
    for m in np.unique(per_row[per_row > 1]).tolist():
        equal_rows = np.flatnonzero(per_row == m)
        members = labels.indices[labels.indptr[equal_rows][:, None] + np.arange(m)].astype(np.int64)
        left, right = np.triu_indices(m, 1)
        end = at + equal_rows.size * left.size
        rows[at:end] = np.repeat(equal_rows, left.size)
        keys[at:end] = (members[:, left] * q + members[:, right]).ravel()
        at = end
    pairs, codes = np.unique(keys, return_inverse=True)
    both = sparse.csr_array((np.ones(total, dtype=np.int32), (rows, codes)), shape=(n, pairs.size))
    return sparse.csr_array(sparse.hstack([labels, both], format="csr"))


@dataclass(frozen=True, eq=False)
class Units:
    """The counts of stratification columns of every unit, its number of rows, and the unit of every row."""

    column_counts: sparse.csr_array
    sizes: NDArray[np.int64]
    of_row: NDArray[np.intp]
    name: str

    @property
    def count(self) -> int:
        return int(self.sizes.size)

    @property
    def n_rows(self) -> int:
        return int(self.of_row.size)


def read_units(X: TableLike, y: TargetsLike | None, groups: ArrayLike | None, order: int) -> Units:
    """The rows, or the groups where there are any, with their labels (``order=1``) or labels and pairs (``order=2``)."""
    labels = label_matrix(y)
    n = row_count(X, labels, groups)
    column_counts = labels if order == 1 else with_pairs(labels)
    if groups is None:
        return Units(column_counts, np.ones(n, dtype=np.int64), np.arange(n), "rows")
    of_row = _group_numbers(groups)
    sizes = np.bincount(of_row).astype(np.int64)
    member = sparse.csr_array((np.ones(n, dtype=np.int32), (of_row, np.arange(n))), shape=(sizes.size, n))
    return Units(sparse.csr_array(member @ column_counts), sizes, of_row, "groups")


def _group_numbers(groups: ArrayLike) -> NDArray[np.intp]:
    names = np.asarray(groups)
    if names.ndim != 1:
        raise InputError(f"groups must have one dimension, the group of every row, not {names.ndim}.")
    if names.dtype.kind == "f" and bool(np.isnan(names).any()):
        row = int(np.argmax(np.isnan(names)))
        raise InputError(f"groups, row {row}: missing value. Give rows without a group one of their own each.")
    try:
        return np.unique(names, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise InputError(
            "groups mixes types that have no common order (a missing value, perhaps); make all of it text."
        ) from None
