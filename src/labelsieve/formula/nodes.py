"""Formulas as trees: what they are made of, how they read, and which variables they leave open."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal

Variables = frozenset[str]
ORDER = "fsSyzp"  # how the variables of a term are listed; p stands for a parent


class FormulaError(ValueError):
    """A formula that cannot be computed: shows it and points to the place."""

    def __init__(
        self, problem: str, formula: "Formula | None" = None, place: "Formula | None" = None, occurrence: int = 1
    ) -> None:
        super().__init__(problem if formula is None else f"{problem}\n{pointing(formula, place, occurrence)}")


class Formula:
    """A node of a formula. Arithmetic on formulas makes formulas."""

    @property
    def parts(self) -> "tuple[Formula, ...]":
        """The formulas that this one is made of."""
        return ()

    @cached_property
    def free(self) -> Variables:
        """Variables that no reducer inside has bound."""
        return frozenset().union(*(part.free for part in self.parts))

    def text(self) -> "list[str | Formula]":
        """The formula as it is written: text and parts in turn."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "".join(str(piece) for piece in self.text())

    def __repr__(self) -> str:
        return str(self)

    def walk(self) -> "Iterator[Formula]":
        """The node itself and all below it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def __add__(self, other: Any) -> "Formula":
        return Add((self, as_formula(other)))

    def __radd__(self, other: Any) -> "Formula":
        return Add((as_formula(other), self))

    def __sub__(self, other: Any) -> "Formula":
        return Add((self, negative(as_formula(other))))

    def __rsub__(self, other: Any) -> "Formula":
        return Add((as_formula(other), negative(self)))

    def __mul__(self, other: Any) -> "Formula":
        return self if as_formula(other) == Number(1.0) else Multiply((self, as_formula(other)))

    def __rmul__(self, other: Any) -> "Formula":
        return self if as_formula(other) == Number(1.0) else Multiply((as_formula(other), self))

    def __truediv__(self, other: Any) -> "Formula":
        return Divide(self, as_formula(other))

    def __rtruediv__(self, other: Any) -> "Formula":
        return Divide(as_formula(other), self)

    def __neg__(self) -> "Formula":
        return negative(self)

    def __bool__(self) -> bool:
        raise FormulaError("A formula has no truth value; use pos, minimum or maximum instead of comparing.", self)


def as_formula(value: Any) -> Formula:
    """Numbers become constants."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise FormulaError(f"{value!r} is not a finite number.")
        return Number(float(value))
    hint = "; a variable stands inside I(...), H(...) or co(...)" if hasattr(value, "variables") else ""
    raise FormulaError(f"{value!r} is neither a formula nor a number{hint}.")


def negative(formula: Formula) -> Formula:
    """The formula with its sign turned."""
    return Number(-formula.value) if isinstance(formula, Number) else Multiply((Number(-1.0), formula))


@dataclass(frozen=True, repr=False)
class Number(Formula):
    """A constant."""

    value: float

    def text(self) -> list[str | Formula]:
        return [str(int(self.value)) if self.value.is_integer() else repr(self.value)]


@dataclass(frozen=True, repr=False)
class Size(Formula):
    """How many targets a reducer runs over: all, those after ``z``, or those other than ``z``."""

    domain: "Domain"

    @cached_property
    def free(self) -> Variables:
        return frozenset() if self.domain == "all" else frozenset("z")

    def text(self) -> list[str | Formula]:
        return [{"all": "q", "after": "#(y > z)", "others": "(q - 1)"}[self.domain]]


@dataclass(frozen=True, repr=False)
class Table(Formula):
    """Sum of n log n over the cells of a joint table; entropy is that of the empty set minus this."""

    variables: Variables

    @cached_property
    def free(self) -> Variables:
        return self.variables

    def text(self) -> list[str | Formula]:
        return [f"T({', '.join(sorted(self.variables, key=ORDER.index))})"]


@dataclass(frozen=True, repr=False)
class Term(Formula):
    """An information term, kept as it was written, and what it is in joint tables."""

    written: str
    variables: Variables
    tables: tuple[tuple[float, Variables], ...]

    @cached_property
    def free(self) -> Variables:
        return self.variables

    def text(self) -> list[str | Formula]:
        return [self.written]


@dataclass(frozen=True, repr=False)
class Add(Formula):
    """A sum."""

    terms: tuple[Formula, ...]

    @property
    def parts(self) -> tuple[Formula, ...]:
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
    """A product."""

    factors: tuple[Formula, ...]

    @property
    def parts(self) -> tuple[Formula, ...]:
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
    """A ratio; 0 where the denominator is 0."""

    numerator: Formula
    denominator: Formula

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self.numerator, self.denominator

    def text(self) -> list[str | Formula]:
        bottom = bracketed(self.denominator)
        if isinstance(self.denominator, Multiply | Divide):
            bottom = ["(", self.denominator, ")"]
        return [*bracketed(self.numerator), " / ", *bottom]


@dataclass(frozen=True, repr=False)
class Apply(Formula):
    """A function of one or two formulas."""

    function: Literal["pos", "sqrt", "minimum", "maximum"]
    arguments: tuple[Formula, ...]

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self.arguments

    def text(self) -> list[str | Formula]:
        pieces: list[str | Formula] = [self.function, "("]
        for argument in self.arguments:
            pieces += [", ", argument] if len(pieces) > 2 else [argument]
        return [*pieces, ")"]


Operation = Literal["sum", "mean", "min", "max"]
Domain = Literal["all", "after", "others"]


@dataclass(frozen=True, repr=False)
class Reduce(Formula):
    """A formula added up, averaged, or its least or largest value, over a variable."""

    operation: Operation
    variable: str
    body: Formula
    domain: Domain = "all"
    top: int | None = None  # only the targets of largest entropy, for pairs

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.body,)

    @cached_property
    def free(self) -> Variables:
        free = self.body.free - {self.variable}
        if self.domain != "all":
            return free | {"z"}
        # Parents are those of y, and z is another target than y, whether or not the body mentions y.
        if self.variable == "p" or (self.variable == "z" and not _knows_z(self.body)):
            return free | {"y"}
        return free

    def text(self) -> list[str | Formula]:
        shown = "pa" if self.variable == "p" else self.variable
        name = f"{self.operation}_{shown}" + {"all": "", "after": ">z", "others": "!=z"}[self.domain]
        body = self.body
        if isinstance(body, Reduce) and body.domain == "after" and self.variable == "z":
            name, body = "sum_yz", body.body
        return [name, "(", body, ")" if self.top is None else f", top={self.top})"]


def _knows_z(body: Formula) -> bool:
    """True when targets inside are counted from ``z``: pairs, which bind ``y`` themselves."""
    return any(isinstance(node, Reduce | Size) and node.domain != "all" for node in body.walk())


def bracketed(formula: Formula) -> list[str | Formula]:
    """The formula in brackets if it is a sum."""
    return ["(", formula, ")"] if isinstance(formula, Add) else [formula]


def pointing(formula: Formula, place: Formula | None, occurrence: int = 1) -> str:
    """The formula on a line of its own, with the place underlined: the first, second, ... time that it is written."""
    line, start, stop, written = "", -1, -1, 0

    def write(node: Formula) -> None:
        nonlocal line, start, stop, written
        begin = len(line)
        for piece in node.text():
            if isinstance(piece, Formula):
                write(piece)
            else:
                line += piece
        if node is place:
            written += 1
            if written == occurrence:
                start, stop = begin, len(line)

    write(formula)
    return f"    {line}" if start < 0 else f"    {line}\n    {' ' * start}{'^' * (stop - start)}"
