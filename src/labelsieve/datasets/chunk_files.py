"""Chunks of rows as Parquet files in a temporary folder."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp

from labelsieve.counting.number_table import is_frame, unmask
from labelsieve.datasets.readers.text_columns import MISSING, TextCells, text_column
from labelsieve.errors import DatasetError, InputError

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
