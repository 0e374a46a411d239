"""Worker processes with limits of time and memory; one that dies fails only its current step."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path

from threadpoolctl import threadpool_limits

from labelsieve.errors import StudyError
from labelsieve.studies.cells import BatchRunner, StepResult, error_text
from labelsieve.studies.plan import MEMORY_LIMIT, STAT, STATM, TIME_LIMIT, Batch, Limits
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.store import ResourcesUsed

POLL_SECONDS = 0.1  # between checks of the clock and of memory
# Workers of Linux are copies of one process that has imported what a study needs; elsewhere every worker imports it.
if sys.platform == "linux":
    _PROCESSES = multiprocessing.get_context("forkserver")
    _PROCESSES.set_forkserver_preload(["labelsieve.classifiers", "labelsieve.studies"])
else:
    _PROCESSES = multiprocessing.get_context("spawn")
NOT_STARTED = (
    "a process could not start; its error is printed above. Scripts need 'if __name__ == \"__main__\":', and custom "
    "selectors and classifiers a file that other processes can import. Or run with n_jobs=1 and no limits."
)


class Signal(Enum):
    """A state change that a worker sends: started, batch prepared, batch finished."""

    STARTED = "started"
    PREPARED = "prepared"
    FINISHED = "finished"


@dataclass(frozen=True)
class WorkerFailure:
    """An error outside the steps, which ends the study."""

    error: str


Message = Signal | StepResult | WorkerFailure


def run_in_processes(
    protocol: Protocol, batches: list[Batch], n_jobs: int, limits: Limits
) -> Generator[tuple[Batch, StepResult]]:
    """Run batches in worker processes; results come in the order in which they finish."""
    waiting, workers = deque(batches), []
    try:
        for _ in range(min(n_jobs, len(batches))):
            workers.append(Worker(protocol))
            workers[-1].start_batch(waiting.popleft())
        while busy := [worker for worker in workers if worker.progress is not None]:
            wait([worker.pipe for worker in busy], timeout=POLL_SECONDS)
            for worker in busy:
                yield from worker.receive(limits)
                if worker.progress is None and waiting:
                    worker.start_batch(waiting.popleft())
    finally:
        for worker in workers:
            worker.stop()


class Worker:
    """A process and the progress of its batch."""

    pipe: "Connection[Batch, Message]"

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self.progress: BatchProgress | None = None
        self._start()

    def _start(self) -> None:
        self.pipe, far_end = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(target=_main, args=(self._protocol, far_end), daemon=True)
        self._is_started = False
        try:
            with _sigint_blocked():
                self._process.start()
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            raise StudyError(
                f"the protocol cannot be sent to other processes ({error}). Put its classes and functions at the top of a "
                "module, or run with n_jobs=1 and no limits."
            ) from error
        far_end.close()

    def start_batch(self, batch: Batch) -> None:
        """Send a batch to the process."""
        self.progress, self._is_prepared, self._last_message = BatchProgress(batch), False, time.perf_counter()
        self._cpu_before = 0.0
        with suppress(ConnectionError):  # it died before: receive() notices
            self.pipe.send(batch)

    def receive(self, limits: Limits) -> Generator[tuple[Batch, StepResult]]:
        """Yield finished steps; or the failed one, if the process died or exceeded a limit."""
        try:
            while self.progress is not None and self.pipe.poll():
                message = self.pipe.recv()
                self._last_message, self._cpu_before = time.perf_counter(), self._cpu_seconds()
                match message:
                    case StepResult():
                        self.progress.record(message)
                        yield self.progress.batch, message
                    case Signal.STARTED:
                        self._is_started = True
                    case Signal.PREPARED:
                        self._is_prepared = True
                    case Signal.FINISHED:
                        self.progress = None
                    case WorkerFailure():
                        raise StudyError(message.error)
        except (EOFError, ConnectionError):
            self._process.join()
            if not self._is_started and (self._process.exitcode or 0) > 0:  # no cell caused that
                raise StudyError(NOT_STARTED) from None
            yield from self._fail(f"the process died (exit code {self._process.exitcode}); out of memory?")
            return
        if self.progress is not None and (exceeded := self._exceeded(limits)) is not None:
            yield from self._fail(exceeded)

    def _exceeded(self, limits: Limits) -> str | None:
        """Return in words the limit that the present step exceeds, if any."""
        seconds = time.perf_counter() - self._last_message
        if self._is_prepared and limits.seconds is not None and seconds > limits.seconds:
            return f"{TIME_LIMIT}: more than {limits.seconds:g} s"
        cpu = None if limits.cpu_seconds is None else self._cpu_seconds() - self._cpu_before
        if self._is_prepared and cpu is not None and limits.cpu_seconds is not None and cpu > limits.cpu_seconds:
            return f"{TIME_LIMIT}: more than {limits.cpu_seconds:g} s of the processor"
        if limits.memory_mb is not None and (used := self._memory_mb()) > limits.memory_mb:
            return f"{MEMORY_LIMIT}: {used:,.0f} MB used, {limits.memory_mb:,.0f} MB allowed"
        return None

    def _fail(self, error: str) -> Generator[tuple[Batch, StepResult]]:
        """End the process, yield its current step as failed, and run the rest of the batch in a new process."""
        assert self.progress is not None
        progress, self.progress = self.progress, None
        self.stop()
        failed, rest = progress.fail_current(error, time.perf_counter() - self._last_message)
        if failed is not None:
            yield progress.batch, failed
        self._start()
        if rest is not None:
            self.start_batch(rest)

    def _memory_mb(self) -> float:
        try:
            pages = int(Path(STATM.format(self._process.pid)).read_text(encoding="ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _cpu_seconds(self) -> float:
        """Return the CPU seconds of the process, over all its threads."""
        try:
            fields = (
                Path(STAT.format(self._process.pid)).read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            )
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return 0.0

    def stop(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block Ctrl-C while a worker starts: terminals send it to all processes, and the worker inherits the blocked signal."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # the first worker would start it, and its start unblocks Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _main(protocol: Protocol, pipe: "Connection[Message, Batch]") -> None:
    """Receive batches and send results until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also on Windows: the parent handles Ctrl-C and kills its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    runner = BatchRunner(protocol)
    with suppress(ConnectionError):
        pipe.send(Signal.STARTED)
    with threadpool_limits(1):
        while True:
            try:
                batch = pipe.recv()
            except (EOFError, ConnectionError):
                return
            try:
                work = runner.prepare(batch)
                pipe.send(Signal.PREPARED)
                for result in runner.steps(batch, work):
                    pipe.send(result)
                pipe.send(Signal.FINISHED)
            except ConnectionError:
                return
            except Exception as error:
                pipe.send(WorkerFailure(error_text(error)))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # a killed parent leaves no worker behind


class BatchProgress:
    """The progress of a batch in another process: the number of finished steps, and the rankings that they gave."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._n_finished = 0
        self._rankings = dict(batch.rankings)

    def record(self, result: StepResult) -> bool:
        """Record the result of a step; False if it was known, as when the batch was restarted elsewhere."""
        if result.index < self._n_finished:
            return False
        self._n_finished = result.index + 1
        if result.ranking is not None:
            self._rankings[self.batch.steps[result.index].method.name] = result.ranking
        return True

    def fail_current(self, error: str, seconds: float) -> tuple[StepResult | None, Batch | None]:
        """Return a failed result for the step at which the worker died, and a batch of the steps that can still run."""
        steps = self.batch.steps[self._n_finished :]
        # Evaluations of a failed selection have no ranking; they were recorded with it.
        ranked = {*self._rankings, *(step.method.name for step in steps if step.classifier is None)}
        left = [step for step in steps if step.method.name in ranked]
        if not left:
            return None, None
        failed = left[0]
        result = StepResult(self.batch.steps.index(failed), None, None, ResourcesUsed(seconds, None), error)
        if failed.classifier is None:  # without its ranking there is nothing to evaluate
            left = [step for step in left if step.method.name != failed.method.name]
        rest = [step for step in left if step is not failed]
        return result, replace(self.batch, steps=rest, rankings=self._rankings) if rest else None
