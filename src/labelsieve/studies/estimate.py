"""What a study will cost, from a quick probe of every data set, method and classifier."""

import time
from collections.abc import Callable
from dataclasses import dataclass
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
    f"Minutes are from a probe on at most {PROBED} training rows: every method chooses one and then three features, every "
    "classifier is judged with them; selection is taken to grow with the rows and the features to choose, neighbours with the "
    "square of the rows. Memory is the data, its two halves and the codes, for every process."
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
    """A few rows of a split, and how much more there is in the whole."""

    def __init__(self, data: Loaded, split: Split, convention: str) -> None:
        self._work = SplitWork(data, Split(split.number, split.train[:PROBED], split.test[:PROBED]))
        few, few_test = min(len(split.train), PROBED), min(len(split.test), PROBED)
        self._rows = len(split.train) / few
        self._squares = (len(split.train) + len(split.test)) * len(split.train) / ((few + few_test) * few)
        self._convention = convention

    def rate(self, step: Step) -> Callable[[Step], float]:
        """Seconds that such a step takes, by its numbers of features."""
        n_features = int(self._work.X.shape[1])
        if step.classifier is None:
            one, three = (self._seconds(step, min(n, n_features)) for n in (1, 3))
            pick = max(0.0, three - one) / 2
            return lambda whole: self._rows * (one + pick * (whole.n_wanted - 1))
        few = list(range(1, min(3, n_features) + 1))
        classifier = step.classifier.estimator
        started = time.perf_counter()
        self._work.evaluate(classifier, list(range(few[-1])), few, step.measures, self._convention)
        each = (time.perf_counter() - started) / len(few)
        factor = self._squares if is_nested(classifier) else self._rows
        # A size costs a search; the features between two sizes cost a third of one each.
        return lambda whole: factor * each * (len(whole.sizes) + max(0, max(whole.sizes) - len(whole.sizes)) / 3)

    def _seconds(self, step: Step, n_wanted: int) -> float:
        started = time.perf_counter()
        self._work.select(step.method.estimator, n_wanted, step.seed)
        return time.perf_counter() - started


def _bytes_of(data: Loaded) -> float:
    """The data, its training and test rows, once more in columns for neighbours, and a byte for each code."""

    def held(table: Any) -> int:
        return int(table.data.nbytes + table.indices.nbytes) if sparse.issparse(table) else int(np.asarray(table).nbytes)

    whole = held(data.X) + held(data.Y)
    return 3.0 * whole + data.shape[0] * data.shape[1]
