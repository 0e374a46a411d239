"""A Dask cluster whose results are waited for until they come, or until an error says what is wrong."""

import time
from asyncio import CancelledError
from collections.abc import Callable
from concurrent.futures import CancelledError as FutureCanceled
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from labelsieve.errors import ClusterError, InputError

POLL_SECONDS = 1.0  # between looks at the cluster
ATTEMPTS = 3  # to compute something whose inputs the cluster lost

Result = TypeVar("Result")


class TasksLost(Exception):
    """Raised when the scheduler dropped the tasks of this client, as it does when their connection was cut."""


def find_client(client: Any = None) -> Any:
    """Return ``client`` if it is a Dask client; by default the newest one of this process."""
    if find_spec("distributed") is None:
        raise ClusterError("Counting on a cluster needs Dask: pip install 'labelsieve[dask]'")
    distributed = import_module("distributed")
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise ClusterError("There is no Dask client; make one first: distributed.Client('tcp://host:8786').") from None
    if not isinstance(client, distributed.Client):
        raise InputError(f"client must be a dask.distributed.Client, not {client!r}.")
    if client.asynchronous:
        raise InputError("client: an asynchronous one cannot be waited for here; make it with asynchronous=False.")
    return client


class Cluster:
    """A client of a cluster, which is lost after some seconds without a worker that runs, or without a scheduler."""

    def __init__(self, client: Any, timeout: float) -> None:
        self.client, self._timeout = client, timeout
        self._seen = time.monotonic()  # when some worker ran
        self._state = "no worker is connected"

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task and return its future; Dask repeats the task if its worker is lost."""
        return self.client.submit(function, *arguments, pure=False)

    def workers(self) -> list[dict[str, Any]]:
        """Return the threads (``nthreads``), memory (``memory_limit``) and state (``status``) of all workers."""
        identity = self.client.sync(self.client.scheduler.identity, callback_timeout=self._timeout)
        return list(identity["workers"].values())

    def some_workers(self) -> list[dict[str, Any]]:
        """Wait until there is a worker; return all workers."""
        try:
            self.client.wait_for_workers(1, timeout=self._timeout)
            return self.workers()
        except (TimeoutError, OSError) as error:
            raise ClusterError(
                f"The Dask cluster has had no worker for {self._timeout:g} seconds; start some: dask worker tcp://host:8786"
            ) from error

    def results(self, futures: list[Any]) -> list[Any]:
        """Wait for results; raise :class:`TasksLost` if everything must be submitted again."""
        self._seen = time.monotonic()
        return [self._result(future) for future in futures]

    def repeat(self, compute: Callable[[], Result], restart: Callable[[], None]) -> Result:
        """Return ``compute()``; if the cluster loses tasks, ``restart()`` submits their inputs again and it is repeated."""
        for attempt in range(ATTEMPTS):
            try:
                return compute()
            except TasksLost as lost:
                if attempt == ATTEMPTS - 1:
                    raise ClusterError(
                        f"The Dask scheduler dropped the tasks of this client {ATTEMPTS} times ({lost}); is the network stable?"
                    ) from lost
                self._wait_for_connection()
                restart()
        raise AssertionError

    def _result(self, future: Any) -> Any:
        from distributed.scheduler import KilledWorker

        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                if future.status == "error" and isinstance(future.exception(), TimeoutError):  # of the task, not of this wait
                    raise
                if not future.done():
                    self._look()
            except (CancelledError, FutureCanceled) as error:
                raise TasksLost(str(error)) from error
            except KilledWorker as error:
                raise ClusterError(
                    f"Several Dask workers ended while they did the same task, perhaps for lack of memory ({error}) "
                    "Give the workers more memory, or use layout='rows' with fewer rows in a part (part_rows=)."
                ) from error

    def _look(self) -> None:
        """Raise unless some worker ran within the time limit."""
        if self.client.status not in ("running", "connecting"):
            raise ClusterError("The Dask cluster is gone: its scheduler has ended. Start it again and repeat the fit.")
        try:
            workers = self.workers()
        except (TimeoutError, OSError) as error:
            self._state = f"the scheduler does not answer ({type(error).__name__})"
        else:
            paused = sum(worker["status"] == "paused" for worker in workers)
            self._state = f"{len(workers)} are connected, and {paused} of them are paused because their memory is full"
            if any(worker["status"] == "running" for worker in workers):
                self._seen = time.monotonic()
        if time.monotonic() - self._seen > self._timeout:
            raise ClusterError(
                f"No Dask worker has run for {self._timeout:g} seconds: {self._state}. Start workers, or give them more memory."
            )

    def _wait_for_connection(self) -> None:
        end = time.monotonic() + self._timeout
        while self.client.status != "running":
            if self.client.status not in ("connecting", "running") or time.monotonic() > end:
                raise ClusterError("The connection to the Dask scheduler was lost. Start it again and repeat the fit.")
            time.sleep(POLL_SECONDS / 10)
