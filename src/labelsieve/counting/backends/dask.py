"""Counting on a Dask cluster: ``backend="dask"``. Codes go to the workers once; each step sends the selected column.

The workers have either columns or rows. :class:`Cluster` waits for their results until they come, or until an error says what
is wrong. The linear model adds up products on the same workers: :class:`DaskSums`.
"""

import time
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError as FutureCanceled
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib import import_module
from importlib.util import find_spec
from operator import add
from typing import Any, Literal, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.chunked.backend import (
    CellCounts,
    ChunkCounts,
    ChunkedBackend,
    Counts,
    EntryChunks,
    GivenColumn,
    LevelCells,
    narrow,
)
from labelsieve.counting.backends.chunked.codes_file import MappedCodes, dense_rows
from labelsieve.counting.backends.chunked.packed_rows import BLOCK, Layout, PackedRows, Part
from labelsieve.counting.backends.chunked.sums import ChunkedSums, SumRows
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import (
    ALL_TARGETS,
    Backend,
    CodesBackend,
    Column,
    Condition,
    Panel,
    Reduce,
    RowOptions,
    Sums,
)
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.sums import LinearSums, Wanted
from labelsieve.errors import ClusterError, InputError, one_of
from labelsieve.tables.codes import Codes

USABLE = 0.5  # of the memory of a worker
PART_BYTES = 2**22  # of codes that are sent in one message
ADDED = 8  # parts whose counts or sums are added up in one task
POLL_SECONDS = 1.0  # between looks at the cluster
ATTEMPTS = 3  # to compute something whose inputs the cluster lost

DaskLayout = Literal["auto", "rows", "columns"]
Result = TypeVar("Result")


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
    """Build a backend that counts on the workers of a Dask cluster: ``Sieve(backend="dask")``.

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
        targets, and the selected column is sent to all of them. ``"auto"``: see ``choose_layout``.
    part_rows : int, default=None
        Rows of a part in the layout by rows, at most; default: about 4 MB of codes, or four parts for each thread where workers
        read the codes from files.
    timeout : float, default=60
        Seconds without a worker that runs, after which a ``ClusterError`` is raised.
    """
    one_of(layout, "layout", ("auto", "rows", "columns"))
    cluster = Cluster(find_client(client), timeout)
    workers = cluster.some_workers()
    n_workers = sum(int(worker["nthreads"]) for worker in workers)
    if layout == "auto":
        limits = [int(worker["memory_limit"]) for worker in workers if worker.get("memory_limit")]
        layout = choose_layout(X, Y, n_workers, min(limits, default=None))
    if layout == "columns":
        return DaskColumns(X, Y, fixed, cluster=cluster, n_parts=column_parts(X, n_workers), **options)
    if part_rows is None:
        part_rows = default_part_rows(X.n_columns, Y.n_columns)
        if isinstance(X, MappedCodes) and X.folder is not None and X.dense is not None:  # nothing is sent
            part_rows = max(part_rows, -(-X.n_rows // (4 * n_workers)))
    n_parts = max(1, -(-X.n_rows // part_rows))
    return DaskRows(X, Y, fixed, cluster=cluster, part_rows=-(-X.n_rows // n_parts), **options)


def choose_layout(X: Codes, Y: Codes, n_workers: int, memory: int | None) -> Literal["rows", "columns"]:
    """Choose the layout by columns if it keeps all workers busy and fits into ``memory`` bytes of a worker, else that by rows.

    By columns, a step returns a number for each feature instead of all counts. But a part of a block of 512 one-hot columns
    takes as long as the block, so there must be a block for every worker.
    """
    if column_parts(X, n_workers) < n_workers:
        return "rows"
    layout, n_targets = Layout.of(X), Y.n_columns
    features = 12 * len(X.sparse.rows) if X.sparse is not None else X.n_rows * (64 * layout.n_blocks + X.n_columns)
    targets = 12 * len(Y.sparse.rows) if Y.sparse is not None else 2 * Y.n_rows * n_targets
    fits = memory is None or features // n_workers + targets <= USABLE * memory
    return "columns" if fits else "rows"


def column_parts(X: Codes, n_workers: int) -> int:
    """Return the number of groups of features: one for each worker, but none smaller than a block of dense features."""
    layout = Layout.of(X)
    n_blocks = -(-(layout.n_blocks * BLOCK + layout.n_listed) // BLOCK)
    return max(1, min(n_workers, X.n_columns if X.sparse is not None else n_blocks))


class TasksLost(Exception):
    """Raised when the scheduler dropped the tasks of this client, as it does when their connection was cut."""


def find_client(client: Any = None) -> Any:
    """Return ``client`` if it is a Dask client; by default the newest one of this process."""
    if find_spec("distributed") is None:
        raise ClusterError("Counting on a cluster needs Dask: pip install 'labelsieve[dask]'")
    distributed = import_module("distributed")
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise ClusterError("There is no Dask client; make one first: distributed.Client('tcp://host:8786').") from None
    if not isinstance(client, distributed.Client):
        raise InputError(f"client must be a dask.distributed.Client, not {client!r}.")
    if client.asynchronous:
        raise InputError("client: an asynchronous one cannot be waited for here; make it with asynchronous=False.")
    return client


class Cluster:
    """A client of a cluster, which is lost after some seconds without a worker that runs, or without a scheduler."""

    def __init__(self, client: Any, timeout: float) -> None:
        self.client, self._timeout = client, timeout
        self._seen = time.monotonic()  # when some worker ran
        self._state = "no worker is connected"

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task and return its future; Dask repeats the task if its worker is lost."""
        return self.client.submit(function, *arguments, pure=False)

    def workers(self) -> list[dict[str, Any]]:
        """Return the threads (``nthreads``), memory (``memory_limit``) and state (``status``) of all workers."""
        identity = self.client.sync(self.client.scheduler.identity, callback_timeout=self._timeout)
        return list(identity["workers"].values())

    def some_workers(self) -> list[dict[str, Any]]:
        """Wait until there is a worker; return all workers."""
        try:
            self.client.wait_for_workers(1, timeout=self._timeout)
            return self.workers()
        except (TimeoutError, OSError) as error:
            raise ClusterError(
                f"The Dask cluster has had no worker for {self._timeout:g} seconds; start some: dask worker tcp://host:8786"
            ) from error

    def results(self, futures: list[Any]) -> list[Any]:
        """Wait for results; raise :class:`TasksLost` if everything must be submitted again."""
        self._seen = time.monotonic()
        return [self._result(future) for future in futures]

    def total(self, waiting: list[Any], plus: Callable[..., Any]) -> Any:
        """Wait for the sum of results, by ``plus``: the workers add up some of them at a time."""
        while len(waiting) > 1:
            waiting = [self.submit(plus, *waiting[i : i + ADDED]) for i in range(0, len(waiting), ADDED)]
        return self.results(waiting)[0]

    def repeat(self, compute: Callable[[], Result], restart: Callable[[], None]) -> Result:
        """Return ``compute()``; if the cluster loses tasks, ``restart()`` submits their inputs again and it is repeated."""
        for attempt in range(ATTEMPTS):
            try:
                return compute()
            except TasksLost as lost:
                if attempt == ATTEMPTS - 1:
                    raise ClusterError(
                        f"The Dask scheduler dropped the tasks of this client {ATTEMPTS} times ({lost}); is the network stable?"
                    ) from lost
                self._wait_for_connection()
                restart()
        raise AssertionError

    def _result(self, future: Any) -> Any:
        from distributed.scheduler import KilledWorker

        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if future.status == "error" and isinstance(future.exception(), TimeoutError):  # of the task, not of this wait
                    raise
                if not future.done():
                    self._look()
            except (CancelledError, FutureCanceled) as error:
                raise TasksLost(str(error)) from error
            except KilledWorker as error:
                raise ClusterError(
                    f"Several Dask workers ended while they did the same task, perhaps for lack of memory ({error}) "
                    "Give the workers more memory, or use layout='rows' with fewer rows in a part (part_rows=)."
                ) from error

    def _look(self) -> None:
        """Raise unless some worker ran within the time limit."""
        if self.client.status not in ("running", "connecting"):
            raise ClusterError("The Dask cluster is gone: its scheduler has ended. Start it again and repeat the fit.")
        try:
            workers = self.workers()
        except (TimeoutError, OSError) as error:
            self._state = f"the scheduler does not answer ({type(error).__name__})"
        else:
            paused = sum(worker["status"] == "paused" for worker in workers)
            self._state = f"{len(workers)} are connected, and {paused} of them are paused because their memory is full"
            if any(worker["status"] == "running" for worker in workers):
                self._seen = time.monotonic()
        if time.monotonic() - self._seen > self._timeout:
            raise ClusterError(
                f"No Dask worker has run for {self._timeout:g} seconds: {self._state}. Start workers, or give them more memory."
            )

    def _wait_for_connection(self) -> None:
        end = time.monotonic() + self._timeout
        while self.client.status != "running":
            if self.client.status not in ("connecting", "running") or time.monotonic() > end:
                raise ClusterError("The connection to the Dask scheduler was lost. Start it again and repeat the fit.")
            time.sleep(POLL_SECONDS / 10)


@dataclass(frozen=True, eq=False)
class StoredCodes:
    """Some rows and columns of codes in a file that the workers can read."""

    path: str
    dtype: str
    shape: tuple[int, int]
    levels: NDArray[np.uint32]
    rows: slice
    columns: slice

    @classmethod
    def of(cls, X: Codes, rows: slice, columns: slice) -> "StoredCodes | None":
        """Return a part of codes that are in a file with a name; None for other codes."""
        if not isinstance(X, MappedCodes) or X.folder is None or X.file is None or X.dense is None:
            return None
        return cls(str(X.file.raw.name), X.dense.dtype.str, X.shape, X.levels[columns], rows, columns)

    def read(self) -> Codes:
        """Load the codes of this part, its rows and columns, into memory."""
        table = np.memmap(self.path, dtype=self.dtype, mode="r", shape=self.shape, order="F")
        dense = np.array(table[self.rows, self.columns], order="F")
        return Codes(len(dense), self.levels, dense=dense)


@dataclass(eq=False)
class ColumnsOfWorker:
    """Some of the features, packed where they are counted. It can be sent, or made again, if a worker is lost."""

    X: Codes | StoredCodes
    others: tuple[Any, ...]

    @cached_property
    def backend(self) -> NativeBackend:
        """The backend that counts these features on the worker."""
        Y, fixed, weights, row_index = self.others
        X = self.X.read() if isinstance(self.X, StoredCodes) else self.X
        return NativeBackend(X, Y, fixed, weights=weights, row_index=row_index)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "backend"}


def _keep(value: object) -> Any:
    return value


def _singles(columns: ColumnsOfWorker, given: None) -> tuple[Sums, Sums]:
    return columns.backend.singles()


def _panel(columns: ColumnsOfWorker, given: tuple[NDArray[Any], int] | None, targets: slice, reduce: Reduce) -> Panel:
    return columns.backend.panel(None if given is None else Column(*given), targets=targets, reduce=reduce)


def _given_targets(columns: ColumnsOfWorker, given: tuple[NDArray[Any], int]) -> Sums:
    return columns.backend.given_targets(Column(*given))


@dataclass(eq=False, repr=False, kw_only=True)
class DaskColumns(CodesBackend):
    """A :class:`~labelsieve.counting.backends.protocol.Backend` whose features are on the workers of a Dask cluster.

    Every worker has the targets. A step sends the selected column to all of them, and returns the sums over the cells of each
    feature: 8 bytes for each feature, or for each feature and target. Codes in a ``cache_folder`` are read there by the
    workers, so it must be a folder that all of them see.
    """

    cluster: Cluster
    n_parts: int  # groups of features

    def __post_init__(self) -> None:
        super().__post_init__()
        self._bounds = np.linspace(0, self.n_features, min(self.n_parts, self.n_features) + 1).astype(int).tolist()
        self._send()

    def _send(self) -> None:
        """Submit the targets and the features of all parts."""
        others = self.cluster.submit(_keep, (self.Y, self.fixed, self.weights, self.row_index))
        bounds = zip(self._bounds[:-1], self._bounds[1:], strict=True)
        self._parts = [self.cluster.submit(ColumnsOfWorker, _columns_of(self.X, *each), others) for each in bounds]

    def singles(self) -> tuple[Sums, Sums]:
        answers = self._ask(_singles, None)
        return np.concatenate([features for features, _ in answers]), answers[0][1]

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        pairs, triples = zip(*self._ask(_panel, given, targets, reduce), strict=True)
        return Panel(np.concatenate(pairs), np.concatenate(triples))

    def given_targets(self, given: Condition) -> Sums:
        sums: Sums = self._ask(_given_targets, given, n_parts=1)[0]
        return sums

    def _ask(
        self, function: Callable[..., Any], given: Condition | None, *options: object, n_parts: int | None = None
    ) -> list[Any]:
        """Compute a function of the features of every part, or of the first parts, and of a condition, on the workers."""
        column = None
        if given is not None:
            codes, n_levels = self.column(given)
            column = narrow(codes, n_levels), n_levels

        def compute() -> list[Any]:
            sent = None if column is None else self.cluster.submit(_keep, column)
            tasks = [self.cluster.submit(function, part, sent, *options) for part in self._parts[:n_parts]]
            return self.cluster.results(tasks)

        return self.cluster.repeat(compute, self._send)


def _columns_of(X: Codes, start: int, stop: int) -> Codes | StoredCodes:
    if (stored := StoredCodes.of(X, slice(None), slice(start, stop))) is not None:
        return stored
    if X.dense is None:
        return X.take_columns(np.arange(start, stop))
    some: NDArray[Any] = X.dense[:, start:stop]
    in_memory = np.array(some, order="F") if isinstance(X, MappedCodes) else some
    return Codes(X.n_rows, X.levels[start:stop], dense=in_memory)


@dataclass(eq=False)
class RowsOfWorker:
    """Some of the rows, packed where they are counted. It can be sent, or made again, if a worker is lost."""

    X: Codes | StoredCodes
    entries: EntryChunks
    classes: list[LevelCells]

    @cached_property
    def _counts(self) -> ChunkCounts:
        rows = PackedRows(self.X.read() if isinstance(self.X, StoredCodes) else self.X, in_memory=2**62)
        return ChunkCounts(rows, self.entries, most=2**62, n_threads=1, classes=self.classes)

    def count(self, part: Part, targets: list[int], codes: NDArray[Any] | None, levels: LevelCells | None) -> list[Counts]:
        """Count the rows of this worker; see :meth:`~labelsieve.counting.backends.chunked.backend.CellCounts.count`."""
        given = None if codes is None or levels is None else GivenColumn(codes.astype(np.uint32), levels)
        return self._counts.count(part, targets, given)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_counts"}


def _count(rows: RowsOfWorker, *arguments: Any) -> list[Counts]:
    return rows.count(*arguments)


def _total(*parts: list[Counts]) -> list[Counts]:
    return [np.sum(counts, axis=0) for counts in zip(*parts, strict=True)]


class DaskCounts(CellCounts):
    """Counts that the workers of a cluster compute. They are added up on the workers, eight parts at a time."""

    def __init__(self, cluster: Cluster, X: Codes, entries: EntryChunks, *, most: int, part_rows: int) -> None:
        super().__init__(Layout.of(X), entries, most=most)
        self._cluster, self._X, self._part_rows = cluster, X, part_rows
        self._send()

    def count(self, part: Part, targets: Sequence[int], given: GivenColumn | None) -> list[Counts]:
        return self._cluster.repeat(lambda: self._count_once(part, list(targets), given), self._send)

    def _send(self) -> None:
        """Submit the rows of all parts."""
        X, entries = self._X, self._entries
        self._where: list[Any] = []
        self._parts: list[Any] = []
        for start in range(0, X.n_rows, self._part_rows):
            n_rows = min(self._part_rows, X.n_rows - start)
            some, of_part = entries.part(start, n_rows)
            if some.size == 0:
                continue
            self._where.append(some.where)
            rows = _rows_of(X, start, n_rows)
            self._parts.append(self._cluster.submit(RowsOfWorker, rows, of_part, self.classes))

    def _count_once(self, part: Part, targets: list[int], given: GivenColumn | None) -> list[Counts]:
        waiting = []
        for rows, where in zip(self._parts, self._where, strict=True):
            codes = levels = None
            if given is not None:
                codes, levels = narrow(given.codes[where], len(given.levels.cell)), given.levels
            waiting.append(self._cluster.submit(_count, rows, part, targets, codes, levels))
        total: list[Counts] = self._cluster.total(waiting, _total)
        return total


@dataclass(eq=False, repr=False, kw_only=True)
class DaskRows(ChunkedBackend):
    """A :class:`~labelsieve.counting.backends.protocol.Backend` whose rows are on the workers of a Dask cluster.

    Packed rows stay on the workers. A step sends the selected column, one byte for each row, and returns the counts. The rows
    of a worker that is lost are packed again by another one. Codes in a ``cache_folder`` are read as by :class:`DaskColumns`.
    """

    cluster: Cluster
    part_rows: int | None = None  # by default about 4 MB of codes

    def _make_counts(self, limit: int, most: int) -> CellCounts:
        part_rows = self.part_rows or default_part_rows(self.n_features, self.n_targets)
        return DaskCounts(self.cluster, self.X, self._entries, most=most, part_rows=part_rows)


def default_part_rows(n_features: int, n_targets: int) -> int:
    """Return the number of rows whose codes are about 4 MB."""
    return max(1, PART_BYTES // (n_features + n_targets))


def _rows_of(X: Codes, start: int, n_rows: int) -> Codes | StoredCodes:
    if (stored := StoredCodes.of(X, slice(start, start + n_rows), slice(None))) is not None:
        return stored
    if X.sparse is not None:
        rows = np.zeros(X.n_rows, dtype=bool)
        rows[start : start + n_rows] = True
        return X.take_rows(rows)
    return Codes(n_rows, X.levels, dense=np.array(dense_rows(X, start, n_rows), order="F"))


def _sums(rows: SumRows, wanted: Wanted) -> LinearSums:
    return rows.sums(wanted)


def _added(*parts: LinearSums) -> LinearSums:
    return reduce(add, parts)


class DaskSums:
    """A :class:`~labelsieve.counting.sums.SumSource` whose rows are sent to the workers of a cluster."""

    def __init__(self, cluster: Cluster, rows: ChunkedSums) -> None:
        self._cluster, self._rows = cluster, rows
        self.starts, self.ahead = rows.starts, rows.ahead
        self._send()

    def _send(self) -> None:
        self._parts: list[Any] = [self._cluster.submit(_keep, chunk) for chunk in self._rows.chunks()]

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted over the rows of all workers."""
        return self._cluster.repeat(lambda: self._sums_once(wanted), self._send)

    def _sums_once(self, wanted: Wanted) -> LinearSums:
        found: LinearSums = self._cluster.total([self._cluster.submit(_sums, part, wanted) for part in self._parts], _added)
        return found
