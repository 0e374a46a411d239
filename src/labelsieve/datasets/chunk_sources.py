"""Chunks of rows in Python, stored in files so that they can be read by columns."""

from collections.abc import Iterable
from typing import Any

from labelsieve.datasets.chunk_files import ChunkFiles, numbered
from labelsieve.datasets.column_sources import ArrowColumns, ColumnSource, Names
from labelsieve.errors import InputError


def stored_chunks(chunks: Iterable[tuple[Any, Any]]) -> ColumnSource:
    """Chunks ``(X, Y)`` of rows of one table."""
    files = ChunkFiles()
    names: Names | None = None
    n_columns = 0, 0
    for number, (X, Y) in enumerate(chunks):
        tables, found = zip(numbered(X, "X", number), numbered(Y, "Y", number), strict=True)
        size = tables[0].num_columns, tables[1].num_columns
        if names is None:
            names, n_columns = found, size
        if found != names or size != n_columns:
            raise InputError(f"Chunk {number} has other columns than chunk 0; chunks are rows of one table.")
        if tables[0].num_rows != tables[1].num_rows:
            raise InputError(f"Chunk {number}: X has {tables[0].num_rows} rows and Y has {tables[1].num_rows}.")
        files.add_pair(*tables)
    if names is None:
        raise InputError("There are no chunks.")
    features, labels = [f"x{j}" for j in range(n_columns[0])], [f"y{j}" for j in range(n_columns[1])]
    return ArrowColumns(files.dataset(), features, labels, names=names, folder=files.folder)
