"""Threads and memory of a run, and blocks of columns on several threads, for calls of the core."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.number_table import NumberTable
from labelsieve.errors import InputError, is_whole

Result = TypeVar("Result")

FEW_VALUES = 200_000  # for which starting threads takes as long as the work
LINE = 8  # numbers that share a line of the cache in a table by rows: columns of a block are a multiple of it
BLOCKS = 4  # for each thread, or 2 if there are few columns: columns differ in cost


def n_threads(n_jobs: object) -> int:
    """Number of threads for ``n_jobs``, as joblib counts: None is one outside of a joblib context, -1 is all."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise InputError(f"n_jobs must be None or a whole number other than 0, not {n_jobs!r}.")
    threads: int = effective_n_jobs(None if n_jobs is None else int(n_jobs))
    return threads


def thread_context(n_jobs: object) -> AbstractContextManager[Any]:
    """The context of joblib for ``n_jobs`` threads, which :func:`map_ranges` uses; none if it has that number already."""
    if n_jobs is None or (threads := n_threads(n_jobs)) == n_threads(None):
        return nullcontext()
    context: AbstractContextManager[Any] = parallel_config(backend="threading", n_jobs=threads)
    return context


def available_memory() -> int | None:
    """Bytes available without swapping; None where the system does not report them."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def require_memory(n_bytes: int, purpose: str, n_features: int, n_targets: int) -> None:
    """Raise MemoryError when ``n_bytes`` exceed the available memory."""
    if n_bytes < 2**26:  # too small to check
        return
    free = available_memory()
    if free is not None and n_bytes > free:
        raise MemoryError(
            f"{purpose} {n_features} features and {n_targets} targets need {n_bytes / 1e9:.1f} GB "
            f"and {free / 1e9:.1f} GB are free; take fewer features or targets at a time."
        )


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns of a table; ``cells`` are their values among those that the table holds, column after column."""

    table: NumberTable
    columns: slice
    cells: slice

    @property
    def dense(self) -> NDArray[Any]:
        assert self.table.dense is not None
        return self.table.dense[:, self.columns]

    @property
    def listed(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Starts of the columns and values of a sparse table."""
        starts = self.table.sparse.indptr[self.columns.start : self.columns.stop + 1].astype(np.int64)
        return starts - starts[0], self.table.sparse.data[self.cells].astype(np.float64, copy=False)

    def numbers(self) -> core.NumberColumns:
        """The columns as the core reads them."""
        if self.table.dense is not None:
            return core.dense_numbers(self.dense)
        starts, values = self.listed
        return core.sparse_numbers(starts, self.table.sparse.indices[self.cells].astype(np.uint32), values, self.table.shape[0])


def map_blocks(work: Callable[[Block], Result], table: NumberTable) -> list[Result]:
    """``work`` for blocks of columns, in their order: see :func:`map_ranges`."""
    n_rows, n_columns = table.shape
    starts = range(0, n_rows * n_columns + 1, n_rows) if table.dense is not None else table.sparse.indptr

    def of_columns(first: int, last: int) -> Result:
        return work(Block(table, slice(first, last), slice(int(starts[first]), int(starts[last]))))

    return map_ranges(of_columns, n_columns, int(starts[n_columns]))


def map_ranges(work: Callable[[int, int], Result], n: int, n_values: int) -> list[Result]:
    """``work(first, last)`` for ranges of ``n`` columns or numbers, in their order.

    The number of threads is that of joblib's context (``joblib.parallel_config(n_jobs=...)``), in which the selectors encode.

    >>> map_ranges(lambda first, last: list(range(first, last)), 3, n_values=30)
    [[0, 1, 2]]
    """
    threads = 1 if n_values < FEW_VALUES else n_threads(None)
    width = min(-(-n // (BLOCKS * threads * LINE)) * LINE, -(-n // (2 * threads)))
    if threads == 1 or width >= n:
        return [work(0, n)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda first: work(first, min(first + width, n)), range(0, n, width)))
