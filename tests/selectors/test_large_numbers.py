"""Selectors with numbers and weights whose powers overflow: the same selection, or an error that names the column."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from labelsieve import PPTMI, InputError, Sieve
from labelsieve.information import kernel_mutual_information, mutual_information, neighbor_mutual_information
from labelsieve.registry import make_selector
from labelsieve.selectors import LLSF, MDDM, ChiSquare, ReliefF, ReliefFML, RReliefF

EXPONENTS = [-700, 500, 1000]


def make_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    return X, (X[:, :2] + 0.3 * rng.normal(size=(80, 2)) > 0).astype(int)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("selector", [PPTMI(), ReliefF(), ReliefFML(), ChiSquare(), Sieve()], ids=lambda s: type(s).__name__)
def test_scores_do_not_depend_on_the_unit_of_the_features(selector, exponent):
    X, Y = make_data()
    expected = selector.fit(X, Y).scores_
    np.testing.assert_allclose(selector.fit(np.ldexp(X, exponent), Y).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("selector", ["mean-f", "l1", "extra-trees", "mfs-mcdm", "bmfs", "pca"])
def test_models_get_columns_in_moderate_units(selector):
    X = make_data()[0]
    expected = make_selector(selector).fit(X, X[:, :2]).scores_
    huge = np.ldexp(X, [1000, -700, 0, 500, 1000])
    for table in (huge, sp.csr_matrix(huge)):
        np.testing.assert_allclose(make_selector(selector).fit(table, huge[:, :2]).scores_, expected, rtol=1e-9)


def test_variances_that_overflow_are_refused():
    X, Y = make_data()
    X[3, 1] = 1e200
    with pytest.raises(InputError, match=r"X, column 1 has values up to 1e\+200"):
        make_selector("variance").fit(X, Y)


def test_too_few_rows_for_a_model_are_an_input_error():
    X = make_data()[0]
    with pytest.raises(InputError, match=r"cannot rank the features by these rows, n_samples = 3"):
        make_selector("ksg").fit(X[:3], X[:3, :2])


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_estimates_for_numbers_do_not_depend_on_their_unit(exponent):
    X, Y = make_data()
    large = np.ldexp(X, exponent)
    numbers = X[:, :2], large[:, :2]
    for estimate in (neighbor_mutual_information, kernel_mutual_information):
        np.testing.assert_allclose(estimate(large, Y), estimate(X, Y), rtol=1e-9)
        expected = estimate(X, numbers[0], target_type="numeric")
        np.testing.assert_allclose(estimate(large, numbers[1], target_type="numeric"), expected, rtol=1e-9)
    np.testing.assert_allclose(
        RReliefF().fit(large, numbers[1]).scores_, RReliefF().fit(X, numbers[0]).scores_, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("selector", [MDDM(), LLSF()], ids=lambda s: type(s).__name__)
def test_a_column_whose_powers_overflow_is_named(selector, make):
    X, Y = make_data()
    X[7, 3] = -1e200
    with pytest.raises(InputError, match=r"X, column 3 has values up to 1e\+200, .* scale the column"):
        selector.fit(make(X), Y)
    X, targets = make_data()[0], make_data()[0][:, :2]
    targets[3, 1] = 1e160
    with pytest.raises(InputError, match=r"Y, column 1 has values up to 1e\+160"):
        selector.fit(make(X), targets)


@pytest.mark.parametrize("selector", [MDDM(), LLSF(), ChiSquare()], ids=lambda s: type(s).__name__)
def test_weights_that_overflow_are_refused(selector):
    X, Y = make_data()
    with pytest.raises(InputError, match=r"sample_weight .* overflow; divide (it|them) by (its|their) mean"):
        selector.fit(X, Y, sample_weight=np.full(len(X), 1e308))


def test_chi_square_grows_with_the_weights():
    X, Y = make_data()
    weights = np.linspace(1, 2, len(X))
    expected = ChiSquare().fit(X, Y, sample_weight=weights).scores_
    found = ChiSquare().fit(X, Y, sample_weight=np.ldexp(weights, 900)).scores_
    np.testing.assert_allclose(found, np.ldexp(expected, 900), rtol=1e-9)


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
def test_penalties_of_llsf_whose_squares_overflow_are_refused(name):
    X, Y = make_data()
    with pytest.raises(ValueError, match=rf"The '{name}' parameter of LLSF must be a float in the range .*1e\+100"):
        LLSF(**{name: 1e308}).fit(X, Y)


def test_integers_of_128_bits_are_read():
    X, Y = make_data()
    codes = (X > 0).astype(int)
    wide, labels = (pl.DataFrame(table).cast(pl.Int128) for table in (codes, Y))
    np.testing.assert_array_equal(mutual_information(wide, labels), mutual_information(codes, Y))
    huge = wide.with_columns(pl.col("column_0") * 2**100)  # beyond 64 bits
    sieve = Sieve("mim").fit(huge, labels)
    np.testing.assert_array_equal(sieve.scores_, Sieve("mim").fit(codes, Y).scores_)
    assert len(sieve.to_frame(huge, labels)) == len(sieve.selected_)
