"""Features and labels that depend on each other, some rare, some constant."""

import numpy as np


def make_labels(seed, *, n_rows=60, n_labels=6, n_features=4, constant=True):
    """``X`` in three levels, ``Y`` of zeros and ones; one of the labels may never occur."""
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n_rows, n_features))
    Y = np.empty((n_rows, n_labels), dtype=int)
    for label in range(n_labels):
        source = X[:, rng.integers(n_features)] > rng.integers(2)
        if label and rng.random() < 0.6:
            source = source ^ (Y[:, rng.integers(label)] == 1)
        Y[:, label] = source ^ (rng.random(n_rows) < rng.choice([0.1, 0.3]))
    if constant:
        Y[:, rng.integers(n_labels)] = 0
    return X, Y
