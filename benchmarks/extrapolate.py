"""How long a slow method would take, without waiting for it.

The work is K equal steps of d candidates. When the whole would be long, a slice of the candidates
is timed for a few of the features that were really selected (sparse and dense ones cost differently) and
the time scaled up.
"""

from dataclasses import dataclass

from benchmarks.clock import Stopwatch
from benchmarks.greedy import greedy_jmi

LONGEST = 3.0  # seconds: above, extrapolate; far below, repeat
MOST_RUNS = 5
LONG_ENOUGH = 0.2  # seconds: a slice that runs this long can be trusted
FIRST_SLICE = 8
PROBES = 3


@dataclass(frozen=True)
class Estimate:
    """CPU seconds; ``extrapolated`` ones are printed with a '~'."""

    seconds: float
    extrapolated: bool


class DifferentSelection(Exception):
    """Two methods that count the same thing disagree."""


def selection_time(make, workload, selected, narrowest=FIRST_SLICE, widest=None):
    """Time of a whole JMI selection by the method that ``make(candidates)`` prepares.

    ``narrowest`` is the slice to begin with: wide for a method with costs that do not shrink with the slice.
    ``widest`` is the largest that fits in memory. A run in full is compared with ``selected``.
    """
    widest = min(widest or workload.features, workload.features)
    scaled = scaled_time(make, workload, probes_of(selected), min(narrowest, widest), widest)
    if scaled > LONGEST or widest < workload.features:
        return Estimate(scaled, extrapolated=True)
    times = []
    while not times or (sum(times) + times[-1] < LONGEST and len(times) < MOST_RUNS):
        watch = Stopwatch()
        method = make(workload.features)
        found = greedy_jmi(method.relevance(), method.gains, workload.steps)
        times.append(watch.lap().cpu)
        if found != selected:
            name = type(method).__name__
            raise DifferentSelection(f"{workload.name}: {name} selects {found}, ours {selected}")
    return Estimate(min(times), extrapolated=False)


def probes_of(selected):
    """First, middle and last selected feature."""
    return [selected[i * (len(selected) - 1) // (PROBES - 1)] for i in range(PROBES)]


def scaled_time(make, workload, probes, candidates, widest):
    """The slice grows until it runs long enough to be trusted or is as wide as may be; then once more."""
    preparing, panels = slice_times(make, probes, candidates)
    while preparing + panels < LONG_ENOUGH and candidates < widest:
        candidates = min(4 * candidates, widest)
        preparing, panels = slice_times(make, probes, candidates)
    again = slice_times(make, probes, candidates)
    preparing, panels = min(preparing, again[0]), min(panels, again[1])
    return (preparing + panels * workload.steps / len(probes)) * workload.features / candidates


def slice_times(make, probes, candidates):
    watch = Stopwatch()
    method = make(candidates)
    preparing = watch.lap().cpu
    for probe in probes:
        method.gains(probe)
    return preparing, watch.lap().cpu
