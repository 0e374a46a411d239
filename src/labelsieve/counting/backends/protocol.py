"""The protocol between formulas and whatever counts: conditions, panels, and the base class of all backends.

Everything above this package asks a :class:`Backend` and nothing else. A backend is built by a :class:`BackendFactory` for the
codes of ``d`` features and ``q`` targets; :func:`labelsieve.counting.backends.make_backend` finds the factory. A new backend
needs five methods; the others have plain implementations here, which a backend replaces where it can do better.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.joint_codes import refine, sum_of_levels
from labelsieve.counting.sums import WholeColumns
from labelsieve.counting.whole_tables import CountBlock, JointTables, Terms
from labelsieve.errors import require_same_rows
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import RowWeights

Sums = NDArray[np.int64]
Reduce = Literal["sum"] | None
ALL_TARGETS = slice(None)


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


class PanelFold(NamedTuple):
    """``constant + fixed + pair_factor * pair + triple_factor * triple``: what a panel adds to an accumulator."""

    constant: int
    fixed: Sums | None
    pair_factor: int
    triple_factor: int


class Backend(ABC):
    r"""Joint tables of features and targets.

    All sums are :math:`\sum f(n)` over the cells of a table, with :math:`f(n)` from the ``FixedPoint`` that the backend was
    built with: exact integers, so every backend returns the same bits, for any number of threads and any order of counting.
    One thread calls a backend at a time; ``n_jobs`` is the number of threads that it counts with.
    """

    xp: Any = np
    """The module of the arrays that it returns: numpy, or CuPy for a backend whose results stay on a GPU."""
    on_device: "Backend | None" = None
    """The same tables with results that stay on a GPU, where scores can then be computed."""

    @abstractmethod
    def singles(self) -> tuple[Sums, Sums]:
        """Return the sums over the levels of every feature, ``(d,)``, and of every target, ``(q,)``."""

    @abstractmethod
    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        """Return the sums over the cells of (feature, condition) and (feature, condition, target), or without a condition.

        ``targets`` is a slice with step 1; ``reduce="sum"`` adds the triples over the targets.
        """

    @abstractmethod
    def given_targets(self, given: Condition) -> Sums:
        """Return the sums over the cells of (condition, target), ``(q,)``."""

    @abstractmethod
    def given_single(self, given: Condition) -> int:
        """Return the sum over the levels of the condition."""

    @abstractmethod
    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        """Yield whole joint tables, for estimators that are not sums over cells.

        A table has a cell for each combination of levels that occur. Counts are numbers of rows, or their weights divided by
        ``unit``: exact in doubles. Without features there is one table for each target; ``targets=None`` leaves the targets
        out.
        """

    def to_host(self, values: Any) -> NDArray[Any]:
        """Copy an array that this backend returned to the memory of the host, if it is not there."""
        host: NDArray[Any] = values
        return host

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None, first_feature: int = 0) -> Sums:
        """Return the sums over the cells of (feature, target), ``(d, t)``; ``reduce="sum"`` adds over the targets: ``(d,)``.

        Sums of features before ``first_feature`` may be anything, and need not be counted.
        """
        return self.panel(None, targets=targets, reduce=reduce).triple

    def panels_given_features(self, requests: Sequence[tuple[int, slice]]) -> Iterable[Panel]:
        """Count the panels conditioned on features, each with the targets of its slice, one after the other."""
        for feature, targets in requests:
            yield self.panel(Feature(feature), targets=targets)

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        """Add ``fold`` of the panel conditioned on a feature, its triples added over the targets, to ``(d,)`` numbers."""
        fold_panel(accumulator, self.panel(Feature(feature), targets=targets, reduce="sum"), fold)

    def candidates(self) -> core.Candidates | None:
        """Pack the features so that single candidates can be counted; None where the panels of all features are faster."""
        return None

    def shrunk_information(self, terms: Terms, given: Condition | None, targets: slice | None) -> NDArray[np.float64] | None:
        """Return sums of entropies of shrunk tables of every feature; None where they must be computed from whole tables."""
        return None

    def hold_columns(self, columns: WholeColumns) -> WholeColumns:
        """Return columns for sums of products, moved to where this backend adds them up; by default they stay where they are.

        The sums are exact integers, the same wherever the columns are: see ``labelsieve.counting.sums.RowSums``.
        """
        return columns

    def of_known_rows(self) -> "Backend":
        r"""Return a backend of the same data whose tables of targets are sums over the K known rows, times :math:`N/K`.

        Only asked for targets with unknown cells: see ``known_targets.py``.
        """
        raise NotImplementedError(f"{type(self).__name__} does not count targets with unknown cells")

    def panel_with_known_rows(self, given: Condition, *, targets: slice = ALL_TARGETS) -> tuple[Panel, Sums]:
        """Count a panel, and the triples that :meth:`of_known_rows` has in its place."""
        return self.panel(given, targets=targets), self.of_known_rows().panel(given, targets=targets).triple


@dataclass(eq=False, repr=False)
class CodesBackend(Backend):
    """A backend that has the codes of all rows in this process: conditions and whole tables are the same for all of them."""

    X: Codes
    Y: Codes
    fixed: FixedPoint
    _: KW_ONLY
    weights: RowWeights | None = None
    row_index: NDArray[np.uint32] | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self.n_rows = self.X.n_rows if self.row_index is None else len(self.row_index)
        if self.n_rows != self.Y.n_rows:
            require_same_rows(self.n_rows, self.Y.n_rows)
        self.n_features, self.n_targets = self.X.n_columns, self.Y.n_columns
        self._joined: tuple[int, ...] | None = None  # the features of the joint that was asked for last

    @cached_property
    def weights_of_targets(self) -> RowWeights | None:
        """The weight of each row of ``Y``."""
        return None if self.weights is None else self.weights.of(self.row_index)

    @cached_property
    def _tables(self) -> JointTables:
        weights = self.weights_of_targets
        of_rows = None if weights is None else weights.values / weights.unit
        return JointTables(self.X, self.Y, weights=of_rows, row_index=self.row_index)

    def column(self, given: Condition) -> tuple[NDArray[np.uint32], int]:
        """Return the codes of a condition, one for each row of ``Y``, and its number of levels."""
        codes: NDArray[np.integer]
        match given:
            case Column(codes=codes, n_levels=n_levels):
                pass
            case Target(index=index):
                codes, n_levels = self.Y.column(index), int(self.Y.levels[index])
            case Feature(index=index):
                codes, n_levels = self._by_target_row(self.X.column(index)), int(self.X.levels[index])
            case JointFeatures(indices=indices):
                self._refine(indices)
                codes, n_levels = self._by_target_row(self._joint), self._n_joint
        return np.ascontiguousarray(codes, dtype=np.uint32), n_levels

    def _by_target_row(self, column: NDArray[np.integer]) -> NDArray[np.integer]:
        return column if self.row_index is None else column[self.row_index]

    def _refine(self, indices: tuple[int, ...]) -> None:
        """Join features to the last joint: one pass over the rows for each feature that it did not have."""
        known = self._joined or ()
        if self._joined is None or indices[: len(known)] != known:
            self._joint, self._n_joint, known = np.zeros(self.X.n_rows, dtype=np.uint32), 1, ()
        for index in indices[len(known) :]:
            self._n_joint = refine(self._joint, self._n_joint, self.X, index)
        self._joined = indices

    def given_targets(self, given: Condition) -> Sums:
        codes, n_levels = self.column(given)
        sums = np.empty(self.n_targets, dtype=np.int64)
        for target in range(self.n_targets):
            joint = codes.copy()
            n_joint = refine(joint, n_levels, self.Y, target)
            sums[target] = sum_of_levels(joint, n_joint, self.fixed, self.weights_of_targets)
        return sums

    def given_single(self, given: Condition) -> int:
        return sum_of_levels(*self.column(given), self.fixed, self.weights_of_targets)

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        codes = None if given is None else self.column(given)[0]
        return self._tables.joint_counts(codes, targets=targets, features=features)


class RowOptions(TypedDict, total=False):
    """The keyword arguments of a :class:`BackendFactory`."""

    weights: RowWeights | None
    row_index: NDArray[np.uint32] | None
    n_jobs: int | None


class BackendFactory(Protocol):
    """A callable that builds a backend, such as a class with this signature."""

    def __call__(self, X: Codes, Y: Codes, fixed: FixedPoint, **options: Unpack[RowOptions]) -> Backend:
        """Build a backend for features ``X`` and targets ``Y``, with the same rows unless ``row_index`` is given.

        ``fixed`` is for these rows (or weights) and at least this number of targets. ``weights`` are those of the rows of
        ``X``; ``row_index`` is the row of ``X`` of each row of ``Y``, where rows count several times.
        """


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


def target_range(targets: slice, n_targets: int) -> tuple[int, int]:
    """Return the first target of a slice with step 1, and the end of the slice.

    >>> target_range(slice(2, None), 5), target_range(slice(4, 2), 5)
    ((2, 5), (4, 4))
    """
    first, last, _ = targets.indices(n_targets)
    return first, max(first, last)
