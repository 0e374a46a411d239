"""Importance of columns for many targets at once, fast enough to be computed for many knockoff copies."""

import warnings

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

Real = NDArray[np.float64]
_SHARES = np.linspace(0.02, 0.98, 25)  # of the variance of the targets that the columns explain
_SMALLEST = 1e-8
N_FOLDS, N_PENALTIES, SMALLEST_PENALTY = 3, 12, 0.03


def lasso_importance(X: Real, Y: Real) -> Real:
    """Absolute coefficients of the lasso, summed over the targets; each penalty by cross-validation.

    ``X`` and ``Y`` are standardized. Penalties are few and folds too, since a contrast with knockoff copies needs no accurate
    optimum. Cost: four paths of penalties for every target.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 4))
    >>> lasso_importance(X, X[:, [0]] + 0.1 * rng.standard_normal((200, 1))).round(1)
    array([0.9, 0. , 0. , 0. ])
    """
    from sklearn.exceptions import ConvergenceWarning  # loaded where it is needed: importing the package stays fast
    from sklearn.linear_model import LassoCV

    total = np.zeros(X.shape[1])
    n_folds = min(N_FOLDS, len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for target in Y.T:
            model = LassoCV(
                cv=n_folds,
                alphas=N_PENALTIES,
                eps=SMALLEST_PENALTY,
                max_iter=200,
                tol=1e-2,
                precompute=X.shape[1] <= 4 * len(X),
            )
            total += np.abs(model.fit(X, target).coef_)
    return total


def sparse_bayes_importance(X: Real, Y: Real, *, n_steps: int = 6) -> Real:
    r"""Root mean square coefficients of sparse Bayesian learning with the same relevant columns for all targets.

    .. math:: y_l = X b_l + \epsilon, \quad b_{jl} \sim N(0, \gamma_j), \quad \epsilon \sim N(0, \sigma^2)

    (Wipf and Rao 2007). :math:`\sigma^2`, and the variance that all columns share at the start, have the largest marginal
    likelihood; then ``n_steps`` updates :math:`\gamma_j = \sqrt{\frac{1}{q} \sum_l \hat b_{jl}^2 / x_j' C^{-1} x_j}` with
    :math:`C = \sigma^2 I + X \Gamma X'` drive the variances of irrelevant columns toward 0. ``X`` and ``Y`` are
    standardized. Cost: a factorization of min(n, d) unknowns for each step, for any number of targets.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 5))
    >>> Y = X[:, [0, 1]] @ np.array([[1, 0.5, 0], [0, 0.5, 1]]) + 0.5 * rng.standard_normal((200, 3))
    >>> sparse_bayes_importance(X, Y).round(1)
    array([0.6, 0.7, 0. , 0. , 0. ])
    """
    shared, noise = variance_components(X, Y)
    variances = np.full(X.shape[1], shared / X.shape[1])
    by_rows = len(X) <= X.shape[1]
    products = (X, Y) if by_rows else (X.T @ X, X.T @ Y)
    for step in range(n_steps + 1):
        coefficients, leverage = (_from_rows if by_rows else _from_columns)(*products, variances, noise)
        squares = np.asarray((coefficients**2).mean(axis=1))
        if step < n_steps:
            variances = np.maximum(np.sqrt(squares / np.maximum(leverage, _SMALLEST)), _SMALLEST)
    return np.asarray(np.sqrt(squares))


def variance_components(X: Real, Y: Real) -> tuple[float, float]:
    """The variance of the targets that all columns explain equally, and the rest, of the largest marginal likelihood."""
    n, d = X.shape
    if n <= d:
        values, vectors = la.eigh(X @ X.T / d, check_finite=False)
        parts = ((vectors.T @ Y) ** 2).mean(axis=1)
        n_zero, of_zero = 0, 0.0
    else:
        values, vectors = la.eigh(X.T @ X / d, check_finite=False)
        values = np.clip(values, 1e-12, None)
        parts = ((vectors.T @ (X.T @ Y)) ** 2).mean(axis=1) / (values * d)
        n_zero, of_zero = n - d, max(0.0, float((Y**2).sum(axis=0).mean() - parts.sum()))
    values = np.clip(values, 0.0, None)
    found = (np.inf, 0.5, 0.5)
    for explained in _SHARES:
        spectrum = explained * values + 1 - explained
        scale = (float((parts / spectrum).sum()) + of_zero / (1 - explained)) / n
        if scale <= 0:
            continue
        loss = float(np.log(spectrum).sum()) + n_zero * np.log(1 - explained) + n * np.log(scale)
        found = min(found, (loss, explained * scale, (1 - explained) * scale))
    return found[1], found[2]


def _from_rows(X: Real, Y: Real, variances: Real, noise: float) -> tuple[Real, Real]:
    """Posterior means of the coefficients and x' C^-1 x, with a system of as many unknowns as rows."""
    weighted = X * np.sqrt(variances)
    matrix = weighted @ weighted.T
    matrix[np.diag_indices(len(X))] += noise
    factor = la.cholesky(matrix, lower=True, check_finite=False)
    columns = la.solve_triangular(factor, X, lower=True, check_finite=False)
    targets = la.solve_triangular(factor, Y, lower=True, check_finite=False)
    return variances[:, np.newaxis] * (columns.T @ targets), np.asarray((columns**2).sum(axis=0))


def _from_columns(gram: Real, product: Real, variances: Real, noise: float) -> tuple[Real, Real]:
    """The same, with a system of as many unknowns as columns."""
    root = np.sqrt(variances)
    matrix = gram * np.outer(root, root) / noise
    matrix[np.diag_indices(len(root))] += 1.0
    inverse = la.lapack.dpotri(la.cholesky(matrix, lower=True, check_finite=False), lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    coefficients = root[:, np.newaxis] * (inverse @ (root[:, np.newaxis] * product)) / noise
    return coefficients, np.maximum(0.0, 1.0 - np.diag(inverse)) / variances
