"""Evaluating a formula for listed pairs of a feature and a target, each target with a separate selection.

The rows of an array are pairs instead of features. All tables are computed from the numbers of rows that two or three sparse
columns of two levels have in common, so the time does not depend on the numbers of features and targets.
"""

from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.labelwise_evaluation import LabelwiseProgram
from labelsieve.formula.nodes import Variables
from labelsieve.formula.plan import Plan
from labelsieve.formula.scorer import BaseScorer
from labelsieve.formula.table_sources import Context, Sources
from labelsieve.formula.values import Fixed

Counts = NDArray[np.int64]


def can_list(plan: Plan) -> bool:
    """True when the tables of a pair, alone and with a selected feature, are all that a formula needs."""
    return plan.needs.keys() <= {None, "s"} and not plan.keeps_terms


class PairScorer(BaseScorer):
    """Scores of pairs of a feature and a target, given the features selected for that target.

    Parameters
    ----------
    plan : Plan
        See :func:`can_list`.
    fixed : FixedPoint
        Of rows without weights.
    of_features, of_targets, common : ndarray of int
        For each pair: the rows that the feature lists, those that the target lists, and those that both list.
    """

    def __init__(self, plan: Plan, fixed: FixedPoint, of_features: Counts, of_targets: Counts, common: Counts) -> None:
        self._pairs = PairSources(fixed, of_features, of_targets, common)
        self._labelwise = LabelwiseProgram(plan.formulas, self._pairs, over_selected=plan.over_selected)
        super().__init__(plan, self._labelwise)

    def scores(self) -> NDArray[np.float64]:
        """Score of every pair, in nats."""
        return np.broadcast_to(self._evaluate()[2][:, 0], len(self._pairs.common))

    def select(self, of_newest: Counts, with_feature: Counts, with_target: Counts, with_both: Counts) -> None:
        """Add a feature to the selected ones of each target; for each pair: the rows that it lists, and those in common."""
        self._pairs.select_counts(of_newest, with_feature, with_target, with_both)
        self._labelwise.fold()


class PairSources(Sources):
    """Tables of pairs of a feature and a target, and of both with the newest selected feature of the target."""

    def __init__(self, fixed: FixedPoint, of_features: Counts, of_targets: Counts, common: Counts) -> None:
        assert fixed.values is not None
        self.X, self.Y = SimpleNamespace(n_columns=len(common)), SimpleNamespace(n_columns=1)  # type: ignore[assignment]
        self.fixed, self.xp, self.target_weights, self._values = fixed, np, None, fixed.values
        self.common = common
        self._listed = {"f": of_features, "y": of_targets}
        self._both = {frozenset("fy"): common}
        self._all = common  # of the feature, the target and the newest feature
        self._tables: dict[Variables, Fixed] = {}

    def select_counts(self, of_newest: Counts, with_feature: Counts, with_target: Counts, with_both: Counts) -> None:
        """The newest feature of each target."""
        self._listed["s"], self._all = of_newest, with_both
        self._both |= {frozenset("fs"): with_feature, frozenset("sy"): with_target}
        self._tables = {names: table for names, table in self._tables.items() if "s" not in names}

    def table(self, names: Variables, context: Context) -> Fixed:
        """Sums over the cells of a joint table, one row for each pair."""
        if names not in self._tables:
            self._tables[names] = self._sum(names)[:, np.newaxis]
        return self._tables[names]

    def _sum(self, names: Variables) -> Fixed:
        value, n = self._values, self.fixed.total
        listed = [self._listed[name] for name in sorted(names)]
        if not names:
            return np.array([self.fixed.top])
        if len(names) == 1:
            return value[listed[0]] + value[n - listed[0]]
        if len(names) == 2:
            (a, b), both = listed, self._both[names]
            four: Fixed = value[both] + value[a - both] + value[b - both] + value[n - a - b + both]
            return four
        (f, s, y), fs, fy, sy, every = listed, *(self._both[frozenset(pair)] for pair in ("fs", "fy", "sy")), self._all
        two = value[fs - every] + value[fy - every] + value[sy - every]
        one = value[f - fs - fy + every] + value[s - fs - sy + every] + value[y - fy - sy + every]
        eight: Fixed = value[every] + two + one + value[n - f - s - y + fs + fy + sy - every]
        return eight
