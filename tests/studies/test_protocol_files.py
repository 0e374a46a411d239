"""What a protocol's file and its tables may hold, and where their paths lead."""

import re
from pathlib import Path

import numpy as np
import pytest

from labelsieve import InputError, Sieve
from labelsieve.discretize import EqualWidth
from labelsieve.registry import CRITERIA
from labelsieve.studies import Protocol, Study
from labelsieve.studies.data import read_source
from tests.support.small_studies import contents, data, protocol

HEADER = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="y"/></labels>'


@pytest.fixture
def songs(tmp_path, monkeypatch):
    """A folder with data and a protocol in it, and another one to work in."""
    folder, elsewhere = tmp_path / "songs", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    rows = "\n".join(f"{row},{row % 3},{row % 2}" for row in range(20))
    for part in ("one", "two"):
        (folder / f"{part}.csv").write_text(f"a,b,y\n{rows}\n", encoding="utf-8")
    (folder / "songs.xml").write_text(HEADER, encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    return folder


def rows_of(made):
    return [source.load().X.shape[0] for source in made.datasets]


def test_parts_and_label_headers_are_beside_the_file(songs):
    text = 'methods = ["jmi"]\n[[datasets]]\nname = "songs"\npath = ["one.csv", "two.csv"]\nlabels = "songs.xml"\n'
    (songs / "study.toml").write_text(text, encoding="utf-8")
    assert rows_of(Protocol.from_toml(songs / "study.toml")) == [40]


def test_a_mark_of_an_editor_before_the_text_does_no_harm(tmp_path):
    (tmp_path / "study.toml").write_bytes(b'\xef\xbb\xbfdatasets = ["emotions"]\nmethods = ["jmi"]\n')
    assert Protocol.from_toml(tmp_path / "study.toml").methods[0].name == "jmi"


def test_numbers_of_numpy_and_paths_are_plain_settings(tmp_path):
    given = {"methods": [{"name": "relieff", "n_neighbors": np.int64(5)}], "classifiers": [{"name": "mlknn", "k": np.int32(3)}]}
    made = protocol(**given, datasets=[{"name": "emotions", "path": Path("emotions.arff"), "data_home": tmp_path}])
    assert made.methods[0].identity == '{"n_neighbors": 5}'
    assert made.datasets[0].settings == {"path": "emotions.arff", "data_home": str(tmp_path)}


def test_objects_in_a_table_serve_as_those_in_a_pair_do(tmp_path):
    table = {"name": "mine", "criterion": CRITERIA["jmi"](), "discretizer": EqualWidth(n_bins=3)}
    pair = ("mine", Sieve(CRITERIA["jmi"](), discretizer=EqualWidth(n_bins=3)))
    found = []
    for folder, method in (("table", table), ("pair", pair)):
        made = protocol(methods=[method], datasets=[data()], splits="1x50%")
        assert Study(made, tmp_path / folder).run().n_failed == 0
        found.append(contents(tmp_path / folder))
    assert found[0] == found[1]
    fitted = {"name": "mine", "criterion": "jmi", "discretizer": EqualWidth().fit(data().X)}
    with pytest.raises(InputError, match="is already fitted"):
        protocol(methods=[fitted])


def test_patterns_of_labels_run(songs, tmp_path):
    made = Protocol(
        [{"name": "songs", "path": songs / "one.csv", "labels": re.compile("y")}], ["jmi"], n_features=[1], splits="2x50%"
    )
    assert Study(made, tmp_path / "out").run().n_run == 6


def test_label_names_may_hold_commas(tmp_path):
    (tmp_path / "songs.csv").write_text('a,"calm, sad",happy\n1,0,1\n2,1,0\n', encoding="utf-8")
    source = read_source({"name": "songs", "path": tmp_path / "songs.csv", "labels": ["calm, sad", "happy"]})
    assert source.load().label_names == ("calm, sad", "happy")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"path": 5}, "path must be a path or a list"),
        ({"labels": True}, "labels must be a number, names in a list"),
        ({"labels": [20, 21]}, "labels must be a number, names in a list"),
        ({"drop": "id"}, "drop must be a list of names of features, not 'id'"),
        ({"data_home": 5}, "data_home must be a folder"),
    ],
)
def test_settings_of_the_wrong_kind_are_refused_before_anything_is_read(settings, said):
    with pytest.raises(InputError, match=f"data set 'songs': {said}"):
        read_source({"name": "songs", **settings})
