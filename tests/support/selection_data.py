"""Data for the selectors: real features, some informative about some labels, without ties between columns."""

import numpy as np
import pandas as pd

N_FEATURES, N_LABELS = 8, 4
NAMES = [f"tone {k}" for k in range(N_FEATURES)]
LABELS = ["calm", "happy", "sad", "angry"]


def make_data(seed=0, n_rows=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES))
    X[:, 6] = np.round(X[:, 2] + 0.5 * X[:, 6], 1)
    noise = rng.normal(scale=0.4, size=(n_rows, N_LABELS))
    Y = np.column_stack([X[:, 1], X[:, 2] + X[:, 4], -X[:, 5], X[:, 1] * X[:, 3]]) + noise > [0, 0.5, 0.2, 0.6]
    return X, Y.astype(int)


def frames():
    X, Y = make_data()
    return pd.DataFrame(X, columns=NAMES), pd.DataFrame(Y, columns=LABELS)


def assert_same_selection(one, other):
    assert np.array_equal(one.selected_, other.selected_)
    assert np.array_equal(one.scores_, other.scores_)
    assert np.array_equal(one.support_, other.support_)
