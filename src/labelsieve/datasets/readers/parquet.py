"""Parquet files."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from labelsieve.datasets.readers.columns import ParsedColumn, Table, arrow_column, make_table
from labelsieve.datasets.readers.files import CELL, COLUMN, DEFAULT_LIMIT, TextBudget, require_memory
from labelsieve.datasets.readers.labels import list_cells
from labelsieve.errors import DatasetError


def arrow(file: Path, what: str) -> Any:
    """Import pyarrow and its Parquet module; ``what`` needs it, for the message where it is not installed."""
    if find_spec("pyarrow") is None:
        raise DatasetError(f"{what} Parquet needs pyarrow.", "pip install 'labelsieve[tables]'", file)
    import_module("pyarrow.parquet")
    return import_module("pyarrow")


def parse_parquet(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    """Read the content of a Parquet file.

    Text is read by the rule for CSV. Booleans are numbers. The index of a pandas DataFrame is left out.
    """
    pyarrow = arrow(file, "reading")
    try:
        source = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        _check_size(source.metadata, file, max_bytes)
        texts = [field.name for field in source.schema_arrow if field.type in (pyarrow.string(), pyarrow.large_string())]
        if texts:  # distinct values and codes, as they are stored
            reader = pyarrow.BufferReader(data)
            source = pyarrow.parquet.ParquetFile(reader, metadata=source.metadata, read_dictionary=texts)
        table = source.read()
    except DatasetError:
        raise
    except Exception as error:  # a damaged file brings out errors of every kind, also requests for more memory than there is
        raise DatasetError(f"it cannot be read as Parquet ({error}).", "Fetch the file again.", file) from error
    with _metadata_errors(file):
        index = pandas_index(table.schema.metadata)
        table = table.drop_columns([name for name in index if name in table.column_names])
        nested = [field for field in table.schema if pyarrow.types.is_nested(field.type)]
        lists = {field.name for field in nested if _holds_labels(pyarrow, field.type)}
        for field in nested:
            if field.name not in lists:
                problem = f"column {field.name!r} holds {field.type}, which is neither numbers nor text nor lists of labels."
                raise DatasetError(problem, "Leave it out.", file)
        budget = TextBudget(file, max_bytes)
        parsed = [
            list_cells(column.to_pylist(), name, file) if name in lists else arrow_column(column, budget)
            for name, column in zip(table.column_names, table.columns, strict=True)
        ]
        return _dense_table(list(map(str, table.column_names)), parsed, file)


def tabulate(table: Any, file: Path) -> Table:
    """Read some columns of a Parquet file as :func:`parse_parquet` reads them with all others."""
    with _metadata_errors(file):
        parsed = [arrow_column(column) for column in table.columns]
        return _dense_table(list(map(str, table.column_names)), parsed, file)


def pandas_index(metadata: Mapping[bytes, bytes] | None) -> list[str]:
    """Return the columns that were the index of a pandas DataFrame: they number the rows."""
    found = json.loads(metadata[b"pandas"])["index_columns"] if metadata and b"pandas" in metadata else []
    return [name for name in found if isinstance(name, str)]  # a RangeIndex is a description, not a column


def _check_size(metadata: Any, file: Path, max_bytes: int) -> None:
    """Refuse what takes too much memory: equal cells take almost no bytes in the file, and cells of lists are no rows."""
    if metadata.num_rows <= 0:
        raise DatasetError("there are no rows under the header.", "Is the file complete?", file)
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    chunks = [group.column(index) for group in groups for index in range(metadata.num_columns)]
    n_cells = max(metadata.num_rows * metadata.num_columns, sum(chunk.num_values for chunk in chunks))
    content = metadata.serialized_size + sum(chunk.total_uncompressed_size for chunk in chunks)
    what = f"a table of {metadata.num_rows:,} rows, {metadata.num_columns:,} columns and {n_cells:,} cells"
    require_memory(content + CELL * n_cells + COLUMN * metadata.num_columns, what, file, max_bytes)


@contextmanager
def _metadata_errors(file: Path) -> Iterator[None]:
    """Report errors of what is inside a sound file: metadata that contradict the columns."""
    try:
        yield
    except DatasetError:
        raise
    except Exception as error:  # whatever the metadata say is believed first
        raise DatasetError(
            f"its metadata and its columns disagree ({error}).", "Write the file without the metadata.", file
        ) from error


def _holds_labels(pyarrow: ModuleType, kind: Any) -> bool:
    types = pyarrow.types
    return (types.is_list(kind) or types.is_large_list(kind)) and not types.is_nested(kind.value_type)


def _dense_table(names: list[str], parsed: list[ParsedColumn], file: Path) -> Table:
    if not names:
        raise DatasetError("there are no columns.", "Is the file complete?", file)
    return make_table(names, parsed, file)
