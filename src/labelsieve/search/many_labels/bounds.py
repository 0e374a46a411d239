"""Upper bounds of scores for groups of features, so that a search can leave out groups that have no better feature."""

from collections.abc import Callable
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.evaluation import Accumulator
from labelsieve.formula.lowering import add, lower, multiply
from labelsieve.formula.nodes import (
    Add,
    Apply,
    Divide,
    Formula,
    Multiply,
    Number,
    Reduce,
    Size,
    Table,
    Variables,
    reducers_over_selected,
    unknown_node,
)
from labelsieve.formula.plan import Plan
from labelsieve.formula.values import SUM, Fixed, Operation, Value


def merged(formula: Formula) -> Formula:
    """Rewrite the formula of a single target with one linear sum, or mean, over the selected features: terms that cancel go.

    >>> from labelsieve.formula import I, f, s, sum_s, sum_y, y
    >>> from labelsieve.formula.lowering import lower
    >>> print(merged(lower(sum_y(I(f, y) - sum_s(I(f, s)) + sum_s(I(f, s | y))))))
    T(f, y) - T(f) - T(y) + T() + sum_s(-T(f, s) + T(f) + T(s) - T() + T(f, s, y) - T(f, y) - T(s, y) + T(y))
    """
    match formula:
        case Size():
            return Number(1.0)
        case Reduce(variable="y", body=body) if formula.operation == SUM and tables_of(body) is not None:
            return merged(body)
        case Reduce(body=body):
            return Reduce(formula.operation, formula.variable, merged(body), formula.domain, formula.top)
        case Multiply(factors=factors):
            return multiply(*(factor for factor in map(merged, factors) if factor != Number(1.0)))
        case Divide(numerator=top, denominator=bottom):
            return Divide(merged(top), merged(bottom))
        case Apply(function=function, arguments=arguments):
            return Apply(function, tuple(map(merged, arguments)))
        case Add(terms=terms):
            flat = add(*map(merged, terms))
            return _with_one_sum(flat) if isinstance(flat, Add) else flat
    return formula


def _with_one_sum(formula: Add) -> Formula:
    sums: dict[Operation, list[Formula]] = {}
    linear: list[Formula] = []
    others: list[Formula] = []
    for term in formula.terms:
        inner, number = term, Number(1.0)
        if isinstance(term, Multiply) and len(term.factors) == 2 and isinstance(term.factors[0], Number):
            number, inner = term.factors[0], term.factors[1]
        if isinstance(inner, Reduce) and inner.variable == "s" and inner.operation.linear and tables_of(inner.body) is not None:
            sums.setdefault(inner.operation, []).append(multiply(number, inner.body))
        else:
            (others if tables_of(term) is None else linear).append(term)
    parts = [add(*linear)] if linear else []
    parts += [Reduce(operation, "s", add(*bodies)) for operation, bodies in sums.items()]
    parts += others
    return parts[0] if len(parts) == 1 else Add(tuple(parts))


def tables_of(node: Formula) -> dict[Variables, float] | None:
    """Return the factors of the tables that a linear formula is a sum of; None for other formulas."""
    match node:
        case Table(variables=names):
            return {names: 1.0}
        case Multiply(factors=(Number(value=number), rest)):
            inner = tables_of(rest)
            return None if inner is None else {names: number * factor for names, factor in inner.items()}
        case Add(terms=terms):
            total: dict[Variables, float] = {}
            for term in terms:
                part = tables_of(term)
                if part is None:
                    return None
                for names, factor in part.items():
                    total[names] = total.get(names, 0.0) + factor
            return total
    return None


Counts = NDArray[np.int64]
Range = tuple[Value, Value]
ROUNDING = 32  # units of the fixed point: what rounded terms may differ from a convex function
LARGEST_RATIO = 1.5  # that is bounded: those of information to entropy are at most 1
RELATIVE = 1e-12  # the same for doubles


class GroupBounds:
    r"""Upper bounds for pairs of a target and a group of features, given the features selected for that target.

    For each pair, a feature of the group lists from ``least`` to ``most`` rows. With :math:`a` rows of a feature, of which
    :math:`x` are in common with a selected feature and none with the target, :math:`I(f; y)` increases with :math:`a`, and
    :math:`I(f; y \mid s)` with the rows inside and outside of :math:`s`, as a convex function: it is largest at an end of the
    range of :math:`x`. :math:`I(f; s)` is convex in :math:`x` and 0 at :math:`a c / N`. A bound is exact, to the bit, where a
    range is a single number.
    """

    def __init__(self, plan: Plan, fixed: FixedPoint, least: Counts, most: Counts, of_targets: Counts) -> None:
        assert fixed.values is not None
        self._fixed, self._values, self._n = fixed, fixed.values, fixed.total
        self._least, self._most, self._of_targets = (counts[:, np.newaxis] for counts in (least, most, of_targets))
        self._score = merged(lower(plan.score))
        self._first = self._score if plan.first is None else merged(lower(plan.first))
        self._accumulators: dict[int, tuple[Accumulator, Accumulator]] = {}
        self._bodies: list[Reduce] = []
        for same in reducers_over_selected([self._score]):
            low, high = (Accumulator(same[0].operation, len(least)) for _ in range(2))
            self._accumulators |= {id(node): (low, high) for node in same}
            self._bodies.append(same[0])
        self._n_selected = 0
        self._unbounded = np.zeros((len(least), 1), dtype=bool)
        self._tables: dict[Variables, Fixed] = {
            frozenset(): np.array([[fixed.top]]),
            frozenset("y"): self._two(self._of_targets),
        }
        self._ranges = {"y": self._of_target(), "h": self._entropy()}

    def bounds(self) -> NDArray[np.float64]:
        """Return the bound of every pair, in nats."""
        value = self._range(self._score if self._n_selected else self._first)[1]
        nats = value.real(self._fixed)
        if not value.exact:
            nats = nats + (2 * ROUNDING / self._fixed.divisor + RELATIVE * (1 + np.abs(nats)))
        return np.where(self._unbounded, np.inf, nats)[:, 0]

    def select(self, of_newest: Counts, with_target: Counts, most_common: Counts) -> None:
        """Add a feature to the selected ones of each target.

        For each pair: the rows that it lists, those in common with the target, and the most with a feature of the group.
        """
        c, m, x = (counts[:, np.newaxis] for counts in (of_newest, with_target, most_common))
        b, n = self._of_targets, self._n
        x = np.minimum(np.minimum(x, self._most), c - m)  # rows in common with s are outside of the target
        self._tables[frozenset("s")] = self._two(c)
        self._tables[frozenset("sy")] = self._term(m) + self._term(c - m) + self._term(b - m) + self._term(n - b - c + m)
        is_known = (self._least == self._most) & (x == 0)
        self._ranges |= {"s": self._of_selected(c, x, is_known), "ys": self._given_selected(c, m, x, is_known)}
        for node in self._bodies:
            for accumulator, value in zip(self._accumulators[id(node)], self._rounded(self._range(node.body)), strict=True):
                accumulator.fold(value.fixed(self._fixed))
        self._n_selected += 1

    def _term(self, counts: Counts) -> Fixed:
        return self._values[np.maximum(counts, 0)]

    def _two(self, counts: Counts) -> Fixed:
        return self._values[counts] + self._values[self._n - counts]

    def _of_target(self) -> tuple[Fixed, Fixed]:
        """Return the range of I(f; y)."""
        b = self._of_targets

        def at(a: Counts) -> Fixed:
            return self._term(a) + self._term(b) + self._term(self._n - a - b) - self._two(a) - self._two(b) + self._fixed.top

        slack = np.where((self._least == self._most) | (b == 0), 0, ROUNDING)
        return at(self._least) - slack, at(self._most) + slack

    def _entropy(self) -> tuple[Fixed, Fixed]:
        """Return the range of H(f)."""
        ends = [self._fixed.top - self._two(counts) for counts in (self._least, self._most)]
        # Entropy is largest at half of the rows, or at the end of the range that is nearest to it.
        middle = self._fixed.top - self._two(np.clip(self._n // 2, self._least, self._most))
        slack = np.where(self._least == self._most, 0, ROUNDING)
        return np.minimum(*ends) - slack, np.maximum(middle, np.maximum(*ends)) + slack

    def _of_selected(self, c: Counts, x: Counts, is_known: NDArray[np.bool_]) -> tuple[Fixed, Fixed]:
        """Return the range of I(f; s)."""
        n, least, most = self._n, self._least, self._most

        def at(a: Counts, common: Counts) -> Fixed:
            cells = self._term(common) + self._term(a - common) + self._term(c - common) + self._term(n - a - c + common)
            return cells - self._two(a) - self._two(c) + self._fixed.top

        # Convex in the common rows: the largest value is at an end, none or x of them; the smallest near independence.
        none = at(most, np.zeros_like(x))
        high = np.maximum(np.maximum(none, at(most, x)), at(np.maximum(least, x), x)) + ROUNDING
        expected = least * c // n
        nearest = np.minimum(at(least, np.minimum(expected, x)), at(least, np.minimum(expected + 1, x)))
        low = np.where((least == most) | (x <= expected), nearest, 0) - ROUNDING
        return np.where(is_known, none, low), np.where(is_known, none, high)

    def _given_selected(self, c: Counts, m: Counts, x: Counts, is_known: NDArray[np.bool_]) -> tuple[Fixed, Fixed]:
        """Return the range of I(f; y | s)."""
        n, a, b = self._n, self._most, self._of_targets
        constant = self._term(m) + self._term(b - m) + self._tables[frozenset("s")] - self._tables[frozenset("sy")]

        def at(common: Counts) -> Fixed:
            inside = self._term(c - m - common) - self._term(c - common)
            return inside + self._term(n - a - b - c + m + common) - self._term(n - a - c + common) + constant

        none = at(np.zeros_like(x))
        is_known = is_known | ((c == m) & (b == m)) | (b == 0)  # the same rows, or none: 0
        high = np.maximum(none, at(x)) + ROUNDING
        return np.where(is_known, none, -ROUNDING), np.where(is_known, none, high)

    def _range(self, node: Formula) -> Range:
        """Return the smallest and the largest value of a formula."""
        if (known := tables_of(node)) is not None:
            return self._linear(known)
        match node:
            case Number(value=number):
                constant = Value(np.array([[number]]), False)
                return constant, constant
            case Reduce(variable="s"):
                low, high = (one.value(self._n_selected, self._fixed) for one in self._accumulators[id(node)])
                return low, high
            case Reduce(variable="y", body=body):
                return self._rounded(self._range(body))
            case Add(terms=terms):
                lows, highs = zip(*map(self._range, terms), strict=True)
                return Value.total(list(lows), self._fixed), Value.total(list(highs), self._fixed)
            case Multiply(factors=factors):
                return reduce(lambda one, other: self._corners(Value.product, one, other), map(self._range, factors))
            case Divide(numerator=top, denominator=bottom):
                return self._ratio(self._range(top), self._range(bottom))
            case Apply(function=function, arguments=arguments):
                lows, highs = zip(*map(self._range, arguments), strict=True)
                return Value.apply(function, list(lows), self._fixed), Value.apply(function, list(highs), self._fixed)
        raise unknown_node(node)

    def _rounded(self, ends: Range) -> Range:
        """Return a range in fixed point, wider where doubles may have been rounded in another order."""
        low, high = ends
        slack = 0 if low.exact and high.exact else ROUNDING
        return Value(low.fixed(self._fixed) - slack, True), Value(high.fixed(self._fixed) + slack, True)

    def _corners(self, operation: Callable[[list[Value], FixedPoint], Value], one: Range, other: Range) -> Range:
        """Return the range of an operation that is monotone in each of two values."""
        low, *others = (operation([a, b], self._fixed) for a, b in product(one, other))
        high = low
        for value in others:
            low, high = Value.apply("minimum", [low, value], self._fixed), Value.apply("maximum", [high, value], self._fixed)
        return low, high

    def _ratio(self, top: Range, bottom: Range) -> Range:
        """Return the range of a ratio: 0 where the denominator is 0; pairs whose ratio may be very large have no bound."""
        low, high = (value.real(self._fixed) for value in bottom)
        is_zero, is_unknown = (low == 0) & (high == 0), (low <= 0) & (low < high)
        # A denominator that may be 0 is replaced by 1, and the pair gets no bound.
        safe: Range = Value(np.where(is_unknown, 1.0, low), False), Value(np.where(is_unknown, 1.0, high), False)
        values = self._corners(lambda pair, fixed: Value.ratio(pair[0], pair[1], fixed), top, safe)
        is_unknown = is_unknown | (np.maximum(-values[0].array, values[1].array) > LARGEST_RATIO)
        self._unbounded |= is_unknown
        low, high = (np.where(is_zero | is_unknown, 0.0, value.array) for value in values)
        return Value(low, False), Value(high, False)

    def _linear(self, known: dict[Variables, float]) -> Range:
        """Return the range of a sum of tables, as a sum of information terms and entropies whose ranges are known."""
        factors = {"".join(sorted(names)): factor for names, factor in known.items()}
        # Solve for the factors of I(f; y | s), I(f; s), I(f; y) and H(f), from the tables with f that each of them alone has.
        given = factors.get("fsy", 0.0)
        of_selected, of_target = factors.get("fs", 0.0) + given, factors.get("fy", 0.0)
        entropy = -(factors.get("f", 0.0) + of_target + of_selected)
        parts = {"ys": given, "s": of_selected, "y": of_target, "h": entropy}
        rest = {
            "": factors.get("", 0.0) - of_selected - of_target - entropy,
            "s": factors.get("s", 0.0) - given + of_selected,
            "y": factors.get("y", 0.0) + of_target,
            "sy": factors.get("sy", 0.0) + given,
        }
        constant = [(factor, self._tables[frozenset(names)]) for names, factor in rest.items() if factor]
        ends = []
        for end in (0, 1):
            # The lower end of a sum takes the upper end of what is subtracted.
            moving = [(factor, self._ranges[name][end if factor > 0 else 1 - end]) for name, factor in parts.items() if factor]
            ends.append(self._sum([*constant, *moving]))
        return ends[0], ends[1]

    def _sum(self, terms: list[tuple[float, Fixed]]) -> Value:
        if all(float(factor).is_integer() for factor, _ in terms):
            return Value(sum((int(factor) * table for factor, table in terms), np.zeros((1, 1), dtype=np.int64)), True)
        return Value(sum((factor * self._fixed.information(table) for factor, table in terms), np.zeros((1, 1))), False)
