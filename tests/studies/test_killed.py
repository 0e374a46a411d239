"""A study that is killed, at any moment, ends as one that is not."""

import random
import sqlite3
import time

import pytest

from labelsieve.studies import Study
from tests.studies.small import contents, protocol, start

PAUSE = 0.05  # after each cell, so that kills fall between the first and the last


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    Study(protocol(), folder).run()
    return contents(folder)


def stored_cells(folder):
    try:
        db = sqlite3.connect(f"file:{folder / 'results.sqlite'}?mode=ro", uri=True)
        found = db.execute("SELECT id, dataset, split, method, classifier, seconds FROM cells").fetchall()
        db.close()
    except sqlite3.OperationalError:
        return []
    return found


def killed_run(folder, rng, n_jobs):
    """One run, killed at a random time after its first new cell; True if it ended by itself."""
    before, process = len(stored_cells(folder)), start(folder, n_jobs=n_jobs, pause=PAUSE)
    patience = time.monotonic() + 60
    while process.poll() is None and len(stored_cells(folder)) == before and time.monotonic() < patience:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, 4 * PAUSE))
    process.kill()
    _, errors = process.communicate()
    assert process.returncode in (0, -9), errors
    return process.returncode == 0


def killed_again_and_again(folder, kills, n_jobs):
    rng, times = random.Random(kills), {}
    for _ in range(kills):
        ended = killed_run(folder, rng, n_jobs)
        for number, *key, seconds in stored_cells(folder):
            assert times.setdefault(tuple(key), (number, seconds)) == (number, seconds), "a finished cell was run again"
        if ended:
            break
    Study(protocol(), folder).run()
    assert {tuple(key): (number, seconds) for number, *key, seconds in stored_cells(folder)}.items() >= times.items()


def test_killed_study_resumes_without_repeating_or_losing_a_cell(tmp_path, undisturbed):
    killed_again_and_again(tmp_path, 2, 1)
    assert contents(tmp_path) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_study_killed_twenty_times_ends_as_an_undisturbed_one(tmp_path, undisturbed, n_jobs):
    killed_again_and_again(tmp_path, 20, n_jobs)
    assert contents(tmp_path) == undisturbed


def test_processes_give_the_same_results_as_one(tmp_path, undisturbed):
    assert Study(protocol(), tmp_path).run(n_jobs=2).n_failed == 0
    assert contents(tmp_path) == undisturbed
