"""Missing values of features: a level of their own, refused by cell, or left out; masked arrays have them, too."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.utils import get_tags

from labelsieve import PPTMI, BaselineSieve, InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.discretize import EqualFrequency, EqualWidth
from labelsieve.selectors import LLSF, MDDM, ChiSquare, ReliefF, ReliefFML, RReliefF
from tests.support.command_line import refusal, run
from tests.support.selection_data import assert_same_selection

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
GAPS = RNG.random(X.shape) < 0.15
GAPS[:, 3] = RNG.random(240) < 0.5
Y = np.column_stack([X[:, 0] > 0, GAPS[:, 3], X[:, 1] + X[:, 2] > 0]).astype(int)
HOLES = np.where(GAPS, np.nan, X)
NAMES = ["a", "b", "c", "d"]
COUNTING = [Sieve, LabelwiseSieve, QuadraticSieve]
CALCULATING = [ReliefF(), ReliefFML(), RReliefF(), LLSF(), MDDM(), PPTMI(), BaselineSieve("variance")]


def information(codes, label):
    """Plug-in mutual information in nats."""
    table = pd.crosstab(np.asarray(codes), np.asarray(label)).to_numpy() / len(label)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    return float((table[table > 0] * np.log(table[table > 0] / expected[table > 0])).sum())


def frames():
    yield pd.DataFrame(HOLES, columns=NAMES)
    yield pd.DataFrame(HOLES, columns=NAMES).convert_dtypes()
    yield pl.DataFrame({name: pl.Series(column, nan_to_null=True) for name, column in zip(NAMES, HOLES.T, strict=True)})
    yield pa.table({name: pa.array(column, from_pandas=True) for name, column in zip(NAMES, HOLES.T, strict=True)})


def test_missing_values_are_informative_by_default():
    sieve = Sieve("mim", n_features_to_select=None).fit(HOLES, Y)
    assert sieve.selected_[0] == 3
    codes = EqualFrequency().encode(HOLES)
    scores = [sum(information(codes.column(j), label) for label in Y.T) for j in sieve.selected_]
    assert sieve.scores_ == pytest.approx(scores)
    assert set(codes.column(3)[GAPS[:, 3]]) == {5}


@pytest.mark.parametrize("selector", COUNTING)
def test_all_forms_of_missing_values_are_the_same(selector):
    expected = selector(n_features_to_select=3).fit(HOLES, Y)
    masked = np.ma.array(np.where(GAPS, 1e6, X), mask=GAPS)
    objects = np.where(GAPS, None, X.astype(object))
    for same in (masked, masked.astype(np.float32).astype(float) * 0 + HOLES, objects, sp.csr_array(HOLES), *frames()):
        assert_same_selection(selector(n_features_to_select=3).fit(same, Y), expected)


def test_masked_cells_of_whole_numbers_are_missing():
    values = RNG.integers(0, 4, size=(100, 2))
    mask = RNG.random(values.shape) < 0.2
    y = (values[:, 0] > 1).astype(int)
    expected = Sieve("mim", discretizer=None, n_features_to_select=None).fit(np.where(mask, 4, values), y)
    for rule in ("equal-width", None):
        sieve = Sieve("mim", discretizer=rule, n_features_to_select=None).fit(np.ma.array(values, mask=mask), y)
        assert_same_selection(sieve, expected)
    nothing = Sieve("mim", n_features_to_select=None).fit(np.ma.array(values), y)
    assert_same_selection(nothing, Sieve("mim", n_features_to_select=None).fit(values, y))


def test_masked_targets_are_not_counted_as_what_they_hide():
    y = np.ma.array(Y[:, 0], mask=GAPS[:, 0])
    sieve = Sieve("mim", n_features_to_select=1).fit(X, y)
    known = ~GAPS[:, 0]
    assert sieve.selected_.tolist() == Sieve("mim", n_features_to_select=1).fit(X[known], Y[known, 0]).selected_.tolist()
    with pytest.raises(InputError, match=r"Y, column 0: \d+ unknown cells, which ReliefF cannot leave out"):
        ReliefF().fit(X, y)


@pytest.mark.parametrize("selector", COUNTING)
@pytest.mark.parametrize("rule", ["auto", "mdl", "equal-frequency", None, EqualWidth(3, missing="error"), {"a": "mdl"}])
def test_the_parameter_of_the_selector_overrides_that_of_the_discretizer(selector, rule):
    if selector is QuadraticSieve and rule == "auto":
        rule = "equal-width"
    values = HOLES if rule is not None else np.where(GAPS, np.nan, (X > 0).astype(float))
    table = pd.DataFrame(values, columns=NAMES)
    fitted = selector(discretizer=rule, missing="level", n_features_to_select=2).fit(table, Y)
    assert fitted.discretizer_.missing == "level"
    assert get_tags(selector(discretizer=rule, missing="level")).input_tags.allow_nan
    assert not get_tags(selector(discretizer=rule, missing="error")).input_tags.allow_nan
    with pytest.raises(InputError, match=r"column 'a' has \d+ missing values, the first in row|row \d+, column \d+ \('[ad]'\)"):
        selector(discretizer=rule, missing="error").fit(table, Y)
    with pytest.raises(ValueError, match="Did you mean 'drop-pairwise'"):
        selector(missing="drop").fit(table, Y)


def test_left_out_values_are_not_counted():
    sieve = Sieve("mim", missing="drop-pairwise", n_features_to_select=None).fit(HOLES, Y)
    for column, score in zip(sieve.selected_, sieve.scores_, strict=True):
        known = ~GAPS[:, column]
        codes = EqualFrequency().encode(HOLES[known][:, [column]]).column(0)
        assert score == pytest.approx(sum(information(codes, label[known]) for label in Y.T))
    with pytest.raises(InputError, match="ChiSquare counts all rows"):
        ChiSquare(discretizer=EqualWidth(missing="drop-pairwise")).fit(HOLES, Y)


@pytest.mark.parametrize("estimator", ["plugin", "miller-madow", "shrinkage"])
def test_a_column_without_values_has_no_information_when_they_are_left_out(estimator):
    empty = np.column_stack([X, np.full(len(X), np.nan)])
    options = {"missing": "drop-pairwise", "estimator": estimator, "n_features_to_select": "all"}
    found, expected = Sieve("jmi", **options).fit(empty, Y), Sieve("jmi", **options).fit(X, Y)
    assert found.selected_.tolist() == [*expected.selected_, 4]
    assert found.scores_.tolist() == pytest.approx([*expected.scores_, 0.0])


@pytest.mark.parametrize("selector", CALCULATING, ids=lambda selector: type(selector).__name__)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, lambda X: pd.DataFrame(X, columns=NAMES)])
def test_methods_that_calculate_refuse_missing_values_by_cell(selector, container):
    values = X.copy()
    values[7, 2] = np.nan
    with pytest.raises(InputError, match=r"X, row 7, column 2( \('c'\))?: the value is missing \(NaN\); fill .*drop"):
        selector.fit(container(values), Y)


@pytest.mark.parametrize("selector", [Sieve(), ReliefF(), LLSF()], ids=lambda selector: type(selector).__name__)
@pytest.mark.parametrize("array", [np.array([["a", 1]] * 20, dtype=object), np.array([["a", "b"]] * 20)])
def test_arrays_of_text_get_the_advice_to_use_a_frame(selector, array):
    with pytest.raises(
        InputError, match=r"X is an array that holds text instead of numbers; pass a pandas or polars DataFrame"
    ):
        selector.fit(array, [0, 1] * 10)


def test_the_command_line_has_the_treatment_of_missing_values(tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame(HOLES, columns=NAMES).assign(y=Y[:, 1]).to_csv(path, index=False)
    command = ("select", path, "--labels", "y", "-k", 2, "--criterion", "mim", "--json")
    for options, missing in (((), "level"), (("--missing", "drop-pairwise"), "drop-pairwise")):
        found = json.loads(run(*command, *options).stdout)["selected"]
        expected = Sieve("mim", missing=missing, n_features_to_select=2).fit(HOLES, Y[:, 1])
        assert [feature["score"] for feature in found] == pytest.approx(expected.scores_)
        assert run(*command, *options, "--redundant", 0.5, "--criterion", "jmi").exit_code == 0
    assert "column 'a' has" in refusal(*command, "--missing", "error")
    assert "row 2" not in refusal("select", path, "--labels", "y", "--criterion", "relieff", "--missing", "level")
