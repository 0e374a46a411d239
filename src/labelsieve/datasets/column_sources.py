"""Sources of columns for a ChunkedTable: arrays in chunks, Parquet, text, sparse files and Dask collections."""

import os
import re
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from labelsieve.counting.backends.chunked.codes_file import OpenFile
from labelsieve.datasets.dataset import with_names
from labelsieve.datasets.readers.arff import Header, read_header, read_rows
from labelsieve.datasets.readers.column_table import Column, Table
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, decode, read_pieces, whole_lines
from labelsieve.datasets.readers.labels import Labels, find_label_sets, label_names, targets
from labelsieve.datasets.readers.libsvm import LibsvmRows
from labelsieve.datasets.readers.parquet import read_metadata, tabulate
from labelsieve.datasets.readers.text_columns import MISSING, TextCells, text_column
from labelsieve.errors import DatasetError, InputError, require_same_rows
from labelsieve.fingerprint import array_print, content_print, file_print, text_print
from labelsieve.tables.frames import is_frame, unmask

CSV_BLOCK = 2**20  # of the file, by which the types of the columns are found


def needs(package: str) -> Any:
    """A module of pyarrow."""
    if find_spec("pyarrow") is None:
        raise InputError("Tables in chunks need pyarrow: pip install 'labelsieve[tables]'")
    return import_module(package)


class TemporaryFolder:
    """A folder that is removed when nothing refers to it, or when the process ends."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="labelsieve-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


class ChunkFiles:
    """A file for every chunk, in a folder that is removed when nothing refers to it."""

    def __init__(self) -> None:
        self._arrow, self._parquet = needs("pyarrow"), needs("pyarrow.parquet")
        self.folder = TemporaryFolder()
        self._schemas: list[Any] = []
        self._files: list[str] = []

    def add(self, table: Any) -> None:
        """Store a table of pyarrow."""
        if table.num_rows == 0:
            return
        path = Path(self.folder.name, f"{len(self._files):06d}.parquet")
        plain = plain_table(table)
        self._parquet.write_table(plain, path, compression="zstd")
        self._schemas.append(plain.schema)
        self._files.append(os.fspath(path))

    def add_pair(self, X: Any, Y: Any) -> None:
        """Store features as columns x0, x1, ... and labels as y0, y1, ..."""
        columns = {f"x{j}": column for j, column in enumerate(X.columns)}
        self.add(self._arrow.table({**columns, **{f"y{j}": column for j, column in enumerate(Y.columns)}}))

    def dataset(self) -> Any:
        """All chunks as a dataset of pyarrow, with column types that hold the values of every chunk."""
        if not self._files:
            raise InputError("There are no rows.")
        try:
            schema = self._arrow.unify_schemas(self._schemas, promote_options="permissive")
        except self._arrow.ArrowException as error:
            raise InputError(f"The columns of the chunks have different types ({error}); give every column one type.") from None
        return needs("pyarrow.dataset").dataset(self._files, schema=schema, format="parquet")


def pyarrow_dataset(path: Any) -> Any:
    """The dataset of a Parquet file, of a folder, or of several files."""
    paths = [os.fspath(path)] if isinstance(path, str | os.PathLike) else list(map(os.fspath, path))
    for one in paths:
        if not os.path.exists(one):
            raise DatasetError("there is no such file.", "Is the path right?", one)
    try:
        return needs("pyarrow.dataset").dataset(paths[0] if len(paths) == 1 else paths, format="parquet")
    except (OSError, ValueError) as error:
        raise DatasetError(f"it cannot be read as Parquet ({error}).", "Fetch the file again.", paths[0]) from error


def dataset_of(stream: Any) -> tuple[Any, Any]:
    """A dataset of pyarrow as it is, or a stream of record batches stored in a folder; and that folder."""
    if isinstance(stream, needs("pyarrow.dataset").Dataset):
        return stream, None
    pyarrow = needs("pyarrow")
    if not isinstance(stream, pyarrow.RecordBatchReader):
        if not hasattr(stream, "__arrow_c_stream__"):
            raise InputError(f"{type(stream).__name__} is neither a dataset of pyarrow nor a stream of record batches.")
        stream = pyarrow.RecordBatchReader.from_stream(stream)
    files = ChunkFiles()
    for batch in stream:
        files.add(pyarrow.Table.from_batches([batch]))
    return files.dataset(), files.folder


def csv_batches(file: Path, delimiter: str) -> Iterator[Any]:
    """Tables of the rows of a CSV file; columns of numbers are doubles, so that a fraction may come late."""
    csv, pyarrow = needs("pyarrow.csv"), needs("pyarrow")
    read, parse = csv.ReadOptions(block_size=CSV_BLOCK), csv.ParseOptions(delimiter=delimiter)
    try:
        with csv.open_csv(file, read_options=read, parse_options=parse) as first:
            numeric = [field.name for field in first.schema if _is_number(pyarrow, field.type)]
        convert = csv.ConvertOptions(column_types=dict.fromkeys(numeric, pyarrow.float64()), null_values=sorted(MISSING))
        with csv.open_csv(file, read_options=read, parse_options=parse, convert_options=convert) as reader:
            for number, batch in enumerate(reader):
                if number == 0 and delimiter != ",":
                    _refuse_decimal_commas(batch, file)
                yield pyarrow.Table.from_batches([batch])
    except (OSError, pyarrow.ArrowException) as error:
        remedy = "If a column is numbers in the first megabyte and text later, load the file, or store it as Parquet."
        raise DatasetError(f"it cannot be read as CSV ({error}).", remedy, file) from error


def _refuse_decimal_commas(batch: Any, file: Path) -> None:
    """Refuse columns of numbers such as 1,5, which :func:`labelsieve.datasets.load` reads."""
    pyarrow = needs("pyarrow")
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pyarrow.types.is_string(column.type):
            texts = TextCells.of(["" if text is None else text for text in column.unique().to_pylist()])
            if text_column(name, texts, decimal_comma=True).kind == "decimal comma":
                remedy = "Load the file, or store it as Parquet or with decimal points."
                raise DatasetError(f"column {name!r} has decimal commas, which are not read by columns.", remedy, file)


def numbered(values: object, what: str, chunk: int) -> tuple[Any, Sequence[str] | None]:
    """A chunk as a table of pyarrow, and the names of its columns, None for an array."""
    pyarrow = needs("pyarrow")
    if sp.issparse(values):
        raise InputError(
            f"Chunk {chunk}: {what} is sparse, and chunk 0 has dense features: make X sparse in all chunks, or {what} dense."
        )
    if isinstance(values, pyarrow.Table) or is_frame(values):
        table = values if isinstance(values, pyarrow.Table) else nw.from_native(values, eager_only=True).to_arrow()
        return table, tuple(table.column_names)
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        return pyarrow.table({"y": series.to_arrow()}), (str(series.name),) if series.name else None
    array = np.asarray(unmask(values))
    array = array.reshape(len(array), -1) if array.ndim == 1 else array
    if array.ndim != 2 or array.dtype.kind not in "biufOUS":
        raise InputError(f"Chunk {chunk}: {what} must be a frame or a table of numbers or text with two dimensions.")
    return pyarrow.table({str(j): pyarrow.array(array[:, j].copy()) for j in range(array.shape[1])}), None


def _is_number(pyarrow: ModuleType, kind: object) -> bool:
    return bool(pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_null(kind))


def plain_table(table: Any) -> Any:
    """Categories as their values: those of chunks differ."""
    pyarrow = needs("pyarrow")

    def plain(column: Any) -> Any:
        return column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column

    return pyarrow.table({name: plain(table.column(name)) for name in table.column_names})


CELL_BYTES = 56  # of a cell of the columns that are read and binned together: as it is stored, as a number, and sorted
Names = tuple[Sequence[str] | None, Sequence[str] | None]
Rows = NDArray[np.bool_] | None


class ColumnSource(ABC):
    """Features and labels of a table, some columns at a time.

    Attributes
    ----------
    n_rows, n_features, n_labels : int
    names : pair of sequences of str or None
        Of the features and of the labels.
    origin : str or None
        A hash of what the features depend on: their files, or their values. None if it is not known.
    on_cluster : bool
        True when the rows are on a Dask cluster.
    longest : int
        Stored cells of the column that has the most.
    is_sparse : bool
        True when features are sparse matrices.
    """

    n_rows: int
    n_features: int
    n_labels: int
    names: Names
    longest: int
    is_sparse: ClassVar[bool] = False

    @property
    def origin(self) -> str | None:
        return None

    @property
    def on_cluster(self) -> bool:
        return False

    @abstractmethod
    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        """Some features of the rows where ``rows`` is true: a frame, an array or a sparse matrix."""

    @abstractmethod
    def label(self, column: int, rows: Rows) -> Any:
        """One label."""

    def sparse_labels(self, rows: Rows) -> Any:
        """All labels if they are a sparse matrix, else None."""
        return None

    @abstractmethod
    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        """The features in groups that are read and binned together within ``limit`` bytes."""


class TableColumns(ColumnSource):
    """Base of sources whose columns are all as long as the table.

    ``names``: other names of features and labels than those of the columns, None for none; ``file``: text is read by the rules
    of files; ``folder``: a temporary folder, which is removed with the source.
    """

    def __init__(
        self,
        features: Sequence[str],
        labels: Sequence[str],
        n_rows: int,
        *,
        names: Names | None = None,
        file: Path | None = None,
        folder: TemporaryFolder | None = None,
    ) -> None:
        self._features, self._labels, self._file, self._folder = tuple(features), tuple(labels), file, folder
        self.n_features, self.n_labels, self.n_rows, self.longest = len(features), len(labels), n_rows, n_rows
        self.names = (self._features, self._labels) if names is None else names

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        table = self._read([self._features[j] for j in columns], rows)
        if self._file is not None:
            parsed = tabulate(table, self._file)
            values = {column.name: column.values for column in parsed.columns if column.values is not None}
            return with_names(parsed.cells, parsed.names, values)
        if self.names[0] is None:
            return np.column_stack([column.to_numpy() for column in table.columns])
        return table.rename_columns([self.names[0][j] for j in columns])

    def label(self, column: int, rows: Rows) -> Any:
        table = self._read([self._labels[column]], rows)
        if self._file is not None:
            parsed = tabulate(table, self._file)
            if len(self._labels) == 1 and find_label_sets(parsed.columns, parsed.cells, None, self._file):
                problem = f"column {parsed.names[0]!r} holds sets of labels, which are not read by columns."
                raise DatasetError(problem, "Store each label as a column of 0 and 1, or load the file.", self._file)
            values = targets(parsed.cells, parsed.columns, self._file)
            classes = {one.name: one.values for one in parsed.columns if one.values is not None and values.dtype != np.uint8}
            return with_names(values, parsed.names, classes)
        if self.names[1] is None:
            return table.column(0).to_numpy()
        return table.rename_columns([self.names[1][column]])

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        size = max(1, limit // (CELL_BYTES * self.n_rows))
        return [list(columns[start : start + size]) for start in range(0, len(columns), size)]

    @abstractmethod
    def _read(self, names: list[str], rows: Rows) -> Any:
        """Columns as a table of pyarrow."""


class ArrowColumns(TableColumns):
    """The columns of a pyarrow dataset; options as for :class:`TableColumns`."""

    def __init__(self, dataset: Any, features: Sequence[str], labels: Sequence[str], **options: Any) -> None:
        super().__init__(features, labels, int(dataset.count_rows()), **options)
        self._dataset = dataset

    @property
    def origin(self) -> str | None:
        """Paths, sizes and times of files that last; the contents of temporary ones."""
        files = getattr(self._dataset, "files", ())
        if self._folder is not None:
            return text_print(*map(content_print, files))
        return file_print(*files) if files else None

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        numbers = self._read_numbers([self._features[j] for j in columns], rows)
        if numbers is None:
            return super().features(columns, rows)
        names = self.names[0]
        return numbers if names is None else with_names(numbers, [names[j] for j in columns], {}, copy=False)

    def _read_numbers(self, names: list[str], rows: Rows) -> NDArray[np.float64] | None:
        """Columns of numbers as an array, which is filled batch by batch; None if some hold anything else.

        Every array of the size of a column costs more than reading it: the system clears its memory, page by page.
        """
        fields = [self._dataset.schema.field(name) for name in names]
        if not all(self._is_number(field.type) and field.name not in self._declared for field in fields):
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

    @cached_property
    def _declared(self) -> frozenset[str]:
        """Columns whose values the metadata of the file list."""
        described = read_metadata(self._dataset.schema.metadata)
        return frozenset() if described is None else frozenset(described.categories)

    def _is_number(self, kind: object) -> bool:
        text = str(kind)
        return text in ("float", "double") or (
            self._file is not None and text.lstrip("u") in ("int8", "int16", "int32", "int64")
        )

    def _read(self, names: list[str], rows: Rows) -> Any:
        table = self._dataset.to_table(columns=names)
        return table if rows is None else table.filter(rows)


MOST_COLUMNS = 4096  # that are binned together


class SparseFiles:
    """Writes chunks of sparse rows to files without names, of which nothing stays; later chunks may have more columns.

    Cost: 12 bytes on disk for each stored cell, and 12 more until the columns are joined.
    """

    def __init__(self) -> None:
        self._file = OpenFile(tempfile.TemporaryFile())  # noqa: SIM115  closed by OpenFile
        self._shapes: list[tuple[int, int, int]] = []
        self._sizes = np.zeros(0, dtype=np.int64)

    def add(self, X: object) -> None:
        """Store some rows."""
        columns = sp.csc_array(X, dtype=np.float64)
        if columns.data is getattr(X, "data", None):
            columns = columns.copy()
        columns.sum_duplicates()
        columns.prune()
        for values, dtype in ((columns.indptr, np.int64), (columns.indices, np.uint32), (columns.data, np.float64)):
            values.astype(dtype, copy=False).tofile(self._file.raw)
        self._sizes.resize(max(len(self._sizes), columns.shape[1]), refcheck=False)
        self._sizes[: columns.shape[1]] += np.diff(columns.indptr)
        self._shapes.append((*columns.shape, columns.nnz))

    def columns(self, first: int = 0, n_columns: int | None = None) -> "StoredColumns":
        """All rows by columns, from column ``first`` on; chunks of the same rows come one after the other."""
        n_columns = len(self._sizes) - first if n_columns is None else n_columns
        sizes = np.zeros(n_columns, dtype=np.int64)
        found = self._sizes[first : first + n_columns]
        sizes[: len(found)] = found
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows, values = (_temporary(dtype, int(starts[-1])) for dtype in (np.uint32, np.float64))
        next_cell, top = starts[:-1].copy(), 0
        self._file.raw.seek(0)
        for n_rows, width, n_cells in self._shapes:
            ends = np.fromfile(self._file.raw, np.int64, width + 1)[first:]
            of_rows = np.fromfile(self._file.raw, np.uint32, n_cells)
            cell_values = np.fromfile(self._file.raw, np.float64, n_cells)
            counts = np.diff(ends)
            cells = slice(ends[0], ends[-1]) if len(ends) else slice(0)
            where = np.repeat(next_cell[: len(counts)] - ends[:-1], counts) + np.arange(cells.start or 0, cells.stop)
            rows[where] = of_rows[cells] + np.uint32(top)
            values[where] = cell_values[cells]
            next_cell[: len(counts)] += counts
            top += n_rows
        self._file.raw.close()
        return StoredColumns(top, starts, rows, values)


def _temporary(dtype: DTypeLike, size: int) -> NDArray[Any]:
    """A mapped array in a file without a name."""
    if size == 0:
        return np.empty(0, dtype=dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,))


class StoredColumns:
    """The columns of a sparse matrix in files."""

    def __init__(self, n_rows: int, starts: NDArray[np.int64], rows: NDArray[Any], values: NDArray[Any]) -> None:
        self._starts, self._rows, self._values = starts, rows, values
        self.shape = n_rows, len(starts) - 1
        self.sizes = np.diff(starts)

    @cached_property
    def content(self) -> str:
        """A hash of all cells."""
        return array_print(np.array(self.shape), self._starts, self._rows, self._values)

    def take(self, columns: Sequence[int]) -> sp.csc_array:
        """Some columns, in memory."""
        cells = [slice(self._starts[j], self._starts[j + 1]) for j in columns]
        empty = np.empty(0, dtype=np.int64)
        rows = np.concatenate([empty, *(self._rows[of_column] for of_column in cells)])
        values = np.concatenate([empty.astype(np.float64), *(self._values[of_column] for of_column in cells)])
        ends = np.concatenate([[0], np.cumsum(self.sizes[list(columns)])])
        return sp.csc_array((values, rows, ends), shape=(self.shape[0], len(columns)))


class SparseSource(ColumnSource):
    """A source of sparse features; the labels are in memory, a sparse matrix or an array."""

    is_sparse: ClassVar[bool] = True

    def __init__(self, columns: StoredColumns, Y: Any, names: Names) -> None:
        self._columns, self.names = columns, names
        self._Y: Any = sp.csc_array(Y) if sp.issparse(Y) else np.asarray(Y).reshape(len(Y), -1)
        self.n_rows, self.n_features = columns.shape
        self.n_labels = self._Y.shape[1]
        self.longest = int(columns.sizes.max(initial=1))
        require_same_rows(self.n_rows, self._Y.shape[0])

    @property
    def origin(self) -> str | None:
        """A hash of the cells: of libsvm and ARFF files too, whatever their names and times."""
        return self._columns.content

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        table = self._columns.take(columns)
        return table if rows is None else table[np.flatnonzero(rows)]

    def label(self, column: int, rows: Rows) -> Any:
        values = self._Y[:, [column]].toarray()[:, 0] if sp.issparse(self._Y) else self._Y[:, column]
        return values if rows is None else values[rows]

    def sparse_labels(self, rows: Rows) -> Any:
        if not sp.issparse(self._Y):
            return None
        return self._Y if rows is None else self._Y[np.flatnonzero(rows)]

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        groups: list[list[int]] = []
        used = 0
        for column in columns:
            needed = CELL_BYTES * int(self._columns.sizes[column])
            if not groups or used + needed > limit or len(groups[-1]) == MOST_COLUMNS:
                groups.append([])
                used = 0
            groups[-1].append(column)
            used += needed
        return groups


def is_dask(value: object) -> bool:
    """True for an array, frame or series of Dask."""
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(value, "__dask_graph__")


class DaskSource(TableColumns):
    """Columns that Dask computes when they are read; labels may be in memory."""

    def __init__(self, X: Any, Y: Any, n_rows: int, features: Sequence[str] | None, labels: Sequence[str] | None) -> None:
        n_features, n_labels = X.shape[1], 1 if Y.ndim == 1 else Y.shape[1]
        stored = [f"x{j}" for j in range(n_features)], [f"y{j}" for j in range(n_labels)]
        super().__init__(*stored, n_rows, names=(features, labels))
        self._X, self._Y = X, Y

    @classmethod
    def of(cls, X: Any, Y: Any) -> Self:
        """Features ``X``, of Dask, and labels ``Y`` with the same rows."""
        if not is_dask(X) or X.ndim != 2:
            raise InputError(f"X must be an array of Dask with two dimensions or a frame of Dask, not {type(X).__name__}.")
        if Y is None:
            raise InputError("Labels are needed: fit(X, Y).")
        Y = Y if is_dask(Y) or hasattr(Y, "ndim") else np.asarray(Y)
        sizes = [_n_rows(X), _n_rows(Y)]
        require_same_rows(sizes[0], sizes[1])
        return cls(X, Y, sizes[0], _names(X), _names(Y))

    @property
    def on_cluster(self) -> bool:
        """True when Dask has a client."""
        try:
            return import_module("distributed").default_client() is not None
        except (ImportError, ValueError):
            return False

    def _read(self, names: list[str], rows: Rows) -> Any:
        parts = []
        for table, letter in ((self._X, "x"), (self._Y, "y")):
            wanted = [name for name in names if name[0] == letter]
            if not wanted:
                continue
            some = _take(table, [int(name[1:]) for name in wanted])
            computed = some.compute() if is_dask(some) else some
            found = plain_table(numbered(computed, letter.upper(), 0)[0])
            parts.append(found.rename_columns(wanted))
        table = parts[0]
        for part in parts[1:]:
            for name in part.column_names:
                table = table.append_column(name, part.column(name))
        return table if rows is None else table.filter(needs("pyarrow").array(rows))


def _n_rows(table: Any) -> int:
    """Rows; of frames and of arrays with chunks of unknown sizes they are counted."""
    if not is_dask(table):
        return len(table) if not hasattr(table, "shape") else int(table.shape[0])
    if hasattr(table, "npartitions") and hasattr(table, "map_partitions"):
        return len(table)
    return int(table.shape[0] if np.isfinite(table.shape[0]) else len(table.compute_chunk_sizes()))


def _names(table: object) -> tuple[str, ...] | None:
    columns = getattr(table, "columns", None)
    if columns is not None:
        return tuple(map(str, columns))
    name = getattr(table, "name", None) if hasattr(table, "map_partitions") or not is_dask(table) else None
    return None if name is None else (str(name),)


def _take(table: Any, columns: list[int]) -> Any:
    """Some columns of an array, frame or series."""
    if table.ndim == 1:
        return table
    return table[[table.columns[j] for j in columns]] if hasattr(table, "columns") else table[:, columns]


_DATA = re.compile(rb"^\s*@data\b", re.IGNORECASE | re.MULTILINE)
ARFF_BLOCK = 2**19  # bytes of text that are parsed at a time
STORED_CELLS = 2**20  # of a chunk that is written at once


def libsvm_source(path: Path) -> tuple[ColumnSource, NDArray[np.bool_]]:
    """A source of the features and labels of a libsvm file, and which of its lines are rows.

    Labels stay in memory: 16 bytes for each label of a row.
    """
    rows, files = LibsvmRows(read_pieces(path), path, DEFAULT_LIMIT), SparseFiles()
    for block in rows:
        files.add(block)
    layout = rows.layout()
    columns = files.columns(layout.first_index, layout.n_features)
    return SparseSource(columns, layout.Y.astype(np.uint8), (layout.feature_names, layout.label_names)), layout.is_row


def arff_source(path: Path, labels: Labels | None) -> ColumnSource:
    """The rows of an ARFF file, dense or sparse, in blocks of lines."""
    blocks = whole_lines(read_pieces(path), path, ARFF_BLOCK)
    header, first = _header(blocks, path)
    found = label_names(Table(path, header.columns, None, header.relation), labels)
    is_label = np.array([column.name in set(found) for column in header.columns])
    position = {column.name: j for j, column in enumerate(header.columns)}
    order = [*np.flatnonzero(~is_label).tolist(), *(position[name] for name in found)]
    columns, n_labels = [header.columns[j] for j in order], len(found)
    cells = (some[:, order] for some in _cells(chain([first], blocks), header, path))
    one = next(cells, None)
    if one is None:
        raise DatasetError("there are no rows below @data.", "Is the file whole?", path, header.line - 1)
    if sp.issparse(one):
        return _sparse_arff(chain([one], cells), columns, n_labels, path)
    pyarrow, files = needs("pyarrow"), ChunkFiles()
    for chunk in _joined(chain([one], cells)):
        files.add(pyarrow.table({column.name: chunk[:, j] for j, column in enumerate(columns)}))
    return ArffColumns(files.dataset(), columns, n_labels, path, files.folder)


class ArffColumns(ArrowColumns):
    """Stored cells of an ARFF file: numbers, and positions among the declared values of nominal columns."""

    def __init__(self, dataset: object, columns: Sequence[Column], n_labels: int, file: Path, folder: TemporaryFolder) -> None:
        names = [column.name for column in columns]
        super().__init__(dataset, names[:-n_labels], names[-n_labels:], file=file, folder=folder)
        self._columns = {column.name: column for column in columns}

    @property
    def origin(self) -> str | None:
        """Cells, and what those of nominal columns stand for."""
        return text_print(str(super().origin), repr([column.values for column in self._columns.values()]))

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        names = [self._features[j] for j in columns]
        values = {name: values for name in names if (values := self._columns[name].values) is not None}
        return with_names(self._read_numbers(names, rows), names, values, copy=False)

    def label(self, column: int, rows: Rows) -> Any:
        name = self._labels[column]
        cells = self._read([name], rows).column(0).to_numpy()[:, np.newaxis]
        assert self._file is not None
        values, declared = targets(cells, [self._columns[name]], self._file), self._columns[name].values
        return with_names(values, [name], {} if declared is None or values.dtype == np.uint8 else {name: declared})


def _sparse_arff(chunks: Iterator[Any], columns: Sequence[Column], n_labels: int, path: Path) -> ColumnSource:
    files, Y = SparseFiles(), []
    for chunk in chunks:
        files.add(chunk[:, :-n_labels])
        Y.append(chunk[:, -n_labels:])
    names = [column.name for column in columns]
    values = targets(sp.vstack(Y, format="csr"), columns[-n_labels:], path)
    return SparseSource(files.columns(0, len(columns) - n_labels), values, (names[:-n_labels], names[-n_labels:]))


def _header(blocks: Iterator[bytes], path: Path) -> tuple[Header, bytes]:
    """The header, and the rows that its last block has."""
    text = b""
    for block in blocks:
        text += block
        if _DATA.search(text):
            break
    decoded = decode(text, path)
    header = read_header(decoded, path)
    for position in header.texts:
        name = header.columns[position].name
        raise DatasetError(f"attribute {name!r} is text or a date.", "Load the file, or declare its values.", path)
    return header, decoded[header.end :].encode()


def _cells(blocks: Iterator[bytes], header: Header, path: Path) -> Iterator[Any]:
    line, is_sparse = header.line, None
    for block in blocks:
        cells = read_rows(decode(block, path), 0, line, header, path, is_sparse)
        line += block.count(b"\n")
        if cells is not None:
            is_sparse = sp.issparse(cells)
            yield cells


def _joined(chunks: Iterator[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
    waiting: list[NDArray[np.float64]] = []
    for chunk in chunks:
        waiting.append(chunk)
        if sum(some.size for some in waiting) >= STORED_CELLS:
            yield np.vstack(waiting)
            waiting = []
    if waiting:
        yield np.vstack(waiting)
