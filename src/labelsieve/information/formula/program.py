"""Evaluating a lowered formula for all candidates, one selected feature after the other."""

from collections.abc import Callable

import numpy as np

from labelsieve.errors import InputError
from labelsieve.information.formula.linear import LinearBody, linear_body
from labelsieve.information.formula.nodes import (
    Add,
    Apply,
    Divide,
    Formula,
    FormulaError,
    Multiply,
    Number,
    Reduce,
    Size,
    Table,
)
from labelsieve.information.formula.program_tools import is_static
from labelsieve.information.formula.sources import Context, Fixed, Sources
from labelsieve.information.formula.values import TOO_LARGE, Account, Value, fixed_value, real_value, weighted_sum

Parents = list[list[int]]
Progress = Callable[[int, int], None]
PANEL_BYTES = 2**26  # of one slice of the targets, for formulas that need every target by itself


class Program:
    """A list of formulas bound to data. ``select`` folds the newest feature into every account; ``evaluate`` reads them.

    ``targets`` are those that ``y`` runs over; ``parents[l]`` lists the parents of target ``l``.
    """

    def __init__(
        self,
        formulas: list[Formula],
        sources: Sources,
        *,
        targets: slice = slice(None),
        parents: Parents | None = None,
        panel_bytes: int = PANEL_BYTES,
    ) -> None:
        self.sources, self._parents = sources, parents
        first, last, _ = targets.indices(sources.Y.n_columns)
        self._base = Context(first, last)
        self._at_a_time = max(1, panel_bytes // (8 * sources.X.n_columns))
        self._n_selected = 0
        self.progress: Progress | None = None
        # Nodes are looked up by identity: they outlive the program, and comparing formulas at every step would cost more
        # than evaluating them.
        self._formulas = formulas
        self._memory: dict[tuple[int, int, int], Value] = {}
        self._accounts: dict[int, Account] = {}
        self._folds: list[tuple[Formula, LinearBody | None, Account]] = []
        shared: dict[Reduce, Account] = {}
        for formula in formulas:
            for node in formula.walk():
                if isinstance(node, Reduce) and node.variable == "s":
                    if node not in shared:
                        shared[node] = Account(node.operation, "y" in node.free, sources.X.n_columns, last - first)
                        plain = sources.target_weights is None
                        linear = linear_body(node.body, last - first) if plain else None
                        self._folds.append((node.body, linear, shared[node]))
                    self._accounts[id(node)] = shared[node]
        steps = [linear.panel_terms if linear is not None else None for _, linear, _ in self._folds]
        self._from_one_panel = bool(steps) and all(step is not None for step in steps)
        self._with_targets = any(kind == "triple" for step in steps for _, kind in step or [])

    def select(self, feature: int) -> None:
        """Fold in one more selected feature."""
        newest = self._base._replace(s=feature)
        panel = self.sources.newest(feature, self._base, self._with_targets) if self._from_one_panel else None
        for body, linear, account in self._folds:
            if linear is not None:
                if linear.static is not None and linear.static_value is None:
                    linear.static_value = self._value(linear.static, self._base).fixed(self.sources.fixed)
                account.fold(linear.value(self.sources, newest) if panel is None else linear.of_panel(*panel), None)
                continue
            slices = self._slices(self._base) if account.by_target else [self._base]
            for context in slices:
                value = self._value(body, context._replace(s=feature))
                account.fold(value.fixed(self.sources.fixed), self._local(context) if account.by_target else None)
        self._n_selected += 1
        self.sources.select(feature)

    def evaluate(self, formula: Formula) -> Value:
        """The formula for every candidate: shape (d, 1), or (1, 1) if it does not mention the candidate."""
        return self._value(formula, self._base)

    def _slices(self, context: Context) -> list[Context]:
        starts = range(context.first, context.last, self._at_a_time)
        return [context.over(start, min(context.last, start + self._at_a_time)) for start in starts]

    def _value(self, node: Formula, context: Context) -> Value:
        if isinstance(node, Number | Size | Table) or not is_static(node):
            return self._compute(node, context)
        bound = tuple(getattr(context, name) for name in ("s", "z", "p") if name in node.free)
        if bound:  # changes from call to call
            return self._compute(node, context)
        key = id(node), context.first, context.last
        if key not in self._memory:
            value = self._compute(node, context)
            if value.array.shape[1] > 1 and (context.first, context.last) != (self._base.first, self._base.last):
                return value  # one of many slices of the targets: together too large to keep
            self._memory[key] = value
        return self._memory[key]

    def _compute(self, node: Formula, context: Context) -> Value:
        match node:
            case Number(value=number):
                return real_value(np.array([[number]]))
            case Size(domain=domain):
                return real_value(np.array([[float(sum(map(self._n_targets, self._ranges(domain, context))))]]))
            case Table(variables=names):
                return fixed_value(self.sources.table(names, context))
            case Add(terms=terms):
                return Value.total([self._value(term, context) for term in terms], self.sources.fixed)
            case Multiply(factors=factors):
                return Value.product([self._value(factor, context) for factor in factors], self.sources.fixed)
            case Divide(numerator=top, denominator=bottom):
                return Value.ratio(self._value(top, context), self._value(bottom, context), self.sources.fixed)
            case Apply(function=function, arguments=arguments):
                values = [self._value(argument, context) for argument in arguments]
                return Value.apply(function, values, self.sources.fixed)
            case Reduce(variable="s"):
                return self._accounts[id(node)].value(self._n_selected, self._local(context), self.sources.fixed)
            case Reduce(variable="y"):
                return self._over_targets(node, context)
            case Reduce(variable="z"):
                return self._over_pairs(node, context)
            case Reduce(variable="p"):
                return self._over_parents(node, context)
        raise FormulaError(f"{type(node).__name__} cannot be evaluated.", node)

    def _local(self, context: Context) -> slice:
        return slice(context.first - self._base.first, context.last - self._base.first)

    def _ranges(self, domain: str, context: Context) -> list[tuple[int, int]]:
        """The targets that ``y`` runs over, as ranges that are not empty."""
        first, last = self._base.first, self._base.last
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

    def _over_targets(self, node: Reduce, context: Context) -> Value:
        if self.sources.target_weights is not None and node.operation == "sum":
            pieces = [piece for one in self._ranges(node.domain, context) for piece in self._slices(context.over(*one))]
            parts = ((self._value(node.body, piece), piece.targets) for piece in pieces)
            return weighted_sum(parts, self.sources.target_weights, self.sources.fixed)
        rows = self.sources.X.n_columns if "f" in node.body.free else 1
        result: Fixed | None = None
        for first, last in self._ranges(node.domain, context):
            part = context.over(first, last)
            if node.operation == "sum" and isinstance(node.body, Table):
                result = _fold(result, self.sources.total(node.body.variables, part), "sum")
                continue
            for piece in self._slices(part):
                values = self._value(node.body, piece).fixed(self.sources.fixed)
                values = np.broadcast_to(values, (values.shape[0], piece.last - piece.first))
                reduced = values.sum(axis=1) if node.operation == "sum" else values.max(axis=1)
                result = _fold(result, reduced[:, np.newaxis], node.operation)
        return fixed_value(np.zeros((rows, 1), dtype=np.int64) if result is None else result)

    def _over_pairs(self, node: Reduce, context: Context) -> Value:
        """One panel for every ``z``, folded at once: nothing of the size of the pairs is kept."""
        seconds = np.arange(self._base.first, self._base.last)
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
            value = self._value(node.body, context._replace(z=int(second))).fixed(self.sources.fixed)
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

    def _over_parents(self, node: Reduce, context: Context) -> Value:
        parents = self._parents or [[] for _ in range(self.sources.Y.n_columns)]
        mine = parents[context.first : context.last]
        result = np.zeros((self.sources.X.n_columns, context.last - context.first), dtype=np.int64)
        for parent in sorted(set().union(*mine) if mine else set()):
            children = np.array([parent in some for some in mine])
            first, last = int(np.argmax(children)), len(children) - int(np.argmax(children[::-1]))
            part = context.over(context.first + first, context.first + last)._replace(p=parent)
            value = self._value(node.body, part).fixed(self.sources.fixed)
            result[:, first:last] += value * children[first:last]
        if node.operation == "sum":
            return fixed_value(result)
        counts = np.array([[max(1, len(some)) for some in mine]], dtype=np.float64)
        return real_value(fixed_value(result).real(self.sources.fixed) / counts)


def _fold(result: Fixed | None, more: Fixed, operation: str) -> Fixed:
    if result is None:
        return more
    return result + more if operation == "sum" else np.maximum(result, more)
