"""The hybrid criterion adds shares of two gains, each as its selector computes it alone."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from labelsieve import InputError, Sieve
from labelsieve.criteria import Hybrid
from labelsieve.discretize import EqualFrequency
from labelsieve.registry import make_selector, method_of
from labelsieve.stopping import CrossValidated, GTest, Knee, PermutationTest, ScoreThreshold
from tests.support.reference_pursuit import noise_level


def make_data(n_rows=300, n_features=9):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    X[rng.random(X.shape) < 0.3] = 0.0
    Y = np.column_stack([abs(X[:, 2]) > 1, X[:, 4] + X[:, 1] > 0, X[:, 1] - X[:, 8] > 0.5]).astype(int)
    return X, Y


def next_scores(selector, X, Y, selected):
    """Scores of all features given the selected ones, from a fit that is forced to select these first."""
    fitted = selector.set_params(forced=selected, n_features_to_select=len(selected) + 1).fit(X, Y)
    scores = fitted.feature_scores_.copy()
    scores[selected] = 0.0  # those of the steps before
    return scores


@pytest.mark.parametrize(
    ("settings", "combine"),
    [
        ({}, lambda a, b: a + b),
        ({"alpha": 1}, lambda a, b: a + b),
        ({"weights": (1.0, 0.5)}, lambda a, b: a + 0.5 * b),
        ({"combine": "product"}, lambda a, b: a * b),
        ({"information": "jmi", "estimator": "plugin"}, lambda a, b: a + b),
        ({"penalty": 0.0, "alpha": 1}, lambda a, b: a + b),
    ],
)
def test_every_step_takes_the_best_combination_of_both_selectors(settings, combine):
    X, Y = make_data()
    found = make_selector("hybrid", n_features_to_select=5, **settings).fit(X, Y)
    linear = {name: settings[name] for name in ("penalty",) if name in settings}
    information = Sieve(settings.get("information", "cmim-positive"), estimator=settings.get("estimator", "miller-madow"))
    for step, best in enumerate(found.selected_):
        selected = found.selected_[:step].tolist()
        shares = []
        for selector in (information, make_selector("omp", **linear)):
            scores = np.maximum(next_scores(selector, X, Y, selected), 0)
            largest = np.delete(scores, selected).max()
            if selector is not information:
                bounded = settings.get("alpha") != 1
                largest = max(largest, noise_level([1] * X.shape[1], Y, X[:, selected].T, 0.01) if bounded else 0.0)
            shares.append(scores / largest if largest > 0 else np.zeros(len(scores)))
        expected = combine(*shares)
        expected[selected] = -1
        assert best == expected.argmax()
        assert found.scores_[step] == pytest.approx(expected.max())


def test_positive_parts_and_bias_correction_are_those_of_the_formula():
    X, Y = make_data()
    alone = Sieve(Hybrid(weights=(1.0, 0.0)), n_features_to_select=6).fit(X, Y)
    sieve = Sieve("cmim-positive", estimator="miller-madow", n_features_to_select=6).fit(X, Y)
    assert alone.selected_.tolist() == sieve.selected_.tolist()
    linear = Sieve(Hybrid(weights=(0.0, 1.0)), n_features_to_select=6).fit(X, Y)
    assert linear.selected_.tolist() == Sieve("omp", n_features_to_select=6).fit(X, Y).selected_.tolist()


def test_numeric_targets_are_indicators_of_their_cut_points():
    X, _ = make_data()
    Y = np.column_stack([X[:, 1] + 0.1 * X[:, 4], X[:, 2] ** 2 + X[:, 2]])
    cuts = [np.quantile(column, [0.2, 0.4, 0.6, 0.8]) for column in Y.T]
    indicators = np.column_stack([column > cut for column, of_column in zip(Y.T, cuts, strict=True) for cut in of_column])
    numeric = Sieve("cmim-positive", targets="cumulative", estimator="miller-madow", n_features_to_select=4).fit(X, Y)
    labels = Sieve("cmim-positive", estimator="miller-madow", n_features_to_select=4).fit(X, indicators.astype(int))
    assert numeric.selected_.tolist() == labels.selected_.tolist()
    np.testing.assert_allclose(numeric.scores_, labels.scores_, rtol=1e-12)
    assert set(Sieve(n_features_to_select=2).fit(X, Y).selected_) == {1, 2}


@pytest.mark.parametrize("form", [sp.csr_array, pd.DataFrame, np.asfortranarray])
def test_forms_of_input_do_not_change_the_selection(form):
    X, Y = make_data()
    expected = Sieve(n_features_to_select=9).fit(X, Y)
    found = Sieve(n_features_to_select=9, n_jobs=2).fit(form(X), sp.csr_array(Y))
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9)


def test_text_and_missing_cells_are_levels_and_means():
    rng = np.random.default_rng(1)
    color, size = rng.choice(["red", "green", "blue"], 300), rng.normal(size=300)
    frame = pd.DataFrame({"noise": rng.normal(size=300), "color": color, "size": np.where(rng.random(300) < 0.2, np.nan, size)})
    found = Sieve(n_features_to_select=2).fit(frame, np.column_stack([color == "red", size > 0]))
    assert sorted(found.get_feature_names_out()) == ["color", "size"]


def test_codes_are_levels_in_both_parts():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, size=(300, 4))
    Y = np.column_stack([np.isin(codes[:, 2], [1, 3]), rng.random(300) < 0.5])  # no straight line
    found = Sieve(discretizer=None, n_features_to_select=2).fit(codes, Y)
    named = make_selector("hybrid", discretizer=None, nominal="all", n_features_to_select=2).fit(codes, Y)
    assert found.selected_[0] == 2
    assert found.score_components_["least squares"][0] == 1
    assert found.scores_.tolist() == named.scores_.tolist()


def test_a_warm_start_continues_the_search():
    X, Y = make_data()
    warm = Sieve(n_features_to_select=2, warm_start=True).fit(X, Y)
    again = warm.set_params(n_features_to_select=5).fit(X, Y)
    assert again.selected_.tolist() == Sieve(n_features_to_select=5).fit(X, Y).selected_.tolist()


def test_a_saved_selector_is_read_as_it_was(tmp_path):
    X, Y = make_data()
    fitted = Sieve(Hybrid(weights=(1, 2)), n_features_to_select=3, discretizer=EqualFrequency(3)).fit(X, Y)
    fitted.to_json(tmp_path / "hybrid.json")
    read = Sieve.from_json(tmp_path / "hybrid.json")
    assert read.selected_.tolist() == fitted.selected_.tolist()
    np.testing.assert_array_equal(read.transform(X), fitted.transform(X))
    summary = fitted.selection(X, Y)
    assert summary.method == "hybrid"
    assert summary.unit == "sums of two gains, each relative to the best candidate (2: best in both)"
    assert method_of(make_selector("hybrid")) == "hybrid"


@pytest.mark.parametrize("rule", [GTest(), ScoreThreshold(0.02, of="added"), Knee(), CrossValidated(max_features=3, cv=2)])
def test_rules_on_information_and_predictions_stop_it(rule):
    found = Sieve(n_features_to_select=rule).fit(*make_data())
    assert 1 <= len(found.selected_) < 9
    assert found.stopping_.reason_


@pytest.mark.parametrize("rule", [ScoreThreshold(0.1), Knee(of="score"), PermutationTest(n_permutations=9)])
def test_rules_that_compare_scores_are_refused(rule):
    with pytest.raises(InputError, match="relative to the best candidate"):
        Sieve(n_features_to_select=rule).fit(*make_data())


def test_explain_lists_the_products_of_least_squares():
    text = Sieve().explain(1000, 200, 30)
    assert text.startswith(Sieve("cmim-positive", targets="cumulative").explain(1000, 200, 30))
    assert "6,000 products" in text.splitlines()[-2]
    assert "numbers 0.8 MB" in text.splitlines()[-1]


def test_tables_that_are_too_large_name_a_method_that_takes_them():
    X, Y = (sp.csr_array((np.ones(3, dtype=int), ([0, 1, 2], [0, 5, 9])), shape=(4, n)) for n in (2_000_000, 500_000))
    with pytest.raises(MemoryError, match=r"need .* GB .* or select by information alone, Sieve\('cmim'\) or --criterion cmim"):
        Sieve(discretizer=None).fit(X, Y)
