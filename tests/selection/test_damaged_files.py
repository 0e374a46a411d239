"""A saved selection that was changed in any way is refused with the file and the place, or is a selector that works."""

import copy
import json
import os
import re
import stat
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.criteria.formulas import MIFS
from labelsieve.registry import STOPPING_RULES, make_selector, make_stopping_rule
from labelsieve.selection import read_selection
from tests.support.selection_data import NAMES, assert_same_selection, make_data

X, Y = make_data()
FRAME = pd.DataFrame(X, columns=NAMES)


def fitted():
    """Selectors with every kind of value in their files: arrays, tables, objects, stopping rules, lists of labels."""
    yield Sieve("mrmr", n_features_to_select=3).fit(FRAME, Y)
    yield Sieve(MIFS(0.5), n_features_to_select=make_stopping_rule("knee"), forced=["tone 4"]).fit(FRAME, Y)
    yield LabelwiseSieve("mlfs", n_features_to_select=2).fit(X, Y)
    yield make_selector("mlqpfs", n_features_to_select=2).fit(X, Y)


SELECTORS = list(fitted())


def saved(selector, path):
    selector.to_json(path)
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("rule", STOPPING_RULES)
def test_every_stopping_rule_comes_back(rule, tmp_path):
    selector = Sieve("cmim", n_features_to_select=make_stopping_rule(rule)).fit(X, Y)
    selector.to_json(tmp_path / "selected.json")
    again = Sieve.from_json(tmp_path / "selected.json")
    assert_same_selection(again, selector)
    assert again.stopping_.reason_ == selector.stopping_.reason_


DAMAGE = {
    "a method as an attribute": (("fitted", "transform"), 1, "fitted.transform is not a fitted attribute of Sieve"),
    "a private attribute": (("fitted", "_native_"), 1, "fitted._native_ is not a fitted attribute"),
    "a special attribute": (("fitted", "__class__"), "x", "fitted.__class__ is not a fitted attribute"),
    "text for a number": (("fitted", "n_features_in_"), "8", "fitted.support_ does not fit fitted.n_features_in_"),
    "text in an array": (("fitted", "scores_", "array", 0), "0.5", "fitted.scores_ has '0.5' in an array of float64"),
    "booleans as columns": (("fitted", "selected_", "array", 0), True, "fitted.selected_ has 'True' in an array of int64"),
    "an array of objects": (("fitted", "scores_", "dtype"), "object", "fitted.scores_.dtype is 'object'"),
    "text for a rank": (
        ("selection", "selected", 0, "rank"),
        "1",
        "selection.selected[0].rank is '1', and a whole number is needed",
    ),
    "text for a score": (
        ("selection", "selected", 1, "score"),
        "0.5",
        "selection.selected[1].score is '0.5', and a number is needed",
    ),
    "a number for a name": (
        ("selection", "selected", 0, "feature"),
        3,
        "selection.selected[0].feature is 3, and text is needed",
    ),
    "text for a parameter": (
        ("selection", "settings", "n_jobs"),
        "all",
        "selection.settings: The 'n_jobs' parameter of Sieve must be",
    ),
    "an unknown form": (("fitted", "criterion_"), {"code": "import os"}, "fitted.criterion_ is a table with the keys code"),
    "text for a parameter of an object": (
        ("fitted", "criterion_"),
        {"object": "MIFS", "parameters": {"beta": "0.5"}},
        "fitted.criterion_.parameters.beta is '0.5', and a number is needed",
    ),
    "a number for a table": (("fitted", "score_components_"), 3, "fitted.score_components_ does not fit fitted.scores_"),
    "a short component": (
        ("fitted", "score_components_"),
        {"dict": {"relevance": {"array": [0.5], "dtype": "float64"}}},
        "fitted.score_components_ does not fit fitted.scores_",
    ),
    "a number for a stopping rule": (("fitted", "stopping_"), 3, "fitted has attributes that make no selection"),
    "a feature twice": (("fitted", "selected_", "array"), [1, 5, 5], "selected_, scores_ and support_ do not belong together"),
    "features in another order": (
        ("fitted", "selected_", "array"),
        [5, 1, 4],
        "selection.selected and fitted.selected_ do not",
    ),
    "a class outside of the library": (
        ("fitted", "criterion_"),
        {"object": "Popen", "parameters": {}},
        "unknown class 'Popen'",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_refused_with_the_file_and_the_place(kind, tmp_path):
    path, (place, value, said) = tmp_path / "selected.json", DAMAGE[kind]
    document = saved(SELECTORS[0], path)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=rf"selected\.json: a damaged selection \(.*{re.escape(said)}"):
        Sieve.from_json(path)


@pytest.mark.parametrize("depth", [100, 100_000])
@pytest.mark.parametrize("brackets", ["[]", '{"a":}'])
def test_deep_nesting_is_refused(depth, brackets, tmp_path):
    path = tmp_path / "selected.json"
    opening, closing = brackets[:-1], brackets[-1]
    path.write_text(opening * depth + "1" + closing * depth, encoding="utf-8")
    for read in (Sieve.from_json, read_selection):
        with pytest.raises(InputError, match=r"selected\.json: lists and tables are nested more than 40 deep"):
            read(path)


def test_a_number_of_thousands_of_digits_is_refused(tmp_path):
    path = tmp_path / "selected.json"
    path.write_text('{"format": ' + "1" * (sys.get_int_max_str_digits() + 1) + "}", encoding="utf-8")
    with pytest.raises(InputError, match=r"selected\.json: not JSON"):
        Sieve.from_json(path)


def places(value, path=()):
    """The paths of keys of all values in a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["int64", "Sieve", "jmi", "JMI"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["array", "dtype", "object", "parameters", "fitted", "dict", "text", "x"]) | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@st.composite
def changed(draw, documents):
    """One of the documents with one to three changes: another value, a value of elsewhere, a missing or an additional entry."""
    number = draw(st.integers(0, len(documents) - 1))
    document = copy.deepcopy(documents[number])
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([place for place in places(document) if place]))
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        kind = draw(st.sampled_from(["replace", "move", "delete", "add"]))
        if kind == "replace":
            inner[path[-1]] = draw(VALUES)
        elif kind == "move":
            other = document
            for key in draw(st.sampled_from(list(places(document)))):
                other = other[key]
            inner[path[-1]] = copy.deepcopy(other)
        elif kind == "delete":
            del inner[path[-1]]
        elif isinstance(inner, dict):
            inner[draw(st.text(max_size=8) | st.sampled_from(["transform", "fit", "x_", "stopping_", "network_"]))] = draw(
                VALUES
            )
        else:
            inner.insert(path[-1], draw(VALUES))
    return number, document


def read_or_refusal(selector, path):
    try:
        return selector.from_json(path)
    except InputError as error:
        return str(error)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "saved.json"
    return [saved(selector, path) for selector in SELECTORS]


@pytest.mark.filterwarnings("ignore:.*feature names")  # of a frame, where the change took them away
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_change_is_refused_or_gives_a_selector_that_works(data, documents, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    path = folder / "changed.json"
    number, document = data.draw(changed(documents))
    path.write_text(json.dumps(document), encoding="utf-8")
    again = read_or_refusal(type(SELECTORS[number]), path)
    if isinstance(again, str):
        assert "changed.json: " in again
        return
    assert again.transform(X).shape == (len(X), int(again.support_.sum()))
    assert len(again.get_feature_names_out()) == again.support_.sum()
    assert np.array_equal(read_selection(path).columns, np.flatnonzero(again.support_))
    assert repr(again)
    assert again.selection().columns == read_selection(path).columns
    again.to_json(folder / "again.json")
    assert_same_selection(type(again).from_json(folder / "again.json"), again)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_a_saved_file_has_the_mode_of_the_umask(umask, tmp_path):
    before = os.umask(umask)
    try:
        SELECTORS[0].to_json(tmp_path / "selected.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "selected.json").stat().st_mode) == 0o666 & ~umask
    (tmp_path / "selected.json").chmod(0o604)
    SELECTORS[0].to_json(tmp_path / "selected.json")
    assert stat.S_IMODE((tmp_path / "selected.json").stat().st_mode) == 0o604


def test_a_selected_feature_without_a_score_is_refused(documents, tmp_path):
    path = tmp_path / "changed.json"
    for selector, saved_document in zip(SELECTORS, documents, strict=True):
        document = json.loads(json.dumps(saved_document))
        scores = document["fitted"]["scores_"]["array"]
        (scores[0] if isinstance(scores[0], list) else scores)[0] = None
        path.write_text(json.dumps(document), encoding="utf-8")
        assert "without a score" in str(read_or_refusal(type(selector), path))
