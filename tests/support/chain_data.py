"""Small data whose labels depend on features and on each other."""

import numpy as np


def chain_data(seed=0, n_rows=240, n_labels=4, n_features=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    scores = X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=(n_rows, n_labels))
    scores += np.roll(scores > 0, 1, axis=1) * 1.5
    Y = (scores > 0.7).astype(int)
    half = n_rows * 2 // 3
    return X[:half], Y[:half], X[half:], Y[half:]
