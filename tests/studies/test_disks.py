"""Full disks, read-only folders and places where there can be none: exit code 2, one clear line, nothing half-written."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from labelsieve.studies import Study
from tests.support.command_line import known_table, run
from tests.support.small_studies import ROOT, contents, protocol

PROGRAM = [sys.executable, "-m", "labelsieve"]
SMALL = ["--labels", "5", "--methods", "jmi", "--k", "1..20", "--splits", "4x50%", "--measures", "hamming_loss,macro_f1"]
LIMITED = """
import resource, signal, sys
from labelsieve.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
sys.argv[0] = "labelsieve"
main()
"""


@pytest.fixture
def songs(tmp_path):
    known_table()[:100].to_csv(tmp_path / "songs.csv", index=False)
    return tmp_path / "songs.csv"


def ended(command):
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr.splitlines()[-1]


def values(folder):
    """Values of each cell; the file must be sound."""
    db = sqlite3.connect(Path(folder) / "results.sqlite")
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    sql = "SELECT count(*) FROM cells LEFT JOIN results ON cell = id WHERE error IS NULL GROUP BY id"
    counts = [count for (count,) in db.execute(sql)]
    db.close()
    return counts


def goes_on(songs, folder):
    """With free space again, the same command ends as one that always had it."""
    assert run("compare", songs, *SMALL, "--out", folder).exit_code == 0
    assert run("compare", songs, *SMALL, "--out", songs.parent / "undisturbed").exit_code == 0
    assert contents(folder) == contents(songs.parent / "undisturbed")


def on_a_disk(script, *arguments):
    """Run a script that mounts, where nobody else sees it; skips where that is not allowed."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare to mount a disk with")
    command = ["unshare", "-m", "sh", "-c", script, "sh", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip(f"a disk cannot be mounted here: {done.stderr.strip()}")
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr.splitlines()[-1]


def test_full_disk_ends_with_exit_code_2_and_whole_cells(songs, tmp_path):
    (tmp_path / "small").mkdir()
    script = """mount -t tmpfs -o size=160k none "$1" || exit 77; where=$1; kept=$2; shift 2
    "$@"; code=$?; cp -r "$where/study" "$kept"; exit $code"""
    command = [*PROGRAM, "compare", songs, *SMALL, "--out", tmp_path / "small" / "study"]
    code, said = on_a_disk(script, tmp_path / "small", tmp_path / "kept", *command)
    assert (code, "the disk is full. Free some space and run again: finished cells are kept." in said) == (2, True), said
    found = values(tmp_path / "kept")
    assert set(found) <= {2, 40}, "a cell is whole or not there: 20 numbers of features, or all, and two measures"
    assert len(found) < 12
    goes_on(songs, tmp_path / "kept")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_file_that_may_not_grow_ends_with_exit_code_2_and_whole_cells(songs, tmp_path):
    code, said = ended([sys.executable, "-c", LIMITED, "compare", songs, *SMALL, "--out", tmp_path / "study"])
    assert (code, "results.sqlite: the disk failed while reading or writing" in said) == (2, True), said
    assert set(values(tmp_path / "study")) <= {2, 40}
    goes_on(songs, tmp_path / "study")


def test_place_where_there_can_be_no_folder_is_refused(songs):
    said = run("compare", songs, *SMALL, "--out", songs / "study")
    assert said.exit_code == 2
    assert "this folder cannot be created (Not a directory)" in said.stderr.splitlines()[-1]


@pytest.mark.parametrize("left", ["", "results.sqlite"])
def test_run_that_was_killed_before_it_made_its_tables_counts_for_nothing(tmp_path, left):
    if left:
        (tmp_path / left).touch()
    assert Study(protocol(), tmp_path).plan().count("missing") == 48
    assert os.listdir(tmp_path) == ([left] if left else [])
