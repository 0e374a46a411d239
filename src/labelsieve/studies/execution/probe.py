"""What a step of a study takes, from trying it on a part of the rows and with few features."""

import warnings
from collections.abc import Callable, Sequence
from functools import cache

from threadpoolctl import threadpool_limits

from labelsieve.studies.execution.cell_work import SplitWork, is_nested
from labelsieve.studies.execution.pending_steps import Step
from labelsieve.studies.execution.resources_used import Stopwatch, processor_seconds
from labelsieve.studies.execution.time_limit import GivenUp, given_up_after
from labelsieve.studies.protocol.data_sources import Loaded
from labelsieve.studies.protocol.split_rule import Split

FEWEST = 150  # training rows of the first try; then twice as many, and so on
PATIENCE = 0.25  # seconds of a try after which there is no larger one, but for a second
LONG = 2.0  # seconds after which there is not even that: all is taken to grow with the rows
LONGEST = 5.0  # seconds after which a try is given up
BRIEF, TIMES = 0.05, 3  # a try that is shorter is made so many times, and the shortest counts: others may have been disturbed
PICKS = 5  # features that a method chooses in a try
WIDEST = 30  # features of a classifier in a try
STEEP = 2.5  # twice the rows and more than so many times the seconds: taken to grow with the square of the rows

Parts = dict[str, float]
Task = Callable[[SplitWork], Parts]


class Probe:
    """Tries steps on growing parts of a split. Seconds are the processor's: other programs do not count.

    ``n_given_up`` is how many first tries were given up. They count as what they took until then, so that more is needed.
    """

    def __init__(self, data: Loaded, split: Split, convention: str) -> None:
        self._data, self._split, self._convention = data, split, convention
        self._n_features = data.shape[1]
        self.n_given_up = 0
        self._work = cache(self._part_of_split)
        self._judged: dict[tuple[str, tuple[str, ...], int | None], tuple[float, float]] = {}

    def seconds(self, step: Step) -> float:
        """Of a step of this data set."""
        if step.classifier is None:
            one, each = self._selection(step)
            return one + each * (step.n_wanted - 1)
        alone = step.sizes[0] if len(step.sizes) == 1 else None
        key = step.classifier.name, tuple(step.measures), alone
        if hasattr(step.classifier.estimator, "predictions_by_size"):  # sizes share what they cost
            return self._whole(lambda work: self._evaluate(step, step.sizes, work, self._n_features))
        if key not in self._judged:  # for all methods: a try takes the first features, whoever chose others
            self._judged[key] = self._evaluation(step)
        a_size, a_feature = self._judged[key]
        return a_size * len(step.sizes) + a_feature * _features(step, step.sizes)

    def _selection(self, step: Step) -> tuple[float, float]:
        """Seconds of the first feature, and of each more."""
        few = min(PICKS, self._n_features, step.n_wanted)
        one = self._whole(lambda work: self._select(step, 1, work))
        if few == 1:
            return one, 0.0
        return one, max(0.0, self._whole(lambda work: self._select(step, few, work)) - one) / (few - 1)

    def _evaluation(self, step: Step) -> tuple[float, float]:
        """Seconds of a number of features, and of each feature: with neighbors, of the largest number; else of every one."""
        if len(step.sizes) == 1:  # the very number can be tried
            return self._whole(lambda work: self._evaluate(step, step.sizes, work)), 0.0
        top = min(WIDEST, self._n_features)
        narrow = list(range(1, min(3, top) + 1))
        few = self._whole(lambda work: self._evaluate(step, narrow, work))
        wide = sorted({max(1, top // 3), max(1, 2 * top // 3), top})
        if wide == narrow or len(wide) < 3:
            return few / len(narrow), 0.0
        many = self._whole(lambda work: self._evaluate(step, wide, work))
        feature = max(0.0, many - few) / (_features(step, wide) - _features(step, narrow))
        return max(0.0, few - feature * _features(step, narrow)) / len(narrow), feature

    def _whole(self, task: Task) -> float:
        """Seconds for all rows: tried on twice as many again and again, and carried on from the last two tries."""
        share = min(1.0, FEWEST / len(self._split.train))
        try:
            first = self._try(task, share)
            if sum(first.values()) < PATIENCE:  # once more: what is loaded once is loaded
                first = self._measure(task, share)
        except GivenUp:
            self.n_given_up += 1
            return LONGEST / share
        tries = [(share, first)]
        while share < 1 and sum(tries[-1][1].values()) < (LONG if len(tries) == 1 else PATIENCE):
            share = min(1.0, 2 * share)
            try:
                tries.append((share, self._measure(task, share)))
            except GivenUp:
                break
        return sum(carried_on([(share, parts[part]) for share, parts in tries], part) for part in tries[-1][1])

    def _measure(self, task: Task, share: float) -> Parts:
        found = [self._try(task, share)]
        while sum(found[-1].values()) < BRIEF and len(found) < TIMES:
            found.append(self._try(task, share))
        return min(found, key=lambda parts: sum(parts.values()))

    def _try(self, task: Task, share: float) -> Parts:
        work = self._work(share)
        with warnings.catch_warnings(), given_up_after(LONGEST):
            warnings.simplefilter("ignore")  # of few rows; those of all rows come with the run
            return task(work)

    def _part_of_split(self, share: float) -> SplitWork:
        train, test = (rows[: max(2, round(share * len(rows)))] for rows in (self._split.train, self._split.test))
        return SplitWork(self._data, Split(self._split.number, train, test))

    def _select(self, step: Step, n_wanted: int, work: SplitWork) -> Parts:
        watch = Stopwatch(processor_seconds)
        with threadpool_limits(1), watch.of("selection"):
            work.select(step.method.estimator, n_wanted, step.seed)
        return watch.parts

    def _evaluate(self, step: Step, sizes: Sequence[int], work: SplitWork, n_features: int | None = None) -> Parts:
        assert step.classifier is not None
        watch = Stopwatch(processor_seconds)
        with threadpool_limits(1):
            ranking = list(range(sizes[-1] if n_features is None else n_features))
            what = (step.classifier.estimator, ranking, list(sizes), step.measures, self._convention)
            work.evaluate(*what, seed=step.seed, watch=watch)
        return watch.parts


def _features(step: Step, sizes: Sequence[int]) -> int:
    assert step.classifier is not None
    return max(sizes) if is_nested(step.classifier.estimator) else sum(sizes)


def carried_on(tries: list[tuple[float, float]], part: str) -> float:
    """Seconds for all rows from those for shares of them.

    >>> carried_on([(0.25, 1.0), (0.5, 2.0)], "training"), carried_on([(0.25, 1.0), (0.5, 4.0)], "training")
    (4.0, 16.0)
    >>> carried_on([(0.25, 3.0)], "training")
    12.0
    """
    share, last = tries[-1]
    before, first = tries[-2] if len(tries) > 1 else (0.0, 0.0)
    # Neighbors are looked for among pairs of rows.
    power = 2 if part == "both" or (len(tries) > 1 and last > STEEP * first) else 1
    slope = max(0.0, last - first) / (share**power - before**power)
    return last + slope * (1 - share**power)
