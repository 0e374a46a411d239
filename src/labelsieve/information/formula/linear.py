"""The commonest accounts, without walking a tree at every step.

What a selected feature adds is, for most criteria, a sum of a few tables with whole factors plus something that never
changes. Such a sum is found once; then the core adds the parts of a panel to the account in one pass.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from labelsieve.information.formula.lower import add
from labelsieve.information.formula.nodes import Add, Formula, Multiply, Number, Reduce, Size, Table
from labelsieve.information.formula.program_tools import is_static
from labelsieve.information.formula.sources import Context, Fixed, Sources
from labelsieve.information.formula.values import SMALL_FACTOR


class PanelFactors(NamedTuple):
    """How often the tables (s), (f, s) and (f, s, y) added over the targets count."""

    single: int = 0
    pair: int = 0
    triple: int = 0


@dataclass
class LinearBody:
    """A body of an account as whole numbers times tables, and the part that does not depend on ``s``.

    ``terms`` are (factor, is added over the targets, variables of the table).
    """

    terms: list[tuple[int, bool, frozenset[str]]]
    static: Formula | None

    @cached_property
    def panel_factors(self) -> PanelFactors | None:
        """The terms as parts of one panel, where they are nothing else."""
        kinds = {frozenset("s"): 0, frozenset("fs"): 1, frozenset("fsy"): 2}
        factors = [0, 0, 0]
        for factor, _, names in self.terms:
            if names not in kinds:
                return None
            factors[kinds[names]] += factor
        return PanelFactors(*factors)

    def value(self, sources: Sources, context: Context, static: Fixed | None) -> Fixed:
        """The body for the newest feature, table by table, with the value of its static part."""
        total = static
        for factor, added, names in self.terms:
            table = sources.total(names, context) if added else sources.table(names, context)
            scaled = table if factor == 1 else table * factor
            total = scaled if total is None else total + scaled
        assert total is not None
        return total


def linear_body(body: Formula, n_targets: int) -> LinearBody | None:
    """``body`` as a :class:`LinearBody`, or None when it is more than that."""
    terms: list[tuple[int, bool, frozenset[str]]] = []
    static: list[Formula] = []
    for term in body.terms if isinstance(body, Add) else (body,):
        factor, n_times = 1.0, 1
        table: Table | None = None
        added = False
        for part in term.factors if isinstance(term, Multiply) else (term,):
            if isinstance(part, Number):
                factor *= part.value
            elif isinstance(part, Size):
                n_times *= n_targets  # what it multiplies is smaller by as much: see FixedPoint
            elif table is None and isinstance(part, Table) and "y" not in part.variables:
                table = part
            elif table is None and _is_added_table(part):
                added, table = True, part.body  # type: ignore[attr-defined]
            else:
                return None
        if table is None or not factor.is_integer() or abs(factor) >= SMALL_FACTOR:
            return None
        if is_static(table):
            static.append(term)
        else:
            terms.append((int(factor) * n_times, added, table.variables))
    return LinearBody(terms, add(*static) if static else None)


def _is_added_table(part: Formula) -> bool:
    return isinstance(part, Reduce) and part.operation == "sum" and part.variable == "y" and isinstance(part.body, Table)
