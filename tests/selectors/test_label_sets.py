"""A list of sets, lists or tuples of labels is a table of 0 and 1, as MultiLabelBinarizer makes it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from labelsieve import PPTMI, InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.errors import TargetTypeWarning
from labelsieve.information import mutual_information
from labelsieve.labelspace import read_targets
from labelsieve.metrics import hamming_loss
from labelsieve.selectors import LLSF, MDDM, ChiSquare, ReliefF, ReliefFML, RReliefF, selection_stability
from labelsieve.stopping import CrossValidated
from tests.support.selection_data import assert_same_selection

GENRES = ("folk", "jazz", "loud", "rock")


def make_songs(seed=0, n_rows=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, [{genre for k, genre in enumerate(GENRES) if row[k] + rng.normal() > 0.7} for row in X]


FORMS = {
    "sets": list,
    "tuple of sets": tuple,
    "frozensets": lambda sets: [frozenset(labels) for labels in sets],
    "lists": lambda sets: [sorted(labels) for labels in sets],
    "lists with repetition": lambda sets: [sorted(labels) * 2 for labels in sets],
    "tuples": lambda sets: [tuple(labels) for labels in sets],
    "array of sets": lambda sets: np.array([*sets, None], dtype=object)[:-1],
    "pandas of sets": pd.Series,
    "pandas of lists": lambda sets: pd.Series([sorted(labels) for labels in sets], name="genres"),
    "pandas of arrays": lambda sets: pd.Series([np.array(sorted(labels), dtype=str) for labels in sets]),
    "pandas frame": lambda sets: pd.DataFrame({"genres": [sorted(labels) for labels in sets]}),
    "polars of lists": lambda sets: pl.Series("genres", [sorted(labels) for labels in sets]),
    "numbers": lambda sets: [[GENRES.index(label) for label in labels] for labels in sets],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve, QuadraticSieve, ChiSquare])
def test_label_sets_are_labels_of_0_and_1(selector, form):
    X, sets = make_songs()
    binarizer = MultiLabelBinarizer()
    expected = selector(n_features_to_select=3).fit(X, binarizer.fit_transform(sets))
    found = selector(n_features_to_select=3).fit(X, FORMS[form](sets))
    assert_same_selection(found, expected)
    names = ["0", "1", "2", "3"] if form == "numbers" else binarizer.classes_.tolist()
    assert found.label_names_.tolist() == names
    assert expected.label_names_ is None


@pytest.mark.parametrize("selector", [ReliefF(), ReliefFML(), RReliefF(), PPTMI(), MDDM(mu=0), LLSF()])
def test_every_selector_takes_label_sets(selector):
    X, sets = make_songs()
    found = selector.fit(X, sets).transform(X)
    assert selector.label_names_.tolist() == list(GENRES)
    np.testing.assert_array_equal(found, selector.fit(X, MultiLabelBinarizer().fit_transform(sets)).transform(X))


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=30).filter(any) | st.lists(st.sets(st.text())).filter(any))
def test_the_columns_are_those_of_scikit_learn(sets):
    targets, binarizer = read_targets(sets), MultiLabelBinarizer()
    np.testing.assert_array_equal(targets.codes.to_dense(), binarizer.fit_transform(sets))
    assert targets.codes.names == tuple(map(str, binarizer.classes_))


def test_many_labels_are_sparse():
    rng = np.random.default_rng(0)
    sets = [rng.integers(2000, size=3).tolist() for _ in range(1000)]
    sets[0] = sets[0][:2]
    codes = read_targets(sets).codes
    assert codes.sparse is not None
    np.testing.assert_array_equal(codes.to_dense(), MultiLabelBinarizer().fit_transform(sets))


def test_measures_of_information_take_label_sets():
    X, sets = make_songs()
    codes = (X > 0).astype(int)
    np.testing.assert_array_equal(
        mutual_information(codes, sets), mutual_information(codes, MultiLabelBinarizer().fit_transform(sets))
    )


def test_equally_long_lists_of_numbers_are_a_table():
    rows = [[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]]
    for Y in (rows, list(map(tuple, rows)), pd.Series(rows), np.array([*map(tuple, rows), None], dtype=object)[:-1]):
        targets = read_targets(Y)
        np.testing.assert_array_equal(targets.codes.to_dense(), rows)
        assert targets.codes.names is None


def test_text_is_not_a_set_of_characters():
    targets = read_targets(["rock", "folk", "rock"])
    assert (targets.n_columns, targets.codes.column(0).tolist()) == (1, [1, 0, 1])


def test_text_next_to_numbers_is_a_table_in_which_numbers_stay_numbers():
    targets = read_targets([[0.5, "rock"], [1.5, "folk"], [2.25, "rock"]])
    assert targets.types.tolist() == ["numeric", "class"]


def test_lists_of_text_that_look_like_a_table_give_a_warning():
    with pytest.warns(TargetTypeWarning, match=r"lists of 2 texts each: taken as label sets.*numpy.array\(Y\)"):
        assert read_targets([["rock", "slow"], ["folk", "fast"]]).n_columns == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_targets([["no", "yes"], ["no", "no"]]).n_columns == 2
        assert read_targets([["rock"], ["folk"], ["slow"]]).n_columns == 3
        assert read_targets(np.array([["rock", "slow"], ["folk", "fast"]])).n_columns == 2


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([{"a"}, None], "Y, row 1: the label set is missing; an empty list means no label, or drop the row"),
        ([{"a"}, float("nan"), {"b"}], "Y, row 1: the label set is missing"),
        ([{"a"}, "b"], "Y, row 1: 'b' is not a set or a list of labels"),
        ([{"a"}, {1}], "Y has labels that cannot be compared with each other"),
        ([["a", None], ["b"]], "Y, row 0: a label is missing"),
        ([[["a"]], ["b", "c"]], "Y, row 0: labels must be text or numbers"),
        ([set(), set()], "Y is empty: all label sets are"),
        (pd.DataFrame({"a": [["x"], ["y", "z"]], "b": [0, 1]}), "Y: column 'a' holds sets or lists"),
        (np.array([[["x"], 0], [{"y"}, 1]], dtype=object), "Y, column 0: it holds lists; label sets must be the only"),
    ],
)
def test_what_is_not_a_label_set_is_refused_by_row(sets, message):
    X = np.zeros((len(sets), 2))
    with pytest.raises(InputError, match=message):
        Sieve().fit(X, sets)


def test_samples_of_label_sets_have_the_labels_of_all_rows():
    X, sets = make_songs()
    sets = [labels | ({"once"} if row == 0 else set()) for row, labels in enumerate(sets)]
    Y = MultiLabelBinarizer().fit_transform(sets)
    given, expected = (selection_stability(Sieve(n_features_to_select=2), X, y, n_repeats=4, random_state=0) for y in (sets, Y))
    np.testing.assert_array_equal(given.masks, expected.masks)
    rule = CrossValidated(cv=3, max_features=3)
    assert_same_selection(*(Sieve("mim", n_features_to_select=rule).fit(X, y) for y in (sets, Y)))


def test_a_selection_names_the_labels_of_label_sets(tmp_path):
    X, sets = make_songs()
    sieve = Sieve("mim", n_features_to_select=2).fit(X, sets)
    selection = sieve.selection(X, sets, information=True, redundant=0.5)
    assert selection.labels == GENRES
    assert (
        selection.fingerprint
        == Sieve()
        .fit(X, sets)
        .selection(X, sp.csr_array(MultiLabelBinarizer().fit_transform(sets)).toarray().astype(np.uint8))
        .fingerprint
    )
    sieve.to_json(tmp_path / "sieve.json")
    assert Sieve.from_json(tmp_path / "sieve.json").label_names_.tolist() == list(GENRES)


def test_names_come_from_frames_and_series():
    X, sets = make_songs()
    Y = MultiLabelBinarizer().fit_transform(sets)
    for frame in (pd.DataFrame(Y, columns=GENRES), pl.DataFrame(Y, schema=list(GENRES))):
        assert Sieve().fit(X, frame).label_names_.tolist() == list(GENRES)
    assert Sieve().fit(X, pd.Series(Y[:, 0], name="folk")).label_names_.tolist() == ["folk"]
    for unnamed in (Y, pd.Series(Y[:, 0]), pl.Series(Y[:, 0])):
        assert Sieve().fit(X, pd.DataFrame(Y)).fit(X, unnamed).label_names_ is None
    with pytest.raises(InputError, match="'folk'"):
        Sieve().fit(X, pd.DataFrame(Y[:, :2], columns=["folk", "folk"]))


@pytest.mark.parametrize("form", ["sets", "lists", "array of sets", "pandas of sets"])
def test_classifiers_and_measures_refuse_label_sets_with_the_remedy(form):
    X, sets = make_songs()
    Y = FORMS[form](sets)
    for refused in (lambda: MLkNN().fit(X, Y), lambda: hamming_loss(Y, Y)):
        with pytest.raises(InputError, match=r"Sets of labels become 0/1 columns with sklearn.*MultiLabelBinarizer"):
            refused()
