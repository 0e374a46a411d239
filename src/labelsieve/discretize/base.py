"""Discretizers encode columns as levels. Here are the base classes and the bins that look at the values alone."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError, one_of, require_same_rows, whole_number
from labelsieve.parameters import (
    AT_LEAST_ONE,
    POSITIVE,
    CheckedParameters,
    Interval,
    Options,
    StrOptions,
    checked_fit,
    parameter,
)
from labelsieve.tables.codes import MAX_LEVELS, Codes, ColumnCuts, apply_cuts, bin_equal_width, cut_by_values, require_finite
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.nominal import KeptLevels, declare_nominal, encode_levels, keep_levels, without_cuts
from labelsieve.tables.problem import check_features, column_numbers
from labelsieve.tables.targets import known_classes
from labelsieve.tables.types import ColumnsLike, CompressedMatrix, TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import RowWeights, positive_weights, quantize

Missing = Literal["level", "error", "drop-pairwise"]
Table = TypeVar("Table")


class Discretizer(CheckedParameters, BaseEstimator):
    """Base class of discretizers, which encode columns as levels. Parameters can be tuned by a grid search.

    A subclass defines ``encode``; one with cut points is derived from ``BaseBins``, see docs/extend/contributing.md.
    """

    name: ClassVar[str]
    uses_targets: Any = False  # whether the codes of some column depend on the targets

    def fingerprint(self) -> str:
        """Return a text that is the same for two fitted discretizers if they give every value the same code."""
        check_is_fitted(self)
        cuts = [[one.starts.tolist(), one.points.tolist(), one.kept.tolist(), one.closed_right] for one in self._cuts]
        levels = [[column, kept.values.tolist(), kept.pooled] for column, kept in sorted(self._levels.items())]
        return hashlib.sha256(json.dumps([cuts, levels, sorted(self._text)], default=str).encode()).hexdigest()

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Encode ``X`` without fitting the object; returns codes, or a list of codes, one for each target."""
        raise NotImplementedError

    def for_columns(self, columns: Sequence[int], names: Sequence[str] | None) -> "Discretizer":
        """Return the discretizer of a table that has only these columns, in this order; ``names`` are those of all columns."""
        return self

    def require_unsupervised(self, caller: str) -> None:
        """Refuse codes that depend on the targets, for ``caller``, which tests whether they are associated with the targets."""
        if self.uses_targets:
            raise InputError(
                f"{caller}: supervised bins depend on the targets, and tests of such codes have p-values that are too small; "
                'use discretizer="equal-frequency" or another that does not use the targets.'
            )


@dataclass(eq=False, repr=False)
class BaseBins(OneToOneFeatureMixin, TransformerMixin, Discretizer):
    """A scikit-learn transformer that cuts the range of every numeric column into bins; nominal columns keep their levels.

    Parameters
    ----------
    missing : {"level", "error", "drop-pairwise"}, default="level"
        Missing values (NaN, empty cells of frames): encode them as an additional last level, refuse them, or leave them out of
        every count of the column.
    min_level_count : int, default=1
        Levels of a nominal column with fewer rows than this are pooled into one level.
    nominal : "all" or sequence of int or str, default=None
        Columns of numbers that are categories. Text, categories and booleans of a frame are always nominal.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Cut points of every column, ascending; empty for a column that keeps its values.
    categories_ : list of ndarray or None
        The values that a column keeps as levels (of a nominal column, without pooled levels); None for a column with cut
        points. An unseen number gets the code of the nearest value, in a tie the upper; an unseen level that of pooled levels
        or, without these, of missing values.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    _: KW_ONLY
    missing: Missing = "level"
    min_level_count: int = parameter(1, AT_LEAST_ONE)
    nominal: ColumnsLike | None = parameter(None, "array-like", StrOptions({"all"}))

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        """Find the cut points of every column of a table without nominal columns: one set, or one for each target."""
        raise NotImplementedError

    @checked_fit
    def fit(self, X: TableLike, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None) -> Self:
        """Learn cut points and levels from ``X``, and from ``y`` if the discretizer is supervised."""
        if self.uses_targets and y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        table = self._read_table(check_features(self, X))
        self._cuts, self._levels = self._learn(table, y, sample_weight)
        self._text = frozenset(table.text)
        tables = [cuts.split() for cuts in self._cuts]
        self.cut_points_: list[Any] = tables[0][0] if len(tables) == 1 else [points for points, _ in tables]
        self.categories_ = tables[0][1]
        for column, kept in self._levels.items():
            self.categories_[column] = kept.values
        return self

    def transform(self, X: TableLike) -> NDArray[np.integer] | CompressedMatrix:
        """Encode ``X`` by the fitted cut points, in the smallest unsigned integer type; sparse input gives sparse output.

        Values outside the fitted range go to the first or the last bin. A level of a nominal column that was not there when
        fitted has the code of pooled levels; if none were pooled, the code of missing values, the last. In a sparse matrix the
        bin of zero is not stored if its code is 0, as in every column without negative values; a column in which it has another
        code is stored in full (``encode`` never does that).
        """
        check_is_fitted(self)
        if len(self._cuts) > 1:
            raise InputError(
                f'MDL(targets="single") has cut points for each of {len(self._cuts)} targets; use transform_label(X, target), '
                'or targets="joint" or "copy".'
            )
        return self._transform(X, self._cuts[0])

    def _transform(self, X: TableLike, cuts: ColumnCuts) -> NDArray[np.integer] | CompressedMatrix:
        table = self._read_table(check_features(self, X, reset=False))
        different = sorted(set(table.text) ^ self._text)
        if different:
            was, now = ("text", "numbers") if different[0] in self._text else ("numbers", "text")
            raise InputError(f"X, {table.name(different[0])}: it was {was} when fitted and is {now} now.")
        codes = encode_levels(apply_cuts(table, cuts), table, self._levels)
        return codes.to_dense() if codes.sparse is None else as_matrix_like(codes, X)

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Encode ``X`` without fitting the object; returns codes, or a list of codes, one for each target."""
        self._validate_params()
        table = self._read_table(X)
        all_cuts, levels = self._learn(table, y, sample_weight)
        drop = self.missing == "drop-pairwise"
        if levels and table.dense is not None and len(levels) == table.shape[1]:
            return encode_levels(without_cuts(table, mark_missing=drop), table, levels)
        tables = []
        for cuts in all_cuts:
            codes = apply_cuts(table, cuts, mark_missing=drop)
            tables.append(encode_levels(codes, table, levels) if levels else codes)
        return tables[0] if len(tables) == 1 else tables

    def _read_table(self, X: TableLike | NumberTable) -> NumberTable:
        """Read ``X`` as finite numbers, with the columns that the parameters declare nominal."""
        table = read_table(X, allow_missing=self.missing != "error")
        require_finite(table, allow_missing=self.missing != "error")
        if self.nominal is None:
            return table
        if isinstance(self.nominal, str):
            return declare_nominal(table, self.nominal)
        return declare_nominal(table, column_numbers(self.nominal, table.names, table.shape[1], "nominal"))

    def _learn(
        self, table: NumberTable, y: TargetsLike | Codes | None, sample_weight: WeightsLike
    ) -> tuple[list[ColumnCuts], dict[int, KeptLevels]]:
        """Find the cut points of the numeric columns, and the levels of the nominal ones."""
        # A row of weight 0 must not move a cut point, nor add a class.
        rows, weights = (None, None) if sample_weight is None else positive_weights(sample_weight, table.shape[0])
        targets = self._read_targets(y, table, rows) if self.uses_targets else None
        table = table if rows is None else table.take_rows(rows)
        quantized = None if weights is None else quantize(weights)
        if not table.nominal:
            return self._cut(table, targets, quantized), {}
        n_columns = table.shape[1]
        levels = keep_levels(table, weights, self.min_level_count, whole=rows is None)
        if len(levels) == n_columns:
            return [ColumnCuts.none(n_columns)], levels
        cuts = self._cut(table.measurements(), targets, quantized)
        return [some.spread(n_columns, table.nominal) for some in cuts], levels

    def _read_targets(self, y: TargetsLike | Codes | None, table: NumberTable, rows: NDArray[np.bool_] | None) -> Codes:
        if y is None:
            raise InputError(f"{type(self).__name__} is supervised: pass the targets as y.")
        targets = known_classes(y, type(self).__name__, rows)
        require_same_rows(table.shape[0] if rows is None else int(np.count_nonzero(rows)), targets.n_rows, "y")
        return targets

    def for_columns(self, columns: Sequence[int], names: Sequence[str] | None) -> "BaseBins":
        """Return the discretizer of a table that has only these columns, in this order; ``names`` are those of all columns."""
        if self.nominal is None or isinstance(self.nominal, str):
            return self
        nominal = column_numbers(self.nominal, names, None, "nominal")
        some: BaseBins = clone(self).set_params(nominal=[at for at, column in enumerate(columns) if column in nominal])
        return some

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.target_tags.required = self.uses_targets
        tags.target_tags.multi_output = self.uses_targets
        tags.transformer_tags.preserves_dtype = []
        return tags


def as_matrix_like(codes: Codes, X: TableLike) -> CompressedMatrix:
    """Convert codes to a sparse matrix in the format of ``X``; codes of 0 are not stored.

    Cost: the stored entries, and all rows of the columns whose implicit code is not 0.

    >>> codes = Codes.from_values(sp.csr_array([[0, 2], [0, 0]]))
    >>> as_matrix_like(codes, sp.csr_array((1, 1))).toarray()
    array([[0, 2],
           [0, 0]], dtype=uint8)
    """
    sparse = codes.sparse
    assert sparse is not None
    dtype = np.uint8 if codes.levels.max() <= 256 else np.uint16
    values = sparse.codes.astype(dtype)
    full = np.flatnonzero(sparse.implicit)
    column_of_entry = np.repeat(np.arange(codes.n_columns), np.diff(sparse.starts))
    in_full = np.isin(column_of_entry, full)
    matrix = sp.csc_array((np.where(in_full, 0, values).astype(dtype), sparse.rows, sparse.starts), shape=codes.shape)
    matrix.eliminate_zeros()
    if len(full):
        table = np.repeat(sparse.implicit[full].astype(dtype)[np.newaxis], codes.n_rows, axis=0)
        table[sparse.rows[in_full], np.searchsorted(full, column_of_entry[in_full])] = values[in_full]
        rows, columns = np.nonzero(table)
        matrix = matrix + sp.csc_array((table[rows, columns], (rows, full[columns])), shape=codes.shape, dtype=dtype)
    kinds = (sp.csc_array, sp.csr_array) if isinstance(X, sp.sparray) else (sp.csc_matrix, sp.csr_matrix)
    converted: CompressedMatrix = kinds[0 if is_sparse(X) and X.format == "csc" else 1](matrix)
    return converted


@overload
def one_table(codes: Codes | list[Codes], selector: str) -> Codes: ...
@overload
def one_table(codes: list[Table], selector: str) -> Table: ...
def one_table(codes: object, selector: str) -> Any:
    """Return the codes that all targets share; a separate table for each target is refused.

    >>> one_table(Codes.from_values([[0], [1]]), "Sieve").n_columns
    1
    """
    if not isinstance(codes, list):
        return codes
    if len(codes) == 1:
        return codes[0]
    raise InputError(
        f"{selector} needs one set of codes for all targets, and the discretizer returns one for each of {len(codes)}; "
        'use MDL(targets="joint") or "copy", or LabelwiseSieve.'
    )


def allows_missing(selector: object) -> bool:
    """Tell whether a selector takes missing values (NaN): it has a discretizer, and neither of them refuses such values.

    >>> from labelsieve import Sieve
    >>> allows_missing(Sieve()), allows_missing(Sieve(missing="error"))
    (True, False)
    """
    if not hasattr(selector, "discretizer"):
        return False
    missing = getattr(selector, "missing", None)
    return (getattr(selector.discretizer, "missing", "level") if missing is None else missing) != "error"


Closed = Literal["left", "right"]


@dataclass(eq=False, repr=False)
class NumberedBins(BaseBins):
    """Base of discretizers with a given number of bins.

    A column with no more than ``n_bins`` distinct values keeps them as levels.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins.
    """

    _method: ClassVar[str]  # name of the rule in cut_by_values

    n_bins: int = parameter(5, Interval(Integral, 1, MAX_LEVELS, closed="both"))

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        return [cut_by_values(table, self._method, self.n_bins, weights=weights)]


@dataclass(eq=False, repr=False)
class EqualWidth(NumberedBins):
    r"""Discretize every column into bins of equal width.

    With :math:`w = (\max - \min) / n`, the cut points are :math:`\min + i w`. Bins are closed on the left, the last on both
    sides; with ``closed="right"`` they are closed on the right, the first on both sides. A column with no more than ``n_bins``
    distinct values keeps them as levels, in ascending order.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins: five in Sechidis, Nikolaou and Brown (2014); ten, closed on the right, in Pereira et al. (2015).
    closed : {"left", "right"}, default="left"
        The side of a bin whose limit belongs to it.

    Notes
    -----
    Positive weights have no effect; rows of weight 0 are ignored. Cost: two passes over the values. Discretizers use the
    threads of joblib's context, as in ``with joblib.parallel_config("threading", n_jobs=2): ...``; selectors set it to their
    ``n_jobs``. The codes do not depend on it.

    Examples
    --------
    >>> binning = EqualWidth(n_bins=3).fit([[0.0], [0.5], [0.7], [1.0], [0.1]])
    >>> binning.cut_points_[0].round(3)
    array([0.333, 0.667])
    >>> binning.transform([[-7.0], [0.4], [2.0]]).ravel()
    array([0, 1, 2], dtype=uint8)
    """

    name = "equal-width"

    closed: Closed = field(default="left", kw_only=True)

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Encode ``X`` without fitting the object."""
        self._validate_params()
        table = read_table(X, allow_missing=self.missing != "error")
        if sample_weight is None and self.nominal is None and not table.nominal:
            codes = bin_equal_width(table, self.n_bins, closed_right=self.closed == "right")
            if codes is not None:  # faster, since no cut points are stored, but for finite numbers only
                return codes
        return super().encode(table, y, sample_weight)

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        return [cut_by_values(table, "equal-width", self.n_bins, closed_right=self.closed == "right")]


class EqualFrequency(NumberedBins):
    r"""Discretize every column into bins with about equal numbers of rows.

    The boundary between two neighboring distinct values :math:`a < b` has the fraction :math:`F(a)` of the rows (or of their
    weight) below it. For :math:`i = 1, \dots, n - 1` the column is cut at the boundary whose fraction is nearest to :math:`i /
    n` (in a tie, the lower one), half-way between the two values. If a value is so frequent that one boundary is nearest for
    several :math:`i`, the most frequent value gets a separate bin, and the values below and above it share the other bins by
    the same rule, in proportion to their rows, as long as a bin has about :math:`1 / (2n)` of all rows. Equal values are never
    split, and in a column of mostly zeros the zeros are separate from the other values, and these from each other. A column
    with no more than ``n_bins`` distinct values keeps them as levels.

    Notes
    -----
    Bins are closed on the left. The codes are invariant under increasing transformations of a column. Cost: three passes over
    the columns and a sort of the values near the cut points; sorting the columns if rows are weighted, few or mostly equal, and
    the stored values of sparse columns.

    Examples
    --------
    >>> EqualFrequency(2).fit_transform([[1.0], [2.0], [3.0], [1000.0]]).ravel()
    array([0, 0, 1, 1], dtype=uint8)
    """

    name = _method = "equal-frequency"


class KMeansBins(NumberedBins):
    r"""Discretize every column into the clusters of one-dimensional k-means.

    The bins :math:`B_1, \dots, B_n` minimize

    .. math:: \sum_{b} \sum_{x \in B_b} w_x (x - \mu_b)^2

    over all partitions of the sorted values. Dynamic programming (Wang and Song 2011) finds the global optimum, so the result
    depends on no random start. Cut points are half-way between neighboring means. A column with no more than ``n_bins``
    distinct values keeps them as levels.

    Notes
    -----
    Bins are closed on the left. Cost: sorting a column, and ``n_bins * m * log(m)`` steps for its ``m`` distinct values.

    Examples
    --------
    >>> KMeansBins(2).fit_transform([[1.0], [2.0], [3.0], [1000.0]]).ravel()
    array([0, 0, 0, 1], dtype=uint8)
    """

    name = _method = "k-means"


@dataclass(eq=False, repr=False)
class MeanStd(BaseBins):
    r"""Levels by the distance from the mean in standard deviations.

    Three levels are cut at :math:`\mu \pm c \sigma`; five also at :math:`\mu \pm 2 c \sigma`. The standard deviation is
    that of a sample, with :math:`N - 1`. Bins are closed on the left. A cut point without data on one side of it is dropped:
    a constant column has one level, and in a sparse column of counts zero is in the first bin.

    Parameters
    ----------
    n_levels : {3, 5}, default=3
        Number of levels.
    factor : float, default=1.0
        The factor :math:`c`. Sun and Kudo (2017) write 1; their program uses 0.5.
    decimals : int, default=None
        Round the cut points to this number of decimals; their program uses 3.
    keep_binary : bool, default=False
        Keep the values of columns of zeros and ones as levels, as their program does.

    Notes
    -----
    Weights are frequencies of rows, also in :math:`N - 1`. Cost: sorting the columns, so that sums do not depend on the order
    of the rows.

    Examples
    --------
    >>> MeanStd().fit_transform([[0.0], [4.0], [5.0], [6.0], [10.0]]).ravel()
    array([0, 1, 1, 1, 2], dtype=uint8)
    """

    name = "mean-std"

    n_levels: int = parameter(3, Options(Integral, {3, 5}))
    _: KW_ONLY
    factor: float = parameter(1.0, POSITIVE)
    decimals: int | None = parameter(None, Interval(Integral, 0, 15, closed="both"))
    keep_binary: bool = False

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        if weights is not None and weights.total <= weights.unit and table.shape[0] > 1:
            raise InputError(
                "sample_weight adds up to no more than one row, which has no standard deviation; "
                "weights are frequencies of rows: scale them."
            )
        cuts = cut_by_values(
            table,
            "mean-std",
            self.n_levels,
            weights=weights,
            factor=float(self.factor),
            decimals=self.decimals,
            keep_binary=self.keep_binary,
        )
        return [cuts]


def equal_width(X: TableLike, n_bins: int = 5, *, closed: Closed = "left") -> Codes:
    """Encode a table by :class:`EqualWidth` bins, in one call.

    The codes depend on the values, not on their data type; in a sparse column the bin of zero is not stored.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        Finite numbers.
    n_bins, closed : int, {"left", "right"}, default=5 and "left"
        See :class:`EqualWidth`.

    Examples
    --------
    >>> equal_width([[0.0], [0.1], [0.5], [0.9], [1.0]], n_bins=2).column(0)
    array([0, 0, 1, 1, 1], dtype=uint16)
    """
    n_bins = whole_number(n_bins, "n_bins", 1, MAX_LEVELS)
    one_of(closed, "closed", ("left", "right"))
    codes = EqualWidth(n_bins, closed=closed).encode(X)
    assert isinstance(codes, Codes)
    return codes
