"""Forward least squares selects what one least-squares fit for every candidate selects, from every form of input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelsieve import InputError, Sieve
from labelsieve.registry import make_selector
from labelsieve.stopping import CrossValidated, GTest, Knee, ScoreThreshold
from tests.support.reference_pursuit import gains


def make_data(n_rows=150, n_features=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 7] = X[:, 2] + 0.05 * rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.5] = 0.0
    Y = np.column_stack([X[:, 2] + X[:, 4] > 0.3, X[:, 1] > 0, X[:, 2] - X[:, 9] > 0]).astype(int)
    return X, Y


def naive_order(groups, Y, count, **options):
    order, scores = [], []
    for _ in range(count):
        now = gains(groups, Y, order, **options)
        now[order] = -1
        order.append(int(now.argmax()))
        scores.append(now.max())
    return order, scores


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame])
@pytest.mark.parametrize("labels", [np.asarray, sp.csr_array])
def test_selection_equals_naive_forward_least_squares(form, labels):
    X, Y = make_data()
    order, scores = naive_order([[column] for column in X.T], Y, 5)
    found = Sieve("omp", n_features_to_select=5).fit(form(X), labels(Y))
    assert found.selected_.tolist() == order
    np.testing.assert_allclose(found.scores_, scores, rtol=1e-5)  # of whole numbers of 24 bits


def test_a_weight_of_two_is_a_row_that_occurs_twice():
    X, Y = make_data()
    weights = np.arange(len(X)) % 3
    weighted = Sieve("omp", n_features_to_select=6).fit(X, Y, sample_weight=weights)
    repeated = Sieve("omp", n_features_to_select=6).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    assert weighted.selected_.tolist() == repeated.selected_.tolist()
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)


def test_forced_features_are_part_of_the_model_and_excluded_ones_are_not():
    X, Y = make_data()
    found = Sieve("omp", n_features_to_select=3, forced=[7], excluded=[4]).fit(X, Y)
    assert found.selected_[0] == 7
    expected = gains([[column] for column in X.T], Y, [7])
    expected[[4, 7]] = -1
    assert found.selected_[1] == expected.argmax()


def test_constant_features_are_selected_last():
    X, Y = make_data()
    X[:, 0] = 3.0
    assert Sieve("omp", n_features_to_select="all").fit(X, Y).selected_[-1] == 0


def test_numbers_that_are_categories_are_declared():
    rng = np.random.default_rng(1)
    code = rng.integers(0, 5, 400)
    X, Y = np.column_stack([code, rng.normal(size=400)]), np.isin(code, [1, 3])[:, np.newaxis].astype(int)
    as_number, as_levels = Sieve("omp").fit(X, Y), make_selector("omp", nominal=[0]).fit(X, Y)
    assert as_number.feature_scores_[0] < 0.05 < 0.2 < as_levels.feature_scores_[0]


def test_features_without_a_column_that_varies_are_selected_last():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"same": ["x"] * 60, "level": rng.choice(["u", "v", None], 60), "number": rng.normal(size=60)})
    Y = np.column_stack([frame["number"] > 0, frame["level"] == "u"])
    assert Sieve("omp", n_features_to_select="all").fit(frame, Y).selected_.tolist() == [1, 2, 0]
    assert Sieve("omp").fit(frame[["same"]], Y).selected_.tolist() == [0]


def test_a_label_that_no_known_row_has_is_constant():
    X, Y = make_data()
    unknown = np.column_stack([Y, np.where(np.arange(len(Y)) % 3, 0.0, np.nan)])
    for selector in (Sieve("omp", n_features_to_select=4), Sieve(n_features_to_select=4)):
        expected = clone(selector).fit(X, Y)
        found = selector.fit(X, unknown)
        assert found.selected_.tolist() == expected.selected_.tolist()
        np.testing.assert_allclose(found.scores_, expected.scores_)


def test_unknown_labels_do_not_count():
    X, Y = make_data()
    unknown = Y.astype(float)
    unknown[::4, 1] = np.nan
    found = Sieve("omp", n_features_to_select=4).fit(X, unknown)
    filled = np.where(np.isnan(unknown), np.nanmean(unknown, axis=0), unknown)
    assert found.selected_.tolist() == naive_order([[column] for column in X.T], filled, 4)[0]


def test_values_near_the_largest_number_are_no_problem():
    X, Y = make_data()
    scale = np.logspace(-300, 300, X.shape[1])
    for form in (np.asarray, sp.csr_array):
        assert Sieve("omp").fit(form(X * scale), Y).selected_.tolist() == Sieve("omp").fit(X, Y).selected_.tolist()


@pytest.mark.parametrize("rule", [ScoreThreshold(0.2, relative=True), Knee(of="score"), CrossValidated(max_features=3, cv=2)])
def test_rules_on_scores_and_predictions_stop_it(rule):
    X, Y = make_data()
    found = Sieve("omp", n_features_to_select=rule).fit(X, Y)
    assert 1 <= len(found.selected_) < 10
    assert found.stopping_.reason_


@pytest.mark.parametrize("rule", [GTest(), Knee(of="added")])
def test_rules_on_counts_are_refused(rule):
    with pytest.raises(InputError, match="this method"):
        Sieve("omp", n_features_to_select=rule).fit(*make_data())


def test_the_registry_knows_its_names():
    assert make_selector("omp", penalty=1.0).criterion.penalty == 1.0
    assert make_selector("Orthogonal matching pursuit").criterion == "omp"
