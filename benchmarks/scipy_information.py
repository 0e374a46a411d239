"""Mutual information of all pairs of columns by sparse products in scipy.

Independent of the library, so that it can serve as a reference. Level 0 of either side never
enters a product and follows from the marginals.
"""

import numpy as np


def scipy_mutual_information(X, Y):
    """(d, q) plug-in mutual information in nats of sparse columns of small non-negative integers."""
    rows = X.shape[0]
    x_levels, y_levels = indicators(X), indicators(Y)
    y_counts = [level.sum(axis=0) for level in y_levels]
    y_counts.insert(0, rows - sum(y_counts))

    information = np.zeros((X.shape[1], Y.shape[1]))
    rest = [np.tile(counts, (X.shape[1], 1)) for counts in y_counts]  # counts that remain for level 0 of X
    x_rest = np.full(X.shape[1], float(rows))
    for level in x_levels:
        x_counts = level.sum(axis=0)
        cells = [(level.T @ other).toarray() for other in y_levels]
        cells.insert(0, x_counts[:, None] - sum(cells))
        for j, joint in enumerate(cells):
            information += cell_information(joint, x_counts, y_counts[j], rows)
            rest[j] -= joint
        x_rest -= x_counts
    for j, joint in enumerate(rest):
        information += cell_information(joint, x_rest, y_counts[j], rows)
    return information


def indicators(codes):
    """One sparse 0/1 matrix per level from 1 on."""
    codes = codes.tocsc()
    levels = []
    for value in range(1, int(codes.max()) + 1):
        level = codes.astype(np.float64)
        level.data = (codes.data == value).astype(np.float64)
        level.eliminate_zeros()
        levels.append(level)
    return levels


def cell_information(joint, x_counts, y_counts, rows):
    expected = np.outer(x_counts, y_counts)
    seen = joint > 0
    logarithm = np.zeros_like(joint)
    np.log(np.divide(joint * rows, expected, out=logarithm, where=seen), out=logarithm, where=seen)
    return joint * logarithm / rows
