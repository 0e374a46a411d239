"""Base of the discretizers: validation, cut points as fitted attributes, codes of new data."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, TypedDict, TypeVar, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsieve.counting.codes import Codes
from labelsieve.counting.cut_points import ColumnCuts, apply_cuts, require_finite
from labelsieve.counting.number_table import NumberTable, is_frame, read_table
from labelsieve.counting.row_weights import RowWeights, quantize, read_weights
from labelsieve.counting.targets import read_targets
from labelsieve.errors import InputError

Missing = Literal["error", "level"]
Table = TypeVar("Table")


class CheckOptions(TypedDict):
    """Arguments of scikit-learn's ``validate_data``."""

    accept_sparse: tuple[str, ...]
    ensure_all_finite: bool | Literal["allow-nan"]


class Discretizer(BaseEstimator):  # type: ignore[misc]
    """Turns a table of numbers into codes. Its parameters are scikit-learn parameters, so a grid search can tune them."""

    name: ClassVar[str]

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes | list[Codes]:
        """Codes of ``X`` without fitting the object; or a list of codes, one for each target."""
        raise NotImplementedError


class AsGiven(Discretizer):
    """Use the values as codes.

    >>> AsGiven().encode([[0], [2]]).levels
    array([3], dtype=uint32)
    """

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes:
        """Codes of ``X``."""
        return Codes.from_values(X)


@dataclass(eq=False, repr=False)
class BaseBins(OneToOneFeatureMixin, TransformerMixin, Discretizer):  # type: ignore[misc]
    """A scikit-learn transformer that cuts the range of every column into bins."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"missing": [StrOptions({"error", "level"})]}
    _supervised: ClassVar[bool] = False

    _: KW_ONLY
    missing: Missing = "error"

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        """Cut points of every column: one set, or one for each target."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn cut points from ``X``, and from ``y`` if the discretizer is supervised."""
        table, targets = self._validate(X, y)
        cuts = self._learn(table, targets, sample_weight)
        self._cuts = cuts
        self._text = dict(table.text)
        self._store(cuts)
        return self

    def transform(self, X: Any) -> Any:
        """Codes of ``X`` by the fitted cut points, in the smallest unsigned integer type; sparse input gives sparse output.

        Values outside the fitted range go to the first or the last bin. In a sparse matrix the bin of zero is not stored if its
        code is 0, as in every column without negative values; a column in which it has another code is stored in full
        (``encode`` never does that).
        """
        check_is_fitted(self)
        return self._transform(X, self._only_cuts())

    def _transform(self, X: Any, cuts: ColumnCuts) -> Any:
        codes = apply_cuts(self._read_new(X), cuts)
        return codes.to_dense() if codes.sparse is None else as_matrix_like(codes, X)

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes | list[Codes]:
        """Codes of ``X`` without fitting the object; or a list of codes, one for each target."""
        self._validate_params()
        table = self._read_table(X)
        targets = self._read_targets(y, table.shape[0]) if self._supervised else None
        codes = [apply_cuts(table, cuts) for cuts in self._learn(table, targets, sample_weight)]
        return codes[0] if len(codes) == 1 else codes

    def _learn(self, table: NumberTable, targets: Codes | None, sample_weight: Any) -> list[ColumnCuts]:
        weights = read_weights(sample_weight, table.shape[0])
        if weights is None:
            return self._cut(table, targets, None)
        rows = weights > 0
        if not rows.all():  # a row of weight 0 must not move a cut point
            table, targets = table.take_rows(rows), None if targets is None else targets.take_rows(rows)
        return self._cut(table, targets, quantize(weights[rows]))

    def _store(self, cuts: list[ColumnCuts]) -> None:
        points, self.categories_ = cuts[0].split()
        self.cut_points_: list[Any] = list(points)

    def _only_cuts(self) -> ColumnCuts:
        cuts: list[ColumnCuts] = self._cuts
        return cuts[0]

    def _validate(self, X: Any, y: Any) -> tuple[NumberTable, Codes | None]:
        """Read data for ``fit`` with scikit-learn's checks."""
        if self._supervised and y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
        elif self._supervised and isinstance(y, list | np.ndarray):
            X, y = validate_data(self, X, y, multi_output=True, **self._check_options())
        else:
            X = validate_data(self, X, **self._check_options())
        table = self._read_table(X)
        return table, self._read_targets(y, table.shape[0]) if self._supervised else None

    def _read_new(self, X: Any) -> NumberTable:
        """Read data for ``transform``: text gets the codes of the fitted words."""
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, **self._check_options())
        words: Mapping[int, NDArray[np.str_]] = self._text
        table = self._read_table(X, words)
        different = sorted(set(table.text) ^ set(words))
        if different:
            was, now = ("text", "numbers") if different[0] in words else ("numbers", "text")
            raise InputError(f"X, {table.name(different[0])}: it was {was} when fitted and is {now} now.")
        return table

    def _check_options(self) -> CheckOptions:
        return {"accept_sparse": ("csr", "csc"), "ensure_all_finite": "allow-nan" if self.missing == "level" else True}

    def _read_table(self, X: Any, words: Mapping[int, NDArray[np.str_]] | None = None) -> NumberTable:
        table = read_table(X, allow_missing=self.missing == "level", text=words)
        require_finite(table, allow_missing=self.missing == "level")
        return table

    def _read_targets(self, y: Any, n_rows: int) -> Codes:
        if y is None:
            raise InputError(f"{type(self).__name__} is supervised: pass the targets as y.")
        targets = read_targets(y, "classes").classes
        if targets.n_rows != n_rows:
            raise InputError(f"X has {n_rows} rows and y has {targets.n_rows}; they must be the same rows.")
        return targets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "level"
        tags.target_tags.required = self._supervised
        tags.target_tags.multi_output = self._supervised
        tags.transformer_tags.preserves_dtype = []
        return tags


@overload
def one_table(codes: Codes | list[Codes], selector: str) -> Codes: ...
@overload
def one_table(codes: list[Table], selector: str) -> Table: ...
def one_table(codes: Any, selector: str) -> Any:
    """Codes for all targets; refuses a separate table for each target.

    >>> one_table(AsGiven().encode([[0], [1]]), "Sieve").n_columns
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


def allows_missing(discretizer: Any) -> bool:
    """True if missing values (NaN) are a separate level.

    >>> allows_missing(AsGiven())
    False
    """
    return getattr(discretizer, "missing", None) == "level"


def as_matrix_like(codes: Codes, X: Any) -> Any:
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
    if isinstance(X, sp.sparray):
        return sp.csc_array(matrix) if X.format == "csc" else sp.csr_array(matrix)
    return sp.csc_matrix(matrix) if X.format == "csc" else sp.csr_matrix(matrix)
