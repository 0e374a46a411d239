"""Numeric targets as indicators of their cut points: labels as they are, unknown cells left out."""

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.information import mutual_information
from labelsieve.labelspace import Cumulative, read_targets


def make_table(n_rows=120):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (n_rows, 5))
    return X, X[:, 1] + rng.normal(size=n_rows), (X[:, 2] + rng.normal(size=n_rows) > 1).astype(int)


def test_scores_are_sums_over_classes_and_indicators():
    X, number, label = make_table()
    sieve = Sieve("mim", targets="cumulative", discretizer=None, n_features_to_select="all")
    fitted = sieve.fit(X, np.column_stack([number, label]))
    ordered = np.sort(number)
    indicators = [(number > (ordered[24 * k - 1] + ordered[24 * k]) / 2).astype(int) for k in range(1, 5)]
    expected = mutual_information(X, np.column_stack([*indicators, label])).sum(axis=1)
    np.testing.assert_allclose(fitted.feature_scores_, expected, rtol=1e-10)
    assert Cumulative().encode(read_targets(np.column_stack([number, label]))).codes.n_columns == 5


def test_unknown_cells_are_left_out():
    X, number, _ = make_table()
    holes = np.arange(len(number)) % 5 == 0
    sieve = Sieve("cmim", targets="cumulative", discretizer=None, n_features_to_select=3)
    both = sieve.fit(X, np.column_stack([np.where(holes, np.nan, number), np.zeros(len(X))]))
    selected, scores = both.selected_.tolist(), both.scores_
    known = sieve.fit(X[~holes], number[~holes])
    assert selected == known.selected_.tolist()
    np.testing.assert_allclose(scores, known.scores_, rtol=1e-12)


def test_order_of_values_matters():
    rng = np.random.default_rng(1)
    number = rng.normal(size=1000)
    fifths = np.digitize(number, np.quantile(number, [0.2, 0.4, 0.6, 0.8]))
    X = np.column_stack([fifths == 1, fifths <= 0])  # a fifth in the middle, and the lowest one
    scores = Sieve("mim", targets="single", discretizer=None, n_features_to_select="all").fit(X, number).feature_scores_
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)
    scores = Sieve("mim", targets="cumulative", discretizer=None, n_features_to_select="all").fit(X, number).feature_scores_
    assert scores[1] > 1.5 * scores[0]


def test_all_indicators_of_a_target_have_its_weight():
    X, number, label = make_table()
    weighted = Sieve("mim", targets="cumulative", target_weight=[2, 1], n_features_to_select="all")
    weighted.fit(X, np.column_stack([number, label]))
    repeated = Sieve("mim", targets="cumulative", n_features_to_select="all").fit(X, np.column_stack([number, number, label]))
    assert weighted.selected_.tolist() == repeated.selected_.tolist()
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-12)
