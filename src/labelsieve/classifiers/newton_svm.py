"""Linear support vector machines with squared hinge loss on the same rows, by Newton's method."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv
from sklearn.base import BaseEstimator
from sklearn.svm import LinearSVC

from labelsieve import core
from labelsieve.classifiers.base import Weights
from labelsieve.tables.types import Matrix, TableLike, is_sparse

Array = NDArray[np.float64]

MOST_INPUTS = 512  # above, the cubes of the decomposition cost more than the products of liblinear
MOST_STEPS = 100
SUFFICIENT = 1e-4  # Armijo's constant
SMALLEST_STEP = 2.0**-30
LEAST_DECREASE = 1e-14  # of the objective
TOLERANCE = 1e-6  # of the conditions of the margins, for sparse rows


@dataclass(frozen=True)
class SharedRows:
    r"""Dense rows for many fits of a ``LinearSVC``, each with a few inputs of its own.

    The objective is that of ``LinearSVC`` with its default loss and penalty, in the primal form that scikit-learn itself solves
    when there are more rows than inputs: :math:`\frac12 w'w + \sum_i c_i \max(0, 1 - y_i w'z_i)^2`, where :math:`z` ends
    with the constant ``intercept_scaling``. For the rows inside the margin it is a ridge regression, so each of Newton's
    steps is the solution for those rows; the matrix is brought up to date with the rows that come and go. The minimum is
    found exactly, up to rounding, where liblinear stops within ``tol``: predictions agree up to that tolerance.

    Cost: a Gram matrix for all fits, then for each of 5 to 10 steps a product with the rows, :math:`d^2` for every row that
    comes or goes, and :math:`d^3 / 3`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = (X[:, 0] + 0.3 * rng.normal(size=50) > 0).astype(int)
    >>> ours = SharedRows.of(LinearSVC(), X).fit(sp.csc_matrix((50, 0)), y)
    >>> bool(np.allclose(ours.coef_, LinearSVC(tol=1e-10, max_iter=10_000).fit(X, y).coef_, atol=1e-4))
    True
    """

    base: LinearSVC
    rows: Array  # scaled by the roots of their costs, the constant input first
    roots: Array
    gram: Array

    @classmethod
    def of(cls, base: BaseEstimator, X: Matrix, weights: Weights = None, n_own: int = 0) -> Self | None:
        """The rows, or None if the base is another one, or has other settings, or the rows are sparse, wide or huge.

        ``n_own`` is the largest number of inputs of a single fit.
        """
        n_rows, n_inputs = X.shape
        if not _is_smooth(base) or is_sparse(X) or n_inputs + n_own > MOST_INPUTS:
            return None
        if base.dual == "auto" and n_rows < n_inputs + n_own:
            return None
        roots = np.sqrt(_costs(base, n_rows, weights))
        columns = [np.full((n_rows, 1), float(base.intercept_scaling))] if base.fit_intercept else []
        rows = roots[:, np.newaxis] * np.hstack([*columns, X])
        with np.errstate(over="ignore", invalid="ignore"):
            gram = rows.T @ rows
        return cls(base, rows, roots, gram) if np.isfinite(gram).all() else None

    def fit(self, own: sp.csc_matrix, y: NDArray[Any]) -> LinearSVC:
        """A clone of the base, fitted to 0/1 labels (both occur) on the shared inputs followed by its ``own``."""
        own = self.roots[:, np.newaxis] * own.toarray()
        rows = np.hstack([self.rows, own])
        across = own.T @ self.rows
        gram = np.block([[self.gram, across.T], [across, own.T @ own]])
        weights, n_steps = _minimize(rows, np.where(y > 0, self.roots, -self.roots), gram)
        return _fitted(self.base, weights, n_steps)


@dataclass(frozen=True)
class SharedSparseRows:
    """Sparse rows for many fits of a ``LinearSVC``, each with a few 0/1 inputs of its own.

    The objective is that of :class:`SharedRows`. Coordinate descent in the dual (Hsieh et al. 2008) leaves out the rows that
    stay outside the margin, and ends when no margin is more than 1e-6 from its condition; after 300 passes, as for unscaled
    inputs, Newton's method with conjugate gradients goes on. The input is checked and converted once for all fits, which
    takes liblinear longer than a fit of short texts.

    Cost: 20 to 150 passes over the entries of the rows inside the margin.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = sp.random_array((60, 40), density=0.2, rng=rng, format="csr")
    >>> y = (X.sum(axis=1) > 4).astype(int)
    >>> ours = SharedSparseRows.of(LinearSVC(), X).fit(sp.csc_matrix((60, 0)), y)
    >>> bool(np.allclose(ours.coef_, LinearSVC(tol=1e-10, max_iter=10_000).fit(X, y).coef_, atol=1e-4))
    True
    """

    base: LinearSVC
    rows: sp.csr_matrix
    costs: Array

    @classmethod
    def of(cls, base: BaseEstimator, X: TableLike, weights: Weights = None) -> Self | None:
        """The rows, or None if the base is another one, or has other settings, or the rows are dense or huge."""
        if not is_sparse(X) or not _is_smooth(base):
            return None
        rows = sp.csr_matrix(X, dtype=np.float64)
        rows.sum_duplicates()
        with np.errstate(over="ignore"):
            squares = rows.data @ rows.data
        return cls(base, rows, _costs(base, X.shape[0], weights)) if np.isfinite(squares) else None

    def fit(self, own: sp.csc_matrix, y: NDArray[Any]) -> LinearSVC:
        """A clone of the base, fitted to 0/1 labels (both occur) on the shared inputs followed by its ``own``."""
        rows, constant = self.rows, float(self.base.intercept_scaling) if self.base.fit_intercept else 0.0
        weights = np.zeros(int(constant != 0) + rows.shape[1] + own.shape[1])
        n_steps = core.minimize_squared_hinge(
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int32, copy=False),
            rows.data,
            rows.shape[1],
            constant,
            self.costs,
            own.indptr.astype(np.int64),
            own.indices.astype(np.int32, copy=False),
            (y > 0).astype(np.uint8),
            TOLERANCE,
            weights,
        )
        return _fitted(self.base, weights, n_steps)


def _is_smooth(base: BaseEstimator) -> bool:
    """A ``LinearSVC`` with the loss and the penalty of these solvers, unless the dual is asked for."""
    return (
        type(base) is LinearSVC
        and (base.penalty, base.loss, base.class_weight) == ("l2", "squared_hinge", None)
        and base.dual in (False, "auto")
        and base.C > 0
    )


def _costs(base: LinearSVC, n_rows: int, weights: Weights) -> Array:
    costs: Array = base.C * (np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64))
    return costs


def _fitted(base: LinearSVC, weights: Array, n_steps: int) -> LinearSVC:
    n_constant = int(base.fit_intercept)
    fitted = LinearSVC(**base.get_params(deep=False))
    fitted.classes_ = np.array([0, 1])
    fitted.coef_ = weights[np.newaxis, n_constant:].copy()
    fitted.intercept_ = weights[:n_constant] * float(base.intercept_scaling) if n_constant else 0.0
    fitted.n_features_in_, fitted.n_iter_ = fitted.coef_.shape[1], n_steps
    return fitted


def _minimize(rows: Array, wanted: Array, gram: Array) -> tuple[Array, int]:
    """Weights that minimize half their squares plus the squared residuals of rows whose residual has the sign of ``wanted``."""
    identity, signs = np.eye(rows.shape[1]), np.sign(wanted)
    weights, predicted = np.zeros(rows.shape[1]), np.zeros(len(rows))
    inside = np.ones(len(rows), dtype=bool)
    matrix, target = 2 * gram, 2 * (wanted @ rows)
    objective = float(wanted @ wanted)
    for step_number in range(1, MOST_STEPS + 1):
        _, solution, failed = dposv(identity + matrix, target)
        if failed:  # rounding of a matrix that was brought up to date many times
            solution = np.linalg.lstsq(identity + matrix, target)[0]
        direction = solution - weights
        moved = rows @ direction
        slope = float(weights @ direction) - 2 * float((wanted - predicted)[inside] @ moved[inside])
        step = 1.0
        while True:
            residuals = wanted - predicted - step * moved
            now = residuals * signs > 0
            candidate = weights + step * direction
            value = 0.5 * float(candidate @ candidate) + float(residuals[now] @ residuals[now])
            if value <= objective + SUFFICIENT * step * slope or step < SMALLEST_STEP:
                break
            step /= 2
        if step < SMALLEST_STEP:
            return weights, step_number  # nothing is left but rounding
        decrease, objective = objective - value, value
        weights, predicted = candidate, predicted + step * moved
        come, go = now & ~inside, inside & ~now
        if (step == 1.0 and not come.any() and not go.any()) or decrease <= LEAST_DECREASE * objective:
            return weights, step_number
        if np.count_nonzero(come) + np.count_nonzero(go) < np.count_nonzero(now):
            matrix = matrix + 2 * (rows[come].T @ rows[come]) - 2 * (rows[go].T @ rows[go])
        else:
            matrix = 2 * (rows[now].T @ rows[now])
        target = 2 * (wanted[now] @ rows[now])
        inside = now
    return weights, MOST_STEPS


SharedFits = SharedRows | SharedSparseRows


def shared_rows(base: BaseEstimator, X: Matrix, weights: Weights = None, n_own: int = 0) -> SharedFits | None:
    """The rows for many fits of a plain ``LinearSVC``; None for other bases, settings and rows.

    ``n_own`` is the largest number of inputs of a single fit in addition to the columns of X.
    """
    return SharedRows.of(base, X, weights, n_own) or SharedSparseRows.of(base, X, weights)
