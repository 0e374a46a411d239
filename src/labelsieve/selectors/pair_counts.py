"""Statistics of rows that add up: ``partial_fit`` on chunks or sites, ``merge``, and a selection from the counts alone."""

import io
import json
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.codes import Codes
from labelsieve.counting.pair_tables import PairTables
from labelsieve.counting.resources import n_threads
from labelsieve.counting.targets import known_classes, target_names
from labelsieve.discretize import Discretizer
from labelsieve.errors import InputError, require_same_rows, whole_number
from labelsieve.labelspace.base_space import CountingInput
from labelsieve.registry import ResolvedMethod
from labelsieve.selectors.column_frames import set_feature_names
from labelsieve.table_types import TableLike, TargetsLike, WeightsLike

if TYPE_CHECKING:
    from labelsieve.selectors.base import BaseSieve

VERSION = 1


class PairCounts:
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


def input_of_counts(
    selector: "BaseSieve", counts: PairCounts, y: TargetsLike | None, sample_weight: WeightsLike, method: ResolvedMethod
) -> CountingInput:
    """What a selector counts, without rows: the backend has the counts."""
    if y is not None or sample_weight is not None:
        raise InputError("PairCounts have the targets themselves, and no weights; leave out y and sample_weight.")
    if method.space.name != "single":
        raise InputError(f"PairCounts are counts of single targets; use targets='single', not {method.space.name!r}.")
    tables = counts.tables
    set_feature_names(selector, len(tables.levels), counts.feature_names_)
    selector.target_types_ = np.full(len(tables.classes), "class", dtype=object)
    selector.discretizer_, selector.target_discretizer_ = method.discretizer, method.target_discretizer
    X, Y = (_without_rows(levels, tables.n_rows) for levels in (tables.levels, tables.classes))
    return CountingInput(X, Y, None, None, 0)


def _without_rows(levels: NDArray[np.uint32], n_rows: int) -> Codes:
    """Codes of this shape that take no memory."""
    return Codes(n_rows, levels, dense=np.broadcast_to(np.uint8(0), (n_rows, len(levels))))
