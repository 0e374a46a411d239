"""Evaluating a lowered formula for all candidates, one selected feature after the other."""

from collections.abc import Callable

import numpy as np

from labelsieve.counting.backends.protocol import Feature
from labelsieve.errors import InputError
from labelsieve.formula.accumulator import Accumulator, Fold
from labelsieve.formula.evaluation_rules import Rule, rule_for
from labelsieve.formula.linear_evaluation import linear, linear_sum
from labelsieve.formula.nodes import (
    Formula,
    Reduce,
    Table,
)
from labelsieve.formula.queries import reducers_over_selected
from labelsieve.formula.table_sources import Context, Fixed, Sources
from labelsieve.formula.values import TOO_LARGE, Value, fixed_value, real_value, weighted_sum

Parents = list[list[int]]
Progress = Callable[[int, int], None]
PANEL_BYTES = 2**26  # of one slice of the targets, for formulas that need every target by itself


class Program:
    """A list of formulas bound to data. ``select`` folds the newest feature into every account; ``evaluate`` reads them.

    ``targets`` are those that ``y`` runs over; ``parents[l]`` lists the parents of target ``l``; ``over_selected`` is
    :func:`reducers_over_selected` of the formulas, when it is known already.
    """

    accounts_by_target = False  # also those that do not mention a target

    def __init__(
        self,
        formulas: list[Formula],
        sources: Sources,
        *,
        targets: slice = slice(None),
        parents: Parents | None = None,
        panel_bytes: int = PANEL_BYTES,
        over_selected: list[list[Reduce]] | None = None,
    ) -> None:
        self.sources, self._parents = sources, parents
        first, last, _ = targets.indices(sources.Y.n_columns)
        self.base = Context(first, last)
        self._at_a_time = max(1, panel_bytes // (8 * sources.X.n_columns))
        self.n_selected = 0
        self.progress: Progress | None = None
        # Nodes are looked up by identity: they outlive the program, and comparing formulas at every step would cost more
        # than evaluating them.
        self._formulas = formulas
        # Sums over the targets are plain sums: no target has a weight, none is by itself.
        self.adds_plainly = sources.target_weights is None and not self.accounts_by_target
        self._rules: dict[int, Rule] = {}
        self.memory: dict[tuple[int, int, int], Value] = {}
        self.accumulators: dict[int, Accumulator] = {}
        self._folds: list[Fold] = []
        for reducers in reducers_over_selected(formulas) if over_selected is None else over_selected:
            node = reducers[0]
            by_target = self.accounts_by_target or "y" in node.free
            known = linear(node.body) if self.adds_plainly else None
            fold = Fold(node.body, known, Accumulator(node.operation, by_target, sources.X.n_columns, last - first))
            if fold.linear is not None and node.operation in ("sum", "mean"):
                fold.panel_factors = fold.linear.panel_factors(last - first)
            self._folds.append(fold)
            self.accumulators.update((id(same), fold.account) for same in reducers)
        steps = [fold.panel_factors for fold in self._folds]
        self._from_one_panel = bool(steps) and all(step is not None for step in steps)
        self._with_targets = any(step.triple for step in steps if step is not None)

    def select(self, feature: int) -> None:
        """Fold in one more selected feature."""
        if self._from_one_panel:
            self._fold_panel(feature)
        else:
            for fold in self._folds:
                self._fold(fold, feature)
        self.n_selected += 1
        self.sources.select(feature)

    def _fold_panel(self, feature: int) -> None:
        backend, single = self.sources.backend, self.sources.table_of(feature)
        targets = self.base.targets if self._with_targets else slice(0)
        if len(self._folds) == 1:
            fold = self._folds[0]
            fold.account.fold_newest(backend, feature, fold.of_panel(single, self._static(fold)), targets)
            return
        panel = backend.panel(Feature(feature), targets=targets, reduce="sum")
        for fold in self._folds:
            fold.account.fold_panel(panel, fold.of_panel(single, self._static(fold)))

    def _fold(self, fold: Fold, feature: int) -> None:
        account, newest = fold.account, self.base._replace(s=feature)
        if fold.linear is not None:
            account.fold(linear_sum(fold.linear.moving, self.sources, newest, self._static(fold)), None)
            return
        for context in self._slices(self.base) if account.by_target else [self.base]:
            value = self.value(fold.body, context._replace(s=feature))
            account.fold(value.fixed(self.sources.fixed), self.local(context) if account.by_target else None)

    def _static(self, fold: Fold) -> Fixed | None:
        """What a linear body adds whatever was selected."""
        if fold.static is None and fold.linear is not None and fold.linear.static:
            fold.static = linear_sum(fold.linear.static, self.sources, self.base)
        return fold.static

    def evaluate(self, formula: Formula) -> Value:
        """The formula for every candidate: shape (d, 1), or (1, 1) if it does not mention the candidate."""
        return self.value(formula, self.base)

    def _slices(self, context: Context) -> list[Context]:
        starts = range(context.first, context.last, self._at_a_time)
        return [context.over(start, min(context.last, start + self._at_a_time)) for start in starts]

    def value(self, node: Formula, context: Context) -> Value:
        rule = self._rules.get(id(node))
        if rule is None:
            rule = self._rules[id(node)] = rule_for(node, self)
        return rule(self, context)

    def size(self, domain: str, context: Context) -> Value:
        return real_value(np.array([[float(sum(map(self._n_targets, self._ranges(domain, context))))]]))

    def local(self, context: Context) -> slice:
        return slice(context.first - self.base.first, context.last - self.base.first)

    def _ranges(self, domain: str, context: Context) -> list[tuple[int, int]]:
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
        """How many targets there are in a range, or their weight."""
        weights = self.sources.target_weights
        return targets[1] - targets[0] if weights is None else float(weights.values[slice(*targets)].sum())

    def over_targets(self, node: Reduce, context: Context) -> Value:
        if self.sources.target_weights is not None and node.operation == "sum":
            pieces = [piece for one in self._ranges(node.domain, context) for piece in self._slices(context.over(*one))]
            parts = ((self.value(node.body, piece), piece.targets) for piece in pieces)
            return weighted_sum(parts, self.sources.target_weights, self.sources.fixed)
        rows = self.sources.X.n_columns if "f" in node.body.free else 1
        result: Fixed | None = None
        for first, last in self._ranges(node.domain, context):
            part = context.over(first, last)
            if node.operation == "sum" and isinstance(node.body, Table):
                result = _fold(result, self.sources.total(node.body.variables, part), "sum")
                continue
            for piece in self._slices(part):
                values = self.value(node.body, piece).fixed(self.sources.fixed)
                values = np.broadcast_to(values, (values.shape[0], piece.last - piece.first))
                reduced = values.sum(axis=1) if node.operation == "sum" else values.max(axis=1)
                result = _fold(result, reduced[:, np.newaxis], node.operation)
        return fixed_value(np.zeros((rows, 1), dtype=np.int64) if result is None else result)

    def over_pairs(self, node: Reduce, context: Context) -> Value:
        """One panel for every ``z``, folded at once: nothing of the size of the pairs is kept."""
        seconds = np.arange(self.base.first, self.base.last)
        if node.top is not None:
            order = np.argsort(-self.sources.entropies_of_targets()[seconds], kind="stable")
            seconds = np.sort(seconds[order[: node.top]])
            context = context._replace(among=tuple(map(int, seconds)))
        by_target = "y" in node.free
        width = context.last - context.first if by_target else 1
        result = np.zeros((self.sources.X.n_columns, width), dtype=np.int64)
        seen, bound = np.zeros(width, dtype=bool), 0
        for done, second in enumerate(seconds):
            if self.progress is not None:
                self.progress(done, len(seconds))
            value = self.value(node.body, context._replace(z=int(second))).fixed(self.sources.fixed)
            value = np.broadcast_to(value, result.shape)
            others = np.arange(context.first, context.last) != second if by_target else np.ones(1, dtype=bool)
            if node.operation == "sum":
                bound += int(np.abs(value).max(initial=0))
                if bound >= 2**62:
                    raise InputError(TOO_LARGE)
                result += value * others
            else:
                fresh = others & ~seen
                result[:, fresh] = value[:, fresh]
                again = others & seen
                result[:, again] = np.maximum(result[:, again], value[:, again])
                seen |= others
        return fixed_value(result)

    def over_parents(self, node: Reduce, context: Context) -> Value:
        parents = self._parents or [[] for _ in range(self.sources.Y.n_columns)]
        mine = parents[context.first : context.last]
        result = np.zeros((self.sources.X.n_columns, context.last - context.first), dtype=np.int64)
        for parent in sorted(set().union(*mine) if mine else set()):
            children = np.array([parent in some for some in mine])
            first, last = int(np.argmax(children)), len(children) - int(np.argmax(children[::-1]))
            part = context.over(context.first + first, context.first + last)._replace(p=parent)
            value = self.value(node.body, part).fixed(self.sources.fixed)
            result[:, first:last] += value * children[first:last]
        if node.operation == "sum":
            return fixed_value(result)
        counts = np.array([[max(1, len(some)) for some in mine]], dtype=np.float64)
        return real_value(fixed_value(result).real(self.sources.fixed) / counts)


def _fold(result: Fixed | None, more: Fixed, operation: str) -> Fixed:
    if result is None:
        return more
    return result + more if operation == "sum" else np.maximum(result, more)
