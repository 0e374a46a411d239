"""Study: a protocol and the folder in which its results are kept."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from joblib import effective_n_jobs

from labelsieve.errors import one_of
from labelsieve.progress import progress_bar
from labelsieve.studies.execution.on_dask import check_client, run_on_dask
from labelsieve.studies.execution.pending_steps import Batch, DataFacts, Todo, facts_of, find_steps, settle
from labelsieve.studies.execution.resources_used import Spent
from labelsieve.studies.execution.step_runner import Done
from labelsieve.studies.execution.worker_processes import Limits, run_here, run_in_processes
from labelsieve.studies.protocol.data_sources import Loaded
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.store.store import Store
from labelsieve.studies.store.stored_results import look

Changed = Literal["refuse", "rerun", "keep"]
CHANGED = ("refuse", "rerun", "keep")


@dataclass(frozen=True)
class Outcome:
    """How a run ended: cells of the protocol, those run now, those that were there, those that failed, and stale ones kept."""

    n_cells: int
    n_run: int
    n_known: int
    n_failed: int
    n_stale: int
    changes: str


class Study:
    """Run a protocol, and go on where it was left.

    Parameters
    ----------
    protocol : Protocol
    folder : path
        Holds ``results.sqlite``. Every selection and every cell (data set, split, method, classifier) is written in a
        transaction of its own as soon as it is known: a run that is killed, at any moment, goes on with what is missing.

    Examples
    --------
    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_known_answer
    >>> data = make_known_answer(80, random_state=0)
    >>> kinds = ("numeric",) * data.X.shape[1]
    >>> songs = Dataset(data.X, data.Y, tuple(data.feature_names), tuple(data.label_names), kinds, name="songs")
    >>> study = Study(Protocol([songs], ["jmi"], n_features="1..3", splits="2x50%"), tempfile.mkdtemp())
    >>> study.run().n_run, study.run().n_run
    (6, 0)
    """

    def __init__(self, protocol: Protocol, folder: str | os.PathLike[str]) -> None:
        self.protocol = protocol
        self.folder = folder

    def plan(self, *, changed: Changed = "refuse", retry_failed: bool = False) -> tuple[Todo, list[DataFacts]]:
        """What is to do. Loads every data set once; runs and writes nothing."""
        one_of(changed, "changed", CHANGED)
        facts, stored = self._facts(), look(self.folder)
        todo = find_steps(self.protocol, facts, stored, retry_failed=retry_failed)
        if changed == "rerun" and todo.reasons:
            again = find_steps(
                self.protocol, facts, stored.without(todo.stale_selections, todo.stale_cells), retry_failed=retry_failed
            )
            again.reasons = todo.reasons
            return again, facts
        return todo, facts

    def _facts(self) -> list[DataFacts]:
        return [facts_of(self.protocol, Loaded.of(source)) for source in self.protocol.datasets]

    def run(
        self,
        *,
        n_jobs: int | None = None,
        client: Any = None,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        changed: Changed = "refuse",
        retry_failed: bool = False,
        on_cell: Callable[[int, int], Any] | None = None,
    ) -> Outcome:
        """Run the cells that are missing.

        Parameters
        ----------
        n_jobs : int, optional
            Processes, one thread each; None is one, and this one unless there are limits; -1 is all cores. Scripts that use
            more need the usual ``if __name__ == "__main__":``.
        client : dask.distributed.Client, optional
            Work on its cluster in place of processes. Workers need this library, the same release of it, and the files of the
            data sets under the same paths; results are written here. Limits are then those of the workers.
        time_limit, memory_limit : float, optional
            Of a selection or an evaluation: seconds, and MB of its process (Linux). What goes beyond is recorded as failed.
        changed : {"refuse", "rerun", "keep"}
            What to do with stored cells of other data, splits, settings or code: refuse to go on, run them again, or keep
            them beside new ones; the outcome then tells how many.
        retry_failed : bool
            Run cells again that failed before.
        on_cell : callable, optional
            Called with the number of cells done and of all cells to run, after each.
        """
        one_of(changed, "changed", CHANGED)
        limits = Limits(time_limit, memory_limit)
        limits.check()
        if client is not None:
            check_client(client, limits, n_jobs)
        started = time.perf_counter()
        facts = self._facts()
        with Store(self.folder) as store:
            todo = find_steps(self.protocol, facts, store.stored(), retry_failed=retry_failed)
            changes = todo.changes()
            if settle(todo, store, changed):
                todo = find_steps(self.protocol, facts, store.stored(), retry_failed=retry_failed)
            store.begin(self.protocol.plain(strict=False), time.perf_counter() - started)
            for data in facts:
                store.add_dataset(data.name, data.data, data.shape, data.test_share)
            if client is not None:
                results = run_on_dask(self.protocol, todo.batches, client)
            elif effective_n_jobs(n_jobs) == 1 and limits == Limits():
                results = run_here(self.protocol, todo.batches)
            else:
                results = run_in_processes(self.protocol, todo.batches, effective_n_jobs(n_jobs), limits)
            n_failed = _write_all(results, todo, store, on_cell)
            store.end()
        return Outcome(todo.n_cells, todo.n_missing, todo.n_done, todo.n_failed + n_failed, len(todo.stale_cells), changes)


def _write_all(
    results: Iterator[tuple[Batch, Done]], todo: Todo, store: Store, on_cell: Callable[[int, int], Any] | None
) -> int:
    """Write results as they come; how many cells failed."""
    n_done = n_failed = 0
    with progress_bar("study: cells") as progress:
        try:
            for batch, done in results:
                cells, failed = _record(store, batch, done)
                n_done, n_failed = n_done + cells, n_failed + failed
                progress(n_done, todo.n_missing)
                if on_cell is not None and cells:
                    on_cell(n_done, todo.n_missing)
        finally:
            results.close()  # type: ignore[attr-defined]
    return n_failed


def _record(store: Store, batch: Batch, done: Done) -> tuple[int, int]:
    """Write what came of a step; how many cells that were, and how many of them failed."""
    step = batch.steps[done.place]
    key = (batch.dataset, batch.split, step.method.name)
    if step.classifier is not None:
        covers = (step.sizes, step.measures)
        store.add_cell((*key, step.classifier.name), step.prints, covers, done.values or [], done.spent, done.error)
        return 1, int(done.error is not None)
    store.add_selection(key, step.prints, step.n_wanted, done.ranking, done.spent, done.error)
    if done.error is None:
        return 0, 0
    lost = [one for one in batch.steps if one.classifier is not None and one.method.name == step.method.name]
    for one in lost:
        assert one.classifier is not None
        why = f"no selection: {done.error}"
        store.add_cell((*key, one.classifier.name), one.prints, (one.sizes, one.measures), [], Spent(0.0, None), why)
    return len(lost), len(lost)
