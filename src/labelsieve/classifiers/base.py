"""What the classifiers share: reading X and Y, probabilities, predictions."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsieve.classifiers.labels import LabelCoder, encode_labels
from labelsieve.errors import InputError


def base_has(method: str) -> Any:
    """A check for ``available_if``: the base estimator has the method."""

    def check(self: Any) -> bool:
        getattr(self.base, method)
        return True

    return check


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of many labels. A subclass learns in ``fit`` and gives ``_label_probabilities``, or another ``_present``."""

    _coder: LabelCoder

    def _read(self, X: Any, Y: Any) -> tuple[Any, sp.csr_matrix]:
        """X as numbers (dense, or CSR), and Y as a sparse 0/1 matrix."""
        if Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if not sp.issparse(Y):
            Y = np.asarray(Y)
            if Y.dtype.kind == "f" and not np.isfinite(Y).all():
                raise ValueError("Input y contains NaN or infinity; every label must be known.")
        matrix, self._coder = encode_labels(Y)
        if matrix.shape[0] != X.shape[0]:
            sizes = f"X has {X.shape[0]} rows and Y has {matrix.shape[0]}"
            raise InputError(f"Found input variables with inconsistent numbers of samples: {sizes}.")
        self.n_labels_ = matrix.shape[1]
        self.classes_ = self._coder.classes
        return X, matrix

    def _read_queries(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every label: shape (n_rows, n_labels). When Y was one column, of its two values, as scikit-learn's."""
        probabilities = self._label_probabilities(X)
        return np.hstack([1 - probabilities, probabilities]) if self._coder.kind == "one" else probabilities

    def _present(self, X: Any) -> NDArray[np.bool_]:
        present: NDArray[np.bool_] = self._label_probabilities(X) > 0.5
        return present

    def predict(self, X: Any) -> Any:
        """The labels of every row, in the form that Y had; a label as likely as not is absent."""
        check_is_fitted(self)
        return self._coder.decode(self._present(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags
