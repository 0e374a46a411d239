"""A fit that was killed continues from the encoded columns in its cache folder."""

import json
import signal
import subprocess
import sys

import pytest

from labelsieve import Sieve
from tests.selectors.test_chunked_tables import LABELS, N_ROWS, Stopped, assert_same, from_memory, make_frame

PROGRAM = """
import os, signal, sys
from labelsieve import Sieve
from labelsieve.counting.mapped_codes import CodesFile
from labelsieve.datasets import ChunkedTable

path, cache, limit, where = sys.argv[1:]
calls = []

def kill_at_the_fourth_call(method):
    def wrapped(*arguments):
        calls.append(None)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(*arguments)
    return wrapped

if where == "reading":
    ChunkedTable.features = kill_at_the_fourth_call(ChunkedTable.features)
else:  # the column is in the file, and the list of finished columns does not have it
    CodesFile._write_manifest = kill_at_the_fourth_call(CodesFile._write_manifest)
table = ChunkedTable.from_parquet(path, ["l0", "l1", "l2", "l3"], memory_limit=int(limit), cache_folder=cache)
Sieve("jmi").fit(table)
"""


@pytest.mark.parametrize("where", ["reading", "writing"])
def test_killed_fit_continues_with_the_columns_that_are_left(tmp_path, where):
    path, cache = tmp_path / "songs.parquet", tmp_path / "cache"
    make_frame().to_parquet(path, row_group_size=150)
    limit = 60 * N_ROWS  # one column at a time
    killed = subprocess.run([sys.executable, "-c", PROGRAM, path, cache, str(limit), where], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    (manifest,) = cache.rglob("codes.json")
    assert len(json.loads(manifest.read_text())["levels"]) == 3
    table = Stopped.from_parquet(path, LABELS, memory_limit=limit, cache_folder=cache)
    assert_same(Sieve("jmi").fit(table), from_memory(path, criterion="jmi"))
    assert table.read == 5  # of eight
