"""Targets are classes, whatever they are called: what is taken, and what is refused with a remedy."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.discretize import EqualWidth, equal_width
from labelsieve.information import mutual_information
from tests.support.selection_data import LABELS, NAMES, assert_same_selection, make_data

selectors = pytest.mark.parametrize("selector", [partial(Sieve, "cmim"), LabelwiseSieve], ids=["Sieve", "LabelwiseSieve"])
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
    sieve = Sieve("cmim", n_features_to_select=4).fit(features(X, as_frame), frame)
    assert_same_selection(sieve, Sieve("cmim", n_features_to_select=4).fit(X, Y))


@as_frame
def test_a_pandas_series_is_a_target(as_frame):
    X, Y = make_classes()
    sieve = Sieve("cmim", n_features_to_select=4).fit(features(X, as_frame), pd.Series(Y[:, 1]))
    assert_same_selection(sieve, Sieve("cmim", n_features_to_select=4).fit(X, Y[:, 1]))


def test_named_series_are_targets():
    X, Y = make_classes()
    expected = Sieve("cmim", n_features_to_select=4).fit(X, Y[:, 1])
    for series in (pd.Series(Y[:, 1], name="sad"), pl.Series("sad", Y[:, 1]), pd.Series(Y[:, 1].astype(str), name="sad")):
        assert_same_selection(Sieve("cmim", n_features_to_select=4).fit(features(X, True), series), expected)


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
    sieve = selector(target_discretizer="equal-width", n_features_to_select=3).fit(features(X, as_frame), make(real))
    assert_same_selection(sieve, selector(n_features_to_select=3).fit(X, equal_width(real).to_dense()))


def test_real_targets_are_refused_with_a_remedy_where_classes_were_promised():
    X, _ = make_data()
    with pytest.raises(InputError, match=r"Y, row 0, column 0: .*classes are needed; bin it first, .*equal_width\(Y\)"):
        Sieve("cmim", target_type="class").fit(X, np.abs(X[:, :2]) + 0.25)


def test_whole_numbers_are_real_when_that_is_said():
    X, _ = make_data()
    dollars = np.round(1000 + 300 * X[:, :2])
    said = Sieve("cmim", target_type="numeric", target_discretizer=EqualWidth(3), n_features_to_select=3).fit(X, dollars)
    assert_same_selection(said, Sieve("cmim", n_features_to_select=3).fit(X, equal_width(dollars, 3).to_dense()))


def test_mixed_targets_are_each_taken_for_what_they_are():
    X, Y = make_classes()
    mixed = pd.DataFrame({"real": X[:, 1], "text": np.array(["a", "b", "c", "d"])[Y[:, 3]], "label": Y[:, 2]})
    expected = np.column_stack([equal_width(X[:, [1]]).column(0), Y[:, 3], Y[:, 2]])
    for space in ("single", "joint"):
        sieve = Sieve("cmim", targets=space, target_discretizer="equal-width", n_features_to_select=4).fit(X, mixed)
        assert_same_selection(sieve, Sieve("cmim", targets=space, n_features_to_select=4).fit(X, expected))


def test_real_targets_that_are_not_finite_are_refused_by_place():
    X, _ = make_data()
    frame = pd.DataFrame({"x": X[:, 0], "y": np.where(np.arange(len(X)) == 7, np.inf, X[:, 1])})
    with pytest.raises(InputError, match=r"Y, row 7, column 1 \('y'\): inf is not finite"):
        Sieve().fit(features(X, True), frame)


MISSING = {
    "not a number": lambda Y: np.where(Y == 1, np.nan, Y),
    "one row": lambda Y: np.where(np.arange(len(Y))[:, np.newaxis] == 7, np.nan, Y),
    "pandas": lambda Y: pd.DataFrame(np.where(Y == 1, np.nan, Y), columns=LABELS),
    "polars": lambda Y: pl.DataFrame({"x": [None, *Y[1:, 0].tolist()]}),
    "objects": lambda Y: np.where(Y == 1, np.nan, Y).astype(object),
    "numeric": lambda Y: np.where(np.arange(len(Y)) % 3 == 0, np.nan, np.array([0.5, 1.5, 2.5, 3.5])[Y[:, 3]]),
    "None among text": lambda Y: np.array([["a", None, "c", "d"][k] for k in Y[:, 0]], dtype=object),
}


def known_rows_information(X, Y):
    """Sum of the mutual information of every feature with every target, each from the rows where the target is known."""
    cells = pd.DataFrame(Y)
    some_known = cells.notna().any(axis=1).to_numpy()  # the other rows do not count, not even for the bins
    X, cells = X[some_known], cells[some_known]
    codes, total = equal_width(X).to_dense(), np.zeros(X.shape[1])
    for name in cells:
        known = cells[name].notna().to_numpy()
        _, classes = np.unique(cells[name][known].astype(str), return_inverse=True)
        total += mutual_information(codes[known], classes)[:, 0]
    return total


@as_frame
@pytest.mark.parametrize("kind", MISSING)
def test_missing_targets_are_left_out(as_frame, kind):
    X, Y = make_classes()
    given = MISSING[kind](Y)
    sieve = Sieve("mim", discretizer="equal-width", n_features_to_select=None).fit(features(X, as_frame), given)
    expected = known_rows_information(X, given.to_pandas() if isinstance(given, pl.DataFrame) else given)
    np.testing.assert_allclose(sieve.scores_, expected[sieve.selected_], atol=1e-12)


@pytest.mark.parametrize("space", ["joint", "pruned", "copy", "select-max", "ignore", "group"])
def test_spaces_that_use_the_labels_of_a_row_together_refuse_missing_ones(space):
    X, Y = make_data()
    frame = pd.DataFrame(np.where(np.arange(len(Y))[:, np.newaxis] % 50 == 7, np.nan, Y), columns=LABELS)
    frame[LABELS[0]] = Y[:, 0]
    message = rf"Y, column 1 \('{LABELS[1]}'\): 3 unknown cells, which .* cannot leave out; .*targets=\"single\""
    with pytest.raises(InputError, match=message):
        Sieve("cmim", targets=space).fit(X, frame)


def test_learned_label_networks_refuse_missing_labels():
    X, Y = make_data()
    with pytest.raises(InputError, match=r"Y, column 0: 1 unknown cells, which a label network cannot leave out"):
        Sieve("mlfs").fit(X, np.where(np.arange(Y.size).reshape(Y.shape) == 0, np.nan, Y))


def test_a_target_without_any_known_cell_is_refused():
    X, Y = make_data()
    with pytest.raises(InputError, match=r"Y, column 1 \('b'\): all cells are unknown; leave this target out"):
        Sieve().fit(X, pd.DataFrame({"a": Y[:, 0], "b": np.nan}))


@pytest.mark.parametrize("make", [np.asarray, lambda Y: Y.astype(float), lambda Y: Y.astype(object)])
def test_masked_cells_of_targets_are_missing(make):
    X, Y = make_classes()
    mask = np.random.default_rng(1).random(Y.shape) < 0.2
    sieve = Sieve("mim", n_features_to_select=4).fit(X, np.ma.masked_array(make(Y), mask))
    assert_same_selection(sieve, Sieve("mim", n_features_to_select=4).fit(X, np.where(mask, np.nan, Y)))


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
