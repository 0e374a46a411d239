"""Discretizers as scikit-learn transformers."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelsieve import InputError
from labelsieve.discretize import MDL, EqualFrequency, EqualWidth, KMeansBins, Levels, MeanStd
from labelsieve.registry import DISCRETIZERS
from tests.support.discretizer_cases import labels_for, table

every = pytest.mark.parametrize("name", DISCRETIZERS)
X = table()
Y = labels_for(X[:, 0])
NAMES = [f"x{j}" for j in range(X.shape[1])]


@parametrize_with_checks(
    [discretizer() for discretizer in DISCRETIZERS.values()] + [EqualWidth(missing="error"), MDL(missing="error"), Levels()]
)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@every
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_feature_names_are_kept(name, library):
    frame = pd.DataFrame(X, columns=NAMES) if library == "pandas" else pl.DataFrame(X, schema=NAMES)
    fitted = DISCRETIZERS[name]().set_output(transform=library).fit(frame, Y)
    assert fitted.feature_names_in_.tolist() == fitted.get_feature_names_out().tolist() == NAMES
    codes = fitted.transform(frame)
    assert type(codes) is type(frame)
    assert list(codes.columns) == NAMES
    assert np.array_equal(codes.to_numpy(), DISCRETIZERS[name]().fit_transform(X, Y))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[NAMES[::-1]])


@every
def test_a_clone_is_unfitted_and_a_pickle_is_fitted(name):
    fitted = DISCRETIZERS[name]().fit(X, Y)
    assert not hasattr(clone(fitted), "cut_points_")
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), fitted.transform(X))


def test_a_pipeline_learns_from_codes():
    model = make_pipeline(MDL(), LogisticRegression()).fit(X, Y[:, 0])
    assert model.score(X, Y[:, 0]) > 0.9


@pytest.mark.parametrize("rule", [EqualWidth(3), EqualWidth(3, closed="right"), EqualFrequency(3), KMeansBins(3)])
def test_a_new_value_among_kept_ones_goes_to_the_nearest(rule):
    fitted = rule.fit([[0.0], [1.0], [10.0], [1.0]])
    assert fitted.categories_[0].tolist() == [0, 1, 10]
    assert len(fitted.cut_points_[0]) == 0
    assert fitted.transform([[-5.0], [0.4], [0.6], [5.4], [5.6], [99.0]]).ravel().tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("closed", ["left", "right"])
def test_kept_values_that_are_neighbors_stay_distinct(closed):
    values = np.array([[1.0], [np.nextafter(1.0, 2)], [1e308], [1.7e308]])
    assert EqualWidth(5, closed=closed).fit_transform(values).ravel().tolist() == [0, 1, 2, 3]


def test_binary_columns_keep_their_values_on_request():
    column = np.array([[0.0]] * 9 + [[1.0]])
    assert MeanStd(keep_binary=True).fit(column).categories_[0].tolist() == [0, 1]
    assert MeanStd().fit(column).categories_ == [None]
    assert np.array_equal(MeanStd(keep_binary=True).fit_transform(column), MeanStd().fit_transform(column))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_words_have_the_codes_that_they_were_fitted_with(library):
    fitted = EqualWidth(5).fit(library({"color": ["red", "blue", "green", "red"], "size": [1, 2, 3, 4]}))
    codes = fitted.transform(library({"color": ["red", "red", "aqua", "white"], "size": [1, 4, 4, 4]}))
    assert fitted.categories_[0].tolist() == ["blue", "green", "red"]
    assert np.asarray(codes).tolist() == [[2, 0], [2, 3], [3, 3], [3, 3]], "an unseen word is not a neighbor in the alphabet"
    with pytest.raises(InputError, match=r"column 0 \('color'\): it was text when fitted and is numbers now"):
        fitted.transform(library({"color": [1, 2], "size": [1, 2]}))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_missing_words_are_a_separate_level(library):
    frame = library({"color": ["red", None, "blue", "red"], "size": [1.5, 2.5, None, 4.5]})
    assert EqualWidth(5, missing="level").encode(frame).to_dense().tolist() == [[1, 0], [2, 1], [0, 3], [1, 2]]
    with pytest.raises(InputError, match=r"column 'color' has 1 missing values, the first in row 1"):
        EqualWidth(5, missing="error").encode(frame)


def test_codes_of_a_sparse_matrix_store_no_more_than_it_does():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(5, size=(1000, 50)) * (rng.random((1000, 50)) < 0.01))
    labels = (counts @ np.ones(50) > 0).astype(int)
    for discretizer in DISCRETIZERS.values():
        codes = discretizer().fit_transform(counts, labels)
        assert sp.issparse(codes)
        assert codes.nnz <= counts.nnz
        assert codes.dtype == np.uint8


REFUSED = [
    (EqualWidth(0), "n_bins"),
    (EqualWidth(2.5), "n_bins"),
    (EqualWidth(3, closed="both"), "closed"),
    (EqualFrequency(70_000), "n_bins"),
    (KMeansBins("many"), "n_bins"),
    (MeanStd(4), "n_levels"),
    (MeanStd(factor=0), "factor"),
    (MeanStd(decimals=-1), "decimals"),
    (MDL("pairs"), "targets"),
    (MDL(boundaries="all"), "boundaries"),
    (MDL(missing="drop"), "missing"),
]


@pytest.mark.parametrize(("rule", "parameter"), REFUSED)
def test_parameters_of_the_wrong_kind_are_refused_by_name(rule, parameter):
    name = type(rule).__name__
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of {name} must be|{name}: {parameter}='.*' is unknown"):
        rule.fit(X, Y)
    with pytest.raises(ValueError, match=parameter):
        rule.encode(X, Y)


def test_unusable_data_are_refused_with_a_remedy():
    with pytest.raises(InputError, match="is supervised: pass the targets as y"):
        MDL().encode(X)
    with pytest.raises(InputError, match=r"classes are needed; bin it first"):
        MDL().encode(X, X[:, 0])
    with pytest.raises(InputError, match=r'target 1 has 3 classes: use targets="joint"'):
        MDL("copy").encode(X, np.column_stack([Y[:, 0], Y[:, 0] + Y[:, 1]]))
    with pytest.raises(InputError, match="no row has a label"):
        MDL("copy").encode(X, np.zeros_like(Y))
    with pytest.raises(InputError, match="X has 120 rows and y has 5"):
        MDL().encode(X, Y[:5])
    with pytest.raises(InputError, match="no standard deviation; weights are frequencies"):
        MeanStd().encode(X, sample_weight=np.full(len(X), 1e-3))


@pytest.mark.parametrize("targets", ["joint", "single", "copy"])
def test_targets_are_taken_in_any_container(targets):
    expected = MDL(targets).encode(X, Y)
    expected = [codes.to_dense() for codes in expected] if targets == "single" else expected.to_dense()
    same = [Y.astype(bool), Y.tolist(), sp.csr_array(Y), pd.DataFrame(Y), pl.DataFrame(Y), Y.astype(float)]
    if targets != "copy":
        same += [2 * Y - 1, np.where(Y, "yes", "no")]
    for labels in same:
        codes = MDL(targets).encode(X, labels)
        found = [of_target.to_dense() for of_target in codes] if targets == "single" else codes.to_dense()
        assert np.array_equal(found, expected)
        fitted = MDL(targets).fit(X, labels)
        assert len(fitted.cut_points_) == (3 if targets == "single" else X.shape[1])
