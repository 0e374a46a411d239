"""The plan of a run: every cell of a protocol, whether its result is stored, and the steps that are left to run."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from labelsieve.classifiers.prefix_scores import NONE
from labelsieve.errors import StudyError
from labelsieve.fingerprint import code_print, seed_of, text_print
from labelsieve.studies.data import LoadedData
from labelsieve.studies.estimators import NamedEstimator, Split
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.store import CellKey, Fingerprints, SelectionKey, StoredRanking, StoredResults

STATM, STAT = "/proc/{}/statm", "/proc/{}/stat"  # what Linux says about the memory and the time of a process
TIME_LIMIT, MEMORY_LIMIT = "TimeLimit", "MemoryLimit"  # the first words of the errors of steps that exceeded a limit
# What a plan says about a cell. A stale one has a stored result of other data, rows, settings or code, which is kept.
CellState = Literal["missing", "stored", "failed", "stale"]
STATES: tuple[CellState, ...] = ("missing", "stored", "failed", "stale")


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


@dataclass(frozen=True)
class Limits:
    """Limits of every step: seconds, MB of its process, and CPU seconds; None: no limit."""

    seconds: float | None = None
    memory_mb: float | None = None
    cpu_seconds: float | None = None

    def check(self) -> None:
        """Refuse limits that cannot be enforced."""
        for name, value in (("time_limit", self.seconds), ("memory_limit", self.memory_mb), ("cpu_limit", self.cpu_seconds)):
            if value is not None and not value > 0:
                raise StudyError(f"{name} must be above 0, not {value!r}.")
        for name, value, file in (("memory_limit", self.memory_mb, STATM), ("cpu_limit", self.cpu_seconds, STAT)):
            if value is not None and not Path(file.format(os.getpid())).exists():
                raise StudyError(f"{name}: this system does not report what a process uses; leave it out.")


@dataclass(frozen=True, eq=False)
class DataFacts:
    """The facts about a data set and its splits that planning needs: its shape, and fingerprints of its data and rows."""

    name: str
    data: str
    shape: tuple[int, int, int]
    rows: list[str]
    test_share: float

    @classmethod
    def of(cls, data: LoadedData, splits: list[Split]) -> "DataFacts":
        """Hash a loaded data set and its splits."""
        share = sum(len(split.test) for split in splits) / sum(len(split.test) + len(split.train) for split in splits)
        return cls(data.name, data.fingerprint, data.shape, [split.fingerprint for split in splits], share)


@dataclass(eq=False)
class StudyPlan:
    """The state of every cell of a protocol, and the batches to run.

    ``changed_selections`` and ``changed_cells`` are the keys of stored results that do not belong to the protocol any more, and
    ``reasons`` counts the cells by what changed.
    """

    cells: dict[CellKey, CellState] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)
    changed_selections: list[SelectionKey] = field(default_factory=list)
    changed_cells: list[CellKey] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def count(self, state: CellState) -> int:
        """Return the number of cells in a state."""
        return sum(found == state for found in self.cells.values())

    def by_method(self) -> dict[tuple[str, str], Counter[CellState]]:
        """Count the states of the cells of every data set and method."""
        counts: dict[tuple[str, str], Counter[CellState]] = {}
        for key, state in self.cells.items():
            counts.setdefault((key.dataset, key.method), Counter())[state] += 1
        return counts

    def changes(self) -> str:
        """Return in words what changed since results were stored."""
        return ", ".join(f"{reason} ({count:,} {'cell' if count == 1 else 'cells'})" for reason, count in self.reasons.items())

    def refuse_changes(self, path: object) -> None:
        """Refuse to run with stored results of other data, rows, settings or code."""
        if self.reasons:
            raise StudyError(
                f"{path}: {self.changes()} changed since its results were stored, and old and new results are not mixed. Run "
                "those cells again (changed='rerun'), keep them next to new ones (changed='keep'), or use another folder."
            )


def make_plan(
    protocol: Protocol, facts: list[DataFacts], stored: StoredResults, *, changed: str = "refuse", retry_failed: bool = False
) -> StudyPlan:
    """Compare a protocol with the stored results; the first split of every data set comes first, then the second.

    Stored results of other data, rows, settings or code run again with ``changed="rerun"``. Otherwise their cells are stale and
    do not run; with ``"keep"``, a stored ranking of other code serves new evaluations.
    """
    planner = _Planner(protocol, stored, changed, retry_failed)
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
    """Fills a plan, one method on one split after the other."""

    def __init__(self, protocol: Protocol, stored: StoredResults, changed: str, retry_failed: bool) -> None:
        self.plan = StudyPlan()
        self._protocol, self._stored, self._changed, self._retry_failed = protocol, stored, changed, retry_failed
        self._code = code_print()
        convention = protocol.convention
        words = [convention if isinstance(convention, str) else json.dumps(convention, sort_keys=True)]
        self._settings = [*words, *([] if protocol.scale is None else [protocol.scale])]
        self._exceeded = {
            (key.dataset, key.method)
            for key, ranking in stored.rankings.items()
            if ranking.selected is None and (ranking.error or "").startswith((TIME_LIMIT, MEMORY_LIMIT))
        }

    def steps(self, data: DataFacts, batch: Batch, method: NamedEstimator) -> Iterator[Step]:
        """Yield the selection by a method, if its ranking is not stored, and its evaluations."""
        protocol = self._protocol
        key = SelectionKey(data.name, batch.split, method.name)
        if protocol.part.skip_exceeded and (data.name, method.name) in self._exceeded:
            for classifier in protocol.classifiers:
                self.plan.cells[CellKey(*key, classifier.name)] = "failed"
            return
        seed = seed_of(protocol.seed, data.name, batch.split, method.name)
        fingerprints = Fingerprints(data.data, batch.rows, text_print(method.identity, str(seed)), self._code)
        n_changed = len(self.plan.changed_cells)
        evaluations = [
            step
            for classifier in protocol.classifiers
            if (step := self._evaluation(data, key, method, classifier, fingerprints, seed)) is not None
        ]
        ranking = self._stored.rankings.get(key)
        if ranking is not None and ranking.fingerprints != fingerprints:
            self.plan.changed_selections.append(key)
            if len(self.plan.changed_cells) == n_changed:  # else its cells have told the reason
                self.plan.reasons.update([self._reason(ranking.fingerprints, fingerprints, data.name, method)])
            if not self._keeps(ranking, fingerprints):
                ranking = None
        if not evaluations:
            return
        n_wanted = max(step.n_wanted for step in evaluations)
        if ranking is not None and ranking.selected is not None and ranking.n_wanted >= n_wanted:
            batch.rankings[method.name] = ranking.selected
        else:
            yield Step(method, None, n_wanted, [], [], fingerprints, seed)
        yield from evaluations

    def _keeps(self, ranking: StoredRanking, fingerprints: Fingerprints) -> bool:
        """Whether a stored ranking serves new evaluations although the code changed, and nothing else."""
        return self._changed == "keep" and replace(ranking.fingerprints, code=self._code) == fingerprints

    def _evaluation(
        self,
        data: DataFacts,
        selection_key: SelectionKey,
        method: NamedEstimator,
        classifier: NamedEstimator,
        selection: Fingerprints,
        seed: int,
    ) -> Step | None:
        """Set the state of a cell, and return its evaluation where it has to run."""
        protocol, plan = self._protocol, self.plan
        key = CellKey(*selection_key, classifier.name)
        settings = text_print(method.identity, str(seed), classifier.identity, *self._settings)
        fingerprints = replace(selection, settings=settings)
        sizes, measures = protocol.sizes(data.shape[1], method, classifier), protocol.measures
        stored = self._stored.cells.get(key)
        if stored is not None and stored.fingerprints != fingerprints:
            plan.changed_cells.append(key)
            plan.reasons.update([self._reason(stored.fingerprints, fingerprints, data.name, method, classifier)])
            if self._changed != "rerun":
                plan.cells[key] = "stale"
                return None
            stored = None
        if stored is not None and stored.has_values:
            if set(sizes) <= set(stored.sizes) and set(measures) <= set(stored.measures):
                plan.cells[key] = "stored"
                return None
            sizes = sorted({*sizes, *stored.sizes})
            measures = list(dict.fromkeys([*stored.measures, *measures]))
        if stored is not None and stored.error is not None and not self._retry_failed:
            plan.cells[key] = "failed"
            return None
        plan.cells[key] = "missing"
        # The same for all methods, so that the random state of a classifier makes no difference between them.
        classifier_seed = seed_of(protocol.seed, data.name, key.split, "classifier", classifier.name)
        return Step(method, classifier, max(sizes), sizes, measures, fingerprints, classifier_seed)

    def _reason(self, old: Fingerprints, new: Fingerprints, dataset: str, *estimators: NamedEstimator) -> str:
        """Return the first difference, in words."""
        if old.data != new.data:
            return f"the data of {dataset}"
        if old.rows != new.rows:
            return f"the splits of {dataset}"
        if old.settings == new.settings:
            return "the code of labelsieve"
        if self._changed_for_all:
            return f"the {' and the '.join(self._changed_for_all)}"
        kind = "settings" if all(estimator.settings is not None for estimator in estimators) else "settings or code"
        return f"{kind} of {' or '.join(estimator.name for estimator in estimators)}"

    @cached_property
    def _changed_for_all(self) -> list[str]:
        """Settings of the whole study that differ from the last run's: a hash of settings does not show which one changed."""
        before, now = {"scale": NONE, **self._stored.protocol}, self._protocol.plain()
        return [name for name in ("seed", "convention", "scale") if before.get(name, now[name]) != now[name]]
