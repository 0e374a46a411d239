"""Targets are classes or numeric by a documented rule, which can be overridden."""

import json
import warnings
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from labelsieve import PPTMI, InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.datasets import load
from labelsieve.discretize import EqualFrequency, EqualWidth, equal_width
from labelsieve.errors import TargetTypeWarning
from labelsieve.selectors import ChiSquare, ReliefF, selection_stability
from labelsieve.stopping import CrossValidated
from tests.support.command_line import run
from tests.support.selection_data import assert_same_selection, make_data

COUNTING = [partial(Sieve, "cmim"), LabelwiseSieve, QuadraticSieve, ChiSquare]


def type_by_the_rule(values):
    """The documented rule, value by value."""
    if any(value != int(value) for value in values):
        return "numeric"
    counts = Counter(map(int, values))
    few = len(counts) <= 20 and len(values) >= 2 * len(counts)
    return "class" if len(counts) <= 2 or few else "numeric"


def types_of(y):
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetTypeWarning)
        return Sieve("mim", n_features_to_select=1).fit(X, y).target_types_.tolist()


@given(st.lists(st.integers(-3, 40) | st.sampled_from([70_000, 2**40]), min_size=2, max_size=80))
def test_whole_numbers_follow_the_rule_whatever_their_type(values):
    expected = [type_by_the_rule(values)]
    y = np.array(values)
    assert types_of(y) == types_of(y.astype(float)) == types_of(y.astype(object)) == types_of(pd.Series(y)) == expected


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.int64, np.float32])
@pytest.mark.parametrize(("n_values", "n_rows"), [(2, 3), (3, 5), (3, 6), (20, 39), (20, 40), (21, 42), (21, 400), (90, 200)])
def test_the_limits_of_the_rule(dtype, n_values, n_rows):
    y = (np.arange(n_rows) % n_values).astype(dtype)
    assert types_of(y) == [type_by_the_rule(y)]


@pytest.mark.parametrize(
    "y",
    [
        np.arange(60).astype(str),
        pd.Series(np.arange(60) % 30).astype("category"),
        pl.Series("y", [str(k) for k in range(60)], dtype=pl.Categorical),
        np.arange(60) % 2 == 0,
        pd.Series(np.arange(60) % 2 == 0).astype(object),
        equal_width(np.arange(60.0), 30),
    ],
    ids=["text", "pandas category", "polars category", "bool", "bool objects", "codes"],
)
def test_what_is_not_a_number_is_a_class(y):
    assert types_of(y.to_dense()[:, 0].astype(str) if hasattr(y, "levels") else y) == ["class"]


def test_whole_number_regression_targets_are_numeric():
    X, y = load_diabetes(return_X_y=True)
    sieve = Sieve("mim", n_features_to_select=1).fit(X, y)
    assert sieve.target_types_.tolist() == ["numeric"]
    best = X[:, sieve.selected_]
    assert LinearRegression().fit(best, y).score(best, y) > 0.3
    as_classes = Sieve("mim", discretizer="equal-width", target_type="class", n_features_to_select=1).fit(X, y)
    assert as_classes.target_types_.tolist() == ["class"]
    worse = X[:, as_classes.selected_]
    assert LinearRegression().fit(worse, y).score(worse, y) < 0.1


@pytest.mark.parametrize("selector", [*COUNTING, PPTMI])
def test_every_counting_selector_takes_the_types_and_the_bins(selector):
    X, _ = make_data()
    dollars = np.round(1000 + 300 * X[:, :2])
    settings = {"n_features_to_select": 3}
    numeric = selector(target_discretizer=EqualFrequency(3), **settings).fit(X, dollars)
    codes = EqualFrequency(3).fit_transform(dollars)
    assert_same_selection(numeric, selector(target_type="class", **settings).fit(X, codes))
    assert numeric.target_types_.tolist() == ["numeric", "numeric"]
    assert numeric.target_discretizer_.n_bins == 3


def test_relieff_refuses_numeric_targets_with_the_remedy():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InputError, match=r"Y, column 0 is numeric; use RReliefF, or target_type='class'"):
        ReliefF().fit(X, y)
    assert ReliefF(target_type="class", n_samples=20, random_state=0).fit(X, y).target_types_.tolist() == ["class"]


def test_types_by_name_by_column_and_in_a_list_are_the_same():
    X, Y = make_data()
    frame = pd.DataFrame({"price": np.round(1000 + 300 * X[:, 0]), "rooms": Y[:, 0] + Y[:, 1], "sold": Y[:, 2]})
    assert Sieve().fit(X, frame).target_types_.tolist() == ["numeric", "class", "class"]
    expected = ["numeric", "numeric", "class"]
    for wanted in ({"rooms": "numeric"}, {1: "numeric"}, ["auto", "numeric", "class"], np.array(expected)):
        assert Sieve(target_type=wanted).fit(X, frame).target_types_.tolist() == expected
        assert LabelwiseSieve(target_type=wanted).fit(X, frame).label_names_.tolist() == ["price", "rooms", "sold"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"rooom": "numeric"}, r"'rooom' is not a target. Did you mean 'room'\?"),
        ({2: "numeric"}, "target_type: 2 is not a target from 0 to 1"),
        ({"room": "number"}, "target_type of 'room' must be 'auto' or 'class' or 'numeric'"),
        (["numeric"], "target_type has 1 entries and Y has 2 targets"),
        (["numeric", "real"], "target_type of target 1 must be"),
    ],
)
def test_types_that_cannot_be_meant_are_refused(wanted, message):
    X, Y = make_data()
    with pytest.raises(InputError, match=message):
        Sieve(target_type=wanted).fit(X, pd.DataFrame(Y[:, :2], columns=["room", "sold"]))


def test_names_need_a_frame_and_numbers_need_numbers():
    X, Y = make_data()
    with pytest.raises(InputError, match="Y has no names: give column numbers, or Y as a frame"):
        Sieve(target_type={"room": "numeric"}).fit(X, Y)
    with pytest.raises(InputError, match=r"Y, column 0: text or categories cannot be taken as numbers"):
        Sieve(target_type="numeric").fit(X, np.array(["a", "b"])[Y[:, 0]])
    with pytest.raises(InputError, match=r"MDL.* cuts features by the targets"):
        Sieve(target_discretizer="mdl").fit(X, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            np.arange(300) % 25,
            r"Y, column 0: whole numbers from 0 to 24 without a gap, 12 rows each on average: taken as numeric",
        ),
        (np.arange(20) + 5, "Y, column 0: only 20 whole numbers, but 20 rows: taken as numeric"),
    ],
)
def test_ambiguous_targets_are_named_with_what_was_taken_and_the_override(y, message):
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    with pytest.warns(TargetTypeWarning, match=message + r'. If these are classes, pass target_type="class"'):
        Sieve("mim").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sieve("mim", target_type="class").fit(X, y)
        Sieve("mim", target_type="numeric").fit(X, y)


@pytest.mark.parametrize("y", [np.arange(300) * 3 % 101, np.arange(400) % 4, np.random.default_rng(0).normal(size=300)])
def test_clear_targets_give_no_warning(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sieve("mim").fit(np.random.default_rng(0).normal(size=(len(y), 3)), y)


@pytest.mark.parametrize("form", [pd.Series, list, pl.Series, lambda texts: pd.DataFrame({"y": texts})])
def test_text_of_which_hardly_any_class_occurs_twice_is_noted(form):
    X = np.arange(60.0)[:, np.newaxis]
    with pytest.warns(TargetTypeWarning, match=r"text with 60 classes in 60 rows.*Convert numbers .*to_numbers"):
        Sieve("mim").fit(X, form([f"{row}%" for row in range(60)]))
    Sieve("mim").fit(X, form([f"{row % 25}%" for row in range(60)]))


def test_an_outlier_in_a_target_is_one_of_its_bins():
    X, _ = make_data()
    y = X[:, 2].copy()
    y[0] = 1e6
    sieve = Sieve("mim", target_discretizer="equal-frequency", n_features_to_select=1).fit(X, y)
    assert sieve.selected_.tolist() == [2]
    assert sieve.scores_[0] > 0.5


def test_bins_of_targets_follow_the_weights():
    X, _ = make_data()
    y, times = X[:, 1] + 0.5 * X[:, 3], np.random.default_rng(2).integers(0, 4, size=len(X))
    settings = {"discretizer": "equal-frequency", "target_discretizer": "equal-frequency", "n_features_to_select": 3}
    weighted = Sieve("mim", **settings).fit(X, y, sample_weight=times)
    repeated = Sieve("mim", **settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_selection(weighted, repeated)


def test_published_methods_keep_their_bins_of_targets():
    X, _ = make_data()
    sieve = Sieve("single-jmi").fit(X, X[:, :2])
    assert repr(sieve.target_discretizer_) == repr(EqualWidth())


def test_samples_of_the_rows_keep_the_types_of_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.clip(np.round(3 * X[:, 0]) + 6, 0, 14).astype(int)  # classes in 60 rows; by the rule numeric in half of them
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Sieve("mim").fit(X, y).target_types_.tolist() == ["class"]
        selection_stability(Sieve("mim", n_features_to_select=1), X, y, n_repeats=5, kind="subsample", random_state=0)
        rule = CrossValidated(estimator=LinearRegression(), measure="rrmse", cv=3, max_features=2)
        Sieve("mim", n_features_to_select=rule).fit(X, y)


def test_the_fitted_selector_answers_with_the_types_of_its_fit(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    for wanted in ("class", "numeric"):
        sieve = Sieve("mim", target_type=wanted, n_features_to_select=2).fit(X, y)
        np.testing.assert_allclose(sieve.label_information(X, y).max(), sieve.scores_.max())
        sieve.to_json(tmp_path / "sieve.json", sieve.selection(X, y))
        again = Sieve.from_json(tmp_path / "sieve.json")
        assert again.selection(X, y).target_types == sieve.selection(X, y).target_types == (wanted,)


@pytest.fixture
def houses(tmp_path):
    rng = np.random.default_rng(0)
    size, age = rng.normal(size=(2, 120))
    table = {"size": size, "age": age, "price": np.round(500 + 90 * size).astype(int), "floors": rng.integers(1, 4, size=120)}
    pd.DataFrame({**table, "city": [f"city {k}" for k in rng.integers(30, size=120)]}).to_csv(
        tmp_path / "houses.csv", index=False
    )
    return tmp_path / "houses.csv"


@pytest.mark.filterwarnings("ignore:X. 'city' .* has many levels")
def test_the_command_line_prints_and_overrides_the_types(houses):
    select = ["select", houses, "--labels", "price,floors,city", "-k", 1, "--details"]
    assert "3 targets (cumulative; 2 as classes; 1 as numeric: price)" in " ".join(run(*select).stdout.split())
    assert json.loads(run(*select, "--json").stdout)["target_types"] == ["numeric", "class", "class"]
    document = json.loads(run(*select, "--json", "--target-type", "floors=numeric", "--target-type", "price=class").stdout)
    assert document["target_types"] == ["class", "numeric", "class"]
    assert "for 2 labels (single)" in run("select", houses, "--labels", "floors,city", "-k", 1, "--details").stdout
    only = ["select", houses, "--labels", "price,floors", "-k", 1, "--details", "--target-type", "numeric"]
    assert "2 targets (cumulative; numeric)" in " ".join(run(*only).stdout.split())
    binned = json.loads(run(*only, "--target-discretizer", "equal-frequency", "--json").stdout)
    assert binned["settings"]["target_discretizer"] == "equal-frequency"


@pytest.mark.filterwarnings("default")
def test_the_command_line_names_ambiguous_targets(houses):
    table = pd.read_csv(houses)
    table["street"] = np.arange(len(table)) % 24
    pd.concat([table] * 3).to_csv(houses, index=False)
    select = ["select", houses, "--labels", "street,floors", "-k", 1, "--details"]
    note = " ".join(run(*select).stderr.split())
    assert "column 'street': whole numbers from 0 to 23 without a gap, 15 rows each on average: taken as numeric" in note
    assert "--target-type class" in note
    assert run(*select, "--target-type", "street=class").stderr == ""


def test_nominal_targets_of_a_file_are_classes_in_python(houses):
    data = load(houses, ["city"])
    sieve = Sieve("mim").fit(data.named_features(), data.named_labels())
    assert (sieve.target_types_.tolist(), sieve.label_names_.tolist()) == (["class"], ["city"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target-type", "pice=numeric"], "'pice' is not a target. Did you mean 'price'?"),
        (["--target-type", "numerc"], "'numerc' is not a target type. Did you mean 'numeric'?"),
        (
            ["--target-type", "class", "--target-type", "price=numeric"],
            "--target-type takes one type for all targets, or NAME=TYPE",
        ),
        (["--target-discretizer", "mdl"], "cuts features by the targets"),
        (["--method", "llsf", "--labelwise", "--target-type", "class"], "llsf takes no target_type"),
    ],
)
def test_the_command_line_refuses_types_with_the_remedy(houses, options, message):
    result = run("select", houses, "--labels", "price,floors", *options)
    assert result.exit_code == 2
    assert message in result.stderr
