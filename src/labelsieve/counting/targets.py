"""Reading targets: classes, numbers or label sets; known or unknown cells; dense or sparse."""

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.binary_labels import is_collection, missing_cells, opened, read_label_sets
from labelsieve.counting.codes import MAX_LEVELS, Codes
from labelsieve.counting.number_table import (
    NumberTable,
    frame_names,
    is_frame,
    is_integer_array,
    is_series,
    read_frame,
    read_table,
    unmask,
)
from labelsieve.counting.target_table import TargetTable, target_place
from labelsieve.counting.target_types import MAX_CLASSES, ROWS_PER_CLASS, TargetTypes, TypeRule, requested_types
from labelsieve.errors import InputError, TargetTypeWarning
from labelsieve.table_types import TargetsLike, is_sparse

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
    if isinstance(Y, Codes):
        wanted = requested_types(target_type, Y.n_columns, Y.names)
        if not (wanted == "numeric").any():
            return _only_classes(Y)
        return _read_dense(NumberTable(Y.to_dense(), Y.names, nominal=frozenset(range(Y.n_columns))), wanted)
    if isinstance(target_type, str) and target_type == "auto" and is_integer_array(Y, (1, 2)):  # most targets
        codes = _as_codes(read_table(Y, what="Y"))
        if codes is not None and (Y.dtype.kind == "b" or _are_classes(int(codes.levels.max()), codes.n_rows)):
            return _only_classes(codes)
    sets = read_label_sets(Y)
    table = _read_columns(opened(Y)) if sets is None else replace(read_table(sets.matrix), names=sets.names)
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
            warnings.warn(
                f"Y, {target_place(column, classes.names)}: text with {n_classes:,} classes in {classes.n_rows:,} rows, of "
                "which hardly any occurs twice. Convert numbers (labelsieve.datasets.to_numbers), split label sets, or leave "
                "it out.",
                TargetTypeWarning,
                stacklevel=3,
            )


def target_names(Y: object) -> tuple[str, ...] | None:
    """Names of the columns of a frame, or of a named Series; None for anything else.

    >>> target_names([0, 1]) is None
    True
    """
    if isinstance(Y, np.ndarray | list | tuple) or is_sparse(Y):
        return None
    if is_frame(Y):
        return frame_names(Y)
    name = getattr(Y, "name", None)
    return None if name in (None, "") or not is_series(Y) else (str(name),)


def known_classes(Y: TargetsLike | Codes, what: str) -> Codes:
    """Targets as classes, for ``what`` that can take neither numbers nor unknown cells.

    >>> known_classes([["rock"], ["folk"]], "chi_square").levels
    array([2, 2], dtype=uint32)
    """
    return read_targets(Y, "class").require_known(what).classes


def _only_classes(codes: Codes) -> TargetTable:
    return TargetTable(codes, np.zeros(codes.n_columns, dtype=bool), np.empty((codes.n_rows, 0)))


def _read_columns(Y: TargetsLike) -> NumberTable:
    """Numbers, with ranks for text and NaN for unknown cells; columns that are classes by their type are nominal."""
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
    """Columns of objects as numbers, those of text and truth values as ranks."""
    numbers, nominal = np.full(array.shape, np.nan, order="F"), set()
    for column in range(array.shape[1]):
        known = ~missing_cells(array[:, column]) if array.dtype.kind == "O" else np.ones(len(array), dtype=bool)
        values = array[known, column]
        try:
            if array.dtype.kind != "O" or any(isinstance(value, str | bytes | bool | np.bool_) for value in values):
                raise TypeError
            numbers[known, column] = values.astype(np.float64)
        except (TypeError, ValueError):
            nominal.add(column)
            if any(map(is_collection, values)):
                raise InputError(
                    f"Y, column {column}: it holds lists; label sets must be the only target (one Series or list of them)."
                ) from None
            try:
                numbers[known, column] = np.unique(values, return_inverse=True)[1]
            except TypeError:
                raise InputError(f"Y, column {column}: its values cannot be compared with each other; use one type.") from None
    return NumberTable(numbers, None, nominal=frozenset(nominal))


def _are_classes(levels: int, n_rows: int) -> bool:
    """Whether so many levels alone show that whole numbers are classes."""
    return levels <= 2 or (levels <= MAX_CLASSES and n_rows >= ROWS_PER_CLASS * levels)


def _undecided(codes: Codes, wanted: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Columns of whole numbers that the number of levels does not already show to be classes."""
    if _are_classes(int(codes.levels.max()), codes.n_rows):
        return np.zeros(codes.n_columns, dtype=bool)
    decided = [_are_classes(levels, codes.n_rows) for levels in codes.levels.tolist()]
    undecided: NDArray[np.bool_] = (wanted == "auto") & ~np.array(decided)
    return undecided


def _as_codes(table: NumberTable) -> Codes | None:
    """The values as codes, if all of them are."""
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
