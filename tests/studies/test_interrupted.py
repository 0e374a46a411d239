"""Ctrl-C ends with exit code 130, with processes and without, and the same command goes on."""

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from tests.studies.test_killed import stored_cells
from tests.support.command_line import known_table, run
from tests.support.shared_files import shared_file
from tests.support.small_studies import ROOT, contents

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")


def begin(command):
    full = [sys.executable, "-m", "labelsieve", *map(str, command)]
    # Python leaves SIGINT ignored if it is when a shell begins it in the background.
    return subprocess.Popen(
        full,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        start_new_session=True,
    )


def interrupted(command, folder):
    """Run until the first cell is stored, then Ctrl-C, as a terminal sends it to all processes of the command."""
    process = begin(command)
    patience = time.monotonic() + 120
    while process.poll() is None and not stored_cells(folder) and time.monotonic() < patience:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors, errors
    assert process.returncode == 130, errors
    again = shlex.join(["labelsieve", *map(str, command)])
    assert f"interrupted. Finished cells are kept in {folder}" in errors
    assert errors.endswith(f"to go on with the others: {again}\n")
    return stored_cells(folder)


def goes_on(command, folder, before):
    done = run(*command)
    assert done.exit_code == 0, done.stderr
    after = stored_cells(folder)
    assert set(before) < set(after), "what was there is as it was, and there is more"
    return done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_compare_ends_with_130_and_goes_on(tmp_path, jobs):
    known_table()[:100].to_csv(tmp_path / "songs.csv", index=False)
    command = ["compare", tmp_path / "songs.csv", "--labels", 5, "--methods", "jmi,mim", "--k", "1..10", "--splits", "10x50%"]
    command += ["--measures", "hamming_loss", "--jobs", jobs, "--out", tmp_path / "study"]
    before = interrupted(command, tmp_path / "study")
    assert 0 < len(before) < 40
    errors = goes_on(command, tmp_path / "study", before)
    assert f"{40 - len(before)} cells run, {len(before)} already stored, 0 failed" in errors
    assert len(contents(tmp_path / "study")[1]) == 40


# The very first worker of a program: with it, multiprocessing starts its resource tracker, which lets Ctrl-C through.
FIRST_WORKER = """
import os, signal
from labelsieve.studies.processes import Worker
from tests.support.small_studies import protocol
if __name__ == "__main__":
    worker = Worker(protocol())
    os.kill(worker._process.pid, signal.SIGINT)
    worker._process.join(1.0)
    print(worker._process.exitcode, signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    worker.stop()
"""


def test_ctrl_c_does_not_reach_a_worker_that_is_just_starting():
    ran = subprocess.run([sys.executable, "-c", FIRST_WORKER], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ran.stdout.split(), ran.stderr) == (["None", "False"], ""), "it lives, and Ctrl-C is heard by the runner again"


@pytest.mark.slow
def test_interrupted_published_study_ends_with_130_and_goes_on(tmp_path):
    data = shared_file("data", "emotions", "emotions.arff.gz").parents[1]
    command = ["study", "group-jmi-table2", "--quick", "--data", data, "--sets", "emotions", "--out", tmp_path / "study"]
    folder = tmp_path / "study" / "table2"
    before = interrupted(command, folder)
    assert 0 < len(before) < 12
    goes_on(command, folder, before)
