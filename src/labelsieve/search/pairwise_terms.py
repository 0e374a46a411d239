"""Criteria that are objectives of sets: sums or means over the selected features of terms that are symmetric."""

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.workspace import Workspace
from labelsieve.errors import InputError
from labelsieve.formula.evaluation import Scorer
from labelsieve.formula.plan import Plan
from labelsieve.tables.codes import Codes

Real = NDArray[np.float64]
Kind = Literal["sum", "mean"]
REASON = (
    "needs a score that is a sum or a mean over the selected features of terms that are symmetric in the candidate and the "
    "selected feature"
)


class PairwiseTerms:
    r"""The score of a formula in its parts, :math:`J(f \mid S) = r(f) + w \sum_{s \in S} g(f, s)`.

    ``w`` is 1 for a sum and 1 / \|S\| for a mean. The columns :math:`g(\cdot, s)` are counted when a feature is first asked
    for, one panel each, and kept: a feature that leaves the selection is subtracted without counting anything.

    Parameters
    ----------
    plan : Plan
        Refused with a reason if its scores are not of this form.
    scorer : Scorer
        The plan, bound to the data.
    """

    def __init__(self, plan: Plan, scorer: Scorer) -> None:
        self.kind = pairwise_kind(plan)
        self._scorer, self._columns = scorer, dict[int, Real]()
        self.first: Real = scorer.scores().copy()  # while nothing is selected
        self.relevance = scorer.relevance()
        self.alone: Real = scorer.terms_alone()

    def column(self, feature: int) -> Real:
        """The terms of all features with this one; 0 for itself."""
        if feature not in self._columns:
            column = self._scorer.terms_given(feature)
            column[feature] = 0.0
            self._columns[feature] = column
        return self._columns[feature]

    def weight(self, n_selected: int) -> float:
        """The factor of the sum over this many selected features."""
        return 1.0 if self.kind == "sum" else 1.0 / max(1, n_selected)

    def sums(self, selected: list[int]) -> Real:
        """The terms of all features, added over the selected ones."""
        total = np.zeros(len(self.alone))
        for feature in selected:
            total += self.column(feature)
        return total

    def objective(self, selected: list[int]) -> float:
        r"""The objective of a set, :math:`\sum_{f \in S} r(f) + w \sum_{\{f, s\} \subset S} g(f, s)`, w for \|S\| - 1 features.

        Adding the feature of the best score increases it most, whatever the set.
        """
        if len(selected) == 1:
            return float(self.first[selected[0]])
        pairs = sum(float(self.column(second)[first]) for at, second in enumerate(selected) for first in selected[:at])
        return float(self.alone[selected].sum()) + self.weight(len(selected) - 1) * pairs


def pairwise_kind(plan: Plan) -> Kind:
    """Whether scores are sums or means of symmetric terms; other formulas are refused.

    It is decided on a small random table: scores given two features must be those of single ones, added or averaged.

    >>> from labelsieve.registry import make_criterion
    >>> pairwise_kind(make_criterion("mrmr").plan), pairwise_kind(make_criterion("jmi").plan)
    ('mean', 'sum')
    """
    if plan.is_ranking:
        raise InputError(f"{plan.name}: scores do not depend on the selection, so the best set is the first of the ranking.")
    if "S" in plan.needs:
        raise InputError(f"{plan.name}: floating and swap search {REASON}; this one is given all of them jointly.")
    workspace = _probe()
    scorer = plan.bind(workspace)
    alone = scorer.terms_alone()
    given = [scorer.terms_given(feature) for feature in (0, 1)]
    for feature in (0, 1):
        scorer.select(feature)
    both = scorer.scores()[2:] - alone[2:]
    if not np.isclose(given[0][1], given[1][0], rtol=1e-6, atol=1e-9):
        raise InputError(f"{plan.name}: floating and swap search {REASON}; its terms are not symmetric.")
    total = given[0][2:] + given[1][2:]
    kinds: dict[Kind, Real] = {"sum": total, "mean": total / 2}
    for kind, expected in kinds.items():
        if np.allclose(both, expected, rtol=1e-6, atol=1e-9):
            return kind
    raise InputError(f"{plan.name}: floating and swap search {REASON}; it is neither.")


@cache
def _probe() -> Workspace:
    """A small table with dependent features and targets."""
    rng = np.random.default_rng(0)
    features = rng.integers(0, 3, size=(90, 5))
    features[:, 1] = np.where(rng.random(90) < 0.4, features[:, 0], features[:, 1])
    features[:, 3] = np.where(rng.random(90) < 0.4, features[:, 1], features[:, 3])
    targets = np.column_stack([features[:, 0] + features[:, 2] > 2, features[:, 1] > 0, rng.random(90) < 0.3])
    return Workspace(Codes.from_values(features), Codes.from_values(targets.astype(int)))
