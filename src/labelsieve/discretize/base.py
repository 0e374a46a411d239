"""The base classes of discretizers: what all of them share, and those that cut columns at points."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError, is_whole, require_same_rows, unknown_name
from labelsieve.parameters import AT_LEAST_ONE, CheckedParameters, parameter
from labelsieve.tables.codes import Codes
from labelsieve.tables.cut_points import ColumnCuts, apply_cuts, require_finite
from labelsieve.tables.features import check_features
from labelsieve.tables.frames import NumberTable, is_frame, read_table
from labelsieve.tables.nominal import KeptLevels, declare_nominal, encode_levels, keep_levels, without_cuts
from labelsieve.tables.targets import known_classes
from labelsieve.tables.types import ColumnsLike, CompressedMatrix, Features, TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import RowWeights, quantize, read_weights


def as_matrix_like(codes: Codes, X: TableLike) -> CompressedMatrix:
    """Codes as a sparse matrix in the format of ``X``; codes of 0 are not stored.

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


Missing = Literal["level", "error", "drop-pairwise"]
Table = TypeVar("Table")


class Discretizer(CheckedParameters, BaseEstimator):
    """Base class of discretizers: encodes columns as levels. Parameters can be tuned by a grid search.

    A subclass defines ``encode``; one with cut points is derived from ``BaseBins``, see docs/contributing.md.
    """

    name: ClassVar[str]

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Codes of ``X`` without fitting the object; or a list of codes, one for each target."""
        raise NotImplementedError

    def for_columns(self, columns: Sequence[int], names: Sequence[str] | None) -> "Discretizer":
        """The discretizer of a table that has only these of the columns, in this order; ``names`` are those of all columns."""
        return self

    @property
    def uses_targets(self) -> bool:
        """True if the codes of some column depend on the targets."""
        return False

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

    _supervised: ClassVar[bool] = False

    _: KW_ONLY
    missing: Missing = "level"
    min_level_count: int = parameter(1, AT_LEAST_ONE)
    nominal: ColumnsLike | None = parameter(None, "array-like", StrOptions({"all"}))

    @property
    def uses_targets(self) -> bool:
        return self._supervised

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        """Cut points of every column: one set, or one for each target."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None) -> Self:
        """Learn cut points and levels from ``X``, and from ``y`` if the discretizer is supervised."""
        if self._supervised and y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        table = self._read_table(check_features(self, X))
        targets = self._read_targets(y, table.shape[0]) if self._supervised else None
        self._cuts, self._levels = self._learn(table, targets, sample_weight)
        self._text = frozenset(table.text)
        self._store(self._cuts)
        for column, kept in self._levels.items():
            self.categories_[column] = kept.values
        return self

    def transform(self, X: TableLike) -> NDArray[np.integer] | CompressedMatrix:
        """Codes of ``X`` by the fitted cut points, in the smallest unsigned integer type; sparse input gives sparse output.

        Values outside the fitted range go to the first or the last bin. A level of a nominal column that was not there when
        fitted has the code of pooled levels; if none were pooled, the code of missing values, the last. In a sparse matrix the
        bin of zero is not stored if its code is 0, as in every column without negative values; a column in which it has another
        code is stored in full (``encode`` never does that).
        """
        check_is_fitted(self)
        return self._transform(X, self._only_cuts())

    def _transform(self, X: TableLike, cuts: ColumnCuts) -> NDArray[np.integer] | CompressedMatrix:
        table = self._read_new(X)
        codes = encode_levels(apply_cuts(table, cuts), table, self._levels)
        return codes.to_dense() if codes.sparse is None else as_matrix_like(codes, X)

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Codes of ``X`` without fitting the object; or a list of codes, one for each target."""
        self._validate_params()
        return self._encode(self._read_table(X), y, sample_weight)

    def _encode(self, table: NumberTable, y: TargetsLike | Codes | None, sample_weight: WeightsLike) -> Codes | list[Codes]:
        targets = self._read_targets(y, table.shape[0]) if self._supervised else None
        all_cuts, levels = self._learn(table, targets, sample_weight)
        drop = self.missing == "drop-pairwise"
        if table.dense is not None and len(levels) == table.shape[1]:
            return encode_levels(without_cuts(table, mark_missing=drop), table, levels)
        codes = [encode_levels(apply_cuts(table, cuts, mark_missing=drop), table, levels) for cuts in all_cuts]
        return codes[0] if len(codes) == 1 else codes

    def _learn(
        self, table: NumberTable, targets: Codes | None, sample_weight: WeightsLike
    ) -> tuple[list[ColumnCuts], dict[int, KeptLevels]]:
        """Cut points of the numeric columns, and levels of the nominal ones."""
        weights, quantized = read_weights(sample_weight, table.shape[0]), None
        whole = True
        if weights is not None:
            rows = weights > 0
            whole = bool(rows.all())
            if not whole:  # a row of weight 0 must not move a cut point
                table, targets = table.take_rows(rows), None if targets is None else targets.take_rows(rows)
            weights = weights[rows]
            quantized = quantize(weights)
        n_columns = table.shape[1]
        levels = keep_levels(table, weights, self.min_level_count, whole=whole)
        if len(levels) == n_columns:
            return [ColumnCuts.none(n_columns)], levels
        cuts = self._cut(table.measurements(), targets, quantized)
        return [some.spread(n_columns, table.nominal) for some in cuts] if levels else cuts, levels

    def _store(self, cuts: list[ColumnCuts]) -> None:
        points, self.categories_ = cuts[0].split()
        self.cut_points_: list[Any] = list(points)

    def _only_cuts(self) -> ColumnCuts:
        cuts: list[ColumnCuts] = self._cuts
        return cuts[0]

    def _read_new(self, X: TableLike) -> NumberTable:
        """Read data for ``transform``."""
        table = self._read_table(check_features(self, X, reset=False))
        different = sorted(set(table.text) ^ self._text)
        if different:
            was, now = ("text", "numbers") if different[0] in self._text else ("numbers", "text")
            raise InputError(f"X, {table.name(different[0])}: it was {was} when fitted and is {now} now.")
        return table

    def _read_table(self, X: TableLike | NumberTable) -> NumberTable:
        table = read_table(X, allow_missing=self.missing != "error")
        require_finite(table, allow_missing=self.missing != "error")
        return self._with_nominal(table)

    def _with_nominal(self, table: NumberTable) -> NumberTable:
        if self.nominal is None:
            return table
        named = self.nominal if isinstance(self.nominal, str) else positions(self.nominal, table.names, table.shape[1])
        return declare_nominal(table, named)

    def for_columns(self, columns: Sequence[int], names: Sequence[str] | None) -> "BaseBins":
        """The discretizer of a table that has only these of the columns, in this order; ``names`` are those of all columns."""
        if self.nominal is None or isinstance(self.nominal, str):
            return self
        nominal = positions(self.nominal, names)
        some: BaseBins = clone(self).set_params(nominal=[at for at, column in enumerate(columns) if column in nominal])
        return some

    def _read_targets(self, y: TargetsLike | Codes | None, n_rows: int) -> Codes:
        if y is None:
            raise InputError(f"{type(self).__name__} is supervised: pass the targets as y.")
        targets = known_classes(y, type(self).__name__)
        require_same_rows(n_rows, targets.n_rows, "y")
        return targets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.target_tags.required = self._supervised
        tags.target_tags.multi_output = self._supervised
        tags.transformer_tags.preserves_dtype = []
        return tags


def take_columns(X: TableLike, columns: list[int]) -> Features:
    """Some columns of a table; a frame stays a frame."""
    if is_frame(X):
        return nw.from_native(X, eager_only=True)[:, columns].to_native()
    return sp.csc_array(X)[:, columns] if is_sparse(X) else np.asarray(X)[:, columns]


def positions(columns: Iterable[object], names: Sequence[str] | None, n_columns: int | None = None) -> list[int]:
    """Positions of columns that are given by name or position.

    >>> positions(["b", 0], ("a", "b"))
    [1, 0]
    """
    found = []
    for column in columns:
        if isinstance(column, str):
            if names is None or column not in names:
                raise unknown_name("column", column, () if names is None else names)
            found.append(list(names).index(column))
        elif is_whole(column) and int(column) >= 0 and (n_columns is None or int(column) < n_columns):
            found.append(int(column))
        else:
            raise InputError(f"{column!r} is not a column from 0 to {(n_columns or 1) - 1} or a name.")
    return found


@overload
def one_table(codes: Codes | list[Codes], selector: str) -> Codes: ...
@overload
def one_table(codes: list[Table], selector: str) -> Table: ...
def one_table(codes: object, selector: str) -> Any:
    """Codes for all targets; refuses a separate table for each target.

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
    """Whether a selector takes missing values (NaN): if it has a discretizer, and neither refuses them.

    >>> from labelsieve import Sieve
    >>> allows_missing(Sieve()), allows_missing(Sieve(missing="error"))
    (True, False)
    """
    if not hasattr(selector, "discretizer"):
        return False
    missing = getattr(selector, "missing", None)
    return (getattr(selector.discretizer, "missing", "level") if missing is None else missing) != "error"
