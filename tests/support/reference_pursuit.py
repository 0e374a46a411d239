"""Reference of orthogonal matching pursuit: a least-squares problem for every candidate."""

import numpy as np
from scipy.integrate import quad
from scipy.stats import chi2, gamma


def residual_squares(columns, Y, weights):
    """Sums of squares of the residuals of every target, with a constant in the model."""
    root = np.sqrt(weights)[:, np.newaxis]
    design = root * np.column_stack([np.ones(len(Y)), *columns])
    coefficients = np.linalg.lstsq(design, root * Y, rcond=1e-10)[0]
    return ((root * Y - design @ coefficients) ** 2).sum(axis=0)


def variance_left(column, columns, weights):
    """The share of a column's variance that is left given others."""
    alone = residual_squares([], column[:, np.newaxis], weights)[0]
    return residual_squares(columns, column[:, np.newaxis], weights)[0] / alone if alone > 0 else 0.0


def gains(groups, Y, selected, penalty=2.0, weights=None):
    """The gain of every feature, ``groups[f]`` being its columns.

    A column with less than 1e-8 of its variance left does not count, one with less than one per cent only for targets whose
    squares it lowers by more than ten times what noise does.
    """
    weights = np.ones(len(Y)) if weights is None else weights
    known = [column for feature in selected for column in groups[feature]]
    before = residual_squares(known, Y, weights)
    total = weights.sum()
    scores = []
    for group in groups:
        fresh, drops = [], np.zeros(Y.shape[1])
        for column in group:
            left = variance_left(column, [*known, *fresh], weights)
            if left > 1e-8:
                now = residual_squares([*known, *fresh], Y, weights)
                fresh.append(column)
                drop = now - residual_squares([*known, *fresh], Y, weights)
                drops += np.where((left > 0.01) | (drop > 10 * before / total), drop, 0.0)
        scores.append(np.maximum(0, drops - penalty * len(fresh) * before / total).sum() / total)
    return np.array(scores)


def noise_level(n_columns, Y, selected, alpha, penalty=2.0):
    """The level that the largest gain of noise exceeds with probability ``alpha``, by quadrature; ``selected`` are columns."""
    Y = Y - Y.mean(axis=0)
    covariances = Y.T @ Y / len(Y)
    design = np.column_stack([np.ones(len(Y)), *selected])
    left = ((Y - design @ np.linalg.lstsq(design, Y, rcond=None)[0]) ** 2).mean(axis=0).sum()
    n_independent = max(1.0, np.trace(covariances) ** 2 / (covariances**2).sum())
    levels = []
    for columns in set(n_columns):
        least = penalty * columns
        excess = [quad(lambda x, p=p: (x - least) ** p * chi2.pdf(x, columns), least, np.inf)[0] for p in (1, 2)]  # noqa: B023
        mean, variance = excess[0], (excess[1] - excess[0] ** 2) / n_independent
        found = gamma(mean**2 / variance, scale=variance / mean)
        levels.append(found.ppf((1 - alpha) ** (1 / len(n_columns))))
    return left / len(Y) * max(levels)
