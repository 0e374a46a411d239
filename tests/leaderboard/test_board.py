"""Results of a leaderboard: joined from shards, exported to Parquet and continued, and read as arrays."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.studies import Study, StudyError, StudyResults
from labelsieve.studies.protocol import Part
from labelsieve.studies.store import FILE
from leaderboard import export_results, import_results, merge_results, read_board
from tests.support.small_studies import contents, data, protocol

FEW = {"methods": ["jmi", "mim"], "classifiers": [{"name": "mlknn", "k": 3}], "splits": "2x50%", "n_features": [1, 2]}


def tagged():
    return protocol(datasets=[{"dataset": data(), "tags": ["music"]}, data("films", 60, 1)], **FEW)


def test_merged_shards_equal_the_whole(tmp_path):
    made = tagged()
    Study(made, tmp_path / "whole").run()
    for number in (1, 2, 3):
        Study(made.only(Part(shard=(number, 3))), tmp_path / str(number)).run()
    assert merge_results(tmp_path / "joined", [tmp_path / str(number) for number in (1, 2, 3)]) == 16
    assert contents(tmp_path / "joined") == contents(tmp_path / "whole")
    assert merge_results(tmp_path / "joined", [tmp_path / "1"]) == 0
    assert Study(made, tmp_path / "joined").run().n_run == 0
    assert StudyResults(tmp_path / "joined").means("hamming_loss").to_markdown() == (
        StudyResults(tmp_path / "whole").means("hamming_loss").to_markdown()
    )


def test_merge_prefers_results_to_errors_and_more_features_to_fewer(tmp_path):
    Study(protocol(**{**FEW, "n_features": [1]}), tmp_path / "few").run()
    Study(protocol(**FEW), tmp_path / "many").run()
    assert merge_results(tmp_path / "few", [tmp_path / "many"]) == 12
    assert contents(tmp_path / "few") == contents(tmp_path / "many")


def test_studies_of_earlier_versions_are_merged(tmp_path):
    """Their files have columns with the seconds of phases."""
    Study(tagged(), tmp_path / "whole").run()
    with closing(sqlite3.connect(tmp_path / "whole" / FILE)) as db:
        for table in ("runs", "selections", "cells"):
            db.execute(f"ALTER TABLE {table} ADD COLUMN storing REAL")
    assert merge_results(tmp_path / "joined", [tmp_path / "whole"]) == 16
    assert contents(tmp_path / "joined") == contents(tmp_path / "whole")


def test_merge_refuses_other_data_and_folders_without_a_study(tmp_path):
    Study(protocol(datasets=[data()], **FEW), tmp_path / "one").run()
    Study(protocol(datasets=[data(seed=5)], **FEW), tmp_path / "other").run()
    before = contents(tmp_path / "one")
    with pytest.raises(StudyError, match="songs, 0, all has other data, splits or settings"):
        merge_results(tmp_path / "one", [tmp_path / "other"])
    with pytest.raises(StudyError, match="no study"):
        merge_results(tmp_path / "one", [tmp_path / "none"])
    assert contents(tmp_path / "one") == before


def test_exported_results_are_imported_and_continued(tmp_path):
    pytest.importorskip("pyarrow")
    made = tagged()
    Study(made.only(Part(repeats=1)), tmp_path / "study").run()
    names = [path.name for path in export_results(tmp_path / "study", tmp_path / "files")]
    assert sorted(names) == ["cells.parquet", "selections.parquet", "values.parquet"]
    assert import_results(tmp_path / "files", tmp_path / "again") == 8
    before, after = contents(tmp_path / "study"), contents(tmp_path / "again")
    assert after[:2] == before[:2]
    assert [row[:-1] for row in after[2]] == [row[:-1] for row in before[2]]
    assert np.allclose([row[-1] for row in after[2]], [row[-1] for row in before[2]], rtol=1e-7)
    assert Study(made, tmp_path / "again").run().n_run == 8
    with pytest.raises(InputError, match="there is a study"):
        import_results(tmp_path / "files", tmp_path / "again")
    with pytest.raises(InputError, match=r"no cells\.parquet"):
        import_results(tmp_path / "study", tmp_path / "new")


def test_values_of_a_board_are_means_over_the_splits(tmp_path):
    Study(tagged(), tmp_path / "labels").run()
    board, results = read_board(tmp_path, sizes=(1, 2)), StudyResults(tmp_path / "labels")
    found = [(one.name, one.study, one.tags) for one in board.datasets]
    assert found == [("songs", "labels", ("music",)), ("films", "labels", ())]
    assert (board.methods, board.learners, board.n_cells) == (["jmi", "mim", "random", "all"], ["mlknn"], 16)
    assert (board.n_splits == 2).all()
    for d, one in enumerate(board.datasets):
        for m, method in enumerate(board.methods):
            expected = results.curve(one.name, method, "ranking_loss")[1].mean(axis=0)
            assert np.allclose(board.values[d, m, 0, board.measures.index("ranking_loss")], expected)
    assert board.hours > 0
    assert (board.cpu >= 0).all()
    with pytest.raises(StudyError, match="there is no study"):
        read_board(tmp_path / "labels" / "none")
