"""Processes that work through batches, each within limits of time and memory; one that dies takes only its step with it."""

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from labelsieve.studies.execution.batch_progress import Accumulator
from labelsieve.studies.execution.pending_steps import Batch
from labelsieve.studies.execution.step_runner import Bench, Done, said
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.study_error import StudyError

WATCH = 0.1  # seconds between looks at the clock and at memory
STATM = "/proc/{}/statm"
NOT_STARTED = (
    "a process could not start; why stands above. Scripts need 'if __name__ == \"__main__\":', and selectors and classifiers "
    "of your own a file that other processes can import. Or run with n_jobs=1 and no limits."
)


@dataclass(frozen=True)
class Limits:
    """Of every step: seconds, and MB that its process may hold."""

    seconds: float | None = None
    memory_mb: float | None = None

    def check(self) -> None:
        """Refuse limits that cannot be kept."""
        for name, value in (("time_limit", self.seconds), ("memory_limit", self.memory_mb)):
            if value is not None and not value > 0:
                raise StudyError(f"{name} must be above 0, not {value!r}.")
        if self.memory_mb is not None and not Path(STATM.format(os.getpid())).exists():
            raise StudyError("memory_limit: this system does not tell how much memory a process holds; leave it out.")


def run_here(protocol: Protocol, batches: list[Batch]) -> Iterator[tuple[Batch, Done]]:
    """Work in this process, with one thread for linear algebra."""
    bench = Bench(protocol)
    for batch in batches:
        with threadpool_limits(1):
            for done in bench.steps(batch, bench.prepare(batch)):
                yield batch, done


def run_in_processes(protocol: Protocol, batches: list[Batch], n_jobs: int, limits: Limits) -> Iterator[tuple[Batch, Done]]:
    """Work in processes of their own; results come in the order in which they are known."""
    waiting, workers = deque(batches), []
    try:
        for _ in range(min(n_jobs, len(batches))):
            workers.append(Worker(protocol))
            workers[-1].take(waiting.popleft())
        while any(worker.at is not None for worker in workers):
            busy = [worker for worker in workers if worker.at is not None]
            wait([worker.pipe for worker in busy], timeout=WATCH)
            for worker in busy:
                yield from worker.heard(limits)
                if worker.at is None and waiting:
                    worker.take(waiting.popleft())
    finally:
        for worker in workers:
            worker.stop()


class Worker:
    """A process and what it is at."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self.at: Accumulator | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, far = context.Pipe()
        self._process = context.Process(target=_main, args=(self._protocol, far), daemon=True)
        self._is_there = False
        try:
            with _ctrl_c_held_back():
                self._process.start()
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            raise StudyError(
                f"the protocol cannot be sent to other processes ({error}). Put its classes and functions at the top of a "
                "module, or run with n_jobs=1 and no limits."
            ) from error
        far.close()

    def take(self, batch: Batch) -> None:
        """Begin with a batch."""
        self.at, self._ready, self._since = Accumulator(batch), False, time.perf_counter()
        with suppress(ConnectionError):  # it died before: listening tells
            self.pipe.send(batch)

    def heard(self, limits: Limits) -> Iterator[tuple[Batch, Done]]:
        """What it has finished; or, if it died or went beyond a limit, the step with which it did."""
        try:
            while self.at is not None and self.pipe.poll():
                message = self.pipe.recv()
                self._since = time.perf_counter()
                if isinstance(message, Done):
                    self.at.note(message)
                    yield self.at.batch, message
                elif message == "there":
                    self._is_there = True
                elif message == "ready":
                    self._ready = True
                elif message == "finished":
                    self.at = None
                else:
                    raise StudyError(str(message))
        except (EOFError, ConnectionError):
            self._process.join()
            if not self._is_there and (self._process.exitcode or 0) > 0:  # no cell did that
                raise StudyError(NOT_STARTED) from None
            yield from self._lost(f"the process died (exit code {self._process.exitcode}); out of memory?")
            return
        seconds, held = time.perf_counter() - self._since, self._memory_mb()
        if self.at is not None and self._ready and limits.seconds is not None and seconds > limits.seconds:
            yield from self._lost(f"TimeLimit: more than {limits.seconds:g} s")
        elif self.at is not None and limits.memory_mb is not None and held > limits.memory_mb:
            yield from self._lost(f"MemoryLimit: {held:,.0f} MB held, {limits.memory_mb:,.0f} MB allowed")

    def _lost(self, why: str) -> Iterator[tuple[Batch, Done]]:
        assert self.at is not None
        at, self.at = self.at, None
        self.stop()
        lost, rest = at.lost(why, time.perf_counter() - self._since)
        if lost is not None:
            yield at.batch, lost
        self._start()
        if rest is not None:
            self.take(rest)

    def _memory_mb(self) -> float:
        try:
            pages = int(Path(STATM.format(self._process.pid)).read_text(encoding="ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Terminals send Ctrl-C to all processes. A worker inherits what is held back, and hears it not even while it starts."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # the first worker would start it, and starting it lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _main(protocol: Protocol, pipe: "Connection[Any, Any]") -> None:
    """The life of a worker: batches in, results out, until nobody is there to hear."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also on Windows: Ctrl-C is for the runner, which ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    bench = Bench(protocol)
    with suppress(ConnectionError):
        pipe.send("there")
    with threadpool_limits(1):
        while True:
            try:
                batch = pipe.recv()
            except (EOFError, ConnectionError):
                return
            try:
                work = bench.prepare(batch)
                pipe.send("ready")
                for done in bench.steps(batch, work):
                    pipe.send(done)
                pipe.send("finished")
            except ConnectionError:
                return
            except Exception as error:
                pipe.send(said(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # a killed runner leaves nobody behind
