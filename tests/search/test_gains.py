"""Gains of a search: least squares equals one fit for every candidate, and several gains combine as their shares."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.labelspace import read_targets
from labelsieve.search import CombinedGain, GreedySearch, KnownScores, LeastSquaresGain
from labelsieve.search.least_squares import linear_data
from labelsieve.tables.frames import read_table
from tests.support.reference_pursuit import gains, noise_level
from tests.support.reference_sums import whole_numbers


def whole(columns, weights=None):
    """Columns as the whole numbers of 24 bits that are multiplied; missing cells are filled."""
    of_rows = [1] * len(columns[0]) if weights is None else weights.astype(int).tolist()
    return [np.array(whole_numbers(column, of_rows), dtype=float) for column in columns]


def make_data(seed, n_rows=90, n_features=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * 10.0 ** rng.integers(-3, 4, n_features) + rng.normal(size=n_features)
    X[rng.random(X.shape) < 0.4] = 0.0
    X[:, 5] = 2 * X[:, 1] - 3 * X[:, 2] + 1e-7 * rng.normal(size=n_rows)  # all but dependent
    X[:, 6] = 4.0
    Y = np.column_stack([X[:, 1] > 0, X[:, 0] + X[:, 3] > 0, rng.random(n_rows) > 0.8, np.ones(n_rows)]).astype(int)
    return X, Y


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_gains_are_drops_of_the_residual_sum_of_squares(form, penalty, weighted):
    X, Y = make_data(0)
    weights = np.random.default_rng(1).integers(1, 5, len(X)).astype(float) if weighted else None
    gain = LeastSquaresGain(linear_data(read_table(form(X)), read_targets(Y), weights=weights), penalty=penalty)
    selected = []
    for feature in (1, 3, 6, 5, 0):  # also a constant one, and one that is all but dependent
        expected = gains([[column] for column in whole(X.T, weights)], Y, selected, penalty, weights)
        np.testing.assert_allclose(gain.scores(), expected, rtol=1e-8, atol=1e-12)
        gain.select(feature)
        selected.append(feature)


def test_the_drop_of_a_nominal_feature_is_that_of_all_its_levels():
    rng = np.random.default_rng(2)
    animal, number = rng.choice(["cat", "dog", "eel", "fox"], 200, p=[0.4, 0.3, 0.2, 0.1]), rng.normal(size=200)
    Y = np.column_stack([(animal == "dog") | (number > 1), animal == "fox", number > 0]).astype(int)
    frame = pd.DataFrame({"animal": animal, "number": number, "flag": number > 0.5})
    flag = (number > 0.5).astype(float)
    levels = [[(animal == level).astype(float) for level in ("dog", "eel", "fox")], whole([number]), [flag]]
    gain, selected = LeastSquaresGain(linear_data(read_table(frame), read_targets(Y))), []
    for feature in (1, 0, 2):
        np.testing.assert_allclose(gain.scores(), gains(levels, Y, selected), rtol=1e-9, atol=1e-14)
        gain.select(feature)
        selected.append(feature)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_missing_cells_have_the_mean_of_their_feature(form):
    X, Y = make_data(5)
    X[X == 0] = 0.5
    holes = np.random.default_rng(6).random(X.shape) < 0.2
    with_holes = np.where(holes, np.nan, X)
    found = LeastSquaresGain(linear_data(read_table(form(with_holes), allow_missing=True), read_targets(Y))).scores()
    np.testing.assert_allclose(found, gains([[column] for column in whole(with_holes.T)], Y, []), rtol=1e-9, atol=1e-14)


def test_numeric_targets_are_standardized_and_classes_are_indicators():
    X, Y = make_data(7)
    numbers, classes = 1e6 + 50 * X[:, 0] + X[:, 1], np.digitize(X[:, 3], [-1, 1])
    (scaled,) = whole([numbers])
    standard = (scaled - scaled.mean()) / scaled.std()
    expanded = np.column_stack([standard, *(classes == level for level in range(3)), Y[:, 0]]).astype(float)
    targets = read_targets(np.column_stack([numbers, classes, Y[:, 0]]), ["numeric", "class", "class"])
    found = LeastSquaresGain(linear_data(read_table(X), targets)).scores()
    np.testing.assert_allclose(found, gains([[column] for column in whole(X.T)], expanded, []), rtol=1e-8, atol=1e-12)


def test_gains_are_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(8)
    X, Y = rng.normal(size=(3000, 400)), (rng.random((3000, 20)) > 0.9).astype(int)
    for form in (np.asarray, sp.csr_array):
        found = []
        for n_jobs in (1, 2, 3):
            gain = LeastSquaresGain(linear_data(read_table(form(X)), read_targets(Y), n_jobs=n_jobs), n_jobs=n_jobs)
            search = GreedySearch(gain, 400)
            search.extend(5)
            found.append((search.selected, search.last_scores.tobytes()))
        assert found[0] == found[1] == found[2]


def test_all_features_can_be_selected_though_they_outnumber_the_rows():
    rng = np.random.default_rng(9)
    X, Y = rng.normal(size=(12, 40)), (rng.random((12, 2)) > 0.5).astype(int)
    search = GreedySearch(LeastSquaresGain(linear_data(read_table(X), read_targets(Y)), penalty=0.0), 40)
    search.extend(40)
    assert sorted(search.selected) == list(range(40))
    assert np.isfinite(search.scores).all()
    assert max(search.scores[12:]) < 1e-9


def test_columns_that_differ_by_little_are_told_apart():
    """A spectrum: neighbors correlate by 1 - 1e-6, and what tells them apart explains the target."""
    rng = np.random.default_rng(10)
    base, shape = rng.normal(size=400), rng.normal(size=(400, 3))
    X = np.column_stack([base, base + 1e-3 * shape[:, 0], base + 1e-3 * shape[:, 1], rng.normal(size=400)])
    targets = read_targets((shape[:, [0]] - shape[:, [1]]), "numeric")
    gain = LeastSquaresGain(linear_data(read_table(X), targets))
    search = GreedySearch(gain, 4)
    search.extend(3)
    assert sorted(search.selected) == [0, 1, 2]
    assert sum(search.scores) > 0.98


def test_rounded_copies_of_selected_features_have_no_gain():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(500, 10))
    Y = (X[:, :5].sum(axis=1, keepdims=True) + rng.normal(size=(500, 3)) > 0).astype(int)
    gain = LeastSquaresGain(linear_data(read_table(np.hstack([X, np.round(1.7 * X, 2)])), read_targets(Y)))
    for feature in range(5):
        gain.select(feature)
    assert gain.scores()[10:15].max() == 0


def test_products_that_were_asked_for_ahead_change_nothing():
    X, Y = make_data(12, n_features=30)
    found = []
    for ahead in (1, 7):
        data = linear_data(read_table(X), read_targets(Y))
        data.source.ahead = ahead
        search = GreedySearch(LeastSquaresGain(data), 30)
        search.extend(30)
        found.append((search.selected, np.array(search.scores).tobytes()))
    assert found[0] == found[1]


def test_shares_are_of_the_largest_gain_that_can_still_be_selected():
    gains_of = {"a": KnownScores(np.array([8.0, 4.0, 2.0, -5.0])), "b": KnownScores(np.array([1.0, 9.0, 10.0, 0.0]))}
    combined = CombinedGain(gains_of, 4, weights=(1.0, 0.5), unavailable=[2])
    np.testing.assert_allclose(combined.scores(), [1 + 0.5 / 9, 0.5 + 0.5, 0.25 + 0.5 * 10 / 9, 0])
    assert combined.components(1) == {"a": 0.5, "b": 0.5}
    combined.select(0)
    np.testing.assert_allclose(combined.scores(), [2 + 0.5 / 9, 1 + 0.5, 0.5 + 0.5 * 10 / 9, 0])
    product = CombinedGain(gains_of, 4, weights=(1.0, 2.0), combine="product")
    np.testing.assert_allclose(product.scores(), [0.01, 0.5 * 0.81, 0.25, 0])


def test_a_gain_without_positive_values_contributes_nothing():
    combined = CombinedGain({"a": KnownScores(np.array([-1.0, -2.0])), "b": KnownScores(np.array([1.0, 2.0]))}, 2)
    np.testing.assert_array_equal(combined.scores(), [0.5, 1.0])


@pytest.mark.parametrize(
    ("weights", "message"), [((1.0,), "one for each of the 2"), ((0.0, 0.0), "all 0"), ((-1.0, 1.0), "negative")]
)
def test_weights_that_do_not_fit_are_refused(weights, message):
    known = KnownScores(np.ones(2))
    with pytest.raises(InputError, match=message):
        CombinedGain({"a": known, "b": known}, 2, weights)


def test_the_level_of_noise_is_that_of_its_formula_in_any_form():
    rng = np.random.default_rng(0)
    animal, number, other = rng.choice(["cat", "dog", "eel"], 200), rng.normal(size=200), rng.normal(size=200)
    Y = np.column_stack([number > 0, number > 1, other > 0.5, rng.random(200) < 0.1]).astype(int)
    gain = LeastSquaresGain(linear_data(read_table(pd.DataFrame({"a": animal, "b": number, "c": other})), read_targets(Y)))
    assert gain.noise_level(0.01) == pytest.approx(noise_level([2, 1, 1], Y, [], 0.01), rel=1e-6)
    assert gain.noise_level(0.01) > gain.noise_level(0.5) > gain.noise_level(1.0) == 0
    gain.select(1)
    assert gain.noise_level(0.2) == pytest.approx(noise_level([2, 1, 1], Y, [number], 0.2), rel=1e-6)
    sparse = LeastSquaresGain(linear_data(read_table(np.column_stack([number, other])), read_targets(sp.csr_array(Y))))
    assert sparse.noise_level(0.01) == pytest.approx(noise_level([1, 1], Y, [], 0.01), rel=1e-6)
    never = LeastSquaresGain(linear_data(read_table(number[:, None]), read_targets(Y)), penalty=1e5)
    assert never.noise_level(0.01) == 0


def test_the_number_of_independent_labels_has_the_bits_of_adding_up_their_rows():
    Y = (np.random.default_rng(3).random((70_000, 5)) < [0.2, 0.4, 0.1, 0.7, 0.5]).astype(float)
    share = 1.0 / len(Y)
    products = np.array([[np.cumsum(left * right * share)[-1] for right in Y.T] for left in Y.T])
    means = products.diagonal().copy()
    total = float(means.sum() - means @ means)
    squares = float((products**2).sum() - 2 * means @ (products @ means) + (means @ means) ** 2)
    gain = LeastSquaresGain(linear_data(read_table(np.ones((len(Y), 1))), read_targets(Y.astype(int))))
    assert gain._n_independent == total**2 / squares


def test_gains_that_ask_ahead_are_told_the_scores_of_all():
    class Asking(KnownScores):
        def expect(self, scores):
            self.expected = scores

    asking = Asking(np.array([1.0, 4.0]))
    scores = CombinedGain({"a": KnownScores(np.array([4.0, 2.0])), "b": asking}, 2).scores()
    np.testing.assert_array_equal(asking.expected, scores)


@pytest.mark.parametrize("n_labels", [1, 30])
@pytest.mark.parametrize("common", [0.0, 1.5])
def test_noise_seldom_exceeds_its_level(n_labels, common):
    rng, exceeded = np.random.default_rng(0), 0
    for _ in range(100):
        X = rng.normal(size=(150, 20))
        Y = (rng.normal(size=(150, n_labels)) + common * rng.normal(size=(150, 1)) > 1.2).astype(int)  # correlated labels
        gain = LeastSquaresGain(linear_data(read_table(X), read_targets(Y)))
        exceeded += gain.scores().max() > gain.noise_level(0.1)
    assert 1 <= exceeded <= 20  # 10 are expected; the approximation may be wrong by a factor of two


def test_a_gain_is_not_divided_by_less_than_its_level_of_noise():
    class Bounded(KnownScores):
        def noise_level(self, alpha):
            return 8.0 * (alpha < 1)

    gains_of_both = {"a": KnownScores(np.array([4.0, 2.0])), "b": Bounded(np.array([1.0, 4.0]))}
    np.testing.assert_allclose(CombinedGain(gains_of_both, 2, alpha=0.01).scores(), [1.125, 1.0])
    np.testing.assert_allclose(CombinedGain(gains_of_both, 2).scores(), [1.25, 1.5])
