"""IBLR-ML: logistic regression on the labels of the neighbors."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import HasMethods

from labelsieve.classifiers.brknn import BaseNeighborClassifier
from labelsieve.classifiers.logistic_newton import _NewtonLogistic
from labelsieve.classifiers.nearest_neighbors import LabelVotes, Neighbors
from labelsieve.counting.checked_parameters import parameter
from labelsieve.table_types import Matrix, is_sparse

MAX_NEWTON_INPUTS = 500  # above, a step of Newton's method takes seconds (92 s for a label of bibtex with 1,836 features)


@dataclass(eq=False, repr=False)
class IBLR(BaseNeighborClassifier):
    """Instance-based learning and logistic regression combined [Cheng and Hüllermeier 2009].

    For each label a logistic regression on the frequencies of all labels among the neighbors (IBLR-ML), or on these and the
    features (IBLR-ML+). A training row is not its own neighbor.

    Parameters
    ----------
    with_features : bool, default=False
        IBLR-ML+: the features are inputs too.
    base : classifier with ``predict_proba``, default=None
        None: logistic regression on standardized inputs with the weak penalty of Weka (a ridge of 1e-8, ``C=5e7``), so that
        coefficients are finite for labels that the inputs separate. It is solved by Newton's method until it converges; with
        more than 500 inputs, by scikit-learn's ``newton-cg`` to a gradient of 1e-8, where confidences of labels that the inputs
        separate depend on the tolerance.
    n_jobs : int, default=None
        Number of threads, and of labels that are fitted in parallel.

    Attributes
    ----------
    estimators_ : list
        One for each label; None for a constant label of the training rows, with probability 1 or 0.

    Notes
    -----
    Cost: a search for the neighbors of all training rows, then ``n_labels`` regressions on ``n_labels`` inputs.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> Y = np.column_stack([X[:, 0] < 6, X[:, 0] % 2 == 0]).astype(int)
    >>> IBLR(k=3).fit(X, Y).predict([[1.2], [9.9]])[:, 0]
    array([1, 0])
    """

    _: KW_ONLY
    with_features: bool = False
    base: BaseEstimator | None = parameter(None, HasMethods(["fit", "predict_proba"]))

    @property
    def _needs_features(self) -> bool:
        return self.with_features

    def _learn(self, X: Matrix, neighbors: Neighbors | None, labels: sp.csr_matrix) -> None:
        assert neighbors is not None
        self._labels = labels
        self._dense_features = not is_sparse(X)
        inputs = self._inputs(X, neighbors)
        columns = labels.toarray().T
        base = self.base
        if base is None:
            base = _regression(inputs)
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(clone(base).fit)(inputs, column) for column in columns if 0 < column.sum() < len(column)
        )
        remaining = iter(fitted)
        self.estimators_ = [next(remaining) if 0 < column.sum() < len(column) else None for column in columns]
        self._always = columns.all(axis=1)

    def _inputs(self, X: Matrix, neighbors: Neighbors) -> Matrix:
        # A single training row has no neighbors: all frequencies are 0.
        counts = LabelVotes.of(self._labels).counts(neighbors, self.n_jobs)
        frequencies = counts / np.maximum(neighbors.counts, 1)[:, np.newaxis]
        if not self.with_features:
            return frequencies
        if self._dense_features and is_sparse(X):  # the regressions were fitted to centered inputs
            X = X.toarray()
        return sp.hstack([X, sp.csr_matrix(frequencies)], format="csr") if is_sparse(X) else np.hstack([X, frequencies])

    def _estimate(self, X: Matrix, neighbors: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        inputs = self._inputs(X, neighbors)
        probabilities = np.empty((inputs.shape[0], self.n_labels_)) if out is None else out
        for label, estimator in enumerate(self.estimators_):
            probabilities[:, label] = self._always[label] if estimator is None else estimator.predict_proba(inputs)[:, 1]
        return probabilities


def _regression(inputs: Matrix) -> BaseEstimator:
    """The unfitted logistic regression for inputs of this shape."""
    if inputs.shape[1] <= MAX_NEWTON_INPUTS:
        return _NewtonLogistic()
    scaler = StandardScaler(with_mean=not is_sparse(inputs))
    return make_pipeline(scaler, LogisticRegression(C=5e7, solver="newton-cg", max_iter=1000, tol=1e-8))
