"""What a chosen feature tells that no other chosen one tells by itself.

Scores of criteria have scales of their own (those of JMI grow with every pick), so rules that compare scores along a selection
can use this instead, whatever the criterion.
"""

import numpy as np

from labelsieve.errors import one_of
from labelsieve.formula import I, Plan, f, min_s, s, sum_y, y
from labelsieve.stopping.base_rule import Numbers, SelectionPath

ADDED = Plan(sum_y(min_s(I(f, y | s))), sum_y(I(f, y)), name="added information")


class Curve:
    r"""The scores of the features chosen, or what they added, one after the other.

    What the k-th added is :math:`\sum_l \min_{j < k} I(X_k; Y_l \mid X_j)`, the first :math:`\sum_l I(X_1; Y_l)`, in nats.
    Cost: one panel of all features and targets for each pick.
    """

    def __init__(self, evidence: SelectionPath, of: str) -> None:
        one_of(of, "of", ("score", "added"))
        self._search, self._scorer = evidence.search, None
        if of == "added":
            ADDED.require_memory(evidence.workspace.X, evidence.workspace.Y)
            self._scorer = ADDED.bind(evidence.workspace, targets=evidence.targets)
        self._added: list[float] = []

    def first(self, n_selected: int) -> Numbers:
        """Of the first so many, which must be chosen already."""
        if self._scorer is None:
            return np.array(self._search.scores[:n_selected])
        for feature in self._search.selected[len(self._added) : n_selected]:
            if self._added:
                self._scorer.select(self._search.selected[len(self._added) - 1])
            self._added.append(float(self._scorer.scores()[feature]))
        return np.array(self._added[:n_selected])
