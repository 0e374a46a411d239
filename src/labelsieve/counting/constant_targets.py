"""Targets with one value in all rows: no feature has information about them, and the user should know."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes, SparseCodes
from labelsieve.counting.target_table import TargetTable, target_place
from labelsieve.errors import ConstantTargetWarning
from labelsieve.table_types import Matrix, is_sparse

LISTED = 3  # targets that a warning names
FEW_ROWS = 64

_part_of_the_rows: ContextVar[bool] = ContextVar("part_of_the_rows", default=False)


@contextmanager
def part_of_the_rows() -> Iterator[None]:
    """No warnings of constant targets: of rare labels, some are constant in every fold or sample of the rows."""
    token = _part_of_the_rows.set(True)
    try:
        yield
    finally:
        _part_of_the_rows.reset(token)


def constant_targets(targets: TargetTable) -> NDArray[np.bool_]:
    """Mask of the targets with one value in all rows in which they are known.

    >>> from labelsieve.counting.targets import read_targets
    >>> constant_targets(read_targets([[0, 1, 2.5], [1, 1, 2.5], [0, np.nan, 2.5]])).tolist()
    [False, True, True]
    """
    constant = constant_columns(targets.classes)
    if targets.is_numeric.any():
        numbers = targets.numbers
        constant[targets.is_numeric] = np.fmin.reduce(numbers, axis=0) == np.fmax.reduce(numbers, axis=0)
    return constant


def constant_columns(codes: Codes) -> NDArray[np.bool_]:
    """Mask of the columns with one level among their cells that are not missing."""
    if codes.dense is None:
        assert codes.sparse is not None
        if not codes.has_missing:
            return _constant_sparse(codes.n_rows, codes.sparse)
        known = (codes.column(column)[codes.is_known(column)] for column in range(codes.n_columns))
        return np.array([bool((values == values[:1]).all()) for values in known], dtype=bool)
    if not codes.has_missing:
        return _constant_dense(codes.dense)
    low = codes.dense.min(axis=0)
    return np.asarray(np.count_nonzero(codes.dense == low, axis=0) + codes.n_missing >= codes.n_rows)


def _constant_dense(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Most columns have two values among a few rows, and need no more to be read."""
    constant: NDArray[np.bool_] = (table[:FEW_ROWS] == table[0]).all(axis=0)
    if len(table) > FEW_ROWS and constant.any():
        columns = np.flatnonzero(constant)
        constant[columns] = (table[:, columns] == table[0, columns]).all(axis=0)
    return constant


def constant_numbers(table: Matrix) -> NDArray[np.bool_]:
    """Mask of the columns of finite numbers that are constant, of a dense or sparse table."""
    ends: list[Any] = [table.min(axis=0), table.max(axis=0)]
    low, high = (end.toarray()[0] for end in ends) if is_sparse(table) else ends
    return np.asarray(low == high)


def _constant_sparse(n_rows: int, sparse: SparseCodes) -> NDArray[np.bool_]:
    """A column is constant if it lists no other code than the implicit one, or the same code in every row."""
    n_listed = np.diff(sparse.starts)
    listed = np.flatnonzero(n_listed)
    low, high = sparse.implicit.copy(), sparse.implicit.copy()
    if len(listed):
        low[listed] = np.minimum.reduceat(sparse.codes, sparse.starts[listed])
        high[listed] = np.maximum.reduceat(sparse.codes, sparse.starts[listed])
    constant: NDArray[np.bool_] = (low == high) & ((n_listed == n_rows) | (low == sparse.implicit))
    return constant


def warn_of_constant_targets(constant: NDArray[np.bool_], names: Sequence[str] | None) -> None:
    """One warning for all constant targets, which names the first of them."""
    if not constant.any() or _part_of_the_rows.get():
        return
    columns = np.flatnonzero(constant).tolist()
    known = None if names is None else tuple(map(str, names))
    places = ", ".join(target_place(column, known) for column in columns[:LISTED])
    if len(columns) > LISTED:
        places += f", ... ({len(columns):,} of {len(constant):,} targets)"
    if constant.all():
        effect = "no target is left to select features for, so all scores are 0 and the order of the features means nothing"
    else:
        effect = "no feature has information about such a target, so it does not affect the selection"
    warnings.warn(
        f"Y, {places}: one value in all rows; {effect}. Leave such targets out, or check how they were read.",
        ConstantTargetWarning,
        stacklevel=3,
    )
