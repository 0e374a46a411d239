"""Targets of any kind become a TargetTable: classes, numbers or sets of labels, with unknown cells marked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, Self, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import (
    ConstantTargetWarning,
    InputError,
    MissingTargetWarning,
    TargetTypeWarning,
    is_whole,
    one_of,
    require_same_rows,
    told_before,
    unknown_name,
    warn,
)
from labelsieve.tables.codes import MAX_LEVELS, Codes, SparseCodes, apply_cuts, cut_by_values
from labelsieve.tables.frames import (
    NumberTable,
    check_sparse,
    frame_names,
    is_frame,
    is_integer_array,
    is_series,
    read_frame,
    read_table,
    too_large,
    unmask,
)
from labelsieve.tables.types import CompressedMatrix, FloatArray, Matrix, TargetsLike, is_sparse

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
    """

    classes: Codes
    is_numeric: NDArray[np.bool_]
    numbers: NDArray[np.float64]
    bins: Codes | None = None

    @property
    def n_rows(self) -> int:
        return self.classes.n_rows

    @property
    def n_columns(self) -> int:
        return self.classes.n_columns

    @property
    def types(self) -> NDArray[np.object_]:
        """``"class"`` or ``"numeric"``, for every column."""
        return np.where(self.is_numeric, np.array("numeric", dtype=object), np.array("class", dtype=object))

    def take_rows(self, rows: NDArray[np.bool_]) -> Self:
        """Return the targets of the rows where ``rows`` is true; bins of numeric ones are left out."""
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
        """Return the targets with numeric columns in the bins of a discretizer."""
        if not self.is_numeric.any():
            return self
        return replace(self, bins=_bin(self.numbers, lambda X, weight: discretizer.encode(X, None, weight), sample_weight))

    @cached_property
    def codes(self) -> Codes:
        """Return all columns as codes."""
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
    """Return the words by which error messages name a target.

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
    """Encode numeric columns, each by bins of its known cells; unknown cells are an additional last level."""
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


TargetType = Literal["auto", "class", "numeric"]
TargetTypes = str | Mapping[str | int, str] | Sequence[str] | NDArray[np.str_]  # for all targets, for some, or for each
TARGET_TYPES = ("auto", "class", "numeric")

MAX_CLASSES = 20  # distinct whole numbers; more are numeric
ROWS_PER_CLASS = 2  # on average; with fewer, whole numbers are numeric
ROWS_PER_CODE = 10  # on average; from here on whole numbers 0, 1, ..., k - 1 without a gap may be codes of many classes


def requested_types(target_type: TargetTypes, n_targets: int, names: Sequence[str] | None) -> NDArray[np.str_]:
    """Return the type of every target as it was asked for: one for all, a dict by name or column, or a sequence.

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
        """Issue one warning for all columns that could have been taken as classes."""
        if self.doubts:
            more = f" (and {len(self.doubts) - 3} more targets)" if len(self.doubts) > 3 else ""
            columns = "; ".join(self.doubts[:3])
            taken = 'taken as numeric. If these are classes, pass target_type="class" (--target-type class), or a dict for some'
            warn(f"Y, {columns}{more}: {taken}.", TargetTypeWarning)


def _distinct(values: NDArray[Any]) -> int:
    """Count the distinct whole numbers: by a table of all values where their range is small, by sorting otherwise."""
    low, high = int(values.min()), int(values.max())
    if high - low < max(65_536, 4 * len(values)) and low > -(2**62) and high < 2**62:
        return int(np.count_nonzero(np.bincount(values.astype(np.int64) - low)))
    return len(np.unique(values))


DENSE_CELLS = 2**28  # of sparse targets that are numeric or have unknown cells, which are read as a dense table


def read_targets(Y: TargetsLike | Codes, target_type: TargetTypes = "auto") -> TargetTable:
    """Read targets, column by column, as classes or numbers.

    Text, categories, booleans and :class:`~labelsieve.information.Codes` are classes. A column of numbers is numeric if it has
    fractions, more than 20 distinct whole numbers, or more than two with fewer than two rows each on average; otherwise its
    values are classes. Classes that are whole numbers from 0 to 65,534 are codes as they are; others are numbered in their
    order. Label sets become a column of 0 and 1 for every label.
    NaN, None and masked cells are unknown.

    Parameters
    ----------
    Y : array-like, frame, Series, sparse matrix, label sets or Codes
        The targets, one column or many.
    target_type : {"auto", "class", "numeric"}, dict or sequence, default="auto"
        The type of all targets; a dict for some, by name or column number; or a sequence with one for each. Fractions cannot be
        of ``"class"``.

    Examples
    --------
    >>> read_targets([[0, 0.5], [1, 0.7], [1, 9.1]]).types.tolist()
    ['class', 'numeric']
    >>> read_targets(["rock", "folk", "rock"]).classes.column(0)
    array([1, 0, 1], dtype=uint16)
    """
    sets = None if isinstance(Y, Codes) or is_integer_array(Y, (1, 2)) else read_label_sets(Y)
    if sets is None:
        return read_target_columns(Y, target_type)
    return read_target_columns(sets.matrix, target_type, sets.names)


def read_target_columns(
    Y: TargetsLike | Codes, target_type: TargetTypes = "auto", names: tuple[str, ...] | None = None
) -> TargetTable:
    """Read targets that are columns, as :func:`read_targets` does; ``names`` are those of labels that were sets."""
    if isinstance(Y, Codes):
        wanted = requested_types(target_type, Y.n_columns, Y.names)
        if not (wanted == "numeric").any():
            return _only_classes(Y)
        return _read_dense(NumberTable(Y.to_dense(), Y.names, nominal=frozenset(range(Y.n_columns))), wanted)
    if isinstance(target_type, str) and target_type == "auto" and is_integer_array(Y, (1, 2)) and names is None:
        # Most targets are such an array, which needs no further look.
        codes = _as_codes(read_table(Y, what="Y"))
        if codes is not None and (Y.dtype.kind == "b" or _are_classes(int(codes.levels.max()), codes.n_rows)):
            return _only_classes(codes)
    table = _read_columns(opened(Y))
    if names is not None:
        table = replace(table, names=names)
    wanted = requested_types(target_type, table.shape[1], table.names)
    text = [column for column in sorted(table.nominal) if wanted[column] == "numeric"]
    if text:
        raise InputError(f"Y, {table.name(text[0])}: text or categories cannot be taken as numbers; use target_type='auto'.")
    if table.dense is not None:
        read = _read_dense(table, wanted)
        _warn_of_many_classes(read.classes, table.nominal)
        return read
    codes = None if (wanted == "numeric").any() else _as_codes(table)
    if codes is not None and not _undecided(codes, wanted).any():
        return _only_classes(codes)
    if table.shape[0] * table.shape[1] > DENSE_CELLS:
        Codes.from_values(table.sparse, names=table.names, what="Y")  # names the cell that is not a code
        raise InputError("Y is sparse and has numeric targets; pass it as a dense array.")
    return _read_dense(replace(table, values=table.sparse.toarray()), wanted)


def _warn_of_many_classes(classes: Codes, nominal: frozenset[int]) -> None:
    """Warn of text that has hardly any class twice: names, numbers as text, or label sets in one text."""
    for column in sorted(nominal):
        n_classes = int(classes.levels[column])
        if n_classes > MAX_CLASSES and n_classes * ROWS_PER_CLASS > classes.n_rows:
            warn(
                f"Y, {target_place(column, classes.names)}: text with {n_classes:,} classes in {classes.n_rows:,} rows, of "
                "which hardly any occurs twice. Convert numbers (labelsieve.datasets.to_numbers), split label sets, or leave "
                "it out.",
                TargetTypeWarning,
            )


def target_names(Y: object) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame, or of a named Series; None for anything else.

    >>> target_names([0, 1]) is None
    True
    """
    if isinstance(Y, np.ndarray | list | tuple) or is_sparse(Y):
        return None
    if is_frame(Y):
        return frame_names(Y)
    name = getattr(Y, "name", None)
    return None if name in (None, "") or not is_series(Y) else (str(name),)


def known_classes(Y: TargetsLike | Codes, what: str, rows: NDArray[np.bool_] | None = None) -> Codes:
    """Targets as classes, for ``what`` that can take neither numbers nor unknown cells.

    ``rows`` is a mask of the rows that count (default: all). The others are left out before the targets are read, so that they
    neither add classes nor are refused. Label sets keep the labels of all rows.

    >>> known_classes([["rock"], ["folk"]], "chi_square").levels
    array([2, 2], dtype=uint32)
    >>> known_classes([0, 1, -5.5], "chi_square", np.array([True, True, False])).levels
    array([2], dtype=uint32)
    """
    return read_targets(Y if rows is None else counted_targets(Y, rows), "class").require_known(what).classes


def counted_targets(Y: Any, rows: NDArray[np.bool_]) -> Any:
    """Return the targets of the rows where ``rows`` is true, in the form in which they came; label sets as a table."""
    sets = None if isinstance(Y, Codes) or is_integer_array(Y, (1, 2)) else read_label_sets(Y)
    if sets is not None:
        Y = Codes.from_values(sets.matrix, names=sets.names)
    require_same_rows(len(rows), n_target_rows(Y))
    if isinstance(Y, Codes):
        taken = Y.take_rows(rows)
        if sets is not None or taken.missing is not None:  # the last level of a column stands for its missing cells
            return taken
        largest = [int(taken.column(column).max()) for column in range(taken.n_columns)]
        return replace(taken, levels=np.array(largest, dtype=np.uint32) + 1)
    check_sparse(Y, "Y")
    from labelsieve.parameters import take_rows  # loaded late: reading data needs no scikit-learn

    return take_rows(Y.tocsr() if is_sparse(Y) else Y, np.flatnonzero(rows))


def n_target_rows(Y: Any) -> int:
    """Return the number of rows of targets in any form."""
    return int(Y.shape[0]) if hasattr(Y, "shape") else len(Y)


ClassName = int | str


def named_classes(Y: TargetsLike | Codes, what: str) -> tuple[Codes, list[tuple[ClassName, ...]]]:
    """Return the targets as :func:`known_classes`, numbered without gaps, and the names of the classes of every target.

    Codes mean something only within one table, names in all of them: a class that was text is named by it, any other by its
    number. Label sets have the classes 0 and 1.

    >>> codes, names = named_classes([["yes", 7], ["no", -1], ["yes", 7]], "PairCounts")
    >>> names, codes.to_dense().tolist()
    ([('no', 'yes'), (-1, 7)], [[1, 1], [0, 0], [1, 1]])
    """
    sets = None if isinstance(Y, Codes) else read_label_sets(Y)
    Y = Y if sets is None else Codes.from_values(sets.matrix, names=sets.names)
    codes = known_classes(Y, what)
    table = None if isinstance(Y, Codes) else _read_columns(opened(Y))
    dense, names = np.empty(codes.shape, dtype=np.uint16, order="F"), []
    for column in range(codes.n_columns):
        found, rows, dense[:, column] = np.unique(codes.column(column), return_index=True, return_inverse=True)
        numbers: list[int] = (found if table is None else table.column(column)[rows].astype(np.int64)).tolist()
        words = None if table is None else table.text.get(column)
        names.append(tuple(numbers if words is None else (_class_name(words[number]) for number in numbers)))
    levels = np.array([len(of_target) for of_target in names], dtype=np.uint32)
    return Codes(codes.n_rows, levels, codes.names, dense=dense), names


def _class_name(level: object) -> ClassName:
    if isinstance(level, bool | np.bool_):
        return int(level)
    return level.decode(errors="replace") if isinstance(level, bytes) else str(level)


def _only_classes(codes: Codes) -> TargetTable:
    return TargetTable(codes, np.zeros(len(codes.levels), dtype=bool), np.empty((codes.n_rows, 0)))


def _read_columns(Y: TargetsLike) -> NumberTable:
    """Read columns as numbers: ranks for text, NaN for unknown cells; columns that are classes by their type are nominal."""
    if is_frame(Y):
        return read_table(Y, what="Y", allow_missing=True)
    if is_series(Y):
        column = read_frame(Y, "Y").alias("Y").to_frame().to_native()
        return replace(read_table(column, what="Y", allow_missing=True), names=target_names(Y))
    if not is_sparse(Y):
        array = np.asarray(unmask(Y))
        Y = np.array(Y, dtype=object) if array.dtype.kind in "US" and isinstance(Y, list | tuple) else array
        if Y.dtype.kind in "OUS" and 1 <= Y.ndim <= 2 and Y.size:
            return _without_text(Y.reshape(len(Y), -1))
    table = read_table(Y, what="Y")
    boolean = table.dense is not None and table.dense.dtype.kind == "b"
    return replace(table, nominal=frozenset(range(table.shape[1]))) if boolean else table


def _without_text(array: NDArray[Any]) -> NumberTable:
    """Convert columns of objects to numbers, those of text and truth values to ranks."""
    numbers, text = np.full(array.shape, np.nan, order="F"), {}
    for column in range(array.shape[1]):
        known = ~missing_cells(array[:, column]) if array.dtype.kind == "O" else np.ones(len(array), dtype=bool)
        values = array[known, column]
        try:
            if array.dtype.kind != "O" or any(isinstance(value, str | bytes | bool | np.bool_) for value in values):
                raise TypeError
            numbers[known, column] = values.astype(np.float64)
        except OverflowError:
            raise too_large(array, "Y") from None
        except (TypeError, ValueError):
            if any(map(is_collection, values)):
                raise InputError(
                    f"Y, column {column}: it holds lists; label sets must be the only target (one Series or list of them)."
                ) from None
            try:
                text[column], numbers[known, column] = np.unique(values, return_inverse=True)
            except TypeError:
                raise InputError(f"Y, column {column}: its values cannot be compared with each other; use one type.") from None
    return NumberTable(numbers, None, text, nominal=frozenset(text))


def _are_classes(levels: int, n_rows: int) -> bool:
    """Return True if the number of levels alone shows that whole numbers are classes."""
    return levels <= 2 or (levels <= MAX_CLASSES and n_rows >= ROWS_PER_CLASS * levels)


def _undecided(codes: Codes, wanted: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Find the columns of whole numbers that the number of levels does not already show to be classes."""
    if _are_classes(int(codes.levels.max()), codes.n_rows):
        return np.zeros(codes.n_columns, dtype=bool)
    decided = [_are_classes(levels, codes.n_rows) for levels in codes.levels.tolist()]
    undecided: NDArray[np.bool_] = (wanted == "auto") & ~np.array(decided)
    return undecided


def _as_codes(table: NumberTable) -> Codes | None:
    """Return whole numbers as codes; None if some value is not one."""
    with suppress(InputError):
        return Codes.from_table(table, what="Y")
    return None


def _known_as_codes(table: NumberTable, unknown: NDArray[np.bool_], undecided: NDArray[np.bool_]) -> Codes | None:
    """The known values as codes, if all of them are, few enough to be classes; unknown cells are an additional last level."""
    assert table.dense is not None
    n_known = len(unknown) - np.count_nonzero(unknown, axis=0)
    filled = _as_codes(replace(table, values=np.where(unknown, 0.0, table.dense)))
    if filled is None or filled.dense is None or filled.levels.max() > np.iinfo(np.uint8).max or not n_known.all():
        return None
    levels = filled.levels.tolist()
    if not all(map(_are_classes, np.where(undecided, levels, 1).tolist(), n_known.tolist())):
        return None
    codes = filled.dense.astype(np.uint8, copy=False)
    np.copyto(codes, filled.levels.astype(np.uint8), where=unknown)
    missing: NDArray[np.bool_] = n_known < len(unknown)
    return Codes(len(codes), filled.levels + missing, table.names, dense=codes, missing=missing)


def _read_dense(table: NumberTable, wanted: NDArray[np.str_]) -> TargetTable:
    values = table.dense
    assert values is not None
    is_numeric = wanted == "numeric"
    codes = None if is_numeric.any() else _as_codes(table)
    undecided = wanted == "auto" if codes is None else _undecided(codes, wanted)
    undecided[sorted(table.nominal)] = False
    unknown = np.isnan(values) if codes is None and values.dtype.kind == "f" else None
    if unknown is not None and unknown.any() and not is_numeric.any():
        known_codes = _known_as_codes(table, unknown, undecided)
        if known_codes is not None:
            return _only_classes(known_codes)
    rule = TypeRule()
    for column in range(values.shape[1]) if codes is None else np.flatnonzero(undecided).tolist():
        known = values[:, column] if unknown is None else values[~unknown[:, column], column]
        if not len(known):
            raise InputError(f"Y, {table.name(column)}: all cells are unknown; leave this target out.")
        if known.dtype.kind == "f" and np.isinf(known).any():
            row = int(np.argmax(np.isinf(values[:, column])))
            raise InputError(
                f"Y, row {row}, {table.name(column)}: {values[row, column]} is not finite; fill it or drop its row."
            )
        if undecided[column]:
            is_numeric[column] = rule.is_numeric(known, table.name(column))
    rule.warn()
    if codes is not None and not is_numeric.any():
        return _only_classes(codes)
    numbers = np.asarray(values[:, is_numeric], dtype=np.float64)
    return TargetTable(_class_codes(table, ~is_numeric, unknown), is_numeric, numbers)


def _class_codes(table: NumberTable, is_class: NDArray[np.bool_], unknown: NDArray[np.bool_] | None) -> Codes:
    """Codes of the columns of classes; other columns are constant. Unknown cells are an additional last level."""
    values = table.dense
    assert values is not None
    codes = np.zeros(values.shape, dtype=np.uint16, order="F")
    levels, missing = np.ones(values.shape[1], dtype=np.uint32), np.zeros(values.shape[1], dtype=bool)
    for column in np.flatnonzero(is_class).tolist():
        known = slice(None) if unknown is None or not unknown[:, column].any() else ~unknown[:, column]
        classes = values[known, column]
        if classes.dtype.kind == "f" and (classes != np.floor(classes)).any():
            row = int(np.argmax(values[:, column] != np.floor(values[:, column])))
            raise InputError(
                f"Y, row {row}, {table.name(column)}: this target holds real numbers, and classes are needed; "
                "bin it first, for example with labelsieve.discretize.equal_width(Y)."
            )
        if classes.min() < 0 or classes.max() >= MAX_LEVELS - 1:  # class names such as -1 and 1
            distinct, classes = np.unique(classes, return_inverse=True)
            if len(distinct) >= MAX_LEVELS:
                raise InputError(
                    f"Y, {table.name(column)}: {len(distinct):,} classes; at most {MAX_LEVELS - 1:,} can be counted."
                )
        codes[known, column] = classes
        levels[column] = int(classes.max()) + 1
        if not isinstance(known, slice):
            codes[~known, column], missing[column] = levels[column], True
            levels[column] += 1
    return Codes(len(codes), levels, table.names, dense=codes, missing=missing if missing.any() else None)


LISTED = 3  # targets that a warning names
FEW_ROWS = 64

_part_of_the_rows: ContextVar[bool] = ContextVar("part_of_the_rows", default=False)


@contextmanager
def part_of_the_rows(*, told: bool = True) -> Iterator[None]:
    """Switch off warnings of constant targets: in every fold or sample of the rows, some rare labels are constant.

    Other warnings about columns are switched off as well if the user was ``told`` of them when all rows were read.
    """
    token = _part_of_the_rows.set(True)
    try:
        with told_before(told):
            yield
    finally:
        _part_of_the_rows.reset(token)


def constant_targets(targets: TargetTable) -> NDArray[np.bool_]:
    """Mask of the targets with one value in all rows in which they are known.

    >>> from labelsieve.tables.targets import read_targets
    >>> constant_targets(read_targets([[0, 1, 2.5], [1, 1, 2.5], [0, np.nan, 2.5]])).tolist()
    [False, True, True]
    """
    classes = targets.classes
    if classes.dense is not None and classes.missing is None:
        constant = _constant_dense(classes.dense)
    else:
        constant = constant_columns(classes)
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
    """Find constant columns: most others show two values in the first rows, so that only few are read to the end."""
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


def warn_of_missing_targets(targets: TargetTable, names: Sequence[str] | None, n_left_out: int) -> None:
    """Issue one warning for all targets that are unknown in some rows; it names the first of them."""
    unknown = np.zeros(targets.n_columns, dtype=np.intp)
    if targets.classes.missing is not None:
        unknown[targets.classes.missing] = targets.classes.n_missing[targets.classes.missing]
    unknown[targets.is_numeric] = np.count_nonzero(np.isnan(targets.numbers), axis=0)
    columns = np.flatnonzero(unknown).tolist()
    if not columns and not n_left_out:
        return
    known = None if names is None else tuple(map(str, names))
    places = ", ".join(f"{target_place(column, known)} in {unknown[column]:,}" for column in columns[:LISTED])
    places += f", ... ({len(columns):,} targets)" if len(columns) > LISTED else ""
    left_out = f"{n_left_out:,} rows without any known target are left out" if n_left_out else ""
    found = f"{places} of {targets.n_rows:,} rows are unknown, and each target is counted in the rows where it is known"
    warn(
        f"Y, {'; '.join(filter(None, [found if columns else '', left_out]))}. Drop or fill them if that is not meant.",
        MissingTargetWarning,
    )


def warn_of_constant_targets(constant: NDArray[np.bool_], names: Sequence[str] | None) -> None:
    """Issue one warning for all constant targets; it names the first of them."""
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
    warn(
        f"Y, {places}: one value in all rows; {effect}. Leave such targets out, or check how they were read.",
        ConstantTargetWarning,
    )


T = TypeVar("T")
DENSE_SETS = 2**20  # label sets with up to so many cells are dense; larger ones if more than DENSE_SHARE of the cells are 1
DENSE_SHARE = 0.05


class LabelMatrix(NamedTuple):
    """Labels of 0 and 1, dense or CSR, with their names."""

    matrix: NDArray[np.uint8] | CompressedMatrix
    names: tuple[str, ...]


def read_label_sets(Y: object) -> LabelMatrix | None:
    """The label sets in ``Y`` as a table with a column of 0 and 1 for every label, sorted; None if ``Y`` holds no label sets.

    Label sets are a list, a Series or a one-dimensional array whose entries are sets, or lists and tuples that differ in
    length or hold text alone, no text twice in a row. Lists of numbers that are all of the same length are the rows of a
    table, and text is never a set of its characters. The columns are those of ``sklearn.preprocessing.MultiLabelBinarizer``.

    Cost: one pass over the labels.

    >>> read_label_sets([{"rock", "loud"}, set(), ["rock"]])
    LabelMatrix(matrix=array([[1, 1],
           [0, 0],
           [0, 1]], dtype=uint8), names=('loud', 'rock'))
    >>> read_label_sets([[0, 1], [1, 1]]) is None
    True
    """
    rows = _nested_rows(Y)
    if rows is None or _is_table(rows):
        return None
    _warn_of_columns(rows)
    sets = []
    for row, labels in enumerate(rows):
        if not is_collection(labels):
            problem = "the label set is missing" if _is_missing(labels) else f"{labels!r} is not a set or a list of labels"
            raise InputError(f"Y, row {row}: {problem}; an empty list means no label, or drop the row.")
        try:
            members = set(labels)
        except TypeError:
            raise InputError(f"Y, row {row}: labels must be text or numbers, not lists or sets of them.") from None
        if any(map(_is_missing, members)):
            raise InputError(f"Y, row {row}: a label is missing; leave it out of the label set.")
        sets.append(members)
    try:
        labels = sorted(set(chain.from_iterable(sets)))
    except TypeError:
        raise InputError("Y has labels that cannot be compared with each other; use text or numbers for all of them.") from None
    if not labels:
        raise InputError("Y is empty: all label sets are, and a table of them has 0 columns.")
    index = {label: column for column, label in enumerate(labels)}
    columns = [sorted(index[label] for label in members) for members in sets]
    starts = np.concatenate([[0], np.cumsum([len(members) for members in columns])])
    stored = np.fromiter(chain.from_iterable(columns), dtype=np.int64, count=int(starts[-1]))
    matrix = sp.csr_array((np.ones(len(stored), dtype=np.uint8), stored, starts), shape=(len(sets), len(labels)))
    cells = len(sets) * len(labels)
    dense = cells <= DENSE_SETS or len(stored) > DENSE_SHARE * cells
    return LabelMatrix(matrix.toarray() if dense else matrix, tuple(map(str, labels)))


def label_matrix(Y: T) -> T | NDArray[np.uint8] | CompressedMatrix:
    """Return ``Y`` itself, or its label sets as a table of 0 and 1.

    >>> label_matrix([["rock"], []]).tolist()
    [[1], [0]]
    """
    sets = read_label_sets(Y)
    return Y if sets is None else sets.matrix


def opened(Y: T) -> T | NDArray[Any]:
    """``Y`` as an array where it is a Series or an array of equally long lists of numbers; everything else unchanged.

    >>> opened(np.array([None, None])).shape
    (2,)
    """
    rows = None if isinstance(Y, list | tuple) else _nested_rows(Y)
    return Y if rows is None else np.array([np.asarray(row) for row in rows])


def _nested_rows(Y: object) -> Sequence[Any] | None:
    """Return the rows of ``Y`` as a list if one of them is a collection of labels."""
    rows: Sequence[Any] | None = None
    if isinstance(Y, list | tuple):
        rows = Y
    elif isinstance(Y, np.ndarray):
        rows = Y.tolist() if Y.ndim == 1 and Y.dtype.kind == "O" else None
    elif (is_frame(Y) and np.shape(Y)[1] == 1) or is_series(Y):
        rows = _cells(Y)
    return rows if rows is not None and any(map(is_collection, rows)) else None


def _cells(Y: TargetsLike) -> list[Any] | None:
    """Return the cells of a Series, or of a frame of one column, that may hold lists."""
    try:
        column = nw.from_native(Y, eager_only=True, allow_series=True)
    except nw.exceptions.NarwhalsError:
        return None  # reading it as a table names the reason
    if isinstance(column, nw.DataFrame):
        column = column[column.columns[0]]
    return column.to_list() if column.dtype in (nw.Object, nw.List, nw.Array) else None


def _is_table(rows: Sequence[Any]) -> bool:
    """Tell a table from label sets: its rows are of one length and hold numbers, or a text twice, as no set does."""
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows) or len({len(row) for row in rows}) != 1:
        return False
    if any(not isinstance(value, str | bytes) for row in rows for value in row):
        return True
    return any(len(set(row)) < len(row) for row in rows)


def _warn_of_columns(rows: Sequence[Any]) -> None:
    """Warn if lists of text could be the rows of a table: they are equally long."""
    if all(isinstance(row, list | tuple) for row in rows) and len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:
        warn(
            f"Y is a list of lists of {len(rows[0])} texts each: taken as label sets. If these are the rows of a table of "
            f"{len(rows[0])} targets, pass a frame or numpy.array(Y).",
            TargetTypeWarning,
        )


def is_collection(value: object) -> bool:
    """Tell whether a value is a set, a list, a tuple or an array of labels.

    >>> is_collection({"rock"}), is_collection("rock")
    (True, False)
    """
    return isinstance(value, set | frozenset | list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def missing_cells(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which objects are missing: None, NaN, and the missing values of pandas.

    >>> missing_cells(np.array(["rock", None, float("nan")], dtype=object))
    array([False,  True,  True])
    """
    return np.fromiter(map(_is_missing, column), dtype=bool, count=len(column))
