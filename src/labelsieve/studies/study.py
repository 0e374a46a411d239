"""Study: a protocol and the folder of its results."""

import os
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal

from joblib import effective_n_jobs

from labelsieve.errors import one_of
from labelsieve.progress import progress_bar
from labelsieve.studies.dask_workers import check_client, run_on_dask
from labelsieve.studies.data import LoadedData
from labelsieve.studies.processes import Limits, run_here, run_in_processes
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.steps import Batch, DataFacts, StepResult, StudyPlan, handle_stale, make_plan
from labelsieve.studies.store import CellKey, ResourcesUsed, SelectionKey, StudyStore, stored_results

Changed = Literal["refuse", "rerun", "keep"]
CHANGED = ("refuse", "rerun", "keep")
OnCell = Callable[[int, int], Any]
Results = Generator[tuple[Batch, StepResult]]


@dataclass(frozen=True)
class Outcome:
    """The result of :meth:`Study.run`.

    Attributes
    ----------
    n_cells, n_run, n_known, n_failed, n_stale : int
        Cells of the protocol, those run now, already stored, failed, and stale ones that were kept.
    changes : str
        What differs from the stored cells.
    """

    n_cells: int
    n_run: int
    n_known: int
    n_failed: int
    n_stale: int
    changes: str


class Study:
    """Run a protocol, resuming where an earlier run ended.

    Parameters
    ----------
    protocol : Protocol
        What to run.
    folder : path
        Holds ``results.sqlite``. Every selection and every cell (data set, split, method, classifier) is written in a
        separate transaction as soon as it is known: after a run was killed, at any moment, the next one runs the missing cells.

    Examples
    --------
    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_feature_roles
    >>> data = make_feature_roles(80, random_state=0)
    >>> kinds = ("numeric",) * data.X.shape[1]
    >>> songs = Dataset(data.X, data.Y, tuple(data.feature_names), tuple(data.label_names), kinds, name="songs")
    >>> study = Study(Protocol([songs], ["jmi"], n_features="1..3", splits="2x50%"), tempfile.mkdtemp())
    >>> study.run().n_run, study.run().n_run
    (6, 0)
    """

    def __init__(self, protocol: Protocol, folder: str | os.PathLike[str]) -> None:
        self.protocol = protocol
        self.folder = folder

    def plan(self, *, changed: Changed = "refuse", retry_failed: bool = False) -> StudyPlan:
        """Plan the missing cells. Loads every data set once; runs and writes nothing."""
        one_of(changed, "changed", CHANGED)
        facts, stored = self._facts(), stored_results(self.folder)
        plan = make_plan(self.protocol, facts, stored, retry_failed=retry_failed, keep=changed == "keep")
        if changed == "rerun" and plan.reasons:
            kept = stored.without(plan.stale_selections, plan.stale_cells)
            again = make_plan(self.protocol, facts, kept, retry_failed=retry_failed)
            again.reasons = plan.reasons
            return again
        return plan

    def _facts(self) -> list[DataFacts]:
        return [DataFacts.of(self.protocol, LoadedData.of(source)) for source in self.protocol.datasets]

    def run(
        self,
        *,
        n_jobs: int | None = None,
        client: object = None,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        changed: Changed = "refuse",
        retry_failed: bool = False,
        on_cell: OnCell | None = None,
    ) -> Outcome:
        """Run the missing cells.

        Parameters
        ----------
        n_jobs : int, default=None
            Number of processes, one thread each; -1 is all cores. With None or 1 and no limits, cells run in this process.
            Scripts that use more need the usual ``if __name__ == "__main__":``.
        client : dask.distributed.Client, default=None
            Run on its cluster instead of processes. Workers need the same release of this library, and the files of the data
            sets under the same paths; results are written here. Limits are then those of the workers.
        time_limit, memory_limit : float, default=None
            Limits of a selection or an evaluation: seconds, and MB of its process (Linux). A step that exceeds one is recorded
            as failed. The defaults are the limits of the protocol.
        changed : {"refuse", "rerun", "keep"}, default="refuse"
            How to treat stored cells of other data, splits, settings or code: refuse to run, run them again, or keep them
            next to new ones; the outcome counts them.
        retry_failed : bool, default=False
            Run failed cells again.
        on_cell : callable, default=None
            Called after each cell with the numbers of finished cells and of all cells to run.
        """
        one_of(changed, "changed", CHANGED)
        own = self.protocol if client is None else None
        limits = Limits(
            time_limit if time_limit is not None or own is None else own.time_limit,
            memory_limit if memory_limit is not None or own is None else own.memory_limit,
            None if own is None else own.cpu_limit,
        )
        limits.check()
        if client is not None:
            check_client(client, limits, n_jobs)
        started = time.perf_counter()
        facts = self._facts()
        with StudyStore(self.folder) as store:
            plan = make_plan(self.protocol, facts, store.stored(), retry_failed=retry_failed, keep=changed == "keep")
            changes = plan.changes()
            if handle_stale(plan, store, changed):
                plan = make_plan(self.protocol, facts, store.stored(), retry_failed=retry_failed)
            store.begin(self.protocol.whole.plain(strict=False), time.perf_counter() - started)
            for data in facts:
                store.add_dataset(data.name, data.data, data.shape, data.test_share)
            if client is not None:
                results = run_on_dask(self.protocol, plan.batches, client)
            elif effective_n_jobs(n_jobs) == 1 and limits == Limits():
                results = run_here(self.protocol, plan.batches)
            else:
                results = run_in_processes(self.protocol, plan.batches, effective_n_jobs(n_jobs), limits)
            n_failed = _store_all(results, plan, store, on_cell)
            store.end()
        return Outcome(plan.n_cells, plan.n_missing, plan.n_done, plan.n_failed + n_failed, len(plan.stale_cells), changes)


def _store_all(results: Results, plan: StudyPlan, store: StudyStore, on_cell: OnCell | None) -> int:
    """Store results as they come; return the number of failed cells."""
    n_done = n_failed = 0
    with progress_bar("study: cells") as progress:
        try:
            for batch, result in results:
                cells, failed = _store(store, batch, result)
                n_done, n_failed = n_done + cells, n_failed + failed
                progress(n_done, plan.n_missing)
                if on_cell is not None and cells:
                    on_cell(n_done, plan.n_missing)
        finally:
            results.close()
    return n_failed


def _store(store: StudyStore, batch: Batch, result: StepResult) -> tuple[int, int]:
    """Store the result of a step; return the numbers of cells and of failed cells."""
    step = batch.steps[result.index]
    key = SelectionKey(batch.dataset, batch.split, step.method.name)
    if step.classifier is not None:
        cell = CellKey(*key, step.classifier.name)
        values = result.values or []
        store.add_cell(cell, step.fingerprints, step.sizes, step.measures, values, result.used, result.error)
        return 1, int(result.error is not None)
    store.add_selection(key, step.fingerprints, step.n_wanted, result.ranking, result.used, result.error)
    if result.error is None:
        return 0, 0
    n_lost, error = 0, f"no selection: {result.error}"
    for other in batch.steps:
        if other.classifier is not None and other.method.name == step.method.name:
            cell = CellKey(*key, other.classifier.name)
            store.add_cell(cell, other.fingerprints, other.sizes, other.measures, [], ResourcesUsed(0.0, None), error)
            n_lost += 1
    return n_lost, n_lost
