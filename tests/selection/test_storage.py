"""A saved selection comes back as it was, damage is refused, and nothing half-written stays behind."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from labelsieve import Criterion, InputError, LabelwiseSieve, Sieve
from labelsieve.criteria.formulas import CMIM, JMI, MIFS, MLFS, PMU
from labelsieve.discretize import EqualWidth
from labelsieve.formula import I, f, s, sum_s, sum_y, y
from labelsieve.selection import Selection, read_selection
from labelsieve.selection.storage import write_file
from tests.support.selection_data import NAMES, assert_same_selection, make_data

selectors = pytest.mark.parametrize("selector", [Sieve, LabelwiseSieve])


def fit(selector, **parameters):
    X, Y = make_data()
    return selector("mrmr", **{"n_features_to_select": 3, **parameters}).fit(pd.DataFrame(X, columns=NAMES), Y)


def save(selector, folder):
    """A saved selection as a path and its contents."""
    path = folder / "selected.json"
    fit(selector).to_json(path)
    return path, json.loads(path.read_text(encoding="utf-8"))


@selectors
def test_a_selection_comes_back_as_it_was(selector, tmp_path):
    sieve = fit(selector, forced=("tone 4",), excluded=np.array([2]), n_jobs=2)
    sieve.to_json(tmp_path / "selected.json")
    again = selector.from_json(tmp_path / "selected.json")
    assert_same_selection(again, sieve)
    for name, value in vars(sieve).items():
        if name.endswith("_") and isinstance(value, np.ndarray):
            assert getattr(again, name).dtype == value.dtype
            assert np.array_equal(getattr(again, name), value)
    X = pd.DataFrame(make_data()[0], columns=NAMES)
    assert again.set_output(transform="pandas").transform(X).equals(sieve.set_output(transform="pandas").transform(X))
    assert again.get_feature_names_out().tolist() == sieve.get_feature_names_out().tolist()
    assert again.get_params()["criterion"] == "mrmr"
    assert_same_selection(again.fit(X, make_data()[1]), sieve)  # its parameters are the same, so it learns the same


def test_parts_of_scores_come_back(tmp_path):
    sieve = fit(Sieve)
    sieve.to_json(str(tmp_path / "selected.json"))
    again = Sieve.from_json(str(tmp_path / "selected.json"))
    assert again.score_components_.keys() == sieve.score_components_.keys() == {"relevance", "redundancy"}
    for kind, values in sieve.score_components_.items():
        assert np.array_equal(again.score_components_[kind], values)


@selectors
@pytest.mark.parametrize("criterion", [MIFS(0.5), PMU(pairs="ordered"), CMIM(with_relevance=True), MLFS(gamma=0.5), JMI()])
def test_criteria_of_the_catalog_and_discretizers_come_back(selector, criterion, tmp_path):
    X, Y = make_data()
    sieve = selector(criterion, discretizer=EqualWidth(n_bins=3, closed="right"), n_features_to_select=2).fit(X, Y)
    sieve.to_json(tmp_path / "selected.json")
    again = selector.from_json(tmp_path / "selected.json")
    assert type(again.criterion) is type(criterion)
    assert again.criterion.score == criterion.score
    assert str(again.discretizer) == "EqualWidth(closed='right', n_bins=3)"
    assert np.array_equal(again.transform(X), sieve.transform(X))
    assert_same_selection(again.fit(X, Y), sieve)


class Mine(Criterion):
    score = sum_y(I(f, y)) - 0.5 * sum_s(I(f, s))


@selectors
def test_criteria_of_ones_own_are_kept_as_text_for_the_record(selector, tmp_path):
    X, Y = make_data()
    sieve = selector(Mine(), n_features_to_select=2).fit(X, Y)
    sieve.to_json(tmp_path / "selected.json")
    again = selector.from_json(tmp_path / "selected.json")
    assert again.criterion == "Mine(score=sum_y(I(f, y)) - 0.5 * sum_s(I(f, s)))"
    assert again.selection().formula == again.criterion
    assert np.array_equal(again.transform(X), sieve.transform(X))
    with pytest.raises(InputError, match="is not a criterion"):
        again.fit(X, Y)


def test_a_warm_selection_saves_what_was_selected_alone(tmp_path):
    fit(Sieve, warm_start=True).to_json(tmp_path / "selected.json")
    assert (tmp_path / "selected.json").stat().st_size < 5000
    assert_same_selection(Sieve.from_json(tmp_path / "selected.json"), fit(Sieve))


@selectors
def test_a_file_is_read_by_people_and_programs(selector, tmp_path):
    path, document = save(selector, tmp_path)
    assert document["format"] == "labelsieve selection"
    assert document["selection"]["selector"] == selector.__name__
    assert document["selection"]["settings"]["criterion"] == "mrmr"
    assert read_selection(path) == Selection.from_dict(document["selection"]) == fit(selector).selection()
    assert len(path.read_text(encoding="utf-8").splitlines()) > 20


def test_the_other_class_is_refused_by_name(tmp_path):
    path, _ = save(Sieve, tmp_path)
    with pytest.raises(InputError, match=r"selected\.json: holds a Sieve; read it with that class's from_json"):
        LabelwiseSieve.from_json(path)


DAMAGE = {
    "empty": lambda text: "",
    "cut short": lambda text: text[: len(text) // 2],
    "another format": lambda text: json.dumps({"format": "other"}),
    "a list": lambda text: "[1, 2]",
    "a number": lambda text: "3",
    "of the future": lambda text: text.replace('"version": 3', '"version": 4'),
}


@selectors
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_file_that_is_no_saved_selection_is_refused_by_name(selector, kind, tmp_path):
    path, _ = save(selector, tmp_path)
    path.write_text(DAMAGE[kind](path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InputError, match=r"selected\.json: (not JSON|not a saved selection|version 4)"):
        selector.from_json(path)


def test_bytes_that_are_no_text_are_refused_by_name(tmp_path):
    (tmp_path / "selected.json").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(InputError, match=r"selected\.json: not JSON"):
        Sieve.from_json(tmp_path / "selected.json")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        Sieve.from_json(tmp_path / "nowhere.json")


def drop(*path):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]

    return change


def put(value, *path):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


CHANGES = {
    "no selection": drop("selection"),
    "no settings": drop("selection", "settings"),
    "no selected features": drop("selection", "selected"),
    "another selection": put([], "selection", "selected"),
    "nothing fitted": drop("fitted"),
    "parameters in a list": put([1], "selection", "settings"),
    "an unknown parameter": put(3, "selection", "settings", "depth"),
    "no mask": drop("fitted", "support_"),
    "no number of features": drop("fitted", "n_features_in_"),
    "no choice": drop("fitted", "selected_"),
    "no scores": drop("fitted", "scores_"),
    "a mask that is a list": put([True], "fitted", "support_"),
    "a mask of numbers": put("int64", "fitted", "support_", "dtype"),
    "a mask of other features": put([True, False], "fitted", "support_", "array"),
    "another number of features": put(9, "fitted", "n_features_in_"),
    "a choice that is not in the mask": put([0, 1, 7], "fitted", "selected_", "array"),
    "a choice that is no feature": put([0, 1, 99], "fitted", "selected_", "array"),
    "fewer scores": put([0.5], "fitted", "scores_", "array"),
    "an unknown type": put("float63", "fitted", "scores_", "dtype"),
    "no type": drop("fitted", "scores_", "dtype"),
    "text for numbers": put(["a", "b", "c"], "fitted", "scores_", "array"),
    "a column beyond 64 bits": put([10**30, 1, 2], "fitted", "selected_", "array"),
    "endless features": put(float("inf"), "fitted", "n_features_in_"),
    "an unknown object": put({"object": "Magic", "parameters": {}}, "selection", "settings", "criterion"),
    "an object made wrongly": put({"object": "MIFS", "parameters": {"gamma": 1}}, "selection", "settings", "criterion"),
}


@selectors
@pytest.mark.parametrize("kind", CHANGES)
def test_a_damaged_selection_is_refused_by_name(selector, kind, tmp_path):
    path, document = save(selector, tmp_path)
    CHANGES[kind](document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=r"selected\.json: a damaged selection"):
        selector.from_json(path)


def fail_at_once(*args, **kwargs):
    raise OSError("no")


FAILURES = {
    "nothing can be written": (json, "dumps", fail_at_once),
    "the disk is full": (os, "fsync", fail_at_once),
    "the file cannot be put in place": (os, "replace", fail_at_once),
}


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("before", [None, "what was there"])
def test_a_failed_save_leaves_what_was_there(kind, before, tmp_path, monkeypatch):
    path = tmp_path / "selected.json"
    if before is not None:
        path.write_text(before, encoding="utf-8")
    sieve = fit(Sieve)
    with monkeypatch.context() as patched:
        patched.setattr(*FAILURES[kind])
        with pytest.raises(OSError, match="no"):
            sieve.to_json(path)
    assert os.listdir(tmp_path) == ([] if before is None else ["selected.json"])
    assert before is None or path.read_text(encoding="utf-8") == before


def test_a_folder_that_is_not_there_or_no_folder_is_an_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for wrong in ("nowhere/selected.json", "file/selected.json", "folder"):
        with pytest.raises(OSError, match=wrong.split("/")[0]):
            fit(Sieve).to_json(tmp_path / wrong)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert not os.listdir(tmp_path / "folder")


def test_a_link_stays_and_the_file_that_it_points_to_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    fit(Sieve).to_json(link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert read_selection(real) == read_selection(link)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.json", "real.json", "there"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "selection.json"
    write_file(path, b"old")

    def fail(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_file(path, b"new")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"selection.json": b"old"}


@pytest.mark.skipif(os.name == "nt", reason="links and permissions are others there")
def test_links_are_followed_and_permissions_stay(tmp_path):
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "real.json"
    (tmp_path / "link.json").symlink_to(real)
    write_file(tmp_path / "link.json", b"first")
    mask = os.umask(0)
    os.umask(mask)
    assert real.stat().st_mode & 0o777 == 0o666 & ~mask
    real.chmod(0o600)
    write_file(tmp_path / "link.json", b"second")
    assert (tmp_path / "link.json").is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"second", 0o600)


def test_errors_name_the_file_and_not_its_draft(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"file/selection\.json'$"):
        write_file(tmp_path / "file" / "selection.json", b"")
