"""Evaluating a lowered formula for all candidates, one selected feature after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from types import ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from labelsieve.counting.backends.protocol import Backend, Feature, Panel, PanelFold, fold_newest, fold_panel
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import InputError
from labelsieve.formula.nodes import (
    Add,
    Apply,
    Divide,
    Domain,
    Formula,
    Multiply,
    Number,
    Reduce,
    Reduced,
    Size,
    Table,
    Term,
    Variables,
    reducers_over_selected,
    unknown_node,
)
from labelsieve.formula.sources import Context, Sources, TermSources
from labelsieve.formula.values import (
    SMALL_FACTOR,
    SUM,
    TOO_LARGE,
    Fixed,
    Operation,
    Value,
    fixed_value,
    largest,
    real_value,
    together,
    weighted_sum,
)


class LinearTerm(NamedTuple):
    """An integer, times the number of targets if ``by_targets``, times a table, added over the targets if ``added``."""

    number: int
    by_targets: bool
    added: bool
    names: Variables

    def factor(self, n_targets: int) -> int:
        """The factor of the table. Where it is the number of targets, the table is smaller by as much: see FixedPoint."""
        return self.number * n_targets if self.by_targets else self.number


class PanelFactors(NamedTuple):
    """Factors of the tables (s), (f, s) and (f, s, y) added over the targets."""

    single: int = 0
    pair: int = 0
    triple: int = 0


_PANEL_TABLES = [frozenset("s"), frozenset("fs"), frozenset("fsy")]


@dataclass(frozen=True)
class Linear:
    """A formula as a sum of tables: those that depend on the selection, and those that do not."""

    moving: list[LinearTerm]
    static: list[LinearTerm]

    def panel_factors(self, n_targets: int) -> PanelFactors | None:
        """The moving terms as tables of one panel; None when they need others."""
        factors = [0, 0, 0]
        for term in self.moving:
            if term.names not in _PANEL_TABLES:
                return None
            factors[_PANEL_TABLES.index(term.names)] += term.factor(n_targets)
        return PanelFactors(*factors)


def linear_sum(terms: list[LinearTerm], sources: Sources, context: Context, total: Fixed | None = None) -> Fixed:
    """The sum of the tables and of ``total``, if it is given."""
    for term in terms:
        table = sources.total(term.names, context) if term.added else sources.table(term.names, context)
        factor = term.factor(context.last - context.first)
        scaled = table if factor == 1 else table * factor
        total = scaled if total is None else sum_of_two(total, scaled)
    assert total is not None
    return total


def sum_of_two(first: Fixed, second: Fixed) -> Fixed:
    """The sum of arrays, of which one may be a single number of the host."""
    first, second = together([first, second])
    return first + second


def linear(formula: Formula) -> Linear | None:
    """``formula`` as :class:`Linear`, or None when it is not a sum of tables; kept with the formula, for the next fit."""
    if "_linear" not in formula.__dict__:
        formula.__dict__["_linear"] = _recognize(formula)
    known: Linear | None = formula.__dict__["_linear"]
    return known


def _recognize(formula: Formula) -> Linear | None:
    found = Linear([], [])
    for summand in formula.terms if isinstance(formula, Add) else (formula,):
        number, n_sizes = 1.0, 0
        table: Table | None = None
        added = False
        for factor in summand.factors if isinstance(summand, Multiply) else (summand,):
            match factor:
                case Number(value=value):
                    number *= value
                case Size(domain="all"):
                    n_sizes += 1
                case Table() if table is None and "y" not in factor.variables:
                    table = factor
                case Reduce(variable="y", domain="all", body=Table() as body) if table is None and factor.operation == SUM:
                    table, added = body, True
                case _:
                    return None
        if table is None or not number.is_integer() or abs(number) >= SMALL_FACTOR or n_sizes > 1:
            return None
        terms = found.static if table.is_static else found.moving
        terms.append(LinearTerm(int(number), n_sizes == 1, added, table.variables))
    return found


Rule = Callable[["Program", Context], Value]


def rule_for(node: Formula, owner: "Program") -> Rule:
    """The evaluation rule of a node, so that a step costs arithmetic and not a walk over the formula.

    Rules get the program as an argument and must not keep it: packed tables would live until the next garbage collection.
    """
    compute = _computation(node, owner)
    if isinstance(node, Number | Size | Table) or not node.is_static or node.free & {"s", "t", "z", "pa"}:
        return compute  # changes from call to call, or is not worth keeping

    def remember(program: "Program", context: Context) -> Value:
        memory, base = program.memory, program.base
        key = id(node), context.first, context.last
        if key not in memory:
            value = compute(program, context)
            if value.array.shape[1] > 1 and (context.first, context.last) != (base.first, base.last):
                return value  # one of many slices of the targets: together too large to keep
            memory[key] = value
        return memory[key]

    return remember


def _computation(node: Formula, owner: "Program") -> Rule:
    fixed = owner.sources.fixed
    match node:
        case Number(value=number):
            constant = real_value(np.array([[number]]))
            return lambda program, context: constant
        case Size(domain=domain):
            return lambda program, context: program.size(domain, context)
        case Table(variables=names):
            return lambda program, context: fixed_value(program.sources.table(names, context))
        case Term() if isinstance(owner.sources, TermSources):
            return lambda program, context: real_value(cast(TermSources, program.sources).term(node, context))
        case Add() | Multiply() if owner.adds_plainly and (known := linear(node)) is not None:
            every = [*known.static, *known.moving]
            return lambda program, context: fixed_value(linear_sum(every, program.sources, context))
        case Add(terms=terms):
            return lambda program, context: Value.total([program.value(term, context) for term in terms], fixed)
        case Multiply(factors=factors):
            return lambda program, context: Value.product([program.value(factor, context) for factor in factors], fixed)
        case Divide(numerator=top, denominator=bottom):
            return lambda program, context: Value.ratio(program.value(top, context), program.value(bottom, context), fixed)
        case Apply(function=function, arguments=arguments):
            return lambda program, context: Value.apply(function, [program.value(each, context) for each in arguments], fixed)
        case Reduce(variable="s" | "st" as selected):
            accumulator = owner.accumulators[id(node)]
            if not accumulator.by_target:
                return lambda program, context: accumulator.value(program.n_folds(selected), slice(None), fixed)
            return lambda program, context: accumulator.value(program.n_folds(selected), program.local(context), fixed)
        case Reduce(variable="y"):
            return lambda program, context: program.over_targets(node, context)
        case Reduce(variable="z"):
            return lambda program, context: program.over_pairs(node, context)
        case Reduce(variable="pa"):
            return lambda program, context: program.over_parents(node, context)
    raise unknown_node(node)


SPILL_AFTER = 512  # additions of numbers below 2^53


class Accumulator:
    """The value of a reducer over the selected features, for every candidate (and target)."""

    def __init__(self, operation: Operation, by_target: bool, n_features: int, n_targets: int, xp: ModuleType = np) -> None:
        self.operation, self.by_target, self._xp = operation, by_target, xp
        self._shape = (n_features, n_targets if by_target else 1)
        self._low: Fixed | None = None
        self._high: Fixed | None = None  # in units of 2^32, after the first spill
        self._n_folds = 0

    def fold_panel(self, panel: Panel, fold: PanelFold) -> None:
        """Fold a linear function of the newest feature's panel: one pass. :meth:`carry` follows."""
        fold_panel(self._started().ravel(), panel, fold)

    def fold_newest(self, backend: Backend, feature: Any, fold: PanelFold, targets: slice) -> None:
        """The same for a panel that no other accumulator needs."""
        fold_newest(backend, self._started().ravel(), feature, fold, targets)

    def _started(self) -> Fixed:
        if self._low is None:
            self._low = self.operation.start(self._shape, self._xp)
        return self._low

    def fold(self, value: Fixed, targets: slice | None) -> None:
        """Fold the values of one more selected feature, for a slice of the targets."""
        low = self._started()
        self.operation.fold(low if targets is None else low[:, targets], value)
        if self.operation.linear and (targets is None or targets.stop == self._shape[1]):
            self.carry()

    @property
    def spills_next(self) -> bool:
        """True when high bits are carried over after the next fold."""
        return (self._n_folds + 1) % SPILL_AFTER == 0

    def carry(self) -> None:
        """Count a fold, and carry the high bits over before they overflow."""
        self._n_folds += 1
        if self._n_folds % SPILL_AFTER == 0:
            assert self._low is not None
            if self._high is None:
                self._high = self._xp.zeros(self._shape, dtype=np.int64)
            self._high += self._low >> 32
            self._low &= 2**32 - 1

    def value(self, n_folds: Any, targets: slice, fixed: FixedPoint) -> Value:
        """The reduced value of as many folds, for a slice of the targets; 0 while nothing is folded."""
        if self._low is None:
            return fixed_value(self._xp.zeros((self._shape[0], 1), dtype=np.int64))
        low = self._low[:, targets] if self.by_target else self._low
        if self._high is None and not self.operation.averages:
            return fixed_value(low)
        total = fixed.information(low)
        if self._high is not None:
            high = self._high[:, targets] if self.by_target else self._high
            total = fixed.information(high) * 2.0**32 + total
        return real_value(total / n_folds if self.operation.averages else total)


@dataclass
class Fold:
    """A reducer over the selected: its body, the linear form of the body if there is one, and its accumulator."""

    body: Formula
    linear: Linear | None
    accumulator: Accumulator
    panel_factors: PanelFactors | None = None  # set when the newest feature's panel is all that it needs
    static: Fixed | None = None
    pairs: bool = False  # of selected features, each with all before it

    def of_panel(self, single: int, static: Fixed | None) -> PanelFold:
        """The fold of the panel of a feature whose table is ``single``; ``static`` is added for every feature."""
        factors = self.panel_factors
        assert factors is not None
        constant = factors.single * single
        if static is not None and static.size == 1:
            return PanelFold(constant + int(static[0, 0]), None, factors.pair, factors.triple)
        return PanelFold(constant, None if static is None else static.ravel(), factors.pair, factors.triple)


Parents = list[list[int]]
Progress = Callable[[int, int], None]
PANEL_BYTES = 2**26  # of one slice of the targets, for formulas that need every target separately


class Program:
    """A list of formulas bound to data. ``select`` folds the newest feature into every accumulator; ``evaluate`` reads them.

    ``targets`` are those that ``y`` runs over; ``parents[l]`` lists the parents of target ``l``; ``over_selected`` is
    :func:`reducers_over_selected` of the formulas, when it is known already.
    """

    accumulates_by_target = False  # also reducers that do not mention a target

    def __init__(
        self,
        formulas: list[Formula],
        sources: Sources,
        *,
        targets: slice = slice(None),
        parents: Parents | None = None,
        over_selected: list[list[Reduce]] | None = None,
    ) -> None:
        self.sources, self.parents = sources, parents
        first, last, _ = targets.indices(sources.Y.n_columns)
        self.base = Context(first, last)
        self._targets_per_slice = max(1, PANEL_BYTES // (8 * max(1, sources.X.n_columns)))
        self.n_selected = 0
        self.n_on_device: Any = None  # the same as an array of a GPU, while a step is recorded there
        self._selected: list[int] = []
        self.progress: Progress | None = None
        # Nodes are looked up by identity: they outlive the program, and comparing formulas at every step would cost more
        # than evaluating them.
        # Sums over the targets are plain sums: no target has a weight, none is evaluated separately.
        self.adds_plainly = sources.target_weights is None and not self.accumulates_by_target
        self._rules: dict[int, Rule] = {}
        self.memory: dict[tuple[int, int, int], Value] = {}
        self.accumulators: dict[int, Accumulator] = {}
        self._folds: list[Fold] = []
        for reducers in reducers_over_selected(formulas) if over_selected is None else over_selected:
            node = reducers[0]
            by_target = self.accumulates_by_target or "y" in node.free
            known = linear(node.body) if self.adds_plainly else None
            accumulator = Accumulator(node.operation, by_target, sources.X.n_columns, last - first, sources.xp)
            fold = Fold(node.body, known, accumulator, pairs=node.variable == "st")
            if fold.linear is not None and node.operation.linear:
                fold.panel_factors = fold.linear.panel_factors(last - first)
            self._folds.append(fold)
            self.accumulators.update((id(same), fold.accumulator) for same in reducers)
        factors = [fold.panel_factors for fold in self._folds]
        self._from_one_panel = bool(factors) and all(factor is not None for factor in factors)
        self._with_targets = any(factor.triple for factor in factors if factor is not None)
        self._with_single = any(factor.single for factor in factors if factor is not None)

    @property
    def is_from_one_panel(self) -> bool:
        """True when the panel of the newest feature, added over the targets, is all that a step needs."""
        return self._from_one_panel

    def select(self, feature: Any) -> None:
        """Fold in one more selected feature; a number, or the one that a GPU has chosen."""
        if self._from_one_panel:
            self.fold_panel(feature)
            self.count_folded()
        else:
            for fold in self._folds:
                for pair in self._newest(fold, feature):
                    self._fold(fold, pair)
            self.n_selected += 1
            self._selected.append(feature)
        self.sources.select(feature)

    def n_folds(self, variable: Reduced) -> Any:
        """The number of values that a reducer over the selected features, or over ordered pairs of them, has."""
        if variable == "st":
            return self.n_selected * (self.n_selected - 1)
        return self.n_selected if self.n_on_device is None else self.n_on_device

    def _newest(self, fold: Fold, feature: int) -> list[Context]:
        """What a newly selected feature adds to a fold: itself, or its pairs with all before it, in both orders."""
        if not fold.pairs:
            return [self.base._replace(s=feature)]
        pairs = [pair for other in self._selected for pair in ((feature, other), (other, feature))]
        return [self.base._replace(s=one, t=other) for one, other in pairs]

    @property
    def spills_next(self) -> bool:
        """True when the next feature is the last one before accumulators carry over."""
        return any(fold.accumulator.spills_next for fold in self._folds)

    def count_folded(self) -> None:
        """Note a feature that :meth:`fold_panel` has folded in."""
        for fold in self._folds:
            fold.accumulator.carry()
        self.n_selected += 1

    def fold_panel(self, feature: Any) -> None:
        """Fold the panel of the newest feature, which is all that a step needs; the host keeps no account of it."""
        backend, single = self.sources.backend, self.sources.table_of(feature) if self._with_single else 0
        targets = self.base.targets if self._with_targets else slice(0)
        if len(self._folds) == 1:
            fold = self._folds[0]
            fold.accumulator.fold_newest(backend, feature, fold.of_panel(single, self._static(fold)), targets)
            return
        panel = backend.panel(Feature(feature), targets=targets, reduce="sum")
        for fold in self._folds:
            fold.accumulator.fold_panel(panel, fold.of_panel(single, self._static(fold)))

    def _fold(self, fold: Fold, newest: Context) -> None:
        accumulator = fold.accumulator
        if fold.linear is not None:
            accumulator.fold(linear_sum(fold.linear.moving, self.sources, newest, self._static(fold)), None)
            return
        for context in self._slices(self.base) if accumulator.by_target else [self.base]:
            value = self.value(fold.body, context._replace(s=newest.s, t=newest.t))
            accumulator.fold(value.fixed(self.sources.fixed), self.local(context) if accumulator.by_target else None)

    def _static(self, fold: Fold) -> Fixed | None:
        """The terms of a linear body that do not depend on the selection."""
        if fold.static is None and fold.linear is not None and fold.linear.static:
            static = linear_sum(fold.linear.static, self.sources, self.base)
            fold.static = static if static.size > 1 else np.array([[int(static[0, 0])]])
        return fold.static

    def evaluate(self, formula: Formula) -> Value:
        """The formula for every candidate: shape (d, 1), or (1, 1) if it does not mention the candidate."""
        return self.value(formula, self.base)

    def _slices(self, context: Context) -> list[Context]:
        starts = range(context.first, context.last, self._targets_per_slice)
        return [context.over(start, min(context.last, start + self._targets_per_slice)) for start in starts]

    def value(self, node: Formula, context: Context) -> Value:
        rule = self._rules.get(id(node))
        if rule is None:
            rule = self._rules[id(node)] = rule_for(node, self)
        return rule(self, context)

    def size(self, domain: Domain, context: Context) -> Value:
        return real_value(np.array([[float(sum(map(self._n_targets, self._ranges(domain, context))))]]))

    def local(self, context: Context) -> slice:
        return slice(context.first - self.base.first, context.last - self.base.first)

    def _ranges(self, domain: Domain, context: Context) -> list[tuple[int, int]]:
        """The targets that ``y`` runs over, as ranges that are not empty."""
        first, last = self.base.first, self.base.last
        if domain == "all":
            ranges = [(context.first, context.last)]
        else:
            assert context.z is not None
            after = (context.z + 1, last)
            ranges = [after] if domain == "after" else [(first, context.z), after]
            if context.among is not None:
                ranges = [(target, target + 1) for target in context.among for start, stop in ranges if start <= target < stop]
        return [(start, stop) for start, stop in ranges if start < stop]

    def _n_targets(self, targets: tuple[int, int]) -> float:
        """The number of targets in a range, or their weight."""
        weights = self.sources.target_weights
        return targets[1] - targets[0] if weights is None else float(weights.values[slice(*targets)].sum())

    def over_targets(self, node: Reduce, context: Context) -> Value:
        """Slice after slice of the targets; a sum of tables is added where it is counted."""
        operation, fixed = node.operation, self.sources.fixed
        ranges = [context.over(*targets) for targets in self._ranges(node.domain, context)]
        if self.sources.target_weights is not None and operation == SUM:
            slices = [part for targets in ranges for part in self._slices(targets)]
            values = ((self.value(node.body, part), part.targets) for part in slices)
            return weighted_sum(values, self.sources.target_weights, fixed)
        reduced: list[Fixed] = []
        for targets in ranges:
            if operation == SUM and isinstance(node.body, Table):
                reduced.append(self.sources.total(node.body.variables, targets))
                continue
            for part in self._slices(targets):
                table = self.value(node.body, part).fixed(fixed)
                reduced.append(operation.reduce(np.broadcast_to(table, (table.shape[0], part.last - part.first))))
        if not reduced:
            n_rows = self.sources.X.n_columns if "f" in node.body.free else 1
            return fixed_value(self.sources.xp.zeros((n_rows, 1), dtype=np.int64))
        return operation.finish(
            reduce(operation.ufunc, reduced), np.array(sum(targets.last - targets.first for targets in ranges)), fixed
        )

    def over_pairs(self, node: Reduce, context: Context) -> Value:
        """One panel for every ``z``, folded at once: nothing of the size of the pairs is kept."""
        operation, fixed, xp = node.operation, self.sources.fixed, self.sources.xp
        seconds = np.arange(self.base.first, self.base.last)
        if node.top is not None:
            order = np.argsort(-self.sources.entropies_of_targets()[seconds], kind="stable")
            seconds = np.sort(seconds[order[: node.top]])
            context = context._replace(among=tuple(map(int, seconds)))
        by_target = "y" in node.free
        firsts = np.arange(context.first, context.last) if by_target else np.full(1, -1)
        result = operation.start((self.sources.X.n_columns, len(firsts)), xp)
        counts, bound = np.zeros(len(firsts), dtype=np.intp), 0
        for done, second in enumerate(seconds):
            if self.progress is not None:
                self.progress(done, len(seconds))
            value = self.value(node.body, context._replace(z=int(second))).fixed(fixed)
            if operation.linear:
                bound += int(largest(value))
                if bound >= 2**62:
                    raise InputError(TOO_LARGE)
            others = firsts != second
            operation.fold(result, value, xp.asarray(others) if by_target else None)
            counts += others
        return operation.finish(result, xp.asarray(counts), fixed)

    def over_parents(self, node: Reduce, context: Context) -> Value:
        """One panel for every target that is a parent, folded into its children."""
        operation, fixed, xp = node.operation, self.sources.fixed, self.sources.xp
        parents = self.parents or [[] for _ in range(self.sources.Y.n_columns)]
        of_targets = parents[context.first : context.last]
        result = operation.start((self.sources.X.n_columns, context.last - context.first), xp)
        for parent in sorted(set().union(*of_targets) if of_targets else set()):
            children = np.array([parent in some for some in of_targets])
            first, last = int(np.argmax(children)), len(children) - int(np.argmax(children[::-1]))
            part = context.over(context.first + first, context.first + last)._replace(pa=parent)
            value = self.value(node.body, part).fixed(fixed)
            operation.fold(result[:, first:last], value, xp.asarray(children[first:last]))
        return operation.finish(result, xp.asarray(np.array([len(some) for some in of_targets], dtype=np.intp)), fixed)
