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


def in_turns(calls, rounds):
    """The best laps of calls by name, in turns, so that other load affects all of them; and their last answers."""
    laps, answers = dict.fromkeys(calls, NEVER), {}
    for _ in range(rounds):
        for name, call in calls.items():
            watch = Stopwatch()
            answers[name] = call()
            laps[name] = laps[name].best(watch.lap())
    return laps, answers


def timed(call, rounds):
    """The least CPU seconds of some rounds, and the answer."""
    laps, answers = in_turns({"": call}, rounds)
    return laps[""].cpu, answers[""]
