"""Several columns of codes as one joint variable."""

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import InputError
from labelsieve.tables.codes import MAX_LEVELS, Codes
from labelsieve.tables.types import TableLike
from labelsieve.tables.weights import RowWeights


def refine(joint: NDArray[np.uint32], n_levels: int, codes: Codes, column: int) -> int:
    """Join one more column to a joint variable, in place; return the number of its levels.

    Cost: a pass over the rows.
    """
    return core.refine(joint, n_levels, codes.column(column), int(codes.levels[column]))


def joint_variable(codes: Codes) -> tuple[NDArray[np.uint32], int]:
    """Return one code per row for all columns jointly, and the number of codes.

    Rows are numbered in order of first appearance. Cost: a pass over the rows for every column.
    """
    joint = np.zeros(codes.n_rows, dtype=np.uint32)
    n_levels = 1
    for j in range(codes.n_columns):
        n_levels = refine(joint, n_levels, codes, j)
    return joint, n_levels


def sum_of_levels(variable: NDArray[np.integer], n_levels: int, fixed: FixedPoint, weights: RowWeights | None) -> int:
    """Return the fixed-point sum over the levels of one variable."""
    of_rows = None if weights is None else weights.values.astype(np.float64)
    counts = np.bincount(variable, weights=of_rows, minlength=n_levels)  # exact: weights add up to less than 2^53
    return int(fixed(counts.astype(np.int64)).sum())


def join(X: TableLike | Codes) -> Codes:
    """Join all columns of ``X`` to one column whose levels are the distinct rows (the label powerset).

    >>> join([[0, 1], [1, 1], [0, 1]]).column(0)
    array([0, 1, 0], dtype=uint16)
    """
    joint, n_levels = joint_variable(Codes.from_values(X))
    if n_levels > MAX_LEVELS:
        raise InputError(f"The columns have {n_levels:,} distinct rows; a column of codes can have {MAX_LEVELS:,}.")
    column = joint.astype(np.uint16)[:, np.newaxis]
    return Codes(len(column), np.array([n_levels], dtype=np.uint32), dense=column)
