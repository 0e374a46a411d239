"""Arrays and frames of Dask as the source of a table."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Self

import numpy as np

from labelsieve.datasets.chunk_files import needs, numbered, plain_table
from labelsieve.datasets.column_sources import Rows, TableColumns
from labelsieve.errors import InputError, require_same_rows


def is_dask(value: object) -> bool:
    """True for an array, frame or series of Dask."""
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(value, "__dask_graph__")


class DaskSource(TableColumns):
    """Columns that Dask computes when they are read; labels may be in memory."""

    def __init__(self, X: Any, Y: Any, n_rows: int, features: Sequence[str] | None, labels: Sequence[str] | None) -> None:
        n_features, n_labels = X.shape[1], 1 if Y.ndim == 1 else Y.shape[1]
        stored = [f"x{j}" for j in range(n_features)], [f"y{j}" for j in range(n_labels)]
        super().__init__(*stored, n_rows, names=(features, labels))
        self._X, self._Y = X, Y

    @classmethod
    def of(cls, X: Any, Y: Any) -> Self:
        """Features ``X``, of Dask, and labels ``Y`` with the same rows."""
        if not is_dask(X) or X.ndim != 2:
            raise InputError(f"X must be an array of Dask with two dimensions or a frame of Dask, not {type(X).__name__}.")
        if Y is None:
            raise InputError("Labels are needed: fit(X, Y).")
        Y = Y if is_dask(Y) or hasattr(Y, "ndim") else np.asarray(Y)
        sizes = [_n_rows(X), _n_rows(Y)]
        require_same_rows(sizes[0], sizes[1])
        return cls(X, Y, sizes[0], _names(X), _names(Y))

    @property
    def on_cluster(self) -> bool:
        """True when Dask has a client."""
        try:
            return import_module("distributed").default_client() is not None
        except (ImportError, ValueError):
            return False

    def _read(self, names: list[str], rows: Rows) -> Any:
        parts = []
        for table, letter in ((self._X, "x"), (self._Y, "y")):
            wanted = [name for name in names if name[0] == letter]
            if not wanted:
                continue
            some = _take(table, [int(name[1:]) for name in wanted])
            computed = some.compute() if is_dask(some) else some
            found = plain_table(numbered(computed, letter.upper(), 0)[0])
            parts.append(found.rename_columns(wanted))
        table = parts[0]
        for part in parts[1:]:
            for name in part.column_names:
                table = table.append_column(name, part.column(name))
        return table if rows is None else table.filter(needs("pyarrow").array(rows))


def _n_rows(table: Any) -> int:
    """Rows; of frames and of arrays with chunks of unknown sizes they are counted."""
    if not is_dask(table):
        return len(table) if not hasattr(table, "shape") else int(table.shape[0])
    if hasattr(table, "npartitions") and hasattr(table, "map_partitions"):
        return len(table)
    return int(table.shape[0] if np.isfinite(table.shape[0]) else len(table.compute_chunk_sizes()))


def _names(table: object) -> tuple[str, ...] | None:
    columns = getattr(table, "columns", None)
    if columns is not None:
        return tuple(map(str, columns))
    name = getattr(table, "name", None) if hasattr(table, "map_partitions") or not is_dask(table) else None
    return None if name is None else (str(name),)


def _take(table: Any, columns: list[int]) -> Any:
    """Some columns of an array, frame or series."""
    if table.ndim == 1:
        return table
    return table[[table.columns[j] for j in columns]] if hasattr(table, "columns") else table[:, columns]
