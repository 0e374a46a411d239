"""Where the time of a study goes, in new files and in those of version 1."""

import sqlite3

import pytest

from labelsieve.studies import Study, StudyResults
from labelsieve.studies.results import KINDS
from tests.support.small_studies import data, protocol

SMALL = {"datasets": [data()], "methods": ["jmi"], "baselines": ["all"], "splits": "2x50%"}


def rows(folder, sql):
    db = sqlite3.connect(folder / "results.sqlite")
    found = db.execute(sql).fetchall()
    db.close()
    return found


def test_parts_of_every_evaluation_are_stored_and_are_no_more_than_the_whole(tmp_path):
    Study(protocol(**SMALL, classifiers=[{"name": "mlknn", "k": 3}, "br"]), tmp_path).run()
    sql = "SELECT seconds, training, prediction, both, measuring, storing FROM cells WHERE classifier = '{}'"
    for seconds, training, prediction, both, measuring, storing in rows(tmp_path, sql.format("br")):
        assert both is None
        assert training + prediction + measuring <= seconds
        assert min(training, prediction, measuring, storing) > 0
    for seconds, training, prediction, both, measuring, storing in rows(tmp_path, sql.format("mlknn")):
        assert (training, prediction) == (None, None)
        assert both + measuring <= seconds
        assert min(both, measuring, storing) > 0
    assert all(storing > 0 for (storing,) in rows(tmp_path, "SELECT storing FROM selections"))


def test_the_profile_adds_up_what_is_stored(tmp_path):
    Study(protocol(**SMALL, classifiers=["br"]), tmp_path).run()
    found = StudyResults(tmp_path).time_profile()
    assert list(found.methods) == ["jmi", "all"]
    (all_cells,) = rows(tmp_path, "SELECT sum(seconds), sum(storing) FROM cells")
    (all_selections,) = rows(tmp_path, "SELECT sum(seconds), sum(storing) FROM selections")
    assert sum(found.total.values()) == pytest.approx(sum(all_cells) + sum(all_selections))
    assert found.total["selection"] == pytest.approx(all_selections[0])
    assert found.total["storage"] == pytest.approx(all_cells[1] + all_selections[1])
    assert found.total["training and prediction"] == 0
    assert sum(map(found.share, KINDS)) == pytest.approx(1)
    assert 0 < found.running < 60
    assert "training and prediction" not in found.to_markdown()
    assert found.to_markdown().splitlines()[-1].startswith("| total | ")
