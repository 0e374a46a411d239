"""Parquet files, with pyarrow; those of labelsieve say themselves which columns are labels."""

import io
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.parquet_metadata import Note, read_note
from labelsieve.datasets.readers.delimited import text_column
from labelsieve.datasets.readers.read_table import Column, Table, check_names

# Equal cells take next to no room in Parquet, and a whole one each here: a short file that promises many is a trap.
FREE_CELLS, CELLS_PER_BYTE = 2**24, 2**10


def arrow(file: Path, what: str) -> Any:
    """The package pyarrow, with its part for Parquet loaded."""
    if find_spec("pyarrow") is None:
        raise DatasetError(f"{what} Parquet needs pyarrow.", file=file, remedy="pip install 'labelsieve[tables]'")
    import_module("pyarrow.parquet")
    return import_module("pyarrow")


def parse_parquet(data: bytes, file: Path) -> Table:
    """Read a Parquet file. Columns of text are nominal, their values sorted unless a note of labelsieve gives their order."""
    pyarrow = arrow(file, "reading")
    try:
        source = pyarrow.parquet.ParquetFile(io.BytesIO(data))
        size = source.metadata.num_rows * source.metadata.num_columns
        most = max(FREE_CELLS, CELLS_PER_BYTE * len(data))
        if not 0 <= size <= most:
            raise DatasetError(
                f"it promises {size:,} cells, and {most:,} is the most for a file of {len(data):,} bytes.",
                file=file,
                remedy="Is it damaged?",
            )
        table = source.read()
    except DatasetError:
        raise
    except Exception as error:  # a damaged file brings out errors of every kind, also requests for more memory than there is
        raise DatasetError(f"it cannot be read as Parquet ({error}).", file=file, remedy="Fetch the file again.") from error
    if not table.num_rows:
        raise DatasetError("there are no rows under the header.", file=file, remedy="Is the file whole?")
    try:
        note = read_note(table.schema.metadata)
        if note is not None and note.sparse:
            return _sparse_table(pyarrow, table, note, file)
        return _dense_table(pyarrow, table, note, file)
    except DatasetError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, MemoryError, pyarrow.ArrowException) as error:
        raise DatasetError(
            f"its note of labelsieve does not fit ({error}).", file=file, remedy="Write the file without that note."
        ) from error


def _dense_table(pyarrow: Any, table: Any, note: Note | None, file: Path) -> Table:
    categories = {} if note is None else note.categories
    names = list(map(str, table.column_names))
    check_names([Column(name) for name in names], file)
    read = [
        _column(pyarrow, name, column, categories.get(name), file) for name, column in zip(names, table.columns, strict=True)
    ]
    labels = note.labels if note is not None and set(note.labels) <= set(names) else None
    cells = np.column_stack([cells for _, cells in read])
    about = "" if note is None else note.description
    return Table(file, tuple(column for column, _ in read), cells, description=about, label_names=labels)


def _column(
    pyarrow: Any, name: str, column: Any, values: tuple[str, ...] | None, file: Path
) -> tuple[Column, NDArray[np.float64]]:
    kind = column.type
    if values is not None:
        return Column(name, values), _codes(pyarrow, name, column, values, file)
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind):
        return Column(name), column.to_numpy().astype(np.float64)
    cells = ["" if cell is None else str(int(cell) if isinstance(cell, bool) else cell) for cell in column.to_pylist()]
    return text_column(name, cells)


def _codes(pyarrow: Any, name: str, column: Any, values: tuple[str, ...], file: Path) -> NDArray[np.float64]:
    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    place = {value: float(code) for code, value in enumerate(values)}
    chunks = []
    for chunk in column.chunks:
        words = chunk.dictionary.to_pylist()
        if unknown := [word for word in words if word not in place]:
            raise DatasetError(f"value {unknown[0]!r} is not one of the noted values of {name!r}.", file=file)
        codes = np.array([*(place[word] for word in words), np.nan])
        chunks.append(codes[chunk.indices.fill_null(len(words)).to_numpy(zero_copy_only=False).astype(np.int64)])
    return np.concatenate(chunks)


def _sparse_table(pyarrow: Any, table: Any, note: Note, file: Path) -> Table:
    places, values, *rest = (column.combine_chunks() for column in table.columns)
    if not (pyarrow.types.is_list(places.type) and pyarrow.types.is_list(values.type)):
        raise ValueError("its first two columns are not lists")
    blocks = [_csr(places, values, len(note.features))]
    columns = [Column(name, note.categories.get(name)) for name in note.features]
    if len(rest) == 1 and pyarrow.types.is_list(rest[0].type):
        blocks.append(_csr(rest[0], None, len(note.labels)))
        columns += [Column(name) for name in note.labels]
    else:
        for name, column in zip(note.labels, table.columns[2:], strict=True):
            read, cells = _column(pyarrow, name, column, note.categories.get(name), file)
            columns.append(read)
            blocks.append(sparse.csr_array(cells[:, np.newaxis]))
    check_names(columns, file)
    cells = sparse.hstack(blocks, format="csr")
    return Table(file, tuple(columns), cells, description=note.description, label_names=note.labels)


def _csr(places: Any, values: Any, width: int) -> Any:
    lengths = places.value_lengths().to_numpy(zero_copy_only=False)
    where = places.flatten().to_numpy(zero_copy_only=False)
    what = np.ones(len(where)) if values is None else values.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    if places.null_count or where.dtype.kind not in "iu" or len(what) != len(where):
        raise ValueError("its lists are not as long as each other")
    if values is not None and not np.array_equal(values.value_lengths().to_numpy(zero_copy_only=False), lengths):
        raise ValueError("its lists are not as long as each other")
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    rising = np.diff(where.astype(np.int64)) > 0
    rising[ends[(ends > 0) & (ends < len(where))] - 1] = True  # from one row to the next it may fall
    if len(where) and (where.min() < 0 or where.max() >= width or not rising.all()):
        raise ValueError("its indices do not rise, or are out of range")
    return sparse.csr_array((what, where.astype(np.int64), ends), shape=(len(lengths), width))
