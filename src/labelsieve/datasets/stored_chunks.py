"""Tables that are read once, chunk by chunk, and stored in temporary files from which columns can be read.

Dense chunks become Parquet files (:class:`ChunkFiles`), sparse ones a file of columns (:class:`SparseFiles`). The functions
``..._source`` do that for CSV, ARFF and libsvm files, for streams of record batches, and for chunks of arrays or frames.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from labelsieve.counting.backends.chunked.codes_file import OpenFile
from labelsieve.datasets.column_sources import (
    ArrowColumns,
    ColumnSource,
    DaskColumns,
    Names,
    SparseColumns,
    TemporaryFolder,
    is_dask,
    needs,
    to_arrow,
)
from labelsieve.datasets.readers.columns import Column, Table, TextCells, check_names, text_column
from labelsieve.datasets.readers.csv import SAMPLE, code_columns, find_delimiter
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, read_pieces
from labelsieve.datasets.readers.labels import Labels, label_names
from labelsieve.datasets.readers.libsvm import LibsvmRows
from labelsieve.errors import DatasetError, InputError, require_same_rows
from labelsieve.tables.text import MISSING

CSV_BLOCK = 2**20  # bytes of a file by which the types of the columns are found


class ChunkFiles:
    """Writes a Parquet file for every dense chunk, in a folder that is removed when nothing refers to it.

    Columns of ``categories`` are stored as their values, because the categories of different chunks differ.
    """

    def __init__(self) -> None:
        self._arrow, self._parquet = needs("pyarrow"), needs("pyarrow.parquet")
        self.folder = TemporaryFolder()
        self.categories: set[str] = set()
        self._schemas: list[Any] = []
        self._files: list[str] = []

    def add(self, table: Any) -> None:
        """Store a table of pyarrow."""
        if table.num_rows == 0:
            return
        path = Path(self.folder.name, f"{len(self._files):06d}.parquet")
        for position, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
            if self._arrow.types.is_dictionary(column.type):
                table = table.set_column(position, name, column.cast(column.type.value_type))
                self.categories.add(name)
        self._parquet.write_table(table, path, compression="zstd")
        self._schemas.append(table.schema.remove_metadata())
        self._files.append(os.fspath(path))

    def dataset(self) -> Any:
        """Open all chunks as a dataset of pyarrow, with column types that hold the values of every chunk."""
        if not self._files:
            raise InputError("There are no rows.")
        try:
            schema = self._arrow.unify_schemas(self._schemas, promote_options="permissive")
        except self._arrow.ArrowException as error:
            raise InputError(f"The columns of the chunks have different types ({error}); give every column one type.") from None
        return needs("pyarrow.dataset").dataset(self._files, schema=schema, format="parquet")


class SparseFiles:
    """Writes chunks of sparse rows to a temporary file; later chunks may have more columns.

    Cost: 12 bytes on disk for each stored cell, and 12 more until the columns are joined.
    """

    def __init__(self) -> None:
        self._file = OpenFile(tempfile.TemporaryFile())  # noqa: SIM115  closed by OpenFile
        self._shapes: list[tuple[int, int, int]] = []
        self._sizes = np.zeros(0, dtype=np.int64)

    def add(self, X: object) -> None:
        """Append the rows of a chunk to the temporary files."""
        columns = sparse.csc_array(X, dtype=np.float64)
        if columns.data is getattr(X, "data", None):
            columns = columns.copy()
        columns.sum_duplicates()
        columns.eliminate_zeros()
        for values, dtype in ((columns.indptr, np.int64), (columns.indices, np.uint32), (columns.data, np.float64)):
            values.astype(dtype, copy=False).tofile(self._file.raw)
        self._sizes.resize(max(len(self._sizes), columns.shape[1]), refcheck=False)
        self._sizes[: columns.shape[1]] += np.diff(columns.indptr)
        self._shapes.append((*columns.shape, columns.nnz))

    def source(self, Y: Any, names: Names, *, first: int = 0, n_columns: int | None = None) -> SparseColumns:
        """Join the chunks, and store ``n_columns`` columns from ``first`` on, one after the other. ``Y`` are the labels."""
        n_columns = len(self._sizes) - first if n_columns is None else n_columns
        sizes = np.zeros(n_columns, dtype=np.int64)
        found = self._sizes[first : first + n_columns]
        sizes[: len(found)] = found
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows, values = (_mapped_array(dtype, int(starts[-1])) for dtype in (np.uint32, np.float64))
        next_cell, top = starts[:-1].copy(), 0
        self._file.raw.seek(0)
        for n_rows, width, n_cells in self._shapes:
            ends = np.fromfile(self._file.raw, np.int64, width + 1)[first:]
            of_rows = np.fromfile(self._file.raw, np.uint32, n_cells)
            cell_values = np.fromfile(self._file.raw, np.float64, n_cells)
            counts = np.diff(ends)
            cells = slice(ends[0], ends[-1]) if len(ends) else slice(0)
            # Each cell goes to the next free place of its column.
            where = np.repeat(next_cell[: len(counts)] - ends[:-1], counts) + np.arange(cells.start or 0, cells.stop)
            rows[where] = of_rows[cells] + np.uint32(top)
            values[where] = cell_values[cells]
            next_cell[: len(counts)] += counts
            top += n_rows
        self._file.raw.close()
        return SparseColumns(top, starts, rows, values, Y, names)


def _mapped_array(dtype: DTypeLike, size: int) -> NDArray[Any]:
    """Make an array in a temporary file without a name."""
    if size == 0:
        return np.empty(0, dtype=dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,))


def chunk_source(chunks: Iterable[tuple[Any, Any]]) -> ColumnSource:
    """Store chunks ``(X, Y)`` of rows of one table."""
    waiting = iter(chunks)
    first = next(waiting, None)
    if first is None:
        raise InputError("There are no chunks.")
    pairs = map(_checked_pair, enumerate(chain([first], waiting)))
    first = next(pairs)
    store = _store_sparse if sparse.issparse(first[0]) else _store_dense
    return store(chain([first], pairs))


def _checked_pair(numbered: tuple[int, Any]) -> tuple[Any, Any]:
    """Return the features and labels of a chunk; anything else than a pair of them is refused."""
    number, chunk = numbered
    if not isinstance(chunk, tuple | list) or len(chunk) != 2:
        found = f"{len(chunk)} values" if isinstance(chunk, tuple | list) else f"a {type(chunk).__name__}"
        raise InputError(f"Chunk {number} is {found}; a chunk is a pair (X, Y). Pass sample_weight to fit.")
    return chunk[0], chunk[1]


def _store_sparse(chunks: Iterable[tuple[Any, Any]]) -> ColumnSource:
    files, width = SparseFiles(), None
    labels: list[Any] = []
    for number, (X, Y) in enumerate(chunks):
        if not sparse.issparse(X) or X.shape[1] != (X.shape[1] if width is None else width):
            raise InputError(f"Chunk {number} has other columns than chunk 0, which is sparse; chunks are rows of one table.")
        width = X.shape[1]
        one = Y if sparse.issparse(Y) else np.asarray(Y).reshape(len(Y), -1)
        if one.shape[0] != X.shape[0]:
            raise InputError(f"Chunk {number}: X has {X.shape[0]} rows and Y has {one.shape[0]}.")
        if labels and (sparse.issparse(one) != sparse.issparse(labels[0]) or one.shape[1] != labels[0].shape[1]):
            raise InputError(f"Chunk {number}: Y is not like that of chunk 0; chunks are rows of one table.")
        files.add(X)
        labels.append(one)
    Y = sparse.vstack(labels, format="csc") if sparse.issparse(labels[0]) else np.concatenate(labels)
    return files.source(Y, (None, None), n_columns=width)


def _store_dense(chunks: Iterable[tuple[Any, Any]]) -> ColumnSource:
    files = ChunkFiles()
    names: Names | None = None
    stored: list[list[str]] = []
    for number, (X, Y) in enumerate(chunks):
        tables, found = zip(to_arrow(X, f"Chunk {number}: X"), to_arrow(Y, f"Chunk {number}: Y"), strict=True)
        columns = [[f"{letter}{j}" for j in range(table.num_columns)] for letter, table in zip("xy", tables, strict=True)]
        if names is None:
            names, stored = found, columns
        if found != names or columns != stored:
            raise InputError(f"Chunk {number} has other columns than chunk 0; chunks are rows of one table.")
        if tables[0].num_rows != tables[1].num_rows:
            raise InputError(f"Chunk {number}: X has {tables[0].num_rows} rows and Y has {tables[1].num_rows}.")
        cells = [column for table in tables for column in table.columns]
        files.add(needs("pyarrow").table(dict(zip(chain(*columns), cells, strict=True))))
    return ArrowColumns(files.dataset(), *stored, names=names, folder=files.folder, categories=files.categories)


def dask_source(X: Any, Y: Any) -> ColumnSource:
    """Compute the columns of Dask collections when they are read; arrays of sparse blocks are computed and stored once."""
    if not is_dask(X) or not sparse.issparse(getattr(X, "_meta", None)):
        return DaskColumns.of(X, Y)
    return chunk_source(_sparse_blocks(X, Y))


def _sparse_blocks(X: Any, Y: Any) -> Iterator[tuple[Any, Any]]:
    """Compute the blocks of an array of sparse blocks, one after the other, with the labels of their rows."""
    labels = Y.compute() if is_dask(Y) else Y
    labels = labels if sparse.issparse(labels) else np.asarray(labels)
    start = 0
    for block in range(X.numblocks[0]):
        cells = sparse.hstack([X.blocks[block, side].compute() for side in range(X.numblocks[1])], format="csc")
        yield cells, labels[start : start + cells.shape[0]]
        start += cells.shape[0]
    require_same_rows(start, labels.shape[0])


def arrow_source(stream: Any, labels: Sequence[str]) -> ColumnSource:
    """Take a dataset of pyarrow as it is, or store a stream of record batches."""
    folder, categories = None, set[str]()
    if not isinstance(stream, needs("pyarrow.dataset").Dataset):
        pyarrow, files = needs("pyarrow"), ChunkFiles()
        if not isinstance(stream, pyarrow.RecordBatchReader):
            if not hasattr(stream, "__arrow_c_stream__"):
                raise InputError(f"{type(stream).__name__} is neither a dataset of pyarrow nor a stream of record batches.")
            stream = pyarrow.RecordBatchReader.from_stream(stream)
        for batch in stream:
            files.add(pyarrow.Table.from_batches([batch]))
        stream, folder, categories = files.dataset(), files.folder, files.categories
    names = stream.schema.names
    missing = [name for name in labels if name not in names]
    if missing:
        raise InputError(f"labels: there is no column named {missing[0]!r}.")
    features = [name for name in names if name not in set(labels)]
    return ArrowColumns(stream, features, list(labels), folder=folder, categories=categories)


def csv_source(path: Path, labels: Labels, delimiter: str | None) -> ColumnSource:
    """Store the rows of a CSV file with a header row; the delimiter is found where it is None."""
    with path.open("rb") as file:
        start = file.read(SAMPLE)
    delimiter = find_delimiter(start) if delimiter is None else delimiter
    codes = code_columns(start[start.find(b"\n") + 1 :], delimiter)
    files = ChunkFiles()
    for batch in _csv_batches(path, delimiter, codes):
        files.add(batch)
    dataset = files.dataset()
    names = dataset.schema.names
    found = label_names(Table(path, tuple(map(Column, names)), None), labels)
    return ArrowColumns(dataset, [name for name in names if name not in found], found, file=path, folder=files.folder)


def _csv_batches(file: Path, delimiter: str, codes: set[int]) -> Iterator[Any]:
    """Read a CSV file as tables of rows; columns of numbers are doubles, so that a fraction may come late.

    Those of ``codes`` are text, because their zeros matter.
    """
    csv, pyarrow = needs("pyarrow.csv"), needs("pyarrow")
    types = pyarrow.types
    read, parse = csv.ReadOptions(block_size=CSV_BLOCK), csv.ParseOptions(delimiter=delimiter)
    try:
        with csv.open_csv(file, read_options=read, parse_options=parse) as first:
            check_names([Column(name) for name in first.schema.names], file)
            numeric = [
                field.name
                for field in first.schema
                if types.is_integer(field.type) or types.is_floating(field.type) or types.is_null(field.type)
            ]
            text = [name for position, name in enumerate(first.schema.names) if position in codes]
        column_types = dict.fromkeys(numeric, pyarrow.float64()) | dict.fromkeys(text, pyarrow.string())
        convert = csv.ConvertOptions(column_types=column_types, null_values=sorted(MISSING))
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
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if needs("pyarrow").types.is_string(column.type):
            texts = TextCells.of(["" if text is None else text for text in column.unique().to_pylist()])
            if text_column(name, texts, decimal_comma=True).kind == "decimal comma":
                remedy = "Load the file, or store it as Parquet or with decimal points."
                raise DatasetError(f"column {name!r} has decimal commas, which are not read by columns.", remedy, file)


def libsvm_source(path: Path) -> tuple[ColumnSource, NDArray[np.bool_]]:
    """Store the features of a libsvm file, and return which of its lines are rows.

    Labels stay in memory: 16 bytes for each label of a row.
    """
    rows, files = LibsvmRows(read_pieces(path), path, DEFAULT_LIMIT), SparseFiles()
    for block in rows:
        files.add(block)
    layout = rows.layout()
    names = layout.feature_names, layout.label_names
    source = files.source(layout.Y.astype(np.uint8), names, first=layout.first_index, n_columns=layout.n_features)
    return source, layout.is_row
