"""Greedy JMI straight on labelsieve's counting core: the only file here that knows its interface.

It goes below the public selectors on purpose: packing and counting are measured, not validation or planning.
"""

from dataclasses import dataclass, replace

from benchmarks.clock import NEVER, Lap, Stopwatch
from benchmarks.greedy import greedy_jmi
from benchmarks.memory import extra_memory
from benchmarks.workloads import generate
from labelsieve.counting.backends import Column, NativeBackend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.information import Codes


@dataclass(frozen=True)
class Stages:
    """Where the time goes, from byte codes to the selection."""

    packing: Lap = NEVER
    pairs: Lap = NEVER
    counting: Lap = NEVER
    total: Lap = NEVER

    def best(self, other):
        return Stages(
            self.packing.best(other.packing),
            self.pairs.best(other.pairs),
            self.counting.best(other.counting),
            self.total.best(other.total),
        )


def fixed_point_values(rows, targets):
    """The integers that stand for ``n log n``; baselines use the same ones, so that ties are equal."""
    return FixedPoint.for_rows(rows, n_targets=targets).values


def select(workload, x, y, n_jobs):
    """The selection and its :class:`Stages`."""
    targets = workload.targets
    watch = Stopwatch()
    table = FixedPoint.for_rows(workload.rows, n_targets=targets)
    tabulating = watch.lap()

    backend = NativeBackend(Codes.from_values(x), Codes.from_values(y), table, n_jobs=n_jobs, strategy="auto")
    packing = watch.lap()

    feature_sums, _ = backend.singles()
    relevance = backend.pairs(reduce="sum") - targets * feature_sums
    pairs = watch.lap()

    def gains(newest):
        panel = backend.panel(Column(x[:, newest], workload.levels), reduce="sum")
        return panel.triple - targets * panel.pair

    selected = greedy_jmi(relevance, gains, workload.steps)
    counting = watch.lap()
    return selected, Stages(packing, pairs, counting, tabulating + packing + pairs + counting)


def selection_memory(workload):
    """Peak bytes of a selection beyond its input; call it in a fresh process.

    A tiny problem goes first: what is loaded or set up once per process is not the selection's.
    """
    tiny = replace(workload, rows=256, features=20, targets=min(workload.targets, 4), steps=2)
    select(tiny, *generate(tiny), n_jobs=1)
    x, y = generate(workload)
    return extra_memory(lambda: select(workload, x, y, n_jobs=1))
