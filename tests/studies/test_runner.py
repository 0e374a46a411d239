"""Adding to a study, failing cells, limits, changes, two runners, and disks that do not take it."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from labelsieve.classifiers import MLkNN
from labelsieve.studies import Study, StudyError, StudyResults, plan, store
from labelsieve.studies.store import StudyStore
from tests.support.small_studies import ROOT, contents, data, protocol, start


class Difficult(BaseEstimator):
    """Ranks columns as they come; refuses, sleeps or grows on data of so many training rows."""

    def __init__(self, n_rows=30, how="refuse", n_features_to_select=10):
        self.n_rows = n_rows
        self.how = how
        self.n_features_to_select = n_features_to_select

    def fit(self, X, Y):
        if len(X) == self.n_rows:
            if self.how == "refuse":
                raise ValueError("these rows\nare difficult")
            if self.how == "die":
                os._exit(7)
            self.ballast = np.ones(2**27) if self.how == "grow" else None  # 1 GB
            time.sleep(30)
        self.selected_ = np.arange(self.n_features_to_select)
        return self


class Slow(MLkNN):
    """Learns for half a minute from so many training rows."""

    def fit(self, X, y):
        if len(X) == 30:
            time.sleep(30)
        return super().fit(X, y)

    extension = "none"  # no nested predictions: fit is called


def errors(folder):
    return {row[:4]: row[-1] for row in contents(folder)[1] if row[-1] is not None}


def test_added_method_data_set_and_classifier_run_only_what_is_new(tmp_path):
    first = protocol(datasets=[data()], methods=["jmi"], classifiers=[{"name": "mlknn", "k": 3}])
    assert Study(first, tmp_path).run().n_run == 3 * 3
    before = contents(tmp_path)
    outcome = Study(protocol(datasets=[data()], classifiers=[{"name": "mlknn", "k": 3}]), tmp_path).run()
    assert (outcome.n_run, outcome.n_known) == (3, 9)
    assert Study(protocol(), tmp_path).run().n_run == 2 * 3 * 4 * 2 - 12
    after = contents(tmp_path)
    assert all(set(old) <= set(new) for old, new in zip(before, after, strict=True))
    fresh = tmp_path / "fresh"
    Study(protocol(), fresh).run()
    assert contents(fresh) == after


def test_more_features_and_measures_keep_what_was_selected_where_it_is_enough(tmp_path):
    few = {"datasets": [data()], "methods": ["jmi"], "baselines": []}
    Study(protocol(**few, n_features="1..4"), tmp_path).run()
    batches = Study(protocol(**few, n_features=[2], measures=["macro_f1"]), tmp_path).plan().batches
    assert all(step.classifier is not None for batch in batches for step in batch.steps), "no selection is needed"
    Study(protocol(**few, n_features=[2, 6], measures=["macro_f1"]), tmp_path).run()
    values = {row[4:6] for row in contents(tmp_path)[2]}
    assert values == {(k, measure) for k in (1, 2, 3, 4, 6) for measure in ("hamming_loss", "ranking_loss", "macro_f1")}


class Narrow(BaseEstimator):
    """Takes no more than three features."""

    def fit(self, X, Y):
        if X.shape[1] > 3:
            raise ValueError("too wide")
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((len(X), self.n_labels_), dtype=int)


class Short(Difficult):
    """Finds no more than three features."""

    def fit(self, X, Y):
        if self.n_features_to_select > 3:
            raise ValueError("too many")
        return super().fit(X, Y)


@pytest.mark.parametrize("what", ["classifier", "selector"])
def test_what_was_there_is_kept_when_more_fails(tmp_path, what):
    given = (
        {"methods": ["jmi"], "classifiers": [("narrow", Narrow())]} if what == "classifier" else {"methods": [("s", Short(0))]}
    )
    common = {"datasets": [data()], "measures": ["hamming_loss"], "baselines": [], "splits": "2x50%", **given}
    few, more = (protocol(**common, n_features=sizes) for sizes in ("1..3", "1..5"))
    n_cells = Study(few, tmp_path).run().n_run
    selections, cells, values = contents(tmp_path)
    assert Study(more, tmp_path).run().n_failed == n_cells
    after = contents(tmp_path)
    assert after[2] == values
    assert [row[:-1] for row in after[1]] == [row[:-1] for row in cells]
    assert all("too" in row[-1] for row in after[1])
    assert [row[3:-1] for row in after[0]] == [row[3:-1] for row in selections] or what == "classifier"
    again = Study(few, tmp_path).run()
    assert (again.n_run, again.n_known, again.n_failed) == (0, n_cells, 0)
    assert (Study(more, tmp_path).run().n_failed, Study(more, tmp_path).run(retry_failed=True).n_run) == (n_cells, n_cells)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failing_cell_is_recorded_and_the_rest_goes_on(tmp_path, n_jobs):
    study = protocol(methods=["jmi", ("difficult", Difficult())], classifiers=[{"name": "mlknn", "k": 3}])
    outcome = Study(study, tmp_path).run(n_jobs=n_jobs)
    assert (outcome.n_run, outcome.n_failed) == (24, 3)
    assert errors(tmp_path) == {
        ("films", split, "difficult", "mlknn"): "no selection: ValueError: these rows are difficult" for split in range(3)
    }
    assert Study(study, tmp_path).run().n_run == 0, "failed cells are not run again"
    assert Study(study, tmp_path).run(retry_failed=True).n_run == 3


@pytest.mark.parametrize(("how", "said"), [("sleep", "TimeLimit"), ("grow", "MemoryLimit"), ("die", "exit code 7")])
def test_limits_and_deaths_take_only_their_cell(tmp_path, how, said):
    if how == "grow" and not Path("/proc/self/statm").exists():
        pytest.skip("this system does not report how much memory a process holds")
    study = protocol(
        datasets=[data(), data("films", 60, 1)],
        methods=[("difficult", Difficult(how=how)), "jmi"],
        classifiers=[{"name": "mlknn", "k": 3}],
        splits="1x50%",
    )
    limits = {"time_limit": 5.0 if how == "sleep" else 25.0, "memory_limit": 700.0 if how == "grow" else None}
    outcome = Study(study, tmp_path).run(**limits)
    assert (outcome.n_run, outcome.n_failed) == (8, 1)
    assert said in errors(tmp_path)["films", 0, "difficult", "mlknn"]


def test_a_killed_evaluation_leaves_the_ranking_to_the_others(tmp_path):
    study = protocol(
        datasets=[data("films", 60, 1)],
        methods=[("difficult", Difficult()), "jmi"],
        classifiers=[("slow", Slow(k=3)), {"name": "mlknn", "k": 3}],
        splits="1x50%",
        baselines=[],
        n_features=[2],
    )
    outcome = Study(study, tmp_path).run(time_limit=4.0)
    assert (outcome.n_run, outcome.n_failed) == (4, 3)
    found = errors(tmp_path)
    assert "TimeLimit" in found.pop(("films", 0, "jmi", "slow"))
    assert len(found) == 2
    assert all("these rows are difficult" in error for error in found.values())
    assert {row[2:4] for row in contents(tmp_path)[2]} == {("jmi", "mlknn")}


def test_changed_data_is_noticed_and_never_mixed_silently(tmp_path):
    few = {"methods": ["jmi"], "baselines": [], "classifiers": [{"name": "mlknn", "k": 3}]}
    Study(protocol(datasets=[data()], **few), tmp_path).run()
    before = contents(tmp_path)
    other = protocol(datasets=[data(seed=5)], **few)
    with pytest.raises(StudyError, match=r"the data of songs \(3 cells\)"):
        Study(other, tmp_path).run()
    assert contents(tmp_path) == before
    kept = Study(other, tmp_path).run(changed="keep")
    assert (kept.n_run, kept.n_stale, kept.changes) == (0, 3, "the data of songs (3 cells)")
    assert contents(tmp_path) == before
    more = protocol(datasets=[data(seed=5)], **(few | {"methods": ["jmi", "mim"]}))
    assert Study(more, tmp_path).run(changed="keep").n_run == 3
    assert StudyResults(tmp_path).mixed == ["data of songs"]
    assert Study(other, tmp_path).run(changed="rerun").n_run == 3
    assert StudyResults(tmp_path).mixed == []
    assert contents(tmp_path) != before
    assert Study(other, tmp_path).run().n_run == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "the splits of songs"),
        ({"classifiers": [{"name": "mlknn", "k": 4}]}, "settings of jmi or mlknn"),
        ({"methods": [{"name": "jmi", "targets": "joint"}]}, "settings of jmi or mlknn"),
        ({"convention": "mulan"}, r"the convention \(3 cells\)"),
    ],
)
def test_changed_settings_are_noticed(tmp_path, change, said):
    few = {"datasets": [data()], "methods": ["jmi"], "baselines": [], "classifiers": [{"name": "mlknn", "k": 3}]}
    Study(protocol(**few), tmp_path).run()
    with pytest.raises(StudyError, match=said):
        Study(protocol(**(few | change)), tmp_path).run()


def test_changed_code_is_noticed(tmp_path, monkeypatch):
    Study(protocol(), tmp_path).run()
    monkeypatch.setattr(plan, "code_print", lambda: "another")
    with pytest.raises(StudyError, match="the code of labelsieve \\(48 cells\\)"):
        Study(protocol(), tmp_path).run()


def test_second_runner_is_refused_and_nothing_is_lost(tmp_path):
    process = start(tmp_path, pause=0.05)
    try:
        patience = time.monotonic() + 60
        while not list(tmp_path.glob("results.sqlite")) and time.monotonic() < patience:
            time.sleep(0.01)
        with pytest.raises(StudyError, match="this study is already running"):
            Study(protocol(), tmp_path).run()
        assert process.ended(60) == 0
    finally:
        process.kill()
    assert Study(protocol(), tmp_path).run().n_run == 0


def test_two_runners_started_at_once_lose_nothing(tmp_path):
    both = [start(tmp_path / "study", pause=0.05) for _ in range(2)]
    codes, said = [process.ended(120) for process in both], [process.kill()[1] for process in both]
    assert sorted(codes) == [0, 1], said
    assert "this study is already running" in said[codes.index(1)]
    Study(protocol(), tmp_path / "alone").run()
    assert contents(tmp_path / "study") == contents(tmp_path / "alone")


def test_two_runners_of_one_process_exclude_each_other(tmp_path):
    with StudyStore(tmp_path), pytest.raises(StudyError, match="is already running"):
        StudyStore(tmp_path)
    StudyStore(tmp_path).__exit__()


def test_full_disk_ends_in_a_clear_error_and_keeps_what_was_done(tmp_path, monkeypatch):
    connect = store.connect

    def small(path):
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 11")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(store, "connect", small)
        with pytest.raises(StudyError, match="the disk is full"):
            Study(protocol(), tmp_path).run()
    assert Study(protocol(), tmp_path).run().n_cells == 48
    assert len(contents(tmp_path)[1]) == 48


def test_read_only_folder_ends_in_a_clear_error():
    """In a process without privileges, since nothing is read-only for root."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("locked", "locked/study"):
            Path(folder, name).mkdir()
        script = f"""
import os
from labelsieve.studies import StudyError, StudyResults
from labelsieve.studies.store import StudyStore
if hasattr(os, "geteuid") and os.geteuid() == 0:
    os.setuid(65534)
print(len(StudyResults("{folder}/locked/done").methods))
for place in ("locked/study", "locked/new"):
    try:
        StudyStore("{folder}/" + place)
    except StudyError as error:
        print(error)
"""
        Study(protocol(datasets=[data()], methods=["jmi"]), Path(folder, "locked/done")).run()
        Path(folder).chmod(0o755)
        Path(folder, "locked/study").chmod(0o555)
        Path(folder, "locked/done").chmod(0o555)
        Path(folder, "locked").chmod(0o555)
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
        Path(folder, "locked").chmod(0o755)
        Path(folder, "locked/study").chmod(0o755)
        Path(folder, "locked/done").chmod(0o755)
    read, opened, made = done.stdout.splitlines()
    assert read == "3", "a finished study can be read there"
    assert "it cannot be opened: the folder is missing or read-only" in opened
    assert "this folder cannot be created (Permission denied)" in made


@pytest.mark.parametrize("version", [3, 99])
def test_study_of_another_version_is_refused(tmp_path, version):
    StudyStore(tmp_path).__exit__()
    db = sqlite3.connect(tmp_path / "results.sqlite")
    db.execute("UPDATE facts SET value = ? WHERE key = 'version'", (str(version),))
    db.commit()
    db.close()
    with pytest.raises(
        StudyError, match=rf"results\.sqlite: version {version} of the format, and this release reads version 4"
    ):
        StudyStore(tmp_path)
    with pytest.raises(StudyError, match=f"version {version} of the format"):
        StudyResults(tmp_path)
