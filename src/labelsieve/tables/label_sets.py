"""Label sets: lists of the labels of every row, as a table of 0 and 1."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError, TargetTypeWarning, warn
from labelsieve.tables.frames import is_frame, is_series
from labelsieve.tables.types import CompressedMatrix, TargetsLike

T = TypeVar("T")
DENSE_CELLS = 2**20  # tables up to this size are dense; larger ones if more than DENSE_SHARE of the cells are 1
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
    dense = cells <= DENSE_CELLS or len(stored) > DENSE_SHARE * cells
    return LabelMatrix(matrix.toarray() if dense else matrix, tuple(map(str, labels)))


def label_matrix(Y: T) -> T | NDArray[np.uint8] | CompressedMatrix:
    """``Y`` itself, or its label sets as a table of 0 and 1.

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
    """The rows of ``Y`` where one of them is a collection."""
    rows: Sequence[Any] | None = None
    if isinstance(Y, list | tuple):
        rows = Y
    elif isinstance(Y, np.ndarray):
        rows = Y.tolist() if Y.ndim == 1 and Y.dtype.kind == "O" else None
    elif (is_frame(Y) and np.shape(Y)[1] == 1) or is_series(Y):
        rows = _cells(Y)
    return rows if rows is not None and any(map(is_collection, rows)) else None


def _cells(Y: TargetsLike) -> list[Any] | None:
    """The cells of a Series, or of a frame of one column, that may hold lists."""
    try:
        column = nw.from_native(Y, eager_only=True, allow_series=True)
    except nw.exceptions.NarwhalsError:
        return None  # reading it as a table names the reason
    if isinstance(column, nw.DataFrame):
        column = column[column.columns[0]]
    return column.to_list() if column.dtype in (nw.Object, nw.List, nw.Array) else None


def _is_table(rows: Sequence[Any]) -> bool:
    """True for rows of the same length that hold numbers, or that hold a text twice, as no set does."""
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
    """True for a set, a list, a tuple or an array of labels.

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
