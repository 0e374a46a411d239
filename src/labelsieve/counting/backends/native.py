"""Counting in this process, with the C++ core."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.known_targets import known_ratios
from labelsieve.counting.backends.protocol import (
    ALL_TARGETS,
    CodesBackend,
    Condition,
    Feature,
    Panel,
    PanelFold,
    Reduce,
    Sums,
    target_range,
)
from labelsieve.counting.fixed_point import logarithms
from labelsieve.counting.whole_tables import Terms
from labelsieve.resources import n_threads, require_memory
from labelsieve.tables.codes import Codes, constant_column
from labelsieve.tables.weights import RowWeights

LEAST_TABLE, TABLE_PER_ROW = 2**16, 8  # terms in a table of sums of weights, at most
PANELS = 64  # that are counted together at most: their sums are in memory at the same time

# What columns of bits are good for, from `python -m benchmarks.lazy`.
MOST_LEVELS, MOST_CLASSES = 33, 64
MARGIN_BYTES, CACHE_BYTES, BITS_PER_LISTED = 2**28, 2**22, 512

Strategy = Literal["auto", "positional", "grouped", "tiled", "sparse", "non-empty", "histogram"]


@dataclass(eq=False, repr=False, kw_only=True)
class NativeBackend(CodesBackend):
    """The C++ core as a :class:`~labelsieve.counting.backends.protocol.Backend`: the fastest one for data in memory.

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
    _in_known_rows: bool = field(init=False, default=False)  # set in the view that of_known_rows returns
    _candidates: core.Candidates | None = field(init=False, default=None)  # answers what it can, so that nothing else is packed

    @cached_property
    def _session(self) -> core.Session:
        """The compiled session that counts: features and targets packed as bits, made when first needed."""
        return self._pack(self.X, self.Y, self.weights, self.row_index)

    @cached_property
    def _among_targets(self) -> core.Session:
        """The targets in place of the features, packed."""
        return self._pack(self.Y, constant_column(self.n_rows), self.weights_of_targets, None)

    @cached_property
    def _targets_alone(self) -> core.Session:
        """A constant feature and the targets, packed with their unknown cells."""
        return self._pack(constant_column(self.n_rows), self.Y, self.weights_of_targets, None)

    def _pack(self, X: Codes, Y: Codes, weights: RowWeights | None, row_index: NDArray[np.uint32] | None) -> core.Session:
        native_weights, table = None, self.fixed.values
        if weights is not None and (weights.values == weights.values[0]).all():
            # Rows that weigh the same are counted without weights: n of them count as n times their weight.
            table = self.fixed(np.arange(Y.n_rows + 1) * int(weights.values[0]))
        elif weights is not None:
            table = self._table_of_weights
            native_weights = core.Weights(weights.values, logarithms(), self.fixed.scale, self.fixed.penalty)
        options = {"known_ratios": self._known_ratios} if Y is self.Y and Y.has_missing else {}
        threads = n_threads(self.n_jobs)
        return core.Session(X.native, Y.native, table, native_weights, threads, self.strategy, row_index, **options)

    @cached_property
    def _table_of_weights(self) -> NDArray[np.int64] | None:
        """The terms of every sum of weights, while they are few: a table is faster than the logarithms of weights."""
        total = self.fixed.total
        return self.fixed(np.arange(total + 1)) if total <= max(LEAST_TABLE, TABLE_PER_ROW * self.n_rows) else None

    @cached_property
    def _known_ratios(self) -> NDArray[np.float64]:
        """The ratio of all rows to the known ones, for every target; 0 for targets without unknown cells."""
        ratios = known_ratios(self.Y, self.weights_of_targets)
        return np.where(ratios > 1, ratios, 0.0)

    @property
    def bytes(self) -> int:
        """Memory of the packed tables."""
        return self._session.bytes

    def candidates(self) -> core.Candidates | None:
        weights, table = self.weights, self.fixed.values
        if weights is not None and (weights.values == weights.values[0]).all():  # as in _pack
            table = self.fixed(np.arange(self.n_rows + 1) * int(weights.values[0]))
        plain = self.row_index is None and not self.Y.has_missing and self.strategy == "auto"
        if table is None or not plain or not suits_candidates(self.X, self.Y):
            return None
        self._candidates = core.Candidates(self.X.native, self.Y.native, table, n_threads(self.n_jobs))
        return self._candidates

    def singles(self) -> tuple[Sums, Sums]:
        features, targets = np.empty(self.n_features, dtype=np.int64), np.empty(self.n_targets, dtype=np.int64)
        if self._candidates is not None:
            self._candidates.single_sums(features, targets)
            return features, targets
        self._session.feature_sums(features)
        if self._in_known_rows:
            self._count_targets(np.zeros(self.n_rows, dtype=np.uint32), 1, targets)
        else:
            self._session.target_sums(targets)
        return features, targets

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        return self._count(given, targets, reduce)

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None, first_feature: int = 0) -> Sums:
        return self._count(None, targets, reduce, first_feature).triple

    def _count(self, given: Condition | None, targets: slice, reduce: Reduce, first_feature: int = 0) -> Panel:
        first, last, _ = targets.indices(self.n_targets)
        width = max(0, last - first)
        if not reduce:
            require_memory(8 * self.n_features * width, "sums of", self.n_features, width)
        pair = np.empty(self.n_features, dtype=np.int64)
        triple = np.empty((self.n_features,) if reduce else (self.n_features, width), dtype=np.int64)
        out, adds = triple.reshape(-1), reduce is not None
        if given is None and width == self.n_targets and self._candidates is not None:
            self._candidates.pair_sums(adds, out)
            return Panel(self.singles()[0], triple)
        session = self._session
        if isinstance(given, Feature):  # its column is packed already
            session.run_feature(given.index, first, first + width, adds, pair, out, joint=self._in_known_rows)
        else:
            column, n_levels = (np.zeros(self.n_rows, dtype=np.uint32), 1) if given is None else self.column(given)
            last, joint = first + width, self._in_known_rows
            session.run(column, n_levels, first, last, adds, pair, out, joint=joint, first_feature=first_feature)
        return Panel(pair, triple)

    def panels_given_features(self, requests: Sequence[tuple[int, slice]]) -> Iterator[Panel]:
        """Count the panels conditioned on features, each with the targets of its slice; several are counted at once."""
        for start in range(0, len(requests), PANELS):
            some = requests[start : start + PANELS]
            ranges = [target_range(targets, self.n_targets) for _, targets in some]
            widths = [last - first for first, last in ranges]
            pairs = np.empty((len(some), self.n_features), dtype=np.int64)
            triples = np.empty(self.n_features * sum(widths), dtype=np.int64)
            rows = [(feature, *within) for (feature, _), within in zip(some, ranges, strict=True)]
            self._session.run_features(np.array(rows, dtype=np.int64), pairs, triples, joint=self._in_known_rows)
            ends = self.n_features * np.cumsum(widths)
            for pair, triple, width in zip(pairs, np.split(triples, ends[:-1]), widths, strict=True):
                yield Panel(pair, triple.reshape(self.n_features, width))

    def given_targets(self, given: Condition) -> Sums:
        column, n_levels = self.column(given)
        sums = np.empty(self.n_targets, dtype=np.int64)
        if self.Y.has_missing:
            self._count_targets(column, n_levels, sums)
        else:
            self._among_targets.run(column, n_levels, 0, 0, False, sums, np.empty(0, dtype=np.int64))
        return sums

    def _count_targets(self, column: NDArray[np.uint32], n_levels: int, out: Sums) -> None:
        """Return the sums over the cells of (condition, target), for targets with unknown cells."""
        alone, joint = np.empty(1, dtype=np.int64), self._in_known_rows
        self._targets_alone.run(column, n_levels, 0, self.n_targets, False, alone, out, joint=joint)

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        """Add ``fold`` of the panel conditioned on a feature inside the core, which keeps no panel."""
        first, last, _ = targets.indices(self.n_targets)
        constant, fixed, pair_factor, triple_factor = fold
        self._session.fold_feature(feature, first, max(first, last), accumulator, fixed, pair_factor, triple_factor, constant)

    def of_known_rows(self) -> "NativeBackend":
        view = copy(self)
        view._session, view._targets_alone = self._session, self._targets_alone  # packed once for both
        view._in_known_rows = True
        return view

    def panel_with_known_rows(self, given: Condition, *, targets: slice = ALL_TARGETS) -> tuple[Panel, Sums]:
        """Count a panel and the triples of :meth:`of_known_rows` in one pass."""
        first, last = target_range(targets, self.n_targets)
        shape = self.n_features, last - first
        require_memory(16 * self.n_features * (last - first), "sums of", *shape)
        pair, triple, known = (np.empty(size, dtype=np.int64) for size in (self.n_features, shape, shape))
        column, n_levels = self.column(given)
        self._session.run(column, n_levels, first, last, False, pair, triple.reshape(-1), known=known.reshape(-1))
        return Panel(pair, triple), known

    def shrunk_information(self, terms: Terms, given: Condition | None, targets: slice | None) -> NDArray[np.float64] | None:
        """Sums of entropies of shrunk tables of every feature; None where the core cannot hold whole tables.

        The core does not hold tables of features with more than 33 levels, targets or conditions with more than 64, repeated
        rows, rows of equal weights other than 1, or unknown labels.
        """
        # Rows of equal weights are packed without them: shrunk numbers of rows have other last bits than sums of weights.
        if self.weights is not None and (self.weights.values == self.weights.values[0]).all():
            return None
        first, last = target_range(slice(0) if targets is None else targets, self.n_targets)
        factors = np.zeros(8)
        for factor, names in terms:
            factors[sum(1 << "xyz".index(name) for name in names)] += factor
        out = np.empty((self.n_features, 1 if targets is None else last - first))
        if out.size == 0:
            return out
        column, n_levels = (np.zeros(self.n_rows, dtype=np.uint32), 1) if given is None else self.column(given)
        n_rows = self.fixed.total / self.fixed.unit
        flat = out.reshape(-1)
        is_done = self._session.shrink(column, n_levels, first, last, factors, n_rows, logarithms(), flat)
        return out if is_done else None


def suits_candidates(X: Codes, Y: Codes) -> bool:
    """True when columns of bits, one for each level but the first, count single candidates well.

    Counting one candidate reads the rows of all classes of the targets within the levels of a selected feature. They must stay
    in the cache, unless both tables are so sparse that common rows are listed.
    """
    n_columns, n_sets = int((X.levels.astype(np.int64) - 1).sum()), int((Y.levels.astype(np.int64) - 1).sum())
    most = max(1, int(X.levels.max()) - 1)
    if most >= MOST_LEVELS or int(Y.levels.max()) > MOST_CLASSES or X.in_file or 4 * n_columns * n_sets > MARGIN_BYTES:
        return False
    stays = most * (1 + n_sets) * X.n_rows // 8 <= CACHE_BYTES
    if X.sparse is None:
        return stays
    n_listed = len(X.sparse.rows)
    return n_columns * X.n_rows <= BITS_PER_LISTED * n_listed and (stays or Y.sparse is not None)
