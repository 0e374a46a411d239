"""Where the columns of a :class:`~labelsieve.datasets.ChunkedTable` are read from."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labelsieve.datasets.chunk_files import TemporaryFolder
from labelsieve.datasets.dataset import with_names
from labelsieve.datasets.readers.column_table import Table
from labelsieve.datasets.readers.label_sets import find_separator
from labelsieve.datasets.readers.parquet import arrow, read_metadata, tabulate
from labelsieve.datasets.readers.target_columns import targets
from labelsieve.errors import DatasetError
from labelsieve.fingerprint import content_print, file_print, text_print

CELL_BYTES = 56  # of a cell of the columns that are read and binned together: as it is stored, as a number, and sorted
Names = tuple[Sequence[str] | None, Sequence[str] | None]
Rows = NDArray[np.bool_] | None


class ColumnSource(ABC):
    """Features and labels of a table, some columns at a time.

    Attributes
    ----------
    n_rows, n_features, n_labels : int
    names : pair of sequences of str or None
        Of the features and of the labels.
    origin : str or None
        A hash of what the features depend on: their files, or their values. None if it is not known.
    on_cluster : bool
        True when the rows are on a Dask cluster.
    longest : int
        Stored cells of the column that has the most.
    is_sparse : bool
        True when features are sparse matrices.
    """

    n_rows: int
    n_features: int
    n_labels: int
    names: Names
    longest: int
    is_sparse: ClassVar[bool] = False

    @property
    def origin(self) -> str | None:
        return None

    @property
    def on_cluster(self) -> bool:
        return False

    @abstractmethod
    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        """Some features of the rows where ``rows`` is true: a frame, an array or a sparse matrix."""

    @abstractmethod
    def label(self, column: int, rows: Rows) -> Any:
        """One label."""

    def sparse_labels(self, rows: Rows) -> Any:
        """All labels if they are a sparse matrix, else None."""
        return None

    @abstractmethod
    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        """The features in groups that are read and binned together within ``limit`` bytes."""


class TableColumns(ColumnSource):
    """Base of sources whose columns are all as long as the table.

    ``names``: other names of features and labels than those of the columns, None for none; ``file``: text is read by the rules
    of files; ``folder``: a temporary folder, which is removed with the source.
    """

    def __init__(
        self,
        features: Sequence[str],
        labels: Sequence[str],
        n_rows: int,
        *,
        names: Names | None = None,
        file: Path | None = None,
        folder: TemporaryFolder | None = None,
    ) -> None:
        self._features, self._labels, self._file, self._folder = tuple(features), tuple(labels), file, folder
        self.n_features, self.n_labels, self.n_rows, self.longest = len(features), len(labels), n_rows, n_rows
        self.names = (self._features, self._labels) if names is None else names

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        table = self._read([self._features[j] for j in columns], rows)
        if self._file is not None:
            parsed = tabulate(arrow(self._file, "reading"), table, self._file)
            values = {column.name: column.values for column in parsed.columns if column.values is not None}
            return with_names(parsed.cells, parsed.names, values)
        if self.names[0] is None:
            return np.column_stack([column.to_numpy() for column in table.columns])
        return table.rename_columns([self.names[0][j] for j in columns])

    def label(self, column: int, rows: Rows) -> Any:
        table = self._read([self._labels[column]], rows)
        if self._file is not None:
            parsed = tabulate(arrow(self._file, "reading"), table, self._file)
            self._refuse_label_sets(parsed)
            values = targets(parsed.cells, parsed.columns, self._file)
            classes = {one.name: one.values for one in parsed.columns if one.values is not None and values.dtype != np.uint8}
            return with_names(values, parsed.names, classes)
        if self.names[1] is None:
            return table.column(0).to_numpy()
        return table.rename_columns([self.names[1][column]])

    def _refuse_label_sets(self, parsed: Table) -> None:
        """Refuse a single label column that :func:`labelsieve.datasets.load` splits into labels."""
        if len(self._labels) == 1 and find_separator(parsed.columns[0], parsed.cells[:, 0]) is not None:
            name = self._labels[0]
            remedy = "Store each label as a column of 0 and 1, or load the file."
            raise DatasetError(f"column {name!r} holds sets of labels, which are not read by columns.", remedy, self._file)

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        size = max(1, limit // (CELL_BYTES * self.n_rows))
        return [list(columns[start : start + size]) for start in range(0, len(columns), size)]

    @abstractmethod
    def _read(self, names: list[str], rows: Rows) -> Any:
        """Columns as a table of pyarrow."""


class ArrowColumns(TableColumns):
    """The columns of a pyarrow dataset; options as for :class:`TableColumns`."""

    def __init__(self, dataset: Any, features: Sequence[str], labels: Sequence[str], **options: Any) -> None:
        super().__init__(features, labels, int(dataset.count_rows()), **options)
        self._dataset = dataset

    @property
    def origin(self) -> str | None:
        """Paths, sizes and times of files that last; the contents of temporary ones."""
        files = getattr(self._dataset, "files", ())
        if self._folder is not None:
            return text_print(*map(content_print, files))
        return file_print(*files) if files else None

    def features(self, columns: Sequence[int], rows: Rows) -> Any:
        numbers = self._read_numbers([self._features[j] for j in columns], rows)
        if numbers is None:
            return super().features(columns, rows)
        names = self.names[0]
        return numbers if names is None else with_names(numbers, [names[j] for j in columns], {}, copy=False)

    def _read_numbers(self, names: list[str], rows: Rows) -> NDArray[np.float64] | None:
        """Columns of numbers as an array, which is filled batch by batch; None if some hold anything else.

        Every array of the size of a column costs more than reading it: the system clears its memory, page by page.
        """
        fields = [self._dataset.schema.field(name) for name in names]
        if not all(self._is_number(field.type) and field.name not in self._declared for field in fields):
            return None
        n_rows = self.n_rows if rows is None else int(np.count_nonzero(rows))
        numbers = np.empty((n_rows, len(names)), order="F")
        start, top = 0, 0
        for batch in self._dataset.to_batches(columns=names):
            taken = None if rows is None else rows[start : start + len(batch)]
            n_taken = len(batch) if taken is None else int(np.count_nonzero(taken))
            for position, column in enumerate(batch.columns):
                values = column.to_numpy(zero_copy_only=False)
                numbers[top : top + n_taken, position] = values if taken is None else values[taken]
            start, top = start + len(batch), top + n_taken
        return numbers

    @cached_property
    def _declared(self) -> frozenset[str]:
        """Columns whose values the metadata of the file list."""
        described = read_metadata(self._dataset.schema.metadata)
        return frozenset() if described is None else frozenset(described.categories)

    def _is_number(self, kind: object) -> bool:
        text = str(kind)
        return text in ("float", "double") or (
            self._file is not None and text.lstrip("u") in ("int8", "int16", "int32", "int64")
        )

    def _read(self, names: list[str], rows: Rows) -> Any:
        table = self._dataset.to_table(columns=names)
        return table if rows is None else table.filter(rows)
