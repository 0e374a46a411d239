"""Where a program's information terms come from when each is estimated from a whole table of its own."""

from typing import TYPE_CHECKING

import numpy as np

from labelsieve.counting.shrinkage import Real, table_information
from labelsieve.formula.nodes import Formula, Term
from labelsieve.formula.table_sources import GIVEN, Context, Fixed, Needs, Sources

if TYPE_CHECKING:
    from labelsieve.counting.workspace import Workspace


class TermSources(Sources):
    """Terms of features and targets in nats, two-dimensional: features by targets. There are no sums of n log n here."""

    def __init__(self, workspace: "Workspace", formulas: list[Formula]) -> None:
        joined = any(isinstance(node, Term) and "S" in node.variables for formula in formulas for node in formula.walk())
        super().__init__(workspace, {"S": Needs()} if joined else {})

    def term(self, term: Term, context: Context) -> Real:
        """An information term, all entropies of it from one table of its variables."""
        given = next((name for name in GIVEN if name in term.variables), None)
        letters = {"f": "x", "y": "y", given: "z"}
        # Tables have the sign of n log n, which is that of minus the entropy.
        terms = [(-sign, "".join(sorted(letters[name] for name in names))) for sign, names in term.tables if names]
        condition = None if given is None else self._condition(given, context)
        shape = self.X.n_columns, context.last - context.first
        return table_information(self.backend, terms, condition, shape, targets=context.targets)

    def entropies_of_targets(self) -> Fixed:
        """Fixed-point entropies, to rank targets by."""
        entropies = table_information(self.backend, [(1.0, "y")], None, (1, self.Y.n_columns))[0]
        scaled: Fixed = np.floor(entropies * (self.fixed.scale * self.fixed.total) + 0.5).astype(np.int64)
        return scaled
