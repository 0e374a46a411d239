"""``select --memory-limit``: files that are read by columns have the selection of the whole table."""

import json
import os
import signal
import subprocess
import sys
import time

import distributed
import numpy as np
import pandas as pd
import pytest

from labelsieve.cli import select as large_files
from tests.support.command_line import known_table, refusal, run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same table as Parquet, as CSV and as a folder of two Parquet files."""
    folder = tmp_path_factory.mktemp("tables")
    table = known_table()
    table.insert(3, "mood", ["calm", "sad", "?", "happy"] * 100)
    table.to_parquet(folder / "songs.parquet")
    table.to_csv(folder / "songs.csv", index=False)
    (folder / "parts").mkdir()
    table[:150].to_parquet(folder / "parts" / "a.parquet")
    table[150:].to_parquet(folder / "parts" / "b.parquet")
    return folder


def selected(*arguments):
    result = run("select", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return [(feature["feature"], feature["score"]) for feature in json.loads(result.stdout)["selected"]]


def test_a_small_limit_gives_the_selection_of_the_whole_table(files, tmp_path):
    options = ["--labels", "5", "--criterion", "jmi", "-k", "6"]
    expected = selected(files / "songs.parquet", *options)
    assert len(expected) == 6
    small = [*options, "--memory-limit", "100kB"]
    for name in ("songs.parquet", "songs.csv", "parts"):
        assert selected(files / name, *small) == expected
    assert selected(files / "songs.parquet", *options, "--memory-limit", "1GB") == expected
    cache = tmp_path / "cache"
    assert selected(files / "songs.parquet", *small, "--cache-folder", cache) == expected
    assert list(cache.rglob("codes.bin"))
    text = run("select", files / "songs.parquet", *small).stdout
    assert expected[0][0] in text


def test_libsvm_files_in_blocks(tmp_path):
    rows = [(row % 3, row % 2, int(row % 6 > 3)) for row in range(300)]
    libsvm = tmp_path / "rows.svm"
    libsvm.write_text("".join(f"{y} 1:{a} 2:{b}\n" for a, b, y in rows))
    assert selected(libsvm, "-k", "2", "--memory-limit", "20kB") == selected(libsvm, "-k", "2")


def test_what_needs_the_whole_table_is_refused(files, tmp_path):
    small = [files / "songs.parquet", "--labels", "5", "--memory-limit", "100kB"]
    assert "--stability need the whole table" in refusal("select", *small, "--stability", "3")
    assert "relieff-ml: this method needs the whole table" in refusal("select", *small, "--criterion", "relieff-ml")
    assert "stopping rule needs the table in memory" in refusal("select", *small, "-k", "g-test")
    assert "--missing-labels is for files that fit" in refusal("select", *small, "--missing-labels", "drop")
    assert "'much' is not a number of bytes" in refusal("select", *small[:3], "--memory-limit", "much")
    path = tmp_path / "songs.tsv"
    pd.DataFrame({"a": range(9000), "y": [0, 1] * 4500}).to_csv(path, sep="\t", index=False)
    assert "only files of Parquet, CSV" in refusal("select", path, "--labels", "y", "--memory-limit", "10kB")
    assert "--stability need the whole table" in refusal("select", *small[:3], "--dask", "tcp://x", "--stability", "3")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def test_the_workers_of_a_scheduler_count(files):
    options = ["--labels", "5", "--criterion", "jmi", "-k", "4"]
    local = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "host": "127.0.0.1"}
    with distributed.LocalCluster(**local, protocol="tcp") as found:
        for name in ("songs.parquet", "songs.csv"):
            on_workers = selected(files / name, *options, "--dask", found.scheduler_address)
            assert on_workers == selected(files / name, *options)


def test_without_a_scheduler_the_remedy_is_named(files, monkeypatch):
    monkeypatch.setattr(large_files, "CONNECT_SECONDS", 0.3)
    refused = refusal("select", files / "songs.parquet", "--labels", "5", "--dask", "tcp://127.0.0.1:9")
    assert "no scheduler answers there" in refused
    assert "dask scheduler" in refused


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_terminated_selection_leaves_no_temporary_files(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(40_000, 40))).round(3)
    table["y"] = (table[0] > 0).astype(int)
    table.to_csv(tmp_path / "songs.csv", index=False)
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "labelsieve", "select", "songs.csv", "--labels", "y", "--memory-limit", "20MB", "-k", "40"]
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen([*command, "--criterion", "jmi"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as process:
        while not any((tmp_path / "temporary").glob("labelsieve-*/*.parquet")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert not list((tmp_path / "temporary").glob("labelsieve-*"))
