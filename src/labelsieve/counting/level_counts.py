"""How often each level of the columns of a table of codes occurs."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes

CODES_AT_ONCE = 2**22


def level_counts(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of the levels of all columns, one column after the other, and where each column begins.

    >>> level_counts(Codes.from_values([[0, 2], [1, 2], [1, 0]]))
    (array([1, 2, 1, 0, 2]), array([0, 2, 5]))
    """
    levels = codes.levels.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    counts = np.zeros(starts[-1], dtype=np.int64)
    if codes.dense is not None:
        step = max(1, CODES_AT_ONCE // max(1, codes.n_rows))
        for first in range(0, codes.n_columns, step):
            some = slice(first, first + step)
            cells = codes.dense[:, some] + starts[:-1][some] - starts[first]
            size = int(starts[min(first + step, codes.n_columns)] - starts[first])
            counts[starts[first] : starts[first] + size] = np.bincount(cells.ravel(order="K"), minlength=size)
        return counts, starts
    assert codes.sparse is not None
    sizes = np.diff(codes.sparse.starts)
    counts += np.bincount(np.repeat(starts[:-1], sizes) + codes.sparse.codes, minlength=len(counts))
    counts[starts[:-1] + codes.sparse.implicit] += codes.n_rows - sizes
    return counts, starts
