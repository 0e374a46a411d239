"""How far Gaussian knockoffs may be from their columns: the diagonal matrix s."""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from labelsieve.errors import one_of

Real = NDArray[np.float64]
SLACKS = ("mvr", "max-entropy", "equicorrelated")
_STEPS = 60
_ENOUGH = 1e-7  # squared Newton decrement per column


def knockoff_slack(correlation: Real, method: str = "mvr", *, free: NDArray[np.bool_] | None = None) -> Real:
    r"""The vector s for which :math:`\mathrm{cov}(X_j, \tilde X_j) = 1 - s_j` and all other covariances are those of X.

    It must be positive, and :math:`A = 2 \Sigma - \mathrm{diag}(s)` positive definite; the larger, the less a column resembles
    its knockoff, and the more power the filter has.

    Parameters
    ----------
    correlation : ndarray of shape (d, d)
        :math:`\Sigma`, positive definite with ones on the diagonal.
    method : {"mvr", "max-entropy", "equicorrelated"}, default="mvr"
        ``"mvr"`` minimizes :math:`\mathrm{tr}(A^{-1}) + \sum_j 1 / s_j`, so that each column is hard to reconstruct from the
        others and the knockoffs (Spector and Janson 2022). ``"max-entropy"`` maximizes
        :math:`\log\det A + \sum_j \log s_j` (Gimenez and Zou 2019). ``"equicorrelated"`` takes the same s for all columns,
        :math:`\min(1, 2 \lambda_{\min})` (Barber and Candès 2015); one pair of similar columns makes it small for all.

    free : ndarray of bool, shape (d,), default=None
        Columns that may differ from their knockoffs; s is 0 for the others.

    Notes
    -----
    Both objectives are convex in s and minimized by Newton's method; each step is a few factorizations of d x d matrices, and
    about ten steps are enough.

    Examples
    --------
    >>> knockoff_slack(np.eye(3)).round(6)
    array([1., 1., 1.])
    >>> knockoff_slack(np.array([[1, 0.8], [0.8, 1]]), "equicorrelated").round(6)
    array([0.4, 0.4])
    """
    one_of(method, "slack", SLACKS)
    s = np.zeros(len(correlation))
    free = np.ones(len(s), dtype=bool) if free is None else free
    smallest = float(la.eigh(correlation, eigvals_only=True, subset_by_index=[0, 0])[0])
    s[free] = min(1.0, 2 * smallest) * (1 - 1e-9)
    if method == "equicorrelated" or not free.any():
        return s
    s /= 2
    value, gradient, hessian = _objective(correlation, s, free, method)
    for _ in range(_STEPS):
        step = np.zeros_like(s)
        step[free] = -la.solve(hessian, gradient, assume_a="pos", check_finite=False)
        decrement = -float(gradient @ step[free])
        if decrement <= _ENOUGH * len(s):
            break
        length = 1.0
        while True:  # the objective is infinite outside of the set where s > 0 and A is positive definite
            tried = _objective(correlation, s + length * step, free, method)
            if tried[0] <= value - 0.1 * length * decrement:
                break
            length /= 2
            if length < 1e-10:
                return s
        s = s + length * step
        value, gradient, hessian = tried
    return s


def _objective(correlation: Real, s: Real, free: NDArray[np.bool_], method: str) -> tuple[float, Real, Real]:
    """Value, gradient and Hessian in the free columns; an infinite value where s is not allowed."""
    own = s[free]
    if own.min() <= 0:
        return np.inf, s, correlation
    matrix = 2 * correlation
    matrix[np.diag_indices(len(s))] -= s
    try:
        factor = la.cholesky(matrix, lower=True, check_finite=False)
    except la.LinAlgError:
        return np.inf, s, correlation
    inverse = la.lapack.dpotri(factor, lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    part = inverse if len(own) == len(s) else inverse[np.ix_(free, free)]
    if method == "max-entropy":
        value = -2 * float(np.log(np.diag(factor)).sum()) - float(np.log(own).sum())
        hessian = part * part
        hessian[np.diag_indices(len(own))] += 1 / own**2
        return value, np.diag(part) - 1 / own, hessian
    squared = inverse @ inverse
    squared = squared if len(own) == len(s) else squared[np.ix_(free, free)]
    hessian = 2 * squared * part
    hessian[np.diag_indices(len(own))] += 2 / own**3
    return float(np.trace(inverse)) + float((1 / own).sum()), np.diag(squared) - 1 / own**2, hessian
