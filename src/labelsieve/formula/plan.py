"""Plans: a formula is checked, lowered to the panels that it needs, and bound to data."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NoReturn

from labelsieve.counting.workspace import Workspace
from labelsieve.formula.evaluation import PANEL_BYTES, Parents, Scorer
from labelsieve.formula.lowering import Keep, additive_components, every_term, lower, no_term, of_two_targets
from labelsieve.formula.nodes import (
    NODES,
    SELECTED,
    Formula,
    FormulaError,
    Linear,
    Reduce,
    Term,
    Variables,
    reducers_over_selected,
    unknown_node,
)
from labelsieve.formula.sources import Needs, Sources, needs
from labelsieve.resources import ALWAYS_FREE, require_memory
from labelsieve.tables.codes import Codes

RELEVANCE = "sum_y(I(f, y))"
PANEL_TABLES = (frozenset("s"), frozenset("fs"), frozenset("fsy"))


class Plan:
    """The score of a criterion and the rule for the first step, checked and lowered to joint tables.

    Parameters
    ----------
    score : Formula
        Score of a candidate ``f``, given the selected features.
    first : Formula, default=None
        Score while nothing is selected; None: ``score`` with empty sums over ``s``.
    name : str, default="formula"
        Name of the criterion, for messages.
    keep : callable, default=no_term
        The information terms that are evaluated one by one; the others are sums of tables, which they share.
    unknown : bool, default=False
        Whether targets have unknown cells.

    Examples
    --------
    >>> from labelsieve.formula import I, f, mean_s, s, sum_y, y
    >>> print(Plan(sum_y(I(f, y) - mean_s(I(f, s))), name="mrmr").explain(n_rows=1000, n_features=200, n_targets=10))
    mrmr: sum_y(I(f, y) - mean_s(I(f, s)))
    once:       tables (f, y), added over the targets             2,000 tables
    each step:  tables (f, s)                                       200 tables
    memory:     packed bits 0.0 MB, accumulators 0.0 MB
    """

    def __init__(
        self,
        score: Formula,
        first: Formula | None = None,
        *,
        name: str = "formula",
        keep: Keep = no_term,
        unknown: bool = False,
    ) -> None:
        self.name, self.score, self.first = name, score, first
        self._check(score, "score")
        if first is not None:
            self._check(first, "first")
            self._check_first(first)
        elif any(needs_first(node) for node in score.walk()):
            raise FormulaError(f"{name}: min_s and max_s need a rule for the first step: give `first`.", score)
        lowered = partial(lower, keep=keep, unknown=unknown)
        self.components = self._lowered(score, lowered)
        self.first_components = self.components if first is None else self._lowered(first, lowered)

    def _lowered(self, formula: Formula, lowered: Callable[[Formula], Formula]) -> "list[Component]":
        return [Component(kind_of(part), part, lowered(part)) for part in additive_components(formula)]

    def _check(self, formula: object, which: str) -> None:
        where = f"{self.name}, {which}"
        if not isinstance(formula, Formula):
            raise FormulaError(f"{where}: {formula!r} is not a formula.")
        check_open(formula, where)
        if not any("f" in node.free for node in formula.walk()):
            raise FormulaError(f"{where}: the candidate f is not mentioned, so every feature scores the same.", formula)

    def _check_first(self, first: Formula) -> None:
        for node in first.walk():
            if (isinstance(node, Reduce) and node.over_selected) or ("S" in node.free and not node.children):
                raise FormulaError(f"{self.name}, first: nothing is selected yet, so s and S have no meaning.", first, node)

    def bind(self, workspace: Workspace, *, targets: slice = slice(None), parents: Parents | None = None) -> Scorer:
        """Bind the plan to data: return a scorer of the features of ``workspace``, for all targets or a slice of them."""
        plan = self
        if workspace.by_term or workspace.Y.has_missing:
            plan = self.suited_to(workspace)
        if workspace.backend.on_device is not None and not plan.keeps_terms:
            is_whole = targets.indices(workspace.Y.n_columns) == (0, workspace.Y.n_columns, 1)
            if is_whole and (device := workspace.on_device) is not None:
                from labelsieve.formula.device import DeviceScorer

                return DeviceScorer(plan, Sources(device, plan.needs), parents=parents)
        sources = Sources(workspace, plan.needs, plan.needs_of_known_rows)
        return Scorer(plan, sources, targets=targets, parents=parents)

    def suited_to(self, workspace: Workspace) -> "Plan":
        """Return the plan for the data and estimator of a workspace: with whole tables of all terms, or some, if needed."""
        if workspace.by_term:
            return self._term_by_term
        return self._of_known_rows if workspace.Y.has_missing else self

    @cached_property
    def _term_by_term(self) -> "Plan":
        return Plan(self.score, self.first, name=self.name, keep=every_term)

    @cached_property
    def _of_known_rows(self) -> "Plan":
        return Plan(self.score, self.first, name=self.name, keep=of_two_targets, unknown=True)

    def require_memory(self, X: Codes, n_targets: int) -> None:
        """Raise a MemoryError if a search would not fit into memory, before anything is packed."""
        packed, accumulators = self.memory(X.n_rows, X.n_columns, n_targets, min(int(X.levels.max()), 33))
        if X.dense is None or X.in_file:
            packed = 0  # sparse columns are not stored as bits unless they are dense, those of a file not in memory
        if packed + accumulators < ALWAYS_FREE:
            return
        require_memory(packed + accumulators, f"{self.name}: tables and accumulators of", X.n_columns, n_targets)

    def memory(self, n_rows: int, n_features: int, n_targets: int, levels: int = 2) -> tuple[int, int]:
        """Estimate the bytes of the packed features, and those of accumulators and panels."""
        packed = n_rows * n_features * max(1, levels - 1) // 8
        by_feature, by_target = self._n_accumulators
        columns = by_feature + n_targets * by_target
        wanted = self.needs.get(None, Needs())
        if wanted.full:
            columns += 2 * n_targets  # kept by target, with the values computed from it
        panel = PANEL_BYTES if self._needs_every_target else 0
        return packed, 8 * n_features * columns + 3 * min(panel, 8 * n_features * n_targets)

    @cached_property
    def _n_accumulators(self) -> tuple[int, int]:
        """The numbers of accumulators with a value for each feature, and with one for each feature and target."""
        nodes = [node for component in self.components for node in component.lowered.walk()]
        by_target = ["y" in node.free for node in nodes if isinstance(node, Reduce) and node.variable != "y"]
        return by_target.count(False), by_target.count(True)

    @cached_property
    def has_values_of_targets(self) -> bool:
        """True when an accumulator or a panel has a value for every target; else all are sums over the targets."""
        return self._needs_every_target or any(fold.by_target for fold in self.folds)

    @cached_property
    def _needs_every_target(self) -> bool:
        return any(need.full for need in self.needs.values())

    def explain(self, n_rows: int, n_features: int, n_targets: int, levels: int = 2) -> str:
        """Describe the panels, their number of tables and the memory, for data of this size."""
        lines = [f"{self.name}: {self.score}"]
        if self.first is not None:
            lines.append(f"first step: {self.first}")
        d, q = n_features, n_targets
        rows: list[tuple[str, str, int]] = []
        for given, need in sorted(self.needs.items(), key=lambda item: item[0] or ""):
            when = {None: "once", "z": "once", "pa": "once", "s": "each step", "t": "each step", "S": "each step"}[given]
            inside = "" if given is None else ", s, t" if given == "t" else f", {given}"
            times = {"z": q, "pa": q}.get(given or "", 1)
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

    @cached_property
    def is_ranking(self) -> bool:
        """True when scores do not depend on the selection."""
        return self.first is None and all(component.lowered.is_static for component in self.components)

    @cached_property
    def formulas(self) -> list[Formula]:
        """All lowered formulas that are evaluated."""
        return [component.lowered for component in [*self.components, *self.first_components]]

    @cached_property
    def needs(self) -> dict[str | None, Needs]:
        """The panels that the formulas need, by the variable they are conditioned on."""
        return needs(self.formulas)

    @cached_property
    def needs_of_known_rows(self) -> dict[str | None, Needs]:
        """The panels that the formulas need of the rows in which a target is known."""
        return needs(self.formulas, of_known_rows=True)

    @cached_property
    def keeps_terms(self) -> bool:
        """True when some information term is taken from a whole table."""
        return any(isinstance(node, Term) for formula in self.formulas for node in formula.walk())

    @cached_property
    def folds(self) -> "list[Fold]":
        """What is folded at every step: the reducers over the selected features, equal ones together."""
        return [Fold.of(reducers) for reducers in reducers_over_selected(self.formulas)]

    @cached_property
    def is_from_one_panel(self) -> bool:
        """True when the panel of the newest feature, added over the targets, is all that a step needs."""
        return bool(self.folds) and all(fold.panel is not None for fold in self.folds)

    @cached_property
    def panel_has(self) -> tuple[bool, bool]:
        """Whether the tables (s), and (f, s, y), of that panel are needed by some fold."""
        panels = [fold.panel for fold in self.folds if fold.panel is not None]
        single, triple = (any(panel[table] != (0, 0) for panel in panels) for table in (0, 2))
        return single, triple

    @cached_property
    def target_needs(self) -> tuple[str, ...]:
        """What the formula needs of the targets, such as pairs of them: see :mod:`labelsieve.labelspace.base`."""
        over = {node.variable for node in self._reducers}
        named = {"y": "sums over targets", "z": "pairs of targets", "pa": "parents of targets"}
        return tuple(need for variable, need in named.items() if variable in over)

    @property
    def takes_target_weights(self) -> bool:
        """True when targets are only added up, so that they can have weights: not paired, and not compared with each other."""
        return not any(node.variable == "z" or (node.variable == "y" and not node.operation.linear) for node in self._reducers)

    @property
    def _reducers(self) -> list[Reduce]:
        formulas = [self.score] if self.first is None else [self.score, self.first]
        return [node for formula in formulas for node in formula.walk() if isinstance(node, Reduce)]


@dataclass(frozen=True)
class Component:
    """A summand of a score, its kind, and its lowered form."""

    kind: str
    written: Formula
    lowered: Formula

    @cached_property
    def is_relevance(self) -> bool:
        """True for the information of the candidate alone about every target, added up."""
        return str(self.written) == RELEVANCE


@dataclass(frozen=True)
class Fold:
    """A reducer over the selected features, or over pairs of them: what is added to an accumulator at every step."""

    nodes: list[Reduce]  # equal reducers, which share an accumulator
    by_target: bool  # whether it has a value for each target
    linear: Linear | None  # the body as a sum of tables, if it is one
    # factors of the tables (s), (f, s) and (f, s, y), if they are all that changes from step to step: ``(a, b)`` stands for ``a
    # + b * n_targets``
    panel: list[tuple[int, int]] | None

    @classmethod
    def of(cls, reducers: list[Reduce]) -> "Fold":
        """Build the fold of equal reducers."""
        node = reducers[0]
        linear, panel = node.body.linear, None
        is_sum = linear is not None and node.operation.linear and "y" not in node.free
        if is_sum and linear is not None and all(term.names in PANEL_TABLES for term in linear.moving):
            factors = {names: [0, 0] for names in PANEL_TABLES}
            for term in linear.moving:
                factors[term.names][term.by_targets] += term.number
            panel = [(plain, by_targets) for plain, by_targets in factors.values()]
        return cls(reducers, "y" in node.free, linear, panel)


_REDUCERS = {
    "s": "sum_s, mean_s, min_s or max_s",
    "t": "sum_st or mean_st",
    "y": "sum_y, mean_y, min_y, max_y or sum_yz",
    "z": "sum_z, mean_z, min_z, max_z or sum_yz",
    "pa": "sum_pa, mean_pa, min_pa or max_pa",
}


def check_open(formula: Formula, where: str) -> None:
    """Raise unless every variable is bound by a reducer above it, and the reducers can be combined."""
    n_visits: Counter[int] = Counter()

    def refuse(problem: str, node: Formula) -> NoReturn:
        raise FormulaError(f"{where}: {problem}", formula, node, n_visits[id(node)])

    def visit(node: Formula, allowed: Variables) -> None:
        if not isinstance(node, NODES):
            raise unknown_node(node)
        n_visits[id(node)] += 1
        for name in sorted(node.free - allowed):
            if not node.children:
                refuse(f"{name} is not inside {_REDUCERS[name]}.", node)
        inside = allowed
        if isinstance(node, Reduce):
            if node.bound & allowed:
                refuse(f"a reducer over {min(node.bound & allowed)} inside another.", node)
            if node.over_selected and "S" in node.free:
                refuse("S changes with every step, so it cannot be added up over s.", node)
            if node.over_selected and node.free & {"z", "pa"}:
                refuse("what is added up over s cannot depend on a pair of targets.", node)
            if node.variable in ("z", "pa") and "y" in node.free - allowed:
                refuse(f"{node.variable} belongs to a y: put it inside sum_y, mean_y, min_y or max_y.", node)
            inside = allowed | node.bound
        for child in node.children:
            visit(child, inside)

    visit(formula, frozenset({"f", "S"}))


def needs_first(node: Formula) -> bool:
    """True for a reducer over the selected features that has no value for the empty selection."""
    return isinstance(node, Reduce) and node.over_selected and not node.operation.linear


def kind_of(component: Formula) -> str:
    """Return the kind of a summand of the score, by the variables that it mentions."""
    mentioned: Variables = frozenset().union(*(node.free for node in component.walk()))
    if mentioned & SELECTED:
        return "interaction" if "y" in mentioned else "redundancy"
    return "label pairs" if mentioned & {"z", "pa"} else "relevance"
