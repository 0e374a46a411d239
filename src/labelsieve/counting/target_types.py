"""Whether a target is classes or numeric: what was asked for, and the rule for all others."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, TargetTypeWarning, is_whole, one_of, unknown_name

TargetType = Literal["auto", "class", "numeric"]
TargetTypes = str | Mapping[str | int, str] | Sequence[str] | NDArray[np.str_]  # for all targets, for some, or for each
TARGET_TYPES = ("auto", "class", "numeric")

MAX_CLASSES = 20  # distinct whole numbers; more are numeric
ROWS_PER_CLASS = 2  # on average; with fewer, whole numbers are numeric
ROWS_PER_CODE = 10  # on average; from here on whole numbers 0, 1, ..., k - 1 without a gap may be codes of many classes


def requested_types(target_type: TargetTypes, n_targets: int, names: Sequence[str] | None) -> NDArray[np.str_]:
    """The type of every target as it was asked for: one for all, a dict by name or column, or a sequence.

    >>> requested_types({"price": "numeric"}, 2, ("genre", "price")).tolist()
    ['auto', 'numeric']
    """
    if isinstance(target_type, str):
        one_of(target_type, "target_type", TARGET_TYPES)
        return np.full(n_targets, target_type, dtype="<U7")
    if isinstance(target_type, Mapping):
        types = ["auto"] * n_targets
        for target, wanted in target_type.items():
            one_of(wanted, f"target_type of {target!r}", TARGET_TYPES)
            types[_column(target, n_targets, names)] = wanted
        return np.array(types, dtype="<U7")
    types = list(target_type)
    if len(types) != n_targets:
        raise InputError(f"target_type has {len(types)} entries and Y has {n_targets} targets; give one for each, or a dict.")
    for column, wanted in enumerate(types):
        one_of(wanted, f"target_type of target {column}", TARGET_TYPES)
    return np.array(types, dtype="<U7")


def _column(target: object, n_targets: int, names: Sequence[str] | None) -> int:
    if names is not None and target in names:
        return names.index(target)
    if is_whole(target) and 0 <= int(target) < n_targets:
        return int(target)
    if isinstance(target, str) and names is not None:
        raise unknown_name("target", target, names, more=f", or a column from 0 to {n_targets - 1}")
    hint = " Y has no names: give column numbers, or Y as a frame." if isinstance(target, str) else ""
    raise InputError(f"target_type: {target!r} is not a target from 0 to {n_targets - 1}.{hint}")


class TypeRule:
    """The rule for targets that are numbers and for which no type was asked for.

    - A column with a fraction is numeric.
    - Whole numbers are classes if there are at most two distinct values, or at most 20 with two rows each on average.
    - Other whole numbers are numeric.

    Numeric targets that could be classes are reported by :meth:`warn`: 3 to 20 distinct values with fewer than two rows each,
    and more than 20 values 0, 1, ..., k - 1 without a gap that have ten rows each on average.

    >>> rule = TypeRule()
    >>> rule.is_numeric(np.array([0, 1, 1, 0]), "column 0"), rule.is_numeric(np.array([151, 75, 141]), "column 1")
    (False, True)
    """

    def __init__(self) -> None:
        self.doubts: list[str] = []

    def is_numeric(self, values: NDArray[Any], place: str) -> bool:
        """Decide for the known values of a column; ``place`` names it."""
        if values.dtype.kind == "b":
            return False
        if values.dtype.kind == "f" and (values != np.floor(values)).any():
            return True
        n_values, low, high = _distinct(values), values.min(), values.max()
        rows = len(values) / n_values
        if n_values <= 2 or (n_values <= MAX_CLASSES and rows >= ROWS_PER_CLASS):
            return False
        if n_values <= MAX_CLASSES:
            self.doubts.append(f"{place}: only {n_values} whole numbers, but {len(values)} rows")
        elif low == 0 and high == n_values - 1 and rows >= ROWS_PER_CODE:
            self.doubts.append(f"{place}: whole numbers from 0 to {int(high)} without a gap, {rows:.0f} rows each on average")
        return True

    def warn(self) -> None:
        """One warning for all columns that could have been taken as classes."""
        if self.doubts:
            more = f" (and {len(self.doubts) - 3} more targets)" if len(self.doubts) > 3 else ""
            columns = "; ".join(self.doubts[:3])
            taken = 'taken as numeric. If these are classes, pass target_type="class" (--target-type class), or a dict for some'
            warnings.warn(f"Y, {columns}{more}: {taken}.", TargetTypeWarning, stacklevel=2)


def _distinct(values: NDArray[Any]) -> int:
    """Number of distinct whole numbers: counted where their range is small, sorted otherwise."""
    low, high = int(values.min()), int(values.max())
    if high - low < max(65_536, 4 * len(values)) and low > -(2**62) and high < 2**62:
        return int(np.count_nonzero(np.bincount(values.astype(np.int64) - low)))
    return len(np.unique(values))
