"""The counting backend: the one protocol between the formulas and whatever counts.

Everything above this package asks a :class:`Backend` and nothing else. A backend is built by a :class:`BackendFactory` for the
codes of ``d`` features and ``q`` targets; :func:`labelsieve.counting.backends.make_backend` finds the factory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypedDict, Unpack, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import RowWeights

Sums = NDArray[np.int64]
Reduce = Literal["sum"] | None
ALL_TARGETS = slice(None)
PANELS = 64  # that are counted together at most: their sums are in memory at the same time


@dataclass(frozen=True)
class Feature:
    """Condition on one of the features."""

    index: int


@dataclass(frozen=True)
class Target:
    """Condition on one of the targets."""

    index: int


@dataclass(frozen=True)
class JointFeatures:
    """Condition on several features as one variable, in the order in which they were selected."""

    indices: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """Condition on a column of codes below ``n_levels``, one for each row of the targets."""

    codes: NDArray[np.integer]
    n_levels: int


Condition = Feature | Target | JointFeatures | Column


class Panel(NamedTuple):
    """Joint counts of all features conditioned on one more variable, as sums over their cells."""

    pair: Sums
    """``(d,)``: cells of (feature, condition)."""
    triple: Sums
    """``(d, t)`` for ``t`` targets, or ``(d,)`` when reduced: cells of (feature, condition, target)."""


class CountBlock(NamedTuple):
    """Whole joint tables of some features with one target."""

    features: NDArray[np.intp]
    target: int
    """Position among the targets asked for."""
    counts: NDArray[np.float64]
    """``(features, levels of a feature, levels of the target, levels of the condition)``; an absent variable has one level."""


class Backend(Protocol):
    r"""Joint tables of features and targets.

    All sums are :math:`\sum f(n)` over the cells of a table, with :math:`f(n)` from the
    ``FixedPoint`` that the backend was built with: exact integers, so every backend
    returns the same bits, for any number of threads and any order of counting. Answers are arrays of the host. One thread
    calls a backend at a time; ``n_jobs`` is the number of threads that it counts with.
    """

    def singles(self) -> tuple[Sums, Sums]:
        """``(d,)`` and ``(q,)``: cells of every feature and of every target."""

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        """``(d, t)``: cells of (feature, target); ``reduce="sum"`` adds over the targets: ``(d,)``."""

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        """Cells of (feature, condition) and of (feature, condition, target); ``targets`` is a slice with step 1."""

    def given_targets(self, given: Condition) -> Sums:
        """``(q,)``: cells of (condition, target)."""

    def given_single(self, given: Condition) -> int:
        """Cells of the condition alone."""

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        """Whole tables, for estimators that are not sums over cells.

        A table has a cell for each combination of levels that occur. Counts are numbers of rows, or their weights divided by
        ``unit``: exact in doubles. Without features there is one table for each target; ``targets=None`` leaves the targets
        out.
        """


class RowOptions(TypedDict, total=False):
    """The keyword arguments of a :class:`BackendFactory`."""

    weights: RowWeights | None
    row_index: NDArray[np.uint32] | None
    n_jobs: int | None


class BackendFactory(Protocol):
    """A callable that builds a backend, such as a class with this signature."""

    def __call__(self, X: Codes, Y: Codes, fixed: FixedPoint, **options: Unpack[RowOptions]) -> Backend:
        """A backend for features ``X`` and targets ``Y``.

        Parameters
        ----------
        X, Y : Codes
            With the same rows unless ``row_index`` is given.
        fixed : FixedPoint
            For these rows (or weights) and at least this number of targets.
        weights : RowWeights, optional
            Weights of the rows of ``X``.
        row_index : ndarray of uint32, optional
            The row of ``X`` of each row of ``Y``, where rows count several times.
        n_jobs : int, optional
            Threads, as joblib counts them.
        """


class PanelFold(NamedTuple):
    """``constant + fixed + pair_factor * pair + triple_factor * triple``: what a panel adds to an accumulator."""

    constant: int
    fixed: Sums | None
    pair_factor: int
    triple_factor: int


@runtime_checkable
class FoldingBackend(Protocol):
    """An optional capability: panels that are added to an accumulator where they are counted."""

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        """Add ``fold`` of the panel conditioned on a feature, its triples added over the targets, to ``(d,)`` numbers."""


@runtime_checkable
class PanelsBackend(Protocol):
    """An optional capability: several small panels that are counted at the same time, on several threads."""

    def panels_given_features(self, requests: Sequence[tuple[int, slice]]) -> list[Panel]:
        """The panels conditioned on features, each with the targets of its slice."""


def panels_given_features(backend: Backend, requests: Sequence[tuple[int, slice]]) -> Iterator[Panel]:
    """The panels conditioned on features, each with the targets of its slice, one after the other."""
    together = getattr(backend, "panels_given_features", None)
    if together is None:
        yield from (backend.panel(Feature(feature), targets=targets) for feature, targets in requests)
        return
    for start in range(0, len(requests), PANELS):
        yield from together(requests[start : start + PANELS])


def pairs_from(backend: Backend, first_feature: int, *, targets: slice, reduce: Reduce = None) -> Sums:
    """As ``backend.pairs``; sums of earlier features may be anything, and need not be counted."""
    count: Any = getattr(backend, "pairs_from", None)
    sums: Sums = (
        backend.pairs(targets=targets, reduce=reduce) if count is None else count(first_feature, targets=targets, reduce=reduce)
    )
    return sums


def fold_panel(accumulator: Any, panel: Panel, fold: PanelFold) -> None:
    """Add ``fold`` of a reduced panel to ``(d,)`` numbers, in one pass."""
    constant, fixed, pair_factor, triple_factor = fold
    if not isinstance(accumulator, np.ndarray):  # on a GPU
        accumulator += pair_factor * panel.pair + constant
        if triple_factor:
            accumulator += triple_factor * panel.triple
        if fixed is not None:
            accumulator += fixed
        return
    core.fold_panel(accumulator, fixed, panel.pair, pair_factor, panel.triple, triple_factor, constant)


def fold_newest(backend: Backend, accumulator: Sums, feature: Any, fold: PanelFold, targets: slice) -> None:
    """Add ``fold`` of the panel conditioned on a feature; the panel stays inside a backend that can fold."""
    fold_inside = getattr(backend, "fold_given_feature", None)  # isinstance would take as long as the fold of a small table
    if fold_inside is not None:
        fold_inside(accumulator, feature, fold, targets=targets)
    else:
        fold_panel(accumulator, backend.panel(Feature(feature), targets=targets, reduce="sum"), fold)
