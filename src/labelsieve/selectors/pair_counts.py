"""PairCounts: counts of pairs as the input of selectors, added up over parts of the data."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.backends.chunked.backend import ChunkCounts, EntryChunks, LevelCells
from labelsieve.counting.backends.chunked.packed_rows import PackedRows
from labelsieve.counting.backends.protocol import ALL_TARGETS, Backend, Condition, Feature, Panel, Reduce, Sums
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.whole_tables import CountBlock
from labelsieve.discretize import Discretizer
from labelsieve.errors import InputError, require_same_rows, whole_number
from labelsieve.resources import n_threads
from labelsieve.tables.codes import Codes
from labelsieve.tables.targets import TargetTable, TargetTypes, known_classes, target_names
from labelsieve.tables.types import FloatArray, StoredTable, TableLike, TargetsLike

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


class PairBackend(Backend):
    """A :class:`~labelsieve.counting.backends.protocol.Backend` of counts without rows, for formulas over pairs."""

    def __init__(self, tables: PairTables, X: Codes, Y: Codes, fixed: FixedPoint, **_options: object) -> None:
        self._tables, self._fixed, self._n_targets = tables, fixed, Y.n_columns
        self._features, self._targets = starts_of(tables.levels), starts_of(tables.classes)

    def singles(self) -> tuple[Sums, Sums]:
        of_first = self._tables.with_targets[: int(self._tables.classes[0])].sum(axis=0)
        if self._tables.with_features is not None:  # not changed by the cells of a target that are suppressed
            of_first = np.diagonal(self._tables.with_features)
        features = np.add.reduceat(self._fixed(of_first), self._features)
        return features, np.add.reduceat(self._fixed(self._tables.of_classes), self._targets)

    def pairs(self, *, targets: slice = ALL_TARGETS, reduce: Reduce = None, first_feature: int = 0) -> Sums:
        values = self._fixed(self._tables.with_targets)
        sums = np.add.reduceat(np.add.reduceat(values, self._targets, axis=0), self._features, axis=1).T[:, targets]
        return sums.sum(axis=1) if reduce else np.ascontiguousarray(sums)

    def panel(self, given: Condition | None, *, targets: slice = ALL_TARGETS, reduce: Reduce = None) -> Panel:
        if (
            not isinstance(given, Feature)
            or self._tables.with_features is None
            or len(range(*targets.indices(self._n_targets)))
        ):
            raise InputError(f"This criterion {ONLY_PAIRS}")
        start, n_levels = self._features[given.index], int(self._tables.levels[given.index])
        values = self._fixed(self._tables.with_features[start : start + n_levels]).sum(axis=0)
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


VERSION = 1


class PairCounts(StoredTable):
    r"""Joint counts of all pairs of a feature and a target, and of two features: ``Sieve("mrmr").fit(counts)``.

    Counts of rows add up, so those of chunks, days or sites give the selection of all rows together, bit for bit, for criteria
    over pairs of variables: MIM, mRMR, MIFS, SCLS and others without joint counts of three. Rows are not kept, and cannot be
    computed from the counts.

    Parameters
    ----------
    discretizer : Discretizer, default=None
        A fitted discretizer, whose cut points all parts share; None: the values are codes.
    feature_pairs : bool, default=True
        Also count pairs of features. Without them only criteria of relevance alone, such as MIM, can be used.
    n_jobs : int, default=None
        Number of threads.

    Attributes
    ----------
    n_rows_ : int
        Number of rows that were counted.
    feature_names_, label_names_ : tuple of str or None
        Names of the columns, where the tables have them.

    Notes
    -----
    Memory: eight bytes for each pair of levels: :math:`8 (\sum_f r_f)^2` with ``feature_pairs``, else
    :math:`8 \sum_f r_f \sum_y c_y`.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 3, size=(300, 5))
    >>> Y = X[:, [1, 4]] > 0
    >>> monday, tuesday = PairCounts().partial_fit(X[:100], Y[:100]), PairCounts().partial_fit(X[100:], Y[100:])
    >>> Sieve("mrmr", n_features_to_select=2).fit(monday.merge(tuesday)).selected_
    array([1, 4])
    """

    has_rows: ClassVar[bool] = False

    def __init__(
        self, discretizer: Discretizer | None = None, *, feature_pairs: bool = True, n_jobs: int | None = None
    ) -> None:
        if discretizer is not None and not hasattr(discretizer, "transform"):
            raise InputError("discretizer must be a fitted discretizer such as EqualFrequency().fit(X), or None for codes.")
        if discretizer is not None:
            check_is_fitted(discretizer)
        self.discretizer, self.feature_pairs, self.n_jobs = discretizer, feature_pairs, n_jobs
        self._tables: PairTables | None = None
        self.feature_names_: tuple[str, ...] | None = None
        self.label_names_: tuple[str, ...] | None = None

    @property
    def tables(self) -> PairTables:
        """The tables of counts."""
        if self._tables is None:
            raise InputError("There are no counts yet; call partial_fit.")
        return self._tables

    @property
    def n_rows_(self) -> int:
        return self.tables.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows that were counted, and features."""
        return self.tables.n_rows, len(self.tables.levels)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.feature_names_

    @property
    def label_names(self) -> tuple[str, ...] | None:
        return self.label_names_

    def targets(self, target_type: TargetTypes = "auto") -> TargetTable:
        """The classes of the targets, without rows."""
        classes = _without_rows(self.tables.classes, self.tables.n_rows)
        return TargetTable(classes, np.zeros(len(self.tables.classes), dtype=bool), np.empty((self.tables.n_rows, 0)))

    def take_rows(self, rows: NDArray[np.bool_]) -> StoredTable:
        """Refuse weights: counts have no rows."""
        raise InputError("PairCounts have the targets themselves, and no weights; leave out y and sample_weight.")

    def encode(self, discretizer: Any, targets: Codes, weights: FloatArray | None) -> Codes:
        """The levels of the features, without rows."""
        if weights is not None:
            self.take_rows(weights > 0)
        return _without_rows(self.tables.levels, self.tables.n_rows)

    @property
    def backend(self) -> Any:
        """The factory of the backend that looks the counts up."""
        return partial(PairBackend, self.tables)

    def partial_fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Add the rows of ``X`` and their targets ``y``, classes that are all known."""
        names = target_names(X), target_names(y)
        codes = Codes.from_values(X if self.discretizer is None else self.discretizer.transform(X))
        targets = known_classes(y, "PairCounts")
        require_same_rows(codes.n_rows, targets.n_rows, "y")
        added = PairTables.of_rows(codes, targets, feature_pairs=self.feature_pairs, n_threads=n_threads(self.n_jobs))
        return self._add(added, *names)

    def merge(self, *others: "PairCounts") -> "PairCounts":
        """New counts: these and those of others added up."""
        merged = PairCounts(self.discretizer, feature_pairs=self.feature_pairs, n_jobs=self.n_jobs)
        for counts in (self, *others):
            merged._add(counts.tables, counts.feature_names_, counts.label_names_)
        return merged

    def suppress(self, min_count: int) -> "PairCounts":
        r"""New counts in which cells with fewer than ``min_count`` rows are zero, so that they can leave a site.

        The selection is then approximate. A sum over the cells of a table loses at most :math:`k \log k` for each of the
        dropped cells, :math:`k` being ``min_count``, so an information term changes by at most :math:`c\, k \log k / N` nats
        for :math:`c` dropped cells among :math:`N` rows.
        """
        kept = PairCounts(self.discretizer, feature_pairs=self.feature_pairs, n_jobs=self.n_jobs)
        least = whole_number(min_count, "min_count", 1, 2**62)
        return kept._add(self.tables.suppress(least), self.feature_names_, self.label_names_)

    def _add(self, added: PairTables, features: tuple[str, ...] | None, labels: tuple[str, ...] | None) -> Self:
        if self._tables is not None and (features, labels) != (self.feature_names_, self.label_names_):
            raise InputError("The columns have other names than those counted before; counts are of the same columns.")
        self._tables = added if self._tables is None else self._tables + added
        self.feature_names_, self.label_names_ = features, labels
        return self

    def to_bytes(self) -> bytes:
        """The counts and the names of the columns, without the discretizer, for a file or another machine."""
        tables, stream = self.tables, io.BytesIO()
        header = {"version": VERSION, "n_rows": tables.n_rows, "features": self.feature_names_, "labels": self.label_names_}
        arrays: dict[str, Any] = {"levels": tables.levels, "classes": tables.classes, "with_targets": tables.with_targets}
        arrays["of_classes"] = tables.of_classes
        if tables.with_features is not None:
            arrays["with_features"] = tables.with_features
        np.savez_compressed(stream, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "PairCounts":
        """Counts that :meth:`to_bytes` stored."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as found:
                header = json.loads(found["header"].tobytes())
                arrays = {name: found[name] for name in found.files if name != "header"}
            if header["version"] != VERSION:
                raise ValueError("they are of another version")
            levels, classes = arrays["levels"].astype(np.uint32), arrays["classes"].astype(np.uint32)
            shapes = {"with_targets": (classes.sum(), levels.sum()), "of_classes": (classes.sum(),)}
            shapes["with_features"] = (levels.sum(), levels.sum())
            for name, shape in shapes.items():
                if name in arrays and (arrays[name].shape != shape or arrays[name].dtype != np.int64 or arrays[name].min() < 0):
                    raise ValueError(f"{name} has another shape than the levels")
            both = arrays.get("with_features")
            tables = PairTables(int(header["n_rows"]), levels, classes, arrays["with_targets"], both, arrays["of_classes"])
            names = [None if header[key] is None else tuple(map(str, header[key])) for key in ("features", "labels")]
        except Exception as error:  # damaged archives bring out errors of every kind
            raise InputError(f"These are not counts that to_bytes stored ({error}).") from error
        counts = cls(feature_pairs=both is not None)
        return counts._add(tables, *names)

    def __repr__(self) -> str:
        if self._tables is None:
            return "PairCounts(no rows)"
        d, q = len(self.tables.levels), len(self.tables.classes)
        return f"PairCounts({self.n_rows_} rows, {d} features, {q} targets)"


def _without_rows(levels: NDArray[np.uint32], n_rows: int) -> Codes:
    """Codes of this shape that take no memory."""
    return Codes(n_rows, levels, dense=np.broadcast_to(np.uint8(0), (n_rows, len(levels))))
