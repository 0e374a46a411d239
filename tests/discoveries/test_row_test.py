"""The row test: its moments, its p-values against a naive reference, what must not change them, and its level."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

from labelsieve import Sieve
from labelsieve.discoveries import row_test
from labelsieve.discoveries.row_test import (
    heavy_tail,
    product_skewness,
    row_tests,
    row_tests_of,
    sum_of_squares_moments,
    two_sided_tail,
)
from labelsieve.errors import InputError
from labelsieve.tables.problem import read
from tests.support.reference_row_test import mixture_tail, row_test_p_values, squares_moments, squares_third_cumulant


def centered(vectors):
    vectors = vectors - vectors.mean(axis=0)
    return vectors / np.linalg.norm(vectors, axis=0)


def table(seed, n_rows=80, n_features=5, n_labels=3):
    """Features of which the first two matter, and labels; one label is rare, one feature is skewed."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_features))
    X[:, 2] = np.exp(1.5 * X[:, 2])
    strength = random.normal(size=n_labels)
    Y = X[:, :1] * strength + np.abs(X[:, 1:2]) + random.normal(size=(n_rows, n_labels)) > [0.5, 0.8, 2.0][:n_labels]
    return X, Y.astype(float)


def test_moments_are_those_of_all_permutations():
    random = np.random.default_rng(0)
    b, R = centered(random.exponential(size=7)), centered(random.exponential(size=(7, 3)) ** 2)
    orders = np.array(list(permutations(range(7))))
    products = b[orders] @ R
    squares = (products**2).sum(axis=1)
    G = R.T @ R
    found = sum_of_squares_moments(7, np.sum(b**4), np.trace(G), np.trace(G @ G), np.sum((R**2).sum(axis=1) ** 2))
    assert found == pytest.approx((squares.mean(), squares.var()))
    assert found == pytest.approx(squares_moments(b, R))
    assert products.var(axis=0) == pytest.approx(1 / 6)
    skewness = product_skewness(7, np.sum(b**3), np.sum(R**3, axis=0))
    assert skewness == pytest.approx(stats.skew(products, axis=0))


def test_the_third_cumulant_is_that_of_rows_drawn_with_replacement():
    """For every draw of rows, exactly: five rows in five places."""
    random = np.random.default_rng(1)
    b, R = centered(random.exponential(size=5)), centered(random.exponential(size=(5, 2)) ** 2)
    draws = np.stack(np.meshgrid(*[np.arange(5)] * 5), axis=-1).reshape(-1, 5)
    squares = ((b @ R[draws]) ** 2).sum(axis=1)
    assert squares_third_cumulant(b, R) == pytest.approx(np.mean((squares - squares.mean()) ** 3))


def test_tails_are_those_of_pearson_or_normal():
    z, skewness = np.array([0.5, 3.0, -3.0, 3.0, -3.0, 6.0]), np.array([1.0, 0.3, -0.3, -0.3, 0.0, 0.01])
    expected = [
        2 * stats.pearson3.sf(abs(a), s * np.sign(a)) if s * a > 0 else 2 * stats.norm.sf(abs(a))
        for a, s in zip(z, skewness, strict=True)
    ]
    assert two_sided_tail(z, skewness) == pytest.approx(np.minimum(1, expected))


def test_the_heavy_tail_is_that_of_a_mixture_of_normal_distributions():
    z, kurtosis = np.array([2.5, 4.0, 6.0, 4.0, 10.0, 3.0]), np.array([0.05, 0.3, 1.0, 6.0, 30.0, 0.0])
    expected = [mixture_tail(a, k) if k else stats.norm.sf(a) for a, k in zip(z, kurtosis, strict=True)]
    assert heavy_tail(z, kurtosis) == pytest.approx(expected, rel=1e-3)


def test_a_few_cells_and_a_rare_label_agree_by_chance_with_their_kurtosis():
    """Half of the few nonzero cells are positive, so that nothing is skewed; the tail is as heavy as that of permutations."""
    random = np.random.default_rng(0)
    cells, label = np.zeros(2000), np.zeros(2000)
    cells[:40], label[:8] = np.repeat([-1.0, 1.0], 20), 1.0
    b, r = centered(cells), centered(label)
    products = np.array([b[random.permutation(2000)] @ r for _ in range(20000)]) * np.sqrt(1999)
    kurtosis = (2000 * np.sum(b**4) - 3) * (2000 * np.sum(r**4) - 3) / 2000
    assert kurtosis == pytest.approx(stats.kurtosis(products), rel=0.15)
    limit = np.quantile(products, 0.999)
    assert stats.norm.sf(limit) < 1e-6
    assert 2e-4 < heavy_tail(np.array([limit]), np.array([kurtosis]))[0] < 3e-3


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_those_of_the_reference(seed):
    X, Y = table(seed)
    expected = row_test_p_values(X, Y, 20)
    assert row_tests(X, Y, 20, alpha=1e-6).p_values == pytest.approx(expected)
    found = row_tests(X, Y, 20)  # where one test makes a mark, the others are not made
    assert found.p_values.min() < 0.05 < found.p_values.max()
    assert np.array_equal(found.signal, found.p_values <= 0.05)
    assert np.array_equal(found.signal, expected <= 0.05)
    assert found.p_values[~found.signal] == pytest.approx(expected[~found.signal])
    assert (found.p_values >= expected * (1 - 1e-9)).all()


@pytest.mark.parametrize("seed", range(3))
def test_numeric_targets_and_nominal_features_agree_with_the_reference(seed):
    X, Y = table(seed, n_rows=120)
    random = np.random.default_rng(seed)
    X[:, 3] = random.choice([0, 1, 2, 3], p=[0.1, 0.2, 0.3, 0.4], size=120)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.nan_to_num(X[:, 3])
    Y[:, 1] = np.exp(np.nan_to_num(X[:, 0]) + (X[:, 3] == 2))
    expected = row_test_p_values(X, Y, 5, nominal=[3], numeric=[1])
    assert row_tests(X, Y, 5, nominal=[3]).p_values == pytest.approx(expected)
    assert expected[3] < 0.05


def test_a_feature_that_one_target_makes_sure_needs_no_other_test():
    X, Y = table(0, n_rows=200)
    X[:, 3] = Y[:, 0] + 0.1 * X[:, 3]
    X = X[:, [3, 0, 1, 2, 4]]
    found, expected = row_tests(X, Y, 20).p_values, row_test_p_values(X, Y, 20)
    assert found[0] < 1e-20
    assert np.log(found) == pytest.approx(np.log(expected), rel=1e-6, abs=1e-9)


def test_with_few_rows_features_have_one_column():
    X, Y = table(1, n_rows=24, n_features=9)
    assert row_tests(X, Y, 9).p_values == pytest.approx(row_test_p_values(X, Y, 9))


def test_copies_are_noise():
    X, Y = table(0, n_rows=200)
    random = np.random.default_rng(0)
    near = X[:, 0] + 0.05 * random.normal(size=200)
    found = row_tests(np.column_stack([X[:, 0], X[:, 0], -3 * X[:, 0] + 1, near]), Y, 10)
    assert found.signal.tolist() == [True, False, False, False]
    assert found.p_values[1:].tolist() == [1.0, 1.0, 1.0]


def test_order_of_rows_and_targets_and_scales_of_columns_do_not_matter():
    X, Y = table(2)
    random = np.random.default_rng(0)
    expected = row_tests(X, Y, 20).p_values
    order = random.permutation(len(X))
    assert row_tests(X[order], Y[order], 20).p_values == pytest.approx(expected)
    assert row_tests(X, Y[:, ::-1], 20).p_values == pytest.approx(expected)
    assert row_tests(X * [2, -3, 1e-200, 1e200, 5] + [0, 1, 0, 0, 100], Y, 20).p_values == pytest.approx(expected, rel=1e-6)
    assert row_tests(X, 1 - Y, 20).p_values == pytest.approx(expected)


def test_p_values_grow_with_the_number_of_candidates():
    X, Y = table(2)
    few, many, left = row_tests(X, Y, 5).p_values, row_tests(X, Y, 50).p_values, np.arange(5)
    inside = many < 1
    assert inside.any()
    assert many[inside] == pytest.approx((few * (50 - left) / (5 - left))[inside])


def test_forced_features_are_not_the_best_of_many():
    X, Y = table(2)
    free, forced = row_tests(X, Y, 50).p_values, row_tests(X, Y, 50, n_forced=2).p_values
    assert forced[0] < 1e-6
    assert 1e-6 < forced[1] == pytest.approx(row_tests(X, Y, 5).p_values[1] / 4)
    assert np.array_equal(forced[2:], free[2:])


def test_a_pair_whose_product_matters_is_found_at_its_second_feature():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    Y = ((X[:, 0] * X[:, 1] > 0) ^ (random.random(400) < 0.1)).astype(float)[:, np.newaxis]
    assert row_tests(X, Y, 50).signal.tolist() == [False, True, False]
    bits = random.integers(0, 2, size=(400, 3)).astype(float)
    labels = (bits[:, :1] != bits[:, 1:2]).astype(float)
    assert row_tests(bits, labels, 50).signal.tolist() == [False, True, False]
    assert row_tests(bits, labels, 50, nominal=[0, 1, 2]).signal.tolist() == [False, True, False]


def test_constant_columns_and_constant_targets_change_nothing():
    X, Y = table(0)
    expected = row_tests(X, Y, 20).p_values
    found = row_tests(np.insert(X, 1, 7.5, axis=1), np.insert(Y, 0, 1.0, axis=1), 20).p_values
    assert found[1] == 1
    others = np.array([0, 2, 3, 4, 5])
    inside = expected < 1
    assert inside.sum() >= 2
    assert found[others][inside] == pytest.approx((expected * (20 - others) / (20 - np.arange(5)))[inside])
    assert row_tests(X, np.ones((len(X), 2)), 20).p_values.tolist() == [1.0] * 5


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 8, 30])
def test_any_number_of_rows_can_be_tested(n_rows):
    X, Y = table(0, n_rows=n_rows, n_features=40)
    Y[:1, 0] = np.nan
    found = row_tests(X, np.nan_to_num(Y), 100).p_values
    assert ((found > 0) & (found <= 1)).all()
    assert (found[n_rows:] == 1).all()
    assert np.isfinite(row_tests(X, Y, 100).p_values).all()


def test_a_target_that_is_explained_is_not_tested_again():
    X, _ = table(0)
    X[:, 0] = X[:, 0] > 0
    found = row_tests(X, X[:, :1], 5)
    assert found.signal.tolist() == [True, False, False, False, False]
    assert found.p_values[1:].tolist() == [1.0] * 4


@pytest.mark.parametrize("share_unknown", [0.1, 0.5])
def test_unknown_cells_take_no_part(share_unknown):
    """A single target is tested in about the same way as if the rows in which it is unknown were not there."""
    X, Y = table(5, n_rows=600, n_labels=1)
    unknown = np.random.default_rng(0).random(600) < share_unknown
    partial = np.where(unknown[:, np.newaxis], np.nan, Y)
    found, dropped = row_tests(X, partial, 20).p_values, row_tests(X[~unknown], Y[~unknown], 20).p_values
    assert np.abs(np.log(found / dropped)).max() < 0.5
    assert np.array_equal(found <= 0.05, dropped <= 0.05)


def test_unknown_cells_that_depend_on_a_feature_are_no_signal():
    n_false = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        X, Y = random.normal(size=(150, 3)), (random.random((150, 4)) < 0.3).astype(float)
        Y[X[:, 0] > 0.3] = np.nan  # known where the feature is low
        Y[random.random(Y.shape) < 0.1] = np.nan
        Y[0] = [0, 1, 0, 1]
        n_false += row_tests(X, Y, 3, alpha=0.2).signal[0]
    assert n_false <= stats.binom.isf(1e-3, 200, 0.2)


def test_whole_weights_are_repetitions_and_others_the_effective_number_of_rows():
    X, Y = table(3)
    Y[:, 2] = X[:, 0] + X[:, 2]
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    repeated = np.repeat(np.arange(len(X)), weights)
    expected = row_tests(X[repeated], Y[repeated], 20).p_values
    assert row_tests(X, Y, 20, weights=weights).p_values == pytest.approx(expected)
    plain = row_tests(X, Y, 20).p_values
    assert row_tests(X, Y, 20, weights=np.full(len(X), 0.3)).p_values == pytest.approx(plain)
    # Rows whose weights differ are worth fewer rows: the evidence of a whole weight is larger.
    assert row_tests(X, Y, 20, weights=weights / 1.1).p_values[0] > expected[0]


def test_a_problem_is_tested_as_its_columns():
    random = np.random.default_rng(0)
    X = sp.random(300, 40, 0.3, random_state=0, format="csr")
    Y = (random.random((300, 6)) < 0.2).astype(int)
    Y[:, 0] |= X.toarray()[:, 3] > 0.5
    selected, dense = [3, 7, 1, 30], X.toarray()
    expected = row_tests(dense[:, selected], Y, 40).p_values
    for features in (X, dense):
        for targets in (Y, sp.csr_array(Y)):
            found = row_tests_of(read(features, targets), selected, 40).p_values
            assert found == pytest.approx(expected)
    weights = random.integers(0, 3, size=300)
    found = row_tests_of(read(X, Y, weights), selected, 40).p_values
    assert found == pytest.approx(row_tests(dense[:, selected], Y, 40, weights=weights).p_values)


def test_classes_numbers_text_and_unknown_cells_of_a_problem_become_columns():
    random = np.random.default_rng(1)
    X = pd.DataFrame({"size": random.normal(size=200), "color": random.choice(["red", "green", "blue"], 200)})
    X.loc[:9, "size"] = np.nan
    price = np.nan_to_num(X["size"]) + random.normal(size=200)
    kind = np.where(X["color"] == "red", "a", random.choice(["a", "b", "c"], 200)).astype(object)
    kind[5:15] = None
    found = row_tests_of(read(X, pd.DataFrame({"price": price, "kind": kind})), [1, 0], 2)
    codes = np.select([X["color"] == "blue", X["color"] == "green"], [0.0, 1.0], 2.0)
    unknown = np.array([level is None for level in kind])
    classes = [np.where(unknown, np.nan, (kind == level).astype(float)) for level in "abc"]
    expected = row_tests(np.column_stack([codes, X["size"]]), np.column_stack([price, *classes]), 2, nominal=[0])
    assert found.p_values == pytest.approx(expected.p_values)
    assert found.signal.tolist() == [True, True]
    numbers = pd.DataFrame({"size": X["size"], "color": codes})
    declared = row_tests_of(read(numbers, pd.DataFrame({"price": price, "kind": kind})), [1, 0], 2, nominal=[1])
    assert declared.p_values == pytest.approx(expected.p_values)


def test_blocks_of_targets_change_nothing(monkeypatch):
    X, Y = table(0)
    Y = np.column_stack([Y, np.roll(Y, 1, axis=0), X[:, :1] + Y])
    Y[3, 4] = np.nan
    expected = row_tests(X, Y, 20).p_values
    monkeypatch.setattr(row_test, "MOST_CELLS", 4 * len(X))
    monkeypatch.setattr(row_test, "CELLS_IN_CACHE", 3 * len(X))
    assert row_tests(X, Y, 20).p_values == pytest.approx(expected)


def test_some_of_many_targets_stand_for_the_correlations_of_all(monkeypatch):
    X, Y = table(0, n_labels=1)
    Y = np.repeat(Y, 12, axis=1)
    expected = row_tests(X, Y, 20).p_values
    monkeypatch.setattr(row_test, "MOST_PAIRED", 6)
    monkeypatch.setattr(row_test, "MOST_CUBES", 4)
    assert row_tests(X, Y, 20).p_values == pytest.approx(expected)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_of_very_many_labels_the_frequent_ones_are_tested(monkeypatch, form):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(200, 4)), (random.random((200, 9)) < np.linspace(0.05, 0.9, 9)).astype(int)
    problem = read(X, form(Y))
    monkeypatch.setattr(row_test, "MOST_TARGETS", 4)
    count = Y.sum(axis=0)
    frequent = np.sort(np.argsort(-np.minimum(count, 200 - count), kind="stable")[:4])
    assert frequent[0] > 0
    assert row_tests_of(problem, range(4), 4).p_values == pytest.approx(row_tests(X, Y[:, frequent], 4).p_values)


def test_a_sample_of_many_rows_is_tested(monkeypatch):
    X, Y = table(0, n_rows=300)
    weights = np.random.default_rng(0).integers(1, 4, size=300)
    monkeypatch.setattr(row_test, "MOST_ROWS", 100)
    rows = np.sort(np.random.default_rng(0).choice(300, 100, replace=False))
    assert np.array_equal(row_tests(X, Y, 20).p_values, row_tests(X[rows], Y[rows], 20).p_values)
    found = row_tests(X, Y, 20, weights=weights).p_values
    assert np.array_equal(found, row_tests(X[rows], Y[rows], 20, weights=weights[rows]).p_values)
    monkeypatch.setattr(row_test, "MOST_ROWS", 1000)
    monkeypatch.setattr(row_test, "MOST_CELLS", 300)
    monkeypatch.setattr(row_test, "FEWEST_SAMPLED", 50)
    assert np.array_equal(row_tests(X, Y, 20).p_values, row_tests(X[rows], Y[rows], 20).p_values)


def test_levels_of_few_rows_share_no_column():
    random = np.random.default_rng(0)
    Y = (random.random((200, 1)) < 0.3).astype(float)
    ids, groups = np.arange(200.0), random.integers(0, 15, size=200).astype(float)
    assert row_tests(ids[:, np.newaxis], Y, 1, nominal=[0]).p_values[0] > 0.05
    strong = np.where(Y[:, 0] > 0, groups % 3, groups)[:, np.newaxis]
    assert row_tests(strong, Y, 100, nominal=[0]).signal[0]


@pytest.mark.parametrize("kind", ["few rows", "many rows", "rare and skewed"])
def test_selections_from_noise_are_seldom_marked(kind):
    n_false, n_tables = 0, 60
    for seed in range(n_tables):
        random = np.random.default_rng(seed)
        n_rows, n_features = {"few rows": (40, 300), "many rows": (300, 30), "rare and skewed": (300, 30)}[kind]
        X, Y = random.normal(size=(n_rows, n_features)), random.random((n_rows, 3))
        X, Y = (np.exp(2 * X), Y < 0.03) if kind == "rare and skewed" else (X, Y < 0.4)
        Y[:2] = [[True] * 3, [False] * 3]
        problem = read(X, Y.astype(int))
        selected = Sieve(n_features_to_select=6).fit(problem).selected_
        n_false += row_tests_of(problem, selected, n_features).signal.any()
    assert n_false <= stats.binom.isf(1e-3, n_tables, 0.06)


def test_wrong_arguments_are_refused():
    X, Y = table(0)
    with pytest.raises(InputError, match="80"):
        row_tests(X, Y[:-1], 5)
    with pytest.raises(InputError, match="two dimensions"):
        row_tests(X[:, 0], Y, 5)
    with pytest.raises(InputError, match="numeric has 2 entries for 3 targets"):
        row_tests(X, Y, 5, numeric=[True, False])
    with pytest.raises(InputError, match="n_candidates"):
        row_tests(X, Y, 4)
    with pytest.raises(InputError, match="alpha"):
        row_tests(X, Y, 5, alpha=2)
    X[3, 1] = np.inf
    with pytest.raises(InputError, match="column 1: inf is not finite"):
        row_tests(X, Y, 5)
