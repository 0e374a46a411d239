"""Numbers whose squares overflow or vanish, names that occur twice, and integers that numpy does not have."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB

from labelsieve import InputError
from labelsieve.classifiers import (
    IBLR,
    LIFT,
    BinaryRelevance,
    BRkNN,
    KNNRegressor,
    MLkNN,
    nearest_neighbors,
    nested_neighbors,
    nested_predictions,
)
from labelsieve.registry import make_classifier

EXPONENTS = [-700, -500, 500, 700, 1000]  # of two: 1e-211 to 1e301


def make_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, (X[:, :3] + rng.normal(size=(60, 3)) > 0).astype(int), rng.normal(size=(20, 4))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_neighbors_are_those_of_moderate_numbers(exponent, make):
    X, _, queries = make_data()
    large = [make(np.ldexp(table, exponent)) for table in (X, queries)]
    expected = nearest_neighbors(make(X), make(queries), k=5)
    np.testing.assert_array_equal(nearest_neighbors(*large, k=5).rows, expected.rows)
    nested = nested_neighbors(*large, features=[1, 3, 0], k=5)
    for found, moderate in zip(nested, nested_neighbors(X, queries, features=[1, 3, 0], k=5), strict=True):
        np.testing.assert_array_equal(found.rows, moderate.rows)


@pytest.mark.parametrize("exponent", [-450, 450])
def test_squared_distances_are_in_the_units_of_the_features(exponent):
    X, *_ = make_data()
    expected = np.ldexp(nearest_neighbors(X, k=3).squared_distances, 2 * exponent)
    np.testing.assert_array_equal(nearest_neighbors(np.ldexp(X, exponent), k=3).squared_distances, expected)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("classifier", [BRkNN(4), MLkNN(4), IBLR(4)], ids=repr)
def test_classifiers_predict_the_same_from_large_and_small_numbers(classifier, exponent):
    X, Y, queries = make_data()
    expected = classifier.fit(X, Y).predict_proba(queries)
    large = np.ldexp(X, exponent), Y, np.ldexp(queries, exponent)
    found = classifier.fit(*large[:2]).predict_proba(large[2])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    (*_, (_, last)) = nested_predictions(classifier, *large, features=range(4))
    np.testing.assert_allclose(last, expected, rtol=0, atol=1e-9)


def test_one_large_column_decides_alone():
    X, Y, queries = make_data()
    scale = np.ldexp(1.0, [0, 0, 800, 0])
    expected = BRkNN(3).fit(X[:, [2]], Y).predict_proba(queries[:, [2]])
    np.testing.assert_array_equal(BRkNN(3).fit(X * scale, Y).predict_proba(queries * scale), expected)


def test_lift_names_the_column_whose_powers_overflow():
    X, Y, _ = make_data()
    X[5, 2] = 1e200
    with pytest.raises(InputError, match=r"LIFT: X, column 2 has values up to 1e\+200, .*scale the column"):
        LIFT(random_state=0).fit(X, Y)


@pytest.mark.parametrize("estimator", [MLkNN(3), IBLR(3), BinaryRelevance(GaussianNB())], ids=lambda e: type(e).__name__)
def test_names_that_occur_twice_are_refused(estimator):
    X, Y, _ = make_data()
    with pytest.raises(InputError, match=r"X: columns 0 and 2 are both named 'a'; rename one of them"):
        estimator.fit(pd.DataFrame(X, columns=list("abac")), Y)
    with pytest.raises(InputError, match=r"Y: columns 1 and 2 are both named 'z'; rename one of them"):
        estimator.fit(X, pd.DataFrame(Y, columns=list("yzz")))


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128])
def test_integers_of_128_bits_are_numbers_and_labels(dtype):
    X, Y, _ = make_data()
    whole = np.abs(X * 10).astype(int)
    wide = pl.DataFrame(whole, schema=list("abcd")).cast(dtype)
    expected = MLkNN(3).fit(whole, Y).predict(whole)
    labels = pl.DataFrame(Y, schema=list("xyz"))
    np.testing.assert_array_equal(MLkNN(3).fit(wide, labels.cast(dtype)).predict(wide), expected)
    np.testing.assert_array_equal(KNNRegressor(3).fit(wide, Y).predict(wide), KNNRegressor(3).fit(whole, Y).predict(whole))


@pytest.mark.parametrize("value", [1e200, 1e-200])
@pytest.mark.parametrize("name", ["svm", "cc", "rakel", "sparse-svm", "iblr"])
def test_features_with_which_solvers_never_end_are_refused(name, value):
    X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.tile([[0, 1], [1, 0]], (10, 1))
    X[:, 1] *= value
    for table in (X, sp.csr_matrix(X)):
        with pytest.raises(InputError, match=r"X, column 1 has values up to .* scale the column"):
            make_classifier(name, **({"with_features": True} if name == "iblr" else {})).fit(table, Y)
