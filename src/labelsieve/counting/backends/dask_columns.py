"""Counting on the workers of a Dask cluster: each has some of the features, and all of their rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.dask_cluster import Cluster
from labelsieve.counting.backends.dask_rows import StoredCodes, narrow
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import ALL_TARGETS, Column, Condition, Panel, Reduce, Sums
from labelsieve.counting.backends.table_backend import TableBackend
from labelsieve.counting.codes import Codes
from labelsieve.counting.mapped_codes import MappedCodes


@dataclass(eq=False)
class ColumnsOfWorker:
    """Some of the features, packed where they are counted. It can be sent, or made again, if a worker is lost."""

    X: Codes | StoredCodes
    others: tuple[Any, ...]

    @cached_property
    def _backend(self) -> NativeBackend:
        Y, fixed, weights, row_index = self.others
        X = self.X.read() if isinstance(self.X, StoredCodes) else self.X
        return NativeBackend(X, Y, fixed, weights=weights, row_index=row_index)

    def ask(self, method: str, *arguments: object, **options: object) -> Any:
        """The answer of the backend of these columns."""
        return getattr(self._backend, method)(*arguments, **options)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_backend"}


def _keep(value: object) -> Any:
    return value


def _ask(columns: ColumnsOfWorker, method: str, given: tuple[NDArray[Any], int] | None, options: dict[str, Any]) -> Any:
    return columns.ask(method, *(() if given is None else (Column(*given),)), **options)


@dataclass(eq=False, repr=False, kw_only=True)
class DaskColumns(TableBackend):
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

    cluster: Cluster
    n_parts: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._bounds = np.linspace(0, self.n_features, min(self.n_parts, self.n_features) + 1).astype(int).tolist()
        self._send()

    def _send(self) -> None:
        """Submit the targets and the features of all parts."""
        others = self.cluster.submit(_keep, (self.Y, self.fixed, self.weights, self.row_index))
        bounds = zip(self._bounds[:-1], self._bounds[1:], strict=True)
        self._parts = [self.cluster.submit(ColumnsOfWorker, _columns_of(self.X, *each), others) for each in bounds]

    def _ask(self, parts: slice, method: str, given: Condition | None = None, **options: object) -> list[Any]:
        column = None
        if given is not None:
            codes, n_levels = self.conditions.column(given)
            column = narrow(codes, n_levels), n_levels

        def compute() -> list[Any]:
            sent = None if column is None else self.cluster.submit(_keep, column)
            return self.cluster.results([self.cluster.submit(_ask, part, method, sent, options) for part in self._parts[parts]])

        return self.cluster.repeat(compute, self._send)

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


def _columns_of(X: Codes, start: int, stop: int) -> Codes | StoredCodes:
    if (stored := StoredCodes.of(X, slice(None), slice(start, stop))) is not None:
        return stored
    if X.dense is None:
        return X.take_columns(np.arange(start, stop))
    some: NDArray[Any] = X.dense[:, start:stop]
    in_memory = np.array(some, order="F") if isinstance(X, MappedCodes) else some
    return Codes(X.n_rows, X.levels[start:stop], dense=in_memory)
