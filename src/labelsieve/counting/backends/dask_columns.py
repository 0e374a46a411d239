"""Counting on the workers of a Dask cluster: each has some of the features, and all of their rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.dask_cluster import Cluster
from labelsieve.counting.backends.dask_rows import narrow
from labelsieve.counting.backends.joint_tables import ConditionColumns, JointTables
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import ALL_TARGETS, Column, Condition, CountBlock, Panel, Reduce, Sums
from labelsieve.counting.codes import Codes, SparseCodes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.joint_codes import sum_of_levels
from labelsieve.counting.mapped_codes import MappedCodes
from labelsieve.counting.row_weights import RowWeights
from labelsieve.errors import InputError


@dataclass(frozen=True)
class StoredColumns:
    """Columns of codes in a file that the workers can read."""

    path: str
    dtype: str
    n_rows: int
    levels: NDArray[np.uint32]
    start: int

    def read(self) -> Codes:
        """The columns."""
        shape = self.n_rows, len(self.levels)
        offset = self.start * self.n_rows * np.dtype(self.dtype).itemsize
        codes = np.fromfile(self.path, dtype=self.dtype, count=shape[0] * shape[1], offset=offset)
        return Codes(self.n_rows, self.levels, dense=codes.reshape(shape, order="F"))


class ColumnsOfWorker:
    """Some of the features, packed where they are counted. It can be sent, or made again, if a worker is lost."""

    def __init__(self, X: Codes | StoredColumns, others: tuple[Any, ...]) -> None:
        self._X, self._others = X, others

    @cached_property
    def _backend(self) -> NativeBackend:
        X = self._X.read() if isinstance(self._X, StoredColumns) else self._X
        Y, fixed, weights, row_index = self._others
        return NativeBackend(X, Y, fixed, weights=weights, row_index=row_index)

    def ask(self, method: str, *arguments: Any, **options: Any) -> Any:
        """The answer of the backend of these columns."""
        return getattr(self._backend, method)(*arguments, **options)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_backend"}


def _keep(value: Any) -> Any:
    return value


def _ask(columns: ColumnsOfWorker, method: str, given: tuple[NDArray[Any], int] | None, options: dict[str, Any]) -> Any:
    return columns.ask(method, *(() if given is None else (Column(*given),)), **options)


class DaskColumns:
    """A :class:`~labelsieve.counting.backends.protocol.Backend` whose features are on the workers of a Dask cluster.

    Parameters
    ----------
    X, Y, fixed, weights, row_index, n_jobs
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`. Codes in a ``cache_folder`` are read there by the
        workers, so it must be a folder that all of them see.
    cluster : Cluster
    n_parts : int
        Groups of features.

    Notes
    -----
    Every worker has the targets. A step sends the selected column to all of them, and returns the sums over the cells of each
    feature: 8 bytes for each feature, or for each feature and target.
    """

    def __init__(
        self,
        X: Codes,
        Y: Codes,
        fixed: FixedPoint,
        *,
        cluster: Cluster,
        n_parts: int,
        weights: RowWeights | None = None,
        row_index: NDArray[np.uint32] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        n_rows = X.n_rows if row_index is None else len(row_index)
        if n_rows != Y.n_rows:
            raise InputError(f"X has {n_rows} rows and Y has {Y.n_rows}; they must be the same rows.")
        self.n_features, self.n_targets = X.n_columns, Y.n_columns
        self._X, self._others, self._cluster = X, (Y, fixed, weights, row_index), cluster
        self._bounds = np.linspace(0, X.n_columns, min(n_parts, X.n_columns) + 1).astype(int).tolist()
        self._conditions = ConditionColumns(X, Y, row_index)
        self._send()

    def _send(self) -> None:
        """Submit the targets and the features of all parts."""
        others = self._cluster.submit(_keep, self._others)
        bounds = zip(self._bounds[:-1], self._bounds[1:], strict=True)
        self._parts = [self._cluster.submit(ColumnsOfWorker, _columns_of(self._X, *each), others) for each in bounds]

    def _ask(self, parts: slice, method: str, given: Condition | None = None, **options: Any) -> list[Any]:
        column = None
        if given is not None:
            codes, n_levels = self._conditions.column(given)
            column = narrow(codes, n_levels), n_levels

        def compute() -> list[Any]:
            sent = None if column is None else self._cluster.submit(_keep, column)
            return self._cluster.results(
                [self._cluster.submit(_ask, part, method, sent, options) for part in self._parts[parts]]
            )

        return self._cluster.repeat(compute, self._send)

    def singles(self) -> tuple[Sums, Sums]:
        answers = self._ask(ALL_TARGETS, "singles")
        return np.concatenate([features for features, _ in answers]), answers[0][1]

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        return np.concatenate(self._ask(ALL_TARGETS, "pairs", targets=targets, reduce=reduce))

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        pairs, triples = zip(*self._ask(ALL_TARGETS, "panel", given, targets=targets, reduce=reduce), strict=True)
        return Panel(np.concatenate(pairs), np.concatenate(triples))

    def given_targets(self, given: Condition) -> Sums:
        sums: Sums = self._ask(slice(1), "given_targets", given)[0]
        return sums

    def given_single(self, given: Condition) -> int:
        _, fixed, weights, row_index = self._others
        return sum_of_levels(*self._conditions.column(given), fixed, None if weights is None else weights.of(row_index))

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        return self._tables.joint_counts(given, targets=targets, features=features)

    @cached_property
    def _tables(self) -> JointTables:
        Y, _, weights, row_index = self._others
        of_entries = None if weights is None else weights.of(row_index)
        of_rows = None if of_entries is None else of_entries.values / of_entries.unit
        return JointTables(self._X, Y, weights=of_rows, row_index=row_index)


def _columns_of(X: Codes, start: int, stop: int) -> Codes | StoredColumns:
    levels = X.levels[start:stop]
    if isinstance(X, MappedCodes) and X.dense is not None:
        if X.folder is not None and X.file is not None:
            return StoredColumns(str(X.file.raw.name), X.dense.dtype.str, X.n_rows, levels, start)
        in_memory: NDArray[Any] = np.array(X.dense[:, start:stop], order="F")
        return Codes(X.n_rows, levels, dense=in_memory)
    if X.dense is not None:
        return Codes(X.n_rows, levels, dense=X.dense[:, start:stop])
    assert X.sparse is not None
    low, high = int(X.sparse.starts[start]), int(X.sparse.starts[stop])
    listed = X.sparse.rows[low:high], X.sparse.codes[low:high]
    return Codes(
        X.n_rows, levels, sparse=SparseCodes(X.sparse.starts[start : stop + 1] - low, *listed, X.sparse.implicit[start:stop])
    )
