"""PairCounts: counts of pairs as the input of selectors, added up over parts of the data."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.backends.chunked.backend import ChunkCounts, EntryChunks, LevelCells
from labelsieve.counting.backends.chunked.packed_rows import PackedRows
from labelsieve.counting.backends.protocol import ALL_TARGETS, Backend, Condition, Feature, Panel, Reduce, Sums
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.whole_tables import CountBlock
from labelsieve.discretize import Discretizer
from labelsieve.discretize.base import BaseBins
from labelsieve.errors import InputError, require_same_rows, whole_number
from labelsieve.resources import n_threads
from labelsieve.tables.codes import Codes
from labelsieve.tables.frames import read_table
from labelsieve.tables.targets import ClassName, TargetTable, TargetTypes, named_classes, target_names
from labelsieve.tables.types import FloatArray, StoredTable, TableLike, TargetsLike

Counts = NDArray[np.int64]
ClassNames = tuple[tuple[ClassName, ...], ...]
ONLY_PAIRS = (
    "needs joint counts of three variables, or of label pairs, and these are counts of pairs; use a criterion such as 'mim', "
    "'mrmr', 'mifs' or 'scls', or fit the rows."
)


@dataclass(frozen=True, eq=False)
class PairTables:
    """Counts of rows for every level of every feature, with every class of every target and every level of every feature."""

    n_rows: int
    levels: NDArray[np.uint32]  # of every feature
    class_names: ClassNames  # of every target, in the order of their counts
    with_targets: Counts  # (classes of all targets, levels of all features)
    with_features: Counts | None  # (levels of all features, levels of all features)
    of_classes: Counts

    @classmethod
    def of_rows(
        cls, X: Codes, Y: Codes, class_names: ClassNames, *, feature_pairs: bool = True, n_threads: int = 1
    ) -> "PairTables":
        """Count the rows of a table. Cost: a pass over the rows for every feature and target, 512 levels at a time."""
        packed = PackedRows(X)
        with_targets, of_classes = _counted(packed, X, Y, n_threads)
        with_features = _counted(packed, X, X, n_threads)[0] if feature_pairs else None
        return cls(X.n_rows, X.levels, class_names, with_targets, with_features, of_classes)

    @property
    def classes(self) -> NDArray[np.uint32]:
        """Return the number of classes of every target."""
        return np.array([len(names) for names in self.class_names], dtype=np.uint32)

    def __add__(self, other: Self) -> "PairTables":
        """Add the counts of both: classes of the same name, and levels of the same number; one may have more than the other."""
        sizes = (len(self.levels), len(other.levels), "features"), (len(self.class_names), len(other.class_names), "targets")
        for ours, theirs, what in sizes:
            if ours != theirs:
                raise InputError(f"Counts of {ours} and of {theirs} {what} do not add up; they must be the same columns.")
        if (self.with_features is None) != (other.with_features is None):
            raise InputError("Counts with and without pairs of features do not add up; give feature_pairs the same value.")
        levels = np.maximum(self.levels, other.levels)
        of_targets = zip(self.class_names, other.class_names, strict=True)
        names = tuple(_union(target, *of_target) for target, of_target in enumerate(of_targets))
        a, b = self._spread(levels, names), other._spread(levels, names)
        both = None if a.with_features is None or b.with_features is None else a.with_features + b.with_features
        of_classes = a.of_classes + b.of_classes
        return PairTables(a.n_rows + b.n_rows, levels, names, a.with_targets + b.with_targets, both, of_classes)

    def suppress(self, min_count: int) -> "PairTables":
        """Return counts in which cells with fewer rows than ``min_count`` are zero, so that they recognize nobody."""

        def large(counts: Counts) -> Counts:
            return np.where(counts >= min_count, counts, 0)

        with_features = None if self.with_features is None else large(self.with_features)
        tables = large(self.with_targets), with_features, large(self.of_classes)
        return PairTables(self.n_rows, self.levels, self.class_names, *tables)

    def _spread(self, levels: NDArray[np.uint32], names: ClassNames) -> "PairTables":
        """Return the same counts for more levels and classes, with zero rows of those that are new."""
        if np.array_equal(levels, self.levels) and names == self.class_names:
            return self
        of_features = [np.arange(n_levels) for n_levels in self.levels.tolist()]
        of_targets = [np.array([more.index(name) for name in own]) for own, more in zip(self.class_names, names, strict=True)]
        columns = np.concatenate([start + own for start, own in zip(starts_of(levels), of_features, strict=True)])
        starts = starts_of(np.array([len(more) for more in names]))
        rows = np.concatenate([start + own for start, own in zip(starts, of_targets, strict=True)])
        n_columns, n_rows = int(levels.sum()), sum(map(len, names))
        with_targets = np.zeros((n_rows, n_columns), dtype=np.int64)
        with_targets[np.ix_(rows, columns)] = self.with_targets
        with_features = None
        if self.with_features is not None:
            with_features = np.zeros((n_columns, n_columns), dtype=np.int64)
            with_features[np.ix_(columns, columns)] = self.with_features
        of_classes = np.zeros(n_rows, dtype=np.int64)
        of_classes[rows] = self.of_classes
        return PairTables(self.n_rows, levels, names, with_targets, with_features, of_classes)


def _union(target: int, ours: tuple[ClassName, ...], theirs: tuple[ClassName, ...]) -> tuple[ClassName, ...]:
    """Return the classes of two parts in ascending order, which does not depend on the order of the parts."""
    if isinstance(ours[0], str) != isinstance(theirs[0], str):
        raise InputError(
            f"Target {target} has the class {ours[0]!r} in one part and {theirs[0]!r} in another: text and numbers, which "
            "cannot be matched. Convert the column to one type in all parts."
        )
    return tuple(sorted({*ours, *theirs}, key=lambda name: ("", name) if isinstance(name, int) else (name, 0)))


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


def starts_of(levels: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the position at which the levels of every variable begin."""
    return np.concatenate([[0], np.cumsum(levels[:-1], dtype=np.int64)]).astype(np.int64)


def _counted(packed: PackedRows, X: Codes, V: Codes, n_threads: int) -> tuple[Counts, Counts]:
    """Return the joint counts, ``(levels of V, levels of X)``, and the counts of the levels of V."""
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


VERSION = 2  # of the bytes: 2 has the names of classes and the fingerprint of the cut points


class PairCounts(StoredTable):
    r"""Joint counts of all pairs of a feature and a target, and of two features: ``Sieve("mrmr").fit(counts)``.

    Counts of rows add up, so those of chunks, days or sites give the selection of all rows together, bit for bit, for criteria
    over pairs of variables: MIM, mRMR, MIFS, SCLS and others without joint counts of three. Rows are not kept, and cannot be
    computed from the counts.

    Classes of the targets are matched by their names or numbers, so a part need not have all of them. Levels of features are
    matched by the cut points of the discretizer: counts with different ones are refused.

    Parameters
    ----------
    discretizer : Discretizer, default=None
        A fitted discretizer, whose cut points and levels all parts share; None: the values are codes, and X has no text.
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
        if isinstance(discretizer, BaseBins) and discretizer.missing == "drop-pairwise":
            raise InputError("PairCounts count missing cells as a level; use a discretizer with missing='level' or 'error'.")
        self.discretizer, self.feature_pairs, self.n_jobs = discretizer, feature_pairs, n_jobs
        self._cuts = None if discretizer is None else _fingerprint(discretizer)
        self._tables: PairTables | None = None
        self.feature_names_: tuple[str, ...] | None = None
        self.label_names_: tuple[str, ...] | None = None

    @property
    def tables(self) -> PairTables:
        """Return the tables of counts; raise an error if nothing was counted."""
        if self._tables is None:
            raise InputError("There are no counts yet; call partial_fit.")
        return self._tables

    @property
    def n_rows_(self) -> int:
        return self.tables.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows that were counted, and of features."""
        return self.tables.n_rows, len(self.tables.levels)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.feature_names_

    @property
    def label_names(self) -> tuple[str, ...] | None:
        return self.label_names_

    def targets(self, target_type: TargetTypes = "auto") -> TargetTable:
        """Return the classes of the targets as a table without rows."""
        classes = _without_rows(self.tables.classes, self.tables.n_rows)
        return TargetTable(classes, np.zeros(len(self.tables.classes), dtype=bool), np.empty((self.tables.n_rows, 0)))

    def take_rows(self, rows: NDArray[np.bool_]) -> StoredTable:
        """Refuse weights: counts have no rows."""
        raise InputError("PairCounts have the targets themselves, and no weights; leave out y and sample_weight.")

    def encode(self, discretizer: Any, targets: Codes, weights: FloatArray | None) -> Codes:
        """Return the levels of the features as codes without rows."""
        if weights is not None:
            self.take_rows(weights > 0)
        return _without_rows(self.tables.levels, self.tables.n_rows)

    @property
    def backend(self) -> Any:
        """Return the factory of a backend that looks counts up instead of counting."""
        return partial(PairBackend, self.tables)

    def partial_fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Add the rows of ``X`` and their targets ``y``, classes that are all known."""
        codes = _codes(X) if self.discretizer is None else Codes.from_values(self.discretizer.transform(X))
        targets, class_names = named_classes(y, "PairCounts")
        require_same_rows(codes.n_rows, targets.n_rows, "y")
        threads = n_threads(self.n_jobs)
        added = PairTables.of_rows(codes, targets, tuple(class_names), feature_pairs=self.feature_pairs, n_threads=threads)
        cuts = None if self.discretizer is None else _fingerprint(self.discretizer)
        labels = targets.names if target_names(y) is None else target_names(y)
        return self._add(added, cuts, target_names(X), labels)

    def merge(self, *others: "PairCounts") -> "PairCounts":
        """Return new counts: these and those of others added up.

        Classes are matched by name. Raises an :class:`~labelsieve.InputError` if the others have different columns or were
        counted with different cut points.
        """
        merged = PairCounts(self.discretizer, feature_pairs=self.feature_pairs, n_jobs=self.n_jobs)
        for counts in (self, *others):
            merged._add(counts.tables, counts._cuts, counts.feature_names_, counts.label_names_)
        return merged

    def suppress(self, min_count: int) -> "PairCounts":
        r"""Return new counts in which cells with fewer than ``min_count`` rows are zero, so that they can leave a site.

        The selection is then approximate. A sum over the cells of a table loses at most :math:`k \log k` for each of the
        dropped cells, :math:`k` being ``min_count``, so an information term changes by at most :math:`c\, k \log k / N` nats
        for :math:`c` dropped cells among :math:`N` rows.
        """
        kept = PairCounts(self.discretizer, feature_pairs=self.feature_pairs, n_jobs=self.n_jobs)
        least = whole_number(min_count, "min_count", 1, 2**62)
        return kept._add(self.tables.suppress(least), self._cuts, self.feature_names_, self.label_names_)

    def _add(
        self, added: PairTables, cuts: str | None, features: tuple[str, ...] | None, labels: tuple[str, ...] | None
    ) -> Self:
        if self._tables is not None:
            if (features, labels) != (self.feature_names_, self.label_names_):
                raise InputError(
                    "The columns have other names than those counted before; counts are of the same columns. Label sets need "
                    "the same labels in every part: pass 0/1 columns for all labels."
                )
            if cuts != self._cuts:
                raise InputError(
                    "These counts have other cut points or levels than those counted before, so they do not add up; fit one "
                    "discretizer, send it to all parts (for example with pickle), and count with PairCounts(discretizer)."
                )
        self._tables = added if self._tables is None else self._tables + added
        self._cuts, self.feature_names_, self.label_names_ = cuts, features, labels
        return self

    def to_bytes(self) -> bytes:
        """Store counts, names of columns and classes, and a fingerprint of the discretizer, for a file or another machine."""
        tables, stream = self.tables, io.BytesIO()
        header = {
            "version": VERSION,
            "n_rows": tables.n_rows,
            "features": self.feature_names_,
            "labels": self.label_names_,
            "classes": tables.class_names,
            "cuts": self._cuts,
        }
        arrays: dict[str, Any] = {"levels": tables.levels, "with_targets": tables.with_targets}
        arrays["of_classes"] = tables.of_classes
        if tables.with_features is not None:
            arrays["with_features"] = tables.with_features
        np.savez_compressed(stream, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "PairCounts":
        """Return the counts that :meth:`to_bytes` stored; they can be merged with others of the same cut points."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as found:
                header = json.loads(found["header"].tobytes())
                arrays = {name: found[name] for name in found.files if name != "header"}
            if header["version"] != VERSION:
                raise ValueError("they are of another version of labelsieve; count the rows again")
            levels, class_names = arrays["levels"].astype(np.uint32), tuple(map(tuple, header["classes"]))
            n_classes = sum(len(set(of_target)) for of_target in class_names)
            if not all(isinstance(name, ClassName) for of_target in class_names for name in of_target):
                raise ValueError("the names of classes are damaged")
            shapes = {"with_targets": (n_classes, levels.sum()), "of_classes": (n_classes,)}
            shapes["with_features"] = (levels.sum(), levels.sum())
            for name, shape in shapes.items():
                if name in arrays and (arrays[name].shape != shape or arrays[name].dtype != np.int64 or arrays[name].min() < 0):
                    raise ValueError(f"{name} has another shape than the levels")
            both = arrays.get("with_features")
            tables = PairTables(int(header["n_rows"]), levels, class_names, arrays["with_targets"], both, arrays["of_classes"])
            cuts = None if header["cuts"] is None else str(header["cuts"])
            names = [None if header[key] is None else tuple(map(str, header[key])) for key in ("features", "labels")]
        except Exception as error:  # damaged archives bring out errors of every kind
            raise InputError(f"These are not counts that to_bytes stored ({error}).") from error
        counts = cls(feature_pairs=both is not None)
        return counts._add(tables, cuts, *names)

    def __repr__(self) -> str:
        if self._tables is None:
            return "PairCounts(no rows)"
        d, q = len(self.tables.levels), len(self.tables.classes)
        return f"PairCounts({self.n_rows_} rows, {d} features, {q} targets)"


def _codes(X: TableLike) -> Codes:
    """Read features that are codes; text is refused, because each part would number its own words."""
    table = read_table(X)
    if table.text:
        raise InputError(
            f"X, {table.name(min(table.text))}: text has no codes that all parts share; fit a discretizer on rows with all "
            "levels, for example Levels().fit(X), and count with PairCounts(discretizer)."
        )
    return Codes.from_table(table)


def _fingerprint(discretizer: Any) -> str:
    """Return a text that is the same for discretizers with the same cut points; of other libraries, the same attributes."""
    if isinstance(discretizer, BaseBins):
        return discretizer.fingerprint()
    learned = {name: value for name, value in vars(discretizer).items() if name.endswith("_")}
    return str(joblib.hash(learned))


def _without_rows(levels: NDArray[np.uint32], n_rows: int) -> Codes:
    """Return codes of a given shape that take no memory, in place of rows that are not here."""
    return Codes(n_rows, levels, dense=np.broadcast_to(np.uint8(0), (n_rows, len(levels))))
