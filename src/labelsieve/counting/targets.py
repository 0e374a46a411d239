"""Reading targets: binary, categorical, real or mixed; numbers or text; dense or sparse."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.cut_points import bin_equal_width
from labelsieve.counting.number_table import NumberTable, is_integer_array, read_table
from labelsieve.errors import InputError, one_of

Kind = Literal["auto", "classes", "numbers"]
KINDS = ("auto", "classes", "numbers")
BINS = 5  # of a real target, like those of a feature


@dataclass(frozen=True, eq=False)
class TargetTable:
    """Target columns, each of them classes or real numbers.

    Attributes
    ----------
    classes : Codes
        All columns; a real one is constant here.
    is_number : ndarray of bool
        The columns that are real.
    numbers : ndarray of float, shape (n_rows, number of real columns)
    """

    classes: Codes
    is_number: NDArray[np.bool_]
    numbers: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        return self.classes.n_rows

    @property
    def n_columns(self) -> int:
        return self.classes.n_columns

    def take_rows(self, rows: NDArray[np.bool_]) -> "TargetTable":
        """Only the rows where ``rows`` is true."""
        return TargetTable(self.classes.take_rows(rows), self.is_number, self.numbers[rows])

    def codes(self, n_bins: int = BINS) -> Codes:
        """All columns as codes: real ones in ``n_bins`` bins of equal width, like features."""
        if not self.is_number.any():
            return self.classes
        binned = bin_equal_width(self.numbers, n_bins, closed_right=False)
        codes = self.classes.to_dense().astype(np.uint16, order="F")
        codes[:, self.is_number] = binned.to_dense()
        levels = self.classes.levels.copy()
        levels[self.is_number] = binned.levels
        return Codes(self.n_rows, levels, self.classes.names, dense=codes)


def read_targets(Y: Any, kind: Kind = "auto") -> TargetTable:
    """Distinguish classes from real numbers, column by column.

    Whole numbers from 0 are classes as they are; negative whole numbers and text are classes numbered in their order. A column
    with a fraction in it is real. ``kind="numbers"`` takes every column as real (whole dollars, counts), ``"classes"``
    refuses real ones.

    >>> read_targets([[0, 0.5], [1, 0.7], [1, 9.1]]).is_number
    array([False,  True])
    >>> read_targets(["rock", "folk", "rock"]).classes.column(0)
    array([1, 0, 1], dtype=uint16)
    """
    one_of(kind, "kind", KINDS)
    if isinstance(Y, Codes):
        return _only_classes(Y) if kind != "numbers" else _split(NumberTable(Y.to_dense(), None, Y.names), kind)
    if kind != "numbers" and is_integer_array(Y, (1, 2)) and Y.dtype.kind in "bu":
        return _only_classes(Codes.from_values(Y, what="Y"))
    table: Any = Y
    if not sp.issparse(Y) and not hasattr(Y, "columns"):
        table = np.asarray(Y)
        if table.dtype.kind in "OUS" and 1 <= table.ndim <= 2 and table.size:
            table = _without_text(table.reshape(len(table), -1), kind)
    return _split(read_table(table, what="Y"), kind)


def _split(table: NumberTable, kind: Kind) -> TargetTable:
    values: Any = table.sparse if table.dense is None else table.dense
    is_number = np.full(values.shape[1], kind == "numbers")
    if kind == "auto":
        is_number = _has_fraction(table)
    numbers = values[:, is_number]
    numbers = np.asarray(numbers.toarray() if table.dense is None else numbers, dtype=np.float64)
    if not np.isfinite(numbers).all():
        row, number = (int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        column = table.name(int(np.flatnonzero(is_number)[number]))
        raise InputError(f"Y, row {row}, {column}: {numbers[row, number]} is missing or not finite; fill it or drop its row.")
    if is_number.any():
        values = values.tolil() if table.dense is None else values.copy()
        values[:, is_number] = 0
    return TargetTable(_as_codes(values, table.names), is_number, numbers)


def _has_fraction(table: NumberTable) -> NDArray[np.bool_]:
    """Columns in which some finite value is not whole."""
    values = table.sparse.data if table.dense is None else table.dense
    if values.dtype.kind != "f":
        return np.zeros(table.shape[1], dtype=bool)
    fraction = np.isfinite(values) & (values != np.floor(values))
    if table.dense is not None:
        found: NDArray[np.bool_] = fraction.any(axis=0)
        return found
    columns = np.repeat(np.arange(table.shape[1]), np.diff(table.sparse.indptr))
    return np.bincount(columns[fraction], minlength=table.shape[1]) > 0


def _only_classes(codes: Codes) -> TargetTable:
    return TargetTable(codes, np.zeros(codes.n_columns, dtype=bool), np.empty((codes.n_rows, 0)))


def _as_codes(values: Any, names: tuple[str, ...] | None) -> Codes:
    if not sp.issparse(values) and values.dtype.kind in "if":
        negative = (values < 0).any(axis=0) & np.array([np.array_equal(column, np.floor(column)) for column in values.T])
        if negative.any():  # class names such as -1 and 1
            values = values.copy()
            values[:, negative] = _numbered(values[:, negative])
    try:
        return Codes.from_values(values, names=names, what="Y")
    except InputError as error:
        if "not a whole number" in str(error):
            raise InputError(
                f"{str(error).split(':')[0]}: this target holds real numbers, and classes are needed; "
                "bin it first, for example with labelsieve.discretize.equal_width(Y)."
            ) from None
        raise


def _without_text(array: NDArray[Any], kind: Kind) -> NDArray[np.float64]:
    """Columns of objects as numbers, those of text as ranks."""
    numbers = np.empty(array.shape, order="F")
    for column in range(array.shape[1]):
        try:
            if array.dtype.kind != "O" or any(isinstance(value, str | bytes) for value in array[:, column]):
                raise TypeError
            numbers[:, column] = array[:, column].astype(np.float64)
        except (TypeError, ValueError):
            if kind == "numbers":
                raise InputError(f"Y, column {column}: text cannot be taken as numbers; use kind='auto'.") from None
            numbers[:, [column]] = _numbered(array[:, [column]], column)
    return numbers


def _numbered(array: NDArray[Any], first: int = 0) -> NDArray[np.uint32]:
    """Ranks of the distinct values of every column; messages number them from ``first``."""
    codes = np.empty(array.shape, dtype=np.uint32, order="F")
    for column in range(array.shape[1]):
        values = array[:, column]
        try:
            _, codes[:, column] = np.unique(values, return_inverse=True)
        except TypeError:
            raise InputError(
                f"Y, column {first + column}: its values cannot be compared with each other; use one type."
            ) from None
    return codes
