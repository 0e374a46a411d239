"""What is placed as a whole: a row, or the rows of a group."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.splits.base_splitter import row_count
from labelsieve.datasets.splits.stratification_columns import label_matrix, with_pairs
from labelsieve.errors import InputError


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


def read_units(X: Any, y: Any, groups: Any, order: int) -> Units:
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


def _group_numbers(groups: Any) -> NDArray[np.intp]:
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
