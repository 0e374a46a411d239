"""Logistic regressions on the same dense rows, in the core."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from labelsieve import core
from labelsieve.classifiers.weight_routing import Weights
from labelsieve.table_types import Matrix, is_sparse

Array = NDArray[np.float64]

MOST_INPUTS = 256  # above, triangular solutions cost more than the products of scikit-learn
TOLERANCE = 1e-10  # of the decrease that a step promises, relative to the objective
FLATTEST = 1e-6  # curvature, relative to the largest
# The defaults of the parameters that change the objective or the form of a fit.
_PLAIN = {
    key: LogisticRegression().get_params()[key]
    for key in ("class_weight", "dual", "l1_ratio", "penalty", "solver", "warm_start")
    if key in LogisticRegression().get_params()
}


@dataclass(frozen=True)
class SharedLogistic:
    r"""Dense rows for many fits of a ``LogisticRegression``, each with a few inputs of its own.

    The objective is that of ``LogisticRegression`` with its default solver: :math:`\frac12 w'w + \sum_i c_i \ell_i` with an
    intercept that has no penalty, and the softmax for more than two classes. Steps of limited-memory BFGS start from the Gram
    matrix, and end when a step promises less than 1e-10 of the objective, where scikit-learn stops within ``tol``: predictions
    agree up to that tolerance. A fit does not hold the interpreter's lock, so that several run at the same time in threads.

    Cost: a Gram matrix for all fits, then for each of 10 to 30 steps two products with the rows for each class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = (X[:, 0] + 0.3 * rng.normal(size=50) > 0).astype(int)
    >>> ours = SharedLogistic.of(LogisticRegression(), X).fit(None, y)
    >>> bool(np.allclose(ours.coef_, LogisticRegression(tol=1e-10).fit(X, y).coef_, atol=1e-4))
    True
    """

    base: LogisticRegression
    settings: dict[str, Any]  # its parameters, which take as long to look up as a fit
    rows: Array  # the constant input first
    costs: Array
    gram: Array

    @classmethod
    def of(cls, base: BaseEstimator, X: Matrix, weights: Weights = None, n_own: int = 0) -> Self | None:
        """The rows, or None if the base is another one, or has other settings, or the rows are sparse, wide or huge.

        ``n_own`` is the largest number of inputs of a single fit.
        """
        if type(base) is not LogisticRegression or is_sparse(X) or X.shape[1] + n_own > MOST_INPUTS:
            return None
        if any(getattr(base, name) != value for name, value in _PLAIN.items()) or not 0 < base.C < np.inf:
            return None
        costs = base.C * (np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64))
        rows = np.hstack([np.ones((len(X), int(bool(base.fit_intercept)))), X])
        with np.errstate(over="ignore", invalid="ignore"):
            gram = (rows * costs[:, np.newaxis]).T @ rows
        return cls(base, base.get_params(deep=False), rows, costs, gram) if np.isfinite(gram).all() else None

    def fit(self, own: sp.csc_matrix | None, y: NDArray[Any]) -> LogisticRegression:
        """A clone of the base, fitted to classes (two or more of them) on the shared inputs followed by its ``own``."""
        rows, gram = self.rows, self.gram
        if own is not None and own.shape[1]:
            more = own.toarray().astype(np.float64)
            weighted = more * self.costs[:, np.newaxis]
            across = weighted.T @ rows
            rows, gram = np.hstack([rows, more]), np.block([[gram, across.T], [across, weighted.T @ more]])
        classes, codes = np.unique(y, return_inverse=True)
        n_constant = int(bool(self.base.fit_intercept))
        curvatures, directions = _curvature(np.bincount(codes, weights=self.costs).astype(np.float64))
        weights = np.empty((len(curvatures), rows.shape[1]))
        n_steps = core.minimize_logistic(
            rows, n_constant, self.costs, gram, codes.astype(np.uint32), curvatures, directions, TOLERANCE, weights.reshape(-1)
        )
        fitted = LogisticRegression(**self.settings)
        fitted.classes_ = classes
        fitted.coef_ = weights[:, n_constant:].copy()
        fitted.intercept_ = weights[:, 0].copy() if n_constant else np.zeros(len(weights))
        fitted.n_features_in_, fitted.n_iter_ = fitted.coef_.shape[1], np.array([n_steps], dtype=np.int32)
        return fitted


def _curvature(counts: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors, in rows, of the second derivatives of the loss at the frequencies of the classes.

    The odds of two classes are one number. The odds of more may all be shifted, which has no curvature.
    """
    shares = counts / counts.sum()
    if len(shares) == 2:
        return np.array([shares[0] * shares[1]]), np.ones((1, 1))
    values, vectors = np.linalg.eigh(np.diag(shares) - np.outer(shares, shares))
    return np.maximum(values, FLATTEST * values[-1]), np.ascontiguousarray(vectors.T)
