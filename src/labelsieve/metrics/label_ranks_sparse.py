"""Ranks of the true labels by sparse scores, from the stored scores only: no array has a column for every label."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.number_table import without_duplicates
from labelsieve.metrics.measure_arrays import Floats
from labelsieve.table_types import CompressedMatrix

BLOCK = 2**20  # stored scores and true labels that are sorted at a time
# Rows and labels of the true labels, and the numbers of absent and of true labels that are ranked above each of them.
Ranked = tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats]


def sparse_ranks(truth: CompressedMatrix, scores: CompressedMatrix) -> list[Ranked]:
    """Ranks of the true labels, block by block; tied labels are above each other. What is not stored scores 0.

    Cost: sorting the stored scores of every row, O(nnz log nnz).

    >>> import scipy.sparse as sp
    >>> ranks = sparse_ranks(sp.csr_array(np.array([[1, 0, 0, 1]])), sp.csr_array(np.array([[0.5, 0.7, 0, 0]])))
    >>> [numbers.tolist() for numbers in ranks[0]]
    [[0, 0], [0, 3], [1.0, 2.0], [1.0, 2.0]]
    """
    truth, scores = without_duplicates(truth), without_duplicates(scores)
    sizes = np.cumsum(np.diff(truth.indptr) + np.diff(scores.indptr))
    ends = np.unique(np.append(np.searchsorted(sizes, np.arange(BLOCK, sizes[-1], BLOCK)) + 1, truth.shape[0]))
    starts = np.append(0, ends[:-1])
    return [_block(truth, scores, int(first), int(last)) for first, last in zip(starts, ends, strict=True)]


def _block(truth: CompressedMatrix, scores: CompressedMatrix, first: int, last: int) -> Ranked:
    q = truth.shape[1]
    row, label, _ = _entries(truth, first, last)
    stored_row, stored_label, stored = _entries(scores, first, last)
    # Scores of the true labels: 0 where nothing is stored.
    keys, stored_keys = row * q + label, stored_row * q + stored_label
    place = np.searchsorted(stored_keys, keys)
    inside = np.minimum(place, max(len(stored_keys) - 1, 0))
    found = (place < len(stored_keys)) & (stored_keys[inside] == keys) if len(stored_keys) else np.zeros(len(keys), np.bool_)
    own = np.zeros(len(keys))
    own[found] = stored[inside[found]]
    # Scores as codes in the order of their values, so that a row and a score are one number.
    levels, codes = np.unique(np.concatenate([stored, own]), return_inverse=True)
    stored_codes, own_codes = codes[: len(stored)], codes[len(stored) :]
    n_rows, width = last - first, len(levels) + 1
    per_row = np.bincount(stored_row, minlength=n_rows)
    no_less = _no_less(stored_row, stored_codes, row, own_codes, width, np.cumsum(per_row))
    no_less += np.where(own <= 0, q - per_row[row], 0)  # those that are not stored
    true_above = _no_less(row, own_codes, row, own_codes, width, np.cumsum(np.bincount(row, minlength=n_rows)))
    return row + first, label, (no_less - true_above).astype(np.float64), true_above.astype(np.float64)


def _entries(matrix: CompressedMatrix, first: int, last: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Row (from 0), column and value of what is stored in some rows."""
    ends = matrix.indptr[first : last + 1]
    part = slice(ends[0], ends[-1])
    rows = np.repeat(np.arange(last - first), np.diff(ends))
    return rows, matrix.indices[part].astype(np.intp), matrix.data[part]


def _no_less(
    rows: NDArray[np.intp],
    codes: NDArray[np.intp],
    query_rows: NDArray[np.intp],
    query_codes: NDArray[np.intp],
    width: int,
    ends: NDArray[np.intp],
) -> NDArray[np.intp]:
    """How many entries of the row of each query have at least its code."""
    keys = np.sort(rows * width + codes)
    counts: NDArray[np.intp] = ends[query_rows] - np.searchsorted(keys, query_rows * width + query_codes)
    return counts
