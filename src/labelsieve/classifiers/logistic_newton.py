"""Logistic regression with a weak ridge penalty, by Newton's method until it converges."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.sparsefuncs import mean_variance_axis

from labelsieve.tables.magnitude import column_exponents
from labelsieve.tables.types import CompressedMatrix, Matrix, is_sparse

MAX_STEPS = 200  # a label that the inputs separate takes about 40, others less than 10
SMALLEST_STEP = 1e-6  # halvings of a step; below, rounding hides a decrease of the objective
TOLERANCE = 1e-14  # of half the squared Newton decrement, relative to the objective
SUFFICIENT = 1e-4  # Armijo's constant


@dataclass(eq=False, repr=False)
class _NewtonLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Logistic regression of a 0/1 label on standardized inputs.

    Minimizes :math:`-\sum_i \log p_i + \lambda \lVert w \rVert^2` over the coefficients of the inputs divided by their standard
    deviations; the intercept has no penalty.

    With a penalty as weak as Weka's (1e-8), first-order solvers stop far from the minimum, and a label that the inputs separate
    has coefficients in the hundreds. Newton's method with step halving reaches the minimum in both cases.

    Parameters
    ----------
    ridge : float, default=1e-8
        The penalty :math:`\lambda`; the default is that of Weka's ``Logistic``.

    Notes
    -----
    Cost: for each of 5 to 40 steps, ``n_rows * n_inputs ** 2 / 2`` multiplications and a Cholesky decomposition.

    Examples
    --------
    >>> model = _NewtonLogistic().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]))
    >>> model.predict_proba(np.array([[1.5]])).round(6)
    array([[0.5, 0.5]])
    """

    ridge: float = 1e-8

    def fit(self, X: Matrix, y: NDArray[Any]) -> Self:
        """Fit the coefficients ``coef_`` and ``intercept_``; ``n_iter_`` is the number of steps."""
        self.classes_ = np.array([0, 1])
        exponents = column_exponents(X)
        if exponents.any():  # squares of such columns would overflow or vanish
            X = X @ sp.diags_array(np.ldexp(1.0, -exponents)) if is_sparse(X) else np.ldexp(X, -exponents)
        centers, scales = _centers_and_scales(X)
        Z = _standardized(X, centers, scales)
        penalty = np.append(np.full(X.shape[1], self.ridge), 0.0)
        weights, self.n_iter_ = _minimize(Z, np.where(y == 1, 1.0, -1.0), penalty)
        coefficients = weights[:-1] / scales
        self.intercept_ = float(weights[-1] - centers @ coefficients)
        self.coef_ = np.ldexp(coefficients, -exponents)
        return self

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Log odds of the label."""
        odds: NDArray[np.float64] = X @ self.coef_ + self.intercept_
        return odds

    def predict_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Probabilities of absence and presence."""
        odds = self.decision_function(X)
        return np.column_stack([expit(-odds), expit(odds)])

    def predict(self, X: Matrix) -> NDArray[np.intp]:
        """The more probable value; 0 if both are equally probable."""
        return (self.decision_function(X) > 0).astype(np.intp)


def _centers_and_scales(X: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means (0 for sparse inputs, which stay sparse) and standard deviations (1 for constant inputs)."""
    if is_sparse(X):
        centers, variances = np.zeros(X.shape[1]), mean_variance_axis(X, axis=0)[1]
    else:
        centers, variances = X.mean(axis=0), X.var(axis=0)
    return centers, np.where(variances > 0, np.sqrt(variances), 1.0)


def _standardized(X: Matrix, centers: NDArray[np.float64], scales: NDArray[np.float64]) -> Matrix:
    """The inputs and a column of ones for the intercept."""
    ones = np.ones((X.shape[0], 1))
    if is_sparse(X):
        standardized: CompressedMatrix = sp.csr_array(
            sp.hstack([X @ sp.diags_array(1 / scales), sp.csr_array(ones)], format="csr")
        )
        return standardized
    return np.hstack([(X - centers) / scales, ones])


def _minimize(Z: Matrix, signs: NDArray[np.float64], penalty: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Coefficients of the columns of ``Z``, and the number of Newton steps."""

    def objective(w: NDArray[np.float64], odds: NDArray[np.float64]) -> float:
        return float(np.logaddexp(0, -signs * odds).sum() + penalty @ w**2)

    w, odds = np.zeros(Z.shape[1]), np.zeros(Z.shape[0])
    value = objective(w, odds)
    for step in range(MAX_STEPS):
        absent = expit(-signs * odds)
        gradient = -(Z.T @ (signs * absent)) + 2 * penalty * w
        direction = _solve(_hessian(Z, absent * (1 - absent), penalty), gradient)
        decrement, along = float(gradient @ direction), Z @ direction
        if decrement <= 2 * TOLERANCE * value:
            return w, step
        size = 1.0
        while (new := objective(w - size * direction, odds - size * along)) > value - SUFFICIENT * size * decrement:
            size /= 2
            if size < SMALLEST_STEP:
                return w, step
        w = w - size * direction
        odds, value = Z @ w, new
    warnings.warn(
        f"The logistic regression has not converged after {MAX_STEPS} Newton steps.", ConvergenceWarning, stacklevel=2
    )
    return w, MAX_STEPS


def _hessian(Z: Matrix, curvatures: NDArray[np.float64], penalty: NDArray[np.float64]) -> NDArray[np.float64]:
    if is_sparse(Z):
        hessian: NDArray[np.float64] = (Z.T @ (sp.diags_array(curvatures) @ Z)).toarray()
    else:
        scaled = Z * np.sqrt(curvatures)[:, np.newaxis]
        hessian = scaled.T @ scaled  # a symmetric product, half the work
    hessian[np.diag_indices_from(hessian)] += 2 * penalty
    return hessian


def _solve(hessian: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
    """A Newton direction. The diagonal of a matrix that rounding has made indefinite is increased until it is not."""
    shift, diagonal = 0.0, hessian.diagonal().copy()
    while True:
        try:
            direction: NDArray[np.float64] = cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
            return direction
        except LinAlgError:
            shift = max(10 * shift, 1e-15 * float(diagonal.max()), np.finfo(np.float64).tiny)
            hessian[np.diag_indices_from(hessian)] = diagonal + shift
