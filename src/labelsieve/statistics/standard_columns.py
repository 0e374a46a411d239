"""Standardized columns of linear models, and the variance of targets that they explain together."""

from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

Real = NDArray[np.float64]
_SHARES = np.linspace(0.02, 0.98, 25)  # of the variance of the targets that the columns explain


def standardized(table: NDArray[Any]) -> Real:
    """Columns of mean 0 and variance 1; constant ones are 0."""
    centered = table - table.mean(axis=0)
    scale = centered.std(axis=0)
    return np.asarray(centered / np.where(scale > 1e-12, scale, np.inf))


def design_columns(table: NDArray[Any], levels: NDArray[np.integer] | None = None) -> tuple[Real, NDArray[np.intp]]:
    """Standardized columns, one for each level of a variable with three or more, and the variable to which each belongs.

    ``levels`` are the numbers of levels of codes; None: numbers.
    """
    if levels is None:
        return standardized(table), np.arange(table.shape[1])
    shown = [np.arange(1, 2) if count <= 2 else np.arange(count) for count in levels.tolist()]
    owner = np.repeat(np.arange(len(levels)), [len(some) for some in shown])
    return standardized((table[:, owner] == np.concatenate(shown)).astype(np.float64)), owner


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
