"""What a step took: seconds, what they went to, and memory."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# "both" is training and prediction that cannot be told apart: one search for neighbors serves all numbers of features.
PARTS = ("training", "prediction", "both", "measures")


@dataclass(frozen=True)
class Spent:
    """Seconds, the most memory that the process has held so far in MB, and seconds of an evaluation by :data:`PARTS`."""

    seconds: float
    peak_mb: float | None
    parts: dict[str, float] = field(default_factory=dict)


class Stopwatch:
    """Seconds of a clock since it was made, and those that went to each part.

    >>> watch = Stopwatch()
    >>> with watch.of("training"):
    ...     _ = sum(range(1000))
    >>> 0 < watch.parts["training"] <= watch.spent().seconds
    True
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.parts: dict[str, float] = {}
        self._clock = clock
        self._started = clock()

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Count what happens inside to a part."""
        began = self._clock()
        try:
            yield
        finally:
            self.parts[part] = self.parts.get(part, 0.0) + self._clock() - began

    def spent(self) -> Spent:
        """All of it so far."""
        return Spent(self._clock() - self._started, peak_mb(), dict(self.parts))


def processor_seconds() -> float:
    """What this process has had of the processor, in all its threads.

    Not ``time.process_time``, which Linux moves on by ticks of milliseconds while a timer of the processor's time is set, as
    :mod:`labelsieve.studies.execution.time_limit` does.

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


def peak_mb() -> float | None:
    """The most memory that this process has held, in MB; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
