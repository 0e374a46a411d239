"""PPT-MI, plain and slow."""

from collections import Counter

import numpy as np
from scipy.special import digamma


def pruned(X, Y, min_count):
    rows = [tuple(row) for row in Y]
    counts = Counter(rows)
    kept = [i for i, row in enumerate(rows) if counts[row] >= min_count]
    names = sorted({rows[i] for i in kept})
    return X[kept], np.array([names.index(rows[i]) for i in kept])


def scaled(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(X.max(axis=0) > X.min(axis=0), spread, np.inf)


def kth(distances, k):
    return sorted(distances)[k - 1]


def information(X, y, k):
    """The formula, row by row."""
    n, dimensions = X.shape
    k = min(k, n - 1)
    total = 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        distances = {j: float(np.sqrt(((X[i] - X[j]) ** 2).sum())) for j in others}
        same_class = [j for j in others if y[j] == y[i]]
        k_same = min(k, len(same_class))
        e, e_same = kth(distances.values(), k), kth([distances[j] for j in same_class], k_same)
        total += digamma(n) - digamma(len(same_class) + 1)
        if e > 0:
            total += digamma(k_same) - digamma(k) + dimensions * (np.log(e) - np.log(e_same))
        else:
            near = [j for j in others if distances[j] <= e_same * (1 + 1e-9)]
            total += digamma(sum(y[j] == y[i] for j in near)) - digamma(len(near))
    return total / n


def pptmi(X, Y, n_features, *, k, min_count):
    X, y = pruned(np.asarray(X, dtype=float), np.asarray(Y), min_count)
    X = scaled(X)
    selected, scores = [], []
    for _ in range(n_features):
        remaining = [f for f in range(X.shape[1]) if f not in selected]
        candidates = [information(X[:, [*selected, f]], y, k) for f in remaining]
        best = int(np.argmax(candidates))
        selected.append(remaining[best])
        scores.append(candidates[best])
    return selected, scores
