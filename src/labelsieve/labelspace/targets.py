"""Targets as codes: binary or categorical, numbers or names, dense or sparse."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.information import Codes


def encode_targets(Y: Any) -> Codes:
    """Codes of every target column.

    Whole numbers from 0 are taken as they are; other values (negative numbers, text) are numbered in their order. Real
    numbers are refused: bin them first.

    >>> encode_targets(["rock", "folk", "rock"]).column(0)
    array([1, 0, 1], dtype=uint16)
    """
    if isinstance(Y, Codes):
        return Y
    if not sp.issparse(Y) and not hasattr(Y, "columns"):
        array = np.asarray(Y)
        if array.ndim == 1:
            array = array.reshape(-1, 1)
        if array.ndim == 2 and array.size and (array.dtype.kind in "OUS" or _has_negative(array)):
            return Codes.from_values(_numbered(array), what="Y")
    try:
        return Codes.from_values(Y, what="Y")
    except InputError as error:
        if "not a whole number" in str(error):
            raise InputError(
                f"{str(error).split(':')[0]}: targets must be classes, and this one holds real numbers; "
                "bin them first, for example with labelsieve.discretize.equal_width(Y)."
            ) from None
        raise


def _has_negative(array: NDArray[Any]) -> bool:
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
