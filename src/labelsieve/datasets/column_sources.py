"""Sources of columns for a :class:`~labelsieve.datasets.ChunkedTable`: objects that read some columns of a table at a time.

:class:`ArrowColumns` reads a dataset of pyarrow, which Parquet files are, :class:`SparseColumns` sparse columns in temporary
files, :class:`DaskColumns` lets Dask compute columns, and :class:`SparkColumns` lets Spark.
"""

import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.counting.backends.spark import spark_errors
from labelsieve.datasets.dataset import with_names
from labelsieve.datasets.readers.labels import find_label_sets, targets
from labelsieve.datasets.readers.parquet import tabulate
from labelsieve.errors import ClusterError, DatasetError, InputError, require_same_rows
from labelsieve.fingerprint import array_print, content_print, file_print, text_print
from labelsieve.tables.frames import is_frame, too_large, unmask

CELL_BYTES = 56  # of a cell of the columns that are read and binned together: as it is stored, as a number, and sorted
MOST_COLUMNS = 4096  # of sparse columns that are binned together
Names = tuple[Sequence[str] | None, Sequence[str] | None]
Rows = NDArray[np.bool_] | None


class ColumnSource(ABC):
    """Base class of what reads features and labels of a table, some columns at a time.

    ``origin`` is a hash of what the features depend on, their files or their values; None if it is not known. ``backend`` is
    the name of the backend that counts the rows by default.
    """

    n_rows: int
    n_features: int
    n_labels: int
    names: Names  # of the features and of the labels
    longest: int  # stored cells of the column that has the most
    is_sparse: ClassVar[bool] = False
    weights: NDArray[np.float64] | None = None

    @property
    def origin(self) -> str | None:
        return None

    @property
    def backend(self) -> str:
        return "chunked"

    @abstractmethod
    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        """Read some features of the rows where ``rows`` is true: a frame, an array or a sparse matrix."""

    @abstractmethod
    def label(self, column: int, rows: Rows) -> Any:
        """Read one label of the rows where ``rows`` is true."""

    def sparse_labels(self, rows: Rows) -> Any:
        """Return all labels if they are a sparse matrix, else None."""
        return None

    @abstractmethod
    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        """Split the features into groups that are read and binned together within ``limit`` bytes."""


class TableColumns(ColumnSource):
    """Base class of sources that read columns as tables of pyarrow.

    ``names`` are other names of features and labels than those of the stored columns, or None for columns without names.
    """

    def __init__(self, features: Sequence[str], labels: Sequence[str], n_rows: int, names: Names | None = None) -> None:
        self._features, self._labels = tuple(features), tuple(labels)
        self.n_features, self.n_labels, self.n_rows, self.longest = len(features), len(labels), n_rows, n_rows
        self.names = (self._features, self._labels) if names is None else names

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        table = self._read([self._features[j] for j in columns], rows)
        if self.names[0] is None:
            return np.column_stack([column.to_numpy() for column in table.columns])
        return table.rename_columns([self.names[0][j] for j in columns])

    def label(self, column: int, rows: Rows) -> Any:
        table = self._read([self._labels[column]], rows)
        return table.column(0).to_numpy() if self.names[1] is None else table.rename_columns([self.names[1][column]])

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        size = max(1, limit // (CELL_BYTES * self.n_rows))
        return [list(columns[start : start + size]) for start in range(0, len(columns), size)]

    @abstractmethod
    def _read(self, names: list[str], rows: Rows) -> Any:
        """Read columns as a table of pyarrow."""


class ArrowColumns(TableColumns):
    """Source of the columns of a pyarrow dataset.

    Where ``file`` is given, its columns are read by the rules of :func:`labelsieve.datasets.load`. ``folder`` has the files of
    the dataset if they are temporary, and is removed with the source. ``categories`` are the columns that were categories
    before they were stored as their values.
    """

    def __init__(
        self,
        dataset: Any,
        features: Sequence[str],
        labels: Sequence[str],
        *,
        names: Names | None = None,
        file: Path | None = None,
        folder: "TemporaryFolder | None" = None,
        categories: Collection[str] = (),
    ) -> None:
        super().__init__(features, labels, int(dataset.count_rows()), names)
        self._dataset, self._file, self._folder, self._categories = dataset, file, folder, categories

    @property
    def origin(self) -> str | None:
        """A hash of paths, sizes and times of files that last, or of the contents of temporary ones."""
        if not isinstance(self._dataset, needs("pyarrow.dataset").FileSystemDataset):
            return None
        files = self._dataset.files
        return file_print(*files) if self._folder is None else text_print(*map(content_print, files))

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        stored = [self._features[j] for j in columns]
        numbers = self._read_numbers(stored, rows)
        if numbers is not None:
            names = self.names[0]
            return numbers if names is None else with_names(numbers, [names[j] for j in columns], {}, copy=False)
        if self._file is None:
            return super().features(columns, rows)
        parsed = tabulate(self._read(stored, rows), self._file)
        values = {column.name: column.values for column in parsed.columns if column.values is not None}
        return with_names(parsed.cells, parsed.names, values)

    def label(self, column: int, rows: Rows) -> Any:
        if self._file is None:
            return super().label(column, rows)
        parsed = tabulate(self._read([self._labels[column]], rows), self._file)
        if len(self._labels) == 1 and find_label_sets(parsed.columns, parsed.cells, None, self._file):
            problem = f"column {parsed.names[0]!r} holds sets of labels, which are not read by columns."
            raise DatasetError(problem, "Store each label as a column of 0 and 1, or load the file.", self._file)
        values = targets(parsed.cells, parsed.columns, self._file)
        classes = {one.name: one.values for one in parsed.columns if one.values is not None and values.dtype != np.uint8}
        return with_names(values, parsed.names, classes)

    def _read(self, names: list[str], rows: Rows) -> Any:
        table = self._dataset.to_table(columns=names)
        for position, name in enumerate(names):
            if name in self._categories:
                table = table.set_column(position, name, table.column(position).dictionary_encode())
        return table if rows is None else table.filter(rows)

    def _read_numbers(self, names: list[str], rows: Rows) -> NDArray[np.float64] | None:
        """Read columns of numbers as an array, which is filled batch by batch; None if some hold anything else.

        Every array of the size of a column costs more than reading it: the system clears its memory, page by page.
        """
        fields = [self._dataset.schema.field(name) for name in names]
        # Categories that were stored as their values must not be read as numbers.
        if not all(self._is_number(field.type) and field.name not in self._categories for field in fields):
            return None
        n_rows = self.n_rows if rows is None else int(np.count_nonzero(rows))
        numbers = np.empty((n_rows, len(names)), order="F")
        start, top = 0, 0
        for batch in self._dataset.to_batches(columns=names):
            taken = None if rows is None else rows[start : start + len(batch)]
            n_taken = len(batch) if taken is None else int(np.count_nonzero(taken))
            for position, column in enumerate(batch.columns):
                values = column.to_numpy(zero_copy_only=False)
                numbers[top : top + n_taken, position] = values if taken is None else values[taken]
            start, top = start + len(batch), top + n_taken
        return numbers

    def _is_number(self, kind: object) -> bool:
        # Whole numbers of frames may be classes, which the rules of frames decide; those of files are numbers.
        whole = ("int8", "int16", "int32", "int64") if self._file is not None else ()
        return str(kind) in ("float", "double") or str(kind).lstrip("u") in whole


class SparseColumns(ColumnSource):
    """Source of sparse features that are stored in mapped files, column after column, and of labels in memory.

    The cells of column j are ``values[starts[j] : starts[j + 1]]``, in the same ``rows``.
    """

    is_sparse: ClassVar[bool] = True

    def __init__(
        self, n_rows: int, starts: NDArray[np.int64], rows: NDArray[Any], values: NDArray[Any], Y: Any, names: Names
    ) -> None:
        self._starts, self._rows, self._values, self.names = starts, rows, values, names
        self._Y: Any = sparse.csc_array(Y) if sparse.issparse(Y) else np.asarray(Y).reshape(len(Y), -1)
        self._sizes = np.diff(starts)
        self.n_rows, self.n_features, self.n_labels = n_rows, len(starts) - 1, self._Y.shape[1]
        self.longest = int(self._sizes.max(initial=1))
        require_same_rows(self.n_rows, self._Y.shape[0])

    @property
    def origin(self) -> str | None:
        """A hash of the cells, whatever the names and times of files that they come from."""
        return self._content

    @cached_property
    def _content(self) -> str:
        return array_print(np.array([self.n_rows, self.n_features]), self._starts, self._rows, self._values)

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        cells = [slice(self._starts[j], self._starts[j + 1]) for j in columns]
        in_rows = np.concatenate([np.empty(0, np.int64), *(self._rows[of_column] for of_column in cells)])
        values = np.concatenate([np.empty(0), *(self._values[of_column] for of_column in cells)])
        ends = np.concatenate([[0], np.cumsum(self._sizes[list(columns)])])
        table = sparse.csc_array((values, in_rows, ends), shape=(self.n_rows, len(columns)))
        return table if rows is None else table[np.flatnonzero(rows)]

    def label(self, column: int, rows: Rows) -> Any:
        values = self._Y[:, [column]].toarray()[:, 0] if sparse.issparse(self._Y) else self._Y[:, column]
        return values if rows is None else values[rows]

    def sparse_labels(self, rows: Rows) -> Any:
        if not sparse.issparse(self._Y):
            return None
        return self._Y if rows is None else self._Y[np.flatnonzero(rows)]

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        groups: list[list[int]] = []
        used = 0
        for column in columns:
            needed = CELL_BYTES * int(self._sizes[column])
            if not groups or used + needed > limit or len(groups[-1]) == MOST_COLUMNS:
                groups.append([])
                used = 0
            groups[-1].append(column)
            used += needed
        return groups


class DaskColumns(TableColumns):
    """Source of columns that Dask computes when they are read; labels may be in memory."""

    def __init__(self, X: Any, Y: Any, n_rows: int) -> None:
        n_features, n_labels = X.shape[1], 1 if Y.ndim == 1 else Y.shape[1]
        features, labels = [f"x{j}" for j in range(n_features)], [f"y{j}" for j in range(n_labels)]
        super().__init__(features, labels, n_rows, (_dask_names(X, "X"), _dask_names(Y, "Y")))
        self._X, self._Y = X, sparse.csc_array(Y) if sparse.issparse(Y) else Y
        self._orders: dict[str, tuple[str, int]] = {}

    @classmethod
    def of(cls, X: Any, Y: Any) -> Self:
        """Make a source of features ``X``, of Dask, and labels ``Y`` with the same rows."""
        if not is_dask(X) or X.ndim != 2:
            raise InputError(f"X must be an array of Dask with two dimensions or a frame of Dask, not {type(X).__name__}.")
        if Y is None:
            raise InputError("Labels are needed: fit(X, Y).")
        Y = Y if is_dask(Y) or hasattr(Y, "ndim") else np.asarray(Y)
        n_rows = _count_rows(X)
        require_same_rows(n_rows, _count_rows(Y))
        return cls(X, Y, n_rows)

    @property
    def backend(self) -> str:
        """That of Dask when it has a client."""
        try:
            return "dask" if import_module("distributed").default_client() is not None else "chunked"
        except (ImportError, ValueError):
            return "chunked"

    def sparse_labels(self, rows: Rows) -> Any:
        if not sparse.issparse(self._Y):
            return None
        return self._Y if rows is None else self._Y[np.flatnonzero(rows)]

    def _read(self, names: list[str], rows: Rows) -> Any:
        letter, places = names[0][0], [int(name[1:]) for name in names]
        table = self._X if letter == "x" else self._Y
        if table.ndim == 2:
            table = table[[table.columns[j] for j in places]] if hasattr(table, "columns") else table[:, places]
        computed = table
        if is_dask(table):
            try:
                computed = table.compute()
            except (CancelledError, OSError) as error:
                if not type(error).__module__.startswith("distributed"):
                    raise
                lost = "The connection to the Dask scheduler was lost while columns were computed."
                raise ClusterError(f"{lost} Start it again and repeat the fit.") from error
            if hasattr(computed, "index"):
                self._require_order(letter, computed.index)
        found = to_arrow(computed, letter.upper())[0]
        read = needs("pyarrow").table(dict(zip(names, found.columns, strict=True)))
        if len(read) != self.n_rows:
            raise InputError(
                f"{letter.upper()} had {self.n_rows} rows when they were counted, and {len(read)} when columns were computed; "
                "call persist() first, so that it is computed once."
            )
        return read if rows is None else read.filter(needs("pyarrow").array(rows))

    def _require_order(self, letter: str, index: Any) -> None:
        """Refuse rows that come in another order than before: every group of columns is computed separately.

        A frame after a shuffle or a merge may do that. An index with repeated values, as after ``reset_index``, tells nothing.
        """
        hashes = import_module("pandas").util.hash_pandas_object(index).to_numpy()
        order = array_print(hashes), int(hashes.sum())
        for other, known in self._orders.items():
            if order[1] == known[1] and order[0] != known[0] and index.is_unique:
                place = "X and Y have the same index, but" if other != letter else f"{letter.upper()} was computed twice, and"
                raise InputError(
                    f"{place} their rows are in a different order, as after a shuffle or a merge; call persist() on the frame "
                    "before you take X and Y from it."
                )
        self._orders.setdefault(letter, order)


def is_dask(value: object) -> bool:
    """True for an array, frame or series of Dask."""
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(value, "__dask_graph__")


def _count_rows(table: Any) -> int:
    """Return the number of rows; frames, and arrays with chunks of unknown sizes, are computed to count them."""
    if not is_dask(table):
        return len(table) if not hasattr(table, "shape") else int(table.shape[0])
    if hasattr(table, "npartitions") and hasattr(table, "map_partitions"):
        return len(table)
    return int(table.shape[0] if np.isfinite(table.shape[0]) else len(table.compute_chunk_sizes()))


def _dask_names(table: object, what: str) -> tuple[str, ...] | None:
    columns = getattr(table, "columns", None)
    if columns is not None:
        names = tuple(map(str, columns))
        if len(set(names)) < len(names):
            repeated = next(name for at, name in enumerate(names) if name in names[:at])
            raise InputError(f"{what} has several columns named {repeated!r}; give every column a name of its own.")
        return names
    name = getattr(table, "name", None) if hasattr(table, "map_partitions") or not is_dask(table) else None
    return None if name is None else (str(name),)


def needs(package: str) -> Any:
    """Import a module of pyarrow, or say how to install it."""
    if find_spec("pyarrow") is None:
        raise InputError("Tables in chunks need pyarrow: pip install 'labelsieve[tables]'")
    return import_module(package)


class TemporaryFolder:
    """A folder that is removed when nothing refers to it, or when the process ends."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="labelsieve-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def to_arrow(values: object, what: str) -> tuple[Any, Sequence[str] | None]:
    """Convert rows to a table of pyarrow; also return the names of its columns, None for an array.

    The index of a pandas frame is left out, since it is no feature. ``what`` is the name of the rows in messages.
    """
    pyarrow = needs("pyarrow")
    if sparse.issparse(values):
        raise InputError(f"{what} is sparse, and the first rows of X are dense; make all rows sparse, or none.")
    if isinstance(values, pyarrow.Table) or is_frame(values):
        table: Any = values
        if not isinstance(values, pyarrow.Table):
            table = nw.maybe_reset_index(nw.from_native(values, eager_only=True)).to_arrow()
        return table, tuple(table.column_names)
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        return pyarrow.table({"y": series.to_arrow()}), (str(series.name),) if series.name else None
    array = np.asarray(unmask(values))
    array = array.reshape(len(array), -1) if array.ndim == 1 else array
    if array.ndim != 2 or array.dtype.kind not in "biufOUS":
        raise InputError(f"{what} must be a frame or a table of numbers or text with two dimensions.")
    if not array.dtype.isnative:  # big-endian numbers, as from FITS files
        array = array.astype(array.dtype.newbyteorder("="))
    columns = {}
    for j in range(array.shape[1]):
        try:
            columns[str(j)] = pyarrow.array(array[:, j].copy())
        except (pyarrow.ArrowException, OverflowError):
            columns[str(j)] = pyarrow.array(_object_numbers(array[:, j], f"{what}, column {j}"))
    return pyarrow.table(columns), None


def _object_numbers(values: NDArray[Any], place: str) -> NDArray[np.float64]:
    """Read objects that pyarrow cannot, such as integers of more than 64 bits, as floating point."""
    try:
        return values.astype(np.float64)
    except OverflowError:
        raise too_large(values, place) from None
    except (TypeError, ValueError):
        raise InputError(f"{place}: its values have different types; make all of them numbers, or all of them text.") from None


ROW_HASH, WEIGHT = "row", "weight"
RESULT_BYTES = 2**28  # of columns that are read from Spark together
SPARK_TYPES = (
    "boolean",
    "byte",
    "short",
    "integer",
    "long",
    "float",
    "double",
    "string",
    "char",
    "varchar",
    "date",
    "timestamp",
)


class SparkColumns(TableColumns):
    """Source of columns of a data frame of Spark, which caches it.

    Every reading also takes a hash of each row, so that rows which Spark computed again in another order are noticed.
    """

    def __init__(self, frame: Any, features: Sequence[str], labels: Sequence[str], weight: str | None) -> None:
        functions = import_module("pyspark.sql.functions")
        stored = {f"x{j}": name for j, name in enumerate(features)} | {f"y{j}": name for j, name in enumerate(labels)}
        if weight is not None:
            stored[WEIGHT] = weight
        cells = [_spark_column(frame, name).alias(alias) for alias, name in stored.items()]
        with spark_errors("read the frame"):
            rows = frame.select(*cells)
            self._frame = rows.select(*stored, functions.xxhash64(*stored).alias(ROW_HASH)).persist()
            weakref.finalize(self, _release, self._frame).atexit = False
            n_rows = int(self._frame.count())
        super().__init__([*stored][: len(features)], [f"y{j}" for j in range(len(labels))], n_rows, (features, labels))
        self._order: str | None = None
        self._kept = needs("pyarrow").table({})  # labels that were read together
        if weight is not None:
            self.weights = self._collect([WEIGHT]).column(0).to_numpy().astype(np.float64)

    @classmethod
    def of(cls, frame: Any, labels: Any, weight: Any = None) -> Self:
        """Make a source of a frame whose columns ``labels`` are the targets; ``weight`` has the weights of the rows."""
        if not hasattr(frame, "mapInArrow") or not hasattr(frame, "toArrow"):
            raise InputError(
                f"X must be a data frame of PySpark 4 or newer, not {type(frame).__name__} of {type(frame).__module__}."
            )
        listed = [labels] if isinstance(labels, str) else labels
        if not isinstance(listed, list | tuple | np.ndarray) or not all(isinstance(name, str) for name in listed):
            raise InputError(
                "Rows of two frames of Spark have no common order, so one frame must have features and targets: pass the names "
                "of its columns that are targets, fit(frame, ['calm', 'loud'])."
            )
        if weight is not None and not isinstance(weight, str):
            raise InputError(
                "Rows of Spark have no order; make the weights a column of X, and pass its name: sample_weight='weight'."
            )
        columns, listed = list(frame.columns), [str(name) for name in listed]
        used = [*listed, *([] if weight is None else [weight])]
        for name in columns:
            if columns.count(name) > 1:
                raise InputError(f"X has several columns named {name!r}; give every column a name of its own.")
        for name in used:
            if name not in columns:
                raise InputError(f"X has no column named {name!r}; it has {', '.join(map(repr, columns[:20]))}.")
            if used.count(name) > 1:
                raise InputError(f"{name!r} is named twice among the targets and weights.")
        return cls(frame, [name for name in columns if name not in used], listed, weight)

    @property
    def backend(self) -> str:
        """Name of the counting backend: Spark counts its own data frames."""
        return "spark"

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        """Split as others, but Spark's default limit of 1 GB for a result must not be reached either."""
        return super().groups(columns, min(limit, CELL_BYTES // 8 * RESULT_BYTES))

    def _read(self, names: list[str], rows: Rows) -> Any:
        if names[0] in self._labels and names[0] not in self._kept.column_names:
            # A job for each label would take longer than reading: those that fit are read together.
            step, first = max(1, RESULT_BYTES // (8 * self.n_rows)), int(names[0][1:])
            self._kept = self._collect(list(self._labels[first : first + step]))
        table = self._kept.select(names) if names[0] in self._labels else self._collect(names)
        return table if rows is None else table.filter(needs("pyarrow").array(rows))

    def _collect(self, names: list[str]) -> Any:
        with spark_errors("read columns of the frame"):
            table = self._frame.select(*names, ROW_HASH).toArrow()
        order = array_print(table.column(ROW_HASH).to_numpy())
        if self._order not in (None, order):
            raise InputError(
                "The rows of the frame changed, or came in another order, when Spark computed them again; write it to a table "
                "or call checkpoint() on it first."
            )
        self._order = order
        return table.select(names)


def _spark_column(frame: Any, name: str) -> Any:
    """Return a column of a frame of Spark; decimal numbers become floating point, and nested columns are refused."""
    kind = frame.schema[name].dataType.typeName()
    column = frame["`" + name.replace("`", "``") + "`"]
    if kind == "decimal":
        return column.cast("double")
    if kind.removesuffix("_ntz") not in SPARK_TYPES:
        raise InputError(
            f"Column {name!r} of X is of type {frame.schema[name].dataType.simpleString()}, which is neither numbers nor text; "
            "leave it out, or make a column of each of its elements (vectors: pyspark.ml.functions.vector_to_array)."
        )
    return column


def _release(frame: Any) -> None:
    with suppress(Exception):  # whatever a session that has ended raises
        frame.unpersist()
