"""Targets as classes, for the rules that look at them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.information import Codes
from labelsieve.information.codes import MAX_LEVELS
from labelsieve.information.tables import is_frame, read_table


def class_codes(y: Any) -> Codes:
    """Classes of every target column: numbers, truth values or names, dense or sparse.

    Whole numbers from 0 are taken as they are, so that 1 means that a row has the label; others are numbered in their order.

    >>> class_codes(["rock", "folk", "rock"]).column(0)
    array([1, 0, 1], dtype=uint16)
    """
    if isinstance(y, Codes):
        return y
    if sp.issparse(y):
        return Codes.from_values(y, what="y")
    array: NDArray[Any] | None = read_table(y, what="y").dense if is_frame(y) else np.asarray(y)
    assert array is not None
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise InputError(f"y must have one or two dimensions; it has {array.ndim}.")
    if array.dtype.kind in "biu" and array.size and array.min() >= 0 and array.max() < MAX_LEVELS:
        return Codes.from_values(array, what="y")
    codes = np.empty(array.shape, dtype=np.uint32, order="F")
    for column in range(array.shape[1]):
        values = array[:, column]
        if values.dtype.kind == "f" and not np.array_equal(values, np.floor(values)):
            raise InputError(
                f"y, column {column}: targets must be classes, and this one holds real numbers; "
                "bin them first, for example with labelsieve.discretize.equal_width(y)."
            )
        if values.dtype.kind == "f" and values.min() >= 0 and values.max() < MAX_LEVELS:
            codes[:, column] = values
            continue
        try:
            _, codes[:, column] = np.unique(values, return_inverse=True)
        except TypeError:
            raise InputError(f"y, column {column}: its values cannot be compared with each other; use one type.") from None
    return Codes.from_values(codes, what="y")


def positive_labels(targets: Codes) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """The labels of every row, row after row: row ``r`` has those from ``starts[r]`` to ``starts[r + 1]``.

    >>> positive_labels(Codes.from_values([[1, 1], [0, 0], [0, 1]]))
    (array([0, 2, 2, 3]), array([0, 1, 1], dtype=uint16))
    """
    if targets.levels.max() > 2:
        target = int(np.argmax(targets.levels))
        raise InputError(
            f'targets="copy" is for labels that a row has or has not; target {target} has {targets.levels[target]} classes: '
            'use targets="joint" or "single".'
        )
    parts = targets.sparse
    rows: NDArray[Any]
    labels: NDArray[Any]
    if parts is None or parts.implicit.any():
        rows, labels = np.nonzero(targets.to_dense())
    else:
        labels = np.repeat(np.arange(targets.n_columns), np.diff(parts.starts))
        listed = parts.codes > 0
        order = np.argsort(parts.rows[listed], kind="stable")
        rows, labels = parts.rows[listed][order], labels[listed][order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=targets.n_rows))])
    return starts.astype(np.int64), labels.astype(np.uint16)
