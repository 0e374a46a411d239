"""Reference of orthogonal matching pursuit: a least-squares problem for every candidate."""

import numpy as np


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
    """The gain of every feature, ``groups[f]`` being its columns; 0 with less than one per cent of its variance left."""
    weights = np.ones(len(Y)) if weights is None else weights
    known = [column for feature in selected for column in groups[feature]]
    before = residual_squares(known, Y, weights)
    total = weights.sum()
    scores = []
    for group in groups:
        fresh = []
        for column in group:
            if variance_left(column, [*known, *fresh], weights) > 0.01:
                fresh.append(column)
        after = residual_squares([*known, *fresh], Y, weights)
        scores.append(np.maximum(0, before - after - penalty * len(fresh) * before / total).sum() / total)
    return np.array(scores)
