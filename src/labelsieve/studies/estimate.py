"""The cost of a study, from a short probe of every data set, method and classifier."""

from dataclasses import dataclass

import numpy as np

from labelsieve.progress import progress_bar
from labelsieve.studies import probe as probing
from labelsieve.studies.data import LoadedData
from labelsieve.studies.probe import Probe
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.steps import Step, StudyPlan, error_text
from labelsieve.tables.types import Matrix

ESTIMATE_METHOD = (
    f"Minutes are CPU time, from trials of every method and classifier on {probing.FIRST_ROWS} training rows, twice as "
    f"many and so on, until a second or later trial takes {probing.ENOUGH_SECONDS:g} s, the first {probing.FIRST_SECONDS:g} s, "
    f"or a trial has all rows. A trial is stopped after {probing.MAX_SECONDS:g} s; the study then takes longer than estimated. "
    f"Methods select {probing.N_SELECTED} features; classifiers are evaluated with up to {probing.MAX_FEATURES}, or with the "
    "one number of the protocol. The cost of selection is extrapolated linearly in the features to select, and all costs "
    "linearly in the rows, or quadratically for neighbors and where the trials are. Memory is the data, its two parts and the "
    "codes, for every process."
)
StepKind = tuple[str, str, int, int]


@dataclass(frozen=True)
class Estimate:
    """The result of :func:`estimate`.

    Attributes
    ----------
    n_cells, n_missing : int
        Cells (data set, split, method, classifier) of the protocol, and those that have to be run.
    minutes, by_method : float, dict of str to float
        Minutes on one core, in total and by method; a lower bound if trials timed out.
    memory_mb : float
        Memory of one process in MB.
    problems : tuple of str
        Errors of the trials.
    n_timed_out : int
        Number of trials that timed out.
    """

    n_cells: int
    n_missing: int
    minutes: float
    memory_mb: float
    by_method: dict[str, float]
    problems: tuple[str, ...]
    n_timed_out: int = 0


def estimate(protocol: Protocol, plan: StudyPlan) -> Estimate:
    """Estimate the cost of the missing cells of a study by short trials of every method and classifier.

    Cost: loads every data set with missing cells, and takes a second or two for each of its methods and classifiers, at most
    20 s of CPU time.

    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_feature_roles
    >>> from labelsieve.studies import Study
    >>> data = make_feature_roles(80, random_state=0)
    >>> names = tuple(data.feature_names), tuple(data.label_names), ("numeric",) * len(data.feature_names)
    >>> protocol = Protocol([Dataset(data.X, data.Y, *names, name="songs")], ["jmi"], n_features="1..3", splits="2x50%")
    >>> estimate(protocol, Study(protocol, tempfile.mkdtemp()).plan()).n_missing
    6
    """
    minutes: dict[str, float] = {}
    memory, problems, n_timed_out = 0.0, [], 0
    for source in protocol.datasets:
        batches = [batch for batch in plan.batches if batch.dataset == source.name]
        if not batches:
            continue
        data = LoadedData.of(source)
        split = protocol.splits.splits(data.X, data.Y, data.name)[batches[0].split]
        memory = max(memory, _bytes_of(data) / 2**20)
        probe = Probe(data, split, protocol)
        steps = [(_kind_of(step), step) for batch in batches for step in batch.steps]
        known: dict[StepKind, float] = {}
        with progress_bar(f"estimate: {source.name}") as progress:
            kinds = dict(steps)
            for kind, step in kinds.items():
                try:
                    known[kind] = probe.seconds(step)
                except Exception as error:  # reported, and left to the run to record
                    problems.append(f"{source.name}, {' and '.join(filter(None, kind[:2]))}: {error_text(error)}")
                    known[kind] = 0.0
                progress(len(known), len(kinds))
        n_timed_out += probe.n_timed_out
        for kind, step in steps:
            minutes[step.method.name] = minutes.get(step.method.name, 0.0) + known[kind] / 60
    return Estimate(plan.n_cells, plan.n_missing, sum(minutes.values()), memory, minutes, tuple(problems), n_timed_out)


def _kind_of(step: Step) -> StepKind:
    """Return a key that is equal for steps of the same cost."""
    return step.method.name, step.classifier.name if step.classifier else "", step.n_wanted, len(step.sizes)


def _bytes_of(data: LoadedData) -> float:
    """Return the bytes of the data, its training and test rows, a column-wise copy for neighbors, and one byte per code."""

    def held(table: Matrix) -> int:
        return int(table.nbytes if isinstance(table, np.ndarray) else table.data.nbytes + table.indices.nbytes)

    whole = held(data.X) + held(data.Y)
    return 3.0 * whole + data.shape[0] * data.shape[1]
