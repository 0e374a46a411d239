"""Every discretizer, and data that bring out their corners."""

import numpy as np
from hypothesis import strategies as st

from labelsieve.discretize import MDL, EqualFrequency, EqualWidth, KMeansBins, MeanStd

DISCRETIZERS = {
    "equal width": EqualWidth(4),
    "equal width, closed on the right": EqualWidth(3, closed="right"),
    "equal frequency": EqualFrequency(4),
    "k-means": KMeansBins(3),
    "mean and std": MeanStd(),
    "mean and std, five levels": MeanStd(5, factor=0.5),
    "mean and std, the authors' way": MeanStd(factor=0.5, decimals=3, keep_binary=True),
    "mdl": MDL(),
    "mdl, label rows": MDL("joint"),
    "mdl, copied rows": MDL("copy", boundaries="values"),
    "mdl, kononenko": MDL("joint", rule="kononenko"),
}
MOST_LEVELS = {name: getattr(rule, "n_bins", getattr(rule, "n_levels", None)) for name, rule in DISCRETIZERS.items()}

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
