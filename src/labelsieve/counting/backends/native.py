"""Counting in this process, with the C++ core."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.known_targets import known_ratios
from labelsieve.counting.backends.protocol import ALL_TARGETS, Column, Condition, Feature, Panel, PanelFold, Reduce, Sums
from labelsieve.counting.backends.table_backend import TableBackend, target_range
from labelsieve.counting.fixed_point import logarithms
from labelsieve.counting.joint_codes import constant_column
from labelsieve.resources import n_threads, require_memory
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import RowWeights

LEAST_TABLE, TABLE_PER_ROW = 2**16, 8  # terms in a table of sums of weights, at most

Strategy = Literal["auto", "positional", "grouped", "tiled", "sparse", "non-empty", "histogram"]


@dataclass(eq=False, repr=False, kw_only=True)
class NativeBackend(TableBackend):
    """The C++ core as a :class:`~labelsieve.counting.backends.protocol.Backend`, with the capability to fold panels.

    Parameters
    ----------
    X, Y, fixed, weights, row_index, n_jobs
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`. Codes are packed once, when sums are asked for.
        Weights are added up as whole numbers, by the sums of all subsets of the weights of four rows. Rows that ``row_index``
        repeats are not copied; counting then goes by groups of rows, never by margins.
    strategy : {"auto", "positional", "grouped", "tiled", "sparse", "non-empty", "histogram"}, default="auto"
        The counting kernel. Results never depend on it; it is for benchmarks and tests.

    Notes
    -----
    Positional popcount adds rows of 512 one-hot columns vertically, for the rarer values alone, and takes the rest from the
    margins; grouped does so for every cell of (condition, target) without margins, which is faster when there are many cells;
    tiled popcount intersects columns of bits; sparse goes over the non-zeros of a row; non-empty, for sums over many targets of
    two classes, visits the common rows of a sparse feature and a target, and adds up the tables that have none in closed form
    from their margins; histogram counts one column at a time and takes any number of levels. A panel conditioned on one column
    costs about ``d / 512 * sum_l n_l`` vector additions, ``n_l`` being the rows of target ``l`` outside its most frequent
    class, and one table look-up for each cell. The unknown cells of a target are one more class, which is left out of the sums:
    about as many rows more as are unknown. Tables that are shrunk are held in the core while they are small; others are counted
    with numpy.
    """

    strategy: Strategy = "auto"
    counts_unknown: ClassVar[bool] = True  # backends that do not count unknown cells are wrapped in KnownTargets

    def __post_init__(self) -> None:
        super().__post_init__()
        self._n_threads = n_threads(self.n_jobs)
        self._joint = False  # passed to the core: set in views of the known rows
        self._known_ratios: NDArray[np.float64] | None = None
        if self.Y.has_missing:  # 0 for targets without unknown cells
            ratios = known_ratios(self.Y, self.weights_of_targets)
            self._known_ratios = np.where(ratios > 1, ratios, 0.0)

    @cached_property
    def _session(self) -> core.Session:
        return self._pack(self.X, self.Y, self.weights, self.row_index)

    @cached_property
    def _among_targets(self) -> core.Session:
        """The targets instead of the features."""
        return self._pack(self.Y, constant_column(self.n_rows), self.weights_of_targets, None)

    @cached_property
    def _targets_alone(self) -> core.Session:
        """The targets, with unknown cells, and a constant feature."""
        return self._pack(constant_column(self.n_rows), self.Y, self.weights_of_targets, None)

    @cached_property
    def _table_of_weights(self) -> NDArray[np.int64] | None:
        """The terms of every sum of weights, while they are few: a table is faster than the logarithms of weights."""
        total = self.fixed.total
        return self.fixed(np.arange(total + 1)) if total <= max(LEAST_TABLE, TABLE_PER_ROW * self.n_rows) else None

    def _pack(self, X: Codes, Y: Codes, weights: RowWeights | None, row_index: NDArray[np.uint32] | None) -> core.Session:
        native_weights, table = None, self.fixed.values
        if weights is not None and (weights.values == weights.values[0]).all():
            # Rows that weigh the same are counted without weights: n of them count as n times their weight.
            table = self.fixed(np.arange(Y.n_rows + 1) * int(weights.values[0]))
        elif weights is not None:
            table = self._table_of_weights
            native_weights = core.Weights(weights.values, logarithms(), self.fixed.scale, self.fixed.penalty)
        ratios = self._known_ratios if Y is self.Y else None
        options = {} if ratios is None else {"known_ratios": ratios}
        return core.Session(X.native, Y.native, table, native_weights, self._n_threads, self.strategy, row_index, **options)

    @property
    def bytes(self) -> int:
        """Memory of the packed tables."""
        return self._session.bytes

    def singles(self) -> tuple[Sums, Sums]:
        features = np.empty(self.n_features, dtype=np.int64)
        targets = np.empty(self.n_targets, dtype=np.int64)
        self._session.feature_sums(features)
        if self._joint:
            return features, self.given_targets(Column(np.zeros(self.n_rows, dtype=np.uint32), 1))
        self._session.target_sums(targets)
        return features, targets

    def of_known_rows(self) -> "NativeBackend":
        r"""A view whose tables of targets with unknown cells are sums over the known rows, times :math:`N/K`, and no others.

        Terms conditioned on a target, or joint with it, are sums of these.
        """
        assert self._known_ratios is not None
        assert self._session is not None
        assert self._targets_alone is not None  # packed here, so that the view shares them
        view = copy(self)
        view._joint = True
        return view

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        return self._run(np.zeros(self.n_rows, dtype=np.uint32), 1, targets, reduce).triple

    def pairs_from(self, first_feature: int, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        return self._run(np.zeros(self.n_rows, dtype=np.uint32), 1, targets, reduce, first_feature).triple

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        if not isinstance(given, Feature):
            return self._run(*self.conditions.column(given), targets, reduce)
        first, last, panel = self._empty_panel(targets, reduce)  # the column of a feature is packed already
        out = panel.triple.reshape(-1)
        self._session.run_feature(given.index, first, last, reduce is not None, panel.pair, out, joint=self._joint)
        return panel

    def panel_with_known_rows(self, given: Condition, *, targets: slice = ALL_TARGETS) -> tuple[Panel, Sums]:
        """A panel, and the sums with targets that :meth:`of_known_rows` has, counted once."""
        codes, n_levels = self.conditions.column(given)
        first, last, panel = self._empty_panel(targets, None)
        column, known = np.ascontiguousarray(codes, dtype=np.uint32), np.empty_like(panel.triple)
        out = panel.triple.reshape(-1)
        self._session.run(column, n_levels, first, last, False, panel.pair, out, known=known.reshape(-1))
        return panel, known

    def panels_given_features(self, requests: Sequence[tuple[int, slice]]) -> list[Panel]:
        ranges = [target_range(targets, self.n_targets, None) for _, targets in requests]
        widths = [last - first for first, last in ranges]
        pairs = np.empty((len(requests), self.n_features), dtype=np.int64)
        triples = np.empty(self.n_features * sum(widths), dtype=np.int64)
        rows = [(feature, *targets) for (feature, _), targets in zip(requests, ranges, strict=True)]
        self._session.run_features(np.array(rows, dtype=np.int64), pairs, triples, joint=self._joint)
        ends = self.n_features * np.cumsum(widths)
        shapes = ((self.n_features, width) for width in widths)
        return [Panel(*of_one) for of_one in zip(pairs, map(np.reshape, np.split(triples, ends[:-1]), shapes), strict=True)]

    def _run(self, codes: NDArray[np.integer], n_levels: int, targets: slice, reduce: Reduce, first_feature: int = 0) -> Panel:
        first, last, panel = self._empty_panel(targets, reduce)
        column = np.ascontiguousarray(codes, dtype=np.uint32)
        out = panel.triple.reshape(-1)
        self._session.run(
            column, n_levels, first, last, reduce is not None, panel.pair, out, joint=self._joint, first_feature=first_feature
        )
        return panel

    def given_targets(self, given: Condition) -> Sums:
        codes, n_levels = self.conditions.column(given)
        if self._known_ratios is not None:
            alone, sums = np.empty(1, dtype=np.int64), np.empty(self.n_targets, dtype=np.int64)
            column = np.ascontiguousarray(codes, dtype=np.uint32)
            self._targets_alone.run(column, n_levels, 0, self.n_targets, False, alone, sums, joint=self._joint)
            return sums
        sums, nothing = np.empty(self.n_targets, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._among_targets.run(np.ascontiguousarray(codes, dtype=np.uint32), n_levels, 0, 0, False, sums, nothing)
        return sums

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        first, last, _ = targets.indices(self.n_targets)
        constant, fixed, pair_factor, triple_factor = fold
        self._session.fold_feature(feature, first, max(first, last), accumulator, fixed, pair_factor, triple_factor, constant)

    def shrunk_information(
        self, terms: Sequence[tuple[float, str]], given: Condition | None, targets: slice | None
    ) -> NDArray[np.float64] | None:
        """Sums of entropies of shrunk tables of every feature; None where the core cannot hold whole tables.

        The core does not hold tables of features with more than 33 levels, targets or conditions with more than 64, repeated
        rows or unknown labels.
        """
        first, last, _ = (slice(0) if targets is None else targets).indices(self.n_targets)
        codes, n_levels = (np.zeros(self.n_rows), 1) if given is None else self.conditions.column(given)
        factors = np.zeros(8)
        for factor, names in terms:
            factors[sum(1 << "xyz".index(name) for name in names)] += factor
        shape = self.n_features, 1 if targets is None else max(first, last) - first
        if shape[1] == 0:
            return np.empty(shape)
        column, out = np.ascontiguousarray(codes, dtype=np.uint32), np.empty(shape)
        n_rows = self.fixed.total / self.fixed.unit
        done = self._session.shrink(
            column, n_levels, first, first if targets is None else last, factors, n_rows, logarithms(), out.reshape(-1)
        )
        return out if done else None

    def _empty_panel(self, targets: slice, reduce: Reduce) -> tuple[int, int, Panel]:
        """Memory for the sums, and the range of the targets."""
        first, last = target_range(targets, self.n_targets, reduce)
        shape = (self.n_features,) if reduce else (self.n_features, last - first)
        if not reduce:
            require_memory(8 * self.n_features * (last - first), "sums of", self.n_features, last - first)
        return first, last, Panel(np.empty(self.n_features, dtype=np.int64), np.empty(shape, dtype=np.int64))
