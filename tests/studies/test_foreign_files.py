"""Files of others in the place of a study's are refused in words, and stay as they are."""

import sqlite3

import pytest

from labelsieve.studies import Study, StudyError, StudyResults
from tests.support.small_studies import protocol

FOREIGN = {
    "another program's": ["CREATE TABLE songs (name)"],
    "with a table of facts": ["CREATE TABLE facts (name)"],
    "with keys and values": ["CREATE TABLE facts (key, value)", "INSERT INTO facts VALUES ('format', 'songs')"],
}


def refused(folder, said):
    for question in (lambda: StudyResults(folder), lambda: Study(protocol(), folder).run()):
        with pytest.raises(StudyError, match=said):
            question()


@pytest.mark.parametrize("case", FOREIGN)
def test_a_database_of_another_program_is_no_study(tmp_path, case):
    with sqlite3.connect(tmp_path / "results.sqlite") as db:
        for statement in FOREIGN[case]:
            db.execute(statement)
    db.close()
    refused(tmp_path, r"results\.sqlite: this file is not a study\. Use another folder\.")
    db = sqlite3.connect(tmp_path / "results.sqlite")
    assert len(db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()) == 1
    db.close()


def test_text_is_no_study(tmp_path):
    (tmp_path / "results.sqlite").write_text("not a database at all, " * 100, encoding="utf-8")
    refused(tmp_path, "this file is not a study")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "results.sqlite").mkdir()
    refused(tmp_path, r"results\.sqlite: this is a folder, and the study's file")
