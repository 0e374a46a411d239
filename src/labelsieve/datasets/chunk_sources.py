"""Chunks of rows in Python, stored in files so that they can be read by columns."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelsieve.datasets.chunk_files import ChunkFiles, numbered
from labelsieve.datasets.column_sources import ArrowColumns, ColumnSource, Names
from labelsieve.datasets.sparse_source import SparseFiles, SparseSource
from labelsieve.errors import InputError


def stored_chunks(chunks: Iterable[tuple[Any, Any]]) -> ColumnSource:
    """Chunks ``(X, Y)`` of rows of one table."""
    waiting = iter(chunks)
    first = next(waiting, None)
    if first is None:
        raise InputError("There are no chunks.")
    store = _store_sparse if sp.issparse(first[0]) else _store_dense
    return store(chain([first], waiting))


def _store_sparse(chunks: Iterable[tuple[Any, Any]]) -> ColumnSource:
    files, width = SparseFiles(), None
    labels: list[Any] = []
    for number, (X, Y) in enumerate(chunks):
        if not sp.issparse(X) or X.shape[1] != (X.shape[1] if width is None else width):
            raise InputError(f"Chunk {number} has other columns than chunk 0, which is sparse; chunks are rows of one table.")
        width = X.shape[1]
        one = Y if sp.issparse(Y) else np.asarray(Y).reshape(len(Y), -1)
        if one.shape[0] != X.shape[0]:
            raise InputError(f"Chunk {number}: X has {X.shape[0]} rows and Y has {one.shape[0]}.")
        if labels and (sp.issparse(one) != sp.issparse(labels[0]) or one.shape[1] != labels[0].shape[1]):
            raise InputError(f"Chunk {number}: Y is not like that of chunk 0; chunks are rows of one table.")
        files.add(X)
        labels.append(one)
    Y = sp.vstack(labels, format="csc") if sp.issparse(labels[0]) else np.concatenate(labels)
    return SparseSource(files.columns(0, width), Y, (None, None))


def _store_dense(chunks: Iterable[tuple[Any, Any]]) -> ColumnSource:
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
    features, labels = [f"x{j}" for j in range(n_columns[0])], [f"y{j}" for j in range(n_columns[1])]
    return ArrowColumns(files.dataset(), features, labels, names=names, folder=files.folder)
