"""The commonest formulas, without walking a tree.

Sums of information are sums of tables with whole factors. Such a formula is recognized once, and then costs an addition for
each table; of what a selected feature adds to an account, the core adds the parts of a panel in one pass.
"""

from dataclasses import dataclass
from typing import NamedTuple

from labelsieve.formula.nodes import Add, Formula, Multiply, Number, Reduce, Size, Table, Variables
from labelsieve.formula.queries import is_static
from labelsieve.formula.table_sources import Context, Fixed, Sources
from labelsieve.formula.values import SMALL_FACTOR


class LinearTerm(NamedTuple):
    """A whole number, times the number of targets if ``by_targets``, times a table, added over the targets if ``added``."""

    number: int
    by_targets: bool
    added: bool
    names: Variables

    def factor(self, n_targets: int) -> int:
        """What multiplies the table. Where it is the number of targets, the table is smaller by as much: see FixedPoint."""
        return self.number * n_targets if self.by_targets else self.number


class PanelFactors(NamedTuple):
    """How often the tables (s), (f, s) and (f, s, y) added over the targets count."""

    single: int = 0
    pair: int = 0
    triple: int = 0


_PARTS_OF_A_PANEL = [frozenset("s"), frozenset("fs"), frozenset("fsy")]


@dataclass(frozen=True)
class Linear:
    """A formula as a sum of tables: those that depend on what is selected, and those that do not."""

    moving: list[LinearTerm]
    static: list[LinearTerm]

    def panel_factors(self, n_targets: int) -> PanelFactors | None:
        """The moving terms as parts of one panel, where they are nothing else."""
        factors = [0, 0, 0]
        for term in self.moving:
            if term.names not in _PARTS_OF_A_PANEL:
                return None
            factors[_PARTS_OF_A_PANEL.index(term.names)] += term.factor(n_targets)
        return PanelFactors(*factors)


def linear_sum(terms: list[LinearTerm], sources: Sources, context: Context, total: Fixed | None = None) -> Fixed:
    """The sum of the tables and of ``total``, if there is one."""
    for term in terms:
        table = sources.total(term.names, context) if term.added else sources.table(term.names, context)
        factor = term.factor(context.last - context.first)
        scaled = table if factor == 1 else table * factor
        total = scaled if total is None else total + scaled
    assert total is not None
    return total


def linear(formula: Formula) -> Linear | None:
    """``formula`` as :class:`Linear`, or None when it is more than that; found out once for a formula."""
    if "_linear" not in formula.__dict__:
        formula.__dict__["_linear"] = _linear(formula)
    known: Linear | None = formula.__dict__["_linear"]
    return known


def _linear(formula: Formula) -> Linear | None:
    found = Linear([], [])
    for summand in formula.terms if isinstance(formula, Add) else (formula,):
        factor, n_sizes = 1.0, 0
        table: Table | None = None
        added = False
        for part in summand.factors if isinstance(summand, Multiply) else (summand,):
            if isinstance(part, Number):
                factor *= part.value
            elif isinstance(part, Size) and part.domain == "all":
                n_sizes += 1
            elif table is None and isinstance(part, Table) and "y" not in part.variables:
                table = part
            elif table is None and _is_added_table(part):
                added, table = True, part.body  # type: ignore[attr-defined]
            else:
                return None
        if table is None or not factor.is_integer() or abs(factor) >= SMALL_FACTOR or n_sizes > 1:
            return None
        terms = found.static if is_static(table) else found.moving
        terms.append(LinearTerm(int(factor), n_sizes == 1, added, table.variables))
    return found


def _is_added_table(part: Formula) -> bool:
    over_all = isinstance(part, Reduce) and part.operation == "sum" and part.variable == "y" and part.domain == "all"
    return over_all and isinstance(part.body, Table)  # type: ignore[attr-defined]
