"""Batches on the workers of a Dask cluster; the process that runs the study does all writing."""

import pickle
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Generator
from typing import Any

from labelsieve.errors import StudyError
from labelsieve.studies.cells import BatchRunner, StepResult
from labelsieve.studies.plan import Batch, Limits
from labelsieve.studies.processes import BatchProgress
from labelsieve.studies.protocol import Protocol

POLL_SECONDS = 1.0  # between checks of the cluster's status
_thread = threading.local()  # per thread of a worker: the study of its last batch, and the runner


# The key of a batch with the result of a step; None: the batch finished, or failed.
Event = tuple[str, StepResult | None]


def check_client(client: object, limits: Limits, n_jobs: int | None) -> None:
    """Refuse an object that is not a client, and options that exclude one."""
    if not all(hasattr(client, method) for method in ("submit", "nthreads", "subscribe_topic", "cancel")):
        raise StudyError(f"client must be a dask.distributed.Client, not {client!r}.")
    if getattr(client, "asynchronous", False):
        raise StudyError("client: an asynchronous one cannot be waited for here; make it with asynchronous=False.")
    if n_jobs is not None:
        raise StudyError("n_jobs and client exclude each other: the cluster determines the number of workers.")
    if limits != Limits():
        raise StudyError("time_limit and memory_limit are for processes of this machine; with client= limit its workers.")


def run_on_dask(protocol: Protocol, batches: list[Batch], client: Any) -> Generator[tuple[Batch, StepResult]]:
    """Run batches on a cluster; results come in the order in which they finish.

    Workers send the result of every step at once, and all results again at the end of the batch in case an event was lost. Dask
    restarts a batch whose worker died on another one, a few times. After that its current step is recorded as failed, and the
    rest of the batch continues.
    """
    import cloudpickle  # comes with Dask; also pickles classes of scripts

    study, events = f"labelsieve-{uuid.uuid4().hex}", queue.SimpleQueue[Event]()
    waiting: deque[Batch] = deque(batches)
    running: dict[str, tuple[Any, BatchProgress, float]] = {}
    sent = client.submit(_identity, cloudpickle.dumps(protocol), key=study, pure=False)
    client.subscribe_topic(study, lambda event: events.put(pickle.loads(event[1])))
    try:
        while waiting or running:
            while waiting and len(running) < max(1, sum(client.nthreads().values())):
                batch = waiting.popleft()
                future = client.submit(_work, study, sent, batch, key=f"{study}-{uuid.uuid4().hex}", pure=False)
                running[future.key] = future, BatchProgress(batch), time.perf_counter()
                future.add_done_callback(lambda ended: events.put((ended.key, None)))
            key, step_result = _next(events, client)
            if step_result is not None:
                if key in running and running[key][1].record(step_result):
                    yield running[key][1].batch, step_result
                continue
            future, progress, started = running.pop(key)
            for result in _results(future):
                if progress.record(result):
                    yield progress.batch, result
            if future.status == "error":
                failed, rest = progress.fail_current(_failure(future), time.perf_counter() - started)
                if failed is not None:
                    yield progress.batch, failed
                if rest is not None:
                    waiting.appendleft(rest)
    finally:
        if client.status == "running":
            client.cancel([sent, *(future for future, *_ in running.values())])
            client.unsubscribe_topic(study)


def _next(events: "queue.SimpleQueue[Event]", client: Any) -> Event:
    while True:
        try:
            return events.get(timeout=POLL_SECONDS)
        except queue.Empty:
            if client.status not in ("running", "connecting"):
                raise StudyError("the Dask cluster is gone. Finished cells are kept: run again.") from None


def _results(future: Any) -> list[StepResult]:
    """Return all results of a batch; none where its workers died too often."""
    if future.status == "finished":
        results: list[StepResult] = future.result()
        return results
    if future.status == "cancelled":
        raise StudyError("the Dask cluster dropped a batch: it was canceled, or the scheduler is gone. Run again.")
    return []


def _failure(future: Any) -> str:
    """Return the error of a batch whose workers died; raise any other, which ends the study."""
    from distributed.scheduler import KilledWorker

    error = future.exception()
    if isinstance(error, KilledWorker):
        return "the Dask worker died, and so did those that repeated the batch; out of memory?"
    if isinstance(error, StudyError):
        raise error
    raise StudyError(f"a Dask worker could not start: {type(error).__name__}: {error}.") from error


def _identity(protocol: bytes) -> bytes:
    return protocol


def _work(study: str, protocol: bytes, batch: Batch) -> list[StepResult]:
    """On a worker: run a batch and send the result of every step."""
    from distributed import get_worker

    worker = get_worker()
    if getattr(_thread, "study", None) != study:
        _thread.study, _thread.runner = study, BatchRunner(pickle.loads(protocol))
    results = []
    for result in _thread.runner.run(batch):
        worker.log_event(study, pickle.dumps((worker.get_current_task(), result)))
        results.append(result)
    return results
