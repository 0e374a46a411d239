"""Where a program's tables come from: panels of a backend, asked for once and no more than needed."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.protocol import Backend, Condition, Feature, JointFeatures, Target
from labelsieve.formula.nodes import Formula, Reduce, Table, Variables

if TYPE_CHECKING:
    from labelsieve.counting.workspace import Workspace

Fixed = NDArray[np.int64]
GIVEN = ("s", "S", "z", "p")  # variables that a panel can be conditioned on


class Context(NamedTuple):
    """What the open variables stand for while a formula is evaluated."""

    first: int
    last: int
    s: int | None = None
    z: int | None = None
    p: int | None = None
    among: tuple[int, ...] | None = None  # the only targets that pairs are made of

    @property
    def targets(self) -> slice:
        return slice(self.first, self.last)

    def over(self, first: int, last: int) -> "Context":
        """The same for the targets ``first`` to ``last``."""
        return self._replace(first=first, last=last)


@dataclass(frozen=True)
class Needs:
    """What formulas ask of the panels conditioned on one variable (None: on nothing)."""

    pair: bool = False  # (feature, given)
    total: bool = False  # (feature, given, target), added over the targets
    full: bool = False  # the same for every target
    targets: bool = False  # (given, target)


def needs(formulas: list[Formula]) -> dict[str | None, Needs]:
    """Which panels the lowered formulas mention."""
    found: dict[str | None, Needs] = {}

    def note(names: Variables, added: bool) -> None:
        given = next((name for name in GIVEN if name in names), None)
        old = found.get(given, Needs())
        if "f" in names and "y" in names:
            found[given] = replace(old, total=old.total or added, full=old.full or not added)
        elif "f" in names:
            found[given] = replace(old, pair=True)
        elif "y" in names:
            found[given] = replace(old, targets=True)
        else:
            found[given] = old

    def visit(node: Formula) -> None:
        match node:
            case Reduce(operation="sum", variable="y", body=Table(variables=names)):
                note(names, added=True)
            case Table(variables=names):
                note(names, added=False)
            case _:
                for part in node.parts:
                    visit(part)

    for formula in formulas:
        visit(formula)
    return found


class Sources:
    """Tables of features and targets as fixed-point sums, two-dimensional: features by targets.

    What does not depend on the selection is the workspace's, and shared; what does is kept here for the newest feature alone.
    """

    def __init__(self, workspace: "Workspace", wanted: dict[str | None, Needs]) -> None:
        self.X, self.Y, self.fixed = workspace.X, workspace.Y, workspace.fixed
        self.target_weights = workspace.target_weights
        if self.target_weights is not None:  # the core adds targets without weights, so each is asked for by itself
            wanted = {given: replace(need, total=False, full=need.full or need.total) for given, need in wanted.items()}
        self._workspace, self._wanted = workspace, wanted
        self._panels: dict[str | None, tuple[object, dict[object, Fixed]]] = {}
        self._selected: tuple[int, ...] = ()

    def select(self, feature: int) -> None:
        """Condition on one more selected feature, where formulas mention the joint of all."""
        if "S" in self._wanted:
            self._selected = *self._selected, feature

    @property
    def backend(self) -> Backend:
        """Where panels of features come from."""
        return self._workspace.backend

    def table_of(self, feature: int) -> int:
        """The table of a feature alone."""
        return int(self._workspace.feature_sums[feature])

    def entropies_of_targets(self) -> Fixed:
        """Fixed-point entropies, to rank targets by."""
        return self.fixed.top - self._workspace.target_sums

    def table(self, names: Variables, context: Context) -> Fixed:
        """Sums over the cells of a joint table: features down, targets across."""
        given = next((name for name in GIVEN if name in names), None)
        if "f" in names and "y" in names:
            if given is None and self._workspace.keeps_pairs:
                return self._workspace.pairs[:, context.targets]
            return self._panel(given, context, "full")
        if "f" in names:
            return self._workspace.feature_sums[:, np.newaxis] if given is None else self._panel(given, context, "pair")
        if "y" in names:
            sums = self._workspace.target_sums if given is None else self._panel(given, context, "targets")
            return sums[np.newaxis, context.targets]
        return np.array([[self.fixed.top if given is None else self._single(given, context)]], dtype=np.int64)

    def total(self, names: Variables, context: Context) -> Fixed:
        """The same, added over the targets."""
        if "f" in names:
            given = next((name for name in GIVEN if name in names), None)
            if given is None and context.last - context.first < self.Y.n_columns and self._workspace.keeps_pairs:
                running = self._workspace.running_pairs
                return running[:, context.last : context.last + 1] - running[:, context.first : context.first + 1]
            return self._panel(given, context, "total")
        total: Fixed = self.table(names, context).sum(axis=1, keepdims=True)
        return total

    def _condition(self, given: str, context: Context) -> Condition:
        """The variable that a panel is conditioned on."""
        if given == "S":
            return JointFeatures(self._selected)
        index = {"s": context.s, "z": context.z, "p": context.p}[given]
        assert index is not None
        return Feature(index) if given == "s" else Target(index)

    def _single(self, given: str, context: Context) -> int:
        match self._condition(given, context):
            case Feature(index=index):
                return int(self._workspace.feature_sums[index])
            case Target(index=index):
                return int(self._workspace.target_sums[index])
            case condition:
                return self.backend.given_single(condition)

    def _panel(self, given: str | None, context: Context, what: str) -> Fixed:
        identity = {"s": context.s, "S": self._selected, "z": context.z, "p": context.p, None: 0}[given]
        if given not in self._panels or self._panels[given][0] != identity:
            self._panels[given] = (identity, {})
        kept = self._panels[given][1]
        place: object = what if what in ("pair", "targets") else (what, context.first, context.last)
        if place not in kept:
            self._count(given, context, what, kept)
        return kept[place]

    def _count(self, given: str | None, context: Context, what: str, kept: dict[object, Fixed]) -> None:
        if given is None:
            assert what in ("total", "full")
            pairs = self.backend.pairs(targets=context.targets, reduce="sum" if what == "total" else None)
            self._keep(kept, what, context, pairs)
            return
        condition = self._condition(given, context)
        if what == "targets":
            kept["targets"] = self.backend.given_targets(condition)
            return
        # A panel of triples has its pairs: ask for the triples first when they will be needed too.
        if what == "pair" and self._wanted.get(given, Needs()).total:
            what = "total"
        targets = slice(0) if what == "pair" else context.targets
        panel = self.backend.panel(condition, targets=targets, reduce=None if what == "full" else "sum")
        if what != "pair":
            self._keep(kept, what, context, panel.triple)
        kept["pair"] = panel.pair[:, np.newaxis]

    def _keep(self, kept: dict[object, Fixed], what: str, context: Context, sums: Fixed) -> None:
        if what == "full":
            for old in [key for key in kept if isinstance(key, tuple) and key[0] == "full"]:
                del kept[old]  # one slice of the targets at a time
        kept[what, context.first, context.last] = sums[:, np.newaxis] if what == "total" else sums
