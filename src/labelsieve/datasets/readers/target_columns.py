"""Label columns as numbers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.memory_budget import DEFAULT_LIMIT, require_cells
from labelsieve.errors import DatasetError
from labelsieve.table_types import Matrix, dense_array, is_sparse

MissingLabels = Literal["error", "drop", "absent", "keep"]
_OFF = frozenset({"0", "0.0", "-1", "no", "n", "false", "f", "off", "absent"})
_ON = frozenset({"1", "1.0", "+1", "yes", "y", "true", "t", "on", "present"})


def targets(
    cells: Matrix, columns: Sequence[Column], file: Path, missing: MissingLabels = "error", *, max_bytes: int = DEFAULT_LIMIT
) -> Any:
    """Labels as 0 and 1 in uint8 (csc if ``cells`` are sparse).

    If some column holds other numbers, all as dense float64; if some are classes and all numbers whole, as dense int64.
    A missing label is refused, counts as 0 where it is ``"absent"``, or is NaN among float64 where they are to ``"keep"``.
    """
    flipped = np.array([one_comes_first(column.values) is True for column in columns], dtype=bool)
    absent = missing == "absent"
    if missing in ("error", "drop"):
        _refuse_missing(cells, columns, file)
    stored = cells if isinstance(cells, np.ndarray) else cells.data
    classes = any(is_class(column) for column in columns)
    if is_sparse(cells) and (absent or classes or flipped.any() or not np.isin(stored, (0.0, 1.0)).all()):
        require_cells(cells.shape[0], cells.shape[1], file, max_bytes)  # they are made dense
    if flipped.any():
        flat = dense_array(cells)
        upright = np.where(flipped, 1.0 - flat, flat)
        cells = sparse.csr_array(upright) if is_sparse(cells) else upright
    if absent:
        cells = _filled(cells, columns, file)
    stored = cells if isinstance(cells, np.ndarray) else cells.data
    if not classes and bool(np.isin(stored, (0.0, 1.0)).all()):
        return sparse.csc_array(cells, dtype=np.uint8) if is_sparse(cells) else cells.astype(np.uint8)
    dense = dense_array(cells)
    if np.isnan(dense).any():
        return dense
    return dense.astype(np.int64) if classes and bool((dense == np.rint(dense)).all()) else dense


def as_mark(column: Column) -> Column:
    """A label with a single value, such as ``x`` in the rows that have it, as one that is 1 there."""
    is_mark = column.values is not None and len(column.values) == 1 and column.values[0].lower() not in _OFF
    return replace(column, values=("1",)) if is_mark else column


def rows_with_labels(cells: Matrix) -> NDArray[np.bool_]:
    """True for the rows in which no label is missing."""
    keep = np.ones(cells.shape[0], dtype=bool)
    if isinstance(cells, np.ndarray):
        keep[np.isnan(cells).any(axis=1)] = False
        return keep
    keep[np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))[np.isnan(cells.data)]] = False
    return keep


def is_class(column: Column) -> bool:
    """True for a label of several values that do not mean yes and no."""
    return column.values is not None and one_comes_first(column.values) is None


def one_comes_first(values: tuple[str, ...] | None) -> bool | None:
    """False for labels declared {0,1} or numeric, True for {1,0}, whose positions are the other way round; None for classes.

    >>> one_comes_first(("0", "1")), one_comes_first(("yes", "no")), one_comes_first(("red", "green"))
    (False, True, None)
    """
    if values is None:
        return False
    words = [value.lower() for value in values]
    for first, second, answer in ((_OFF, _ON, False), (_ON, _OFF, True)):
        if len(words) <= 2 and all(word in first for word in words[:1]) and all(word in second for word in words[1:]):
            return answer
    return None


def _refuse_missing(cells: Matrix, columns: Sequence[Column], file: Path) -> None:
    missing = np.flatnonzero(~rows_with_labels(cells))
    if len(missing):
        row = int(missing[0])
        position = int(np.flatnonzero(np.isnan(dense_array(cells[[row]])).ravel())[0])
        raise DatasetError(
            f"label {columns[position].name!r} is missing in row {row + 1} ({len(missing)} rows have missing labels).",
            'Pass missing_labels="drop" to leave out such rows, missing_labels="absent" to take a missing label as 0, or '
            'missing_labels="keep" to count each label in the rows where it is known.',
            file,
        )


def _filled(cells: Matrix, columns: Sequence[Column], file: Path) -> Matrix:
    """Zeros for what is missing, in columns where 0 means no."""
    missing = np.isnan(dense_array(cells))
    for position in map(int, np.flatnonzero(missing.any(axis=0))):
        column = dense_array(cells[:, [position]]).ravel()
        if is_class(columns[position]) or not np.isin(column[~np.isnan(column)], (0.0, 1.0)).all():
            raise DatasetError(
                f"label {columns[position].name!r} is not one of 0 and 1, so a missing value cannot count as absent.",
                'Pass missing_labels="drop" to leave out such rows.',
                file,
            )
    filled = np.where(missing, 0.0, dense_array(cells))
    return sparse.csr_array(filled) if is_sparse(cells) else filled
