"""A table whose columns are read from files when they are needed, so that it need not fit into memory.

:class:`ChunkedTable` has a constructor for each kind of input; what reads the columns is in ``column_sources``.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack
from uuid import uuid4

import joblib
import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.chunked.codes_file import CodesFile, MappedCodes, SparseCodesFile, one_writer
from labelsieve.datasets.column_sources import CELL_BYTES, ArrowColumns, ColumnSource, SparkColumns, needs
from labelsieve.datasets.readers.columns import Column, Table
from labelsieve.datasets.readers.files import in_words, read_size
from labelsieve.datasets.readers.labels import Labels, label_names
from labelsieve.datasets.readers.parquet import pandas_index
from labelsieve.datasets.stored_chunks import arrow_source, chunk_source, csv_source, dask_source, libsvm_source
from labelsieve.errors import DatasetError, InputError, whole_number
from labelsieve.fingerprint import text_print
from labelsieve.progress import progress_bar
from labelsieve.resources import available_memory
from labelsieve.tables.codes import Codes
from labelsieve.tables.targets import TargetTable, TargetTypes, read_targets, requested_types
from labelsieve.tables.types import StoredTable, TableLike, TargetsLike, WeightsLike

if TYPE_CHECKING:
    from labelsieve.discretize import Discretizer

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class TableOptions(TypedDict, total=False):
    """Keyword arguments that all constructors of :class:`ChunkedTable` accept."""

    memory_limit: int | str | None
    cache_folder: Path | str | None


class ChunkedTable(StoredTable):
    """Features and labels in files, for selectors that read them column by column: ``Sieve(...).fit(table)``.

    Make one with :meth:`from_parquet`, :meth:`from_csv`, :meth:`from_libsvm`, :meth:`from_arrow`, :meth:`from_dask`,
    :meth:`from_spark` or :meth:`from_chunks`. The selection is that of the whole table in memory, bit for bit. All take the
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
            raise DatasetError("there are no rows.", "Is the file complete, or does a filter leave nothing?")
        self._source, self._token = source, uuid4().bytes
        self._rows: NDArray[np.bool_] | None = None
        self._shown_to: Callable[[list[int], Any], None] | None = None
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
        """Make a table of a Parquet file, a folder of them, or a list of files.

        Columns are read as :func:`~labelsieve.datasets.load` reads them; ``labels`` are as there. Nothing is copied.
        """
        first = Path(path if isinstance(path, str | os.PathLike) else path[0])
        dataset = parquet_dataset(path)
        index = pandas_index(dataset.schema.metadata)
        names = [name for name in dataset.schema.names if name not in index]
        is_nested = needs("pyarrow").types.is_nested
        if nested := [field for field in dataset.schema if field.name in names and is_nested(field.type)]:
            raise DatasetError(
                f"column {nested[0].name!r} holds {nested[0].type}, which is neither numbers nor text.",
                "Leave it out; store each label of label sets as a column of 0 and 1, or load the file.",
                first,
            )
        found = label_names(Table(first, tuple(map(Column, names)), None), labels)
        return cls(ArrowColumns(dataset, [name for name in names if name not in found], found, file=first), **options)

    @classmethod
    def from_csv(
        cls, path: str | os.PathLike[str], labels: Labels, *, delimiter: str | None = None, **options: Unpack[TableOptions]
    ) -> Self:
        """Make a table of a CSV file with a header row, which is stored as Parquet first.

        Types of columns are those of the first megabyte. Where the delimiter is None, it is found as by
        :func:`~labelsieve.datasets.load`.
        """
        return cls(csv_source(Path(path), labels, delimiter), **options)

    @classmethod
    def from_libsvm(cls, path: str | os.PathLike[str], **options: Unpack[TableOptions]) -> Self:
        """Make a sparse table of a libsvm file or one of the extreme classification repository, which is stored first."""
        source, is_row = libsvm_source(Path(path))
        table = cls(source, **options)
        return table if is_row.all() else table.take_rows(is_row)

    @classmethod
    def from_arrow(cls, stream: Any, labels: Sequence[str], **options: Unpack[TableOptions]) -> Self:
        """Make a table of a pyarrow dataset or a stream of record batches: a pyarrow reader, a DuckDB relation, a polars frame.

        A stream is stored as Parquet first.
        """
        return cls(arrow_source(stream, labels), **options)

    @classmethod
    def from_chunks(cls, chunks: Iterable[tuple[Any, Any]], **options: Unpack[TableOptions]) -> Self:
        """Make a table of chunks of rows ``(X, Y)``, which are stored first: arrays, frames or sparse matrices."""
        return cls(chunk_source(chunks), **options)

    @classmethod
    def from_dask(cls, X: TableLike, Y: TargetsLike | None, **options: Unpack[TableOptions]) -> Self:
        """Make a table of an array or frame of Dask, with labels of Dask or in memory; columns are computed when they are read.

        With a client (``distributed.Client``) the columns are computed on its cluster, and the selection is counted there.
        """
        return cls(dask_source(X, Y), **options)

    @classmethod
    def from_spark(cls, frame: Any, labels: Any, *, weight: Any = None, **options: Unpack[TableOptions]) -> Self:
        """Make a table of a data frame of Spark: ``labels`` are names of columns, and ``weight`` that of the weights of rows.

        Spark caches the frame, and computes columns when they are read; the selection is counted on its executors.
        """
        return cls(SparkColumns.of(frame, labels, weight), **options)

    @property
    def n_rows(self) -> int:
        return self._source.n_rows if self._rows is None else int(np.count_nonzero(self._rows))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and features."""
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
    def backend(self) -> str:
        """Name of the backend that counts the rows by default: "chunked", or that of the cluster where they are."""
        return self._source.backend

    @property
    def weights(self) -> NDArray[np.float64] | None:
        return self._source.weights

    @property
    def is_sparse(self) -> bool:
        """True when the features are sparse."""
        return self._source.is_sparse

    def groups(self, columns: Sequence[int]) -> list[list[int]]:
        """Split the features into groups that are read and binned together within the memory limit."""
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
        """Return a table of only the rows where ``rows`` is true."""
        taken = copy(self)
        taken._rows = rows.copy() if self._rows is None else self._rows.copy()
        if self._rows is not None:
            taken._rows[self._rows] = rows
        return taken

    def features(self, columns: Sequence[int]) -> Any:
        """Read some features as a frame, or as an array or sparse matrix where the chunks were that."""
        return self._source.features(columns, self._rows)

    def label(self, column: int) -> Any:
        """Read one label in the form that :meth:`features` has."""
        return self._source.label(column, self._rows)

    def sparse_labels(self) -> Any:
        """Return all labels if they are a sparse matrix, else None."""
        return self._source.sparse_labels(self._rows)

    def targets(self, target_type: TargetTypes = "auto") -> TargetTable:
        """Read all targets, one after the other: one or two bytes for each class, eight for each number."""
        sparse = self.sparse_labels()
        if sparse is not None:
            return read_targets(sparse, target_type)
        wanted = requested_types(target_type, self.n_labels, self.label_names)
        read = [read_targets(self.label(column), str(kind)) for column, kind in enumerate(wanted)]
        if len(read) == 1:
            return read[0]
        classes = [targets.classes for targets in read]
        levels = np.concatenate([codes.levels for codes in classes])
        missing = np.concatenate([[codes.has_missing] for codes in classes])
        dense = np.empty((classes[0].n_rows, len(levels)), dtype=np.uint8 if levels.max() <= 256 else np.uint16, order="F")
        for position, codes in enumerate(classes):
            dense[:, position] = codes.column(0)
        codes = Codes(len(dense), levels, self.label_names, dense=dense, missing=missing if missing.any() else None)
        is_numeric = np.concatenate([targets.is_numeric for targets in read])
        return TargetTable(codes, is_numeric, np.hstack([targets.numbers for targets in read]))

    def encode(self, discretizer: "Discretizer", targets: Codes, weights: WeightsLike) -> MappedCodes:
        """Encode all features into a file: the columns of a table are binned independently of each other.

        Cost: every column is read once, and not at all if it is in ``cache_folder``.
        """
        key = self._codes_key(discretizer, targets, weights)
        names = self.feature_names or tuple(str(j) for j in range(self.shape[1]))
        folder = None if self.cache_folder is None else Path(self.cache_folder, key)
        with one_writer(folder), progress_bar("encoding features") as progress:
            file = (SparseCodesFile if self.is_sparse else CodesFile)(self.n_rows, names, folder=folder, key=key)
            waiting, done = file.unfinished, 0
            for columns in self.groups(waiting):
                some = discretizer.for_columns(columns, self.feature_names)
                features = self.features(columns)
                codes = some.encode(features, targets, weights)
                if isinstance(codes, list):
                    raise InputError(
                        "Cut points for each target need the table in memory; use MDL(targets='joint') or MDL(targets='copy')."
                    )
                file.write(columns, codes)
                if self._shown_to is not None:
                    self._shown_to(columns, features)
                del features
                done += len(columns)
                progress(done, len(waiting))
            return file.codes(self.memory_limit, backend=self.backend)

    @contextmanager
    def shown_to(self, look: Callable[[list[int], Any], None]) -> Iterator[None]:
        """Show the features that are encoded while the context lasts, and their columns, to ``look``."""
        self._shown_to = look
        try:
            yield
        finally:
            self._shown_to = None

    def _codes_key(self, discretizer: "Discretizer", targets: Codes, weights: WeightsLike) -> str:
        """A hash of what the codes depend on; of the targets too, if the discretizer is supervised."""
        if self.cache_folder is None:
            return ""
        of_targets = joblib.hash((targets.levels, targets.dense, targets.sparse)) if discretizer.uses_targets else ""
        settings = type(discretizer).__name__, joblib.hash(discretizer.get_params()), joblib.hash(weights)
        return text_print(self.key, *settings, of_targets)

    def __repr__(self) -> str:
        return f"ChunkedTable({self.n_rows} rows, {self.shape[1]} features, {self.n_labels} labels)"


def parquet_dataset(path: Paths) -> Any:
    """Open a Parquet file, a folder of them, or several files as a dataset of pyarrow."""
    paths = [os.fspath(path)] if isinstance(path, str | os.PathLike) else [os.fspath(one) for one in path]
    for one in paths:
        if not os.path.exists(one):
            raise DatasetError("there is no such file.", "Is the path right?", one)
    try:
        return needs("pyarrow.dataset").dataset(paths[0] if len(paths) == 1 else paths, format="parquet")
    except (OSError, ValueError) as error:
        raise DatasetError(f"it cannot be read as Parquet ({error}).", "Fetch the file again.", paths[0]) from error
