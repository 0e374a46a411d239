"""Joint counts of all pairs of variables: statistics of rows that add up, and a backend that needs nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.protocol import ALL_TARGETS, Condition, CountBlock, Feature, Panel, Reduce, Sums
from labelsieve.counting.chunk_counts import ChunkCounts, EntryChunks
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.packed_rows import PackedRows
from labelsieve.counting.raw_tables import LevelCells, values_of
from labelsieve.errors import InputError

Counts = NDArray[np.int64]
ONLY_PAIRS = (
    "needs joint counts of three variables, or of label pairs, and these are counts of pairs; use a criterion such as 'mim', "
    "'mrmr', 'mifs' or 'scls', or fit the rows."
)


@dataclass(frozen=True, eq=False)
class PairTables:
    """Counts of rows for every level of every feature, with every class of every target and every level of every feature.

    Attributes
    ----------
    n_rows : int
    levels, classes : ndarray of uint32
        Levels of every feature, classes of every target.
    with_targets : ndarray of int64, shape (classes of all targets, levels of all features)
    with_features : ndarray of int64, shape (levels of all features, levels of all features), or None
    of_classes : ndarray of int64, shape (classes of all targets,)
    """

    n_rows: int
    levels: NDArray[np.uint32]
    classes: NDArray[np.uint32]
    with_targets: Counts
    with_features: Counts | None
    of_classes: Counts

    @classmethod
    def of_rows(cls, X: Codes, Y: Codes, *, feature_pairs: bool = True, n_threads: int = 1) -> "PairTables":
        """Count the rows of a table. Cost: a pass over the rows for every feature and target, 512 levels at a time."""
        packed = PackedRows(X)
        with_targets, of_classes = _counted(packed, X, Y, n_threads)
        with_features = _counted(packed, X, X, n_threads)[0] if feature_pairs else None
        return cls(X.n_rows, X.levels, Y.levels, with_targets, with_features, of_classes)

    def __add__(self, other: Self) -> "PairTables":
        """The counts of both. Where one has more levels, the other has zero rows of these."""
        for ours, theirs, what in ((self.levels, other.levels, "features"), (self.classes, other.classes, "targets")):
            if len(ours) != len(theirs):
                raise InputError(
                    f"Counts of {len(ours)} and of {len(theirs)} {what} do not add up; they must be the same columns."
                )
        if (self.with_features is None) != (other.with_features is None):
            raise InputError("Counts with and without pairs of features do not add up; give feature_pairs the same value.")
        levels, classes = np.maximum(self.levels, other.levels), np.maximum(self.classes, other.classes)
        a, b = self._spread(levels, classes), other._spread(levels, classes)
        both = None if a.with_features is None or b.with_features is None else a.with_features + b.with_features
        of_classes = a.of_classes + b.of_classes
        return PairTables(a.n_rows + b.n_rows, levels, classes, a.with_targets + b.with_targets, both, of_classes)

    def suppress(self, min_count: int) -> "PairTables":
        """Cells of pairs with fewer rows than ``min_count`` become zero, so that no one can be recognized by them."""

        def large(counts: Counts) -> Counts:
            return np.where(counts >= min_count, counts, 0)

        with_features = None if self.with_features is None else large(self.with_features)
        tables = large(self.with_targets), with_features, large(self.of_classes)
        return PairTables(self.n_rows, self.levels, self.classes, *tables)

    def _spread(self, levels: NDArray[np.uint32], classes: NDArray[np.uint32]) -> "PairTables":
        """The same with more levels."""
        if np.array_equal(levels, self.levels) and np.array_equal(classes, self.classes):
            return self
        columns, rows = _positions(self.levels, levels), _positions(self.classes, classes)
        n_columns, n_rows = int(levels.sum()), int(classes.sum())
        with_targets = np.zeros((n_rows, n_columns), dtype=np.int64)
        with_targets[np.ix_(rows, columns)] = self.with_targets
        with_features = None
        if self.with_features is not None:
            with_features = np.zeros((n_columns, n_columns), dtype=np.int64)
            with_features[np.ix_(columns, columns)] = self.with_features
        of_classes = np.zeros(n_rows, dtype=np.int64)
        of_classes[rows] = self.of_classes
        return PairTables(self.n_rows, levels, classes, with_targets, with_features, of_classes)


class PairBackend:
    """A :class:`~labelsieve.counting.backends.protocol.Backend` of counts without rows, for formulas over pairs."""

    def __init__(self, tables: PairTables, X: Codes, Y: Codes, fixed: FixedPoint, **_options: object) -> None:
        self._tables, self._fixed, self._n_targets = tables, fixed, Y.n_columns
        self._features, self._targets = starts_of(tables.levels), starts_of(tables.classes)

    def singles(self) -> tuple[Sums, Sums]:
        of_first = self._tables.with_targets[: int(self._tables.classes[0])].sum(axis=0)
        if self._tables.with_features is not None:  # not changed by the cells of a target that are suppressed
            of_first = np.diagonal(self._tables.with_features)
        features = np.add.reduceat(values_of(self._fixed, of_first), self._features)
        return features, np.add.reduceat(values_of(self._fixed, self._tables.of_classes), self._targets)

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Sums:
        values = values_of(self._fixed, self._tables.with_targets)
        sums = np.add.reduceat(np.add.reduceat(values, self._targets, axis=0), self._features, axis=1).T[:, targets]
        return sums.sum(axis=1) if reduce else np.ascontiguousarray(sums)

    def panel(self, given: Condition, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        if (
            not isinstance(given, Feature)
            or self._tables.with_features is None
            or len(range(*targets.indices(self._n_targets)))
        ):
            raise InputError(f"This criterion {ONLY_PAIRS}")
        start, n_levels = self._features[given.index], int(self._tables.levels[given.index])
        values = values_of(self._fixed, self._tables.with_features[start : start + n_levels]).sum(axis=0)
        n_features = len(self._features)
        return Panel(
            np.add.reduceat(values, self._features), np.zeros(n_features if reduce else (n_features, 0), dtype=np.int64)
        )

    def given_targets(self, given: Condition) -> Sums:
        if not isinstance(given, Feature):
            raise InputError(f"This criterion {ONLY_PAIRS}")
        sums: Sums = self.pairs()[given.index]
        return sums

    def given_single(self, given: Condition) -> int:
        if not isinstance(given, Feature):
            raise InputError(f"This criterion {ONLY_PAIRS}")
        return int(self.singles()[0][given.index])

    def joint_counts(
        self, given: Condition | None = None, *, targets: slice | None = ALL_TARGETS, features: bool = True
    ) -> Iterator[CountBlock]:
        raise InputError(f"This estimator {ONLY_PAIRS}")


def starts_of(levels: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where the levels of every variable begin."""
    return np.concatenate([[0], np.cumsum(levels[:-1], dtype=np.int64)]).astype(np.int64)


def _positions(levels: NDArray[np.uint32], more: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where the levels of every variable are when there are more of them."""
    own = np.arange(int(levels.sum())) - np.repeat(starts_of(levels), levels)
    return np.repeat(starts_of(more), levels) + own


def _counted(packed: PackedRows, X: Codes, V: Codes, n_threads: int) -> tuple[Counts, Counts]:
    """``(levels of V, levels of X)``: joint counts; and the counts of the levels of V."""
    classes = [LevelCells(np.zeros(levels, dtype=np.int64), every=True) for levels in V.levels]
    counter = ChunkCounts(packed, EntryChunks(V, None, None), most=2**62, n_threads=n_threads, classes=classes)
    n_sets, starts = int(V.levels.sum()), starts_of(X.levels)
    out, sizes = np.zeros((n_sets, int(X.levels.sum())), dtype=np.int64), np.zeros(n_sets, dtype=np.int64)
    for part in packed.layout.parts():
        counts = np.concatenate(counter.count(part, range(V.n_columns), None))[:, 0]
        sizes = counts[:, -1]
        for feature, first in zip(part.features.tolist(), part.first.tolist(), strict=True):
            n_other, start = int(X.levels[feature]) - 1, int(starts[feature])
            out[:, start + 1 : start + 1 + n_other] = counts[:, first : first + n_other]
            out[:, start] = sizes - counts[:, first : first + n_other].sum(axis=1)
    return out, sizes
