"""Equal-width codes from numbers, dense or sparse: the part of the discretizer that talks to the core."""

from typing import Any

import numpy as np

from labelsieve import core
from labelsieve.counting.codes import Codes, SparseCodes, sparse_rows
from labelsieve.counting.cut_points import not_finite
from labelsieve.counting.number_table import read_table


def bin_equal_width(X: Any, n_bins: int, *, closed_right: bool) -> Codes:
    """See :func:`labelsieve.discretize.equal_width`."""
    table = read_table(X)
    n_rows, n_columns = table.shape
    levels = np.empty(n_columns, dtype=np.uint32)
    if table.dense is not None:
        codes = np.empty((n_rows, n_columns), dtype=np.uint8 if n_bins <= 256 else np.uint16, order="F")
        bad = core.equal_width(table.dense, n_bins, closed_right, codes, levels)
        if bad is not None:
            raise not_finite(table.dense[bad], bad[0], bad[1], table)
        return Codes(n_rows, levels, table.names, dense=codes)
    columns = table.sparse
    starts = columns.indptr.astype(np.int64, copy=False)
    values = columns.data.astype(np.float64, copy=False)
    listed = np.empty(len(values), dtype=np.uint16)
    implicit = np.empty(n_columns, dtype=np.uint16)
    bad = core.equal_width_sparse(starts, values, n_rows, n_bins, closed_right, listed, implicit, levels)
    if bad is not None:
        at = starts[bad[1]] + bad[0]
        raise not_finite(values[at], int(columns.indices[at]), bad[1], table)
    sparse = SparseCodes(starts, sparse_rows(columns), listed, implicit)
    return Codes(n_rows, levels, table.names, sparse=sparse)
