"""Sparse codes as a scipy matrix."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelsieve.counting.codes import Codes


def as_matrix_like(codes: Codes, X: Any) -> Any:
    """Codes in the sparse format of ``X``: those that are 0 are not stored.

    Cost: the listed entries, and all rows of the columns whose unlisted entries are not 0.

    >>> codes = Codes.from_values(sp.csr_array([[0, 2], [0, 0]]))
    >>> as_matrix_like(codes, sp.csr_array((1, 1))).toarray()
    array([[0, 2],
           [0, 0]], dtype=uint8)
    """
    parts = codes.sparse
    assert parts is not None
    dtype = np.uint8 if codes.levels.max() <= 256 else np.uint16
    values = parts.codes.astype(dtype)
    full = np.flatnonzero(parts.implicit)
    column_of_entry = np.repeat(np.arange(codes.n_columns), np.diff(parts.starts))
    here = np.isin(column_of_entry, full)
    listed = sp.csc_array((np.where(here, 0, values).astype(dtype), parts.rows, parts.starts), shape=codes.shape)
    listed.eliminate_zeros()
    if len(full):
        table = np.repeat(parts.implicit[full].astype(dtype)[np.newaxis], codes.n_rows, axis=0)
        table[parts.rows[here], np.searchsorted(full, column_of_entry[here])] = values[here]
        rows, places = np.nonzero(table)
        listed = listed + sp.csc_array((table[rows, places], (rows, full[places])), shape=codes.shape, dtype=dtype)
    family = {True: {"csr": sp.csr_array, "csc": sp.csc_array}, False: {"csr": sp.csr_matrix, "csc": sp.csc_matrix}}
    return family[isinstance(X, sp.sparray)].get(X.format, family[isinstance(X, sp.sparray)]["csr"])(listed)
