"""Scikit-learn citizens: its own checks, and what all selectors share with targets of several columns."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelsieve import InputError
from labelsieve.selectors import LLSF, MDDM, ChiSquare, ReliefF, ReliefFML, RReliefF
from tests.support.selection_data import LABELS, NAMES, assert_same_selection, make_data


def as_labels(y):
    """What the checks pass, classes in one column, as 0/1 labels: methods for labels refuse classes."""
    y = np.asarray(y)
    return y if y.ndim != 1 or y.dtype.kind not in "iuO" else (y[:, np.newaxis] == np.unique(y)).astype(int)


class ReliefFMLOfClasses(ReliefFML):
    def fit(self, X, y):
        return super().fit(X, y if y is None else as_labels(y))


class CopiesOfClasses(ChiSquare):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y if y is None else as_labels(y), sample_weight)


ESTIMATORS = [
    ChiSquare(),
    ChiSquare(targets="joint", combine="max"),
    CopiesOfClasses(targets="copy"),
    CopiesOfClasses(targets="copy-weight"),
    ReliefF(),
    ReliefF(targets="joint", n_samples=8),
    ReliefFMLOfClasses(),
    RReliefF(),
    LLSF(),
    LLSF(convex=True, acceleration="plain"),
    MDDM(),
    MDDM(mu=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


SELECTORS = [
    ChiSquare(n_features_to_select=3),
    ChiSquare(targets="copy-weight", n_features_to_select=3),
    ReliefF(n_features_to_select=3, n_samples=100, random_state=0),
    ReliefFML(n_features_to_select=0.4),
    RReliefF(n_features_to_select=3),
    LLSF(beta=12.0),
]
selectors = pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)


@selectors
def test_targets_and_features_may_come_in_any_container(selector):
    X, Y = make_data()
    expected = clone(selector).fit(X, Y)
    assert 0 < expected.support_.sum() < 8
    targets = [Y.tolist(), Y.astype(bool), Y.astype(float), sp.csr_array(Y), sp.csc_matrix(Y), pd.DataFrame(Y, columns=LABELS)]
    for same in [*targets, pl.DataFrame(Y, schema=LABELS)]:
        assert_same_selection(clone(selector).fit(X, same), expected)
    for same in (sp.csr_array(X), sp.csc_matrix(X), pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES)):
        assert np.array_equal(clone(selector).fit(same, Y).support_, expected.support_)


@selectors
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_come_in_and_go_out(selector, library):
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES) if library == "pandas" else pl.DataFrame(X, schema=NAMES)
    fitted = clone(selector).set_output(transform=library).fit(frame, Y)
    kept = [name for name, chosen in zip(NAMES, fitted.support_, strict=True) if chosen]
    assert fitted.get_feature_names_out().tolist() == kept
    assert list(fitted.transform(frame).columns) == kept


@selectors
def test_a_saved_selection_comes_back_as_it_was(selector, tmp_path):
    X, Y = make_data()
    fitted = clone(selector).fit(pd.DataFrame(X, columns=NAMES), Y)
    fitted.to_json(tmp_path / "chosen.json")
    again = type(selector).from_json(tmp_path / "chosen.json")
    assert_same_selection(again, fitted)
    for name, value in vars(fitted).items():
        assert np.array_equal(getattr(again, name), value), name
    assert again.get_params() == selector.get_params()
    with pytest.raises(InputError, match="read it with that class's from_json"):
        (ReliefF if type(selector) is ChiSquare else ChiSquare).from_json(tmp_path / "chosen.json")


@selectors
def test_a_pickle_and_a_pipeline_do_the_same(selector):
    X, Y = make_data()
    fitted = clone(selector).fit(X, Y)
    assert_same_selection(pickle.loads(pickle.dumps(fitted)), fitted)
    model = make_pipeline(clone(selector), KNeighborsClassifier(5)).fit(X, Y)
    assert np.array_equal(model[0].transform(X), X[:, fitted.support_])


@selectors
def test_scores_are_in_order_and_belong_to_their_columns(selector):
    fitted = clone(selector).fit(*make_data())
    assert np.all(np.diff(fitted.scores_) <= 0)
    if hasattr(fitted, "feature_scores_"):
        assert np.array_equal(fitted.feature_scores_[fitted.selected_], fitted.scores_)


@selectors
def test_no_targets_and_other_rows_are_refused(selector):
    X, Y = make_data()
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(selector).fit(X, None)
    with pytest.raises(ValueError, match=r"150.* 149"):
        clone(selector).fit(X, Y[:-1])


def test_mddm_puts_out_frames():
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    projected = MDDM().set_output(transform="pandas").fit(frame, Y).transform(frame)
    assert projected.columns.tolist() == ["mddm0", "mddm1", "mddm2", "mddm3"]
    assert projected.to_numpy() == pytest.approx(MDDM().fit(X, Y).transform(X))
