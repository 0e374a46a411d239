"""Scores for many targets at once, each with a selection of its own.

A reducer over a single target is its body, and a single target has no other one to be paired with. So the plan for all targets
serves each of them: reducers over the targets keep their columns separate, pairs of targets are empty. Targets that select the
same feature share its panel.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.workspace import Workspace
from labelsieve.formula.evaluation import Evaluator
from labelsieve.formula.nodes import Domain, Reduce, Variables
from labelsieve.formula.plan import Plan
from labelsieve.formula.sources import Context, Needs, Sources
from labelsieve.formula.values import Fixed, Value

WIDEST_GAP = 24  # unneeded targets in a panel before another panel is cheaper; see benchmarks/networks.py


def can_share(plan: Plan) -> bool:
    """True when targets can be scored together: the formula uses no joint, and no pairs, of the selected features."""
    return not plan.needs.keys() & {"S", "t"}


class LabelwiseScorer(Evaluator):
    """Scores all features for each of the ``targets``, given the features selected for that target.

    The formula must not mention ``S`` (:func:`can_share`). In its tables, ``s`` is a different feature for every target:
    :class:`LabelwiseSources`, or others. Memory: 8 bytes for each feature, target and accumulator, and as much for each kind of
    table.
    """

    targets_are_separate = True

    def scores(self) -> NDArray[np.float64]:
        """Return the score of every feature for every target, ``(d, t)``, in nats."""
        return np.broadcast_to(self._evaluate(), (self.sources.n_features, self.base.last - self.base.first))

    def select(self, newest: Any) -> None:
        """Add a feature to the selected ones of each target, described as the tables need it."""
        self.sources.select(newest)
        context = self.base._replace(s=0)  # the tables know the feature of each target
        for fold, accumulator in self._folds:
            accumulator.fold(self.value(fold.nodes[0].body, context).fixed(self.sources.fixed))
        self.n_selected += 1

    def _ranges(self, domain: Domain, context: Context) -> list[tuple[int, int]]:
        return [(0, 1)] if domain == "all" else []  # each target is the only one

    def _over_targets(self, node: Reduce, context: Context) -> Value:
        return Value(self.value(node.body, context).fixed(self.sources.fixed), True)

    def _over_pairs(self, node: Reduce, context: Context) -> Value:
        return Value(np.zeros((1, 1), dtype=np.int64), True)


class LabelwiseSources(Sources):
    """Tables in which ``s`` is a different feature for every target.

    Cost of a step: a panel for each feature that was just selected for some target, with about as many targets as selected it.
    """

    def __init__(self, workspace: Workspace, wanted: dict[str | None, Needs], targets: slice) -> None:
        super().__init__(workspace, wanted)
        first, last, _ = targets.indices(self.n_targets)
        self._base = Context(first, last)
        self._tables: dict[Variables, Fixed] = {}

    def select(self, newest: NDArray[np.intp]) -> None:
        """Count the panels conditioned on the newest feature of each target."""
        need = self._wanted.get("s")
        if need is None:
            return
        features, first, shape = newest, self._base.first, (self.n_features, self._base.last - self._base.first)
        with_targets = need.total or need.full
        pair = self._tables.setdefault(frozenset("fs"), np.empty(shape, dtype=np.int64))
        triple = self._tables.setdefault(frozenset("fsy"), np.empty(shape if with_targets else 0, dtype=np.int64))
        wanted = []  # a feature, and the columns of neighboring targets that have just selected it
        for feature in map(int, np.unique(features)):
            same = np.flatnonzero(features == feature)
            wanted += [(feature, columns) for columns in (_neighbors(same) if with_targets else [same])]
        requests = [
            (feature, slice(first + int(columns[0]), first + int(columns[-1]) + 1) if with_targets else slice(0))
            for feature, columns in wanted
        ]
        for (_, columns), panel in zip(wanted, self.backend.panels_given_features(requests), strict=True):
            pair[:, columns] = panel.pair[:, np.newaxis]
            if with_targets:
                triple[:, columns] = panel.triple[:, columns - columns[0]]
        self._tables[frozenset("s")] = self._workspace.feature_sums[np.newaxis, features]
        if need.targets:
            of_targets = super().table(frozenset("fy"), self._base)
            self._tables[frozenset("sy")] = of_targets[features, np.arange(shape[1])][np.newaxis]

    def table(self, names: Variables, context: Context) -> Fixed:
        return self._tables[names] if "s" in names else super().table(names, context)


def _neighbors(columns: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Split ascending columns into groups without large gaps."""
    return [columns] if len(columns) == 1 else np.split(columns, np.flatnonzero(np.diff(columns) > WIDEST_GAP) + 1)
