"""The tables that formulas are made of: panels of a backend, each asked for once and only when it is needed."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelsieve.counting.backends.protocol import Column, Condition, Feature, JointFeatures, Panel, Target
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.formula.nodes import KNOWN, Formula, Reduce, Table, Term, Variables
from labelsieve.formula.values import SUM, Fixed, Real
from labelsieve.tables.weights import TargetWeights

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


@dataclass(frozen=True)
class Needs:
    """What formulas need of the panels conditioned on one variable (None: unconditioned)."""

    pair: bool = False  # (feature, given)
    total: bool = False  # (feature, given, target), added over the targets
    full: bool = False  # the same for every target
    targets: bool = False  # (given, target)


def needs(formulas: list[Formula], *, of_known_rows: bool = False) -> dict[str | None, Needs]:
    """Find the panels that lowered formulas mention, by the variable they are conditioned on; of all rows, or of known ones."""
    found: dict[str | None, Needs] = {}

    def note(names: Variables, added: bool) -> None:
        if (KNOWN in names) != of_known_rows:
            return
        given = "t" if "t" in names else given_in(names)
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


@cache
def given_in(names: Variables) -> str | None:
    """Return the variable among ``names`` that a panel is conditioned on."""
    return next((name for name in GIVEN if name in names), None)


class Tables(ABC):
    """The tables that a formula is evaluated from: fixed-point sums over their cells, features down and targets across."""

    fixed: FixedPoint
    n_features: int
    n_targets: int
    xp: Any = np  # module of its arrays: numpy, or CuPy
    target_weights: TargetWeights | None = None

    @abstractmethod
    def table(self, names: Variables, context: Context) -> Fixed:
        """Return the sums over the cells of the joint table of some variables, for every target of the context."""

    @abstractmethod
    def select(self, newest: Any) -> None:
        """Condition on the newest selected feature, or on one for each target."""

    def total(self, names: Variables, context: Context) -> Fixed:
        """Return the sums over the cells of a joint table, added over the targets of the context."""
        raise NotImplementedError(f"{type(self).__name__} does not add targets")

    def term(self, term: Term, context: Context) -> Real:
        """Estimate an information term in nats from whole tables, for estimators that are not sums over cells."""
        raise NotImplementedError(f"{type(self).__name__} has no whole tables")

    def entropies_of_targets(self, *, of_terms: bool) -> Fixed:
        """Return fixed-point entropies to rank targets by; ``of_terms``: estimated from whole tables."""
        raise NotImplementedError(f"{type(self).__name__} does not rank targets")


class Sources(Tables):
    """Tables of a workspace, counted by its backend when they are asked for.

    ``wanted`` is what is asked for, :func:`needs` of the formulas, and ``of_known_rows`` the same of the rows in which a target
    is known. ``follows_selection`` says whether :meth:`select` must be called for every selected feature, whose columns are in
    the workspace ``selected_in`` if this one has some of its features only.

    Tables that do not depend on the selection are shared through the workspace; the others are kept here for the newest feature
    only.
    """

    def __init__(
        self,
        workspace: "Workspace",
        wanted: dict[str | None, Needs],
        of_known_rows: dict[str | None, Needs] | None = None,
        *,
        selected_in: "Workspace | None" = None,
    ) -> None:
        self.fixed, self.n_features, self.n_targets = workspace.fixed, workspace.X.n_columns, workspace.Y.n_columns
        self.backend, self.xp, self.target_weights = workspace.backend, workspace.backend.xp, workspace.target_weights
        if self.target_weights is not None:  # backends add targets without weights, so each is asked for separately
            wanted = {given: replace(need, total=False, full=need.full or need.total) for given, need in wanted.items()}
        self._workspace, self._wanted, self._selected_in = workspace, wanted, selected_in
        # By the variable of a condition: its newest value, and the tables with it.
        self._panels: dict[str | None, tuple[object, dict[object, Fixed]]] = {}
        self._selected: tuple[int, ...] = ()
        self._with_feature: dict[int, Fixed] = {}  # (f, t) of every selected t, for pairs of them
        self._newest_as_target: tuple[int, Workspace] | None = None
        self._known: Sources | None = None  # tables of the rows in which a target is known
        if of_known_rows:
            self._known = Sources(workspace.of_known_rows, of_known_rows)
        self.follows_selection = "S" in wanted or self._known is not None

    def select(self, newest: Any) -> None:
        """Condition on one more selected feature, where formulas mention the joint of all."""
        if "S" in self._wanted:
            self._selected = *self._selected, newest
        if self._known is not None:
            self._known.select(newest)

    def table(self, names: Variables, context: Context) -> Fixed:
        given = given_in(names)
        if KNOWN in names:
            return self._of_known_rows(names, given, context)
        if "t" in names:
            return self._of_pair(names, context)
        if "f" in names and "y" in names:
            if given is None and self._workspace.keeps_pairs:
                return self._workspace.pairs[:, context.first : context.last]
            return self._panel(given, context, "full")
        if "f" in names:
            return self._workspace.feature_sums[:, np.newaxis] if given is None else self._panel(given, context, "pair")
        if "y" in names:
            sums = self._workspace.target_sums if given is None else self._panel(given, context, "targets")
            return sums[np.newaxis, context.first : context.last]
        return np.array([[self.fixed.top if given is None else self._single(given, context)]], dtype=np.int64)

    def total(self, names: Variables, context: Context) -> Fixed:
        if KNOWN in names:
            assert self._known is not None
            return self._known.total(names - {KNOWN}, context)
        if "f" in names:
            given = given_in(names)
            if given is None and context.last - context.first < self.n_targets and self._workspace.keeps_pairs:
                running = self._workspace.running_pairs
                return running[:, context.last : context.last + 1] - running[:, context.first : context.first + 1]
            return self._panel(given, context, "total")
        total: Fixed = self.table(names, context).sum(axis=1, keepdims=True)
        return total

    def feature_sum(self, feature: Any) -> Any:
        """Return the table of a feature alone: a number, or an array on the GPU for a feature that the GPU has chosen."""
        table = self._workspace.feature_sums.take(feature)
        return int(table) if isinstance(feature, int | np.integer) else table

    def _panel(self, given: str | None, context: Context, what: str) -> Fixed:
        """Return a table conditioned on a variable; tables with the newest value of the variable are kept."""
        newest = None if given is None else self._selected if given == "S" else getattr(context, given)
        if given not in self._panels or self._panels[given][0] != newest:
            self._panels[given] = newest, {}
        kept = self._panels[given][1]
        key: object = what if what in ("pair", "targets") else (what, context.first, context.last)
        if key in kept:
            return kept[key]
        targets = slice(context.first, context.last)
        if what == "full":
            _drop_slices(kept)
        if given is None:  # (f, y), for every target or added over the targets
            sums = self.backend.pairs(targets=targets, reduce="sum" if what == "total" else None)
            kept[key] = sums[:, np.newaxis] if what == "total" else sums
        elif what == "targets":  # (given, y)
            kept[key] = self._given_targets(given, context)
        elif what == "full":  # (f, given, y) for every target, and (f, given)
            panel = self._full_panel(given, context, key)
            kept[key], kept["pair"] = panel.triple, panel.pair[:, np.newaxis]
        else:  # (f, given), and (f, given, y) added over the targets if it will be needed too
            with_triples = what == "total" or self._wanted.get(given, Needs()).total
            condition = self._condition(given, context)
            panel = self.backend.panel(condition, targets=targets if with_triples else slice(0), reduce="sum")
            kept["pair"] = panel.pair[:, np.newaxis]
            if with_triples:
                kept["total", context.first, context.last] = panel.triple[:, np.newaxis]
        return kept[key]

    def _full_panel(self, given: str, context: Context, key: object) -> Panel:
        """Count a panel for every target; where tables of known rows are needed too, both at once."""
        condition, targets = self._condition(given, context), slice(context.first, context.last)
        if self._known is None or not self._counts_both(given):
            return self.backend.panel(condition, targets=targets)
        panel, of_known_rows = self.backend.panel_with_known_rows(condition, targets=targets)
        newest, panels = self._panels[given][0], self._known._panels
        if given not in panels or panels[given][0] != newest:
            panels[given] = newest, {}
        kept = panels[given][1]
        _drop_slices(kept)
        kept[key] = of_known_rows
        return panel

    def _condition(self, given: str, context: Context) -> Condition:
        """Return the condition of a panel, as backends know it."""
        if given == "S":
            return JointFeatures(self._selected)
        index = getattr(context, given)
        if given in ("z", "pa"):
            return Target(index)
        whole = self._selected_in
        if whole is None:
            return Feature(index)
        column = whole.X.column(index)
        return Column(column if whole.row_index is None else column[whole.row_index], int(whole.X.levels[index]))

    def _given_targets(self, given: str, context: Context) -> Fixed:
        if given == "s" and self._selected_in is not None and context.s is not None:
            return self._selected_in.given_feature(context.s)
        return self.backend.given_targets(self._condition(given, context))

    def _single(self, given: str, context: Context) -> int:
        match self._condition(given, context):
            case Feature(index=index):
                return int(self._workspace.feature_sums[index])
            case Target(index=index):
                return int(self._workspace.target_sums[index])
            case condition:
                return self.backend.given_single(condition)

    def _of_known_rows(self, names: Variables, given: str | None, context: Context) -> Fixed:
        """Return a table of the rows in which the target is known."""
        assert self._known is not None
        if {"f", "y"} <= names and self._counts_both(given):
            self._panel(given, context, "full")  # both are counted together
        return self._known.table(names - {KNOWN}, context)

    def _counts_both(self, given: str | None) -> bool:
        """True when panels for every target are needed with all rows and with known rows: they are counted together."""
        if self._known is None or given is None:
            return False
        return all(wanted.get(given, Needs()).full for wanted in (self._wanted, self._known._wanted))

    def _of_pair(self, names: Variables, context: Context) -> Fixed:
        """Return a table of the candidate and two selected features, or of some of them."""
        assert context.s is not None
        assert context.t is not None
        both = JointFeatures((min(context.s, context.t), max(context.s, context.t)))
        if "f" not in names:
            single = self.backend.given_single(both) if "s" in names else self.feature_sum(context.t)
            return np.array([[single]], dtype=np.int64)
        if "s" not in names:
            if context.t not in self._with_feature:
                self._with_feature[context.t] = self.backend.panel(Feature(context.t), targets=slice(0)).pair
            return self._with_feature[context.t][:, np.newaxis]
        if self._panels.get("st", (None,))[0] != both:  # both orders have the same
            self._panels["st"] = both, {"pair": self.backend.panel(both, targets=slice(0)).pair}
        return self._panels["st"][1]["pair"][:, np.newaxis]

    def term(self, term: Term, context: Context) -> Real:
        """Estimate a term in nats, all its entropies from one whole table, in the rows in which its variables are known."""
        given = next((name for name in (*GIVEN, "t") if name in term.variables), None)
        letters, workspace, targets = {"f": "x", "y": "y", given: "z"}, self._workspace, slice(context.first, context.last)
        if {"s", "t"} <= term.variables:  # one of the pair takes the place of a target
            newest, workspace = self._with_newest_as_target(context)
            given = "t" if newest == "s" else "s"
            letters, targets = {"f": "x", newest: "y", given: "z"}, slice(0, 1)
        # Tables have the sign of n log n, which is that of minus the entropy.
        terms = [(-sign, "".join(sorted(letters[name] for name in names))) for sign, names in term.tables if names]
        condition = None if given is None else self._condition(given, context)
        return workspace.table_information(terms, condition, targets)

    def _with_newest_as_target(self, context: Context) -> "tuple[str, Workspace]":
        """Return which of a pair of features is the newest, ``"s"`` or ``"t"``, and a workspace with it as the only target."""
        assert context.s is not None
        if self._newest_as_target is None or self._newest_as_target[0] not in (context.s, context.t):
            self._newest_as_target = context.s, self._workspace.with_feature_as_target(context.s)
        return "s" if self._newest_as_target[0] == context.s else "t", self._newest_as_target[1]

    def entropies_of_targets(self, *, of_terms: bool) -> Fixed:
        if not of_terms:
            return self.backend.to_host(self.fixed.top - self._workspace.target_sums)
        entropies = self._workspace.table_information([(1.0, "y")], None, slice(None))[0]
        scaled: Fixed = np.floor(entropies * (self.fixed.scale * self.fixed.total) + 0.5).astype(np.int64)
        return scaled


def _drop_slices(kept: dict[object, Fixed]) -> None:
    """Let go of the tables for every target of a slice: those of one slice are in memory at a time."""
    for key in [key for key in kept if isinstance(key, tuple) and key[0] == "full"]:
        del kept[key]
