"""Steps of a study that are left to do, and running them."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from labelsieve.classifiers.prefix_scores import NONE
from labelsieve.errors import StudyError
from labelsieve.fingerprint import code_print, seed_of, text_print
from labelsieve.studies.cells import Evaluation, SplitWork, Stopwatch
from labelsieve.studies.data import LoadedData
from labelsieve.studies.estimators import NamedEstimator, Split
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.store import (
    CellKey,
    Fingerprints,
    MeasuredValue,
    ResourcesUsed,
    SelectionKey,
    StoredResults,
    StudyStore,
)

TIME_LIMIT, MEMORY_LIMIT = "TimeLimit", "MemoryLimit"  # the first words of errors


@dataclass(frozen=True, eq=False)
class Step:
    """A selection (``classifier`` is None), or the evaluation of a ranking with a classifier; ``seed`` is its random state."""

    method: NamedEstimator
    classifier: NamedEstimator | None
    n_wanted: int
    sizes: list[int]
    measures: list[str]
    fingerprints: Fingerprints
    seed: int


@dataclass(frozen=True, eq=False)
class Batch:
    """The steps of one split, which share its rows; ``rankings`` are those already stored."""

    dataset: str
    split: int
    data: str
    rows: str
    steps: list[Step]
    rankings: dict[str, list[int]]


@dataclass(eq=False)
class StudyPlan:
    """Batches to run, counts of stored cells, and stale results: those of other data, rows, settings or code."""

    batches: list[Batch] = field(default_factory=list)
    n_cells: int = 0
    n_done: int = 0
    n_failed: int = 0
    stale_selections: list[SelectionKey] = field(default_factory=list)
    stale_cells: list[CellKey] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def n_missing(self) -> int:
        """Number of cells to run."""
        return sum(step.classifier is not None for batch in self.batches for step in batch.steps)

    def changes(self) -> str:
        """Return in words what changed since the stale cells were stored."""
        return ", ".join(f"{reason} ({count:,} {'cell' if count == 1 else 'cells'})" for reason, count in self.reasons.items())


@dataclass(frozen=True, eq=False)
class DataFacts:
    """The facts about a data set and its splits that planning needs."""

    name: str
    data: str
    shape: tuple[int, int, int]
    rows: list[str]
    test_share: float

    @classmethod
    def of(cls, protocol: Protocol, data: LoadedData) -> "DataFacts":
        """Check a data set, and split its rows."""
        protocol.check_data(data)
        splits = protocol.splits.splits(data.X, data.Y, data.name)
        share = sum(len(split.test) for split in splits) / sum(len(split.test) + len(split.train) for split in splits)
        return cls(data.name, data.fingerprint, data.shape, [split.fingerprint for split in splits], share)


def make_plan(
    protocol: Protocol, facts: list[DataFacts], stored: StoredResults, *, retry_failed: bool = False, keep: bool = False
) -> StudyPlan:
    """Compare a protocol with the stored results; the first split of every data set comes first, then the second.

    Cells of other data, rows, settings or code are listed as stale and are not among the steps. With ``keep``, a ranking of
    other code is used for new evaluations.
    """
    planner = _Planner(protocol, stored, retry_failed, keep)
    positions = {source.name: position for position, source in enumerate(protocol.whole.datasets)}
    for split in range(max((len(data.rows) for data in facts), default=0)):
        for data in facts:
            if split >= len(data.rows) or not protocol.part.has(positions[data.name], split):
                continue
            batch = Batch(data.name, split, data.data, data.rows[split], [], {})
            for method in protocol.methods:
                batch.steps.extend(planner.steps(data, batch, method))
            if batch.steps:
                planner.plan.batches.append(batch)
    return planner.plan


class _Planner:
    def __init__(self, protocol: Protocol, stored: StoredResults, retry_failed: bool, keep: bool) -> None:
        self.plan = StudyPlan()
        self._protocol, self._stored, self._retry_failed, self._keep = protocol, stored, retry_failed, keep
        self._exceeded = {
            (key.dataset, key.method)
            for key, ranking in stored.rankings.items()
            if ranking.selected is None and (ranking.error or "").startswith((TIME_LIMIT, MEMORY_LIMIT))
        }

    def steps(self, data: DataFacts, batch: Batch, method: NamedEstimator) -> Iterator[Step]:
        """Yield the selection by a method, if its ranking is not stored, and its evaluations."""
        protocol, plan = self._protocol, self.plan
        seed = seed_of(protocol.seed, data.name, batch.split, method.name)
        key = SelectionKey(data.name, batch.split, method.name)
        fingerprints = Fingerprints(data.data, batch.rows, text_print(method.identity, str(seed)), code_print())
        if protocol.part.skip_exceeded and (data.name, method.name) in self._exceeded:
            plan.n_cells += len(protocol.classifiers)
            plan.n_failed += len(protocol.classifiers)
            return
        evaluations = [
            step
            for classifier in protocol.classifiers
            if (step := self._evaluation(data, key, method, classifier, fingerprints, seed)) is not None
        ]
        ranking = self._stored.rankings.get(key)
        if ranking is not None and ranking.fingerprints != fingerprints:
            plan.stale_selections.append(key)
            if not any(cell[:3] == key for cell in plan.stale_cells[-len(protocol.classifiers) :]):
                plan.reasons.update([self._reason(ranking.fingerprints, fingerprints, data.name, method)])
            if not self._keep or replace(ranking.fingerprints, code=fingerprints.code) != fingerprints:
                ranking = None
        if not evaluations:
            return
        n_wanted = max(step.n_wanted for step in evaluations)
        if ranking is not None and ranking.selected is not None and ranking.n_wanted >= n_wanted:
            batch.rankings[method.name] = ranking.selected
        else:
            yield Step(method, None, n_wanted, [], [], fingerprints, seed)
        yield from evaluations

    def _evaluation(
        self,
        data: DataFacts,
        key: SelectionKey,
        method: NamedEstimator,
        classifier: NamedEstimator,
        selection: Fingerprints,
        seed: int,
    ) -> Step | None:
        """Return the evaluation of a cell; None where it is stored, stale, or failed before."""
        protocol, plan = self._protocol, self.plan
        plan.n_cells += 1
        convention = (
            protocol.convention if isinstance(protocol.convention, str) else json.dumps(protocol.convention, sort_keys=True)
        )
        scale = [] if protocol.scale is None else [protocol.scale]
        settings = text_print(method.identity, str(seed), classifier.identity, convention, *scale)
        fingerprints = Fingerprints(selection.data, selection.rows, settings, selection.code)
        sizes, measures = protocol.sizes(data.shape[1], method, classifier), protocol.measures
        cell_key = CellKey(*key, classifier.name)
        stored = self._stored.cells.get(cell_key)
        if stored is not None:
            if stored.fingerprints != fingerprints:
                plan.stale_cells.append(cell_key)
                plan.reasons.update([self._reason(stored.fingerprints, fingerprints, data.name, method, classifier)])
                return None
            if stored.has_values:
                if set(sizes) <= set(stored.sizes) and set(measures) <= set(stored.measures):
                    plan.n_done += 1
                    return None
                sizes = sorted({*sizes, *stored.sizes})
                measures = list(dict.fromkeys([*stored.measures, *measures]))
            if stored.error is not None and not self._retry_failed:
                plan.n_failed += 1
                return None
        # The same for all methods, so that the random state of a classifier makes no difference between them.
        classifier_seed = seed_of(protocol.seed, data.name, key.split, "classifier", classifier.name)
        return Step(method, classifier, max(sizes), sizes, measures, fingerprints, classifier_seed)

    def _reason(self, old: Fingerprints, new: Fingerprints, dataset: str, *estimators: NamedEstimator) -> str:
        """Return the first difference, in words."""
        changed = [name for name in ("data", "rows", "settings", "code") if getattr(old, name) != getattr(new, name)]
        words = {"data": f"the data of {dataset}", "rows": f"the splits of {dataset}", "code": "the code of labelsieve"}
        if changed[0] != "settings":
            return words[changed[0]]
        # A hash does not show which setting: a seed or convention that differs from the last run's explains it.
        before, now = {"scale": NONE, **self._stored.protocol}, self._protocol.plain(strict=False)
        shared = [name for name in ("seed", "convention", "scale") if before.get(name, now[name]) != now[name]]
        if shared:
            return f"the {' and the '.join(shared)}"
        kind = "settings" if all(estimator.settings is not None for estimator in estimators) else "settings or code"
        return f"{kind} of {' or '.join(estimator.name for estimator in estimators)}"


def handle_stale(plan: StudyPlan, store: StudyStore, changed: str) -> bool:
    """Refuse, delete or keep stale results, as ``changed`` demands; True when a new plan is needed."""
    if not plan.stale_cells and not plan.stale_selections:
        return False
    if changed == "refuse":
        raise StudyError(
            f"{store.path}: {plan.changes()} changed since its results were stored, and old and new results are not mixed. Run "
            "those cells again (changed='rerun'), keep them next to new ones (changed='keep'), or use another folder."
        )
    if changed == "rerun":
        store.delete(plan.stale_selections, plan.stale_cells)
        return True
    return False


MAX_ERROR_LENGTH = 500  # stored characters of an error


@dataclass(frozen=True)
class StepResult:
    """The outcome of the step at ``index`` in its batch: a ranking, values, or an error."""

    index: int
    ranking: list[int] | None
    values: list[MeasuredValue] | None
    used: ResourcesUsed
    error: str | None = None


class StepRunner:
    """Run batches, keeping the data set of the last one in memory."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._sources = {source.name: source for source in protocol.datasets}
        self._data: LoadedData | None = None
        self._splits: list[Split] = []

    def prepare(self, batch: Batch) -> SplitWork:
        """Load the rows of a split; data, rows and code must be those of the plan, wherever this process runs."""
        if any(step.fingerprints.code != code_print() for step in batch.steps):
            raise StudyError("the code of labelsieve differs between processes, or changed while the study ran. Run it again.")
        if self._data is None or self._data.name != batch.dataset:
            self._data = LoadedData.of(self._sources[batch.dataset])
            self._splits = self._protocol.splits.splits(self._data.X, self._data.Y, self._data.name)
            if self._data.fingerprint != batch.data:
                raise StudyError(f"data set {batch.dataset!r}: the data changed while the study ran. Run it again.")
        split = self._splits[batch.split]
        if split.fingerprint != batch.rows:
            raise StudyError(f"data set {batch.dataset!r}: the rows of split {batch.split} changed; is the splitter seeded?")
        return SplitWork(self._data, split, self._protocol.scale)

    def steps(self, batch: Batch, work: SplitWork) -> Iterator[StepResult]:
        """Run the steps. One that fails yields its error; the others continue, except those that need its ranking."""
        rankings = dict(batch.rankings)
        for index, step in enumerate(batch.steps):
            watch = Stopwatch()
            try:
                if step.classifier is None:
                    ranking = work.select(step.method.estimator, step.n_wanted, step.seed)
                    rankings[step.method.name] = ranking
                    yield StepResult(index, ranking, None, watch.used())
                elif step.method.name in rankings:
                    values = work.evaluate(self._evaluation(step, rankings[step.method.name]), watch=watch)
                    yield StepResult(index, None, values, watch.used())
            except Exception as error:
                yield StepResult(index, None, None, watch.used(), error_text(error))

    def _evaluation(self, step: Step, ranking: list[int]) -> Evaluation:
        assert step.classifier is not None
        if len(ranking) < max(step.sizes):
            raise StudyError(f"{step.method.name} selected {len(ranking)} features, and {max(step.sizes)} were wanted.")
        convention = self._protocol.convention
        return Evaluation(step.classifier.estimator, ranking, step.sizes, step.measures, convention, step.seed)


def error_text(error: BaseException) -> str:
    """Return an error in one line.

    >>> error_text(ValueError("too  few"))
    'ValueError: too few'
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MAX_ERROR_LENGTH]


class BatchProgress:
    """The progress of a batch in another process: the number of finished steps, and the rankings that they gave."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._n_finished = 0
        self._rankings = dict(batch.rankings)

    def record(self, result: StepResult) -> bool:
        """Record the result of a step; False if it was known, as when the batch was restarted elsewhere."""
        if result.index < self._n_finished:
            return False
        self._n_finished = result.index + 1
        if result.ranking is not None:
            self._rankings[self.batch.steps[result.index].method.name] = result.ranking
        return True

    def fail_current(self, error: str, seconds: float) -> tuple[StepResult | None, Batch | None]:
        """Return a failed result for the step at which the worker died, and a batch of the steps that can still run."""
        left = self._runnable(self.batch.steps[self._n_finished :])
        if not left:
            return None, None
        failed = left[0]
        result = StepResult(self.batch.steps.index(failed), None, None, ResourcesUsed(seconds, None), error)
        if failed.classifier is None:  # without its ranking there is nothing to evaluate
            left = [step for step in left if step.method.name != failed.method.name]
        rest = [step for step in left if step is not failed]
        return result, replace(self.batch, steps=rest, rankings=self._rankings) if rest else None

    def _runnable(self, steps: list[Step]) -> list[Step]:
        """Return steps with a ranking; evaluations of a failed selection were recorded with it."""
        known = {*self._rankings, *(step.method.name for step in steps if step.classifier is None)}
        return [step for step in steps if step.method.name in known]
