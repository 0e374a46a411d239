"""Giving up what takes too long."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class GivenUp(BaseException):
    """It took too long. No ``Exception``, so that nobody takes it for a failure of theirs."""


@contextmanager
def given_up_after(seconds: float) -> Iterator[None]:
    """Raise :class:`GivenUp` inside after so many seconds of the processor.

    The system must have such a timer, which nobody else uses (profilers do), and hands it to the main thread alone: elsewhere
    there is no limit.

    >>> with given_up_after(60):
    ...     sum(range(10))
    45
    """
    there = hasattr(signal, "setitimer") and signal.getsignal(signal.SIGPROF) is signal.SIG_DFL
    if not there or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise GivenUp

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
