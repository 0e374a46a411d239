"""k nearest neighbors for many numeric targets."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils.validation import check_is_fitted, check_X_y

from labelsieve.classifiers.base_classifier import read_numbers
from labelsieve.classifiers.brknn import BaseNeighborEstimator
from labelsieve.classifiers.nearest_neighbors import Neighbors
from labelsieve.counting.checked_features import required
from labelsieve.counting.number_table import read_values
from labelsieve.errors import InputError
from labelsieve.table_types import Matrix, TableLike, TargetsLike, is_sparse


class KNNRegressor(RegressorMixin, BaseNeighborEstimator):  # type: ignore[misc]
    """The mean of the targets of the nearest rows, from one search for all targets [Sechidis et al. 2019, section 5, k = 10].

    Notes
    -----
    Cost: that of :func:`~labelsieve.classifiers.nearest_neighbors` for each prediction; ``fit`` stores the
    rows.

    Examples
    --------
    >>> KNNRegressor(k=2).fit([[0.0], [1.0], [5.0]], [[1.0, 10.0], [3.0, 20.0], [9.0, 9.0]]).predict([[0.4]])
    array([[ 2., 15.]])
    """

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Store the rows."""
        self._X, targets = self._read(X, y)
        self._learn(self._X, None, targets)
        return self

    _needs_neighbors_of_rows = _needs_features = False

    def _read(self, X: TableLike, y: TargetsLike | None) -> tuple[Matrix, NDArray[Any]]:
        if is_sparse(y):
            raise InputError("Y is a sparse matrix, and numeric targets must be an array; use Y.toarray().")
        numbers = read_numbers(self, X)
        rows: Matrix
        targets: NDArray[Any]
        rows, targets = check_X_y(
            numbers,
            read_values(required(self, y), "Y"),
            accept_sparse="csr",
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
        )
        if not np.isfinite(targets).all():  # scikit-learn does not check all objects
            raise InputError("Input y contains NaN or infinity; every target must be known.")
        return rows, targets

    def _read_queries(self, X: TableLike) -> Matrix:
        check_is_fitted(self)
        return read_numbers(self, X, reset=False)

    def _learn(self, X: Matrix, neighbors: Neighbors | None, targets: NDArray[Any]) -> None:
        self._one_target = targets.ndim == 1
        self._targets = targets.reshape(len(targets), -1).astype(np.float64)

    def _estimate(self, X: Matrix, neighbors: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        means: NDArray[np.float64] = np.divide(neighbors.sum(self._targets), neighbors.counts[:, np.newaxis], out=out)
        return means[:, 0] if self._one_target else means

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """The targets of every row."""
        X = self._read_queries(X)
        return self._estimate(X, self._neighbors(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags
