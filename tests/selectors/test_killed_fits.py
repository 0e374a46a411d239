"""A fit that was stopped or killed continues from the encoded columns in its cache folder."""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from threading import Thread

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError, Sieve
from labelsieve.datasets import load
from labelsieve.discretize import MDL, EqualFrequency, EqualWidth
from tests.selectors.test_chunked_tables import N_ROWS, Stopped, assert_same, from_memory, make_frame
from tests.selectors.test_sparse_chunks import as_libsvm, make_sparse

PROGRAM = """
import os, signal, sys
from labelsieve import Sieve
from labelsieve.counting.backends.chunked.codes_file import ColumnLog
from labelsieve.datasets import ChunkedTable

def kill_at_the_fourth_call(method):
    calls = []
    def wrapped(*arguments):
        calls.append(None)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(*arguments)
    return wrapped

for scenario in sys.argv[1:]:
    make, path, labels, cache, limit, where = scenario.split("|")
    if os.fork() == 0:
        if where == "reading":
            ChunkedTable.features = kill_at_the_fourth_call(ChunkedTable.features)
        else:  # the column is in the file, and the list of finished columns does not have it
            ColumnLog._append = kill_at_the_fourth_call(ColumnLog._append)
        arguments = [labels] if labels else []
        Sieve("jmi").fit(getattr(ChunkedTable, make)(path, *arguments, memory_limit=int(limit), cache_folder=cache))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == -signal.SIGKILL, scenario
"""
LABELS_OF = {"from_libsvm": "", "from_parquet": "l[0-9]"}
LIMIT_OF = {"from_libsvm": 6000, "from_parquet": 60 * N_ROWS}  # one column at a time
SCENARIOS = [("from_parquet", "reading"), ("from_parquet", "writing"), ("from_libsvm", "writing")]


def make_file(folder, make):
    """The table that is read from a file, and the selection from memory."""
    path = folder / f"songs.{make}"
    labels = [LABELS_OF[make]] if LABELS_OF[make] else []
    write_file(path, make, 0)
    options = {"memory_limit": LIMIT_OF[make], "cache_folder": folder / "cache"}
    return path, partial(getattr(Stopped, make), path, *labels, **options), from_file(path, make)


def write_file(path, make, seed):
    if make == "from_parquet":
        make_frame(seed).to_parquet(path, row_group_size=150)
    else:
        path.write_text(as_libsvm(*make_sparse(seed)))


def from_file(path, make):
    if make == "from_parquet":
        return from_memory(path, criterion="jmi")
    data = load(path, *([LABELS_OF[make]] if LABELS_OF[make] else []))
    return Sieve("jmi").fit(data.X, data.Y)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Fits in processes of their own that were killed; importing takes seconds, so they are forks of one."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    folder = tmp_path_factory.mktemp("killed")
    (folder / "temporary").mkdir()
    files, texts = {}, []
    for make, where in SCENARIOS:
        own = folder / f"{make} {where}"
        own.mkdir()
        files[make, where] = make_file(own, make)
        path = files[make, where][0]
        texts.append("|".join([make, str(path), LABELS_OF[make], str(own / "cache"), str(LIMIT_OF[make]), where]))
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    subprocess.run([sys.executable, "-c", PROGRAM, *texts], check=True, timeout=120, env=environment)
    assert not list((folder / "temporary").iterdir())
    return files


@pytest.mark.parametrize(("make", "where"), SCENARIOS)
def test_killed_fit_continues_with_the_columns_that_are_left(killed, make, where):
    path, open_table, expected = killed[make, where]
    (log,) = path.parent.glob("cache/*/finished.jsonl")
    _, *lines = map(json.loads, log.read_text().splitlines())
    assert len(lines) == 3
    table = open_table()
    assert_same(Sieve("jmi").fit(table), expected)
    assert table.read == table.shape[1] - sum(len(line["columns"]) for line in lines) > 0
    again = open_table()
    assert_same(Sieve("jmi").fit(again), expected)
    assert again.read == 0


def sparse_table(folder, X, Y):
    return Stopped.from_chunks([(X[:90], Y[:90]), (X[90:], Y[90:])], memory_limit=6000, cache_folder=folder)


def test_stopped_fit_of_the_same_sparse_chunks_continues(tmp_path):
    X, Y = make_sparse()
    table = sparse_table(tmp_path, X, Y)
    table.left = 7
    with pytest.raises(KeyboardInterrupt):
        Sieve("jmi").fit(table)
    again = sparse_table(tmp_path, X, Y)
    assert_same(Sieve("jmi").fit(again), Sieve("jmi").fit(X, Y))
    assert again.read == 12 - table.read < 12


def test_other_cells_settings_or_rows_are_encoded_again(tmp_path):
    X, Y = make_sparse()
    other = X.copy()
    other.data[3] += 1.0  # the same places, names and sizes
    supervised = partial(Sieve, "mim", discretizer=MDL(targets="joint"))
    weights = 1 + np.arange(200) % 3
    for make, cells, labels, options in (
        (partial(Sieve, "mim", discretizer=EqualWidth(5)), X, Y, {}),
        (partial(Sieve, "mim", discretizer=EqualWidth(3)), X, Y, {}),
        (partial(Sieve, "mim", discretizer=EqualFrequency(5)), X, Y, {}),
        (partial(Sieve, "mim", discretizer=EqualFrequency(5)), X, Y, {"sample_weight": weights}),
        (partial(Sieve, "mim", discretizer=EqualWidth(5)), other, Y, {}),
        (supervised, X, Y, {}),
        (supervised, X, sp.csr_array(Y[::-1]), {}),
    ):
        table = sparse_table(tmp_path, cells, labels)
        assert_same(make().fit(table, **options), make().fit(cells, labels, **options))
        assert table.read == 12
    same = sparse_table(tmp_path, X, sp.csr_array(Y[::-1]))  # bins without targets do not depend on them
    assert_same(Sieve("mim", discretizer=EqualWidth(5)).fit(same), Sieve("mim", discretizer=EqualWidth(5)).fit(X, Y[::-1]))
    assert same.read == 0


@pytest.mark.parametrize("make", ["from_parquet", "from_libsvm"])
def test_a_changed_file_is_encoded_again(tmp_path, make):
    path, open_table, expected = make_file(tmp_path, make)
    first = open_table()
    assert_same(Sieve("jmi").fit(first), expected)
    write_file(path, make, 1)
    changed = open_table()
    assert_same(Sieve("jmi").fit(changed), from_file(path, make))
    assert changed.read == changed.shape[1]


def damage(folder, name, change):
    (path,) = folder.glob(f"cache/*/{name}")
    content = bytearray(path.read_bytes())
    path.write_bytes(change(content))


def flip(content):
    content[len(content) // 2] ^= 1
    return content


@pytest.mark.parametrize("make", ["from_parquet", "from_libsvm"])
@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("codes.bin", flip, "column [0-9]+ is not what was written"),
        ("codes.bin", lambda content: content[:-1], "column [0-9]+ is not what was written"),
        ("finished.jsonl", lambda content: content.replace(b"spans", b"spins"), "spans"),
        ("finished.jsonl", lambda content: b"\0" * len(content) + b"\n", "finished.jsonl"),
    ],
    ids=["flipped", "cut", "renamed", "zeros"],
)
def test_damaged_columns_are_refused(tmp_path, make, name, change, reason):
    _, open_table, expected = make_file(tmp_path, make)
    assert_same(Sieve("jmi").fit(open_table()), expected)
    damage(tmp_path, name, change)
    with pytest.raises(InputError, match=rf"encoded columns are damaged \(.*{reason}.*delete the folder"):
        Sieve("jmi").fit(open_table())


def test_columns_of_another_key_and_unfinished_lines_are_written_again(tmp_path):
    _, open_table, expected = make_file(tmp_path, "from_libsvm")
    Sieve("jmi").fit(open_table())
    for change, read in (
        (lambda content: content.replace(b"sparse 1", b"sparse 2"), 12),
        (lambda content: content[: content.rindex(b"spans")], 1),
    ):
        damage(tmp_path, "finished.jsonl", change)
        table = open_table()
        assert_same(Sieve("jmi").fit(table), expected)
        assert table.read == read
    missing = next(tmp_path.glob("cache/*/rows.bin"))
    missing.unlink()
    with pytest.raises(InputError, match=r"damaged \(there is no rows.bin\)"):
        Sieve("jmi").fit(open_table())


def test_fits_at_the_same_time_encode_once(tmp_path):
    _, open_table, expected = make_file(tmp_path, "from_libsvm")
    tables = [open_table() for _ in range(3)]
    answers = []
    threads = [Thread(target=lambda table=table: answers.append(Sieve("jmi").fit(table))) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 3
    for answer in answers:
        assert_same(answer, expected)
    assert sorted(table.read for table in tables) == [0, 0, 12]


def test_a_folder_that_cannot_be_created_is_refused(tmp_path):
    (tmp_path / "cache").write_text("")
    X, Y = make_sparse()
    with pytest.raises(InputError, match=r"cannot be created \(.*choose another cache_folder"):
        Sieve("mim").fit(sparse_table(tmp_path / "cache", X, Y))


def test_nothing_of_sparse_tables_stays_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    table = sparse_table(None, *make_sparse())
    Sieve("jmi").fit(table)
    assert not list((tmp_path / "temporary").iterdir())
