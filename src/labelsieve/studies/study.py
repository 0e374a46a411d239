"""Study: a protocol and the folder of its results."""

import os
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from joblib import effective_n_jobs

from labelsieve.errors import one_of
from labelsieve.progress import progress_bar
from labelsieve.studies.cells import BatchRunner, StepResult
from labelsieve.studies.dask_workers import check_client, run_on_dask
from labelsieve.studies.plan import Batch, DataFacts, Limits, StudyPlan, make_plan
from labelsieve.studies.processes import run_in_processes
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.store import CellKey, ResourcesUsed, SelectionKey, StudyStore, stored_results

Changed = Literal["refuse", "rerun", "keep"]
CHANGED = ("refuse", "rerun", "keep")
Results = Generator[tuple[Batch, StepResult]]
KEPT_BYTES = 2**28  # of data sets that stay in memory between the splits of a study in one process


@dataclass(frozen=True)
class Outcome:
    """The result of :meth:`Study.run`.

    Attributes
    ----------
    n_cells, n_run, n_known, n_failed, n_stale : int
        Cells of the protocol, those run now, already stored, failed, and stale ones that were kept.
    changes : str
        What changed since results were stored, in words.
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
        """Say of every cell whether its result is stored. Loads every data set once; runs and writes nothing.

        ``changed`` and ``retry_failed`` are those of :meth:`run`.
        """
        one_of(changed, "changed", CHANGED)
        facts, stored = self._facts(BatchRunner(self.protocol)), stored_results(self.folder)
        return make_plan(self.protocol, facts, stored, changed=changed, retry_failed=retry_failed)

    def _facts(self, runner: BatchRunner) -> list[DataFacts]:
        return [DataFacts.of(*runner.load(source.name)) for source in self.protocol.datasets]

    def run(
        self,
        *,
        n_jobs: int | None = None,
        client: object = None,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        changed: Changed = "refuse",
        retry_failed: bool = False,
        on_plan: Callable[[StudyPlan], Any] | None = None,
        on_cell: Callable[[int, int], Any] | None = None,
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
        on_plan : callable, default=None
            Called with the plan before the first cell runs.
        on_cell : callable, default=None
            Called after each cell with the numbers of finished cells and of all cells to run.
        """
        one_of(changed, "changed", CHANGED)
        limits = self._limits(time_limit, memory_limit, on_cluster=client is not None)
        if client is not None:
            check_client(client, limits, n_jobs)
        # Where cells run in this process, they use the data sets that were loaded to plan them.
        runs_here = client is None and effective_n_jobs(n_jobs) == 1 and limits == Limits()
        runner = BatchRunner(self.protocol, KEPT_BYTES if runs_here else 0)
        facts = self._facts(runner)
        with StudyStore(self.folder) as store:
            plan = make_plan(self.protocol, facts, store.stored(), changed=changed, retry_failed=retry_failed)
            if changed == "refuse":
                plan.refuse_changes(store.path)
            if on_plan is not None:
                on_plan(plan)
            datasets = [(data.name, data.data, *data.shape, data.test_share) for data in facts]
            store.begin(self.protocol.whole.plain(), datasets)
            if changed == "rerun":
                store.delete(plan.changed_selections, plan.changed_cells)
            if runs_here:
                results: Results = ((batch, result) for batch in plan.batches for result in runner.run(batch))
            elif client is not None:
                results = run_on_dask(self.protocol, plan.batches, client)
            else:
                del runner  # and with it the data set that was loaded last
                results = run_in_processes(self.protocol, plan.batches, effective_n_jobs(n_jobs), limits)
            n_missing, n_done, n_failed = plan.count("missing"), 0, 0
            with progress_bar("study: cells") as progress, closing(results):
                for batch, result in results:
                    n_cells = store_step(store, batch, result)
                    n_done, n_failed = n_done + n_cells, n_failed + (n_cells if result.error is not None else 0)
                    progress(n_done, n_missing)
                    if on_cell is not None and n_cells:
                        on_cell(n_done, n_missing)
            store.end()
        n_failed += plan.count("failed")
        return Outcome(len(plan.cells), n_missing, plan.count("stored"), n_failed, plan.count("stale"), plan.changes())

    def _limits(self, time_limit: float | None, memory_limit: float | None, *, on_cluster: bool) -> Limits:
        """Return the limits of every step; those of the protocol are for processes of this machine."""
        if on_cluster:
            limits = Limits(time_limit, memory_limit)
        else:
            limits = Limits(
                self.protocol.time_limit if time_limit is None else time_limit,
                self.protocol.memory_limit if memory_limit is None else memory_limit,
                self.protocol.cpu_limit,
            )
        limits.check()
        return limits


def store_step(store: StudyStore, batch: Batch, result: StepResult) -> int:
    """Store the result of a step, and return the number of cells that it ended.

    A failed selection ends all cells that would have used its ranking; they get its error.
    """
    step = batch.steps[result.index]
    key = SelectionKey(batch.dataset, batch.split, step.method.name)
    if step.classifier is not None:
        cell = CellKey(*key, step.classifier.name)
        values = result.values or []
        store.add_cell(cell, step.fingerprints, step.sizes, step.measures, values, result.used, result.error)
        return 1
    store.add_selection(key, step.fingerprints, step.n_wanted, result.ranking, result.used, result.error)
    if result.error is None:
        return 0
    lost = [other for other in batch.steps if other.classifier is not None and other.method.name == step.method.name]
    for other in lost:
        assert other.classifier is not None
        cell, error = CellKey(*key, other.classifier.name), f"no selection: {result.error}"
        store.add_cell(cell, other.fingerprints, other.sizes, other.measures, [], ResourcesUsed(0.0, None), error)
    return len(lost)
