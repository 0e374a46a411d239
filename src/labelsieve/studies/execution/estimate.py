"""What a study will cost, from a quick probe of every data set, method and classifier."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.progress import progress_bar
from labelsieve.studies.execution.pending_steps import Step, Todo
from labelsieve.studies.execution.probe import FEWEST, LONG, LONGEST, PATIENCE, PICKS, WIDEST, Probe
from labelsieve.studies.execution.step_runner import said
from labelsieve.studies.protocol.data_sources import Loaded
from labelsieve.studies.protocol.protocol import Protocol

HOW = (
    f"Minutes are the processor's, from trying every method and classifier on {FEWEST} training rows, twice as many and so on, "
    f"until a second try or a later one takes {PATIENCE:g} s, the first {LONG:g} s, or one has all rows; a try is given up "
    f"after {LONGEST:g} s, and then it will take longer than is said. Methods choose {PICKS} features, classifiers are judged "
    f"with up to {WIDEST}, or with the one number that is asked for. From there "
    "selection is taken to grow with the features to choose, and all with the rows, or with their square where tries do or "
    "neighbors are looked for. Memory is the data, its two parts and the codes, for every process."
)


@dataclass(frozen=True)
class Estimate:
    """Cells to run, minutes on one core, MB for one process, and what failed in the probe.

    When tries were given up because they took too long, minutes are the least that it will take.
    """

    n_cells: int
    n_missing: int
    minutes: float
    memory_mb: float
    by_method: dict[str, float]
    problems: tuple[str, ...]
    n_given_up: int = 0


def estimate(protocol: Protocol, todo: Todo) -> Estimate:
    """Probe what is missing and add it up; see :data:`HOW`.

    Cost: loads every data set that has something to do, and a second or two for each method and classifier of each, at the most
    20 of the processor's.

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
    memory, problems, n_given_up = 0.0, [], 0
    for source in protocol.datasets:
        batches = [batch for batch in todo.batches if batch.dataset == source.name]
        if not batches:
            continue
        data = Loaded.of(source)
        split = protocol.splits.splits(data.X, data.Y, data.name)[batches[0].split]
        memory = max(memory, _bytes_of(data) / 2**20)
        probe = Probe(data, split, protocol.convention)
        steps = [(_kind_of(step), step) for batch in batches for step in batch.steps]
        known: dict[Any, float] = {}
        with progress_bar(f"estimate: {source.name}") as progress:
            kinds = dict(steps)
            for kind, step in kinds.items():
                try:
                    known[kind] = probe.seconds(step)
                except Exception as error:  # told, and left to the run to record
                    problems.append(f"{source.name}, {' and '.join(filter(None, kind[:2]))}: {said(error)}")
                    known[kind] = 0.0
                progress(len(known), len(kinds))
        n_given_up += probe.n_given_up
        for kind, step in steps:
            minutes[step.method.name] = minutes.get(step.method.name, 0.0) + known[kind] / 60
    return Estimate(todo.n_cells, todo.n_missing, sum(minutes.values()), memory, minutes, tuple(problems), n_given_up)


def _kind_of(step: Step) -> tuple[str, str, int, int]:
    """Steps of one kind take the same time."""
    return step.method.name, step.classifier.name if step.classifier else "", step.n_wanted, len(step.sizes)


def _bytes_of(data: Loaded) -> float:
    """The data, its training and test rows, once more in columns for neighbors, and a byte for each code."""

    def held(table: Any) -> int:
        return int(table.data.nbytes + table.indices.nbytes) if sparse.issparse(table) else int(np.asarray(table).nbytes)

    whole = held(data.X) + held(data.Y)
    return 3.0 * whole + data.shape[0] * data.shape[1]
