"""Principal components, and their codes in three levels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from labelsieve import InputError
from labelsieve.labelspace.network_rule import principal_components, three_levels


def make_numbers(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n_rows, n_columns)) * np.geomspace(9.0, 0.1, n_columns) * (rng.random((n_rows, n_columns)) < 0.5) + 3.0
    )


@pytest.mark.parametrize("shape", [(50, 7), (7, 50), (400, 300), (300, 400), (2, 3)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_components_are_those_of_scikit_learn_up_to_sign(shape, form):
    X = make_numbers(*shape)
    n = min(3, *shape)
    expected = PCA(n, svd_solver="full").fit_transform(X)
    ours = principal_components(form(X), n)
    signs = np.sign((ours * expected).sum(axis=0))
    np.testing.assert_allclose(ours, expected * np.where(signs == 0, 1, signs), atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [(60, 5), (400, 300)])
def test_weights_repeat_rows(shape):
    X = make_numbers(*shape)
    weights = np.random.default_rng(1).integers(1, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    weighted, repeated = principal_components(X, 2, weights=weights), principal_components(X[rows], 2)
    np.testing.assert_allclose(weighted[rows], repeated, atol=1e-8)
    codes = three_levels(weighted, weights=weights).to_dense()
    assert np.array_equal(codes[rows], three_levels(weighted[rows]).to_dense())


def test_components_are_reproducible():
    X = make_numbers(400, 300)
    assert np.array_equal(principal_components(X, 2), principal_components(X, 2))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", [(5, 3), (300, 400)])
def test_constant_columns_have_no_components(form, shape):
    assert np.array_equal(principal_components(form(np.full(shape, 1.5)), 2), np.zeros((shape[0], 2)))


def test_one_direction_is_found_among_many_columns():
    rng = np.random.default_rng(0)
    along = rng.normal(size=400)
    ours = principal_components(np.outer(along, rng.normal(size=300)), 2)
    assert abs(np.corrcoef(ours[:, 0], along)[0, 1]) == pytest.approx(1)
    np.testing.assert_allclose(ours[:, 1], 0, atol=1e-8)


def test_values_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="not finite; fill them"):
        principal_components([[1.0, np.nan], [2.0, 3.0]])


def test_three_levels_are_cut_at_mean_and_deviation():
    values = np.random.default_rng(0).normal(size=(200, 3))
    for factor in (0.5, 1.0):
        low, high = (values.mean(axis=0) + sign * factor * values.std(axis=0, ddof=1) for sign in (-1, 1))
        expected = np.where(values < low, 0, np.where(values < high, 1, 2))
        assert np.array_equal(three_levels(values, factor=factor).to_dense(), expected)


def test_a_constant_column_has_one_level():
    assert len(set(three_levels(np.full((5, 1), 0.1)).column(0))) == 1
