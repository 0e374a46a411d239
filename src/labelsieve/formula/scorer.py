"""Scores of all features from a plan that is bound to data."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labelsieve.formula.evaluation import Program, Progress
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

    def scores(self) -> NDArray[np.float64]:
        """Score of every feature, in nats."""
        self._components, self._values, total = self._evaluate()
        self._total = total[:, 0] if len(total) > 1 else np.repeat(total[:, 0], self._program.sources.X.n_columns)
        return self._total

    def components(self, feature: int) -> dict[str, float]:
        """The components of a feature's score in the last ``scores``, by kind: relevance, redundancy, ..."""
        if len(self._components) == 1:
            return {self._components[0].kind: float(self._total[feature])}
        by_kind: dict[str, float] = {}
        for component, value in zip(self._components, self._values, strict=True):
            row = value.array[feature if len(value.array) > 1 else 0].reshape(1, 1)
            nats = float(Value(row, value.exact).real(self._program.sources.fixed)[0, 0])
            by_kind[component.kind] = by_kind.get(component.kind, 0.0) + nats
        return by_kind

    def report_to(self, progress: Progress | None) -> None:
        """Call ``progress`` with the number of targets done and their total while pairs of targets are counted."""
        self._program.progress = progress

    def select(self, feature: int) -> None:
        """Add ``feature`` to the selected ones."""
        self._program.select(feature)
