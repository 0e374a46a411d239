"""How many threads and how much memory a run may use."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from functools import cache
from threading import Lock, Thread, current_thread, main_thread
from typing import Any, TypeVar

from joblib import effective_n_jobs, parallel_config
from threadpoolctl import ThreadpoolController

from labelsieve.errors import InputError, is_whole

T = TypeVar("T")
_LONG = 500  # rows of a matrix whose eigenvalues take some hundredths of a second
_POLLED = 0.1  # seconds between looks at a result; some systems hear a signal only then
ALWAYS_FREE = 2**26  # bytes that need no check


def n_threads(n_jobs: object) -> int:
    """Return the number of threads for ``n_jobs``, as joblib counts: None is one outside of a joblib context, -1 is all."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise InputError(f"n_jobs must be None or a whole number other than 0, not {n_jobs!r}.")
    threads: int = effective_n_jobs(None if n_jobs is None else int(n_jobs))
    return threads


def thread_context(n_jobs: object) -> AbstractContextManager[Any]:
    """Return a joblib context for ``n_jobs`` threads, in which tables are encoded; an empty one if they are set already."""
    if n_jobs is None or (threads := n_threads(n_jobs)) == n_threads(None):
        return nullcontext()
    context: AbstractContextManager[Any] = parallel_config(backend="threading", n_jobs=threads)
    return context


def interruptible(work: Callable[[], T], size: int) -> T:
    """Factorize a matrix with ``size`` rows on another thread, if it is large, so that Ctrl-C is heard meanwhile.

    Python handles signals on the main thread, between its own instructions; a factorization of a large matrix is a single
    one. After an interrupt the call ends by itself and its result is dropped. A process does not exit before that, because
    libraries for linear algebra cannot be unloaded while they calculate.

    >>> interruptible(lambda: 2 + 2, size=10_000)
    4
    """
    if size < _LONG or current_thread() is not main_thread():  # only the main thread handles signals
        return work()
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=copy_context().run, args=(run,)).start()
    while not wait([result], timeout=_POLLED).done:
        pass
    return result.result()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run products of numpy and scipy on one thread: for small tables, threads wait for each other most of the time.

    The limit is one of the process. It holds until the last of the threads that asked for it leaves this context.
    """
    global _blas_limit, _blas_users
    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = _libraries().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()


_blas_lock = Lock()
_blas_users = 0
_blas_limit: Any = None


@cache
def _libraries() -> ThreadpoolController:
    """Search the loaded libraries, which takes some milliseconds, only once."""
    return ThreadpoolController()


def available_memory() -> int | None:
    """Return the bytes available without swapping; None where the system does not report them."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def require_memory(n_bytes: int, purpose: str, n_features: int, n_targets: int) -> None:
    """Raise MemoryError when ``n_bytes`` exceed the available memory."""
    if n_bytes < ALWAYS_FREE:
        return
    free = available_memory()
    if free is not None and n_bytes > free:
        raise MemoryError(
            f"{purpose} {n_features} features and {n_targets} targets need {n_bytes / 1e9:.1f} GB "
            f"and {free / 1e9:.1f} GB are free; take fewer features or targets at a time."
        )
