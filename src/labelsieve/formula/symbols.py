r"""The symbols that formulas are written with.

====================  =============================================================================================
``f``                 the candidate feature
``s``                 runs over the selected features, inside ``sum_s``, ``mean_s``, ``min_s``, ``max_s``
``t``                 a selected feature other than ``s``; ordered pairs of them inside ``sum_st``, ``mean_st``
``S``                 all selected features as one variable
``y``, ``z``          run over the targets, inside ``sum_y``, ``mean_y``, ``min_y``, ``max_y``; ``z`` over the targets
                      other than ``y``, inside ``sum_z``, ``mean_z``, ``min_z``, ``max_z``; pairs inside ``sum_yz``
``pa``                runs over the parents of ``y``, inside ``sum_pa``, ``mean_pa``, ``min_pa``, ``max_pa``
``I(f, y)``           mutual information; ``I((f, s), y)`` of joint variables; ``I(f, y | s)`` with a condition
``H(f)``              entropy, also ``H((f, s))`` and ``H(f | s)``
``co(f, y, z)``       co-information, ``I(f, y) - I(f, y | z)``
====================  =============================================================================================

Formulas may contain ``+ - * /``, numbers, ``sqrt``, ``pos`` (the positive part), ``minimum`` and ``maximum``. A ratio is 0
where its denominator is 0. While nothing is selected, sums and means over ``s`` are 0 and ``S`` has no information.

>>> sum_y(I(f, y) - mean_s(I(f, s)))
sum_y(I(f, y) - mean_s(I(f, s)))
"""

from dataclasses import dataclass

from labelsieve.errors import is_whole
from labelsieve.formula.nodes import (
    ORDER,
    SELECTED,
    Apply,
    Domain,
    Expression,
    Formula,
    FormulaError,
    Reduce,
    Reduced,
    Term,
    Variables,
    as_formula,
)
from labelsieve.formula.values import MAX, MEAN, MIN, SUM, Operation

# fmt: off
__all__ = [
    "H", "I", "S", "co", "f", "max_pa", "max_s", "max_y", "max_z", "maximum", "mean_pa", "mean_s", "mean_st", "mean_y",
    "mean_z", "min_pa", "min_s", "min_y", "min_z", "minimum", "pa", "pos", "s", "sqrt", "sum_pa", "sum_s", "sum_st",
    "sum_y", "sum_yz", "sum_z", "t", "y", "z",
]
# fmt: on


@dataclass(frozen=True)
class Joint:
    """One variable, or several variables together as one."""

    variables: Variables
    written: str

    def __or__(self, condition: "Variable") -> "Conditioned":
        return Conditioned(self, joint(condition))

    def __ror__(self, variable: "Variable") -> "Conditioned":
        return Conditioned(joint(variable), self)

    def __repr__(self) -> str:
        return self.written


@dataclass(frozen=True)
class Conditioned:
    """A variable given a condition, as in ``f | s``."""

    variable: Joint
    condition: Joint

    def __repr__(self) -> str:
        return f"{self.variable} | {self.condition}"


Variable = Joint | tuple[Joint, ...]
f, s, t, S, y, z, pa = (Joint(frozenset({name}), name) for name in ORDER)


def joint(value: object) -> Joint:
    """Return a symbol, or a tuple of symbols, as one variable."""
    if isinstance(value, Joint):
        return value
    if isinstance(value, tuple) and value and all(isinstance(part, Joint) for part in value):
        variables: Variables = frozenset().union(*(part.variables for part in value))
        return Joint(variables, f"({', '.join(part.written for part in value)})")
    if isinstance(value, Conditioned):
        raise FormulaError(f"{value!r}: a condition goes last, as in I(f, y | s) or H(f | s).")
    raise FormulaError(f"{value!r} is not a variable; the variables are f, s, t, S, y, z, pa and tuples of them.")


def _last(value: object) -> tuple[Joint, Variables]:
    if isinstance(value, Conditioned):
        return value.variable, value.condition.variables
    return joint(value), frozenset()


def _term(written: str, *tables: tuple[float, Variables]) -> Formula:
    variables: Variables = frozenset().union(*(names for _, names in tables))
    term = Term(written, variables, tables)
    for _, names in tables:
        if len(names) > 3:
            raise FormulaError("A joint table may have three variables at the most (S counts as one).", term, term)
        if "S" in names and names & {"s", "t"}:
            raise FormulaError(f"{min(names & {'s', 't'})} is part of S: a term may use one of them.", term, term)
        if "t" in names and names & {"y", "z", "pa"}:
            raise FormulaError("Pairs of selected features cannot be combined with targets in one term.", term, term)
        if names & {"z", "pa"} and names & SELECTED:
            raise FormulaError("Pairs of targets cannot be combined with selected features in one term.", term, term)
        if {"z", "pa"} <= names:
            raise FormulaError("z and pa are both second targets: a term may use one of them.", term, term)
    return term


def I(a: Variable, b: Variable | Conditioned) -> Formula:
    r"""Mutual information, ``I(a, b)``, or conditional mutual information, ``I(a, b | c)``.

    .. math:: I(a; b \mid c) = H(a, c) + H(b, c) - H(c) - H(a, b, c)
    """
    first, (second, given) = joint(a), _last(b)
    one, two = first.variables | given, second.variables | given
    return _term(f"I({first}, {b!r})", (1.0, one | two), (-1.0, one), (-1.0, two), (1.0, given))


def H(a: Variable | Conditioned) -> Formula:
    """Entropy, ``H(a)``, or conditional entropy, ``H(a | c)``."""
    variable, given = _last(a)
    return _term(f"H({a!r})", (1.0, given), (-1.0, variable.variables | given))


def co(a: Variable, b: Variable, c: Variable) -> Formula:
    """Co-information ``I(a, b) - I(a, b | c)``: positive when ``c`` is redundant with ``a`` and ``b``, negative for synergy."""
    one, two, three = joint(a).variables, joint(b).variables, joint(c).variables
    plain = ((1.0, one | two), (-1.0, one), (-1.0, two), (1.0, frozenset[str]()))
    known = ((-1.0, one | two | three), (1.0, one | three), (1.0, two | three), (-1.0, three))
    return _term(f"co({joint(a)}, {joint(b)}, {joint(c)})", *plain, *known)


@dataclass(frozen=True)
class Reducer:
    """Reduces a formula by an operation over a variable: ``sum_s(...)`` is the sum over the selected features.

    Over nothing (no feature selected yet, no other target, no parent) the result is 0; a criterion with ``min_s`` or ``max_s``
    must define ``first``.
    """

    operation: Operation
    variable: Reduced

    def __call__(self, body: Expression) -> Formula:
        return self.over(body)

    def over(self, body: Expression, domain: Domain = "all", top: int | None = None) -> Formula:
        """Reduce over some of the targets: those of a domain, or the ``top`` ones of largest entropy."""
        formula = as_formula(body)
        reduced = Reduce(self.operation, self.variable, formula, domain, top)
        if not reduced.bound <= formula.free:
            missing = " and ".join(sorted(reduced.bound - formula.free))
            problem = f"{self!r} has nothing to run over: {missing} is not mentioned inside."
            raise FormulaError(problem, reduced, formula)
        return reduced

    def __repr__(self) -> str:
        return f"{self.operation.name}_{self.variable}"


sum_s, mean_s, min_s, max_s = (Reducer(operation, "s") for operation in (SUM, MEAN, MIN, MAX))
sum_st, mean_st = Reducer(SUM, "st"), Reducer(MEAN, "st")
sum_y, mean_y, min_y, max_y = (Reducer(operation, "y") for operation in (SUM, MEAN, MIN, MAX))
sum_z, mean_z, min_z, max_z = (Reducer(operation, "z") for operation in (SUM, MEAN, MIN, MAX))
sum_pa, mean_pa, min_pa, max_pa = (Reducer(operation, "pa") for operation in (SUM, MEAN, MIN, MAX))


def sum_yz(body: Expression, *, top: int | None = None) -> Formula:
    """Sum over pairs of different targets, each pair once; ``top`` limits them to the targets with the largest entropies."""
    if top is not None and (not is_whole(top) or top < 1):
        raise FormulaError(f"top must be a whole number from 1, not {top!r}.")
    return sum_z.over(sum_y.over(body, "after"), "all", None if top is None else int(top))


def sqrt(formula: Expression) -> Formula:
    """The square root of a formula."""
    return Apply("sqrt", (as_formula(formula),))


def pos(formula: Expression) -> Formula:
    """The positive part of a formula: the formula, or 0 where it is negative."""
    return Apply("pos", (as_formula(formula),))


def minimum(first: Expression, second: Expression) -> Formula:
    """The smaller of two formulas."""
    return Apply("minimum", (as_formula(first), as_formula(second)))


def maximum(first: Expression, second: Expression) -> Formula:
    """The larger of two formulas."""
    return Apply("maximum", (as_formula(first), as_formula(second)))
