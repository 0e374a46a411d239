"""Sums of products on the workers of a Dask cluster: every worker adds up its rows, and the sums of workers are added."""

from functools import reduce
from operator import add
from typing import Any

from labelsieve.counting.backends.chunked.sums import ChunkedSums, SumRows
from labelsieve.counting.backends.dask.cluster import Cluster
from labelsieve.counting.sums import LinearSums, Wanted

ADDED = 8  # chunks whose sums are added up in one task


def _keep(rows: SumRows) -> SumRows:
    return rows


def _sums(rows: SumRows, wanted: Wanted) -> LinearSums:
    return rows.sums(wanted)


def _total(*parts: LinearSums) -> LinearSums:
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
        waiting = [self._cluster.submit(_sums, part, wanted) for part in self._parts]
        while len(waiting) > 1:
            waiting = [self._cluster.submit(_total, *waiting[i : i + ADDED]) for i in range(0, len(waiting), ADDED)]
        found: LinearSums = self._cluster.results(waiting)[0]
        return found
