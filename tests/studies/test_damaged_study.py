"""A study's file in which anything was changed is refused with its name and the place, or gives results."""

import shutil
import sqlite3
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve import InputError
from labelsieve.report import study_report
from labelsieve.studies import Study, StudyError, StudyResults
from labelsieve.studies.records import profile_of
from tests.support.command_line import refusal
from tests.support.small_studies import data, protocol

DEEP = "[" * 100_000 + "]" * 100_000
COLUMNS = {
    "facts": ("key", "value"),
    "runs": ("started", "ended", "pid", "host", "version", "environment", "preparing", "seconds"),
    "datasets": ("name", "data", "n_rows", "n_features", "n_labels", "test_share"),
    "selections": ("dataset", "split", "method", "n_wanted", "selected", "seconds", "peak_mb", "error", "run", "storing"),
    "cells": ("dataset", "split", "method", "classifier", "sizes", "measures", "seconds", "error", "training", "both"),
    "results": ("cell", "k", "measure", "value"),
}


def small():
    how = {"methods": ["jmi", "mim"], "n_features": [1, 2], "splits": "2x50%", "classifiers": [{"name": "mlknn", "k": 3}]}
    return protocol(datasets=[data(n_rows=60), data("films", 50, 1)], measures=["hamming_loss"], baselines=[], **how)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    Study(small(), folder).run()
    return folder


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "study")


def change(folder, statement, *values):
    db = sqlite3.connect(folder / "results.sqlite")
    with db:
        db.execute(statement, values)
    db.close()


DAMAGE = {
    "no JSON": ("UPDATE cells SET sizes = 'abc'", r"cells\.sizes of songs, 0, jmi, mlknn: not JSON"),
    "deep nesting": (
        f"UPDATE cells SET sizes = '{DEEP}'",
        r"cells\.sizes of .*: lists and tables are nested more than 40 deep",
    ),
    "text as a size": ("UPDATE cells SET sizes = '[\"1\"]'", r"cells\.sizes of .*\[0\] is '1', and a whole number is needed"),
    "numbers as measures": ("UPDATE cells SET measures = '[1]'", r"cells\.measures of .*\[0\] is 1, and text is needed"),
    "text as seconds": (
        "UPDATE cells SET seconds = 'long'",
        r"cells\.seconds is 'long', and a finite number is needed, in row",
    ),
    "bytes as a name": (
        "UPDATE cells SET method = x'00ff' WHERE id = 1",
        r"cells\.method is b'\\x00\\xff', and text is needed",
    ),
    "a table as a ranking": (
        "UPDATE selections SET selected = '{}'",
        r"selections\.selected of .* is \{\}, and a list is needed",
    ),
    "columns that are not there": (
        "UPDATE selections SET selected = '[0, 999]'",
        r"selections\.selected of .* has a number twice, or one outside 0 to 19",
    ),
    "a feature twice": ("UPDATE selections SET selected = '[3, 3]'", r"selections\.selected of .* has a number twice"),
    "a protocol that is a list": (
        "UPDATE facts SET value = '[]' WHERE key = 'protocol'",
        r"facts\.protocol is \[\], and a table",
    ),
    "methods without names": (
        "UPDATE facts SET value = '{\"methods\": [{}]}' WHERE key = 'protocol'",
        r"facts\.protocol\.methods\[0\] has no name",
    ),
    "a deep protocol": (
        f"UPDATE facts SET value = '{DEEP}' WHERE key = 'protocol'",
        r"facts\.protocol: lists and tables are nested",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_refused_with_the_file_and_the_place(folder, kind):
    statement, said = DAMAGE[kind]
    change(folder, statement)
    reads = [lambda: Study(small(), folder).run(), lambda: Study(small(), folder).plan(), lambda: everything(folder)]
    for read in reads[
        : 2 if said.startswith((r"cells\.sizes", r"cells\.measures")) else 3
    ]:  # results are read without the coverage of cells
        with pytest.raises(StudyError, match=rf"results\.sqlite: damaged: {said}.*Restore the file"):
            read()


ONLY_RESULTS = {
    "a measure that is not one": (
        "UPDATE results SET measure = 'hamming_los'",
        "results.measure: 'hamming_los' is not a measure. Did you",
    ),
    "text as a value": (
        "UPDATE results SET value = 'low'",
        "results.value is 'low', and a finite number is needed, in row 1, 1",
    ),
    "an infinite value": ("UPDATE results SET value = 9e999", "results.value is inf, and a finite number is needed"),
    "an environment that is no JSON": ("UPDATE runs SET environment = '{'", "runs.environment: not JSON"),
    "no data sets": ("DELETE FROM datasets", "results of 'films', which the table of data sets does not have"),
}


@pytest.mark.parametrize("kind", ONLY_RESULTS)
def test_damaged_results_are_refused_by_the_report_command(folder, kind, tmp_path):
    statement, said = ONLY_RESULTS[kind]
    change(folder, statement)
    assert said in refusal("report", folder, "-o", tmp_path / "study.html")


def everything(folder):
    """All that is read from a study."""
    results = StudyResults(folder)
    profile_of(folder).rows()
    results.to_frame()
    results.time_profile().to_markdown()
    study_report(results).html()
    for classifier in results.classifiers:
        for measure in results.measures:
            results.means(measure, classifier, corrected=True).to_latex()
            if len(results.methods) > 1:
                results.ranks(measure, classifier).to_markdown()


VALUES = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(-2, 60)
    | st.floats()
    | st.text(max_size=6)
    | st.binary(max_size=4)
    | st.sampled_from(
        ["[]", "{}", "[1]", "[1, 2]", '["hamming_loss"]', '{"methods": 3}', '{"scale": "none"}', DEEP, "NaN", "songs", "all"]
    )
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=st.data())
def test_any_changed_value_is_refused_or_gives_results(original, tmp_path_factory, case):
    folder = tmp_path_factory.mktemp("changed")
    shutil.copytree(original, folder, dirs_exist_ok=True)
    for _ in range(case.draw(st.integers(1, 2))):
        table = case.draw(st.sampled_from(sorted(COLUMNS)))
        column, value = case.draw(st.sampled_from(COLUMNS[table])), case.draw(VALUES)
        try:
            change(
                folder,
                f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {case.draw(st.sampled_from(['1', 'rowid = 1']))}",
                value,
            )
        except sqlite3.Error:  # a table without row numbers, or a column that allows no NULL
            change(folder, f"UPDATE OR IGNORE {table} SET {column} = coalesce(?, 0)", value)
    for read in (lambda: everything(folder), lambda: Study(small(), folder).run(changed="keep")):
        with suppress(InputError):
            read()
