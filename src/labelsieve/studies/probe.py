"""The cost of a step, from trials on a part of the rows with few features."""

import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from threadpoolctl import threadpool_limits

from labelsieve.studies.cells import Evaluation, SplitWork, Stopwatch, is_nested, processor_seconds
from labelsieve.studies.data import LoadedData
from labelsieve.studies.estimators import Split
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.steps import Step

FIRST_ROWS = 150  # training rows of the first trial; each further trial has twice as many
ENOUGH_SECONDS = 0.25  # of the second or a later trial: there is no larger one
FIRST_SECONDS = 2.0  # of the first trial: there is no second one, and the cost is taken as linear in the rows
MAX_SECONDS = 5.0  # a trial that takes longer is stopped
# A trial shorter than BRIEF_SECONDS is repeated up to REPEATS times and the shortest counts, as other programs disturb it.
BRIEF_SECONDS, REPEATS = 0.05, 3
N_SELECTED = 5  # features that a method selects in a trial
MAX_FEATURES = 30  # features of a classifier in a trial
QUADRATIC_RATIO = 2.5  # twice the rows and a larger ratio of seconds: the cost is taken as quadratic in the rows
WALL_FACTOR = 6.0  # wall-clock limit over processor limit: code that sleeps uses no processor, and a loaded machine is slow

Seconds = dict[str, float]  # by phase
Trial = Callable[[SplitWork], Seconds]


class Probe:
    """Try steps on growing parts of a split. Seconds are CPU time, so that other programs do not count.

    ``n_timed_out`` is the number of first trials that were stopped. They count as what they had used, a lower bound.
    """

    def __init__(self, data: LoadedData, split: Split, protocol: Protocol) -> None:
        self._data, self._split, self._protocol = data, split, protocol
        self._n_features = data.shape[1]
        self.n_timed_out = 0
        self._work = cache(self._part_of_split)
        self._evaluations: dict[tuple[str, tuple[str, ...], int | None], tuple[float, float]] = {}

    def seconds(self, step: Step) -> float:
        """Estimate the seconds of a step."""
        if step.classifier is None:
            first, further = self._selection(step)
            return first + further * (step.n_wanted - 1)
        single_size = step.sizes[0] if len(step.sizes) == 1 else None
        key = step.classifier.name, tuple(step.measures), single_size
        if hasattr(step.classifier.estimator, "predictions_by_size"):  # sizes share their cost
            return self._all_rows(lambda work: self._evaluate(step, step.sizes, work, self._n_features))
        if key not in self._evaluations:  # the same for all methods: a trial uses the first features
            self._evaluations[key] = self._evaluation(step)
        per_size, per_feature = self._evaluations[key]
        return per_size * len(step.sizes) + per_feature * _n_features(step, step.sizes)

    def _selection(self, step: Step) -> tuple[float, float]:
        """Seconds of the first feature, and of each further one."""
        few = min(N_SELECTED, self._n_features, step.n_wanted)
        first = self._all_rows(lambda work: self._select(step, 1, work))
        if few == 1:
            return first, 0.0
        return first, max(0.0, self._all_rows(lambda work: self._select(step, few, work)) - first) / (few - 1)

    def _evaluation(self, step: Step) -> tuple[float, float]:
        """Seconds per size, and per feature: of the largest size with neighbors, of every size otherwise."""
        if len(step.sizes) == 1:  # the very size can be tried
            return self._all_rows(lambda work: self._evaluate(step, step.sizes, work)), 0.0
        top = min(MAX_FEATURES, self._n_features)
        narrow = list(range(1, min(3, top) + 1))
        few = self._all_rows(lambda work: self._evaluate(step, narrow, work))
        wide = sorted({max(1, top // 3), max(1, 2 * top // 3), top})
        if wide == narrow or len(wide) < 3:
            return few / len(narrow), 0.0
        many = self._all_rows(lambda work: self._evaluate(step, wide, work))
        per_feature = max(0.0, many - few) / (_n_features(step, wide) - _n_features(step, narrow))
        return max(0.0, few - per_feature * _n_features(step, narrow)) / len(narrow), per_feature

    def _all_rows(self, trial: Trial) -> float:
        """Seconds with all rows: trials on ever twice as many rows, extrapolated from the last two."""
        share = min(1.0, FIRST_ROWS / len(self._split.train))
        try:
            first = self._run(trial, share)
            if sum(first.values()) < ENOUGH_SECONDS:  # again: the first call loads modules
                first = self._measure(trial, share)
        except TimedOut:
            self.n_timed_out += 1
            return MAX_SECONDS / share
        trials = [(share, first)]
        while share < 1 and sum(trials[-1][1].values()) < (FIRST_SECONDS if len(trials) == 1 else ENOUGH_SECONDS):
            share = min(1.0, 2 * share)
            try:
                trials.append((share, self._measure(trial, share)))
            except TimedOut:
                break
        return sum(extrapolated([(share, seconds[phase]) for share, seconds in trials], phase) for phase in trials[-1][1])

    def _measure(self, trial: Trial, share: float) -> Seconds:
        trials = [self._run(trial, share)]
        while sum(trials[-1].values()) < BRIEF_SECONDS and len(trials) < REPEATS:
            trials.append(self._run(trial, share))
        return min(trials, key=lambda seconds: sum(seconds.values()))

    def _run(self, trial: Trial, share: float) -> Seconds:
        work = self._work(share)
        with warnings.catch_warnings(), time_limited(MAX_SECONDS):
            warnings.simplefilter("ignore")  # about few rows; the run repeats those about all rows
            return trial(work)

    def _part_of_split(self, share: float) -> SplitWork:
        train, test = (rows[: max(2, round(share * len(rows)))] for rows in (self._split.train, self._split.test))
        return SplitWork(self._data, Split(self._split.number, train, test), self._protocol.scale)

    def _select(self, step: Step, n_wanted: int, work: SplitWork) -> Seconds:
        watch = Stopwatch(processor_seconds)
        with threadpool_limits(1), watch.phase("selection"):
            work.select(step.method.estimator, n_wanted, step.seed)
        return watch.by_phase

    def _evaluate(self, step: Step, sizes: Sequence[int], work: SplitWork, n_features: int | None = None) -> Seconds:
        assert step.classifier is not None
        watch = Stopwatch(processor_seconds)
        ranking = range(sizes[-1] if n_features is None else n_features)
        with threadpool_limits(1):
            estimator = step.classifier.estimator
            convention = self._protocol.convention
            work.evaluate(Evaluation(estimator, ranking, sizes, step.measures, convention, step.seed), watch=watch)
        return watch.by_phase


def _n_features(step: Step, sizes: Sequence[int]) -> int:
    assert step.classifier is not None
    return max(sizes) if is_nested(step.classifier.estimator) else sum(sizes)


def extrapolated(trials: list[tuple[float, float]], phase: str) -> float:
    """Estimate the seconds for all rows from pairs of a fraction of the rows and seconds.

    >>> extrapolated([(0.25, 1.0), (0.5, 2.0)], "training"), extrapolated([(0.25, 1.0), (0.5, 4.0)], "training")
    (4.0, 16.0)
    >>> extrapolated([(0.25, 3.0)], "training")
    12.0
    """
    share, last = trials[-1]
    before, first = trials[-2] if len(trials) > 1 else (0.0, 0.0)
    # A neighbor search compares pairs of rows.
    power = 2 if phase == "both" or (len(trials) > 1 and last > QUADRATIC_RATIO * first) else 1
    slope = max(0.0, last - first) / (share**power - before**power)
    return last + slope * (1 - share**power)


class TimedOut(BaseException):
    """The time limit was reached. Not an ``Exception``, so that no handler mistakes it for a failure of the code inside."""


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Raise :class:`TimedOut` in the block after ``seconds`` of CPU time, or :data:`WALL_FACTOR` times that by the clock.

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

    def stop(*_: object) -> None:
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
