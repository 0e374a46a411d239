"""Targets are classes, whatever they are called: what is taken, and what is refused with a remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.discretize import equal_width
from labelsieve.labelspace import Single
from tests.support.selection_data import LABELS, NAMES, assert_same_selection, make_data

selectors = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])
as_frame = pytest.mark.parametrize("as_frame", [False, True], ids=["array", "frame"])


def features(X, as_frame):
    return pd.DataFrame(X, columns=NAMES) if as_frame else X


def make_classes():
    """Targets of two to four classes, as codes."""
    X, Y = make_data()
    Y[:, 1] += Y[:, 2]
    Y[:, 3] += 2 * (X[:, 0] > 0.4)
    return X, Y


SAME_CLASSES = {
    "negative": lambda Y: Y - 2,
    "minus one and one": lambda Y: 2 * Y - 3,
    "negative floats": lambda Y: (Y - 2).astype(float),
    "text": lambda Y: np.array(["a", "b", "c", "d"])[Y],
    "bytes": lambda Y: np.array([b"a", b"b", b"c", b"d"])[Y],
    "objects": lambda Y: np.array(["no", "perhaps", "sure", "yes"], dtype=object)[Y],
    "codes with gaps": lambda Y: 7 * Y + 2,
    "text in pandas": lambda Y: pd.DataFrame(np.array(["a", "b", "c", "d"])[Y], columns=LABELS),
    "text in polars": lambda Y: pl.DataFrame(np.array(["a", "b", "c", "d"])[Y], schema=LABELS),
    "categories": lambda Y: pd.DataFrame(np.array(["a", "b", "c", "d"])[Y], columns=LABELS).astype("category"),
    "text and numbers": lambda Y: pd.DataFrame(Y, columns=LABELS).assign(calm=np.array(["x", "y"])[Y[:, 0]]),
}


@selectors
@as_frame
@pytest.mark.parametrize("kind", SAME_CLASSES)
def test_classes_may_be_called_anything(selector, as_frame, kind):
    X, Y = make_classes()
    expected = selector(n_features_to_select=4).fit(X, Y)
    assert_same_selection(selector(n_features_to_select=4).fit(features(X, as_frame), SAME_CLASSES[kind](Y)), expected)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@as_frame
def test_negative_classes_may_come_in_a_frame(library, as_frame):
    X, Y = make_classes()
    frame = library({name: Y[:, k] - 2 for k, name in enumerate(LABELS)})
    sieve = Sieve(n_features_to_select=4).fit(features(X, as_frame), frame)
    assert_same_selection(sieve, Sieve(n_features_to_select=4).fit(X, Y))


@as_frame
def test_a_pandas_series_is_a_target(as_frame):
    X, Y = make_classes()
    sieve = Sieve(n_features_to_select=4).fit(features(X, as_frame), pd.Series(Y[:, 1]))
    assert_same_selection(sieve, Sieve(n_features_to_select=4).fit(X, Y[:, 1]))


def test_named_series_are_targets():
    X, Y = make_classes()
    expected = Sieve(n_features_to_select=4).fit(X, Y[:, 1])
    for series in (pd.Series(Y[:, 1], name="sad"), pl.Series("sad", Y[:, 1]), pd.Series(Y[:, 1].astype(str), name="sad")):
        assert_same_selection(Sieve(n_features_to_select=4).fit(features(X, True), series), expected)


@selectors
@as_frame
@pytest.mark.parametrize(
    "make",
    [np.asarray, sp.csr_array, lambda Y: pd.DataFrame(Y, columns=["x", "y"]), lambda Y: Y.astype(object)],
    ids=["array", "sparse", "frame", "objects"],
)
@pytest.mark.parametrize("shift", [0.0, -0.75], ids=["positive", "some negative"])
def test_real_targets_are_binned_like_features(selector, as_frame, make, shift):
    X, _ = make_data()
    real = np.abs(X[:, :2]) + 0.25 + shift
    sieve = selector(n_features_to_select=3).fit(features(X, as_frame), make(real))
    assert_same_selection(sieve, selector(n_features_to_select=3).fit(X, equal_width(real).to_dense()))


def test_real_targets_are_refused_with_a_remedy_where_classes_were_promised():
    X, _ = make_data()
    with pytest.raises(InputError, match=r"Y, row 0, column 0: .*classes are needed; bin it first, .*equal_width\(Y\)"):
        Sieve(targets=Single(kind="classes")).fit(X, np.abs(X[:, :2]) + 0.25)


def test_whole_numbers_are_real_when_that_is_said():
    X, _ = make_data()
    dollars = np.round(1000 + 300 * X[:, :2])
    said = Sieve(targets=Single(kind="numbers", n_bins=3), n_features_to_select=3).fit(X, dollars)
    assert_same_selection(said, Sieve(n_features_to_select=3).fit(X, equal_width(dollars, 3).to_dense()))


def test_mixed_targets_are_each_taken_for_what_they_are():
    X, Y = make_classes()
    mixed = pd.DataFrame({"real": X[:, 1], "text": np.array(["a", "b", "c", "d"])[Y[:, 3]], "label": Y[:, 2]})
    expected = np.column_stack([equal_width(X[:, [1]]).column(0), Y[:, 3], Y[:, 2]])
    for space in ("single", "joint"):
        sieve = Sieve(targets=space, n_features_to_select=4).fit(X, mixed)
        assert_same_selection(sieve, Sieve(targets=space, n_features_to_select=4).fit(X, expected))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_real_targets_that_are_not_finite_are_refused_by_place(bad):
    X, _ = make_data()
    frame = pd.DataFrame({"x": X[:, 0], "y": np.where(np.arange(len(X)) == 7, bad, X[:, 1])})
    with pytest.raises(InputError, match=r"Y, row 7, column 1 \('y'\): (nan|inf) is missing or not finite"):
        Sieve().fit(features(X, True), frame)


MISSING = {
    "not a number": lambda Y: np.where(Y == 1, np.nan, Y),
    "one row": lambda Y: np.where(np.arange(len(Y))[:, np.newaxis] == 7, np.nan, Y),
    "pandas": lambda Y: pd.DataFrame(np.where(Y == 1, np.nan, Y), columns=LABELS),
    "polars": lambda Y: pl.DataFrame({"x": [None, *Y[1:, 0].tolist()]}),
    "None among text": lambda Y: np.array([["a", None, "c", "d"][k] for k in Y[:, 0]], dtype=object),
}


@as_frame
@pytest.mark.parametrize("kind", MISSING)
def test_missing_targets_are_refused(as_frame, kind):
    X, Y = make_classes()
    with pytest.raises(ValueError, match=r"NaN|missing|compared"):
        Sieve().fit(features(X, as_frame), MISSING[kind](Y))


@as_frame
def test_missing_targets_among_objects_are_refused(as_frame):
    X, Y = make_classes()
    with pytest.raises(ValueError, match=r"NaN|missing"):
        Sieve().fit(features(X, as_frame), np.where(Y == 1, np.nan, Y).astype(object))


@selectors
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda X: pd.DataFrame(X, columns=NAMES)])
def test_features_that_are_not_finite_are_refused(selector, bad, make):
    X, Y = make_data()
    X[5, 3] = bad
    with pytest.raises(InputError, match=r"X, row 5, column 3( \('tone 3'\))?: -?inf is not a finite number"):
        selector().fit(make(X), Y)


@selectors
@as_frame
def test_targets_of_other_rows_are_refused(selector, as_frame):
    X, Y = make_data()
    with pytest.raises(ValueError, match=r"150.* 149"):
        selector().fit(features(X, as_frame), Y[:-1])


@selectors
@as_frame
def test_no_targets_are_refused(selector, as_frame):
    X, _ = make_data()
    with pytest.raises(ValueError, match="requires y to be passed"):
        selector().fit(features(X, as_frame), None)
