"""Columns that were said to be labels, as the numbers to learn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.errors import DatasetError, some_of
from labelsieve.datasets.table import Column

_OFF = frozenset({"0", "0.0", "-1", "no", "n", "false", "f", "off", "absent"})
_ON = frozenset({"1", "1.0", "+1", "yes", "y", "true", "t", "on", "present"})


def targets(cells: Any, columns: Sequence[Column], file: Path) -> Any:
    """Labels as 0 and 1 in uint8 (csc if ``cells`` are sparse); if some column holds other numbers, all as dense float64."""
    flipped = np.array([_one_comes_first(column, file) for column in columns], dtype=bool)
    stored = cells.data if sparse.issparse(cells) else cells
    if np.isnan(stored).any():
        row, place = np.argwhere(np.isnan(_dense(cells)))[0]
        raise DatasetError(
            f"label {columns[place].name!r} is missing in row {row + 1}.", file=file, remedy="Fill it, or drop the row."
        )
    binary = bool(np.isin(stored, (0.0, 1.0)).all())
    if sparse.issparse(cells) and binary and not flipped.any():
        return sparse.csc_array(cells, dtype=np.uint8)
    dense = _dense(cells)
    if flipped.any():
        dense = np.where(flipped, 1.0 - dense, dense)
    if not binary:
        return dense
    labels = dense.astype(np.uint8)
    return sparse.csc_array(labels) if sparse.issparse(cells) else labels


def _dense(cells: Any) -> NDArray[np.float64]:
    return cells.toarray() if sparse.issparse(cells) else cells  # type: ignore[no-any-return]


def _one_comes_first(column: Column, file: Path) -> bool:
    """True for labels declared {1,0}: their places are the other way round."""
    if column.values is None:
        return False
    words = [value.lower() for value in column.values]
    if all(word in _OFF for word in words[:1]) and all(word in _ON for word in words[1:]) and len(words) <= 2:
        return False
    if all(word in _ON for word in words[:1]) and all(word in _OFF for word in words[1:]) and len(words) <= 2:
        return True
    raise DatasetError(
        f"label {column.name!r} has the values {some_of(column.values)}, and not two that mean yes and no.",
        file=file,
        remedy="Make one label of each value, or take the column as a feature.",
    )
