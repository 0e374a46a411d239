"""Evaluating a lowered formula for all candidates, one selected feature after the other."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from labelsieve.counting.backends.protocol import Feature
from labelsieve.errors import InputError
from labelsieve.formula.accumulator import Accumulator, Fold
from labelsieve.formula.evaluation_rules import Rule, rule_for
from labelsieve.formula.linear_evaluation import linear, linear_sum
from labelsieve.formula.nodes import Formula
from labelsieve.formula.operations import SUM
from labelsieve.formula.table_sources import Context, Sources
from labelsieve.formula.values import TOO_LARGE, Fixed, Value, fixed_value, largest, real_value, weighted_sum
from labelsieve.formula.variables import Domain, Reduce, Reduced, Table, reducers_over_selected

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
