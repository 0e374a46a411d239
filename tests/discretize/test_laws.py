"""Properties of every discretizer."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from labelsieve import InputError
from labelsieve.discretize import MDL, EqualFrequency, KMeansBins
from tests.support.discretizer_cases import CASES, MOST_LEVELS, columns, labels_for, table

every = pytest.mark.parametrize("name", CASES)
tens = settings(max_examples=60, deadline=None)
X = table()
Y = labels_for(X[:, 0])


def fit(name, X, y, weights=None):
    return clone(CASES[name]).fit(X, y, weights)


def cuts_of(fitted):
    return [
        (cuts.tolist(), None if kept is None else kept.tolist())
        for cuts, kept in zip(fitted.cut_points_, fitted.categories_, strict=True)
    ]


@every
@tens
@given(columns)
def test_a_larger_value_never_has_a_smaller_code(name, values):
    column = np.asarray(values)[:, None]
    codes = fit(name, column, labels_for(values)).transform(column).ravel().astype(int)
    assert np.all(np.diff(codes[np.argsort(values, kind="stable")]) >= 0)
    assert codes[np.argmin(values)] == 0, "the lowest bin is empty"
    if MOST_LEVELS[name] is not None:
        assert codes.max() < MOST_LEVELS[name]


@every
@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -3.5, 1e308, 5e-324])
def test_a_constant_column_has_one_level(name, value):
    column = np.full((10, 1), value)
    codes = CASES[name].encode(column, labels_for(np.arange(10)))
    assert codes.levels.tolist() == [1]
    assert not codes.to_dense().any()


@every
def test_encode_equals_fit_and_transform(name):
    fitted = fit(name, X, Y)
    codes = CASES[name].encode(X, Y)
    assert not hasattr(CASES[name], "cut_points_")
    assert np.array_equal(codes.to_dense(), fitted.transform(X))
    for j, (cuts, kept) in enumerate(cuts_of(fitted)):
        assert codes.levels[j] == (len(kept) if kept else len(cuts) + 1)
        assert codes.column(j).max() < codes.levels[j]
        assert cuts == sorted(cuts)
        if kept is not None:
            assert kept == np.unique(X[:, j]).tolist()
            assert not cuts


CONTAINERS = {
    "columns first": np.asfortranarray,
    "read only": lambda values: np.broadcast_to(values, values.shape),
    "backwards": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "every second": lambda values: np.repeat(np.repeat(values, 2, axis=0), 2, axis=1)[::2, ::2],
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "pandas": pd.DataFrame,
    "polars": lambda values: pl.DataFrame(values, schema=[str(j) for j in range(values.shape[1])]),
    "lists": np.ndarray.tolist,
}


@every
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_same_values_have_the_same_codes_in_any_container(name, container):
    expected, same = fit(name, X, Y), fit(name, CONTAINERS[container](X), Y)
    assert cuts_of(same) == cuts_of(expected)
    codes = same.transform(CONTAINERS[container](X))
    if container.startswith("cs"):
        assert codes.format == container
        assert isinstance(codes, sp.csr_array if container == "csr" else sp.csc_matrix)
        assert np.all(codes.data > 0)
        assert CASES[name].encode(CONTAINERS[container](X), Y).sparse is not None
        assert np.array_equal(CASES[name].encode(CONTAINERS[container](X), Y).to_dense(), expected.transform(X))
        codes = codes.toarray()
    assert np.array_equal(np.asarray(codes), expected.transform(X))


@every
@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int64", "uint8", "uint16", "uint64", "float16", "float32", "longdouble", ">f8", ">i2", "bool"]
)
def test_the_same_values_have_the_same_codes_in_any_number_type(name, dtype):
    values = abs(np.round(X)).clip(0, 1 if dtype == "bool" else 100)
    expected = fit(name, values, Y)
    assert cuts_of(fit(name, values.astype(dtype), Y)) == cuts_of(expected)
    assert np.array_equal(expected.transform(values.astype(dtype)), expected.transform(values))
    if dtype not in ("float16", ">f8", ">i2"):  # scipy has no such sparse matrices
        assert cuts_of(fit(name, sp.csc_array(values.astype(dtype)), Y)) == cuts_of(expected)


@every
def test_the_order_of_the_rows_does_not_matter(name):
    order = np.random.default_rng(1).permutation(len(X))
    assert cuts_of(fit(name, X[order], Y[order])) == cuts_of(fit(name, X, Y))


@every
@tens
@given(columns, st.randoms(use_true_random=False))
def test_whole_weights_are_repeated_rows(name, values, random):
    weights = np.array([random.choice([0, 0, 1, 1, 2, 5]) for _ in values])
    weights[0] = weights[-1] = 2
    column, labels = np.asarray(values)[:, None], labels_for(values)
    expected = fit(name, np.repeat(column, weights, axis=0), np.repeat(labels, weights, axis=0))
    assert cuts_of(fit(name, column, labels, weights)) == cuts_of(expected)
    assert cuts_of(fit(name, sp.csr_array(column), labels, weights.astype(float))) == cuts_of(expected)
    assert np.array_equal(CASES[name].encode(column, labels, weights).to_dense(), expected.transform(column))


@every
def test_rows_without_weight_do_not_move_cuts(name):
    far = np.vstack([X, 1e6 + X[:10]])
    labels = np.vstack([Y, 1 - Y[:10]])
    weights = np.r_[np.full(len(X), 0.5), np.zeros(10)]
    half = fit(name, X, Y, weights[: len(X)])
    assert cuts_of(fit(name, far, labels, weights)) == cuts_of(half)


@every
def test_values_beyond_the_range_go_to_the_end_bins(name):
    fitted = fit(name, X, Y)
    assert np.array_equal(fitted.transform(np.full((1, X.shape[1]), -1e300)), fitted.transform(X.min(axis=0, keepdims=True)))
    assert np.array_equal(fitted.transform(np.full((1, X.shape[1]), 1e300)), fitted.transform(X.max(axis=0, keepdims=True)))


@every
@pytest.mark.parametrize("container", ["columns first", "csr", "csc", "pandas", "polars"])
def test_missing_values_are_a_separate_level(name, container):
    gaps = np.random.default_rng(2).random(X.shape) < 0.2
    gaps[:, 3] = False
    values = np.where(gaps, np.nan, X)
    rule = clone(CASES[name]).set_params(missing="level")
    fitted = clone(rule).fit(CONTAINERS[container](values), Y)
    codes = rule.encode(CONTAINERS[container](values), Y)
    transformed = fitted.transform(CONTAINERS[container](values))
    assert np.array_equal(transformed.toarray() if sp.issparse(transformed) else np.asarray(transformed), codes.to_dense())
    for j in range(X.shape[1]):
        rows = ~gaps[:, j]
        alone = clone(rule).fit(X[rows][:, [j]], Y[rows])
        assert cuts_of(alone) == [cuts_of(fitted)[j]]
        assert np.array_equal(codes.column(j)[rows], alone.transform(X[rows][:, [j]]).ravel())
        n_levels = alone.encode(X[rows][:, [j]], Y[rows]).levels[0]
        assert set(codes.column(j)[~rows]) <= {n_levels}
        assert codes.levels[j] == n_levels + (not rows.all())


@every
def test_a_column_of_nothing_but_missing_values_is_accepted(name):
    rule = clone(CASES[name]).set_params(missing="level")
    codes = rule.encode(np.full((10, 1), np.nan), labels_for(np.arange(10)))
    assert set(codes.column(0)) == {1}


@every
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_by_row_and_column(name, value):
    values = X.copy()
    values[7, 3] = value
    rule = clone(CASES[name]).set_params(missing="error")
    message = r"the value is missing \(NaN\); .*missing=.level" if np.isnan(value) else f"{value} is not a finite number; fill"
    with pytest.raises(InputError, match=f"row 7, column 3: {message}"):
        rule.encode(values, Y)
    with pytest.raises(InputError, match=r"row 7, column 3 \('3'\)"):
        rule.fit(pd.DataFrame(values, columns=[str(j) for j in range(X.shape[1])]), Y)
    for same in (values, values.astype(np.float32), sp.csr_array(values), sp.csc_array(values)):
        with pytest.raises(InputError, match=f"row 7, column 3: {message}"):
            rule.fit(same, Y)


@pytest.mark.parametrize("rule", [EqualFrequency(5), MDL(), MDL("copy")])
def test_an_increasing_transformation_changes_no_code(rule):
    column = np.random.default_rng(3).normal(size=(300, 1))
    labels = labels_for(column[:, 0])
    expected = rule.encode(column, labels).to_dense()
    for same in (np.exp(column), column**3, 7 * column - 1e3):
        assert np.array_equal(rule.encode(same, labels).to_dense(), expected)


def test_k_means_does_not_depend_on_scale_and_direction():
    column = np.random.default_rng(4).normal(size=(300, 1))
    expected = KMeansBins(5).encode(column).column(0).astype(int)
    assert np.array_equal(KMeansBins(5).encode(column * 2.0**900).column(0), expected)
    assert np.array_equal(4 - KMeansBins(5).encode(-column).column(0).astype(int), expected)
