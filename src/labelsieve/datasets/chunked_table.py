"""Tables that do not fit into memory: read column by column from files, or from chunks of rows that are stored first."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.resources import available_memory
from labelsieve.datasets.chunk_files import ChunkFiles, csv_batches, dataset_of, numbered, pyarrow_dataset
from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.dataset_frames import with_names
from labelsieve.datasets.readers.column_table import Column, Table
from labelsieve.datasets.readers.label_columns import Labels, label_names
from labelsieve.datasets.readers.memory_budget import in_words, read_size
from labelsieve.datasets.readers.parquet import arrow, read_metadata, stored_columns, tabulate
from labelsieve.datasets.readers.target_columns import targets
from labelsieve.errors import InputError, whole_number

CELL_BYTES = 56  # of a cell of the columns that are read and binned together: as it is stored, as a number, and sorted
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class ChunkedTable:
    """Features and labels in files, for selectors that read them column by column: ``Sieve(...).fit(table)``.

    Make one with :meth:`from_parquet`, :meth:`from_csv`, :meth:`from_arrow` or :meth:`from_chunks`. The selection is that of
    the whole table in memory, bit for bit.

    Parameters of all of them
    -------------------------
    memory_limit : int or str, default=None
        Memory that fitting may take, in bytes or as ``"2GB"``; default: half of the available memory.
    cache_folder : path, default=None
        Where the encoded columns stay. A fit that was stopped continues there, and a fit with another criterion starts from
        them. Default: a temporary file, of which nothing stays.

    Attributes
    ----------
    feature_names, label_names : tuple of str
    n_rows : int
    memory_limit : int

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
        self,
        dataset: Any,
        features: Sequence[str],
        labels: Sequence[str],
        *,
        memory_limit: int | str | None = None,
        cache_folder: Path | str | None = None,
        names: tuple[Sequence[str] | None, Sequence[str] | None] | None = None,
        file: Path | None = None,
        folder: Any = None,
    ) -> None:
        """``file``: text is read by the rules of files; ``names``: other names of features and labels, None for none."""
        if not features or not labels:
            raise InputError(f"A table needs features and labels, and there are {len(features)} and {len(labels)}.")
        self._dataset, self._features, self._labels, self._file = dataset, tuple(features), tuple(labels), file
        self._names = (self._features, self._labels) if names is None else names
        self._folder = folder  # a temporary folder, removed with the table
        self._rows: NDArray[np.bool_] | None = None
        self._n_stored = int(dataset.count_rows())
        if self._n_stored == 0:
            raise DatasetError("there are no rows.", "Is the file complete?", file)
        free = (available_memory() or 2**32) // 2
        limit = read_size(memory_limit, "memory_limit") if isinstance(memory_limit, str) else memory_limit
        self.memory_limit = free if limit is None else whole_number(limit, "memory_limit", 1, 2**62)
        self.cache_folder = None if cache_folder is None else Path(cache_folder)
        needed = CELL_BYTES * self._n_stored
        if needed > self.memory_limit:
            raise MemoryError(
                f"One column of {self._n_stored:,} rows needs about {in_words(needed)} while it is binned, and memory_limit is "
                f"{in_words(self.memory_limit)}; raise it, or take a sample of the rows."
            )

    @classmethod
    def from_parquet(cls, path: Paths, labels: Labels | None = None, **options: Any) -> Self:
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
        names = stored_columns(metadata, dataset.schema.names)
        nested = [field for field in dataset.schema if field.name in names and pyarrow.types.is_nested(field.type)]
        if nested:
            raise DatasetError(
                f"column {nested[0].name!r} holds {nested[0].type}, which is neither numbers nor text.", "Leave it out.", first
            )
        declared = None if described is None else described.labels
        found = label_names(Table(first, tuple(map(Column, names)), None, label_names=declared), labels)
        return cls(dataset, [name for name in names if name not in found], found, file=first, **options)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], labels: Labels, *, delimiter: str = ",", **options: Any) -> Self:
        """A CSV file with a header row, which is stored as Parquet first. Types of columns are those of the first megabyte."""
        file = Path(path)
        arrow(file, "reading")
        files = ChunkFiles()
        for batch in csv_batches(file, delimiter):
            files.add(batch)
        dataset = files.dataset()
        names = dataset.schema.names
        found = label_names(Table(file, tuple(map(Column, names)), None), labels)
        features = [name for name in names if name not in found]
        return cls(dataset, features, found, file=file, folder=files.folder, **options)

    @classmethod
    def from_arrow(cls, stream: Any, labels: Sequence[str], **options: Any) -> Self:
        """A pyarrow dataset, or a stream of record batches: a reader of pyarrow, a relation of DuckDB, a frame of polars.

        A stream is stored as Parquet first.
        """
        dataset, folder = dataset_of(stream)
        names = dataset.schema.names
        missing = [name for name in labels if name not in names]
        if missing:
            raise InputError(f"labels: there is no column named {missing[0]!r}.")
        return cls(dataset, [name for name in names if name not in set(labels)], list(labels), folder=folder, **options)

    @classmethod
    def from_chunks(cls, chunks: Iterable[tuple[Any, Any]], **options: Any) -> Self:
        """Chunks of rows ``(X, Y)``, arrays or frames with the same columns, which are stored as Parquet first."""
        files = ChunkFiles()
        names: tuple[Sequence[str] | None, Sequence[str] | None] | None = None
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
        return cls(files.dataset(), features, labels, names=names, folder=files.folder, **options)

    @property
    def n_rows(self) -> int:
        return self._n_stored if self._rows is None else int(np.count_nonzero(self._rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, len(self._features)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self._names[0] is None else tuple(self._names[0])

    @property
    def label_names(self) -> tuple[str, ...] | None:
        return None if self._names[1] is None else tuple(self._names[1])

    @property
    def n_labels(self) -> int:
        return len(self._labels)

    @property
    def columns_at_a_time(self) -> int:
        """Columns that are read together within the memory limit."""
        return max(1, self.memory_limit // 2 // (CELL_BYTES * self._n_stored))

    @property
    def key(self) -> str:
        """A hash of what the rows depend on: files with sizes and times, columns, rows that are left out."""
        digest = hashlib.sha256(repr((self._features, self._labels)).encode())
        for path in self._dataset.files:
            state = Path(path).stat()
            digest.update(f"{os.path.realpath(path)} {state.st_size} {state.st_mtime_ns}".encode())
        digest.update(b"" if self._rows is None else np.packbits(self._rows).tobytes())
        return digest.hexdigest()

    @property
    def is_stored(self) -> bool:
        """True when the rows are in files that last, so that a cache of what was computed from them can be used again."""
        return self._folder is None and bool(getattr(self._dataset, "files", ()))

    def take_rows(self, rows: NDArray[np.bool_]) -> Self:
        """Only the rows where ``rows`` is true."""
        taken = copy(self)
        taken._rows = rows.copy() if self._rows is None else self._rows.copy()
        if self._rows is not None:
            taken._rows[self._rows] = rows
        return taken

    def features(self, columns: Sequence[int]) -> Any:
        """Some features as a frame, or as an array where the chunks were arrays."""
        table = self._read([self._features[j] for j in columns])
        if self._file is not None:
            parsed = tabulate(arrow(self._file, "reading"), table, self._file)
            values = {column.name: column.values for column in parsed.columns if column.values is not None}
            return with_names(parsed.cells, parsed.names, values)
        if self._names[0] is None:
            return np.column_stack([column.to_numpy() for column in table.columns])
        return table.rename_columns([self._names[0][j] for j in columns])

    def label(self, column: int) -> Any:
        """One label, as :meth:`features`."""
        table = self._read([self._labels[column]])
        if self._file is not None:
            parsed = tabulate(arrow(self._file, "reading"), table, self._file)
            values = targets(parsed.cells, parsed.columns, self._file)
            classes = {one.name: one.values for one in parsed.columns if one.values is not None and values.dtype != np.uint8}
            return with_names(values, parsed.names, classes)
        if self._names[1] is None:
            return table.column(0).to_numpy()
        return table.rename_columns([self._names[1][column]])

    def _read(self, names: list[str]) -> Any:
        table = self._dataset.to_table(columns=names)
        return table if self._rows is None else table.filter(self._rows)

    def __repr__(self) -> str:
        return f"ChunkedTable({self.n_rows} rows, {len(self._features)} features, {len(self._labels)} labels)"
