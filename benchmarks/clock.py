"""Two clocks: wall time for what users wait, CPU time for comparisons on a machine that others use too."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Lap:
    wall: float
    cpu: float

    def __add__(self, other):
        return Lap(self.wall + other.wall, self.cpu + other.cpu)

    def best(self, other):
        """The smaller of each: noise only ever adds time."""
        return Lap(min(self.wall, other.wall), min(self.cpu, other.cpu))


NEVER = Lap(float("inf"), float("inf"))


class Stopwatch:
    """Gives the time since it was made or last read.

    CPU time is that of the whole process: a core that hands its work to threads of its own is charged for it.
    """

    def __init__(self):
        self.restart()

    def restart(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def lap(self):
        wall, cpu = time.perf_counter(), time.process_time()
        lap = Lap(wall - self.wall, cpu - self.cpu)
        self.restart()
        return lap


def timed(call, rounds):
    """The least CPU seconds of some rounds, and the answer."""
    best, answer = NEVER, None
    for _ in range(rounds):
        watch = Stopwatch()
        answer = call()
        best = best.best(watch.lap())
    return best.cpu, answer
