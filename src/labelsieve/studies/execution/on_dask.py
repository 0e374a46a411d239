"""Batches on the workers of a Dask cluster; all writing stays with whoever runs the study."""

import pickle
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator
from typing import Any

from threadpoolctl import threadpool_limits

from labelsieve.studies.execution.batch_progress import Accumulator
from labelsieve.studies.execution.pending_steps import Batch
from labelsieve.studies.execution.step_runner import Bench, Done
from labelsieve.studies.execution.worker_processes import Limits
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.study_error import StudyError

WATCH = 1.0  # seconds between looks at whether there is still a cluster
_at = threading.local()  # of each thread of a worker: the study that it worked for last, and its bench


def check_client(client: Any, limits: Limits, n_jobs: int | None) -> None:
    """Refuse what is no client, and what is not for one."""
    if not all(hasattr(client, one) for one in ("submit", "nthreads", "subscribe_topic", "cancel")):
        raise StudyError(f"client must be a dask.distributed.Client, not {client!r}.")
    if getattr(client, "asynchronous", False):
        raise StudyError("client: an asynchronous one cannot be waited for here; make it with asynchronous=False.")
    if n_jobs is not None:
        raise StudyError("n_jobs and client exclude each other: the cluster says how many work at a time.")
    if limits != Limits():
        raise StudyError("time_limit and memory_limit are for processes of this machine; with client= limit its workers.")


def run_on_dask(protocol: Protocol, batches: list[Batch], client: Any) -> Iterator[tuple[Batch, Done]]:
    """Work on a cluster; results come in the order in which they are known.

    Workers say what came of a step as soon as it is known, and once more at the end of the batch, in case that was not heard. A
    batch whose worker is lost is begun anew on another: Dask tries a few times. Then the step at which it was is recorded as
    failed, and the rest goes on.
    """
    import cloudpickle  # comes with Dask; knows classes of scripts, too

    study, heard = f"labelsieve-{uuid.uuid4().hex}", queue.SimpleQueue[tuple[str, Any]]()
    waiting: deque[Batch] = deque(batches)
    running: dict[str, tuple[Any, Accumulator, float]] = {}
    whole = client.submit(_given, cloudpickle.dumps(protocol), key=study, pure=False)
    client.subscribe_topic(study, lambda event: heard.put(("step", event[1])))
    try:
        while waiting or running:
            while waiting and len(running) < max(1, sum(client.nthreads().values())):
                batch = waiting.popleft()
                future = client.submit(_work, study, whole, batch, key=f"{study}-{uuid.uuid4().hex}", pure=False)
                running[future.key] = future, Accumulator(batch), time.perf_counter()
                future.add_done_callback(lambda ended: heard.put(("ended", ended.key)))
            kind, message = _next(heard, client)
            if kind == "step":
                key, done = pickle.loads(message)
                if key in running and running[key][1].note(done):
                    yield running[key][1].batch, done
                continue
            future, account, started = running.pop(message)
            for done in _all_of(future):
                if account.note(done):
                    yield account.batch, done
            if future.status == "error":
                lost, rest = account.lost(_why(future), time.perf_counter() - started)
                if lost is not None:
                    yield account.batch, lost
                if rest is not None:
                    waiting.appendleft(rest)
    finally:
        if client.status == "running":
            client.cancel([whole, *(future for future, *_ in running.values())])
            client.unsubscribe_topic(study)


def _next(heard: "queue.SimpleQueue[tuple[str, Any]]", client: Any) -> tuple[str, Any]:
    while True:
        try:
            return heard.get(timeout=WATCH)
        except queue.Empty:
            if client.status not in ("running", "connecting"):
                raise StudyError("the Dask cluster is gone. What was finished is kept: run again.") from None


def _all_of(future: Any) -> list[Done]:
    """All that came of a batch; nothing where its worker was lost too often."""
    if future.status == "finished":
        done: list[Done] = future.result()
        return done
    if future.status == "canceled":
        raise StudyError("the Dask cluster dropped a batch: somebody canceled it, or the scheduler is gone. Run again.")
    return []


def _why(future: Any) -> str:
    """Why a batch has no result: its worker died; or the error that ends the study."""
    from distributed.scheduler import KilledWorker

    error = future.exception()
    if isinstance(error, KilledWorker):
        return "the Dask worker died, and so did others that tried again; out of memory?"
    if isinstance(error, StudyError):
        raise error
    raise StudyError(f"a Dask worker could not begin: {type(error).__name__}: {error}.") from error


def _given(protocol: bytes) -> bytes:
    return protocol


def _work(study: str, protocol: bytes, batch: Batch) -> list[Done]:
    """On a worker: go through a batch and tell every step."""
    from distributed import get_worker

    worker = get_worker()
    if getattr(_at, "study", None) != study:
        _at.study, _at.bench = study, Bench(pickle.loads(protocol))
    found = []
    with threadpool_limits(1):
        for done in _at.bench.steps(batch, _at.bench.prepare(batch)):
            worker.log_event(study, pickle.dumps((worker.get_current_task(), done)))
            found.append(done)
    return found
