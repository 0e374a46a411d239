"""Every selector is a scikit-learn citizen: scikit-learn's checks, and the same for targets of several columns, which
those never try. Selectors are discovered; ``CASES`` adds settings to the defaults."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelsieve import BaselineSieve, InputError, LabelwiseSieve, Sieve, selectors
from labelsieve.criteria.formulas import MIFS, PMU
from labelsieve.discretize import EqualWidth
from labelsieve.selectors import (
    LLSF,
    MDDM,
    ChiSquare,
    ConditionalDiscoveries,
    MarginalDiscoveries,
    PermutationImportance,
    ReliefF,
    ReliefFML,
    ShadowFeatures,
    TreeImportance,
)
from tests.support.discovery import estimator_cases, estimator_classes, quick
from tests.support.selection_data import LABELS, N_FEATURES, NAMES, assert_same_selection, make_data


def as_labels(y):
    """The classes in one column that the checks pass, as 0/1 labels: methods for labels refuse classes."""
    y = np.asarray(y)
    return y if y.ndim != 1 or y.dtype.kind not in "iuO" else (y[:, np.newaxis] == np.unique(y)).astype(int)


class ReliefFMLOfClasses(ReliefFML):
    def fit(self, X, y):
        return super().fit(X, y if y is None else as_labels(y))


class CopiesOfClasses(ChiSquare):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y if y is None else as_labels(y), sample_weight)


CASES = {
    BaselineSieve: [BaselineSieve(), BaselineSieve("variance"), BaselineSieve("all")],
    ChiSquare: [
        ChiSquare(),
        ChiSquare(targets="joint", combine="max"),
        CopiesOfClasses(targets="copy"),
        CopiesOfClasses(targets="copy-weight"),
    ],
    ConditionalDiscoveries: [ConditionalDiscoveries(alpha=0.999, n_repeats=1)],  # few features, and a selection is wanted
    ReliefF: [ReliefF(), ReliefF(targets="joint", n_samples=8)],
    ReliefFML: [ReliefFMLOfClasses()],
    LLSF: [LLSF(), LLSF(convex=True, acceleration="plain")],
    MDDM: [MDDM(), MDDM(mu=0)],
    MarginalDiscoveries: [MarginalDiscoveries(alpha=0.999)],  # some checks have noise, and want a selection
    PermutationImportance: [PermutationImportance(model=DecisionTreeRegressor(random_state=0), n_repeats=1)],
    ShadowFeatures: [ShadowFeatures(n_rounds=2, n_estimators=5)],
    TreeImportance: [TreeImportance(n_estimators=5), TreeImportance(ensemble="gradient-boosting", n_estimators=2)],
}


@pytest.mark.filterwarnings("ignore:No features were selected")  # knockoffs of two features: some checks have no more
@parametrize_with_checks(estimator_cases(selectors, CASES))
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def selecting(kind, **settings):
    """A selector that keeps three features, where it takes a number."""
    numbered = {"n_features_to_select": 3} if "n_features_to_select" in kind().get_params() else {}
    rate = {"alpha": 0.9} if kind is ConditionalDiscoveries else {}  # of few features, a small one selects none
    return quick(kind, **{**numbered, **rate, **settings})


SELECTORS = [kind for kind in estimator_classes(selectors) if kind is not MDDM]  # MDDM projects and selects nothing
MORE = [
    BaselineSieve("variance", n_features_to_select=3),
    BaselineSieve("all"),
    ChiSquare(targets="copy-weight", n_features_to_select=3),
    ReliefF(n_features_to_select=3, n_samples=100, random_state=0),
    ReliefFML(n_features_to_select=0.4),
    LLSF(beta=12.0),
]
every_selector = pytest.mark.parametrize(
    "selector", [*(selecting(kind) for kind in SELECTORS if kind is not LLSF), *MORE], ids=lambda one: type(one).__name__
)
greedy = pytest.mark.parametrize("kind", [Sieve, LabelwiseSieve])


def frames(values, names):
    return {"pandas": pd.DataFrame(values, columns=names), "polars": pl.DataFrame(values, schema=names)}


@every_selector
def test_targets_and_features_are_taken_in_any_container(selector):
    X, Y = make_data()
    expected = clone(selector).fit(X, Y)
    assert expected.support_.sum() > 0
    targets = {
        "lists": Y.tolist(),
        "booleans": Y.astype(bool),
        "floats": Y.astype(float),
        "bytes, columns first": np.asfortranarray(Y, dtype=np.uint8),
        "csr": sp.csr_array(Y),
        "csc": sp.csc_array(Y),
        "old csr": sp.csr_matrix(Y),
        "old csc": sp.csc_matrix(Y),
        **frames(Y, LABELS),
    }
    for same in targets.values():
        assert_same_selection(clone(selector).fit(X, same), expected)
    # Features and targets are read one after the other, so that containers of both need not be combined, but for frames.
    for same in (sp.csr_array(X), sp.csc_matrix(X), frames(X, NAMES)["polars"]):
        assert np.array_equal(clone(selector).fit(same, Y).support_, expected.support_)
    in_frames = clone(selector).fit(frames(X, NAMES)["pandas"], targets["pandas"])
    if isinstance(selector, LLSF):  # the last bits of a regression depend on the layout in memory
        assert np.array_equal(in_frames.support_, expected.support_)
    else:
        assert_same_selection(in_frames, expected)


@every_selector
def test_one_target_may_be_one_dimensional(selector):
    X, Y = make_data()
    expected = clone(selector).fit(X, Y[:, [1]])
    for same in (Y[:, 1], Y[:, 1].tolist(), pd.Series(Y[:, 1]), pl.Series(Y[:, 1])):
        assert_same_selection(clone(selector).fit(X, same), expected)


@every_selector
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_come_in_and_go_out(selector, library):
    X, Y = make_data()
    frame = frames(X, NAMES)[library]
    fitted = clone(selector).set_output(transform=library).fit(frame, Y)
    assert fitted.feature_names_in_.tolist() == NAMES
    kept = [name for name, selected in zip(NAMES, fitted.support_, strict=True) if selected]
    assert fitted.get_feature_names_out().tolist() == kept
    transformed = fitted.transform(frame)
    assert type(transformed) is type(frame)
    assert list(transformed.columns) == kept
    assert np.array_equal(transformed.to_numpy(), X[:, fitted.support_])


@every_selector
def test_transform_keeps_the_selected_columns_as_they_were(selector):
    X, Y = make_data()
    fitted = clone(selector)
    transformed = fitted.fit_transform(X, Y)
    assert np.array_equal(transformed, X[:, fitted.support_])
    assert np.array_equal(fitted.get_support(), fitted.support_)
    assert np.array_equal(fitted.get_support(indices=True), np.flatnonzero(fitted.support_))
    back = fitted.inverse_transform(transformed)
    assert np.array_equal(back, np.where(fitted.support_, X, 0))
    sparse = fitted.transform(sp.csr_array(X))
    assert sp.issparse(sparse)
    assert np.array_equal(sparse.toarray(), transformed)


@every_selector
def test_names_in_another_order_are_refused(selector):
    X, Y = make_data()
    frame = frames(X, NAMES)["pandas"]
    fitted = clone(selector).fit(frame, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[NAMES[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[NAMES[:5]])
    with pytest.raises(ValueError, match="expecting 8 features"):
        clone(selector).fit(X, Y).transform(X[:, :5])


@every_selector
def test_an_unfitted_selector_refuses_to_transform_or_save(selector, tmp_path):
    X, _ = make_data()
    for use in (
        lambda unfitted: unfitted.transform(X),
        lambda unfitted: unfitted.get_support(),
        lambda unfitted: unfitted.to_json(tmp_path / "x.json"),
    ):
        with pytest.raises(NotFittedError):
            use(clone(selector))
    assert not list(tmp_path.iterdir())


@every_selector
def test_a_saved_selection_comes_back_as_it_was(selector, tmp_path):
    X, Y = make_data()
    fitted = clone(selector).fit(pd.DataFrame(X, columns=NAMES), Y)
    fitted.to_json(tmp_path / "selected.json")
    again = type(selector).from_json(tmp_path / "selected.json")
    assert_same_selection(again, fitted)
    for name, value in vars(fitted).items():
        if name.endswith("_") and isinstance(value, np.ndarray | int | float | bool | str):
            np.testing.assert_array_equal(getattr(again, name), value, name)
    assert json.dumps(again.get_params()) == json.dumps(selector.get_params())  # JSON has no tuples
    with pytest.raises(InputError, match="read it with that class's from_json"):
        (ReliefF if type(selector) is ChiSquare else ChiSquare).from_json(tmp_path / "selected.json")


@every_selector
def test_a_pickle_and_a_pipeline_select_the_same(selector):
    X, Y = make_data()
    fitted = clone(selector).fit(X, Y)
    assert_same_selection(pickle.loads(pickle.dumps(fitted)), fitted)
    model = make_pipeline(clone(selector), KNeighborsClassifier(5)).fit(X, Y)
    assert np.array_equal(model[0].transform(X), X[:, fitted.support_])


RANKINGS = [one for one in MORE if type(one) is not LLSF] + [
    selecting(kind) for kind in SELECTORS if issubclass(kind, selectors.base.BaseRanking)
]


@pytest.mark.parametrize("selector", [*RANKINGS, MORE[-1]], ids=lambda one: type(one).__name__)
def test_scores_of_a_ranking_fall_and_belong_to_their_columns(selector):
    fitted = clone(selector).fit(*make_data())
    assert np.all(np.diff(fitted.scores_) <= 0)
    if fitted.feature_scores_ is not None:
        assert np.array_equal(fitted.feature_scores_[fitted.selected_], fitted.scores_)


@every_selector
def test_no_targets_and_other_rows_are_refused(selector):
    X, Y = make_data()
    if isinstance(selector, BaselineSieve):
        return  # it takes no targets
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(selector).fit(X, None)
    with pytest.raises(ValueError, match=r"150.* 149"):
        clone(selector).fit(X, Y[:-1])


CRITERIA = ["pmu", MIFS(0.5), PMU(pairs="ordered"), MIFS]


@greedy
@pytest.mark.parametrize("criterion", CRITERIA, ids=["name", "with a parameter", "with a word", "class"])
def test_a_clone_and_a_pickle_select_the_same(kind, criterion):
    X, Y = make_data()
    sieve = kind(criterion, discretizer=EqualWidth(3), n_features_to_select=3, excluded=[4])
    copies = [clone(sieve), pickle.loads(pickle.dumps(sieve))]
    fitted = sieve.fit(X, Y)
    for copy in copies:
        assert not hasattr(copy, "selected_")
        assert_same_selection(copy.fit(X, Y), fitted)
    restored = pickle.loads(pickle.dumps(fitted))
    assert_same_selection(restored, fitted)
    assert np.array_equal(restored.transform(X), fitted.transform(X))
    assert_same_selection(clone(fitted).fit(X, Y), fitted)


def test_a_pickle_leaves_the_counted_tables_behind():
    X, Y = make_data()
    warm = Sieve("jmi", n_features_to_select=3, warm_start=True).fit(X, Y)
    restored = pickle.loads(pickle.dumps(warm))
    assert len(pickle.dumps(warm)) < 5000
    assert_same_selection(restored.set_params(n_features_to_select=5).fit(X, Y), Sieve("jmi", n_features_to_select=5).fit(X, Y))


@greedy
def test_a_pipeline_learns_on_the_selected_features(kind):
    X, Y = make_data()
    model = make_pipeline(StandardScaler(), kind("jmi", n_features_to_select=1), KNeighborsClassifier(7)).fit(X, Y)
    selected = model[:-1].transform(X)
    assert selected.shape[1] == model[1].support_.sum() < N_FEATURES
    assert np.array_equal(model.predict(X), KNeighborsClassifier(7).fit(selected, Y).predict(selected))


@greedy
def test_a_grid_search_tunes_criterion_number_and_bins(kind):
    X, Y = make_data()
    model = make_pipeline(kind(discretizer=EqualWidth()), KNeighborsClassifier(5))
    step = kind.__name__.lower()
    grid = {
        f"{step}__criterion": ["mim", "jmi", MIFS(0.5)],
        f"{step}__n_features_to_select": [1, 3, 0.9],
        f"{step}__discretizer__n_bins": [2, 5],
    }
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 18
    assert len(set(search.cv_results_["mean_test_score"])) > 1, "the parameters make no difference"
    best = search.best_estimator_[0]
    assert best.discretizer.n_bins == search.best_params_[f"{step}__discretizer__n_bins"]
    assert_same_selection(clone(best).fit(X, Y), best)


@greedy
def test_parameters_of_the_wrong_kind_are_refused_by_name(kind):
    X, Y = make_data()
    wrong = {
        "criterion": 3,
        "discretizer": 3,
        "n_features_to_select": 0,
        "estimator": "shrunk",
        "forced": None,
        "excluded": "tone 1",
        "parents": "none",
        "n_jobs": 1.5,
    }
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"The '{name}' parameter of {kind.__name__} must be"):
            kind().set_params(**{name: value}).fit(X, Y)


def test_an_unknown_label_space_is_refused_by_name():
    with pytest.raises(ValueError, match="'powersets' is not a label space"):
        Sieve(targets="powersets").fit(*make_data())
    with pytest.raises(ValueError, match="The 'targets' parameter of Sieve must be"):
        Sieve(targets=3).fit(*make_data())


def test_mddm_puts_out_frames():
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    projected = MDDM().set_output(transform="pandas").fit(frame, Y).transform(frame)
    assert projected.columns.tolist() == ["mddm0", "mddm1", "mddm2", "mddm3"]
    assert projected.to_numpy() == pytest.approx(MDDM().fit(X, Y).transform(X))
