"""Arrays, frames and sparse matrices become a NumberTable: one number per cell, and which columns are nominal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, overload

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import ColumnWarning, DateColumnWarning, InputError, warn
from labelsieve.tables.text import (
    FrameColumn,
    Levels,
    are_undecided_dates,
    date_column,
    level_ranks,
    read_levels,
    warn_of_number_texts,
)
from labelsieve.tables.types import CompressedMatrix, Frame, Matrix, SparseMatrix, TableLike, TargetsLike, is_sparse

if TYPE_CHECKING:
    from typing_extensions import TypeIs

REMEDY = "Rebuild the matrix, for example from a COO matrix with the right shape."


def check_sparse(matrix: Any, what: str) -> None:
    """Refuse a sparse matrix whose indices or pointers lead outside of it; anything else passes.

    SciPy does not check them when a matrix is built from its arrays, and reads or writes any memory when it is converted.

    Cost: one pass over the indices.

    >>> check_sparse(sp.csr_array(([1.0], [7], [0, 1]), shape=(1, 3)), "X")
    Traceback (most recent call last):
        ...
    labelsieve.errors.InputError: X is a malformed sparse matrix: row 0 stores column 7, and there are 3 columns. Rebuild ...
    """
    if not sp.issparse(matrix):
        return
    if matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix, what)
    elif matrix.format == "coo":
        for axis, (indices, size) in enumerate(zip(matrix.coords, matrix.shape, strict=True)):
            if len(indices) != len(matrix.data):
                _refuse(what, f"it has {len(matrix.data)} values and {len(indices)} indices")
            _check_range(indices, size, what, f"axis {axis}")
    elif matrix.format == "lil":
        for row, (columns, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
            if len(columns) != len(values):
                _refuse(what, f"row {row} has {len(values)} values and {len(columns)} column indices")
            _check_range(np.asarray(columns, dtype=np.int64), matrix.shape[1], what, f"row {row}")
    elif matrix.format == "dok":
        cells = np.array(list(matrix.keys()), dtype=np.int64).reshape(-1, len(matrix.shape))  # also where there are none
        for axis, indices in enumerate(cells.T):
            _check_range(indices, matrix.shape[axis], what, f"axis {axis}")


@overload
def validate_data(estimator: object, /, X: TableLike, y: TargetsLike, **options: Any) -> tuple[Matrix, NDArray[Any]]: ...
@overload
def validate_data(estimator: object, /, X: TableLike, **options: Any) -> Matrix: ...
def validate_data(
    estimator: object, /, X: TableLike, y: TargetsLike = "no_validation", **options: Any
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Call scikit-learn's ``validate_data`` after :func:`check_sparse`."""
    from sklearn.utils import validation  # loaded late: counting does not need scikit-learn

    check_sparse(X, "X")
    check_sparse(y, "Y")
    validated: Matrix | tuple[Matrix, NDArray[Any]] = validation.validate_data(estimator, X=X, y=y, **options)
    return validated


def _check_compressed(matrix: Any, what: str) -> None:
    """Check pointers and indices of a CSR, CSC or BSR matrix; indices of the last are those of blocks."""
    indptr, indices, shape = matrix.indptr, matrix.indices, matrix.shape
    if matrix.format == "bsr":
        shape = tuple(size // block for size, block in zip(shape, matrix.blocksize, strict=True))
    major, minor = ("column", "row") if matrix.format == "csc" else ("row", "column")
    n_major, n_minor = shape[::-1] if matrix.format == "csc" else (shape if len(shape) == 2 else (1, *shape))
    if indptr.ndim != 1 or len(indptr) != n_major + 1:
        _refuse(what, f"it has {len(indptr)} pointers (indptr) for {n_major} {major}s, which need {n_major + 1}")
    if indptr[0] != 0:
        _refuse(what, f"its first pointer (indptr) is {indptr[0]}, not 0")
    if (indptr[1:] < indptr[:-1]).any():
        first = int(np.argmax(indptr[1:] < indptr[:-1]))
        _refuse(what, f"its pointers (indptr) decrease after {major} {first}, from {indptr[first]} to {indptr[first + 1]}")
    n_stored = min(len(indices), len(matrix.data))
    if indptr[-1] > n_stored:
        _refuse(what, f"its last pointer (indptr) is {indptr[-1]}, and {n_stored} values are stored")
    wrong = _first_outside(indices[: indptr[-1]], n_minor)
    if wrong is not None:
        number = int(np.searchsorted(indptr, wrong, side="right")) - 1
        outside = f"{major} {number} stores {minor} {indices[wrong]}, and there are {n_minor} {minor}s"
        _refuse(what, outside if matrix.format != "bsr" else f"in blocks, {outside}")


def _first_outside(indices: NDArray[Any], size: int) -> int | None:
    """Return the position of the first index that is not in ``range(size)``; None if all are."""
    # Without a sign a negative number is a large one, so that one comparison finds both kinds.
    unsigned = indices.view(f"u{indices.dtype.itemsize}")
    if len(unsigned) == 0 or int(unsigned.max()) < size:
        return None
    return int(np.argmax(unsigned >= size))


def _check_range(indices: NDArray[Any], size: int, what: str, where: str) -> None:
    wrong = _first_outside(indices, size)
    if wrong is not None:
        _refuse(what, f"{where} has the index {indices[wrong]}, and its length is {size}")


def _refuse(what: str, cause: str) -> None:
    raise InputError(f"{what} is a malformed sparse matrix: {cause}. {REMEDY}")


T = TypeVar("T")
Wide = TypeVar("Wide", nw.DataFrame[Any], nw.Series[Any])

_PLAIN = nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64, nw.Float32, nw.Float64
_NOMINAL = nw.String, nw.Categorical, nw.Enum
_WIDE = nw.Int128, nw.UInt128
_TEMPORAL = nw.Datetime, nw.Date, nw.Duration, nw.Time
EXACT = 2**53  # whole numbers up to this are exact in floating point
LOOKED_AT = 256  # rows that show whether a column of whole numbers has large ones
LABEL_SETS = "Sets of labels become 0/1 columns with sklearn.preprocessing.MultiLabelBinarizer."


@dataclass(frozen=True)
class NumberTable:
    """Numbers in rows and columns: what every kind of input becomes when it is read."""

    values: NDArray[Any] | CompressedMatrix  # an ndarray, or a CSC matrix in canonical form; NaN where a cell is missing
    names: tuple[str, ...] | None
    # sorted levels of the columns of text, whose numbers are ranks among these
    text: Mapping[int, Levels] = field(default_factory=dict)
    nominal: frozenset[int] = frozenset()  # columns of categories, whose numbers have no order: text, categories and booleans
    # numbers that the columns have in the table that the user passed, if some of its columns were taken
    origin: tuple[int, ...] | None = None

    @property
    def dense(self) -> NDArray[Any] | None:
        """The values if they are an array; None for a sparse matrix."""
        return self.values if isinstance(self.values, np.ndarray) else None

    @property
    def sparse(self) -> CompressedMatrix:
        """The values as a sparse matrix, which they are where ``dense`` is None."""
        assert not isinstance(self.values, np.ndarray)
        return self.values

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n_rows, n_columns = self.values.shape
        return n_rows, n_columns

    def name(self, column: int) -> str:
        """Return a column's number in the table of the user, and its name, as messages show them."""
        number = column if self.origin is None else self.origin[column]
        return f"column {number}" if self.names is None else f"column {number} ({self.names[column]!r})"

    def key(self, column: int) -> int | str:
        """Return a column's name or, without names, its number in the table of the user."""
        return self.names[column] if self.names is not None else column if self.origin is None else self.origin[column]

    def column(self, column: int) -> NDArray[Any]:
        """Return the numbers of a column, also those that a sparse matrix does not store."""
        values: NDArray[Any]
        if isinstance(self.values, np.ndarray):
            values = self.values[:, column]
            return values
        listed = slice(self.values.indptr[column], self.values.indptr[column + 1])
        values = np.zeros(self.values.shape[0], dtype=self.values.dtype)
        values[self.values.indices[listed]] = self.values.data[listed]
        return values

    def take_rows(self, rows: NDArray[np.bool_]) -> "NumberTable":
        """Return the table of the rows where ``rows`` is true."""
        if isinstance(self.values, np.ndarray):
            return replace(self, values=self.values[rows])
        kept = self.values[np.flatnonzero(rows)]
        kept.sort_indices()
        return replace(self, values=kept)

    def take_columns(self, columns: Sequence[int]) -> "NumberTable":
        """Return the table of these columns, in this order."""
        values: Any = self.values[:, list(columns)]
        if not isinstance(values, np.ndarray):
            values.sort_indices()
        return NumberTable(
            values,
            None if self.names is None else tuple(self.names[column] for column in columns),
            {at: self.text[column] for at, column in enumerate(columns) if column in self.text},
            frozenset(at for at, column in enumerate(columns) if column in self.nominal),
            tuple(columns) if self.origin is None else tuple(self.origin[column] for column in columns),
        )

    def measurements(self) -> "NumberTable":
        """Return the table of the columns that are not nominal."""
        if not self.nominal:
            return self
        return self.take_columns([column for column in range(self.shape[1]) if column not in self.nominal])


def read_table(X: TargetsLike | NumberTable, *, what: str = "X", allow_missing: bool = False) -> NumberTable:
    """Read ``X`` as numbers, without copies where possible; a table that was read already is returned as it is.

    Text and categorical columns of a frame become the ranks of their sorted levels, dates become seconds; everything else must
    be numbers already. A one-dimensional input is one column. Missing cells of a frame and masked ones of an array are refused,
    or become NaN if ``allow_missing``. Messages call the table ``what``.
    """
    if isinstance(X, NumberTable):
        return X
    if isinstance(X, np.ndarray):
        table = NumberTable(_read_array(X, what, allow_missing), None)
    elif is_sparse(X):
        table = NumberTable(_canonical(X, what), None)
    elif (numbers := _pandas_numbers(X, what)) is not None:
        table = numbers
    elif is_frame(X) or is_series(X):
        table = _read_frame(read_frame(X, what), what, allow_missing)
    else:
        table = NumberTable(_read_array(X, what, allow_missing), None)
    values, (n_rows, n_columns) = table.values, table.values.shape
    if n_rows == 0 or n_columns == 0:
        raise InputError(f"{what} is empty: it has {n_rows} rows and {n_columns} columns.")
    if n_rows >= 2**32 - 1:
        raise InputError(f"{what} has {n_rows} rows; at most 4,294,967,294 can be counted.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        some = values[:: max(1, n_rows // LOOKED_AT)]
        if int(some.max()) > EXACT or int(some.min()) < -EXACT:
            return _keep_exact(table, what)
    return table


def _keep_exact(table: NumberTable, what: str) -> NumberTable:
    """Declare columns nominal whose whole numbers would be merged by floating point."""
    merged = [column for column in range(table.shape[1]) if merged_as_floats(table.column(column))]
    for column in merged:
        _note_exact(table.name(column), table.key(column), what)
    return replace(table, nominal=table.nominal | frozenset(merged))


def merged_as_floats(values: NDArray[Any]) -> bool:
    """Tell whether different whole numbers beyond 2**53 are equal in floating point.

    >>> merged_as_floats(np.array([2**53, 2**53 + 1])), merged_as_floats(np.array([2**53, 2**53 + 2]))
    (True, False)
    """
    if not len(values) or values.dtype.itemsize < 8 or (int(values.max()) <= EXACT and int(values.min()) >= -EXACT):
        return False
    distinct = np.unique(values)
    return len(np.unique(distinct.astype(np.float64))) < len(distinct)


def _note_exact(name: str, column: object, what: str) -> None:
    if what != "X":  # the reader of the targets says so
        return
    warn(
        f"X, {name} has whole numbers beyond 2**53 that floating point would merge: each is a level. Exclude the column if "
        "they name something; if they are measurements, divide them or subtract the smallest first.",
        ColumnWarning,
        column=column,
    )


# Arrays and sparse matrices.


def _read_array(X: TargetsLike, what: str, allow_missing: bool) -> NDArray[Any]:
    array = X if type(X) is np.ndarray else read_values(unmask(X) if allow_missing else X, what)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise InputError(f"{what} must have two dimensions, rows and columns; it has {array.ndim}.")
    return _numeric(array, what)


def read_values(X: TargetsLike, what: str) -> NDArray[Any]:
    """Read a table of anything as an array of any type and shape; masked values are refused."""
    if type(X) is np.ndarray:
        return X
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        raise InputError(f"{what} has masked values; fill them ({what}.filled(...)) or drop their rows.")
    if is_frame(X) or is_series(X):
        X = without_wide_integers(read_frame(X, what)).to_native()
    try:
        return np.asarray(X)
    except ValueError as error:
        ragged = "inhomogeneous" in str(error)
        raise InputError(f"{what} is not a table: {f'its rows differ in length. {LABEL_SETS}' if ragged else error}") from None


def unmask(X: T) -> T | NDArray[Any]:
    """Return a masked array as numbers with NaN for masked cells, and anything else as it is."""
    if type(X) is np.ndarray or not np.ma.isMaskedArray(X):
        return X
    if not np.ma.is_masked(X):
        return np.asarray(X)
    cells = np.ma.asarray(X)
    values: NDArray[Any] = np.ma.filled(cells.astype(np.float64 if cells.dtype.kind in "biuf" else object), np.nan)
    return values


def _numeric(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Reject what is not numbers, and bring odd number types to one that the core reads."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "mM":
        _note_dates("the array holds dates or durations", what)
        return seconds(array)
    if kind not in "biuf":
        if kind == "O" and any(isinstance(value, set | frozenset | list | tuple) for value in array.flat):
            raise InputError(f"{what} is not a table: it holds sets or lists. {LABEL_SETS}")
        raise not_numbers(what, {"O": "objects", "U": "text", "S": "bytes"}.get(kind, f"values of type {array.dtype}"))
    if (kind == "f" and size not in (4, 8)) or not array.dtype.isnative:
        return array.astype(np.float64 if kind == "f" else array.dtype.newbyteorder("="))
    if not array.flags.aligned or (not array.flags.forc and any(stride % size for stride in array.strides)):
        return array.copy(order="F")  # a field of records: the core counts strides in whole numbers
    return array


def not_numbers(what: str, found: str) -> InputError:
    """Return the error for an array of something else than numbers."""
    return InputError(
        f"{what} is an array that holds {found} instead of numbers; pass a pandas or polars DataFrame in which every column "
        f"has its own type, for example pandas.DataFrame({what}).convert_dtypes(); it keeps text and categories apart."
    )


def too_large(values: object, what: str) -> InputError:
    """Return the error for the first number of a table or column of objects that floating point cannot hold.

    >>> print(too_large([[1, 2], [3, 10**400]], "X"))
    X, row 1, column 1: this number is larger than 1.8e308, which floating point cannot hold; scale the column, take its ...
    """
    place = what
    for (row, *column), value in np.ndenumerate(np.asarray(values, dtype=object)):
        try:
            float(value)
        except OverflowError:
            place = ", ".join([what, f"row {row}", *(f"column {j}" for j in column)])
            break
        except (TypeError, ValueError):
            continue
    return InputError(
        f"{place}: this number is larger than 1.8e308, which floating point cannot hold; scale the column, take its logarithm, "
        "or make it text."
    )


def is_integer_array(table: object, dimensions: tuple[int, ...]) -> TypeGuard[NDArray[np.integer | np.bool_]]:
    """Tell whether a table is a plain array of integers or booleans that is not empty: it cannot hold NaN or objects."""
    return type(table) is np.ndarray and table.ndim in dimensions and table.dtype.kind in "bui" and table.size > 0


def _canonical(X: SparseMatrix, what: str) -> CompressedMatrix:
    """Read a sparse matrix as CSC, every cell once and in order."""
    if X.ndim != 2:
        raise InputError(f"{what} must have two dimensions, rows and columns; it has {X.ndim}.")
    check_sparse(X, what)
    columns = without_duplicates(X.tocsc())
    data = _numeric(columns.data, what)
    # A separate matrix around the same memory: the caller's is not modified.
    canonical: CompressedMatrix = sp.csc_array((data, columns.indices, columns.indptr), shape=columns.shape)
    canonical.has_canonical_format = True
    return canonical


def without_duplicates(matrix: CompressedMatrix) -> CompressedMatrix:
    """Return a compressed sparse matrix that stores every cell once and in order; the one given stays as it was."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


# Frames.


def is_frame(X: object) -> "TypeIs[Frame]":
    """Tell whether ``X`` is a data frame of pandas, polars or another library that narwhals reads."""
    if isinstance(X, np.ndarray | list | tuple) or is_sparse(X):  # narwhals would ask a dozen libraries
        return False
    return bool(nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_into_dataframe(X))


def is_series(X: object) -> TypeGuard[Any]:
    """Tell whether ``X`` is a series of pandas, polars or another library that narwhals reads."""
    return not (isinstance(X, np.ndarray | list | tuple) or is_sparse(X)) and bool(nw.dependencies.is_into_series(X))


def read_frame(X: TableLike, what: str = "X") -> Any:
    """Wrap a frame or a series for narwhals; names that occur twice are refused."""
    unique_names(X, what)
    try:
        return nw.from_native(X, eager_only=True, allow_series=True)
    except (nw.exceptions.NarwhalsError, TypeError) as error:
        raise InputError(f"{what} is a frame that cannot be read: {' '.join(str(error).split())}") from None


def frame_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame as text; None for anything else."""
    columns: Any = getattr(X, "columns", None)
    # Arrow has the names in ``column_names``, and the columns themselves in ``columns``.
    if not nw.dependencies.is_pandas_dataframe(X):
        columns = getattr(X, "column_names", columns)
    if columns is None or len(np.shape(X)) != 2:
        return None
    return tuple(map(str, columns.tolist() if hasattr(columns, "tolist") else columns))


def unique_names(X: Any, what: str = "X") -> tuple[str, ...] | None:
    """Return the names of the columns of a frame as :func:`frame_names` does; names that occur twice are refused."""
    names = frame_names(X)
    if names is not None and len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        first, second = [position for position, other in enumerate(names) if other == name][:2]
        raise InputError(f"{what}: columns {first} and {second} are both named {name!r}; rename one of them.")
    return names


def _pandas_numbers(X: object, what: str) -> NumberTable | None:
    """Read a frame of pandas whose columns have one type of numpy; None for any other table.

    Without narwhals, because wrapping such a frame takes as long as the selection from a small one.
    """
    if not nw.dependencies.is_pandas_dataframe(X):
        return None
    types = set(X.dtypes.tolist())
    dtype = types.pop() if len(types) == 1 else None
    if not isinstance(dtype, np.dtype) or not (dtype.isnative and (dtype.kind in "iub" or dtype in (np.float32, np.float64))):
        return None
    names = unique_names(X, what)
    nominal = frozenset(range(X.shape[1])) if dtype.kind == "b" else frozenset[int]()
    return NumberTable(_numeric(X.to_numpy(), what), names, nominal=nominal)


def _read_frame(frame: nw.DataFrame[Any] | nw.Series[Any], what: str, allow_missing: bool) -> NumberTable:
    """Read a frame: at once if all columns have the same plain type, otherwise each column by its type."""
    if isinstance(frame, nw.Series):
        frame = frame.to_frame()
    names = tuple(str(name) for name in frame.columns)
    first = next((column.dtype for column in frame.iter_columns()), None)
    if (first in _PLAIN or first == nw.Boolean) and len(set(frame.schema.values())) == 1:
        array = frame.to_numpy()
        if array.dtype.kind in "biuf":
            nominal = frozenset(range(len(names))) if first == nw.Boolean else frozenset()
            return NumberTable(_numeric(array, what), names, nominal=nominal)
    columns = [
        read_column(frame.get_column(name), what) if text is None else text  # frame[0] would be a row
        for name, text in zip(frame.columns, read_levels(frame), strict=True)
    ]
    for position, column in enumerate(columns):
        if column.levels is not None and len(column.levels):
            columns[position] = _dates_of_text(column, frame, position, what)
    for name, column in zip(names, columns, strict=True):
        if column.missing is not None and not allow_missing:
            raise InputError(
                f"{what}: column {name!r} has {column.missing.sum()} missing values, the first in row "
                f"{int(np.argmax(column.missing))}; fill or drop them."
            )
    if not columns:
        return NumberTable(np.empty((len(frame), 0)), names)
    table = np.empty((len(frame), len(columns)), dtype=np.result_type(*{column.values.dtype for column in columns}), order="F")
    for position, column in enumerate(columns):
        table[:, position] = column.values
    text = {position: column.levels for position, column in enumerate(columns) if column.levels is not None}
    if what == "X":
        warn_of_number_texts(frame, text, what)
    nominal = frozenset(position for position, column in enumerate(columns) if column.nominal)
    return NumberTable(_numeric(table, what), names, text, nominal)


def _dates_of_text(column: FrameColumn, frame: nw.DataFrame[Any], position: int, what: str) -> FrameColumn:
    """Return a column of text that is all dates or times as seconds, and any other as it is; categories are taken as meant."""
    assert column.levels is not None
    name, text = str(frame.columns[position]), str(column.levels[-1])
    dates = date_column(column)
    if dates is None:
        if are_undecided_dates([str(level) for level in column.levels]) and frame[:, position].dtype == nw.String:
            warn(
                f"{what}: dates in column {name!r}, such as {text!r}, stay text, because no day above 12 shows whether the day "
                "or the month comes first, and every text is a level. Convert them (pandas.to_datetime(..., dayfirst=True)).",
                DateColumnWarning,
                column=name,
            )
        return column
    if frame[:, position].dtype != nw.String:
        return column
    _note_dates(f"text in column {name!r}, such as {text!r}, is dates or times", what, name)
    return dates


def without_wide_integers(frame: Wide) -> Wide:
    """Convert integers of 128 bits, which numpy does not have; everything else in the frame or series stays as it is."""
    if isinstance(frame, nw.Series):
        return _narrowed(frame) if frame.dtype in _WIDE else frame
    types = frame.to_native().schema if frame.implementation.is_polars() else {}
    wide = [name for name, dtype in types.items() if dtype.base_type().__name__ in ("Int128", "UInt128")]
    return frame.with_columns(*(_narrowed(frame[name]) for name in wide)) if wide else frame


def _narrowed(series: nw.Series[Any]) -> nw.Series[Any]:
    """Convert integers to 64 bits if all values fit, else to floating point."""
    low, high = (int(value) if value is not None else 0 for value in (series.min(), series.max()))
    return series.cast(nw.Int64 if low >= -(2**63) and high < 2**63 else nw.Float64)


def read_column(series: nw.Series[Any], what: str) -> FrameColumn:
    """Read a column of a frame as numbers, by its type: text, booleans, numbers, dates, or objects of one of these kinds."""
    dtype = series.dtype
    if dtype in _NOMINAL:
        return level_ranks(series)
    if dtype in _WIDE:
        narrowed = _narrowed(series)
        if narrowed.dtype == nw.Float64 and narrowed.n_unique() < series.n_unique():
            _note_exact(f"column {series.name!r}", series.name, what)
            return level_ranks(series)
        series, dtype = narrowed, narrowed.dtype
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    present = series.filter(~series.is_null()) if missing.any() else series
    nominal = dtype == nw.Boolean
    known: NDArray[Any]
    if missing.all():
        known = np.empty(0)
    elif nominal:
        known = np.asarray(present.to_numpy()).astype(np.bool_)
    elif dtype in _TEMPORAL:
        known = _seconds(present, what)
    elif dtype == nw.Object:
        objects = list(present.to_numpy())
        nominal = all(isinstance(value, bool | np.bool_) for value in objects)
        known = np.array(objects, dtype=np.bool_) if nominal else _objects(objects, series.name, what)
    elif dtype.is_numeric():
        known = _numbers(present, what)
    elif hasattr(present.to_native(), "sparse"):  # a sparse column of pandas
        known = np.asarray(present.to_native().sparse.to_dense())
    else:
        raise _unreadable(series, what)
    if known.dtype.kind in "iu" and merged_as_floats(known):
        _note_exact(f"column {series.name!r}", series.name, what)
        levels, ranks = np.unique(known, return_inverse=True)
        values = np.full(len(missing), np.nan)
        values[~missing] = ranks
        return FrameColumn(values, missing if missing.any() else None, True, np.array(list(map(str, levels)), dtype=object))
    if not missing.any():
        return FrameColumn(known, None, nominal)
    values = np.full(len(missing), np.nan)
    values[~missing] = known
    return FrameColumn(values, missing, nominal)


def _numbers(present: nw.Series[Any], what: str) -> NDArray[Any]:
    try:
        values: NDArray[Any] = np.asarray(present.to_numpy())
        return values if values.dtype.kind in "biuf" else values.astype(np.float64)
    except Exception:  # types that numpy does not have, such as integers of 128 bits: each library has its own error
        try:
            return np.asarray(present.cast(nw.Float64).to_numpy())
        except MemoryError:
            raise
        except Exception as error:
            raise _unreadable(present, what) from error


def _objects(present: list[Any], name: str, what: str) -> NDArray[np.float64]:
    """Read objects of Python that are all numbers, all times or all dates."""
    if all(isinstance(value, time) for value in present):
        _note_dates(f"column {name!r} holds times", what, name)
        return _of_day(present)
    if all(isinstance(value, date | timedelta | np.datetime64 | np.timedelta64) for value in present):
        _note_dates(f"column {name!r} holds dates", what, name)
        return seconds(np.array([_plain_time(value) for value in present]))
    try:
        if any(isinstance(value, str | bytes) for value in present):
            raise TypeError
        return np.array(present, dtype=np.float64)
    except OverflowError:
        raise too_large(present, f"{what}, column {name!r}") from None
    except (TypeError, ValueError):
        if any(isinstance(value, set | frozenset | list | tuple | np.ndarray) for value in present):
            raise InputError(f"{what}: column {name!r} holds sets or lists. {LABEL_SETS}") from None
        types = list(dict.fromkeys(type(value).__name__ for value in present))[:3]
        found = f"mixes types, such as {' and '.join(types)}" if len(types) > 1 else f"holds objects of type {types[0]}"
        raise InputError(
            f"{what}: column {name!r} {found}; convert it to text (astype(str)), to a category, or to numbers."
        ) from None


def _seconds(present: nw.Series[Any], what: str) -> NDArray[np.float64]:
    """Convert dates to seconds since 1970 in UTC, durations and times of day to seconds."""
    _note_dates(f"column {present.name!r} holds {present.dtype}", what, present.name)
    try:
        if present.dtype == nw.Time:
            return _of_day(present.to_list())
        if present.dtype == nw.Duration:
            units = present.dt.total_microseconds()
        else:
            units = (present.cast(nw.Datetime) if present.dtype == nw.Date else present).dt.timestamp("us")
        values = np.asarray(units.to_numpy(), dtype=np.float64) / 1e6
    except MemoryError:
        raise
    except Exception as error:  # of a date outside the range of its library: each has its own error
        raise _unreadable(present, what) from error
    return values


def seconds(times: NDArray[Any]) -> NDArray[np.float64]:
    """Convert dates and durations of numpy to seconds, since 1970 for dates; NaN for NaT.

    >>> seconds(np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"))
    array([86400.,    nan])
    """
    unit = times.dtype.kind + "8[us]"
    values = times.astype(unit).astype(np.int64) / 1e6
    return np.where(np.isnat(times), np.nan, values)


def _of_day(times: list[time]) -> NDArray[np.float64]:
    """Convert times of day to seconds."""
    return np.array([t.hour * 3600 + t.minute * 60 + t.second + t.microsecond / 1e6 for t in times])


def _plain_time(value: Any) -> np.datetime64 | np.timedelta64:
    """Convert a date, time or duration of any library to one of numpy, in UTC."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return np.datetime64(round(value.timestamp() * 1e6), "us")
    return np.timedelta64(value) if isinstance(value, timedelta) else np.datetime64(value).astype("datetime64[us]")


def _note_dates(found: str, what: str, column: object = None) -> None:
    warn(
        f"{what}: {found}: counted as numbers, in seconds. Derive columns such as the weekday if these are what matters.",
        DateColumnWarning,
        column=column,
    )


def _unreadable(series: nw.Series[Any], what: str) -> InputError:
    if series.dtype in (nw.List, nw.Array):
        return InputError(f"{what}: column {series.name!r} holds lists. {LABEL_SETS}")
    native: Any = series.to_native()
    kind = series.dtype if series.dtype != nw.Unknown else getattr(native, "dtype", getattr(native, "type", "values"))
    return InputError(
        f"{what}: column {series.name!r} holds {kind}, which is not numbers, text, categories or dates; "
        "convert it or leave it out."
    )
