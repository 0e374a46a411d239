"""The backend that counts on the workers of a Dask cluster, which hold either columns or rows."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.chunked.codes_file import MappedCodes
from labelsieve.counting.backends.chunked.packed_rows import BLOCK, Layout
from labelsieve.counting.backends.dask.cluster import Cluster, find_client
from labelsieve.counting.backends.dask.rows import ADDED, DaskRows, StoredCodes, default_part_rows, narrow
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import ALL_TARGETS, Backend, Column, Condition, Panel, Reduce, RowOptions, Sums
from labelsieve.counting.backends.table_backend import TableBackend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import one_of
from labelsieve.tables.codes import Codes


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


# Unit costs, measured by benchmarks/chunks.py and benchmarks/dask_layouts.py on a machine that was busy; only ratios matter.
ROW_SECONDS = 9e-9  # of a row, a target and a block of 512 one-hot columns
LISTED_SECONDS = 3.5e-9  # of a row and a target, of sparse features in the layout by rows
SCAN_SECONDS = 2e-9  # of a row, of sparse features in the layout by columns
CELL_SECONDS = 10e-9  # of a cell of a table whose sum is taken
BYTE_SECONDS = 1e-9  # of a byte that is sent between machines: 8 gigabits a second
TASK_SECONDS = 5e-3  # of a task that the scheduler hands out
USABLE = 0.5  # of the memory of a worker

DaskLayout = Literal["auto", "rows", "columns"]


@dataclass(frozen=True)
class ClusterShape:
    """The sizes on which the costs of a layout depend.

    Attributes
    ----------
    n_rows, n_features, n_targets : int
    n_columns : int
        One-hot columns of all features.
    n_classes : int
        Classes of all targets, less one for each.
    n_levels : float
        Of a feature, on average.
    n_workers : int
        Threads of all workers.
    n_parts : int
        Parts of the rows.
    n_stored : int, default=0
        Stored cells of sparse features; 0 for dense ones.
    n_stored_targets : int, default=0
        The same of the targets.
    """

    n_rows: int
    n_features: int
    n_targets: int
    n_columns: int
    n_classes: int
    n_levels: float
    n_workers: int
    n_parts: int
    n_stored: int = 0
    n_stored_targets: int = 0

    @property
    def n_blocks(self) -> int:
        """Blocks of 512 one-hot columns."""
        return max(1, -(-self.n_columns // BLOCK))

    @property
    def column_parts(self) -> int:
        """Groups of features, one for each worker; of dense ones no smaller than a block, which takes as long as part of it."""
        return max(1, min(self.n_workers, self.n_features, self.n_features if self.n_stored else self.n_blocks))

    def seconds_of_step(self, layout: str) -> float:
        """Work and transfers of a step, by the unit costs; the busiest machine counts."""
        cells = self._bytes_of_counts / 8 * CELL_SECONDS
        if layout == "columns":
            parts = self.column_parts
            sent = self.n_rows * np.ceil(np.log2(parts + 1)) + 8 * self.n_features * (1 + self.n_targets)
            work = ROW_SECONDS * self.n_rows * self.n_targets * -(-self.n_blocks // parts)
            work = SCAN_SECONDS * self.n_rows if self.n_stored else work
            return float(work + cells / parts + BYTE_SECONDS * sent + TASK_SECONDS * (1 + parts))
        share = -(-self.n_parts // min(self.n_workers, self.n_parts)) / self.n_parts  # of the busiest worker
        received = self._bytes_of_counts * (1 + ADDED * np.ceil(np.log(max(2, self.n_parts)) / np.log(ADDED)))
        work = share * self.n_rows * self.n_targets * (LISTED_SECONDS if self.n_stored else ROW_SECONDS * self.n_blocks)
        tasks = TASK_SECONDS * self.n_parts * (1 + 1 / ADDED)
        return float(work + cells + BYTE_SECONDS * (self.n_rows + received) + tasks)

    def bytes_of_worker(self, layout: str) -> int:
        """Codes, packed features and targets that one worker holds."""
        features = 12 * self.n_stored if self.n_stored else self.n_rows * (64 * self.n_blocks + self.n_features)
        if layout == "columns":
            targets = 12 * self.n_stored_targets if self.n_stored_targets else 2 * self.n_rows * self.n_targets
            return features // self.column_parts + targets
        return int((features + 2 * self.n_rows * self.n_targets) * max(1 / self.n_workers, 1 / self.n_parts))

    @property
    def _bytes_of_counts(self) -> int:
        return int(8 * self.n_columns * max(1.0, self.n_levels - 1) * max(1, self.n_classes))


def choose_layout(shape: ClusterShape, memory: int | None) -> str:
    """The layout of the cheapest step among those that fit into ``memory`` bytes of a worker.

    >>> long = ClusterShape(10**7, 100, 5, 400, 5, 5.0, n_workers=8, n_parts=32)
    >>> wide = ClusterShape(5000, 50_000, 300, 200_000, 300, 5.0, n_workers=8, n_parts=60)
    >>> choose_layout(long, None), choose_layout(wide, None), choose_layout(wide, 10**6)
    ('rows', 'columns', 'rows')
    """
    if memory is not None and shape.bytes_of_worker("columns") > USABLE * memory:
        return "rows"
    return min(("rows", "columns"), key=shape.seconds_of_step)


def dask_backend(
    X: Codes,
    Y: Codes,
    fixed: FixedPoint,
    *,
    client: object = None,
    layout: DaskLayout = "auto",
    part_rows: int | None = None,
    timeout: float = 60.0,
    **options: Unpack[RowOptions],
) -> Backend:
    """A backend that counts on the workers of a Dask cluster: ``Sieve(backend="dask")``.

    ``Sieve(backend=partial(dask_backend, layout="rows"))`` changes settings. The selection is that of one process, bit for bit,
    for any layout, any parts and any number of workers.

    Parameters
    ----------
    X, Y, fixed, weights, row_index, n_jobs
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    client : distributed.Client, default=None
        Default: the newest client of this process.
    layout : {"auto", "rows", "columns"}, default="auto"
        ``"rows"``: every worker has some rows, and counts are added up. ``"columns"``: every worker has some features and all
        targets, and the selected column is sent to all of them. ``"auto"``: the cheaper one.
    part_rows : int, default=None
        Rows of a part in the layout by rows, at most; default: about 4 MB of codes, or four parts for each thread where workers
        read the codes from files.
    timeout : float, default=60
        Seconds without a worker that runs, after which a ``ClusterError`` is raised.
    """
    one_of(layout, "layout", ("auto", "rows", "columns"))
    cluster = Cluster(find_client(client), timeout)
    workers = cluster.some_workers()
    shape = _shape_of(X, Y, workers, part_rows)
    part_rows = -(-X.n_rows // shape.n_parts)
    limits = [int(worker["memory_limit"]) for worker in workers if worker.get("memory_limit")]
    chosen = choose_layout(shape, min(limits, default=None)) if layout == "auto" else layout
    make = partial(DaskRows, part_rows=part_rows) if chosen == "rows" else partial(DaskColumns, n_parts=shape.column_parts)
    return make(X, Y, fixed, cluster=cluster, **options)


def _shape_of(X: Codes, Y: Codes, workers: list[dict[str, Any]], part_rows: int | None) -> ClusterShape:
    layout, n_workers = Layout.of(X), sum(int(worker["nthreads"]) for worker in workers)
    rows = part_rows or default_part_rows(X.n_columns, Y.n_columns)
    if part_rows is None and isinstance(X, MappedCodes) and X.folder is not None and X.dense is not None:  # nothing is sent
        rows = max(rows, -(-X.n_rows // (4 * n_workers)))
    return ClusterShape(
        Y.n_rows,
        X.n_columns,
        Y.n_columns,
        layout.n_blocks * BLOCK + layout.n_listed,
        int(Y.levels.sum()) - Y.n_columns,
        float(X.levels.mean()),
        n_workers,
        max(1, -(-X.n_rows // rows)),
        0 if X.sparse is None else int(X.sparse.starts[-1]),
        0 if Y.sparse is None else int(Y.sparse.starts[-1]),
    )
