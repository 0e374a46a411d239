"""Every registered discretizer under several settings, and data with edge cases."""

import numpy as np
from hypothesis import strategies as st

from labelsieve.registry import DISCRETIZERS

# Settings other than the defaults; a discretizer that is not listed runs with its defaults alone.
SETTINGS = {
    "equal-width": [{"n_bins": 4}, {"n_bins": 3, "closed": "right"}],
    "equal-frequency": [{"n_bins": 4}],
    "k-means": [{"n_bins": 3}],
    "mean-std": [{"n_levels": 5, "factor": 0.5}, {"factor": 0.5, "decimals": 3, "keep_binary": True}],
    "mdl": [{"targets": "joint"}, {"targets": "copy", "boundaries": "values"}],
}
CASES = {
    repr(case): case
    for name, discretizer in DISCRETIZERS.items()
    for case in [discretizer(), *(discretizer(**settings) for settings in SETTINGS.get(name, []))]
}
MOST_LEVELS = {name: getattr(case, "n_bins", getattr(case, "n_levels", None)) for name, case in CASES.items()}

small_numbers = st.sampled_from([-3.0, -1.5, -0.0, 0.0, 0.25, 1.0, 2.0, 7.5])
any_numbers = st.floats(-1e6, 1e6)
columns = st.lists(st.one_of(small_numbers, any_numbers), min_size=2, max_size=40)


def labels_for(column, n_labels=3, seed=0):
    """Labels that depend on the column, some more than others; every row has the first or the last."""
    rng = np.random.default_rng(seed)
    column = np.asarray(column, dtype=float)
    scores = (column - np.median(column))[:, None] + rng.normal(size=(len(column), n_labels)) * np.arange(n_labels)
    labels = (scores > 0).astype(int)
    labels[:, -1] |= labels.sum(axis=1) == 0
    return labels


def table(n_rows=120, seed=0):
    """Columns of every kind: real, whole, few values, binary, constant, mostly zero, of either sign."""
    rng = np.random.default_rng(seed)
    real = rng.normal(size=(n_rows, 3)) * [1, 100, 1e-3] + [0, 50, -7]
    whole = rng.integers(-9, 30, size=(n_rows, 2))
    few = rng.integers(0, 3, size=(n_rows, 1))
    binary = rng.integers(0, 2, size=(n_rows, 1))
    constant = np.full((n_rows, 1), 2.5)
    counts = rng.poisson(4, size=(n_rows, 2)) * (rng.random((n_rows, 2)) < 0.2)
    signed = rng.normal(size=(n_rows, 2)) * (rng.random((n_rows, 2)) < 0.3)
    zeros = np.zeros((n_rows, 1))
    return np.hstack([real, whole, few, binary, constant, counts, signed, zeros])
