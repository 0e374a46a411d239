"""Parts of a study, limits of its rows and labels, numbers of features by classifier, and several studies in one file."""

import sys
from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from labelsieve import InputError
from labelsieve.studies import Protocol, Study, StudyError, StudyResults, plan
from labelsieve.studies import cells as cell_work
from labelsieve.studies.data import LoadedData
from labelsieve.studies.protocol import Part
from tests.support.small_studies import contents, data, protocol

FEW = {"methods": ["jmi", "mim"], "baselines": [], "classifiers": [{"name": "mlknn", "k": 3}], "splits": "2x50%"}


class Busy(BaseEstimator):
    """Computes forever on data of so many training rows."""

    def __init__(self, n_rows=30, n_features_to_select=10):
        self.n_rows = n_rows
        self.n_features_to_select = n_features_to_select

    def fit(self, X, Y):
        while len(X) == self.n_rows:
            pass
        self.selected_ = np.arange(self.n_features_to_select)
        return self


def cells(folder):
    return {row[:4] for row in contents(folder)[1]}


def test_shards_are_disjoint_complete_and_equal_to_the_whole(tmp_path):
    made = protocol(datasets=[data(), data("films", 60, 1), data("books", 50, 2)], **FEW)
    Study(made, tmp_path / "whole").run()
    values = []
    for number in (1, 2):
        Study(made.only(Part(shard=(number, 2))), tmp_path / str(number)).run()
        values += contents(tmp_path / str(number))[2]
    assert not cells(tmp_path / "1") & cells(tmp_path / "2")
    assert sorted(values) == sorted(contents(tmp_path / "whole")[2])


def test_part_by_tag_method_and_repeat_runs_those_cells_alone(tmp_path):
    tagged = {"dataset": data("films", 60, 1), "tags": ["moving"]}
    made = protocol(datasets=[data(), tagged], **FEW)
    part = Part(datasets=["moving"], methods=["mim"], repeats=1).of({"": made})[""]
    Study(part, tmp_path).run()
    assert cells(tmp_path) == {("films", 0, "mim", "mlknn")}
    assert Study(made, tmp_path).run().n_run == 2 * 2 * 2 - 1
    with pytest.raises(InputError, match="'moving'"):
        Part(datasets=["movin"]).of({"": made})


def test_first_splits_of_all_data_sets_come_first(tmp_path):
    made = protocol(datasets=[data(), data("films", 60, 1)], **FEW)
    batches = Study(made, tmp_path).plan().batches
    assert [(batch.split, batch.dataset) for batch in batches] == list(product((0, 1), ("songs", "films")))


def test_max_rows_draws_both_halves_anew_for_every_split():
    made = protocol(max_rows=20, **FEW)
    loaded = LoadedData.of(made.datasets[0])
    splits = made.splits.splits(loaded.X, loaded.Y, loaded.name)
    full = protocol(**FEW).splits.splits(loaded.X, loaded.Y, loaded.name)
    for few, all_rows in zip(splits, full, strict=True):
        assert (len(few.train), len(few.test)) == (10, 10)
        assert set(few.train) <= set(all_rows.train)
        assert set(few.test) <= set(all_rows.test)
    assert splits[0].fingerprint != splits[1].fingerprint


def test_max_labels_keeps_the_most_frequent_labels():
    songs = data()
    made = protocol(datasets=[{"dataset": songs, "max_labels": 2}], **FEW)
    counts = np.asarray(songs.Y).sum(axis=0)
    kept = LoadedData.of(made.datasets[0]).Y
    assert sorted(kept.sum(axis=0)) == sorted(counts)[-2:]


def test_classifier_with_its_own_numbers_of_features(tmp_path):
    learners = [{"name": "few", "classifier": "mlknn", "n_features": [2]}, {"name": "many", "classifier": "mlknn"}]
    made = protocol(**{**FEW, "classifiers": learners, "n_features": "1..4"})
    Study(made, tmp_path).run()
    results = StudyResults(tmp_path, protocol=made)
    sizes = {name: list(results.curve("songs", "jmi", "hamming_loss", name)[0]) for name in ("few", "many")}
    assert sizes == {"few": [2], "many": [1, 2, 3, 4]}


@pytest.mark.skipif(sys.platform != "linux", reason="processor time of other processes")
def test_method_that_exceeded_a_limit_is_skipped_in_later_splits(tmp_path):
    settings = {**FEW, "methods": [("busy", Busy()), "mim"], "cpu_limit": 0.5, "n_features": [2]}
    made = protocol(datasets=[data("films", 60, 1)], **settings)
    outcome = Study(made.only(Part(repeats=1)), tmp_path).run()
    assert (outcome.n_run, outcome.n_failed) == (2, 1)
    assert "TimeLimit" in StudyResults(tmp_path).failures[0].error
    outcome = Study(made.only(Part(skip_exceeded=True)), tmp_path).run()
    assert (outcome.n_run, outcome.n_failed) == (1, 2)


def test_kept_rankings_serve_a_classifier_that_is_added_under_other_code(tmp_path, monkeypatch):
    made = protocol(**FEW)
    Study(made, tmp_path).run()
    before = contents(tmp_path)
    monkeypatch.setattr(plan, "code_print", lambda: "other")
    monkeypatch.setattr(cell_work, "code_print", lambda: "other")
    more = protocol(**{**FEW, "classifiers": [*FEW["classifiers"], {"name": "brknn", "k": 3}]})
    assert Study(more, tmp_path).run(changed="keep").n_run == 2 * 2 * 2
    assert contents(tmp_path)[0] == before[0]


def test_several_studies_in_one_file_share_settings_and_add_data_sets_and_methods(tmp_path):
    file = tmp_path / "several.toml"
    file.write_text(
        'methods = ["jmi"]\nmax_rows = 50\n'
        '[[studies]]\nname = "labels"\nmethods = ["pmu"]\ndatasets = ["emotions"]\n'
        '[[studies]]\nname = "numbers"\nmeasures = ["rrmse"]\nclassifiers = ["knn"]\ndatasets = ["slump"]\n',
        encoding="utf-8",
    )
    found = Protocol.several_from_toml(file)
    assert [[method.name for method in made.methods] for made in found.values()] == [
        ["jmi", "pmu", "random", "all"],
        ["jmi", "random", "all"],
    ]
    assert {made.max_rows for made in found.values()} == {50}
    with pytest.raises(StudyError, match="several studies"):
        Protocol.from_toml(file)
    file.write_text('methods = ["jmi"]\n[[studies]]\ndatasets = ["emotions"]\n', encoding="utf-8")
    with pytest.raises(StudyError, match="name"):
        Protocol.several_from_toml(file)
