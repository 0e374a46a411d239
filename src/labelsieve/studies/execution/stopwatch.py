"""Measuring a step: seconds in total and by phase, and peak memory."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from labelsieve.studies.store.stored_results import ResourcesUsed

CLEAR, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class Stopwatch:
    """Measure the seconds since construction, and those of each phase.

    >>> watch = Stopwatch()
    >>> with watch.phase("training"):
    ...     _ = sum(range(1000))
    >>> 0 < watch.by_phase["training"] <= watch.used().seconds
    True
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.by_phase: dict[str, float] = {}
        self._clock = clock
        reset_peak()
        self._cpu = processor_seconds()
        self._started = clock()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the seconds of the block to a phase."""
        started = self._clock()
        try:
            yield
        finally:
            self.by_phase[name] = self.by_phase.get(name, 0.0) + self._clock() - started

    def used(self) -> ResourcesUsed:
        """Return the resources used so far."""
        cpu = processor_seconds() - self._cpu
        return ResourcesUsed(self._clock() - self._started, peak_mb(), dict(self.by_phase), cpu)


def processor_seconds() -> float:
    """Return the CPU time of this process, over all its threads.

    ``time.process_time`` does not serve: Linux advances it in ticks of milliseconds while a CPU timer is set, as
    :mod:`labelsieve.studies.execution.probe` does.

    >>> before = processor_seconds()
    >>> _ = sum(range(10**6))
    >>> processor_seconds() > before
    True
    """
    if sys.platform == "win32":
        return time.process_time()
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def reset_peak() -> None:
    """Make the peak memory of this process its present memory, where the system can (Linux)."""
    with suppress(OSError):
        CLEAR.write_text("5", encoding="ascii")


def peak_mb() -> float | None:
    """Return the peak memory of this process in MB since :func:`reset_peak`; None where the system does not report it."""
    if sys.platform == "win32":
        return None
    with suppress(OSError):
        for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
