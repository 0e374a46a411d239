"""What the discretizers share: reading data, cut points as fitted attributes, codes of new data."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsieve.counting.codes import Codes
from labelsieve.counting.cut_points import ColumnCuts, apply_cuts, require_finite
from labelsieve.counting.number_table import NumberTable, is_frame, read_table
from labelsieve.counting.row_weights import RowWeights, quantize, read_weights
from labelsieve.counting.targets import read_targets
from labelsieve.discretize.discretizer import Discretizer
from labelsieve.discretize.sparse_codes import as_matrix_like
from labelsieve.errors import InputError

Missing = Literal["error", "level"]


class Bins(OneToOneFeatureMixin, TransformerMixin, Discretizer):  # type: ignore[misc]
    """A discretizer that cuts the range of every column, as a scikit-learn transformer."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"missing": [StrOptions({"error", "level"})]}
    _supervised: ClassVar[bool] = False

    missing: Missing

    def _cut(self, table: NumberTable, targets: Codes | None, weights: RowWeights | None) -> list[ColumnCuts]:
        """Cut points of every column: one set of them, or one for each target."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn cut points from ``X``, and from ``y`` if the rule looks at targets."""
        table, targets = self._validate(X, y)
        cuts = self._learn(table, targets, sample_weight)
        self._cuts = cuts
        self._text = dict(table.text)
        self._store(cuts)
        return self

    def transform(self, X: Any) -> Any:
        """Codes of ``X`` by the fitted cut points, as the smallest unsigned integers that hold them; sparse stays sparse.

        Values beyond those seen go to the first or the last bin. In a sparse matrix the bin that holds zero is not stored
        where its code is 0, as in every column without negative values; a column in which it has another code is stored in
        full (``encode`` never does that).
        """
        check_is_fitted(self)
        codes = apply_cuts(self._read_new(X), self._only_cuts())
        return codes.to_dense() if codes.sparse is None else as_matrix_like(codes, X)

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Codes | list[Codes]:
        """Codes of ``X``, learned and made in one go. The object stays as it was."""
        self._validate_params()
        table = self._check(read_table(X, allow_missing=self.missing == "level"))
        targets = self._read_targets(y, table.shape[0]) if self._supervised else None
        codes = [apply_cuts(table, cuts) for cuts in self._learn(table, targets, sample_weight)]
        return codes[0] if len(codes) == 1 else codes

    def _learn(self, table: NumberTable, targets: Codes | None, sample_weight: Any) -> list[ColumnCuts]:
        weights = read_weights(sample_weight, table.shape[0])
        if weights is None:
            return self._cut(table, targets, None)
        rows = weights > 0
        if not rows.all():  # a row without weight is no row: it moves no cut
            table, targets = table.take_rows(rows), None if targets is None else targets.take_rows(rows)
        return self._cut(table, targets, quantize(weights[rows]))

    def _store(self, cuts: list[ColumnCuts]) -> None:
        points, self.categories_ = cuts[0].split()
        self.cut_points_: list[Any] = list(points)

    def _only_cuts(self) -> ColumnCuts:
        cuts: list[ColumnCuts] = self._cuts
        return cuts[0]

    def _validate(self, X: Any, y: Any) -> tuple[NumberTable, Codes | None]:
        """Read data for ``fit``, as scikit-learn wants it checked."""
        if self._supervised and y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
        elif self._supervised and isinstance(y, list | np.ndarray):
            X, y = validate_data(self, X, y, multi_output=True, **self._how_to_check())
        else:
            X = validate_data(self, X, **self._how_to_check())
        table = self._check(read_table(X, allow_missing=self.missing == "level"))
        return table, self._read_targets(y, table.shape[0]) if self._supervised else None

    def _read_new(self, X: Any) -> NumberTable:
        """Read data for ``transform``: text is ranked among the words that were fitted."""
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, **self._how_to_check())
        words: Mapping[int, NDArray[np.str_]] = self._text
        table = self._check(read_table(X, allow_missing=self.missing == "level", text=words))
        different = sorted(set(table.text) ^ set(words))
        if different:
            was, now = ("text", "numbers") if different[0] in words else ("numbers", "text")
            raise InputError(f"X, {table.name(different[0])}: it was {was} when fitted and is {now} now.")
        return table

    def _how_to_check(self) -> dict[str, Any]:
        return {"accept_sparse": ("csr", "csc"), "ensure_all_finite": "allow-nan" if self.missing == "level" else True}

    def _check(self, table: NumberTable) -> NumberTable:
        require_finite(table, allow_missing=self.missing == "level")
        return table

    def _read_targets(self, y: Any, n_rows: int) -> Codes:
        if y is None:
            raise InputError(f"{type(self).__name__} cuts by the targets: pass them as y.")
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
