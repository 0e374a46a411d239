"""A study's file keeps what its tables allow, and a damaged one is refused with its name."""

import shutil
import sqlite3
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve import InputError
from labelsieve.report import study_report
from labelsieve.studies import Study, StudyError, StudyResults
from tests.support.command_line import refusal
from tests.support.small_studies import data, protocol

DAMAGED = r"results\.sqlite: this file is damaged\. Restore it from a copy, or use another folder"


def small():
    how = {"methods": ["jmi", "mim"], "n_features": [1, 2], "splits": "2x50%", "classifiers": [{"name": "mlknn", "k": 3}]}
    return protocol(datasets=[data(n_rows=60), data("films", 50, 1)], measures=["hamming_loss"], baselines=[], **how)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    Study(small(), folder).run()
    db = sqlite3.connect(folder / "results.sqlite")
    db.execute("PRAGMA journal_mode = DELETE")  # all of it in one file, of which bytes are changed
    db.close()
    return folder


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "study")


def change(folder, *statements):
    db = sqlite3.connect(folder / "results.sqlite")
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()


# What a table does not allow, whatever program writes it.
FORBIDDEN = {
    "no JSON": "UPDATE cells SET sizes = 'abc'",
    "a table as sizes": "UPDATE cells SET sizes = '{}'",
    "text as seconds": "UPDATE cells SET seconds = 'long'",
    "bytes as a name": "UPDATE cells SET method = x'00ff' WHERE id = 1",
    "a negative split": "UPDATE cells SET split = -1 WHERE id = 1",
    "a table as a ranking": "UPDATE selections SET selected = '{}'",
    "a protocol that is no JSON": "UPDATE facts SET value = '[' WHERE key = 'protocol'",
    "an infinite value": "UPDATE results SET value = 9e999",
    "text as a value": "UPDATE results SET value = 'low'",
    "an environment that is no JSON": "UPDATE runs SET environment = '{'",
}


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_values_of_the_wrong_kind_cannot_be_written(folder, kind):
    with pytest.raises(sqlite3.IntegrityError):
        change(folder, FORBIDDEN[kind])


@pytest.mark.parametrize("kind", [*(kind for kind in FORBIDDEN if "JSON" in kind or "a table" in kind), "no data sets"])
def test_values_that_were_written_nevertheless_are_refused_with_the_file(folder, kind, tmp_path):
    change(folder, "PRAGMA ignore_check_constraints = ON", FORBIDDEN.get(kind, "DELETE FROM datasets"))
    for read in (lambda: Study(small(), folder).run(), lambda: Study(small(), folder).plan(), lambda: StudyResults(folder)):
        with pytest.raises(StudyError, match=DAMAGED):
            read()
    assert "results.sqlite: this file is damaged." in refusal("report", folder, "-o", tmp_path / "study.html")


def everything(folder):
    """All that is read from a study."""
    results = StudyResults(folder)
    results.to_frame()
    study_report(results).html()
    for classifier in results.classifiers:
        for measure in results.measures:
            results.means(measure, classifier, corrected=True).to_latex()
            if len(results.methods) > 1:
                results.ranks(measure, classifier).to_markdown()


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(page=st.floats(0, 1, exclude_max=True), size=st.sampled_from([1, 16, 4096]), byte=st.sampled_from([0x00, 0xFF, 0x7B]))
def test_overwritten_bytes_are_refused_or_give_results(original, tmp_path_factory, page, size, byte):
    folder = shutil.copytree(original, tmp_path_factory.mktemp("changed"), dirs_exist_ok=True)
    content = bytearray((folder / "results.sqlite").read_bytes())
    start = int(page * len(content))
    content[start : start + size] = bytes([byte]) * len(content[start : start + size])
    (folder / "results.sqlite").write_bytes(content)
    for read in (lambda: everything(folder), lambda: Study(small(), folder).run(changed="keep")):
        with suppress(InputError):
            read()
