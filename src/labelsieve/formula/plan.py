"""From a formula to the panels that it needs: checking, lowering, explaining and binding to data."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.memory import require_memory
from labelsieve.counting.workspace import Workspace
from labelsieve.formula.checks import check_open, is_extreme, kind_of
from labelsieve.formula.evaluation import PANEL_BYTES, Parents, Program, Progress
from labelsieve.formula.lowering import additive_components, lower
from labelsieve.formula.nodes import Formula, FormulaError, Reduce
from labelsieve.formula.queries import is_static, reducers_over_selected
from labelsieve.formula.table_sources import Needs, Sources, needs
from labelsieve.formula.term_sources import TermSources
from labelsieve.formula.values import Value


@dataclass(frozen=True)
class Part:
    """A summand of a score, what it tells, and how it is computed."""

    kind: str
    written: Formula
    lowered: Formula


class Plan:
    """A score and the rule for the first pick, ready to run.

    Parameters
    ----------
    score : Formula
        Of a candidate ``f``, given what is selected.
    first : Formula, optional
        While nothing is selected; by default ``score`` with its sums over ``s`` empty.
    name : str
        For messages.
    by_term : bool
        Evaluate information terms one by one instead of adding up the tables that they share.

    Examples
    --------
    >>> from labelsieve.formula import I, f, mean_s, s, sum_y, y
    >>> print(Plan(sum_y(I(f, y) - mean_s(I(f, s))), name="mrmr").explain(n_rows=1000, n_features=200, n_targets=10))
    mrmr: sum_y(I(f, y) - mean_s(I(f, s)))
    once:       tables (f, y), added over the targets             2,000 tables
    each pick:  tables (f, s)                                       200 tables
    memory:     packed bits 0.0 MB, accumulators 0.0 MB
    """

    def __init__(self, score: Formula, first: Formula | None = None, *, name: str = "formula", by_term: bool = False) -> None:
        self.name, self.score, self.first = name, score, first
        self._check(score, "score")
        if first is not None:
            self._check(first, "first")
            self._check_first(first)
        elif any(is_extreme(node) for node in score.walk()):
            raise FormulaError(f"{name}: min_s and max_s need a rule for the first pick: give `first`.", score)
        self.parts = [Part(kind_of(part), part, lower(part, by_term=by_term)) for part in additive_components(score)]
        self.first_components = self.parts
        if first is not None:
            self.first_components = [
                Part(kind_of(part), part, lower(part, by_term=by_term)) for part in additive_components(first)
            ]

    def _check(self, formula: Any, which: str) -> None:
        where = f"{self.name}, {which}"
        if not isinstance(formula, Formula):
            raise FormulaError(f"{where}: {formula!r} is not a formula.")
        check_open(formula, where)
        if not any("f" in node.free for node in formula.walk()):
            raise FormulaError(f"{where}: the candidate f is not mentioned, so every feature scores the same.", formula)

    def _check_first(self, first: Formula) -> None:
        for node in first.walk():
            if (isinstance(node, Reduce) and node.variable == "s") or ("S" in node.free and not node.parts):
                raise FormulaError(f"{self.name}, first: nothing is selected yet, so s and S have no meaning.", first, node)

    @property
    def target_needs(self) -> tuple[str, ...]:
        """What the formula asks of the targets: see :mod:`labelsieve.labelspace.compatibility`."""
        formulas = [self.score] if self.first is None else [self.score, self.first]
        over = {node.variable for one in formulas for node in one.walk() if isinstance(node, Reduce)}
        named = {"y": "sums over targets", "z": "pairs of targets", "p": "parents of targets"}
        return tuple(need for variable, need in named.items() if variable in over)

    @property
    def takes_target_weights(self) -> bool:
        """True when targets are only added up: not paired with each other, not compared with each other."""
        formulas = [self.score] if self.first is None else [self.score, self.first]
        reducers = [node for one in formulas for node in one.walk() if isinstance(node, Reduce)]
        return not any(node.variable == "z" or (node.variable == "y" and node.operation == "max") for node in reducers)

    @cached_property
    def is_ranking(self) -> bool:
        """True when scores do not depend on what is selected."""
        return self.first is None and all(is_static(part.lowered) for part in self.parts)

    @cached_property
    def needs(self) -> dict[str | None, Needs]:
        """The panels that it asks for, by what they are conditioned on."""
        return needs(self.formulas)

    @cached_property
    def formulas(self) -> list[Formula]:
        """All that is ever evaluated."""
        return [part.lowered for part in [*self.parts, *self.first_components]]

    @cached_property
    def term_by_term(self) -> "Plan":
        """The same for estimators that take every information term from a table of its own."""
        return Plan(self.score, self.first, name=self.name, by_term=True)

    @cached_property
    def over_selected(self) -> list[list[Reduce]]:
        """Reducers that are folded at every pick."""
        return reducers_over_selected(self.formulas)

    @cached_property
    def _accounts(self) -> tuple[int, int]:
        """How many accumulators there are of a number for each feature, and of one for each feature and target."""
        nodes = [node for part in self.parts for node in part.lowered.walk()]
        by_target = ["y" in node.free for node in nodes if isinstance(node, Reduce) and node.variable in ("s", "z", "p")]
        return by_target.count(False), by_target.count(True)

    def memory(self, n_rows: int, n_features: int, n_targets: int, levels: int = 2) -> tuple[int, int]:
        """Bytes of the packed features, and of accumulators and panels, about."""
        packed = n_rows * n_features * max(1, levels - 1) // 8
        by_feature, by_target = self._accounts
        columns = by_feature + n_targets * by_target
        wanted = self.needs.get(None, Needs())
        if wanted.full:
            columns += 2 * n_targets  # kept by target beside what is made of it
        panel = PANEL_BYTES if any(need.full for need in self.needs.values()) else 0
        return packed, 8 * n_features * columns + 3 * min(panel, 8 * n_features * n_targets)

    def require_memory(self, X: Codes, Y: Codes) -> None:
        """Refuse before anything is packed what would not fit."""
        packed, accumulators = self.memory(X.n_rows, X.n_columns, Y.n_columns, min(int(X.levels.max()), 33))
        if X.dense is None:
            packed = 0  # sparse columns are not stored as bits unless they are dense
        require_memory(packed + accumulators, f"{self.name}: tables and accumulators of", X.n_columns, Y.n_columns)

    def explain(self, n_rows: int, n_features: int, n_targets: int, levels: int = 2) -> str:
        """The panels, their number of tables and the memory, for data of this size."""
        lines = [f"{self.name}: {self.score}"]
        if self.first is not None:
            lines.append(f"first pick: {self.first}")
        d, q = n_features, n_targets
        rows: list[tuple[str, str, int]] = []
        for given, need in sorted(self.needs.items(), key=lambda item: item[0] or ""):
            when = {None: "once", "z": "once", "p": "once", "s": "each pick", "S": "each pick"}[given]
            inside = "" if given is None else f", {'pa' if given == 'p' else given}"
            times = {"z": q, "p": q}.get(given or "", 1)
            n_paired = min([q, *(node.top for node in self.score.walk() if isinstance(node, Reduce) and node.top is not None)])
            pairs = n_paired * (n_paired - 1) // 2 if given == "z" and not need.full else q * times
            if need.full:
                rows.append((when, f"tables (f{inside}, y), for every target", d * pairs))
            elif need.total:
                rows.append((when, f"tables (f{inside}, y), added over the targets", d * pairs))
            elif need.pair and given is not None:
                rows.append((when, f"tables (f{inside})", d * times))
        for when, what, tables in rows:
            lines.append(f"{when + ':':<11} {what:<44} {tables:>10,} tables")
        packed, accumulators = self.memory(n_rows, d, q, levels)
        lines.append(f"{'memory:':<11} packed bits {packed / 1e6:.1f} MB, accumulators {accumulators / 1e6:.1f} MB")
        return "\n".join(lines)

    def bind(self, workspace: Workspace, *, targets: slice = slice(None), parents: Parents | None = None) -> "Scorer":
        """Ready to score the features of ``workspace``."""
        if workspace.by_term:
            return Scorer(self.term_by_term, TermSources(workspace, self.term_by_term.formulas), targets, parents)
        return Scorer(self, Sources(workspace, self.needs), targets, parents)


class Scorer:
    """Scores of all features given those selected so far."""

    def __init__(self, plan: Plan, sources: Sources, targets: slice, parents: Parents | None) -> None:
        self._plan, self._sources = plan, sources
        self._program = Program(plan.formulas, sources, targets=targets, parents=parents, over_selected=plan.over_selected)
        self._n_selected = 0
        self._newest: list[tuple[Part, Value]] = []

    def scores(self) -> NDArray[np.float64]:
        """Score of every feature, in nats."""
        fixed = self._sources.fixed
        parts = self._plan.parts if self._n_selected else self._plan.first_components
        values = [self._program.evaluate(part.lowered) for part in parts]
        self._newest = list(zip(parts, values, strict=True))
        total = (values[0] if len(values) == 1 else Value.total(values, fixed)).real(fixed)
        self._total = total[:, 0] if len(total) > 1 else np.repeat(total[:, 0], self._sources.X.n_columns)
        return self._total

    def parts(self, feature: int) -> dict[str, float]:
        """The summands of a feature's score in the last ``scores``, by what they tell: relevance, redundancy, ..."""
        if len(self._newest) == 1:
            return {self._newest[0][0].kind: float(self._total[feature])}
        parts: dict[str, float] = {}
        for part, value in self._newest:
            one = Value(value.array[feature if len(value.array) > 1 else 0].reshape(1, 1), value.exact)
            parts[part.kind] = parts.get(part.kind, 0.0) + float(one.real(self._sources.fixed)[0, 0])
        return parts

    def report_to(self, progress: Progress | None) -> None:
        """Call ``progress`` with how much is done and how much there is, while pairs of targets are counted."""
        self._program.progress = progress

    def select(self, feature: int) -> None:
        """Take ``feature`` among the selected."""
        self._program.select(feature)
        self._n_selected += 1
