"""Reference implementations of the nearest-neighbor methods."""

import numpy as np


def nearest(X, queries, k, ties="first"):
    """Lists of rows, by sorting all distances; ``queries`` None leaves each row out of its own list."""
    lists = []
    for place, point in enumerate(X if queries is None else queries):
        squares = np.zeros(len(X), dtype=np.result_type(X, np.float64))
        for feature in range(X.shape[1]):
            squares += (point[feature] - X[:, feature]) ** 2
        order = np.argsort(squares, kind="stable")
        order = order[order != place] if queries is None else order
        n_kept = min(k, len(order))
        if ties == "all" and n_kept:
            n_kept = np.count_nonzero(squares[order] <= squares[order[n_kept - 1]])
        lists.append(order[:n_kept].tolist())
    return lists


def mlknn(X, Y, queries, k, s):
    """Zhang and Zhou (2007), label by label and row by row."""
    own, asked = nearest(X, None, k), nearest(X, queries, k)
    probabilities = np.empty((len(queries), Y.shape[1]))
    for label in range(Y.shape[1]):
        y = Y[:, label]
        prior = (s + y.sum()) / (2 * s + len(y))
        seen = np.zeros((2, k + 1))
        for row, rows in enumerate(own):
            seen[y[row], y[rows].sum()] += 1
        conditional = (s + seen) / (s * (k + 1) + seen.sum(axis=1, keepdims=True))
        for row, rows in enumerate(asked):
            count = y[rows].sum()
            present, absent = prior * conditional[1, count], (1 - prior) * conditional[0, count]
            probabilities[row, label] = present / (present + absent)
    return probabilities
