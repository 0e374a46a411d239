"""Evaluating a formula for many targets at once, each with a separate selection.

A reducer over a single target is its body, and a single target has no other one to be paired with. So the plan for all targets
serves each of them: reducers over the targets keep their columns separate, pairs of targets are empty. Targets that select the
same feature share its panel.
"""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.protocol import panels_given_features
from labelsieve.counting.workspace import Workspace
from labelsieve.formula.evaluation import Parents, Program
from labelsieve.formula.nodes import Domain, Reduce, Variables
from labelsieve.formula.plan import Plan
from labelsieve.formula.scorer import BaseScorer
from labelsieve.formula.sources import Context, Needs, Sources
from labelsieve.formula.values import Fixed, Value, fixed_value

WIDEST_GAP = 24  # unneeded targets in a panel before another panel is cheaper; see benchmarks/networks.py


def can_share(plan: Plan) -> bool:
    """True when targets can be scored together: the joint and the pairs of selected features differ between targets."""
    return not plan.needs.keys() & {"S", "t"}


class LabelwiseScorer(BaseScorer):
    """Scores of all features for each of the ``targets``, given the features selected for that target.

    Parameters
    ----------
    plan : Plan
        Of a formula that does not mention ``S``: see :func:`can_share`.
    workspace : Workspace
    targets : slice
    parents : list of lists, default=None

    Notes
    -----
    Cost of a step: a panel for each feature that was just selected for some target, with about as many targets as selected it.
    Memory: 8 bytes for each feature, target and accumulator, and as much for each kind of table.
    """

    def __init__(self, plan: Plan, workspace: Workspace, targets: slice, parents: Parents | None = None) -> None:
        self._sources = LabelwiseSources(workspace, plan.needs, targets)
        self._labelwise = LabelwiseProgram(
            plan.formulas, self._sources, targets=targets, parents=parents, over_selected=plan.over_selected
        )
        super().__init__(plan, self._labelwise)

    def scores(self) -> NDArray[np.float64]:
        """``(d, t)``: score of every feature for every target, in nats."""
        return np.broadcast_to(self._evaluate()[2], self._sources.shape)

    def select(self, features: NDArray[np.intp]) -> None:
        """Add ``features[l]`` to the selected ones of target ``l``."""
        self._sources.gather(features)
        self._labelwise.fold()


class LabelwiseSources(Sources):
    """Tables in which ``s`` is a different feature for every target."""

    def __init__(self, workspace: Workspace, wanted: dict[str | None, Needs], targets: slice) -> None:
        super().__init__(workspace, wanted)
        first, last, _ = targets.indices(self.Y.n_columns)
        self._base = Context(first, last)
        self.shape = self.X.n_columns, last - first
        self._tables: dict[Variables, Fixed] = {}

    def gather(self, features: NDArray[np.intp]) -> None:
        """Count the panels conditioned on the newest feature of each target."""
        need = self._wanted.get("s")
        if need is None:
            return
        with_targets = need.total or need.full
        pair = self._tables.setdefault(frozenset("fs"), np.empty(self.shape, dtype=np.int64))
        triple = self._tables.setdefault(frozenset("fsy"), np.empty(self.shape if with_targets else 0, dtype=np.int64))
        wanted = []  # a feature, and the columns of neighboring targets that have just selected it
        for feature in map(int, np.unique(features)):
            same = np.flatnonzero(features == feature)
            wanted += [(feature, columns) for columns in (_neighbors(same) if with_targets else [same])]
        first = self._base.first
        requests = [
            (feature, slice(first + int(columns[0]), first + int(columns[-1]) + 1) if with_targets else slice(0))
            for feature, columns in wanted
        ]
        panels = panels_given_features(self._workspace.backend, requests)
        for (_, columns), panel in zip(wanted, panels, strict=True):
            pair[:, columns] = panel.pair[:, np.newaxis]
            if with_targets:
                triple[:, columns] = panel.triple[:, columns - columns[0]]
        self._tables[frozenset("s")] = self._workspace.feature_sums[np.newaxis, features]
        if need.targets:
            of_targets = super().table(frozenset("fy"), self._base)
            self._tables[frozenset("sy")] = of_targets[features, np.arange(self.shape[1])][np.newaxis]

    def table(self, names: Variables, context: Context) -> Fixed:
        """Sums over the cells of a joint table: features down, targets across."""
        return self._tables[names] if "s" in names else super().table(names, context)


class LabelwiseProgram(Program):
    """A program with a separate selection for every target."""

    accumulates_by_target = True

    def fold(self) -> None:
        """Fold the newest features, one for each target, into the accumulators."""
        newest = self.base._replace(s=0)  # the sources know the feature of each target
        for fold in self._folds:
            fold.accumulator.fold(self.value(fold.body, newest).fixed(self.sources.fixed), None)
        self.n_selected += 1

    def _ranges(self, domain: Domain, context: Context) -> list[tuple[int, int]]:
        return [(0, 1)] if domain == "all" else []  # each target is the only one

    def over_targets(self, node: Reduce, context: Context) -> Value:
        return fixed_value(self.value(node.body, context).fixed(self.sources.fixed))

    def over_pairs(self, node: Reduce, context: Context) -> Value:
        return fixed_value(np.zeros((1, 1), dtype=np.int64))


def _neighbors(columns: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The columns in groups without large gaps."""
    return [columns] if len(columns) == 1 else np.split(columns, np.flatnonzero(np.diff(columns) > WIDEST_GAP) + 1)
