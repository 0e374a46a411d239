"""Reading user input: arrays, lists, frames and sparse matrices, as numbers with column names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError


@dataclass(frozen=True)
class NumberTable:
    """Numbers in rows and columns: ``dense`` is an array, or ``sparse`` a CSC matrix in canonical form.

    ``text`` has the sorted distinct values of columns that were text; their numbers are ranks among these.
    """

    dense: NDArray[Any] | None
    sparse: Any
    names: tuple[str, ...] | None
    text: Mapping[int, NDArray[np.str_]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        shape: tuple[int, int] = (self.sparse if self.dense is None else self.dense).shape
        return shape

    def name(self, column: int) -> str:
        """The name of a column in messages."""
        return f"column {column}" if self.names is None else f"column {column} ({self.names[column]!r})"

    def take_rows(self, rows: NDArray[np.bool_]) -> "NumberTable":
        """Only the rows where ``rows`` is true."""
        if self.dense is not None:
            return NumberTable(self.dense[rows], None, self.names, self.text)
        kept = self.sparse[np.flatnonzero(rows)]
        kept.sort_indices()
        return NumberTable(None, kept, self.names, self.text)


def read_table(
    X: Any, *, what: str = "X", allow_missing: bool = False, text: Mapping[int, NDArray[np.str_]] | None = None
) -> NumberTable:
    """Read ``X`` as numbers: without copies where possible.

    Text and categorical columns of a frame become the ranks of their sorted distinct values, or of those in ``text``, where
    a value that is not among them lies half-way between its neighbors; everything else must be numbers already. A
    one-dimensional input is one column. Missing values of a frame are refused, or become NaN.
    """
    if sp.issparse(X):
        table = NumberTable(None, _canonical(X, what), None)
    elif not isinstance(X, np.ndarray) and (is_frame(X) or nw.dependencies.is_into_series(X)):
        try:
            frame = nw.from_native(X, eager_only=True, allow_series=True)
        except nw.exceptions.NarwhalsError as error:
            raise InputError(f"{what} is a frame that cannot be read: {' '.join(str(error).split())}") from None
        table = _read_frame(frame, what, allow_missing, text)
    else:
        table = NumberTable(_read_array(X, what), None, None)
    n_rows, n_columns = table.shape
    if n_rows == 0 or n_columns == 0:
        raise InputError(f"{what} is empty: it has {n_rows} rows and {n_columns} columns.")
    if n_rows >= 2**32 - 1:
        raise InputError(f"{what} has {n_rows} rows; at most 4,294,967,294 can be counted.")
    return table


def is_integer_array(table: Any, dimensions: tuple[int, ...]) -> bool:
    """True for a plain array of whole numbers or booleans that is not empty: it cannot hold NaN, infinities or objects."""
    return type(table) is np.ndarray and table.ndim in dimensions and table.dtype.kind in "bui" and table.size > 0


def is_frame(X: Any) -> bool:
    """True for the data frames of pandas, polars and the like."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def _read_array(X: Any, what: str) -> NDArray[Any]:
    array = read_values(X, what)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise InputError(f"{what} must have two dimensions, rows and columns; it has {array.ndim}.")
    return _numeric(array, what)


def read_values(X: Any, what: str) -> NDArray[Any]:
    """An array of any type and shape, without masked values."""
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        raise InputError(f"{what} has masked values; fill them ({what}.filled(...)) or drop their rows.")
    try:
        return np.asarray(X)
    except ValueError as error:
        raise InputError(f"{what} is not a table: {error}") from None


def _numeric(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Reject what is not numbers; bring odd number types to one that the core reads."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "biuf":
        kinds = {"O": "objects", "U": "text", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "durations"}
        found = kinds.get(kind, f"values of type {array.dtype}")
        raise InputError(
            f"{what} holds {found} instead of numbers; encode its columns as integers first, "
            "for example with sklearn.preprocessing.OrdinalEncoder, or hand in a frame with typed columns."
        )
    if (kind == "f" and size not in (4, 8)) or not array.dtype.isnative:
        return array.astype(np.float64 if kind == "f" else array.dtype.newbyteorder("="))
    if not array.flags.aligned or any(stride % size for stride in array.strides):
        return array.copy(order="F")  # a field of records: the core counts strides in whole numbers
    return array


def without_duplicates(matrix: Any) -> Any:
    """A compressed sparse matrix that stores every cell once and in order; the one given stays as it was."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _canonical(X: Any, what: str) -> Any:
    if X.ndim != 2:
        raise InputError(f"{what} must have two dimensions, rows and columns; it has {X.ndim}.")
    columns = without_duplicates(X.tocsc())
    data = _numeric(columns.data, what)
    # A separate matrix around the same memory: the caller's is not modified.
    canonical = sp.csc_array((data, columns.indices, columns.indptr), shape=columns.shape)
    canonical.has_canonical_format = True
    return canonical


def _read_frame(frame: Any, what: str, allow_missing: bool, known: Mapping[int, NDArray[np.str_]] | None) -> NumberTable:
    if isinstance(frame, nw.Series):
        frame = frame.to_frame()
    names = tuple(str(name) for name in frame.columns)
    types = list(frame.schema.values())
    if len(set(types)) == 1 and (types[0].is_numeric() or types[0] == nw.Boolean):
        array = frame.to_numpy()
        if array.dtype.kind in "biuf":
            return NumberTable(_numeric(array, what), None, names)
    text: dict[int, NDArray[np.str_]] = {}
    columns = []
    for position, series in enumerate(frame.iter_columns()):
        missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
        if missing.any() and not allow_missing:
            raise InputError(
                f"{what}: column {series.name!r} has {missing.sum()} missing values, the first in row "
                f"{int(np.argmax(missing))}; fill or drop them."
            )
        present = series.filter(~series.is_null()) if missing.any() else series
        values: NDArray[Any]
        if series.dtype in (nw.String, nw.Categorical, nw.Enum):
            values, text[position] = _rank(present, None if known is None else known.get(position))
        else:
            values = _read_series(present, what)
        if missing.any():
            present_values, values = values, np.full(len(missing), np.nan)
            values[~missing] = present_values
        columns.append(values)
    if not columns:
        return NumberTable(np.empty((len(frame), 0)), None, names)
    table = np.empty((len(frame), len(columns)), dtype=np.result_type(*columns), order="F")
    for position, column in enumerate(columns):
        table[:, position] = column
    return NumberTable(_numeric(table, what), None, names, text)


def _rank(series: Any, known: NDArray[np.str_] | None) -> tuple[NDArray[Any], NDArray[np.str_]]:
    """Ranks among the distinct values, and these."""
    words = series.cast(nw.String).to_numpy().astype(str)
    if known is None:
        known, ranks = np.unique(words, return_inverse=True)
        return np.asarray(ranks, dtype=np.uint32), known
    ranks = np.searchsorted(known, words)
    unknown = np.take(known, ranks, mode="clip") != words if len(known) else np.ones(len(words), dtype=bool)
    return ranks - 0.5 * unknown, known


def _read_series(series: Any, what: str) -> NDArray[Any]:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        values: NDArray[Any] = np.asarray(series.to_numpy())
        return values if values.dtype.kind in "biuf" else values.astype(np.float64)
    raise InputError(
        f"{what}: column {series.name!r} holds {series.dtype}, which is not numbers, text or categories; "
        "convert it or leave it out."
    )
