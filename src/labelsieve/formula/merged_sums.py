"""Formulas of a single target with one sum over the selected features, so that terms cancel out before they are bounded."""

from labelsieve.formula.lowering import add, multiply
from labelsieve.formula.nodes import Add, Apply, Divide, Formula, Multiply, Number, Variables
from labelsieve.formula.operations import SUM, Operation
from labelsieve.formula.variables import Reduce, Size, Table


def merged(formula: Formula) -> Formula:
    """The formula of a single target, with one linear sum, or mean, over the selected features: what cancels out is gone.

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
    """The factors of the tables that a linear formula is a sum of; None for other formulas."""
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
