"""Linear systems in X'X and its largest eigenvalue, for X dense or sparse, tall or wide; X'X is formed only when small."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

Array = NDArray[np.float64]
LARGEST_SQUARE = 2048  # rows of the largest square matrix that is formed: 34 MB
_TOLERANCE = 1e-10  # of the residual of conjugate gradients, relative to the right-hand side
_MOST_STEPS = 5000


def gram(X: Any) -> Array:
    """X'X as a dense matrix."""
    product = X.T @ X
    return np.asarray(product.toarray() if sp.issparse(product) else product)


def multiply_by_gram(X: Any) -> Callable[[Array], Array]:
    """The map V -> X'XV: by the matrix where it is small and saves work, by X twice otherwise."""
    n_rows, n_columns = X.shape
    if n_columns <= min(n_rows, LARGEST_SQUARE):
        square = gram(X)
        return lambda V: square @ V
    return lambda V: X.T @ (X @ V)


def solve(X: Any, B: Array, scale: float, ridge: float) -> Array:
    """Z with (scale X'X + ridge I) Z = B, for a positive ridge.

    Cost: a factorisation of the smaller of the two square matrices (Woodbury's identity for wide X), or, when both sides of X
    are beyond 2,048, conjugate gradients with two products by X per step.
    """
    n_rows, n_columns = X.shape
    if scale == 0:
        return B / ridge
    if n_columns <= min(n_rows, LARGEST_SQUARE):
        return _solve_square(scale * gram(X), B, ridge)
    if n_rows <= LARGEST_SQUARE:
        inner = _solve_square(scale * gram(X.T), scale * (X @ B), ridge)
        return np.asarray(B - X.T @ inner) / ridge
    return _conjugate_gradients(lambda V: scale * (X.T @ (X @ V)) + ridge * V, B)


def _solve_square(square: Array, B: Array, ridge: float) -> Array:
    square[np.diag_indices_from(square)] += ridge
    solution: Array = scipy.linalg.solve(square, B, assume_a="pos")
    return solution


def _conjugate_gradients(multiply: Callable[[Array], Array], B: Array) -> Array:
    """All columns at once, each with its own step."""
    Z, residual = np.zeros_like(B), B.copy()
    direction, size = residual.copy(), (residual**2).sum(axis=0)
    goal = _TOLERANCE**2 * size
    for _ in range(_MOST_STEPS):
        if np.all(size <= goal):
            return Z
        image = multiply(direction)
        curvature = (direction * image).sum(axis=0)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        Z += step * direction
        residual -= step * image
        before, size = size, (residual**2).sum(axis=0)
        direction = residual + np.divide(size, before, out=np.zeros_like(size), where=before > 0) * direction
    warnings.warn(
        f"A linear system in X'X was not solved to {_TOLERANCE:g} in {_MOST_STEPS:,} steps; scale the features.",
        ConvergenceWarning,
        stacklevel=4,
    )
    return Z


def extreme_eigenvalues(X: Any) -> tuple[float, float]:
    """A lower bound of the smallest and an upper bound of the largest eigenvalue of X'X, tight up to a per cent.

    The smallest is only looked for where X has at least as many rows as columns and 1,024 columns at the most; elsewhere 0.
    """
    n_rows, n_columns = X.shape
    smaller = min(n_rows, n_columns)
    if smaller <= LARGEST_SQUARE // 2:
        values = scipy.linalg.eigvalsh(gram(X if n_columns <= n_rows else X.T))
        return (max(0.0, float(values[0])) if n_columns <= n_rows else 0.0), max(0.0, float(values[-1]))
    operator = LinearOperator((n_columns, n_columns), matvec=lambda v: X.T @ (X @ v), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n_columns)
    (largest,) = eigsh(operator, k=1, v0=start, tol=1e-4, return_eigenvectors=False)
    return 0.0, 1.01 * float(largest)


def weighted_rows(matrix: Any, weights: Array) -> Any:
    """Rows times their weights, dense or sparse."""
    return sp.csr_array(sp.diags_array(weights) @ matrix) if sp.issparse(matrix) else weights[:, np.newaxis] * matrix
