"""ChunkedTable: a table that is read in chunks and need not fit into memory."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack
from uuid import uuid4

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.datasets.column_sources import (
    CELL_BYTES,
    ArrowColumns,
    ChunkFiles,
    ColumnSource,
    DaskSource,
    Names,
    SparseFiles,
    SparseSource,
    arff_source,
    csv_batches,
    dataset_of,
    libsvm_source,
    numbered,
    pyarrow_dataset,
)
from labelsieve.datasets.readers.column_table import Column, Table
from labelsieve.datasets.readers.csv import SAMPLE, find_delimiter
from labelsieve.datasets.readers.files import in_words, read_size
from labelsieve.datasets.readers.labels import Labels, label_names
from labelsieve.datasets.readers.parquet import arrow, pandas_index, read_metadata
from labelsieve.errors import DatasetError, InputError, whole_number
from labelsieve.resources import available_memory
from labelsieve.tables.types import TableLike, TargetsLike


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


Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class TableOptions(TypedDict, total=False):
    """Parameters of :class:`ChunkedTable` that all ways to make one take."""

    memory_limit: int | str | None
    cache_folder: Path | str | None


class ChunkedTable:
    """Features and labels in files, for selectors that read them column by column: ``Sieve(...).fit(table)``.

    Make one with :meth:`from_parquet`, :meth:`from_csv`, :meth:`from_libsvm`, :meth:`from_arff`, :meth:`from_arrow`,
    :meth:`from_dask` or :meth:`from_chunks`. The selection is that of the whole table in memory, bit for bit. All take the
    parameters below.

    Other Parameters
    ----------------
    memory_limit : int or str, default=None
        Memory that fitting may take, in bytes or as ``"2GB"``; default: half of the available memory.
    cache_folder : path, default=None
        Where the encoded columns are kept. A fit that was stopped, even killed, continues with the remaining columns, and a fit
        with another criterion uses them again. None: a temporary file.

    Attributes
    ----------
    feature_names, label_names : tuple of str
        Names of the columns.
    n_rows : int
        Number of rows.
    memory_limit : int
        Memory that fitting may take, in bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsieve import Sieve
    >>> rng = np.random.default_rng(0)
    >>> def chunks():
    ...     for _ in range(5):
    ...         X = rng.normal(size=(100, 4))
    ...         yield X, X[:, [2]] > 0
    >>> Sieve("mim", n_features_to_select=1).fit(ChunkedTable.from_chunks(chunks())).selected_
    array([2])
    """

    def __init__(
        self, source: ColumnSource, *, memory_limit: int | str | None = None, cache_folder: Path | str | None = None
    ) -> None:
        if not source.n_features or not source.n_labels:
            raise InputError(f"A table needs features and labels, and there are {source.n_features} and {source.n_labels}.")
        if source.n_rows == 0:
            raise DatasetError("there are no rows.", "Is the file complete?")
        self._source, self._token = source, uuid4().bytes
        self._rows: NDArray[np.bool_] | None = None
        free = (available_memory() or 2**32) // 2
        limit = read_size(memory_limit, "memory_limit") if isinstance(memory_limit, str) else memory_limit
        self.memory_limit = free if limit is None else whole_number(limit, "memory_limit", 1, 2**62)
        self.cache_folder = None if cache_folder is None else Path(cache_folder)
        needed = CELL_BYTES * source.longest
        if needed > self.memory_limit:
            raise MemoryError(
                f"One column of {source.longest:,} rows needs about {in_words(needed)} while it is binned, and memory_limit is "
                f"{in_words(self.memory_limit)}; raise it, or take a sample of the rows."
            )

    @classmethod
    def from_parquet(cls, path: Paths, labels: Labels | None = None, **options: Unpack[TableOptions]) -> Self:
        """A Parquet file, a folder of them, or a list of files; ``labels`` as in :func:`labelsieve.datasets.load`.

        Columns are read as :func:`~labelsieve.datasets.load` reads them. Nothing is copied.
        """
        first = Path(path if isinstance(path, str | os.PathLike) else path[0])
        pyarrow = arrow(first, "reading")
        dataset = pyarrow_dataset(path)
        metadata = dataset.schema.metadata
        described = read_metadata(metadata)
        if described is not None and described.sparse:
            raise DatasetError("its rows are sparse, which cannot be read by columns.", "Load it: load(path).", first)
        index = pandas_index(metadata)
        names = [name for name in dataset.schema.names if name not in index]
        nested = [field for field in dataset.schema if field.name in names and pyarrow.types.is_nested(field.type)]
        if nested:
            raise DatasetError(
                f"column {nested[0].name!r} holds {nested[0].type}, which is neither numbers nor text.",
                "Leave it out; store each label of label sets as a column of 0 and 1, or load the file.",
                first,
            )
        declared = None if described is None else described.labels
        found = label_names(Table(first, tuple(map(Column, names)), None, label_names=declared), labels)
        return cls(ArrowColumns(dataset, [name for name in names if name not in found], found, file=first), **options)

    @classmethod
    def from_csv(
        cls, path: str | os.PathLike[str], labels: Labels, *, delimiter: str | None = None, **options: Unpack[TableOptions]
    ) -> Self:
        """A CSV file with a header row, which is stored as Parquet first. Types of columns are those of the first megabyte.

        The delimiter is found as by :func:`~labelsieve.datasets.load` where it is None.
        """
        file = Path(path)
        arrow(file, "reading")
        files = ChunkFiles()
        if delimiter is None:
            with file.open("rb") as start:
                delimiter = find_delimiter(start.read(SAMPLE))
        for batch in csv_batches(file, delimiter):
            files.add(batch)
        dataset = files.dataset()
        names = dataset.schema.names
        found = label_names(Table(file, tuple(map(Column, names)), None), labels)
        features = [name for name in names if name not in found]
        return cls(ArrowColumns(dataset, features, found, file=file, folder=files.folder), **options)

    @classmethod
    def from_libsvm(cls, path: str | os.PathLike[str], **options: Unpack[TableOptions]) -> Self:
        """A file of libsvm or the extreme classification repository, read in blocks and stored by columns; it stays sparse."""
        source, filled = libsvm_source(Path(path))
        table = cls(source, **options)
        return table if filled.all() else table.take_rows(filled)

    @classmethod
    def from_arff(cls, path: str | os.PathLike[str], labels: Labels | None = None, **options: Unpack[TableOptions]) -> Self:
        """An ARFF file, read in blocks and stored by columns; sparse rows stay sparse."""
        arrow(Path(path), "reading")
        return cls(arff_source(Path(path), labels), **options)

    @classmethod
    def from_arrow(cls, stream: Any, labels: Sequence[str], **options: Unpack[TableOptions]) -> Self:
        """A pyarrow dataset, or a stream of record batches: a reader of pyarrow, a relation of DuckDB, a frame of polars.

        A stream is stored as Parquet first.
        """
        dataset, folder = dataset_of(stream)
        names = dataset.schema.names
        missing = [name for name in labels if name not in names]
        if missing:
            raise InputError(f"labels: there is no column named {missing[0]!r}.")
        features = [name for name in names if name not in set(labels)]
        return cls(ArrowColumns(dataset, features, list(labels), folder=folder), **options)

    @classmethod
    def from_chunks(cls, chunks: Iterable[tuple[Any, Any]], **options: Unpack[TableOptions]) -> Self:
        """Chunks of rows ``(X, Y)``: arrays, frames or sparse matrices with the same columns, which are stored first."""
        return cls(stored_chunks(chunks), **options)

    @classmethod
    def from_dask(cls, X: TableLike, Y: TargetsLike | None, **options: Unpack[TableOptions]) -> Self:
        """An array or frame of Dask, with labels of Dask or in memory. Some columns are computed at a time; nothing is stored.

        With a client (``distributed.Client``) the columns are computed on its cluster, and the selection is counted there.
        """
        return cls(DaskSource.of(X, Y), **options)

    @property
    def n_rows(self) -> int:
        return self._source.n_rows if self._rows is None else int(np.count_nonzero(self._rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, self._source.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self._source.names[0] is None else tuple(self._source.names[0])

    @property
    def label_names(self) -> tuple[str, ...] | None:
        return None if self._source.names[1] is None else tuple(self._source.names[1])

    @property
    def n_labels(self) -> int:
        return self._source.n_labels

    @property
    def on_cluster(self) -> bool:
        """True when the rows are on a Dask cluster, which then also counts them by default."""
        return self._source.on_cluster

    @property
    def is_sparse(self) -> bool:
        """True when the features are sparse."""
        return self._source.is_sparse

    def groups(self, columns: Sequence[int]) -> list[list[int]]:
        """Features in groups that are read and binned together within the memory limit."""
        return self._source.groups(columns, self.memory_limit // 2)

    @property
    def key(self) -> str:
        """A hash of what the rows depend on: their files or contents, columns, rows that are left out.

        Where that is not known, as for collections of Dask, every table has another key.
        """
        digest = hashlib.sha256(repr((self._source.names, type(self._source).__name__)).encode())
        digest.update(self._token if self._source.origin is None else self._source.origin.encode())
        digest.update(b"" if self._rows is None else np.packbits(self._rows).tobytes())
        return digest.hexdigest()

    def take_rows(self, rows: NDArray[np.bool_]) -> Self:
        """Only the rows where ``rows`` is true."""
        taken = copy(self)
        taken._rows = rows.copy() if self._rows is None else self._rows.copy()
        if self._rows is not None:
            taken._rows[self._rows] = rows
        return taken

    def features(self, columns: Sequence[int]) -> Any:
        """Some features as a frame, or as an array or sparse matrix where the chunks were that."""
        return self._source.features(columns, self._rows)

    def label(self, column: int) -> Any:
        """One label, as :meth:`features`."""
        return self._source.label(column, self._rows)

    def sparse_labels(self) -> Any:
        """All labels, if they are a sparse matrix; else None."""
        return self._source.sparse_labels(self._rows)

    def __repr__(self) -> str:
        return f"ChunkedTable({self.n_rows} rows, {self.shape[1]} features, {self.n_labels} labels)"
