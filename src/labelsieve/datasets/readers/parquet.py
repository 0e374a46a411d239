"""Parquet files; those of labelsieve have metadata that name the label columns."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets.readers.columns import Column, ParsedColumn, Table, TextCells, arrow_column, check_names, make_table
from labelsieve.datasets.readers.files import CELL, COLUMN, DEFAULT_LIMIT, TextBudget, require_memory
from labelsieve.datasets.readers.labels import list_cells
from labelsieve.errors import DatasetError

KEY = b"labelsieve"
VERSION = 1


@dataclass(frozen=True)
class TableMetadata:
    """What our Parquet files say in their schema: names in order, values of nominal columns, and whether rows are sparse.

    Sparse rows are lists in the first two columns, of indices and of values. Labels of 0 and 1 are a third then, of indices.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    description: str
    sparse: bool
    version: int = VERSION

    def metadata(self) -> dict[bytes, bytes]:
        """Return the metadata as they are stored in the schema."""
        return {KEY: json.dumps(asdict(self), ensure_ascii=True).encode()}


def read_metadata(metadata: Mapping[bytes, bytes] | None) -> TableMetadata | None:
    """Read the metadata of a schema, None if there are none; a ValueError says that they are damaged.

    >>> songs = TableMetadata(("tempo",), ("calm",), {}, "", sparse=False)
    >>> read_metadata(songs.metadata()) == songs, read_metadata({})
    (True, None)
    """
    if metadata is None or KEY not in metadata:
        return None
    found: Any = json.loads(metadata[KEY])
    if not isinstance(found, dict) or found.get("version") != VERSION:
        raise ValueError("it is of another version")
    categories: Any = found.get("categories")
    if not isinstance(categories, dict):
        raise ValueError("it has no categories")
    features, labels, *values = map(_names, (found.get("features"), found.get("labels"), *categories.values()))
    return TableMetadata(
        features=features,
        labels=labels,
        categories=dict(zip(categories, values, strict=True)),
        description=str(found.get("description", "")),
        sparse=found.get("sparse") is True,
    )


def _names(found: object) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError("its names are not lists of text")
    return tuple(found)


def arrow(file: Path, what: str) -> Any:
    """Import pyarrow and its Parquet module; ``what`` needs it, for the message where it is not installed."""
    if find_spec("pyarrow") is None:
        raise DatasetError(f"{what} Parquet needs pyarrow.", "pip install 'labelsieve[tables]'", file)
    import_module("pyarrow.parquet")
    return import_module("pyarrow")


def parse_parquet(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    """Read the content of a Parquet file.

    Text is read by the rule for CSV, except in columns whose values the metadata of labelsieve declare. Booleans are numbers.
    The index of a pandas DataFrame is left out.
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
        described = read_metadata(table.schema.metadata)
        if described is not None and described.sparse:
            return _sparse_table(pyarrow, table, described, file)
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
        return _dense_table(list(map(str, table.column_names)), parsed, described, file)


def tabulate(table: Any, file: Path) -> Table:
    """Read some columns of a Parquet file as :func:`parse_parquet` reads them with all others."""
    with _metadata_errors(file):
        parsed = [arrow_column(column) for column in table.columns]
        return _dense_table(list(map(str, table.column_names)), parsed, read_metadata(table.schema.metadata), file)


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


def _dense_table(names: list[str], parsed: list[ParsedColumn], described: TableMetadata | None, file: Path) -> Table:
    if not names:
        raise DatasetError("there are no columns.", "Is the file complete?", file)
    if described is None:
        return make_table(names, parsed, file)
    declared = [_declare(column, described.categories.get(name)) for name, column in zip(names, parsed, strict=True)]
    labels = described.labels if set(described.labels) <= set(names) else None
    return make_table(names, declared, file, description=described.description, label_names=labels)


def _declare(column: ParsedColumn, values: tuple[str, ...] | None) -> ParsedColumn:
    if values is None:
        return column
    if not isinstance(column, TextCells):
        raise ValueError("a column of numbers has declared values")
    return replace(column, declared=values)


def _sparse_table(pyarrow: ModuleType, table: Any, described: TableMetadata, file: Path) -> Table:
    indices, values, *rest = (column.combine_chunks() for column in table.columns)
    if not (pyarrow.types.is_list(indices.type) and pyarrow.types.is_list(values.type)):
        raise ValueError("its first two columns are not lists")
    blocks = [_csr(indices, values, len(described.features))]
    columns = [Column(name, described.categories.get(name)) for name in described.features]
    if len(rest) == 1 and pyarrow.types.is_list(rest[0].type):
        blocks.append(_csr(rest[0], None, len(described.labels)))
        columns += [Column(name) for name in described.labels]
    else:
        parsed = [arrow_column(column) for column in table.columns[2:]]
        labels = _dense_table(list(described.labels), parsed, described, file)
        columns += labels.columns
        blocks.append(sparse.csr_array(labels.cells))
    check_names(columns, file)
    cells = sparse.hstack(blocks, format="csr")
    return Table(file, tuple(columns), cells, description=described.description, label_names=described.labels)


def _csr(indices: Any, values: Any, width: int) -> Any:
    lengths = indices.value_lengths().to_numpy(zero_copy_only=False)
    where = indices.flatten().to_numpy(zero_copy_only=False)
    what = np.ones(len(where)) if values is None else values.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    if indices.null_count or where.dtype.kind not in "iu" or len(what) != len(where):
        raise ValueError("its lists are not as long as each other")
    if values is not None and not np.array_equal(values.value_lengths().to_numpy(zero_copy_only=False), lengths):
        raise ValueError("its lists are not as long as each other")
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    rows = sparse.csr_array((what, where.astype(np.int64), ends), shape=(len(lengths), width))
    rows.check_format(full_check=True)
    if not rows.has_canonical_format:
        raise ValueError("its indices do not rise")
    return rows


def column_array(cells: Any, column: Column) -> Any:
    """Convert the cells of a column to an array of pyarrow: nominal ones by their values, NaN as null."""
    pyarrow = import_module("pyarrow")
    missing = np.isnan(cells)
    if column.values is not None:
        codes = pyarrow.array(np.where(missing, 0, cells).astype(np.int32), mask=missing)
        return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(column.values, pyarrow.string()))
    return pyarrow.array(np.ascontiguousarray(cells), mask=missing if missing.any() else None)
