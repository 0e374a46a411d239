"""What a study will cost, from a quick probe of every data set, method and classifier."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.studies.bench import said
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.sources import Loaded
from labelsieve.studies.split_rule import Split
from labelsieve.studies.steps import Step, Todo
from labelsieve.studies.work import SplitWork, is_nested

PROBED = 300  # rows to train on, and as many to test on
HOW = (
    f"Minutes are from a probe on {PROBED} training rows and on half as many: every method chooses one and then three "
    "features; neighbours are judged with three, other classifiers with the fewest and the most; selection and classifiers are "
    "taken to grow with the rows, selection also with the features to choose, neighbours with the square of the rows. Memory "
    "is the data, its two parts and the codes, for every process."
)


@dataclass(frozen=True)
class Estimate:
    """Cells to run, minutes on one core, MB for one process, and what failed in the probe."""

    n_cells: int
    n_missing: int
    minutes: float
    memory_mb: float
    by_method: dict[str, float]
    problems: tuple[str, ...]


def estimate(protocol: Protocol, todo: Todo) -> Estimate:
    """Probe what is missing and add it up; see :data:`HOW`.

    Cost: loads every data set that has something to do, and about a second for each method of each.

    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_known_answer
    >>> from labelsieve.studies import Study
    >>> data = make_known_answer(80, random_state=0)
    >>> names = tuple(data.feature_names), tuple(data.label_names), ("numeric",) * len(data.feature_names)
    >>> protocol = Protocol([Dataset(data.X, data.Y, *names, name="songs")], ["jmi"], n_features="1..3", splits="2x50%")
    >>> estimate(protocol, Study(protocol, tempfile.mkdtemp()).plan()[0]).n_missing
    6
    """
    minutes: dict[str, float] = {}
    memory, problems = 0.0, []
    for source in protocol.datasets:
        batches = [batch for batch in todo.batches if batch.dataset == source.name]
        if not batches:
            continue
        data = Loaded.of(source)
        split = protocol.splits.splits(data.X, data.Y, data.name)[batches[0].split]
        memory = max(memory, _bytes_of(data) / 2**20)
        probe = Probe(data, split, protocol.convention)
        rates: dict[tuple[str, str], Callable[[Step], float]] = {}
        for batch in batches:
            for step in batch.steps:
                key = (step.method.name, step.classifier.name if step.classifier else "")
                if key not in rates:
                    try:
                        rates[key] = probe.rate(step)
                    except Exception as error:  # told, and left to the run to record
                        problems.append(f"{source.name}, {' and '.join(filter(None, key))}: {said(error)}")
                        rates[key] = lambda _: 0.0
                minutes[key[0]] = minutes.get(key[0], 0.0) + rates[key](step) / 60
    return Estimate(todo.n_cells, todo.n_missing, sum(minutes.values()), memory, minutes, tuple(problems))


class Probe:
    """Some rows of a split and half as many: what does not grow with the rows is told from what does."""

    def __init__(self, data: Loaded, split: Split, convention: str) -> None:
        self._convention = convention
        n_rows = min(PROBED, len(split.train), len(split.test))
        self._sizes = (max(2, n_rows // 2), max(2, n_rows))
        self._works = [SplitWork(data, Split(split.number, split.train[:n], split.test[:n])) for n in self._sizes]
        self._n_features = data.shape[1]
        self._train, self._pairs = len(split.train), (len(split.train) + len(split.test)) * len(split.train)

    def rate(self, step: Step) -> Callable[[Step], float]:
        """Seconds that such a step takes, by its numbers of features."""
        if step.classifier is None:
            one, three = (self._whole(partial(self._select, step, min(n, self._n_features)), 1) for n in (1, 3))
            pick = max(0.0, sum(three) - sum(one)) / 2
            return lambda whole: sum(one) + pick * (whole.n_wanted - 1)
        classifier = step.classifier.estimator
        if not is_nested(classifier):
            ends = sorted({min(step.sizes), max(step.sizes)})
            seconds = sum(self._whole(partial(self._evaluate, step, ends), 1)) / len(ends)
            return lambda whole: seconds * len(whole.sizes)
        few = list(range(1, min(3, self._n_features) + 1))
        fixed, growing = self._whole(partial(self._evaluate, step, few), 2)
        # A search at a size is as dear as adding three features; the features between two sizes are added without one.
        feature = growing / len(few) / 4
        return lambda whole: (
            (fixed + growing) * len(whole.sizes) / len(few) + feature * max(0, max(whole.sizes) - len(whole.sizes))
        )

    def _whole(self, work: Callable[[SplitWork], object], power: int) -> tuple[float, float]:
        """Seconds for all rows: those that do not depend on the rows, and those that grow with this power of them."""
        work(self._works[0])  # what is loaded once is loaded
        small, large = (min(_seconds(work, one) for _ in range(2)) for one in self._works)
        few, many = ((2.0 * n * n if power == 2 else float(n)) for n in self._sizes)
        slope = max(0.0, large - small) / (many - few) if many > few else 0.0
        return max(0.0, large - slope * many), slope * (self._pairs if power == 2 else self._train)

    def _select(self, step: Step, n_wanted: int, work: SplitWork) -> object:
        return work.select(step.method.estimator, n_wanted, step.seed)

    def _evaluate(self, step: Step, sizes: list[int], work: SplitWork) -> object:
        assert step.classifier is not None
        return work.evaluate(step.classifier.estimator, list(range(self._n_features)), sizes, step.measures, self._convention)


def _seconds(work: Callable[[SplitWork], object], on: SplitWork) -> float:
    started = time.perf_counter()
    work(on)
    return time.perf_counter() - started


def _bytes_of(data: Loaded) -> float:
    """The data, its training and test rows, once more in columns for neighbours, and a byte for each code."""

    def held(table: Any) -> int:
        return int(table.data.nbytes + table.indices.nbytes) if sparse.issparse(table) else int(np.asarray(table).nbytes)

    whole = held(data.X) + held(data.Y)
    return 3.0 * whole + data.shape[0] * data.shape[1]
