"""Scoring candidates: a plan is evaluated for all features, one selected feature after the other.

Read :class:`Scorer` first, at the end. Scores of most criteria are sums of tables: ``select`` adds the panel of the newest
feature to an accumulator, and ``scores`` reads it. Other formulas are evaluated node by node, by one method of
:class:`Evaluator` for each type of node; ``EVALUATION`` lists them.
"""

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.counting.backends.protocol import Feature, PanelFold, fold_panel
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import InputError
from labelsieve.formula.nodes import (
    Add,
    Apply,
    Divide,
    Domain,
    Formula,
    LinearTerm,
    Multiply,
    Number,
    Reduce,
    Size,
    Table,
    Term,
)
from labelsieve.formula.sources import Context, Sources, Tables
from labelsieve.formula.values import SUM, TOO_LARGE, Fixed, Operation, Real, Value, largest, together, weighted_sum

if TYPE_CHECKING:
    from labelsieve.counting.workspace import Workspace
    from labelsieve.formula.plan import Fold, Plan

SPILL_AFTER = 512  # additions of numbers below 2^53: their sum has 62 bits
PANEL_BYTES = 2**26  # of one slice of the targets, for formulas that need every target separately

Parents = list[list[int]]
Progress = Callable[[int, int], None]


class Accumulator:
    """The value of a reducer over the selected features, for every candidate (and target)."""

    def __init__(self, operation: Operation, n_features: int, n_targets: int = 1, xp: Any = np) -> None:
        self.operation, self._shape, self._xp = operation, (n_features, n_targets), xp
        self.static: Fixed | None = None  # what every fold adds that does not depend on the selection, once it is known
        self._low: Fixed | None = None
        self._high: Fixed | None = None  # in units of 2^32, after the first spill
        self._n_folds = 0

    @property
    def low(self) -> Fixed:
        """The array that is folded into, made at the first fold."""
        if self._low is None:
            self._low = self._xp.full(self._shape, self.operation.identity, dtype=np.int64)
        return self._low

    def fold(self, value: Fixed, targets: slice | None = None) -> None:
        """Fold the values of one more selected feature, of all targets or of a slice of them."""
        self.operation.fold(self.low if targets is None else self.low[:, targets], value)
        if self.operation.linear and (targets is None or targets.stop == self._shape[1]):
            self.count_fold()

    @property
    def spills_next(self) -> bool:
        """True when high bits are carried over after the next fold."""
        return (self._n_folds + 1) % SPILL_AFTER == 0

    def count_fold(self) -> None:
        """Count a fold, and carry the high bits over before they overflow."""
        self._n_folds += 1
        if self._n_folds % SPILL_AFTER == 0:
            if self._high is None:
                self._high = self._xp.zeros(self._shape, dtype=np.int64)
            low = self.low
            # A shift rounds down and the mask keeps what is left, so high * 2^32 + low is the same sum, also below 0.
            self._high += low >> 32
            low &= 2**32 - 1

    def value(self, n_folds: Any, fixed: FixedPoint, targets: slice | None = None) -> Value:
        """Return the reduced value of ``n_folds`` folds, for all targets or a slice of them; 0 while nothing is folded."""
        if self._low is None:
            return Value(self._xp.zeros((self._shape[0], 1), dtype=np.int64), True)
        low = self._low if targets is None else self._low[:, targets]
        if self._high is None and not self.operation.averages:
            return Value(low, True)
        total = fixed.information(low)
        if self._high is not None:  # the sum may not fit into 64 bits any more: it goes on as a double
            high = self._high if targets is None else self._high[:, targets]
            total = fixed.information(high) * 2.0**32 + total
        return Value(total / n_folds if self.operation.averages else total, False)


class Evaluator:
    """Evaluates the formulas of a plan for all features, given the features that are folded into its accumulators.

    Values are arrays with a row for each feature and a column for each target; either may be 1. ``targets`` are those that
    ``y`` runs over, and ``parents[l]`` lists the parents of target ``l``. Scores of a plan that ``is_ranking`` do not depend on
    the selection.
    """

    selects_ahead = False  # True where the best features are found on a GPU: see DeviceScorer
    is_lazy = False  # every candidate is evaluated at every step
    targets_are_separate = False  # True where every target has a selection of its own: see LabelwiseScorer

    def __init__(self, plan: "Plan", sources: Tables, *, targets: slice = slice(None), parents: Parents | None = None) -> None:
        self.plan, self.sources, self._parents = plan, sources, parents
        self.name, self.is_ranking = plan.name, plan.is_ranking
        first, last, _ = targets.indices(sources.n_targets)
        self.base, self._whole = Context(first, last), (first, last)
        self._targets_per_slice = max(1, PANEL_BYTES // (8 * max(1, sources.n_features)))
        self._progress: Progress | None = None
        self.n_selected = 0
        self._n_on_device: Any = None  # the same as an array of a GPU, while a step is recorded there
        self._selected: list[int] = []
        # Sums over the targets are plain sums if no target has a weight and none is evaluated separately.
        self._adds_plainly = sources.target_weights is None and not self.targets_are_separate
        # Nodes are looked up by identity: comparing formulas at every step would cost more than evaluating them.
        self._known: dict[tuple[int, int, int], Value] = {}
        self._accumulator_of: dict[int, Accumulator] = {}
        self._folds: list[tuple[Fold, Accumulator]] = []
        for fold in plan.folds:
            width = last - first if fold.by_target or self.targets_are_separate else 1
            accumulator = Accumulator(fold.nodes[0].operation, sources.n_features, width, sources.xp)
            self._folds.append((fold, accumulator))
            for node in fold.nodes:
                self._accumulator_of[id(node)] = accumulator

    def _evaluate(self) -> Real:
        """Evaluate the components of the score; return their sum in nats."""
        fixed = self.sources.fixed
        self._components = self.plan.components if self.n_selected else self.plan.first_components
        self._values: list[Value] = []
        for component in self._components:
            self._values.append(self.value(component.lowered, self.base))
        total: Any
        total, exact = self._values[0] if len(self._values) == 1 else Value.total(self._values, fixed)
        nats: Real = total / fixed.divisor if exact else total
        return nats

    def value(self, node: Formula, context: Context) -> Value:
        """Evaluate a formula for the targets and the other variables of ``context``."""
        key = id(node), context.first, context.last
        if node.is_reusable and key in self._known:
            return self._known[key]
        linear = node.linear
        # A whole sum of tables is added as integers at once; its nodes need no visit.
        if linear is not None and (self._adds_plainly or not linear.adds_targets):
            value = Value(self._add_tables([*linear.static, *linear.moving], context), True)
        else:
            value = EVALUATION[type(node)](self, node, context)
        # Slices of the targets are not kept: together they would be too large.
        if node.is_reusable and (value.array.shape[1] == 1 or (context.first, context.last) == self._whole):
            self._known[key] = value
        return value

    def _add_tables(self, terms: list[LinearTerm], context: Context, total: Fixed | None = None) -> Fixed:
        """Add up tables times their factors, and ``total``, if it is given."""
        sources, n_targets = self.sources, context.last - context.first
        for number, by_targets, added, names in terms:
            table = sources.total(names, context) if added else sources.table(names, context)
            factor = number * n_targets if by_targets else number
            scaled = table if factor == 1 else table * factor
            if total is None:
                total = scaled
                continue
            if type(total) is not type(scaled):  # one of them on a GPU
                total, scaled = together([total, scaled])
            total = total + scaled
        assert total is not None
        return total

    def _number(self, node: Number, context: Context) -> Value:
        return Value(np.array([[node.value]]), False)

    def _size(self, node: Size, context: Context) -> Value:
        return Value(np.array([[float(sum(map(self._n_targets, self._ranges(node.domain, context))))]]), False)

    def _table(self, node: Table, context: Context) -> Value:
        return Value(self.sources.table(node.variables, context), True)

    def _term(self, node: Term, context: Context) -> Value:
        return Value(self.sources.term(node, context), False)

    def _sum(self, node: Add, context: Context) -> Value:
        return Value.total([self.value(term, context) for term in node.terms], self.sources.fixed)

    def _product(self, node: Multiply, context: Context) -> Value:
        return Value.product([self.value(factor, context) for factor in node.factors], self.sources.fixed)

    def _ratio(self, node: Divide, context: Context) -> Value:
        return Value.ratio(self.value(node.numerator, context), self.value(node.denominator, context), self.sources.fixed)

    def _function(self, node: Apply, context: Context) -> Value:
        return Value.apply(node.function, [self.value(one, context) for one in node.arguments], self.sources.fixed)

    def _reduction(self, node: Reduce, context: Context) -> Value:
        if node.variable == "y":
            return self._over_targets(node, context)
        if node.variable == "z":
            return self._over_pairs(node, context)
        if node.variable == "pa":
            return self._over_parents(node, context)
        n_folds = self.n_selected if self._n_on_device is None else self._n_on_device
        if node.variable == "st":
            n_folds = self.n_selected * (self.n_selected - 1)
        by_target = self.targets_are_separate or "y" in node.free
        targets = self._local(context) if by_target else None
        return self._accumulator_of[id(node)].value(n_folds, self.sources.fixed, targets)

    def _over_targets(self, node: Reduce, context: Context) -> Value:
        """Reduce over the targets, slice after slice; the tables of a sum are added where they are counted."""
        operation, sources = node.operation, self.sources
        ranges = [context._replace(first=first, last=last) for first, last in self._ranges(node.domain, context)]
        if sources.target_weights is not None and operation == SUM:
            slices = [part for targets in ranges for part in self._slices(targets)]
            values = ((self.value(node.body, part), slice(part.first, part.last)) for part in slices)
            return weighted_sum(values, sources.target_weights, sources.fixed)
        reduced: list[Fixed] = []
        for targets in ranges:
            if operation == SUM and isinstance(node.body, Table):  # the backend adds: no table for every target is made
                reduced.append(sources.total(node.body.variables, targets))
                continue
            for part in self._slices(targets):
                table = self.value(node.body, part).fixed(sources.fixed)
                # A body without y has one column, and counts once for each target.
                reduced.append(operation.reduce(np.broadcast_to(table, (table.shape[0], part.last - part.first))))
        if not reduced:
            n_rows = sources.n_features if "f" in node.body.free else 1
            return Value(sources.xp.zeros((n_rows, 1), dtype=np.int64), True)
        n_targets = sum(targets.last - targets.first for targets in ranges)
        return operation.finish(reduce(operation.ufunc, reduced), np.array(n_targets), sources.fixed)

    def _over_pairs(self, node: Reduce, context: Context) -> Value:
        """Reduce over the other target of a pair: one panel for every ``z`` is folded at once, no table of pairs is kept."""
        operation, sources, xp = node.operation, self.sources, self.sources.xp
        seconds = np.arange(self.base.first, self.base.last)
        if node.top is not None:
            entropies = sources.entropies_of_targets(of_terms=self.plan.keeps_terms)
            order = np.argsort(-entropies[seconds], kind="stable")
            seconds = np.sort(seconds[order[: node.top]])
            context = context._replace(among=tuple(map(int, seconds)))
        by_target = "y" in node.free
        firsts = np.arange(context.first, context.last) if by_target else np.full(1, -1)
        result = xp.full((sources.n_features, len(firsts)), operation.identity, dtype=np.int64)
        counts, bound = np.zeros(len(firsts), dtype=np.intp), 0
        for done, second in enumerate(seconds):
            if self._progress is not None:
                self._progress(done, len(seconds))
            value = self.value(node.body, context._replace(z=int(second))).fixed(sources.fixed)
            if operation.linear:  # integers would wrap around silently
                bound += int(largest(value))
                if bound >= 2**62:
                    raise InputError(TOO_LARGE)
            others = firsts != second  # a target is no pair with itself
            operation.fold(result, value, xp.asarray(others) if by_target else None)
            counts += others
        return operation.finish(result, xp.asarray(counts), sources.fixed)

    def _over_parents(self, node: Reduce, context: Context) -> Value:
        """Reduce over the parents: one panel for every target that is a parent is folded into its children."""
        operation, sources, xp = node.operation, self.sources, self.sources.xp
        parents = self._parents or [[] for _ in range(sources.n_targets)]
        of_targets = parents[context.first : context.last]
        result = xp.full((sources.n_features, context.last - context.first), operation.identity, dtype=np.int64)
        for parent in sorted(set().union(*of_targets) if of_targets else set()):
            children = np.array([parent in some for some in of_targets])
            # One panel for the range from the first child to the last; targets between them are masked out.
            first, last = int(np.argmax(children)), len(children) - int(np.argmax(children[::-1]))
            part = context._replace(first=context.first + first, last=context.first + last, pa=parent)
            value = self.value(node.body, part).fixed(sources.fixed)
            operation.fold(result[:, first:last], value, xp.asarray(children[first:last]))
        n_parents = np.array([len(some) for some in of_targets], dtype=np.intp)
        return operation.finish(result, xp.asarray(n_parents), sources.fixed)

    def _slices(self, context: Context) -> list[Context]:
        """Split the targets into ranges whose values for every target fit into memory."""
        starts = range(context.first, context.last, self._targets_per_slice)
        return [context._replace(first=start, last=min(context.last, start + self._targets_per_slice)) for start in starts]

    def _local(self, context: Context) -> slice:
        """Return the targets of a context, counted from the first one of the scorer."""
        return slice(context.first - self.base.first, context.last - self.base.first)

    def _ranges(self, domain: Domain, context: Context) -> list[tuple[int, int]]:
        """Return the targets that ``y`` runs over, as ranges that are not empty."""
        if domain == "all":
            ranges = [(context.first, context.last)]
        else:
            assert context.z is not None
            after = (context.z + 1, self.base.last)
            ranges = [after] if domain == "after" else [(self.base.first, context.z), after]
            if context.among is not None:
                ranges = [(target, target + 1) for target in context.among for start, stop in ranges if start <= target < stop]
        return [(start, stop) for start, stop in ranges if start < stop]

    def _n_targets(self, targets: tuple[int, int]) -> float:
        """Return the number of targets in a range, or their weight."""
        weights = self.sources.target_weights
        return targets[1] - targets[0] if weights is None else float(weights.values[slice(*targets)].sum())


EVALUATION: dict[type[Formula], Callable[[Evaluator, Any, Context], Value]] = {
    Number: Evaluator._number,
    Size: Evaluator._size,
    Table: Evaluator._table,
    Term: Evaluator._term,
    Add: Evaluator._sum,
    Multiply: Evaluator._product,
    Divide: Evaluator._ratio,
    Apply: Evaluator._function,
    Reduce: Evaluator._reduction,
}


class Scorer(Evaluator):
    """The gain of a criterion: it scores all features given those selected so far."""

    sources: Sources

    def scores(self) -> Real:
        """Return the score of every feature, in nats."""
        total = self._evaluate()[:, 0]
        self._total = total if len(total) > 1 else np.repeat(total, self.sources.n_features)
        return self._total

    def components(self, feature: int) -> dict[str, float]:
        """Return the components of a feature's score in the last ``scores``, by kind: relevance, redundancy, ..."""
        if len(self._components) == 1:
            return {self._components[0].kind: float(self._total[feature])}
        by_kind: dict[str, float] = {}
        for component, value in zip(self._components, self.summands(feature), strict=True):
            by_kind[component.kind] = by_kind.get(component.kind, 0.0) + value
        return by_kind

    def summands(self, feature: int) -> list[float]:
        """Return the summands of a feature's score in the last ``scores``, in the order of the formula, in nats."""
        numbers = []
        for array, exact in self._values:
            number = array[feature if len(array) > 1 else 0, 0]
            numbers.append(float(self.sources.fixed.information(number) if exact else number))
        return numbers

    def relevance(self) -> Real | None:
        """Return the information of every feature alone about all targets, in nats; None if the last ``scores`` need it not."""
        for component, value in zip(self._components, self._values, strict=True):
            if component.is_relevance:
                return self._total if len(self._values) == 1 else value.real(self.sources.fixed)[:, 0]
        return None

    def report_to(self, progress: Progress | None) -> None:
        """Call ``progress`` with the number of targets done and their total while pairs of targets are counted."""
        self._progress = progress

    def expect(self, scores: Real) -> None:
        """Ignore by which scores features are selected: nothing is counted ahead."""

    def noise_level(self, alpha: float) -> float:
        """Return 0: it is not known what a formula scores for noise."""
        return 0.0

    def rebind(self, workspace: "Workspace", *, targets: slice = slice(None), parents: Parents | None = None) -> "Scorer":
        """Return a scorer of the same formula for other data."""
        return self.plan.bind(workspace, targets=targets, parents=parents)

    def select(self, feature: Any) -> None:
        """Add a feature to the selected ones: its number, or an array with the one that a GPU has chosen."""
        if self._adds_plainly and self.plan.is_from_one_panel:
            self.fold_panel(feature)
            for _, accumulator in self._folds:
                accumulator.count_fold()
        else:
            for fold, accumulator in self._folds:
                for newest in self._newest(fold, feature):
                    self._fold(fold, accumulator, newest)
        self.n_selected += 1
        self._selected.append(feature)
        if self.sources.follows_selection:
            self.sources.select(feature)

    def fold_panel(self, feature: Any) -> None:
        """Fold the panel of the newest feature, where it is all that a step needs; the folds are not counted."""
        backend, n_targets = self.sources.backend, self.base.last - self.base.first
        needs_single, needs_targets = self.plan.panel_has
        single = self.sources.feature_sum(feature) if needs_single else 0
        targets = slice(*self._whole) if needs_targets else slice(0)
        # A panel that only one accumulator needs stays inside the backend.
        panel = None if len(self._folds) == 1 else backend.panel(Feature(feature), targets=targets, reduce="sum")
        for fold, accumulator in self._folds:
            assert fold.panel is not None
            # Factors of the tables (s), (f, s) and (f, s, y): each a number and a multiple of the number of targets.
            (single_0, single_q), (pair_0, pair_q), (triple_0, triple_q) = fold.panel
            constant, static = (single_0 + single_q * n_targets) * single, self._static(fold, accumulator)
            if static is not None and static.size == 1:
                constant, static = constant + int(static[0, 0]), None
            fixed = None if static is None else static.ravel()
            added = PanelFold(constant, fixed, pair_0 + pair_q * n_targets, triple_0 + triple_q * n_targets)
            sums = accumulator.low.ravel()
            if panel is None:
                backend.fold_given_feature(sums, feature, added, targets=targets)
            else:
                fold_panel(sums, panel, added)

    def _newest(self, fold: "Fold", feature: int) -> list[Context]:
        """List what a newly selected feature adds to a fold: itself, or its pairs with all before it, in both orders."""
        if fold.nodes[0].variable == "s":
            return [self.base._replace(s=feature)]
        # A reducer over pairs of selected features takes ordered pairs: n (n - 1) folds after n features.
        pairs = [pair for other in self._selected for pair in ((feature, other), (other, feature))]
        return [self.base._replace(s=one, t=other) for one, other in pairs]

    def _fold(self, fold: "Fold", accumulator: Accumulator, newest: Context) -> None:
        """Fold the body for the newest feature, slice by slice of the targets if it has a value for each."""
        if self._adds_plainly and fold.linear is not None and not fold.by_target:
            accumulator.fold(self._add_tables(fold.linear.moving, newest, self._static(fold, accumulator)))
            return
        for context in self._slices(self.base) if fold.by_target else [self.base]:
            value = self.value(fold.nodes[0].body, context._replace(s=newest.s, t=newest.t)).fixed(self.sources.fixed)
            accumulator.fold(value, self._local(context) if fold.by_target else None)

    def _static(self, fold: "Fold", accumulator: Accumulator) -> Fixed | None:
        """Add up the tables of a fold that do not depend on the selection; once."""
        if accumulator.static is None and fold.linear is not None and fold.linear.static:
            static = self._add_tables(fold.linear.static, self.base)
            accumulator.static = static if static.size > 1 else np.array([[int(static[0, 0])]])
        return accumulator.static
