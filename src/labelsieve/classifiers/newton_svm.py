"""Linear support vector machines with squared hinge loss on the same rows, by Newton's method from a shared Gram matrix."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv
from sklearn.svm import LinearSVC

from labelsieve.classifiers.weight_routing import Weights

Array = NDArray[np.float64]

MOST_INPUTS = 512  # above, the cubes of the decomposition cost more than the products of liblinear
MOST_STEPS = 100
SUFFICIENT = 1e-4  # Armijo's constant
SMALLEST_STEP = 2.0**-30
LEAST_DECREASE = 1e-14  # of the objective


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
    >>> ours = SharedRows.of(LinearSVC(), X).fit(np.empty((50, 0)), y)
    >>> bool(np.allclose(ours.coef_, LinearSVC(tol=1e-10, max_iter=10_000).fit(X, y).coef_, atol=1e-4))
    True
    """

    base: LinearSVC
    rows: Array  # scaled by the roots of their costs, the constant input first
    roots: Array
    gram: Array

    @classmethod
    def of(cls, base: Any, X: Any, weights: Weights = None, n_own: int = 0) -> Self | None:
        """The rows, or None if the base is another one, or has other settings, or the rows are sparse, wide or huge.

        ``n_own`` is the largest number of inputs of a single fit.
        """
        if type(base) is not LinearSVC or sp.issparse(X) or (base.penalty, base.loss) != ("l2", "squared_hinge"):
            return None
        n_rows, n_inputs = X.shape
        primal = base.dual is False or (base.dual == "auto" and n_rows >= n_inputs + n_own)
        if not primal or base.class_weight is not None or n_inputs + n_own > MOST_INPUTS or not base.C > 0:
            return None
        roots = np.sqrt(base.C * (np.ones(n_rows) if weights is None else weights))
        columns = [np.full((n_rows, 1), float(base.intercept_scaling))] if base.fit_intercept else []
        rows = roots[:, np.newaxis] * np.hstack([*columns, X])
        with np.errstate(over="ignore", invalid="ignore"):
            gram = rows.T @ rows
        return cls(base, rows, roots, gram) if np.isfinite(gram).all() else None

    def fit(self, own: Array, y: NDArray[Any]) -> LinearSVC:
        """A clone of the base, fitted to 0/1 labels (both occur) on the shared inputs followed by its ``own``."""
        own = self.roots[:, np.newaxis] * own
        rows = np.hstack([self.rows, own])
        across = own.T @ self.rows
        gram = np.block([[self.gram, across.T], [across, own.T @ own]])
        weights, n_steps = _minimize(rows, np.where(y > 0, self.roots, -self.roots), gram)
        n_constant = int(self.base.fit_intercept)
        fitted = LinearSVC(**self.base.get_params(deep=False))
        fitted.classes_ = np.array([0, 1])
        fitted.coef_ = weights[np.newaxis, n_constant:].copy()
        fitted.intercept_ = weights[:n_constant] * float(self.base.intercept_scaling) if n_constant else 0.0
        fitted.n_features_in_, fitted.n_iter_ = rows.shape[1] - n_constant, n_steps
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
