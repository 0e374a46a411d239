"""The archive of replicated values: studies fill it cell by cell, and computing a cell again gives what it holds."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from labelsieve.errors import InputError
from labelsieve.studies import StudyResults
from replications import REPLICATIONS, archive, campaign
from tests.support.shared_files import shared_file

ROOT = Path(__file__).parents[2]
STUDY, PART, SET = "infogain-tables12", "tables12", "flags"


@pytest.fixture
def data_home():
    return os.fspath(shared_file("data", "MANIFEST.json").parent)


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "RESULTS", tmp_path / "results")
    archive.archived.cache_clear()
    yield tmp_path
    archive.archived.cache_clear()


def run_part(folder, data_home, minutes=5.0):
    known = archive.finished([STUDY], folder)
    return campaign.run([STUDY], folder, jobs=1, minutes=minutes, sets=[SET], data_home=data_home, known=known)


def test_an_archive_returns_what_the_study_stored(empty, data_home):
    n_cells = run_part(empty / "shard", data_home)
    archive.collect([empty / "shard"], "0123")
    stored, kept = StudyResults(empty / "shard" / STUDY / PART), archive.archived(STUDY)[PART]
    assert n_cells == 70
    assert (kept.datasets, sorted(kept.methods), kept.measures) == (stored.datasets, sorted(stored.methods), stored.measures)
    for method in kept.methods:
        for one, other in zip(kept.curve(SET, method, "hamming_loss"), stored.curve(SET, method, "hamming_loss"), strict=True):
            np.testing.assert_array_equal(one, other)
        assert kept.seconds(SET, method) == pytest.approx(stored.seconds(SET, method), rel=1e-5)
    assert kept.shapes == stored.shapes
    assert set(archive.read(STUDY)[0]["commit"]) == {"0123"}


def test_a_run_that_ended_early_continues_with_the_missing_cells(empty, data_home, monkeypatch):
    take, taken = campaign.Queue.take, []

    def take_five(self, seconds_left):
        taken.append(1)
        return take(self, seconds_left) if len(taken) <= 5 else None

    monkeypatch.setattr(campaign.Queue, "take", take_five)
    assert run_part(empty / "shard", data_home) == 5
    archive.collect([empty / "shard"], "0123")
    assert archive.archived(STUDY) == {}, "no mean over some of the folds"
    monkeypatch.setattr(campaign.Queue, "take", take)
    assert run_part(empty / "second shard", data_home) == 65
    archive.archived.cache_clear()
    assert archive.collect([empty / "second shard"], "4567")[STUDY] == 70
    assert set(archive.read(STUDY)[0]["commit"]) == {"0123", "4567"}
    assert run_part(empty / "third shard", data_home) == 0


def test_the_commit_of_other_code_must_be_named(empty, data_home, monkeypatch):
    run_part(empty / "shard", data_home)
    monkeypatch.setattr(archive, "code_print", lambda: "other")
    with pytest.raises(InputError, match="pass the commit"):
        archive.collect([empty / "shard"])


def test_groups_that_need_the_fewest_seconds_in_all_come_first():
    one, two, three = (archive.Group("study", "part", name, "jmi", "knn") for name in ("a", "b", "c"))
    costs = campaign.Costs()
    costs.guesses |= {one: 1.0, two: 2.0, three: 4.0}
    costs.add(one, 30.0)
    assert (costs(one), costs(two), costs(three)) == (30.0, pytest.approx(60.0), pytest.approx(120.0))
    costs.add(three, 10.0)
    cells = [campaign.Cell(group, None) for group in (one, two, three, three)]
    queue = campaign.Queue(dict(enumerate(cells)), costs)
    assert [queue.take(100.0) for _ in range(3)] == [1, 2, 3], "17 s, then two cells of 10 s, the first split first"
    assert queue.take(10.0) is None, "no time is left for it"


def test_costs_are_guessed_from_the_same_data_before_the_same_method():
    fast, slow = (archive.Group("study", "part", name, "jmi", "knn") for name in ("small", "large"))
    costs = campaign.Costs()
    costs.guesses |= {fast: 1.0, slow: 10.0, slow._replace(method="all"): 10.0}
    costs.add(fast, 8.0)
    assert costs(slow) == pytest.approx(80.0)
    costs.add(slow._replace(method="all"), 20.0)
    assert costs(slow) == pytest.approx(20.0)


def test_a_machine_without_the_archive_runs_the_groups_of_a_plan(empty, data_home, monkeypatch, capsys):
    campaign.main(["plan", STUDY, "--sets", SET, "--data", data_home])
    plan = [entry for entry in json.loads(capsys.readouterr().out) if entry["method"] == "mlinfogain"]
    plan[0] |= {"finished": [0, 2], "missing": 8, "seconds": 4.0}
    path = empty / "plan.json"
    path.write_text(json.dumps(plan))
    monkeypatch.setattr(archive, "_parquet", lambda: pytest.fail("the archive is read"))
    monkeypatch.setattr(campaign, "matrix_kernels", lambda: {archive.KERNELS})
    command = ["run", "--plan", str(path), "--out", str(empty / "shard"), "--data", data_home]
    campaign.main(command)
    assert "8 cells finished, 0 left." in capsys.readouterr().out
    (group,) = campaign.read_plan(path)
    assert archive.finished([], empty / "shard")[group].splits == {1, 3, 4, 5, 6, 7, 8, 9}
    campaign.main(command)
    assert "0 cells of 0 groups" in capsys.readouterr().out


def test_a_group_that_turns_out_to_be_expensive_waits():
    cheap, misjudged = (archive.Group("study", "part", name, "jmi", "knn") for name in ("a", "b"))
    costs = campaign.Costs()
    costs.guesses |= {cheap: 2.0, misjudged: 0.1}
    queue = campaign.Queue(dict(enumerate(campaign.Cell(group, None) for group in (misjudged, misjudged, cheap))), costs)
    assert queue.take(1000.0) == 0
    costs.add(misjudged, 100.0)
    costs.add(cheap, 2.0)
    assert [queue.take(1000.0) for _ in range(2)] == [2, 1]


@pytest.fixture(scope="module")
def checked():
    """Return what a check of all studies prints.

    It runs in a process of its own, because numpy and scipy choose instructions by the processor when they are imported.
    """
    folder = os.fspath(shared_file("data", "MANIFEST.json").parent)
    command = [sys.executable, "-m", "replications.campaign", "check", "--data", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", REPLICATIONS)
def test_computing_archived_cells_again_gives_the_same_values(name, checked):
    said = re.search(rf"^{name}: {campaign.RECOMPUTED} cells with [1-9].*\n((?:  .*\n)*)", checked, flags=re.MULTILINE)
    assert said is not None, checked
    assert not said[1], said[1]


def test_a_change_of_a_single_value_fails_the_check_by_any_kernels(data_home, monkeypatch, capsys):
    columns, shapes = archive.read(STUDY)
    columns["value"] = [value + 1.01 * campaign.OTHER_KERNELS for value in columns["value"]]
    monkeypatch.setattr(campaign, "read", lambda name: (columns, shapes))
    with pytest.raises(SystemExit):
        campaign.main(["check", STUDY, "--data", data_home])
    assert "differs by 0.05" in capsys.readouterr().out


def test_values_must_be_equal_where_the_kernels_of_the_archive_run(monkeypatch):
    exact, near = campaign.Recomputed((), [(0.25, 0.25)]), campaign.Recomputed((), [(0.25, 0.25), (0.5, 0.5 + 1e-6)])
    monkeypatch.setattr(campaign, "matrix_kernels", lambda: {archive.KERNELS})
    assert [exact.agrees(), near.agrees()] == [True, False]
    monkeypatch.setattr(campaign, "matrix_kernels", lambda: {archive.KERNELS, "SkylakeX"})
    assert [exact.agrees(), near.agrees()] == [True, True]
