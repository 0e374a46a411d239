"""Codes as sparse matrices of scipy."""

import numpy as np
import scipy.sparse as sp

from labelsieve.counting.codes import Codes
from labelsieve.table_types import CompressedMatrix, TableLike, is_sparse


def as_matrix_like(codes: Codes, X: TableLike) -> CompressedMatrix:
    """Codes as a sparse matrix in the format of ``X``; codes of 0 are not stored.

    Cost: the stored entries, and all rows of the columns whose implicit code is not 0.

    >>> codes = Codes.from_values(sp.csr_array([[0, 2], [0, 0]]))
    >>> as_matrix_like(codes, sp.csr_array((1, 1))).toarray()
    array([[0, 2],
           [0, 0]], dtype=uint8)
    """
    sparse = codes.sparse
    assert sparse is not None
    dtype = np.uint8 if codes.levels.max() <= 256 else np.uint16
    values = sparse.codes.astype(dtype)
    full = np.flatnonzero(sparse.implicit)
    column_of_entry = np.repeat(np.arange(codes.n_columns), np.diff(sparse.starts))
    in_full = np.isin(column_of_entry, full)
    matrix = sp.csc_array((np.where(in_full, 0, values).astype(dtype), sparse.rows, sparse.starts), shape=codes.shape)
    matrix.eliminate_zeros()
    if len(full):
        table = np.repeat(sparse.implicit[full].astype(dtype)[np.newaxis], codes.n_rows, axis=0)
        table[sparse.rows[in_full], np.searchsorted(full, column_of_entry[in_full])] = values[in_full]
        rows, columns = np.nonzero(table)
        matrix = matrix + sp.csc_array((table[rows, columns], (rows, full[columns])), shape=codes.shape, dtype=dtype)
    kinds = (sp.csc_array, sp.csr_array) if isinstance(X, sp.sparray) else (sp.csc_matrix, sp.csr_matrix)
    converted: CompressedMatrix = kinds[0 if is_sparse(X) and X.format == "csc" else 1](matrix)
    return converted
