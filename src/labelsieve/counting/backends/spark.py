"""Counting on the executors of Spark: ``backend="spark"``. Rows go there once; each step is one pass of ``mapInArrow``.

Packed rows, and columns of whole numbers, are sent in parts of some megabytes and stay on the executors, cached by Spark. A
step sends what was selected, every task adds up the sums of its parts, and the driver adds up those of the tasks.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module
from importlib.util import find_spec
from operator import add
from typing import Any

from labelsieve.counting.backends.chunked.backend import (
    LEAST_COUNTS,
    CellCounts,
    ChunkCounts,
    ChunkedBackend,
    Counts,
    Entries,
    EntryChunks,
    GivenColumn,
    LevelCells,
    narrow,
)
from labelsieve.counting.backends.chunked.packed_rows import WORDS, Chunk, Layout, Part, aligned_zeros, pack
from labelsieve.counting.backends.chunked.sums import ChunkedSums, SumRows
from labelsieve.counting.sums import LinearSums, Wanted
from labelsieve.errors import ClusterError
from labelsieve.tables.codes import Codes

PART_BYTES = 2**22  # of packed rows: several parts for every task of a small cluster
SENT_BYTES = 2**26  # of parts that pass through the memory of the driver together, and that a task has in memory
MOST_TASKS = 256  # of a step, as long as none has more than SENT_BYTES


def find_session() -> Any:
    """Return the Spark session that is active in this process."""
    if find_spec("pyspark") is None:
        raise ClusterError("Counting on Spark needs PySpark 4 or newer: pip install pyspark")
    session = import_module("pyspark.sql").SparkSession.getActiveSession()
    if session is None:
        raise ClusterError("There is no Spark session; make one first: SparkSession.builder.getOrCreate().")
    return session


@contextmanager
def spark_errors(what: str) -> Iterator[None]:
    """Raise errors of Spark as a :class:`~labelsieve.errors.ClusterError` that says what was being done, and the remedy."""
    errors = import_module("pyspark.errors")
    java = import_module("py4j.protocol") if find_spec("py4j") is not None else None
    kinds = (errors.PySparkException, *(() if java is None else (java.Py4JError, ConnectionError)))
    try:
        yield
    except kinds as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if "Error: " in line and not line.startswith("at ")), "")
        reason = (reason or (lines[0] if lines else type(error).__name__))[:300]
        remedy = "Is the session running, is labelsieve installed on the executors, and do they have enough memory? Then repeat"
        raise ClusterError(f"Spark could not {what} ({reason}). {remedy} the fit.") from error


class SparkParts:
    """Objects that are cached by Spark, on the executors, and of which sums are computed there.

    They are kept by ``localCheckpoint``, so that nothing of them stays in the driver; what a lost executor had is lost.
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        session, pyarrow = find_session(), import_module("pyarrow")
        frames: list[Any] = []
        waiting: list[bytes] = []
        total = 0

        def send() -> None:
            rows = session.createDataFrame(pyarrow.table({"part": pyarrow.array(waiting, pyarrow.binary())}))
            frames.append(rows.localCheckpoint())
            waiting.clear()

        with spark_errors("take the rows that are to be counted"):
            for part in parts:
                waiting.append(pickle.dumps(part, protocol=pickle.HIGHEST_PROTOCOL))
                total += len(waiting[-1])
                if sum(map(len, waiting)) >= SENT_BYTES:
                    send()
            if waiting or not frames:
                send()
            every = reduce(lambda one, other: one.union(other), frames)
            self._rows = every.coalesce(max(MOST_TASKS, total // SENT_BYTES))

    def total(self, function: Callable[[Any], Any], plus: Callable[[Any, Any], Any]) -> Any:
        """Return the sum, by ``plus``, of a function of every part: one pass on the executors."""
        with spark_errors("count rows"):
            of_tasks = self._rows.mapInArrow(partial(_sum_of_parts, function, plus), "total binary").toArrow()
        return reduce(plus, (pickle.loads(content) for content in of_tasks.column("total").to_pylist()))


def _sum_of_parts(function: Callable[[Any], Any], plus: Callable[[Any, Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Add up a function of the parts of a task, which may have none, on an executor."""
    found = (function(pickle.loads(content.as_buffer())) for batch in batches for content in batch.column(0))
    for first in found:
        total = pickle.dumps(reduce(plus, found, first), protocol=pickle.HIGHEST_PROTOCOL)
        yield import_module("pyarrow").record_batch({"total": [total]})


@dataclass(frozen=True, eq=False)
class PackedPart:
    """Some of the rows, packed, with their targets and weights, and their places among all entries."""

    layout: Layout
    chunk: Chunk
    entries: EntryChunks
    where: Any
    classes: list[LevelCells]

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows on a boundary of a cache line, which they may have lost on their way."""
        words = aligned_zeros(len(self.chunk.words))
        words[:] = self.chunk.words
        yield self.chunk._replace(start=0, words=words)

    def count(self, part: Part, targets: list[int], given: GivenColumn | None) -> list[Counts]:
        """Count these rows; see :meth:`~labelsieve.counting.backends.chunked.backend.CellCounts.count`."""
        if given is not None:
            given = GivenColumn(given.codes[self.where].astype("uint32"), given.levels)
        return ChunkCounts(self, self.entries, most=2**62, n_threads=1, classes=self.classes).count(part, targets, given)


def _counts(rows: PackedPart, *, part: Part, targets: list[int], given: GivenColumn | None) -> list[Counts]:
    return rows.count(part, targets, given)


def _added(some: list[Counts], others: list[Counts]) -> list[Counts]:
    return [one + other for one, other in zip(some, others, strict=True)]


class SparkCounts(CellCounts):
    """Counts that the executors of Spark compute."""

    def __init__(self, X: Codes, entries: EntryChunks, *, most: int) -> None:
        super().__init__(Layout.of(X), entries, most=most)
        self._parts = SparkParts(self._packed(X))

    def _packed(self, X: Codes) -> Iterator[PackedPart]:
        listed = X.n_columns if X.sparse is None else -(-int(X.sparse.starts[-1]) // max(1, X.n_rows))
        of_row = 8 * WORDS * self.layout.n_blocks + (4 * listed + 8) * bool(self.layout.n_listed) + 2 * len(self.classes)
        step = max(1, PART_BYTES // max(1, of_row))
        for start in range(0, X.n_rows, step):
            n_rows = min(step, X.n_rows - start)
            some: Entries
            some, entries = self._entries.part(start, n_rows)
            if some.size:
                yield PackedPart(self.layout, pack(X, self.layout, start, n_rows), entries, some.where, self.classes)

    def count(self, part: Part, targets: Sequence[int], given: GivenColumn | None) -> list[Counts]:
        if given is not None:  # every task gets the column: as few bytes as it needs
            given = GivenColumn(narrow(given.codes, len(given.levels.cell)), given.levels)
        counts: list[Counts] = self._parts.total(partial(_counts, part=part, targets=list(targets), given=given), _added)
        return counts


@dataclass(eq=False, repr=False, kw_only=True)
class SparkBackend(ChunkedBackend):
    """A :class:`~labelsieve.counting.backends.protocol.Backend` whose rows are on the executors of the active Spark session.

    The parameters are those of :class:`~labelsieve.counting.backends.chunked.backend.ChunkedBackend`. A step sends the selected
    column to the executors, and every task returns counts of all one-hot columns.
    """

    def _make_counts(self, limit: int, most: int) -> CellCounts:
        return SparkCounts(self.X, self._entries, most=LEAST_COUNTS)


def _sums(rows: SumRows, *, wanted: Wanted) -> LinearSums:
    return rows.sums(wanted)


class SparkSums:
    """A :class:`~labelsieve.counting.sums.SumSource` whose rows are sent to the executors of the active Spark session once."""

    def __init__(self, rows: ChunkedSums) -> None:
        self.starts, self.ahead = rows.starts, rows.ahead
        self._parts = SparkParts(rows.chunks())

    def sums(self, wanted: Wanted) -> LinearSums:
        """Add up what is wanted over the rows of all executors."""
        found: LinearSums = self._parts.total(partial(_sums, wanted=wanted), add)
        return found
