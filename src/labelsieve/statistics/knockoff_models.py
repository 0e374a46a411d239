"""The model of the features from which knockoffs and conditional samples are drawn."""

from typing import Any

import numpy as np

from labelsieve.counting.number_table import read_table
from labelsieve.errors import one_of
from labelsieve.information import Codes
from labelsieve.statistics.knockoff_gaussian import GaussianKnockoffs
from labelsieve.statistics.knockoff_tree import TreeKnockoffs
from labelsieve.table_types import TableLike

MOST_LEVELS = 10  # of a column that is taken as discrete
MODELS = ("auto", "tree", "gaussian")


def distinct_codes(X: TableLike, bins: Codes | None = None) -> Codes | None:
    """All values as levels, if every column has few; None: some column is numeric.

    With ``bins``, codes of the same columns, numeric columns take these, and None is for tables with more numeric columns than
    others.

    >>> distinct_codes([[0.5, 3], [2.5, 1]]).to_dense().tolist(), distinct_codes(np.arange(50.0)[:, np.newaxis]) is None
    ([[0, 1], [1, 0]], True)
    """
    table = read_table(X, allow_missing=True)
    if table.dense is None:
        return Codes.from_values(X) if np.isin(table.sparse.data, (0, 1)).all() else None
    dense = np.asarray(table.dense)
    if dense.dtype.kind == "f" and np.isnan(dense).any():
        return None
    columns: list[Any] = []
    n_numeric = 0
    for j, column in enumerate(dense.T):
        levels, code = np.unique(column, return_inverse=True)
        if len(levels) <= MOST_LEVELS:
            columns.append(code)
            continue
        n_numeric += 1
        if bins is None or 2 * n_numeric > dense.shape[1]:
            return None
        columns.append(bins.column(j))
    return Codes.from_values(np.column_stack(columns))


def feature_model(X: TableLike, kind: str = "auto") -> TreeKnockoffs | GaussianKnockoffs:
    """A tree if every column has few values, or for codes (``"tree"``); else a Gaussian copula."""
    one_of(kind, "sampler", MODELS)
    codes = distinct_codes(X) if kind == "auto" else Codes.from_values(X) if kind == "tree" else None
    return GaussianKnockoffs.from_values(X) if codes is None else TreeKnockoffs.from_codes(codes)
