"""A study that is killed, at any moment, ends as one that is not."""

import random
import sqlite3
import time

import pytest

from labelsieve.studies import Study
from tests.support.small_studies import contents, protocol, start

PAUSE = 0.05  # after each cell, so that kills fall between the first and the last


def undisturbed(folder, splits):
    Study(protocol(splits=splits), folder).run()
    return contents(folder)


def stored_cells(folder):
    try:
        db = sqlite3.connect(f"file:{folder / 'results.sqlite'}?mode=ro", uri=True)
        found = db.execute("SELECT id, dataset, split, method, classifier, seconds FROM cells").fetchall()
        db.close()
    except sqlite3.OperationalError:
        return []
    return found


def killed_run(folder, rng, **how):
    """One run, killed at a random time: while it starts, or after its first new cell; True if it was killed."""
    before, process = len(stored_cells(folder)), start(folder, pause=PAUSE, **how)
    patience = time.monotonic() + (rng.uniform(0, 1) if rng.random() < 0.3 else 120)
    while process.ended() is None and len(stored_cells(folder)) == before and time.monotonic() < patience:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, 2 * PAUSE))
    code, errors = process.kill()
    assert code in (0, -9), errors
    return code == -9


def killed_again_and_again(folder, kills, splits, **how):
    rng, times = random.Random(kills), {}
    for _ in range(kills):
        assert killed_run(folder, rng, splits=splits, **how), "the study is too small to be killed so often"
        for number, *key, seconds in stored_cells(folder):
            assert times.setdefault(tuple(key), (number, seconds)) == (number, seconds), "a finished cell was run again"
    Study(protocol(splits=splits), folder).run()
    assert {tuple(key): (number, seconds) for number, *key, seconds in stored_cells(folder)}.items() >= times.items()


def test_killed_study_resumes_without_repeating_or_losing_a_cell(tmp_path):
    killed_again_and_again(tmp_path / "killed", 2, "3x50%")
    assert contents(tmp_path / "killed") == undisturbed(tmp_path / "undisturbed", "3x50%")


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_study_killed_twenty_times_ends_as_an_undisturbed_one(tmp_path, n_jobs):
    killed_again_and_again(tmp_path / "killed", 20, "12x50%", n_jobs=n_jobs)
    assert contents(tmp_path / "killed") == undisturbed(tmp_path / "undisturbed", "12x50%")


def test_processes_give_the_same_results_as_one(tmp_path):
    assert Study(protocol(), tmp_path / "two").run(n_jobs=2).n_failed == 0
    assert contents(tmp_path / "two") == undisturbed(tmp_path / "one", "3x50%")
