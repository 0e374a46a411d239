"""Stopping rules: the number of features kept, the fitted attributes, and scikit-learn conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelsieve import InputError, Sieve
from labelsieve.classifiers import BRkNN
from labelsieve.datasets import make_feature_roles
from labelsieve.discretize import EqualWidth
from labelsieve.metrics import get_scorer
from labelsieve.registry import STOPPING_RULES
from labelsieve.stopping import CrossValidated, GTest, Knee, PermutationTest, ScoreThreshold
from labelsieve.stopping.curves import knee
from tests.support.reference_stopping import REFERENCES, RULES
from tests.support.selection_data import N_FEATURES, NAMES, assert_same_selection, make_data

rules = pytest.mark.parametrize("rule", RULES, ids=repr)


@pytest.mark.parametrize("name", STOPPING_RULES)
def test_every_rule_keeps_as_many_features_as_its_reference(name):
    for rule in (rule for rule in RULES if rule.name == name):
        for seed, criterion in ((0, "mim"), (1, "cmim")):
            X, Y = make_data(seed, n_rows=120)
            codes = EqualWidth(3).fit_transform(X)
            kept = len(Sieve(criterion, discretizer=None, n_features_to_select=rule).fit(codes, Y).selected_)
            assert kept == REFERENCES[name](rule, codes, Y, criterion), (rule, criterion)


@parametrize_with_checks([Sieve("cmim", n_features_to_select=rule) for rule in (Knee(), ScoreThreshold(-1.0, relative=True))])
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@rules
def test_a_rule_keeps_a_prefix_of_the_ranking(rule):
    X, Y = make_data()
    sieve = Sieve("jmi", n_features_to_select=rule).fit(X, Y)
    kept = len(sieve.selected_)
    assert 1 <= kept <= N_FEATURES
    left_out = getattr(sieve.stopping_, "left_out_", [])  # by a rule that says so before the search
    assert_same_selection(sieve, Sieve("jmi", n_features_to_select=kept, excluded=left_out).fit(X, Y))
    assert all(len(values) == kept for values in sieve.score_components_.values())
    assert sieve.stopping_.reason_.endswith(".")
    assert not [name for name in vars(rule) if name.endswith("_")], "the parameter itself was fitted"


@rules
def test_forced_features_are_kept_and_excluded_ones_never(rule):
    X, Y = make_data()
    sieve = Sieve("jmi", n_features_to_select=rule, forced=[7, 0], excluded=[1]).fit(X, Y)
    assert sieve.selected_[:2].tolist() == [7, 0]
    assert 1 not in sieve.selected_
    found = sieve.stopping_
    if hasattr(found, "p_values_"):
        assert np.isnan(found.p_values_[:2]).all()
        assert (found.p_values_[2:] <= found.alpha).all()
        assert found.p_value_left_out_ is None or found.p_value_left_out_ > found.alpha


@rules
def test_max_features_is_an_upper_bound(rule):
    X, Y = make_data()
    sieve = Sieve("mim", n_features_to_select=clone(rule).set_params(max_features=2)).fit(X, Y)
    assert len(sieve.selected_) <= 2


@rules
def test_a_warm_start_selects_what_a_fresh_fit_selects(rule):
    X, Y = make_data()
    fresh = Sieve("cmim", n_features_to_select=rule).fit(X, Y)
    for before in (1, None):
        warm = Sieve("cmim", n_features_to_select=before, warm_start=True).fit(X, Y)
        assert_same_selection(warm.set_params(n_features_to_select=rule).fit(X, Y), fresh)
        more = min(len(fresh.selected_) + 1, N_FEATURES)
        assert len(warm.set_params(n_features_to_select=more).fit(X, Y).selected_) == more
        assert warm.stopping_ is None


@rules
def test_clones_pickles_frames_and_sparse_matrices_give_the_same(rule):
    X, Y = make_data()
    sieve = Sieve("mrmr", n_features_to_select=rule)
    fitted = clone(sieve).fit(X, Y)
    assert_same_selection(pickle.loads(pickle.dumps(sieve)).fit(X, Y), fitted)
    assert_same_selection(pickle.loads(pickle.dumps(fitted)), fitted)
    assert_same_selection(clone(sieve).fit(pd.DataFrame(X, columns=NAMES), pd.DataFrame(Y)), fitted)
    assert_same_selection(clone(sieve).fit(sp.csr_array(X), sp.csr_array(Y)), fitted)


@rules
def test_a_rule_is_saved_with_its_fitted_attributes(rule, tmp_path):
    X, Y = make_data()
    sieve = Sieve("jmi", n_features_to_select=rule, forced=[2]).fit(X, Y)
    sieve.to_json(tmp_path / "selected.json")
    assert "NaN" not in (tmp_path / "selected.json").read_text(encoding="utf-8")  # which JSON does not have
    again = Sieve.from_json(tmp_path / "selected.json")
    assert_same_selection(again, sieve)
    found, restored = vars(sieve.stopping_), vars(again.stopping_)
    assert found.keys() == restored.keys()
    for name, value in found.items():
        if name.endswith("_") and isinstance(value, np.ndarray):
            assert np.array_equal(restored[name], value, equal_nan=True)
    if getattr(rule, "estimator", None) is not None:  # an estimator is stored as text
        with pytest.raises(InputError, match="pass the estimator itself"):
            again.fit(X, Y)
    else:
        assert_same_selection(again.fit(X, Y), sieve)


def test_a_grid_search_tunes_a_rule():
    X, Y = make_data(n_rows=600)
    model = make_pipeline(Sieve("mim", n_features_to_select=GTest()), KNeighborsClassifier(5))
    grid = {"sieve__n_features_to_select__alpha": [1e-9, 0.9], "sieve__criterion": ["mim", "jmi"]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, Y)
    assert len(set(search.cv_results_["mean_test_score"])) > 1, "the level has no effect"


@pytest.mark.parametrize("rule", [GTest(), PermutationTest(n_permutations=9)], ids=["g", "permutation"])
def test_significance_tests_refuse_weighted_and_repeated_rows(rule):
    X, Y = make_data()
    with pytest.raises(InputError, match="not defined for weighted rows"):
        Sieve("cmim", n_features_to_select=rule).fit(X, Y, sample_weight=np.arange(1, len(X) + 1))
    with pytest.raises(InputError, match="counts rows several times"):
        Sieve("cmim", n_features_to_select=rule, targets="copy").fit(X, Y)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (GTest(alpha=0), "alpha must be between 0 and 1"),
        (GTest(alpha="small"), "alpha must be a number"),
        (GTest(given="none"), "given must be 'each' or 'all'"),
        (GTest(correction="holm"), "correction must be"),
        (GTest(min_rows=-1), "min_rows must not be negative"),
        (PermutationTest(alpha=1.0), "alpha must be between 0 and 1"),
        (PermutationTest(n_permutations=0), "n_permutations must be a whole number"),
        (ScoreThreshold("low"), "threshold must be a number"),
        (ScoreThreshold(of="gain"), "of must be 'score' or 'added'"),
        (Knee("score"), "the curve rises"),
        (Knee(max_features=0), "max_features must be a whole number"),
        (CrossValidated(measure="loss"), "'loss' is not a measure"),
        (CrossValidated(measure=3), "measure must be a name or a scorer"),
        (CrossValidated("mlknn"), "estimator must have fit"),
        (CrossValidated(standard_errors=-1), "standard_errors must not be negative"),
    ],
)
def test_invalid_parameters_are_refused(rule, message):
    with pytest.raises(InputError, match=message):
        Sieve("jmi", n_features_to_select=rule).fit(*make_data())


def test_a_knee_is_the_farthest_point_below_the_line():
    for curve in (np.array([5.0, 4.0, 1.0, 0.9, 0.8]), np.array([1.0, 1, 1, 0, 0, 0]), np.array([3.0, 0.2, 0.1, 0.0])):
        n = len(curve)
        ends = np.array([0.0, 1.0]), np.array([1.0, 0.0])
        points = np.column_stack([np.arange(n) / (n - 1), (curve - curve[-1]) / (curve[0] - curve[-1])])
        along, off = ends[1] - ends[0], points - ends[0]
        distances = off[:, 0] * along[1] - off[:, 1] * along[0]
        assert knee(curve) == distances.argmax()


def test_a_threshold_is_strict_and_may_be_relative():
    X, Y = make_data()
    scores = Sieve("mim", n_features_to_select=None).fit(X, Y).scores_
    for limit, kept in ((scores[3], 3), (scores[0], 0), (scores[-1] / 2, N_FEATURES)):
        assert len(Sieve("mim", n_features_to_select=ScoreThreshold(limit)).fit(X, Y).selected_) == kept
    half = Sieve("mim", n_features_to_select=ScoreThreshold(0.5, relative=True)).fit(X, Y)
    assert len(half.selected_) == np.count_nonzero(scores > 0.5 * scores[0])
    assert half.stopping_.curve_.tolist() == scores[: len(half.selected_) + 1].tolist()


def test_nested_plain_and_scorer_evaluations_agree():
    """Nested neighbors, a scikit-learn estimator with the same predictions, and a scorer of the same measure."""
    X, Y = make_data()
    neighbors = KNeighborsClassifier(5)
    curves = []
    for estimator, measure, sign in (
        (BRkNN(k=5), "hamming_loss", 1),
        (neighbors, "hamming_loss", 1),
        (neighbors, get_scorer("neg_hamming_loss"), -1),
        (BRkNN(k=5), get_scorer("neg_hamming_loss"), -1),
    ):
        rule = CrossValidated(estimator, measure, cv=3, scale=None)
        curves.append(sign * Sieve("jmi", n_features_to_select=rule).fit(X, Y).stopping_.curve_)
    for curve in curves[1:]:
        np.testing.assert_allclose(curve, curves[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("scale", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())])
@pytest.mark.parametrize("sparse", [False, True])
def test_neighbors_get_features_scaled_by_the_training_rows(scale, scaler, sparse):
    """As in a pipeline; a column in other units changes nothing."""
    X, Y = make_data()
    units = X * np.where(np.arange(X.shape[1]) == 1, 1024.0, 1.0)
    if sparse:
        units, scaler = sp.csr_array(units), StandardScaler(with_mean=False) if scale == "standard" else MaxAbsScaler()

    def curve(estimator, table, **how):
        rule = CrossValidated(estimator, "hamming_loss", cv=3, max_features=6, **how)
        return Sieve("jmi", discretizer="equal-frequency", n_features_to_select=rule).fit(table, Y).stopping_.curve_

    found = curve(BRkNN(k=5), units, scale=scale)
    np.testing.assert_allclose(found, curve(make_pipeline(scaler, KNeighborsClassifier(5)), units), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found, curve(BRkNN(k=5), X if not sparse else sp.csr_array(X), scale=scale), rtol=0, atol=1e-12)
    assert not np.array_equal(found, curve(BRkNN(k=5), units, scale=None))


def test_an_unknown_scale_is_refused_by_name():
    X, Y = make_data()
    with pytest.raises(InputError, match=r"'standrad' is not a scale\. Did you mean 'standard'"):
        Sieve("jmi", n_features_to_select=CrossValidated(measure="hamming_loss", scale="standrad")).fit(X, Y)


def test_the_fewest_features_within_one_standard_error_are_kept():
    X, Y = make_data()
    found = Sieve("jmi", n_features_to_select=CrossValidated(BRkNN(k=5), cv=4)).fit(X, Y).stopping_
    mean = found.curve_.mean(axis=0)
    assert found.best_size_ == found.sizes_[mean.argmin()]
    differences = found.curve_ - found.curve_[:, [mean.argmin()]]
    good = differences.mean(axis=0) <= differences.std(axis=0, ddof=1) / np.sqrt(4)
    kept = len(Sieve("jmi", n_features_to_select=clone(found)).fit(X, Y).selected_)
    assert kept == found.sizes_[good].min()
    best = Sieve("jmi", n_features_to_select=CrossValidated(BRkNN(k=5), cv=4, standard_errors=0)).fit(X, Y)
    assert len(best.selected_) == found.best_size_


def test_numeric_targets_are_evaluated_with_a_regressor():
    data = make_feature_roles(200, targets="numeric", n_irrelevant=3, n_xor_pairs=0)
    sieve = Sieve("cmim", n_features_to_select=CrossValidated(measure="rrmse", cv=3, max_features=6)).fit(data.X, data.Y)
    assert sieve.stopping_.curve_.shape == (3, 6)
    assert sieve.stopping_.curve_.mean(axis=0).min() < 0.9  # 1 is the error of predicting the mean


def test_cross_validation_takes_sparse_matrices_of_any_format_and_enough_rows():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 4)) < 0.5, rng.normal(size=(60, 4)), 0.0)
    Y = (X[:, :2] > 0).astype(int)
    expected = Sieve("cmim", n_features_to_select="cv").fit(sp.csr_matrix(X), Y).selected_
    found = Sieve("cmim", n_features_to_select="cv").fit(sp.coo_matrix(X), sp.coo_matrix(Y))
    assert found.selected_.tolist() == expected.tolist()
    with pytest.raises(InputError, match=r"5 folds need 5 rows, and there are n_samples = 3; use fewer folds"):
        Sieve("cmim", n_features_to_select=CrossValidated(measure="hamming_loss")).fit(X[:3], Y[:3])
    with pytest.raises(InputError, match=r"at least 10 rows, and there are 3"):
        Sieve("cmim", n_features_to_select="cv").fit(X[:3], Y[:3])
