"""A scikit-learn citizen: its own checks, and the same for targets of several columns, which those never try."""

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
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelsieve import PPTMI, BaselineSieve, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.criteria.multilabel import PMU
from labelsieve.criteria.relevance_redundancy import MIFS
from labelsieve.discretize import EqualWidth
from tests.support.selection_data import LABELS, N_FEATURES, NAMES, assert_same_selection, make_data

SELECTORS = [
    Sieve(),
    LabelwiseSieve(),
    QuadraticSieve(),
    BaselineSieve(),
    BaselineSieve("variance"),
    BaselineSieve("all"),
    PPTMI(),
]
every_selector = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve, QuadraticSieve, BaselineSieve, PPTMI])
selectors = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])


@parametrize_with_checks(SELECTORS)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def frames(values, names):
    return {"pandas": pd.DataFrame(values, columns=names), "polars": pl.DataFrame(values, schema=names)}


@every_selector
def test_targets_of_several_columns_are_taken_in_any_container(selector):
    X, Y = make_data()
    expected = selector(n_features_to_select=3).fit(X, Y)
    containers = {
        "lists": Y.tolist(),
        "booleans": Y.astype(bool),
        "floats": Y.astype(float),
        "bytes, columns first": np.asfortranarray(Y, dtype=np.uint8),
        "csr": sp.csr_array(Y),
        "csc": sp.csc_array(Y),
        "old csr": sp.csr_matrix(Y),
        **frames(Y, LABELS),
    }
    for same in containers.values():
        assert_same_selection(selector(n_features_to_select=3).fit(X, same), expected)
        assert_same_selection(selector(n_features_to_select=3).fit(frames(X, NAMES)["pandas"], same), expected)


@every_selector
def test_one_target_may_be_one_dimensional(selector):
    X, Y = make_data()
    expected = selector(n_features_to_select=3).fit(X, Y[:, [1]])
    for same in (Y[:, 1], Y[:, 1].tolist(), pd.Series(Y[:, 1]), pl.Series(Y[:, 1])):
        assert_same_selection(selector(n_features_to_select=3).fit(X, same), expected)


@every_selector
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_come_in_and_go_out(selector, library):
    X, Y = make_data()
    frame = frames(X, NAMES)[library]
    sieve = selector(n_features_to_select=2).set_output(transform=library).fit(frame, Y)
    assert sieve.feature_names_in_.tolist() == NAMES
    kept = [name for name, chosen in zip(NAMES, sieve.support_, strict=True) if chosen]
    assert sieve.get_feature_names_out().tolist() == kept
    transformed = sieve.transform(frame)
    assert type(transformed) is type(frame)
    assert list(transformed.columns) == kept
    assert np.array_equal(transformed.to_numpy(), X[:, sieve.support_])


@every_selector
def test_transform_keeps_the_chosen_columns_as_they_were(selector):
    X, Y = make_data()
    sieve = selector(n_features_to_select=2)
    transformed = sieve.fit_transform(X, Y)
    assert np.array_equal(transformed, X[:, sieve.support_])
    assert np.array_equal(sieve.get_support(), sieve.support_)
    assert np.array_equal(sieve.get_support(indices=True), np.flatnonzero(sieve.support_))
    back = sieve.inverse_transform(transformed)
    assert np.array_equal(back, np.where(sieve.support_, X, 0))
    sparse = sieve.transform(sp.csr_array(X))
    assert sp.issparse(sparse)
    assert np.array_equal(sparse.toarray(), transformed)


@every_selector
def test_names_in_another_order_are_refused(selector):
    X, Y = make_data()
    frame = frames(X, NAMES)["pandas"]
    sieve = selector(n_features_to_select=2).fit(frame, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        sieve.transform(frame[NAMES[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        sieve.transform(frame[NAMES[:5]])
    with pytest.raises(ValueError, match="expecting 8 features"):
        selector(n_features_to_select=2).fit(X, Y).transform(X[:, :5])


@every_selector
def test_before_fit_there_is_nothing_to_keep(selector, tmp_path):
    X, _ = make_data()
    for use in (
        lambda sieve: sieve.transform(X),
        lambda sieve: sieve.get_support(),
        lambda sieve: sieve.to_json(tmp_path / "x.json"),
    ):
        with pytest.raises(NotFittedError):
            use(selector())
    assert not list(tmp_path.iterdir())


CRITERIA = ["pmu", MIFS(0.5), PMU(pairs="ordered"), MIFS]


@selectors
@pytest.mark.parametrize("criterion", CRITERIA, ids=["name", "with a parameter", "with a word", "class"])
def test_a_clone_and_a_pickle_choose_the_same(selector, criterion):
    X, Y = make_data()
    sieve = selector(criterion, discretizer=EqualWidth(3), n_features_to_select=3, excluded=[4])
    copies = [clone(sieve), pickle.loads(pickle.dumps(sieve))]
    fitted = sieve.fit(X, Y)
    for copy in copies:
        assert not hasattr(copy, "selected_")
        assert_same_selection(copy.fit(X, Y), fitted)
    thawed = pickle.loads(pickle.dumps(fitted))
    assert_same_selection(thawed, fitted)
    assert np.array_equal(thawed.transform(X), fitted.transform(X))
    assert_same_selection(clone(fitted).fit(X, Y), fitted)


def test_a_pickle_leaves_the_counted_tables_behind():
    X, Y = make_data()
    warm = Sieve("jmi", n_features_to_select=3, warm_start=True).fit(X, Y)
    thawed = pickle.loads(pickle.dumps(warm))
    assert len(pickle.dumps(warm)) < 5000
    assert_same_selection(thawed.set_params(n_features_to_select=5).fit(X, Y), Sieve("jmi", n_features_to_select=5).fit(X, Y))


@selectors
def test_a_pipeline_learns_on_the_chosen_features(selector):
    X, Y = make_data()
    model = make_pipeline(StandardScaler(), selector("jmi", n_features_to_select=1), KNeighborsClassifier(7)).fit(X, Y)
    chosen = model[:-1].transform(X)
    assert chosen.shape[1] == model[1].support_.sum() < N_FEATURES
    assert np.array_equal(model.predict(X), KNeighborsClassifier(7).fit(chosen, Y).predict(chosen))


@selectors
def test_a_grid_search_tunes_criterion_number_and_bins(selector):
    X, Y = make_data()
    model = make_pipeline(selector(discretizer=EqualWidth()), KNeighborsClassifier(5))
    step = selector.__name__.lower()
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


@selectors
def test_parameters_of_the_wrong_kind_are_refused_by_name(selector):
    X, Y = make_data()
    wrong = {
        "criterion": 3,
        "discretizer": "quantiles",
        "n_features_to_select": 0,
        "estimator": "shrunk",
        "forced": None,
        "excluded": "tone 1",
        "parents": "none",
        "n_jobs": 1.5,
    }
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"The '{name}' parameter of {selector.__name__} must be"):
            selector().set_params(**{name: value}).fit(X, Y)


def test_an_unknown_label_space_is_refused_by_name():
    with pytest.raises(ValueError, match="The 'targets' parameter of Sieve must be"):
        Sieve(targets="powerset").fit(*make_data())
