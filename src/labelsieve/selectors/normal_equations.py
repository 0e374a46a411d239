"""Linear systems in X'X and its largest eigenvalue, for X dense or sparse, tall or wide; X'X is formed only when small."""

import warnings
from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from labelsieve.table_types import Matrix, is_sparse

Array = NDArray[np.float64]
LARGEST_SQUARE = 2048  # rows of the largest square matrix that is formed to multiply by: 34 MB
LARGEST_SYSTEM = 10_000  # and of the largest that is factorized: 800 MB; beyond, conjugate gradients take minutes and more
_ROWS_AT_ONCE = 512
_TOLERANCE = 1e-10  # of the residual of conjugate gradients, relative to the right-hand side
_MOST_STEPS = 5000


def gram(X: Matrix) -> Array:
    """X'X as a dense matrix."""
    if not is_sparse(X):
        return np.asarray(X.T @ X)
    rows, square = sp.csr_array(X.T), np.empty((X.shape[1], X.shape[1]))
    for start in range(0, len(square), _ROWS_AT_ONCE):  # the product is all but dense: as a sparse matrix it would be larger
        some = slice(start, start + _ROWS_AT_ONCE)
        square[some] = (rows[some] @ X).toarray()
    return square


def multiply_by_gram(X: Matrix) -> Callable[[Array], Array]:
    """The map V -> X'XV: by the matrix where it is small and saves work, by X twice otherwise."""
    n_rows, n_columns = X.shape
    if n_columns <= min(n_rows, LARGEST_SQUARE):
        square = gram(X)
        return lambda V: square @ V
    return lambda V: X.T @ (X @ V)


def solve(X: Matrix, B: Array, scale: float, ridge: float) -> Array:
    """Z with (scale X'X + ridge I) Z = B, for a positive ridge.

    Cost: a factorization of the smaller of the two square matrices (Woodbury's identity for wide X), or, when both sides of X
    are beyond 10,000, conjugate gradients with two products by X per step.
    """
    n_rows, n_columns = X.shape
    if scale == 0:
        return B / ridge
    if n_columns <= min(n_rows, LARGEST_SYSTEM):
        return _solve_square(gram(X), B, scale, ridge)
    if n_rows <= LARGEST_SYSTEM:
        inner = _solve_square(gram(X.T), scale * (X @ B), scale, ridge)
        return np.asarray(B - X.T @ inner) / ridge
    squares = (X.multiply(X) if is_sparse(X) else X * X).sum(axis=0)
    diagonal = scale * np.asarray(squares, dtype=np.float64).reshape(-1, 1) + ridge
    return conjugate_gradients(lambda V: scale * (X.T @ (X @ V)) + ridge * V, B, diagonal)


def solve_centered(X: Matrix, B: Array, scale: float, ridge: float) -> Array:
    """The same with the columns of X centered: arrays must be already, a sparse X is not changed."""
    if not is_sparse(X):
        return solve(X, B, scale, ridge)
    means = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    both = solve(X, np.column_stack([B, means]), scale, ridge)
    Z, of_means = both[:, :-1], both[:, -1:]
    # Sherman and Morrison: the matrix less scale n m m'.
    factor = scale * X.shape[0]
    return np.asarray(Z + factor * of_means * (means @ Z) / (1 - factor * float(means @ of_means[:, 0])))


def _solve_square(square: Array, B: Array, scale: float, ridge: float) -> Array:
    square *= scale
    square[np.diag_indices_from(square)] += ridge
    # Symmetric, so its transpose is the same matrix in the order that LAPACK can work on in place.
    factor = scipy.linalg.cho_factor(square.T, overwrite_a=True, check_finite=False)
    solution: Array = scipy.linalg.cho_solve(factor, B)
    return solution


def conjugate_gradients(multiply: Callable[[Array], Array], B: Array, diagonal: Array) -> Array:
    """All columns at once, each with a separate step; the diagonal scales rare and frequent features equally."""
    Z, residual = np.zeros_like(B), B.copy()
    direction = residual / diagonal
    size = (residual * direction).sum(axis=0)
    goal = _TOLERANCE**2 * size
    for _ in range(_MOST_STEPS):
        if np.all(size <= goal):
            return Z
        image = multiply(direction)
        curvature = (direction * image).sum(axis=0)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        Z += step * direction
        residual -= step * image
        scaled = residual / diagonal
        before, size = size, (residual * scaled).sum(axis=0)
        direction = scaled + np.divide(size, before, out=np.zeros_like(size), where=before > 0) * direction
    warnings.warn(
        f"A linear system in X'X was not solved to {_TOLERANCE:g} in {_MOST_STEPS:,} steps; scale the features.",
        ConvergenceWarning,
        stacklevel=4,
    )
    return Z


def extreme_eigenvalues(X: Matrix) -> tuple[float, float]:
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


def is_positive_definite(X: Matrix, shift: float) -> bool | None:
    """Whether X'X + shift I, shift below 0, has only positive eigenvalues; None where it would take too long to say.

    A column whose length, squared, is below -shift says no at once; else a Cholesky factorization decides, where X has 10,000
    columns at the most. Beyond, nothing is known.
    """
    n_rows, n_columns = X.shape
    squares = np.asarray((X.multiply(X) if is_sparse(X) else X * X).sum(axis=0), dtype=np.float64)
    if n_columns > n_rows or squares.min(initial=np.inf) + shift < 0:
        return False
    if n_columns > LARGEST_SYSTEM:
        return None
    square = gram(X)
    square[np.diag_indices_from(square)] += shift
    try:
        scipy.linalg.cholesky(square.T, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def weighted_rows(matrix: Matrix, weights: Array) -> Matrix:
    """Rows times their weights, dense or sparse."""
    return sp.csr_array(sp.diags_array(weights) @ matrix) if is_sparse(matrix) else weights[:, np.newaxis] * matrix
