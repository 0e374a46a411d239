"""The commonest formulas, without walking a tree.

Sums of information are sums of tables with integer factors. Such a formula is recognized once, and then costs an addition for
each table; a panel is added to an accumulator in one pass.
"""

from dataclasses import dataclass
from typing import NamedTuple

from labelsieve.formula.nodes import Add, Formula, Multiply, Number, Variables
from labelsieve.formula.operations import SUM
from labelsieve.formula.table_sources import Context, Sources
from labelsieve.formula.values import SMALL_FACTOR, Fixed, together
from labelsieve.formula.variables import Reduce, Size, Table


class LinearTerm(NamedTuple):
    """An integer, times the number of targets if ``by_targets``, times a table, added over the targets if ``added``."""

    number: int
    by_targets: bool
    added: bool
    names: Variables

    def factor(self, n_targets: int) -> int:
        """The factor of the table. Where it is the number of targets, the table is smaller by as much: see FixedPoint."""
        return self.number * n_targets if self.by_targets else self.number


class PanelFactors(NamedTuple):
    """Factors of the tables (s), (f, s) and (f, s, y) added over the targets."""

    single: int = 0
    pair: int = 0
    triple: int = 0


_PANEL_TABLES = [frozenset("s"), frozenset("fs"), frozenset("fsy")]


@dataclass(frozen=True)
class Linear:
    """A formula as a sum of tables: those that depend on the selection, and those that do not."""

    moving: list[LinearTerm]
    static: list[LinearTerm]

    def panel_factors(self, n_targets: int) -> PanelFactors | None:
        """The moving terms as tables of one panel; None when they need others."""
        factors = [0, 0, 0]
        for term in self.moving:
            if term.names not in _PANEL_TABLES:
                return None
            factors[_PANEL_TABLES.index(term.names)] += term.factor(n_targets)
        return PanelFactors(*factors)


def linear_sum(terms: list[LinearTerm], sources: Sources, context: Context, total: Fixed | None = None) -> Fixed:
    """The sum of the tables and of ``total``, if it is given."""
    for term in terms:
        table = sources.total(term.names, context) if term.added else sources.table(term.names, context)
        factor = term.factor(context.last - context.first)
        scaled = table if factor == 1 else table * factor
        total = scaled if total is None else sum_of_two(total, scaled)
    assert total is not None
    return total


def sum_of_two(first: Fixed, second: Fixed) -> Fixed:
    """The sum of arrays, of which one may be a single number of the host."""
    first, second = together([first, second])
    return first + second


def linear(formula: Formula) -> Linear | None:
    """``formula`` as :class:`Linear`, or None when it is not a sum of tables; kept with the formula, for the next fit."""
    if "_linear" not in formula.__dict__:
        formula.__dict__["_linear"] = _recognize(formula)
    known: Linear | None = formula.__dict__["_linear"]
    return known


def _recognize(formula: Formula) -> Linear | None:
    found = Linear([], [])
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
                case Table() if table is None and "y" not in factor.variables:
                    table = factor
                case Reduce(variable="y", domain="all", body=Table() as body) if table is None and factor.operation == SUM:
                    table, added = body, True
                case _:
                    return None
        if table is None or not number.is_integer() or abs(number) >= SMALL_FACTOR or n_sizes > 1:
            return None
        terms = found.static if table.is_static else found.moving
        terms.append(LinearTerm(int(number), n_sizes == 1, added, table.variables))
    return found
