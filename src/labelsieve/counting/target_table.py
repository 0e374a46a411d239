"""Targets that were read: classes and numbers, and their codes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.cut_points import apply_cuts, cut_by_values
from labelsieve.counting.number_table import read_table
from labelsieve.errors import InputError
from labelsieve.table_types import FloatArray

TARGET_DISCRETIZER = "equal-frequency"  # of numeric targets, by default
TARGET_BINS = 5


@dataclass(frozen=True, eq=False)
class TargetTable:
    """The targets that :meth:`LabelSpace.encode` receives, each of them classes or numeric; made by :func:`read_targets`.

    Attributes
    ----------
    classes : Codes
        All columns; a numeric one is constant here. Unknown cells are an additional last level of a column that
        ``classes.missing`` marks.
    is_numeric : ndarray of bool
        The columns that are numeric.
    numbers : ndarray of float, shape (n_rows, number of numeric columns)
        NaN where a cell is unknown.
    bins : Codes or None
        The numeric columns as codes; None: in five bins.
    n_left_out : int
        Rows that were left out because no target is known in them.
    """

    classes: Codes
    is_numeric: NDArray[np.bool_]
    numbers: NDArray[np.float64]
    bins: Codes | None = None
    n_left_out: int = 0

    @property
    def n_rows(self) -> int:
        return self.classes.n_rows

    @property
    def n_columns(self) -> int:
        return self.classes.n_columns

    @property
    def types(self) -> NDArray[np.object_]:
        """``"class"`` or ``"numeric"``, for every column."""
        return np.array(["numeric" if numeric else "class" for numeric in self.is_numeric.tolist()], dtype=object)

    def take_rows(self, rows: NDArray[np.bool_]) -> Self:
        """The rows where ``rows`` is true, without bins."""
        return replace(self, classes=self.classes.take_rows(rows), numbers=self.numbers[rows], bins=None)

    def rows_with_targets(self) -> NDArray[np.bool_] | None:
        """Mask of the rows in which some target is known; None: all."""
        missing = self.classes.missing
        if not self.is_numeric.all() and (missing is None or not missing[~self.is_numeric].all()):
            return None
        classes = np.flatnonzero(~self.is_numeric)
        known: NDArray[np.bool_] = np.asarray((~np.isnan(self.numbers)).any(axis=1))
        for column in classes.tolist():
            known = known | self.classes.is_known(column)
        if not known.any():
            raise InputError("Y: no target is known in any row that counts.")
        return None if known.all() else known

    def discretized(self, discretizer: Any, sample_weight: FloatArray | None = None) -> Self:
        """The targets, with numeric columns in the bins of a discretizer."""
        if not self.is_numeric.any():
            return self
        return replace(self, bins=_bin(self.numbers, lambda X, weight: discretizer.encode(X, None, weight), sample_weight))

    @cached_property
    def codes(self) -> Codes:
        """All columns as codes."""
        if not self.is_numeric.any():
            return self.classes
        bins = _bin(self.numbers, _default_bins, None) if self.bins is None else self.bins
        codes = self.classes.to_dense().astype(np.uint16, order="F")
        codes[:, self.is_numeric] = bins.to_dense()
        levels, missing = self.classes.levels.copy(), np.zeros(self.n_columns, dtype=bool)
        levels[self.is_numeric] = bins.levels
        for mask, table in ((~self.is_numeric, self.classes), (self.is_numeric, bins)):
            if table.missing is not None:
                missing[mask] = table.missing[mask] if table is self.classes else table.missing
        return Codes(self.n_rows, levels, self.classes.names, dense=codes, missing=missing if missing.any() else None)

    def require_known(self, what: str) -> Self:
        """Raise an error that names ``what`` if a cell is unknown."""
        codes = self.codes
        if codes.missing is not None and codes.has_missing:
            column = int(np.argmax(codes.missing))
            cells = int(np.count_nonzero(codes.column(column) == codes.levels[column] - 1))
            raise InputError(
                f"Y, {target_place(column, codes.names)}: {cells} unknown cells, which {what} cannot leave out; fill "
                'them or drop their rows, or use a criterion with targets="single", which leaves them out label by label.'
            )
        return self


def target_place(column: int, names: tuple[str, ...] | None) -> str:
    """A target in messages.

    >>> target_place(1, ("genre", "price"))
    "column 1 ('price')"
    """
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


def _default_bins(numbers: NDArray[np.float64], _weights: FloatArray | None) -> Codes:
    table = read_table(numbers, what="Y")
    return apply_cuts(table, cut_by_values(table, TARGET_DISCRETIZER, TARGET_BINS))


def _bin(
    numbers: NDArray[np.float64], encode: Callable[[FloatArray, FloatArray | None], Codes], weights: FloatArray | None
) -> Codes:
    """Numeric columns as codes, each from its known cells; unknown cells are an additional last level."""
    unknown: NDArray[np.bool_] = np.isnan(numbers)
    if not unknown.any():
        bins: Codes = encode(numbers, weights)
        return bins
    codes = np.empty(numbers.shape, dtype=np.uint16, order="F")
    levels = np.empty(numbers.shape[1], dtype=np.uint32)
    for column in range(numbers.shape[1]):
        known = ~unknown[:, column]
        bins = encode(numbers[known, column][:, np.newaxis], None if weights is None else weights[known])
        levels[column] = bins.levels[0]
        codes[known, column], codes[~known, column] = bins.column(0), bins.levels[0]
    missing: NDArray[np.bool_] = np.asarray(unknown.any(axis=0))
    return Codes(len(codes), levels + missing, dense=codes, missing=missing)
