"""The base classes of discretizers: what all of them share, and those that cut the range of a column into bins."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError, is_whole, require_same_rows, unknown_name
from labelsieve.parameters import AT_LEAST_ONE, CheckedParameters, StrOptions, checked_fit, parameter
from labelsieve.tables.codes import Codes
from labelsieve.tables.cut_points import ColumnCuts, apply_cuts, require_finite
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.nominal import KeptLevels, declare_nominal, encode_levels, keep_levels, without_cuts
from labelsieve.tables.problem import check_features
from labelsieve.tables.targets import known_classes
from labelsieve.tables.types import ColumnsLike, CompressedMatrix, TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import RowWeights, quantize, read_weights

Missing = Literal["level", "error", "drop-pairwise"]
Table = TypeVar("Table")


class Discretizer(CheckedParameters, BaseEstimator):
    """Base class of discretizers, which encode columns as levels. Parameters can be tuned by a grid search.

    A subclass defines ``encode``; one with cut points is derived from ``BaseBins``, see docs/contributing.md.
    """

    name: ClassVar[str]

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Encode ``X`` without fitting the object; returns codes, or a list of codes, one for each target."""
        raise NotImplementedError

    def for_columns(self, columns: Sequence[int], names: Sequence[str] | None) -> "Discretizer":
        """Return the discretizer of a table that has only these columns, in this order; ``names`` are those of all columns."""
        return self

    @property
    def uses_targets(self) -> bool:
        """Whether the codes of some column depend on the targets."""
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
        named = self.nominal if isinstance(self.nominal, str) else positions(self.nominal, table.names, table.shape[1])
        return declare_nominal(table, named)

    def _learn(
        self, table: NumberTable, y: TargetsLike | Codes | None, sample_weight: WeightsLike
    ) -> tuple[list[ColumnCuts], dict[int, KeptLevels]]:
        """Find the cut points of the numeric columns, and the levels of the nominal ones."""
        targets = self._read_targets(y, table) if self.uses_targets else None
        weights, quantized, all_rows = None, None, True
        if sample_weight is not None:
            weights = read_weights(sample_weight, table.shape[0])
        if weights is not None:
            rows = weights > 0
            all_rows = bool(rows.all())
            if not all_rows:  # a row of weight 0 must not move a cut point
                table, targets = table.take_rows(rows), None if targets is None else targets.take_rows(rows)
            weights = weights[rows]
            quantized = quantize(weights)
        if not table.nominal:
            return self._cut(table, targets, quantized), {}
        n_columns = table.shape[1]
        levels = keep_levels(table, weights, self.min_level_count, whole=all_rows)
        if len(levels) == n_columns:
            return [ColumnCuts.none(n_columns)], levels
        cuts = self._cut(table.measurements(), targets, quantized)
        return [some.spread(n_columns, table.nominal) for some in cuts], levels

    def _read_targets(self, y: TargetsLike | Codes | None, table: NumberTable) -> Codes:
        if y is None:
            raise InputError(f"{type(self).__name__} is supervised: pass the targets as y.")
        targets = known_classes(y, type(self).__name__)
        require_same_rows(table.shape[0], targets.n_rows, "y")
        return targets

    def for_columns(self, columns: Sequence[int], names: Sequence[str] | None) -> "BaseBins":
        """Return the discretizer of a table that has only these columns, in this order; ``names`` are those of all columns."""
        if self.nominal is None or isinstance(self.nominal, str):
            return self
        nominal = positions(self.nominal, names)
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


def positions(columns: Iterable[object], names: Sequence[str] | None, n_columns: int | None = None) -> list[int]:
    """Return the positions of columns that are given by name or position.

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
