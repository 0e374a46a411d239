"""Nodes that mention variables: tables, information terms, and the reducers that bind a variable.

``f`` is the candidate, ``s`` a selected feature, ``t`` another one, ``S`` all of them jointly, ``y`` a target, ``z`` another
target, ``pa`` a parent of ``y``. ``K`` marks a table of the rows in which ``y`` is known.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from labelsieve.formula.nodes import Add, Apply, Divide, Formula, FormulaError, Multiply, Number, Variables
from labelsieve.formula.operations import Operation

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
    """A formula that depends on the values of some variables."""

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
        """Whether it runs over the selected features, or over pairs of them."""
        return self.variable in ("s", "st")

    @property
    def bound(self) -> Variables:
        """The variables that it binds."""
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


NODES = (Number, Add, Multiply, Divide, Apply, Size, Table, Term, Reduce)


def unknown_node(node: Formula) -> FormulaError:
    """The error for a node that planning and evaluation do not know."""
    return FormulaError(f"{type(node).__name__} is not a node that formulas can have.")


def reducers_over_selected(formulas: list[Formula]) -> list[list[Reduce]]:
    """The reducers over ``s`` or pairs, equal ones together: they share an accumulator."""
    found: dict[Reduce, list[Reduce]] = {}
    for formula in formulas:
        for node in formula.walk():
            if isinstance(node, Reduce) and node.over_selected:
                found.setdefault(node, []).append(node)
    return list(found.values())


def _counts_from_z(body: Formula) -> bool:
    """True when targets inside are counted from ``z``: pairs, which bind ``y`` themselves."""
    return any(isinstance(node, Reduce | Size) and node.domain != "all" for node in body.walk())
