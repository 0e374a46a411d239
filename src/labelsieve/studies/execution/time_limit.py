"""Giving up what takes too long."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WAITS = 6.0  # what waits or sleeps takes no processor; a busy machine is not to be mistaken for that


class GivenUp(BaseException):
    """It took too long. No ``Exception``, so that nobody takes it for a failure of theirs."""


@contextmanager
def given_up_after(seconds: float) -> Iterator[None]:
    """Raise :class:`GivenUp` inside after so many seconds of the processor, or after :data:`WAITS` times as many by the clock.

    The system must have such timers, which nobody else uses (profilers do), and hands them to the main thread alone: elsewhere
    there is no limit.

    >>> with given_up_after(60):
    ...     sum(range(10))
    45
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = (
        {"SIGPROF": ("ITIMER_PROF", seconds), "SIGALRM": ("ITIMER_REAL", WAITS * seconds)}
        if hasattr(signal, "setitimer")
        else {}
    )
    timers = [
        (number, getattr(signal, timer), limit)
        for name, (timer, limit) in wanted.items()
        if signal.getsignal(number := getattr(signal, name)) is signal.SIG_DFL
    ]

    def stop(*_: Any) -> None:
        raise GivenUp

    for number, timer, limit in timers:
        signal.signal(number, stop)
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for number, timer, _ in timers:
            signal.setitimer(timer, 0)
            signal.signal(number, signal.SIG_DFL)
