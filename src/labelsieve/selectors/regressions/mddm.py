"""MDDM: a projection onto the directions that depend most on the labels."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelsieve.parameters import CheckedParameters, Interval, checked_fit, parameter
from labelsieve.selectors.base import COUNT
from labelsieve.selectors.regressions.base import Array, solve, weighted_rows
from labelsieve.tables.magnitude import check_magnitude, largest_magnitude
from labelsieve.tables.problem import Problem, check_numbers, read_numbers
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

_SMALLEST = 1e-10  # of the largest eigenvalue: what is below is no direction, but rounding
_ROUNDING = 16 * np.finfo(np.float64).eps  # of the sums in B, relative to what they add up


def _dependence(X: Matrix, Y: Matrix, weights: Array) -> Array:
    """Return X'HY for the centering matrix H, as X'WY - (X'w)(Y'w)' / sum(w), so that nothing sparse is made dense."""
    centered = X if is_sparse(X) else X - np.average(X, axis=0, weights=weights)  # where it is free, for the last digits
    product = centered.T @ weighted_rows(Y, weights)
    B = np.asarray(product.toarray() if is_sparse(product) else product)
    B = B - np.outer(centered.T @ weights, Y.T @ weights) / weights.sum()
    rounding = _ROUNDING * largest_magnitude(Y) * ((np.abs(X) if isinstance(X, np.ndarray) else abs(X)).T @ weights)
    return np.where(np.abs(B) <= rounding[:, np.newaxis], 0.0, B)  # constant columns do not depend on anything


@dataclass(eq=False, repr=False)
class MDDM(CheckedParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Project features to where they depend most on the labels: dimensionality reduction by dependence maximization.

    .. math:: \max_P tr(P' X'H Y Y'H X P) \quad \text{subject to} \quad P'(\mu X'X + (1 - \mu) I) P = I

    with H the centering matrix: the Hilbert-Schmidt dependence of projected features and labels, both with linear kernels.
    Zhang and Zhou (2010); a baseline of Sun and Kudo (2017) with :math:`\mu = 0.5`. With ``mu=0`` directions are orthonormal,
    and the projection is that of programs without :math:`\mu`.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of directions; a fraction of the number of features; None takes all that are useful. There are at most as many
        as targets: asking for more gives those.
    mu : float, default=0.5
        From 0, orthonormal directions, to below 1, uncorrelated projections.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        P', the most dependent direction first, each with its largest entry positive.
    eigenvalues_ : ndarray of shape (n_components,)
        The contribution of each direction to the trace.
    n_components_ : int
        Number of directions.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The matrix of the problem is BB' with B = X'HY of q columns. So its directions are :math:`C^{-1} B u / \sqrt{\lambda}`,
    :math:`(\lambda, u)` being the eigenpairs of the q x q matrix :math:`B' C^{-1} B`, and C, the constraint, is only solved
    with: d x d where d is at most n, n x n where X is wide, by conjugate gradients where both are beyond 10,000, and not at
    all for ``mu=0``. Sparse X stays sparse;
    the means are taken out of X'Y. As published, X'X in the constraint is not centered, and ``transform``
    returns XP without a shift.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> mddm = MDDM(mu=0).fit(X, np.column_stack([X[:, 1] > 0, X[:, 1] + X[:, 3] > 0]))
    >>> np.abs(mddm.components_).argmax(axis=1)
    array([1, 3])
    """

    n_components: int | float | None = parameter(None, *COUNT)
    _: KW_ONLY
    mu: float = parameter(0.5, Interval(Real, 0, 1, closed="left"))

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Find the directions of ``X`` for the targets ``y``: 0/1 labels or numbers, dense or sparse."""
        problem = read_numbers(self, X, y, sample_weight)
        X, Y, weights = problem.X, problem.Y, problem.weights
        self.label_names_ = None if problem.target_names is None else np.array(problem.target_names, dtype=object)
        check_magnitude("MDDM", X, "X", weights)
        check_magnitude("MDDM", Y, "Y", weights)
        weights = np.ones(X.shape[0]) if weights is None else weights
        B = _dependence(X, Y, weights)
        scaled = solve(weighted_rows(X, np.sqrt(weights)), B, float(self.mu), 1 - float(self.mu))
        values, vectors = np.linalg.eigh(B.T @ scaled)
        values, vectors = values[::-1], vectors[:, ::-1]
        useful = int(np.count_nonzero(values > max(_SMALLEST * values[0], 0.0)))
        kept = self._wanted(X.shape[1], useful)
        components = (scaled @ vectors[:, :kept]) / np.sqrt(values[:kept])
        largest = np.abs(components).argmax(axis=0)
        components = components * np.sign(components[largest, np.arange(kept)])
        self.components_ = components.T.copy()
        self.eigenvalues_ = values[:kept].copy()
        self.n_components_ = kept
        return self

    def _wanted(self, n_features: int, n_useful: int) -> int:
        wanted: Any = self.n_components
        if wanted is None:
            return n_useful
        many = int(wanted) if isinstance(wanted, Integral) else max(1, round(float(wanted) * n_features))
        return min(many, n_useful)

    def transform(self, X: TableLike) -> Any:
        """Return the projections XP, a dense array with a column for each direction."""
        check_is_fitted(self)
        X = check_numbers(self, X, reset=False)
        return np.asarray(X @ self.components_.T)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags
