"""Targets as codes: binary or categorical, numbers or names, dense or sparse."""

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.information import Codes
from labelsieve.information.tables import read_table


def encode_targets(Y: Any) -> Codes:
    """Codes of every target column.

    Whole numbers from 0 are taken as they are; other values (negative numbers, text) are numbered in their order. Real
    numbers are refused: bin them first.

    >>> encode_targets(["rock", "folk", "rock"]).column(0)
    array([1, 0, 1], dtype=uint16)
    """
    if isinstance(Y, Codes):
        return Y
    if sp.issparse(Y):
        return _as_codes(Y)
    table: Any = Y
    if not hasattr(Y, "columns"):
        table = np.asarray(Y)
        if table.dtype.kind == "O":
            with suppress(TypeError, ValueError):  # numbers that came as objects
                table = table.astype(np.float64)
        if table.dtype.kind in "OUS" and 1 <= table.ndim <= 2 and table.size:
            return Codes.from_values(_numbered(table.reshape(len(table), -1)), what="Y")
    numbers = read_table(table, what="Y")
    if numbers.dense is not None and _is_negative(numbers.dense):
        return Codes.from_values(_numbered(numbers.dense), names=numbers.names, what="Y")
    return _as_codes(table)


def _as_codes(Y: Any) -> Codes:
    try:
        return Codes.from_values(Y, what="Y")
    except InputError as error:
        if "not a whole number" in str(error):
            raise InputError(
                f"{str(error).split(':')[0]}: targets must be classes, and this one holds real numbers; "
                "bin them first, for example with labelsieve.discretize.equal_width(Y)."
            ) from None
        raise


def _is_negative(array: NDArray[Any]) -> bool:
    """True for whole numbers some of which are negative: class names such as -1 and 1."""
    return bool(array.dtype.kind in "if" and (array < 0).any() and np.array_equal(array, np.floor(array)))


def _numbered(array: NDArray[Any]) -> NDArray[np.uint32]:
    """Ranks of the distinct values of every column."""
    codes = np.empty(array.shape, dtype=np.uint32, order="F")
    for column in range(array.shape[1]):
        values = array[:, column]
        try:
            _, codes[:, column] = np.unique(values, return_inverse=True)
        except TypeError:
            raise InputError(f"Y, column {column}: its values cannot be compared with each other; use one type.") from None
    return codes
