"""Tables and terms of a program: panels of a backend, each asked for once and only when needed."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from labelsieve.counting.backends.protocol import Backend, Condition, Feature, JointFeatures, Target
from labelsieve.formula.nodes import KNOWN, Formula, Reduce, Table, Term, Variables
from labelsieve.formula.values import SUM, Fixed, Real

if TYPE_CHECKING:
    from labelsieve.counting.workspace import Workspace

GIVEN = ("s", "S", "z", "pa")  # variables that a panel can be conditioned on


class Context(NamedTuple):
    """Values of the free variables while a formula is evaluated: a range of targets ``y``, and indices."""

    first: int
    last: int
    s: int | None = None
    t: int | None = None
    z: int | None = None
    pa: int | None = None
    among: tuple[int, ...] | None = None  # the targets that pairs are restricted to

    @property
    def targets(self) -> slice:
        return slice(self.first, self.last)

    def over(self, first: int, last: int) -> "Context":
        """The same for the targets ``first`` to ``last``."""
        return self._replace(first=first, last=last)


@dataclass(frozen=True)
class Needs:
    """What formulas need of the panels conditioned on one variable (None: unconditioned)."""

    pair: bool = False  # (feature, given)
    total: bool = False  # (feature, given, target), added over the targets
    full: bool = False  # the same for every target
    targets: bool = False  # (given, target)


def needs(formulas: list[Formula], *, of_known_rows: bool = False) -> dict[str | None, Needs]:
    """The panels that the lowered formulas mention, by the variable they are conditioned on; of all rows, or of known ones."""
    found: dict[str | None, Needs] = {}

    def note(names: Variables, added: bool) -> None:
        if (KNOWN in names) != of_known_rows:
            return
        given = "t" if "t" in names else next((name for name in GIVEN if name in names), None)
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
            case Reduce(variable="y", body=Table(variables=names)) if node.operation == SUM:
                note(names, added=True)
            case Table(variables=names):
                note(names, added=False)
            case Term(variables=names) if "S" in names and not of_known_rows:
                found.setdefault("S", Needs())
            case _:
                for child in node.children:
                    visit(child)

    for formula in formulas:
        visit(formula)
    return found


class Sources:
    """Tables of features and targets as fixed-point sums, two-dimensional: features by targets.

    Tables that do not depend on the selection are shared through the workspace; the others are kept here for the newest feature
    only.
    """

    def __init__(
        self,
        workspace: "Workspace",
        wanted: dict[str | None, Needs],
        of_known_rows: dict[str | None, Needs] | None = None,
    ) -> None:
        self.X, self.Y, self.fixed = workspace.X, workspace.Y, workspace.fixed
        self.xp = getattr(workspace.backend, "xp", np)  # what its tables are arrays of
        self.target_weights = workspace.target_weights
        if self.target_weights is not None:  # backends add targets without weights, so each is asked for separately
            wanted = {given: replace(need, total=False, full=need.full or need.total) for given, need in wanted.items()}
        self._workspace, self._wanted = workspace, wanted
        self._panels: dict[str | None, tuple[object, dict[object, Fixed]]] = {}
        self._selected: tuple[int, ...] = ()
        self._with_feature: dict[int, Fixed] = {}  # (f, t) of every selected t, for pairs of them
        self._known: Sources | None = None  # of the rows in which a target is known
        if of_known_rows:
            assert workspace.of_known_rows is not None
            self._known = Sources(workspace.of_known_rows, of_known_rows)

    def select(self, feature: int) -> None:
        """Condition on one more selected feature, where formulas mention the joint of all."""
        if "S" in self._wanted:
            self._selected = *self._selected, feature
        if self._known is not None:
            self._known.select(feature)

    @property
    def backend(self) -> Backend:
        """The backend that counts panels."""
        return self._workspace.backend

    def table_of(self, feature: Any) -> Any:
        """The table of a feature alone, a number; of one that a GPU has chosen, an array of it on the GPU."""
        table = self._workspace.feature_sums.take(feature)
        return int(table) if isinstance(feature, int | np.integer) else table

    def entropies_of_targets(self) -> Fixed:
        """Fixed-point entropies, to rank targets by."""
        entropies: Fixed = self.fixed.top - self._workspace.target_sums
        to_host = getattr(self.backend, "to_host", None)
        return entropies if to_host is None else to_host(entropies)

    def table(self, names: Variables, context: Context) -> Fixed:
        """Sums over the cells of a joint table: features down, targets across."""
        if KNOWN in names:
            assert self._known is not None
            given = next((name for name in GIVEN if name in names), None)
            if {"f", "y"} <= names and self._counts_both(given):
                self._panel(given, context, "full")
            return self._known.table(names - {KNOWN}, context)
        if "t" in names:
            return self._of_pair(names, context)
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
        if KNOWN in names:
            assert self._known is not None
            return self._known.total(names - {KNOWN}, context)
        if "f" in names:
            given = next((name for name in GIVEN if name in names), None)
            if given is None and context.last - context.first < self.Y.n_columns and self._workspace.keeps_pairs:
                running = self._workspace.running_pairs
                return running[:, context.last : context.last + 1] - running[:, context.first : context.first + 1]
            return self._panel(given, context, "total")
        total: Fixed = self.table(names, context).sum(axis=1, keepdims=True)
        return total

    def _of_pair(self, names: Variables, context: Context) -> Fixed:
        """A table of the candidate and two selected features, or of some of them."""
        assert context.s is not None
        assert context.t is not None
        both = JointFeatures((min(context.s, context.t), max(context.s, context.t)))
        if "f" not in names:
            single = self.backend.given_single(both) if "s" in names else self.table_of(context.t)
            return np.array([[single]], dtype=np.int64)
        if "s" not in names:
            if context.t not in self._with_feature:
                self._with_feature[context.t] = self.backend.panel(Feature(context.t), targets=slice(0)).pair
            return self._with_feature[context.t][:, np.newaxis]
        if self._panels.get("st", (None,))[0] != both:  # both orders have the same
            self._panels["st"] = both, {"pair": self.backend.panel(both, targets=slice(0)).pair}
        return self._panels["st"][1]["pair"][:, np.newaxis]

    def _condition(self, given: str, context: Context) -> Condition:
        """The variable that a panel is conditioned on."""
        if given == "S":
            return JointFeatures(self._selected)
        index = {"s": context.s, "t": context.t, "z": context.z, "pa": context.pa}[given]
        assert index is not None
        return Feature(index) if given in ("s", "t") else Target(index)

    def _single(self, given: str, context: Context) -> int:
        match self._condition(given, context):
            case Feature(index=index):
                return int(self._workspace.feature_sums[index])
            case Target(index=index):
                return int(self._workspace.target_sums[index])
            case condition:
                return self.backend.given_single(condition)

    def _panel(self, given: str | None, context: Context, what: str) -> Fixed:
        kept = self._kept(given, context)
        key: object = what if what in ("pair", "targets") else (what, context.first, context.last)
        if key not in kept:
            self._count(given, context, what, kept)
        return kept[key]

    def _kept(self, given: str | None, context: Context) -> dict[object, Fixed]:
        """What is kept of the panels conditioned on the newest value of a variable."""
        identity = {"s": context.s, "S": self._selected, "z": context.z, "pa": context.pa, None: 0}[given]
        if given not in self._panels or self._panels[given][0] != identity:
            self._panels[given] = (identity, {})
        return self._panels[given][1]

    def _counts_both(self, given: str | None) -> bool:
        """Whether panels for every target are needed both with all rows and with known rows, and counted once for both."""
        if self._known is None or given is None or not hasattr(self.backend, "panel_with_known_rows"):
            return False
        return all(wanted.get(given, Needs()).full for wanted in (self._wanted, self._known._wanted))

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
        if what == "full" and self._known is not None and self._counts_both(given):
            panel, of_known_rows = cast(Any, self.backend).panel_with_known_rows(condition, targets=targets)
            self._known._keep(self._known._kept(given, context), what, context, of_known_rows)
        else:
            panel = self.backend.panel(condition, targets=targets, reduce=None if what == "full" else "sum")
        if what != "pair":
            self._keep(kept, what, context, panel.triple)
        kept["pair"] = panel.pair[:, np.newaxis]

    def _keep(self, kept: dict[object, Fixed], what: str, context: Context, sums: Fixed) -> None:
        if what == "full":
            for old in [key for key in kept if isinstance(key, tuple) and key[0] == "full"]:
                del kept[old]  # one slice of the targets at a time
        kept[what, context.first, context.last] = sums[:, np.newaxis] if what == "total" else sums


class TermSources(Sources):
    """Tables, and terms in nats from whole tables: for estimators that are not sums over cells, and for missing cells."""

    _of_newest: "tuple[int, Workspace] | None" = None  # the newest selected feature as the target, for pairs

    def term(self, term: Term, context: Context) -> Real:
        """An information term, all its entropies from one table of its variables, in the rows in which all are known."""
        given = next((name for name in (*GIVEN, "t") if name in term.variables), None)
        letters, workspace, targets = {"f": "x", "y": "y", given: "z"}, self._workspace, context.targets
        if {"s", "t"} <= term.variables:
            newest, workspace = self._newest_as_target(context)
            given = "t" if newest == "s" else "s"
            letters, targets = {"f": "x", newest: "y", given: "z"}, slice(0, 1)
        # Tables have the sign of n log n, which is that of minus the entropy.
        terms = [(-sign, "".join(sorted(letters[name] for name in names))) for sign, names in term.tables if names]
        condition = None if given is None else self._condition(given, context)
        return workspace.table_information(terms, condition, targets)

    def _newest_as_target(self, context: Context) -> "tuple[str, Workspace]":
        """Which of a pair is the newest, ``s`` in the first pair that is asked for, and a workspace with it as the target."""
        assert context.s is not None
        if self._of_newest is None or self._of_newest[0] not in (context.s, context.t):
            self._of_newest = context.s, self._workspace.with_feature_as_target(context.s)
        return "s" if self._of_newest[0] == context.s else "t", self._of_newest[1]

    def entropies_of_targets(self) -> Fixed:
        """Fixed-point entropies, to rank targets by."""
        entropies = self._workspace.table_information([(1.0, "y")], None, slice(None))[0]
        scaled: Fixed = np.floor(entropies * (self.fixed.scale * self.fixed.total) + 0.5).astype(np.int64)
        return scaled
