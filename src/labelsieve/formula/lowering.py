"""Lowering: formulas are rewritten so that they need the fewest panels.

Information terms become sums of joint tables. A sum over the targets is moved inward past everything that does not depend on
them, and inside sums over the selected: what is left to add over the targets is then, for all linear formulas, a table, and
the core adds those while it counts. What cannot be moved is evaluated for every target.
"""

from collections.abc import Callable
from functools import partial

from labelsieve.counting.backends.known_targets import known_tables_suffice
from labelsieve.formula.nodes import (
    KNOWN,
    Add,
    Apply,
    Divide,
    Domain,
    Formula,
    Multiply,
    Number,
    Reduce,
    Size,
    Table,
    Term,
    Variables,
    unknown_node,
)
from labelsieve.formula.values import SUM

Keep = Callable[[Term], bool]


def no_term(term: Term) -> bool:
    """Keep no term: all become tables."""
    return False


def every_term(term: Term) -> bool:
    """Keep every term as it is, to be estimated from a whole table."""
    return True


def of_two_targets(term: Term) -> bool:
    """Keep the terms of two targets: tables of the rows in which one target is known do not add up to them."""
    return bool(term.variables & {"z", "pa"})


def lower(formula: Formula, *, keep: Keep = no_term, unknown: bool = False) -> Formula:
    """Rewrite a formula in joint tables, with sums moved inward; information terms that ``keep`` accepts stay as they are.

    With ``unknown`` cells of targets, all tables of a term are those of the rows in which its target is known.
    """
    inside = partial(lower, keep=keep, unknown=unknown)
    match formula:
        case Number() | Size() | Table():
            return formula
        case Term(tables=tables):
            if keep(formula):
                return formula
            if unknown and not known_tables_suffice(tables):
                return add(*(multiply(Number(sign), _of_known_rows(names)) for sign, names in tables))
            return add(*(multiply(Number(sign), Table(names)) for sign, names in tables))
        case Add(terms=terms):
            return add(*map(inside, terms))
        case Multiply(factors=factors):
            return multiply(*map(inside, factors))
        case Divide(numerator=top, denominator=bottom):
            return Divide(inside(top), inside(bottom))
        case Apply(function=function, arguments=arguments):
            return Apply(function, tuple(map(inside, arguments)))
        case Reduce(body=body):
            return push(formula, inside(body))
    raise unknown_node(formula)


def _of_known_rows(names: Variables) -> Formula:
    """Return a table of the rows in which ``y`` is known; a table without ``y`` as a sum of tables with it."""
    known = Table(names | {"y", KNOWN})
    return known if "y" in names else add(known, multiply(Number(-1.0), Table(names | {"y"})), Table(names))


def add(*terms: Formula) -> Formula:
    """Return a flat sum: terms that are sums themselves are merged."""
    flat: list[Formula] = []
    for term in terms:
        flat += term.terms if isinstance(term, Add) else (term,)
    return flat[0] if len(flat) == 1 else Add(tuple(flat))


def multiply(*factors: Formula) -> Formula:
    """Return a flat product with one number in front; a number times a sum is multiplied out."""
    flat: list[Formula] = []
    number = 1.0
    for factor in factors:
        for part in factor.factors if isinstance(factor, Multiply) else (factor,):
            if isinstance(part, Number):
                number *= part.value
            else:
                flat.append(part)
    if not flat:
        return Number(number)
    if len(flat) == 1 and isinstance(flat[0], Add) and number != 1.0:
        return add(*(multiply(Number(number), term) for term in flat[0].terms))
    if number != 1.0:
        flat.insert(0, Number(number))
    return flat[0] if len(flat) == 1 else Multiply(tuple(flat))


def push(reducer: Reduce, body: Formula, domain: Domain | None = None) -> Formula:
    """Apply a reducer to a lowered body, moved inward as far as possible.

    A number stays with a product, which it keeps within the fixed point: products are rounded before they are added.
    """
    domain = reducer.domain if domain is None else domain
    over_targets = reducer.variable == "y"
    if over_targets and reducer.operation.averages:
        return Divide(push(Reduce(SUM, "y", body, domain), body), Size(domain))
    whole = Reduce(reducer.operation, reducer.variable, body, domain, reducer.top)
    if not reducer.operation.linear:
        return whole
    if over_targets and "y" not in body.free:
        return multiply(body, Size(domain))
    match body:
        case Add(terms=terms) if over_targets:
            return add(*(push(reducer, term, domain) for term in terms))
        case Multiply(factors=factors):
            inside = [factor for factor in factors if reducer.bound & factor.free]
            outside = [factor for factor in factors if not reducer.bound & factor.free]
            if len(inside) > 1:
                inside = [*filter(_is_number, outside), *inside]
                outside = [factor for factor in outside if not _is_number(factor)]
            if outside and inside:
                return multiply(*outside, push(reducer, multiply(*inside), domain))
        case Divide(numerator=Multiply(), denominator=Number()):
            return whole
        case Divide(numerator=top, denominator=bottom) if not reducer.bound & bottom.free:
            return Divide(push(reducer, top, domain), bottom)
        case Reduce(variable="s" | "st" as selected) if over_targets and body.operation.linear:
            return Reduce(body.operation, selected, push(reducer, body.body, domain))
        case Reduce(variable="z", domain="all") if over_targets and body.operation == SUM:
            return Reduce(SUM, "z", push(reducer, body.body, "others"), "all", body.top)
    return whole


def _is_number(factor: Formula) -> bool:
    return isinstance(factor, Number)


def additive_components(formula: Formula) -> list[Formula]:
    """Split a formula into summands, each with its own reducers: relevance, redundancy and so on."""
    match formula:
        case Add(terms=terms):
            return [component for term in terms for component in additive_components(term)]
        case Multiply(factors=(Number(value=number), rest)):
            return [Multiply((Number(number), component)) for component in additive_components(rest)]
        case Reduce(variable="y" | "s", domain="all") if formula.operation.linear:
            components = additive_components(formula.body)
            inside = [formula.variable in component.free for component in components]
            if len(components) > 1 and (formula.variable == "y" or all(inside)):
                factor = Number(1.0) if formula.operation.averages else Size("all")
                return [
                    Reduce(formula.operation, formula.variable, component) if mentioned else Multiply((factor, component))
                    for component, mentioned in zip(components, inside, strict=True)
                ]
    return [formula]
