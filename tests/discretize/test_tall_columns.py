"""Columns of many rows: cut points are found without a sort, and must be those of sorted values."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve.discretize import MDL, EqualFrequency, KMeansBins

N_ROWS = 6000
rng = np.random.default_rng(0)
NORMAL = rng.normal(size=N_ROWS)
COLUMNS = {
    "normal": NORMAL,
    "sorted": np.sort(NORMAL),
    "exponential": -rng.exponential(size=N_ROWS),
    "heavy tails": rng.standard_cauchy(N_ROWS),
    "lognormal": rng.lognormal(0, 4, N_ROWS),
    "rounded": np.round(NORMAL, 1),
    "fifty integers": rng.integers(0, 50, N_ROWS).astype(float),
    "seven integers": rng.integers(0, 7, N_ROWS).astype(float),
    "many zeros": np.where(rng.random(N_ROWS) < 0.3, 0.0, NORMAL),
    "zeros of both signs": np.where(rng.random(N_ROWS) < 0.5, -0.0, 0.0) + np.where(rng.random(N_ROWS) < 0.1, NORMAL, 0.0),
    "narrow": 1e6 + rng.random(N_ROWS) * 1e-4,
    "huge": NORMAL * 4e307,
    "tiny": NORMAL * 1e-310,
    "two far groups": np.where(rng.random(N_ROWS) < 0.5, NORMAL, 1e9 + NORMAL),
}


@pytest.mark.parametrize("n_bins", [2, 3, 5, 10, 40])
@pytest.mark.parametrize("kind", COLUMNS)
def test_quantiles_are_those_of_the_sorted_column(kind, n_bins):
    """Weights of two for every row give the same fractions, and weighted columns are sorted."""
    X = COLUMNS[kind][:, np.newaxis]
    found, sorted_ = EqualFrequency(n_bins).fit(X), EqualFrequency(n_bins).fit(X, sample_weight=np.full(N_ROWS, 2.0))
    assert np.array_equal(found.cut_points_[0], sorted_.cut_points_[0])


@pytest.mark.parametrize("targets", ["copy", "joint", "single"])
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "rounded", "fifty integers", "many zeros", "narrow"])
def test_cuts_by_classes_are_those_of_the_sorted_column(kind, targets):
    """A sparse column is sorted: that of all values but one, which is zero."""
    values = np.tile(COLUMNS[kind], 3) * np.repeat([1.0, 1.001, 0.999], N_ROWS)
    values[0] = 0.0
    ranks = np.argsort(np.argsort(values)) / len(values)
    noise = np.random.default_rng(2).normal(size=(2, len(values)))
    labels = np.column_stack([ranks + 0.3 * noise[0] > 0.6, np.sin(9 * ranks) + noise[1] > 1, noise[0] > 2]).astype(int)
    X = values[:, np.newaxis]
    found, sorted_ = MDL(targets).fit(X, labels), MDL(targets).fit(sp.csc_array(X), labels)
    of_targets = zip(found.cut_points_, sorted_.cut_points_, strict=True)
    pairs = of_targets if targets == "single" else [(found.cut_points_, sorted_.cut_points_)]
    for ours, expected in pairs:
        assert np.array_equal(ours[0], expected[0])
    assert sum(len(cuts[0]) for cuts in ([found.cut_points_] if targets != "single" else found.cut_points_)) > 3


def test_missing_values_do_not_count():
    X = COLUMNS["normal"].copy()
    X[::7] = np.nan
    known = X[~np.isnan(X)]
    found, expected = (EqualFrequency(5, missing="level").fit(x[:, np.newaxis]) for x in (X, known))
    assert np.array_equal(found.cut_points_[0], expected.cut_points_[0])


@pytest.mark.parametrize("n_bins", [2, 3, 5, 9])
@pytest.mark.parametrize("kind", COLUMNS)
def test_clusters_are_those_of_the_sorted_column(kind, n_bins):
    """The same, for k-means: rows fall into the same clusters, and cut points differ by rounding only."""
    values = np.tile(COLUMNS[kind], 3) * np.repeat([1.0, 1.001, 0.999], N_ROWS)  # 18,000 rows, most of them different
    X = values[:, np.newaxis]
    found, sorted_ = KMeansBins(n_bins).fit(X), KMeansBins(n_bins).fit(X, sample_weight=np.full(len(X), 2.0))
    assert np.array_equal(found.transform(X), sorted_.transform(X))
    spread = float(values.max() / 2 - values.min() / 2)
    spacing = float(np.spacing(np.abs(values).max()))
    assert np.allclose(found.cut_points_[0], sorted_.cut_points_[0], rtol=0, atol=1e-12 * spread + 4 * spacing)


def test_the_order_of_rows_and_missing_values_do_not_move_clusters():
    values = np.tile(COLUMNS["exponential"], 3) * np.repeat([1.0, 1.001, 0.999], N_ROWS)
    mixed = np.random.default_rng(1).permutation(np.r_[values, np.full(500, np.nan)])
    found, expected = (KMeansBins(5).fit(x[:, np.newaxis]) for x in (mixed, values))
    assert np.array_equal(found.cut_points_[0], expected.cut_points_[0])
