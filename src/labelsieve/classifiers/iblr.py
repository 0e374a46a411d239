"""IBLR-ML: logistic regression on the labels of the neighbors."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import HasMethods

from labelsieve.classifiers.brknn import NeighborClassifier
from labelsieve.classifiers.nearest_neighbors import Neighbors, Ties
from labelsieve.classifiers.neighbor_labels import LabelVotes


class IBLR(NeighborClassifier):
    """Instance-based learning and logistic regression combined [Cheng and Hüllermeier 2009].

    For each label a logistic regression on the shares of all labels among the neighbors (IBLR-ML), or on those beside the
    features themselves (IBLR-ML+). Training rows are described by their neighbors, themselves left out.

    Parameters
    ----------
    k : int
        Neighbors.
    with_features : bool
        IBLR-ML+: the features are inputs too.
    base : classifier with ``predict_proba``, optional
        By default logistic regression on standardized inputs with the faintest of penalties (``C=5e7``, which is the ridge of
        1e-8 that Weka's has), so that labels that the inputs separate have finite weights.
    ties : {"first", "all"}
        Exactly ``k`` neighbors, or every row as near as the ``k``-th.
    n_jobs : int, optional
        Threads of the search, and labels learned at a time.

    Attributes
    ----------
    estimators_ : list
        One for each label; None for a label that all training rows have or none has: its probability is 1 or 0.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborClassifier._parameter_constraints,
        "with_features": ["boolean"],
        "base": [HasMethods(["fit", "predict_proba"]), None],
    }

    def __init__(
        self,
        k: int = 10,
        *,
        with_features: bool = False,
        base: Any = None,
        ties: Ties = "first",
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.with_features = with_features
        self.base = base
        self.ties = ties
        self.n_jobs = n_jobs

    @property
    def _needs_features(self) -> bool:
        return self.with_features

    def _learn(self, X: Any, own: Neighbors | None, labels: sp.csr_matrix) -> None:
        assert own is not None
        self._labels = labels
        self._dense_features = not sp.issparse(X)
        inputs = self._inputs(X, own)
        columns = labels.toarray().T
        base = self.base
        if base is None:
            base = make_pipeline(
                StandardScaler(with_mean=not sp.issparse(inputs)), LogisticRegression(C=5e7, max_iter=1000, tol=1e-6)
            )
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(clone(base).fit)(inputs, column) for column in columns if 0 < column.sum() < len(column)
        )
        learned = iter(fitted)
        self.estimators_ = [next(learned) if 0 < column.sum() < len(column) else None for column in columns]
        self._always = columns.all(axis=1)

    def _inputs(self, X: Any, found: Neighbors) -> Any:
        # A row alone in the world has no neighbors: no label has a share.
        shares = LabelVotes.of(self._labels).counts(found, self.n_jobs) / np.maximum(found.counts, 1)[:, np.newaxis]
        if not self.with_features:
            return shares
        if self._dense_features and sp.issparse(X):  # the regressions have learned from centered inputs
            X = X.toarray()
        return sp.hstack([X, sp.csr_matrix(shares)], format="csr") if sp.issparse(X) else np.hstack([X, shares])

    def _answer(self, X: Any, found: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        inputs = self._inputs(X, found)
        probabilities = np.empty((inputs.shape[0], self.n_labels_)) if out is None else out
        for label, estimator in enumerate(self.estimators_):
            probabilities[:, label] = self._always[label] if estimator is None else estimator.predict_proba(inputs)[:, 1]
        return probabilities
