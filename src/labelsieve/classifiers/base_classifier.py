"""Base of the classifiers: validation of X and Y, probabilities, predictions."""

from collections.abc import Callable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelsieve.classifiers.label_encoding import LabelCoder, encode_known_labels, unknown_label
from labelsieve.classifiers.weight_routing import Weights, weight_arguments
from labelsieve.counting.checked_features import check_numbers, required
from labelsieve.counting.checked_parameters import CheckedParameters
from labelsieve.counting.magnitude import check_for_models
from labelsieve.counting.number_table import without_duplicates
from labelsieve.counting.row_weights import positive_weights
from labelsieve.errors import InputError
from labelsieve.table_types import Features, Frame, Matrix, TableLike, TargetsLike, WeightsLike, is_sparse


def base_has(method: str) -> Callable[["MultiLabelClassifier"], bool]:
    """A check for ``available_if``: the base estimator has the method."""

    def check(self: MultiLabelClassifier) -> bool:
        getattr(self._base(), method)
        return True

    return check


def read_numbers(estimator: object, X: TableLike, *, reset: bool = True) -> Matrix:
    """X validated for an estimator: float64, dense or CSR without duplicate entries."""
    numbers = check_numbers(estimator, X, reset=reset)
    return without_duplicates(numbers.tocsr()) if is_sparse(numbers) else numbers


class MultiLabelClassifier(CheckedParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A multi-label classifier. A subclass has ``fit`` and ``_label_probabilities``, or overrides ``_present``.

    Attributes
    ----------
    classes_ : ndarray
        Column numbers for labels of 0 and 1; otherwise the two values of each column.
    n_labels_ : int
        Number of labels.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    base: BaseEstimator
    _coder: LabelCoder

    def _base(self) -> Any:
        return self.base

    def _read(self, X: TableLike, Y: TargetsLike | None) -> tuple[Matrix, sp.csr_matrix]:
        """X as numbers (dense, or CSR), and Y as a sparse 0/1 matrix; all labels must be known."""
        X, matrix, known = self._read_known(X, Y)
        if known is not None:
            raise InputError(unknown_label(known))
        return X, matrix

    def _read_known(self, X: TableLike, Y: TargetsLike | None) -> tuple[Matrix, sp.csr_matrix, NDArray[np.bool_] | None]:
        """The same, and the cells of Y that are known; None: all."""
        Y = required(self, Y)
        X = read_numbers(self, X)
        self._check_base(X)
        matrix, coder, known = encode_known_labels(Y)
        if matrix.shape[0] != X.shape[0]:
            sizes = f"X has {X.shape[0]} rows and Y has {matrix.shape[0]}"
            raise InputError(f"Found input variables with inconsistent numbers of samples: {sizes}.")
        self._set_labels(coder)
        return X, matrix, known

    def _set_labels(self, coder: LabelCoder) -> None:
        self._coder, self.n_labels_, self.classes_ = coder, len(coder.values), coder.classes

    def _check_base(self, X: Matrix) -> None:
        """Refuse a regressor, and values that are too large for models."""
        base = getattr(self, "base", None)
        if hasattr(base, "__sklearn_tags__") and is_regressor(base):
            raise InputError(f"{type(self).__name__} needs a classifier as its base, and {base!r} is a regressor.")
        if base is not None or type(self)._base is not MultiLabelClassifier._base:
            check_for_models(type(self).__name__, X)

    def _read_weighted(
        self, X: TableLike, Y: TargetsLike | None, sample_weight: WeightsLike
    ) -> tuple[Matrix, sp.csr_matrix, Weights]:
        """X, Y and the weights of the rows, without the rows of weight 0; all labels must be known."""
        X, labels, known, weights = self._read_known_weighted(X, Y, sample_weight)
        if known is not None:
            raise InputError(unknown_label(known))
        return X, labels, weights

    def _read_known_weighted(
        self, X: TableLike, Y: TargetsLike | None, sample_weight: WeightsLike
    ) -> tuple[Matrix, sp.csr_matrix, NDArray[np.bool_] | None, Weights]:
        """X, Y, its known cells (None: all) and the weights of the rows, without the rows of weight 0."""
        X, labels, known = self._read_known(X, Y)
        if sample_weight is None:
            return X, labels, known, None
        rows, weights = positive_weights(sample_weight, X.shape[0])
        for estimator in self._weighted_estimators():
            weight_arguments(estimator, weights)
        if rows is not None:
            kept = np.flatnonzero(rows)
            X, labels, known = X[kept], labels[kept], None if known is None else known[kept]
        return X, labels, known, None if weights is None or (weights == 1).all() else weights

    def _weighted_estimators(self) -> list[Any]:
        """The estimators that get row weights: all of them must accept weights."""
        return [self._base()]

    def _with_names(self, original: Any, X: Matrix) -> Features:
        """Validated X as a frame of the kind of ``original``, if that has column names: selectors accept features by name."""
        if not hasattr(self, "feature_names_in_") or is_sparse(X):
            return X
        names, frames = self.feature_names_in_.tolist(), nw.get_native_namespace(original)
        named: Frame = nw.from_numpy(X, schema=names, native_namespace=frames).to_native()
        return named

    def _read_queries(self, X: TableLike) -> Matrix:
        check_is_fitted(self)
        return read_numbers(self, X, reset=False)

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        raise NotImplementedError

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Probability of every label, shape (n_rows, n_labels); of both values, if Y was one column."""
        return self._in_form_of_y(self._label_probabilities(X))

    def _in_form_of_y(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.hstack([1 - probabilities, probabilities]) if self._coder.kind == "one" else probabilities

    def _decisions_in_form_of_y(self, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
        return decisions[:, 0] if self._coder.kind == "one" else decisions

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        present: NDArray[np.bool_] = self._label_probabilities(X) > 0.5
        return present

    def predict(self, X: TableLike) -> Any:
        """The labels of every row, in the form of Y; a label with a probability of exactly a half is absent."""
        check_is_fitted(self)
        return self._coder.decode(self._present(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


class MetaClassifier(MultiLabelClassifier):
    """A multi-label classifier with the probabilities of its base estimator."""

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Probability of every label, shape (n_rows, n_labels); of both values, if Y was one column."""
        return super().predict_proba(X)
