"""The archive of replicated values: studies fill it cell by cell, and computing a cell again gives what it holds."""

import os

import numpy as np
import pytest

from labelsieve.errors import InputError
from labelsieve.studies import StudyResults
from replications import REPLICATIONS, archive, campaign
from tests.support.shared_files import shared_file

RECOMPUTED = 3  # cells of each study, the cheapest ones
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
    assert [queue.take(100.0) for _ in range(3)] == [1, 3, 2], "17 s, then two cells of 10 s"
    assert queue.take(10.0) is None, "no time is left for it"


@pytest.mark.parametrize("name", REPLICATIONS)
def test_computing_archived_cells_again_gives_the_same_values(name, data_home):
    columns, _ = archive.read(name)
    assert columns, f"nothing of {name} is archived; run replications.campaign"
    cells = {}
    for row in zip(*(columns[key] for key in (*archive.KEY, "cpu", "selection_cpu", "error")), strict=True):
        *key, cpu, selection, error = row
        if not error:
            cells[tuple(key)] = (cpu or 0.0) + (selection or 0.0)
    by_group = {}
    for (part, dataset, _, method, classifier), seconds in cells.items():
        by_group[part, dataset, method, classifier] = seconds
    groups = sorted(by_group, key=by_group.__getitem__)
    step = max(1, len(groups) // 2 // RECOMPUTED)
    for part, dataset, method, classifier in groups[: RECOMPUTED * step : step]:
        (loaded,) = [found for key, found in campaign.load_parts([name], [dataset], data_home).items() if key[1] == part]
        missing, _ = campaign.cells_to_run({(name, part): loaded}, {})
        cell = missing[archive.Group(name, part, dataset, method, classifier)][0]
        *_, result = campaign.run_cell(loaded, cell)
        assert result.error is None
        wanted = {
            (k, measure): value
            for *key, k, measure, value in zip(
                *(columns[column] for column in (*archive.KEY, "k", "measure", "value")), strict=True
            )
            if tuple(key) == (part, dataset, cell.batch.split, method, classifier)
        }
        got = {(value.n_features, value.measure): value.value for value in result.values}
        assert got.keys() == wanted.keys()
        np.testing.assert_allclose([got[key] for key in wanted], list(wanted.values()), rtol=1e-9, atol=_tolerance())


def _tolerance():
    """With other matrix kernels, linear models that stop at a tolerance predict some labels differently."""
    return 1e-12 if archive.matrix_kernels() == {archive.KERNELS} else 0.05
