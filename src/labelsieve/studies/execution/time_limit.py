"""A limit on processor time, by timers of the operating system."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WALL_FACTOR = 6.0  # wall-clock limit over processor limit: code that sleeps uses no processor, and a busy machine is slow


class TimedOut(BaseException):
    """The time limit was reached. Not an ``Exception``, so that no handler mistakes it for a failure of the code inside."""


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Raise :class:`TimedOut` in the block after ``seconds`` of processor time, or :data:`WALL_FACTOR` times that by the clock.

    There is no limit where the system has no such timers, where another tool (a profiler) uses them, or outside the main
    thread, the only one that receives signals.

    >>> with time_limited(60):
    ...     sum(range(10))
    45
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = {"SIGPROF": ("ITIMER_PROF", seconds), "SIGALRM": ("ITIMER_REAL", WALL_FACTOR * seconds)}
    timers = [
        (number, getattr(signal, timer), limit)
        for name, (timer, limit) in (wanted.items() if hasattr(signal, "setitimer") else ())
        if signal.getsignal(number := getattr(signal, name)) is signal.SIG_DFL
    ]

    def stop(*_: Any) -> None:
        raise TimedOut

    for number, timer, limit in timers:
        signal.signal(number, stop)
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for number, timer, _ in timers:
            signal.setitimer(timer, 0)
            signal.signal(number, signal.SIG_DFL)
