"""The nodes that a formula is a tree of: numbers, arithmetic, information terms, joint tables and reducers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Literal, NamedTuple, get_args

from labelsieve.formula.values import SMALL_FACTOR, SUM, Operation

Variables = frozenset[str]
Function = Literal["pos", "sqrt", "minimum", "maximum"]


class FormulaError(ValueError):
    """A ``ValueError`` for a formula that cannot be computed: the message shows it and underlines the position."""

    def __init__(
        self, problem: str, formula: "Formula | None" = None, node: "Formula | None" = None, occurrence: int = 1
    ) -> None:
        super().__init__(problem if formula is None else f"{problem}\n{underlined(formula, node, occurrence)}")


class Formula:
    """A formula over the symbols of :mod:`labelsieve.formula`.

    Sums, products and ratios of formulas and numbers are formulas.

    Examples
    --------
    >>> from labelsieve.formula import I, f, mean_s, s, sum_y, y
    >>> sum_y(I(f, y)) - 0.5 * mean_s(I(f, s))
    sum_y(I(f, y)) - 0.5 * mean_s(I(f, s))
    """

    @property
    def children(self) -> "tuple[Formula, ...]":
        """The formulas directly below this one."""
        return ()

    @cached_property
    def free(self) -> Variables:
        """Variables that no reducer inside has bound."""
        return frozenset().union(*(child.free for child in self.children))

    @cached_property
    def is_static(self) -> bool:
        """True when nothing below depends on the selected features."""
        return all(child.is_static for child in self.children)

    @cached_property
    def is_reusable(self) -> bool:
        """True when the value for some targets stays the same from step to step, and is worth keeping."""
        return self.is_static and not self.free & {"s", "t", "z", "pa"}

    @cached_property
    def linear(self) -> "Linear | None":
        """The lowered formula as a sum of tables with whole factors; None when it is not such a sum."""
        return _as_sum_of_tables(self)

    def text(self) -> "list[str | Formula]":
        """The formula as it is written: text and children in turn."""
        raise NotImplementedError(f"{type(self).__name__} has no text")

    def __str__(self) -> str:
        return "".join(str(piece) for piece in self.text())

    def __repr__(self) -> str:
        return str(self)

    def walk(self) -> "Iterator[Formula]":
        """Yield the node itself and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def __add__(self, other: "Expression") -> "Formula":
        return Add((self, as_formula(other)))

    def __radd__(self, other: "Expression") -> "Formula":
        return Add((as_formula(other), self))

    def __sub__(self, other: "Expression") -> "Formula":
        return Add((self, negative(as_formula(other))))

    def __rsub__(self, other: "Expression") -> "Formula":
        return Add((as_formula(other), negative(self)))

    def __mul__(self, other: "Expression") -> "Formula":
        return self if as_formula(other) == Number(1.0) else Multiply((self, as_formula(other)))

    def __rmul__(self, other: "Expression") -> "Formula":
        return self if as_formula(other) == Number(1.0) else Multiply((as_formula(other), self))

    def __truediv__(self, other: "Expression") -> "Formula":
        return Divide(self, as_formula(other))

    def __rtruediv__(self, other: "Expression") -> "Formula":
        return Divide(as_formula(other), self)

    def __neg__(self) -> "Formula":
        return negative(self)

    def __bool__(self) -> bool:
        raise FormulaError("A formula has no truth value; use pos, minimum or maximum instead of comparing.", self)


Expression = Formula | float


def as_formula(value: object) -> Formula:
    """Return a formula as it is, and a number as a constant."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise FormulaError(f"{value!r} is not a finite number.")
        return Number(float(value))
    hint = "; a variable stands inside I(...), H(...) or co(...)" if hasattr(value, "variables") else ""
    raise FormulaError(f"{value!r} is neither a formula nor a number{hint}.")


def negative(formula: Formula) -> Formula:
    """Return the formula with the opposite sign."""
    return Number(-formula.value) if isinstance(formula, Number) else Multiply((Number(-1.0), formula))


@dataclass(frozen=True, repr=False)
class Number(Formula):
    """A constant number."""

    value: float

    def text(self) -> list[str | Formula]:
        return [str(int(self.value)) if self.value.is_integer() else repr(self.value)]


@dataclass(frozen=True, repr=False)
class Add(Formula):
    """A sum of formulas."""

    terms: tuple[Formula, ...]

    @property
    def children(self) -> tuple[Formula, ...]:
        return self.terms

    def text(self) -> list[str | Formula]:
        pieces: list[str | Formula] = []
        for term in self.terms:
            if isinstance(term, Number) and term.value < 0 and pieces:
                pieces += [" - ", Number(-term.value)]
                continue
            minus = isinstance(term, Multiply) and term.factors[0] == Number(-1.0)
            pieces += [" - " if minus else " + "] if pieces else ["-"] if minus else []
            if minus and isinstance(term, Multiply):
                rest = term.factors[1:]
                term = rest[0] if len(rest) == 1 else Multiply(rest)
                pieces += ["(", term, ")"] if isinstance(term, Add) else [term]
            else:
                pieces.append(term)
        return pieces


@dataclass(frozen=True, repr=False)
class Multiply(Formula):
    """A product of formulas."""

    factors: tuple[Formula, ...]

    @property
    def children(self) -> tuple[Formula, ...]:
        return self.factors

    def text(self) -> list[str | Formula]:
        if self.factors[0] == Number(-1.0):
            return ["-", *bracketed(self.factors[1])] if len(self.factors) == 2 else ["-", Multiply(self.factors[1:])]
        pieces: list[str | Formula] = []
        for factor in self.factors:
            pieces += [" * "] if pieces else []
            pieces += bracketed(factor)
        return pieces


@dataclass(frozen=True, repr=False)
class Divide(Formula):
    """A ratio of formulas; 0 where the denominator is 0."""

    numerator: Formula
    denominator: Formula

    @property
    def children(self) -> tuple[Formula, ...]:
        return self.numerator, self.denominator

    def text(self) -> list[str | Formula]:
        bottom = bracketed(self.denominator)
        if isinstance(self.denominator, Multiply | Divide):
            bottom = ["(", self.denominator, ")"]
        return [*bracketed(self.numerator), " / ", *bottom]


@dataclass(frozen=True, repr=False)
class Apply(Formula):
    """A function of one or two formulas: ``pos``, ``sqrt``, ``minimum`` or ``maximum``."""

    function: Function
    arguments: tuple[Formula, ...]

    def __post_init__(self) -> None:
        if self.function not in get_args(Function):
            raise FormulaError(f"{self.function!r} is not a function of formulas; there are {', '.join(get_args(Function))}.")

    @property
    def children(self) -> tuple[Formula, ...]:
        return self.arguments

    def text(self) -> list[str | Formula]:
        pieces: list[str | Formula] = [self.function, "("]
        for argument in self.arguments:
            pieces += [", ", argument] if len(pieces) > 2 else [argument]
        return [*pieces, ")"]


def bracketed(formula: Formula) -> list[str | Formula]:
    """Write a formula in brackets if it is a sum."""
    return ["(", formula, ")"] if isinstance(formula, Add) else [formula]


def underlined(formula: Formula, node: Formula | None, occurrence: int = 1) -> str:
    """Write the formula on a line, and carets under the first, second, ... place where a node is written."""
    line, start, stop, n_written = "", -1, -1, 0

    def write(current: Formula) -> None:
        nonlocal line, start, stop, n_written
        begin = len(line)
        for piece in current.text():
            if isinstance(piece, Formula):
                write(piece)
            else:
                line += piece
        if current is node:
            n_written += 1
            if n_written == occurrence:
                start, stop = begin, len(line)

    write(formula)
    return f"    {line}" if start < 0 else f"    {line}\n    {' ' * start}{'^' * (stop - start)}"


ORDER = ("f", "s", "t", "S", "y", "z", "pa")  # in which the variables of a table are listed
KNOWN = "K"
Reduced = Literal["s", "st", "y", "z", "pa"]
SELECTED = frozenset({"s", "t", "S"})  # what depends on the selection
Domain = Literal["all", "after", "others"]
_REDUCED, _DOMAINS = get_args(Reduced), get_args(Domain)


@dataclass(frozen=True, repr=False)
class Size(Formula):
    """The number of targets that a reducer runs over: all, those after ``z``, or those other than ``z``."""

    domain: Domain

    @cached_property
    def free(self) -> Variables:
        return frozenset() if self.domain == "all" else frozenset({"z"})

    def text(self) -> list[str | Formula]:
        return [{"all": "q", "after": "#(y > z)", "others": "(q - 1)"}[self.domain]]


class OfVariables(Formula):
    """A formula that depends on the values of some variables directly."""

    variables: Variables

    @cached_property
    def free(self) -> Variables:
        return self.variables

    @cached_property
    def is_static(self) -> bool:
        return not self.variables & SELECTED


@dataclass(frozen=True, repr=False)
class Table(OfVariables):
    """Sum of n log n over the cells of a joint table; entropy is that of the empty set minus this."""

    variables: Variables
    is_reusable = False  # the sources keep tables
    linear = None

    def text(self) -> list[str | Formula]:
        return [f"T({', '.join(sorted(self.variables, key=(*ORDER, KNOWN).index))})"]


@dataclass(frozen=True, repr=False)
class Term(OfVariables):
    """An information term, kept as it was written, and its factors of joint tables."""

    written: str
    variables: Variables
    tables: tuple[tuple[float, Variables], ...]

    def text(self) -> list[str | Formula]:
        return [self.written]


@dataclass(frozen=True, repr=False)
class Reduce(Formula):
    """A formula reduced over a variable by an operation."""

    operation: Operation
    variable: Reduced
    body: Formula
    domain: Domain = "all"
    top: int | None = None  # only the targets of largest entropy, for pairs

    def __post_init__(self) -> None:
        if not isinstance(self.operation, Operation):
            raise FormulaError(f"{self.operation!r} is not an operation that a reducer can have.")
        if self.variable not in _REDUCED:
            raise FormulaError(f"{self.variable!r} is not a variable that a reducer can run over: s, st, y, z or pa.")
        if self.domain not in _DOMAINS:
            raise FormulaError(f"{self.domain!r} is not a domain of a reducer: {', '.join(_DOMAINS)}.")

    @property
    def children(self) -> tuple[Formula, ...]:
        return (self.body,)

    @property
    def over_selected(self) -> bool:
        """True when the reducer runs over the selected features, or over pairs of them."""
        return self.variable in ("s", "st")

    @property
    def bound(self) -> Variables:
        """The variables that the reducer binds."""
        return frozenset({"s", "t"}) if self.variable == "st" else frozenset({self.variable})

    @cached_property
    def is_static(self) -> bool:
        return not self.over_selected and self.body.is_static

    @cached_property
    def free(self) -> Variables:
        free = self.body.free - self.bound
        if self.domain != "all":
            return free | {"z"}
        # Parents are those of y, and z is another target than y, whether or not the body mentions y.
        if self.variable == "pa" or (self.variable == "z" and not _counts_from_z(self.body)):
            return free | {"y"}
        return free

    def text(self) -> list[str | Formula]:
        name = f"{self.operation.name}_{self.variable}" + {"all": "", "after": ">z", "others": "!=z"}[self.domain]
        body = self.body
        if isinstance(body, Reduce) and body.domain == "after" and self.variable == "z":
            name, body = "sum_yz", body.body
        return [name, "(", body, ")" if self.top is None else f", top={self.top})"]


class LinearTerm(NamedTuple):
    """An integer, times the number of targets if ``by_targets``, times a table, added over the targets if ``added``.

    Where the number of targets is a factor, the table is smaller by as much: see
    :class:`~labelsieve.counting.fixed_point.FixedPoint`.
    """

    number: int
    by_targets: bool
    added: bool
    names: Variables


class Linear(NamedTuple):
    """A sum of tables: those that depend on the selection (``moving``), and those that do not (``static``).

    ``adds_targets`` is True when tables are added over the targets, or multiplied with their number.
    """

    moving: list[LinearTerm]
    static: list[LinearTerm]
    adds_targets: bool


def _as_sum_of_tables(formula: Formula) -> Linear | None:
    moving: list[LinearTerm] = []
    static: list[LinearTerm] = []
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
                case Table() if table is None:
                    table = factor
                case Reduce(variable="y", domain="all", body=Table() as body) if table is None and factor.operation == SUM:
                    table, added = body, True
                case _:
                    return None
        if table is None or not number.is_integer() or abs(number) >= SMALL_FACTOR or n_sizes > 1:
            return None
        terms = static if table.is_static else moving
        terms.append(LinearTerm(int(number), n_sizes == 1, added, table.variables))
    return Linear(moving, static, any(term.added or term.by_targets for term in [*moving, *static]))


NODES = (Number, Add, Multiply, Divide, Apply, Size, Table, Term, Reduce)


def unknown_node(node: Formula) -> FormulaError:
    """Return the error for a node that planning and evaluation do not know."""
    return FormulaError(f"{type(node).__name__} is not a node that formulas can have.")


def reducers_over_selected(formulas: list[Formula]) -> list[list[Reduce]]:
    """Find the reducers over ``s`` or pairs of selected features; equal ones are listed together, to share an accumulator."""
    found: dict[Reduce, list[Reduce]] = {}
    for formula in formulas:
        for node in formula.walk():
            if isinstance(node, Reduce) and node.over_selected:
                found.setdefault(node, []).append(node)
    return list(found.values())


def _counts_from_z(body: Formula) -> bool:
    """True when targets inside are counted from ``z``: pairs, which bind ``y`` themselves."""
    return any(isinstance(node, Reduce | Size) and node.domain != "all" for node in body.walk())
