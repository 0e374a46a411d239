"""Scores of features from a plan and its program, and the components of the scores."""

from typing import TYPE_CHECKING

import numpy as np

from labelsieve.counting.workspace import Workspace
from labelsieve.formula.evaluation import Parents, Program, Progress
from labelsieve.formula.values import Real, Value

if TYPE_CHECKING:
    from labelsieve.formula.plan import Component, Plan


class BaseScorer:
    """A plan and its program: one list of selected features, or one for every target."""

    def __init__(self, plan: "Plan", program: Program) -> None:
        self._plan, self._program = plan, program

    def _evaluate(self) -> "tuple[list[Component], list[Value], Real]":
        """The components of the score, their values, and their sum in nats."""
        fixed = self._program.sources.fixed
        components = self._plan.components if self._program.n_selected else self._plan.first_components
        values = [self._program.evaluate(component.lowered) for component in components]
        total = values[0] if len(values) == 1 else Value.total(values, fixed)
        return components, values, total.real(fixed)


class Scorer(BaseScorer):
    """Scores of all features given those selected so far."""

    @property
    def name(self) -> str:
        """That of the formula."""
        return self._plan.name

    @property
    def is_ranking(self) -> bool:
        """True when scores do not depend on the selection."""
        return self._plan.is_ranking

    def rebind(self, workspace: Workspace, *, targets: slice = slice(None), parents: Parents | None = None) -> "Scorer":
        """The scorer of the same formula for other data."""
        return self._plan.bind(workspace, targets=targets, parents=parents)

    def scores(self) -> Real:
        """Score of every feature, in nats."""
        self._components, self._values, total = self._evaluate()
        self._total = total[:, 0] if len(total) > 1 else np.repeat(total[:, 0], self._program.sources.X.n_columns)
        return self._total

    def terms_alone(self) -> Real:
        """The summands of the score that do not depend on the selection, added up, in nats."""
        return self._sum([component for component in self._plan.components if component.lowered.is_static], self._program)

    def terms_given(self, feature: int) -> Real:
        """The other summands, for a selection of this feature alone; the selection so far is not changed."""
        own, base = self._program, self._program.base
        program = Program(self._plan.formulas, own.sources, targets=slice(base.first, base.last), parents=own.parents)
        program.select(feature)
        return self._sum([component for component in self._plan.components if not component.lowered.is_static], program)

    def _sum(self, components: "list[Component]", program: Program) -> Real:
        fixed, total = program.sources.fixed, np.zeros(program.sources.X.n_columns)
        if components:
            total += Value.total([program.evaluate(component.lowered) for component in components], fixed).real(fixed)[:, 0]
        return total

    def components(self, feature: int) -> dict[str, float]:
        """The components of a feature's score in the last ``scores``, by kind: relevance, redundancy, ..."""
        if len(self._components) == 1:
            return {self._components[0].kind: float(self._total[feature])}
        by_kind: dict[str, float] = {}
        for component, value in zip(self._components, self._values, strict=True):
            by_kind[component.kind] = by_kind.get(component.kind, 0.0) + self._nats(value, feature)
        return by_kind

    def summands(self, feature: int) -> list[float]:
        """The summands of a feature's score in the last ``scores``, in the order of the formula, in nats."""
        return [self._nats(value, feature) for value in self._values]

    def _nats(self, value: Value, feature: int) -> float:
        number = value.array[feature if len(value.array) > 1 else 0, 0]
        return float(self._program.sources.fixed.information(number) if value.exact else number)

    def relevance(self) -> Real | None:
        """Information of every feature alone about the targets, added up, in nats; None if the last ``scores`` need it not."""
        for component, value in zip(self._components, self._values, strict=True):
            if component.is_relevance:
                return self._total if len(self._values) == 1 else value.real(self._program.sources.fixed)[:, 0]
        return None

    def report_to(self, progress: Progress | None) -> None:
        """Call ``progress`` with the number of targets done and their total while pairs of targets are counted."""
        self._program.progress = progress

    def select(self, feature: int) -> None:
        """Add ``feature`` to the selected ones."""
        self._program.select(feature)
