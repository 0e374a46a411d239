"""Columns of numbers, for estimators that do without bins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.number_table import read_table
from labelsieve.errors import InputError

Real = NDArray[np.float64]


def read_columns(X: Any, what: str = "X") -> list[Real]:
    """The columns of a table as doubles, all finite."""
    table = read_table(X, what=what)
    columns = []
    for j in range(table.shape[1]):
        values = table.sparse[:, [j]].toarray().ravel() if table.dense is None else table.dense[:, j]
        column = np.ascontiguousarray(values, dtype=np.float64)
        bad = ~np.isfinite(column)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(f"{what}, row {row}, {table.name(j)}: {column[row]} is not finite; fill it or drop the row.")
        columns.append(column)
    return columns


def same_rows(X: list[Real], n_rows: int) -> None:
    """Refuse tables of different length."""
    if len(X[0]) != n_rows:
        raise InputError(f"X has {len(X[0])} rows and Y has {n_rows}; they must be the same rows.")
