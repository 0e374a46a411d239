"""One limit of memory for every reader, checked before memory is taken; what is no file is refused at once."""

import bz2
import gzip
import io
import lzma
import os
import socket
import time
import tracemalloc

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.datasets import DatasetError, load
from labelsieve.datasets.readers.files import memory_limit, read_size
from tests.support.command_line import refusal

N_ROWS, N_COLUMNS = 20_000, 100
CELLS = 24 * N_ROWS * N_COLUMNS


def comma_separated():
    return ",".join(f"c{k}" for k in range(N_COLUMNS)).encode() + b"\n" + (b"0," * (N_COLUMNS - 1) + b"1\n") * N_ROWS


def irregular():
    """Quotes in the middle of a cell are left to the module csv, whose cells are Python objects."""
    return comma_separated() + b'x"y' + b",0" * (N_COLUMNS - 1) + b"\n"


def arff():
    head = "".join(f"@attribute c{k} numeric\n" for k in range(N_COLUMNS))
    return f"@relation r\n{head}@data\n".encode() + (b"0," * (N_COLUMNS - 1) + b"1\n") * N_ROWS


def libsvm():
    return b"1 " * 0 + b"".join(b"%d 1:1 %d:1\n" % (k % 2, N_COLUMNS) for k in range(N_ROWS))


def parquet():
    pyarrow, writer = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    writer.write_table(pyarrow.table({f"c{k}": np.zeros(N_ROWS) for k in range(N_COLUMNS)}), file)
    return file.getvalue()


def dense_labels_of_sparse_rows():
    """Labels of sparse rows become dense where they are numbers: a byte of the file is hundreds of cells."""
    head = "".join(f"@attribute c{k} numeric\n" for k in range(N_COLUMNS))
    return f"@relation r\n{head}@data\n".encode() + b"{0 1,99 7.5}\n" + b"{}\n" * N_ROWS


# The limit that is too low, the one that is enough, and the labels.
FORMATS = {
    "CSV": (comma_separated, CELLS, 2 * CELLS, 1),
    "CSV for the module csv": (irregular, 2 * CELLS, 10 * CELLS, 1),
    "ARFF": (arff, CELLS, 2 * CELLS, 1),
    "libsvm": (libsvm, 2**21, 2**26, None),
    "Parquet": (parquet, CELLS // 2, 2 * CELLS, 1),
    "sparse ARFF": (dense_labels_of_sparse_rows, CELLS // 2, 2 * CELLS, 50),
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_reader_keeps_the_limit_and_says_how_to_raise_it(tmp_path, format):
    make, too_little, enough, labels = FORMATS[format]
    file = tmp_path / "made"
    file.write_bytes(make())
    tracemalloc.start()
    with pytest.raises(
        DatasetError, match=r"made: .* takes about [\d.]+ MB of memory .* limit is .* max_bytes=\d+ .* LABELSIEVE_MAX_BYTES"
    ):
        load(file, labels, max_bytes=too_little)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < too_little, "refused before the memory is taken"
    assert load(file, labels, max_bytes=enough).n_rows >= N_ROWS


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_an_archive_that_decompresses_to_more_than_the_limit_is_refused_early(tmp_path, pack):
    file = tmp_path / "bomb.csv.packed"
    for content, refused in (
        (
            b"a,b\n" + b"0,1\n" * 5_000_000,
            r"text of at least [\d,]+ bytes with [\d,]+ cells takes about [\d.]+ MB .* max_bytes=",
        ),
        (b"x" * 20_000_000, r"longer than 4,000,000 bytes \([\d,]+ bytes decompress to at least .* max_bytes="),
    ):
        file.write_bytes(pack(content))
        tracemalloc.start()
        with pytest.raises(DatasetError, match=refused):
            load(file, 1, max_bytes=8_000_000)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 18_000_000, "also with the 8 MB that xz needs by itself"


def test_different_texts_count_as_objects(tmp_path):
    pytest.importorskip("pyarrow")
    file = tmp_path / "made.csv"
    file.write_text("a,b,y\n" + "".join(f"w{k},v{k % 5},{k % 2}\n" for k in range(20_000)))
    with pytest.raises(DatasetError, match=r"made\.csv: a table with 20,0\d\d or more different texts takes about 8\.0 MB"):
        load(file, 1, max_bytes=7_950_000)
    assert load(file, 1, max_bytes=9_000_000).shape == (20_000, 2, 1)


def test_names_of_very_many_columns_are_not_read(tmp_path):
    file = tmp_path / "wide.csv"
    file.write_bytes(b",".join(b"%d" % k for k in range(1_100_000)) + b"\n" + b"0," * 1_099_999 + b"1\n")
    start = time.process_time()
    with pytest.raises(DatasetError, match=r"a table of 1,100,000 columns takes about 4\.5 GB"):
        load(file, 1, max_bytes=2**32)
    assert time.process_time() - start < 1


def test_the_limit_comes_from_the_argument_the_environment_or_the_machine(tmp_path, monkeypatch):
    monkeypatch.delenv("LABELSIEVE_MAX_BYTES", raising=False)
    assert memory_limit() <= 4 * 2**30
    assert memory_limit(123) == 123
    monkeypatch.setenv("LABELSIEVE_MAX_BYTES", "1.5 GB")
    assert memory_limit() == 3 * 2**29
    file = tmp_path / "made.csv"
    file.write_bytes(comma_separated())
    monkeypatch.setenv("LABELSIEVE_MAX_BYTES", "1M")
    assert "made.csv: its content is longer than 524,288 bytes (4,000,390)" in refusal("select", file, "--labels", 1)
    monkeypatch.setenv("LABELSIEVE_MAX_BYTES", "much")
    with pytest.raises(InputError, match=r"LABELSIEVE_MAX_BYTES: 'much' is not a number of bytes such as 500M or 8G"):
        load(file, 1)


@pytest.mark.parametrize("text", ["", "0", "-1", "8 G B", "1e9", "nan", "9" * 30])
def test_sizes_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="not a number of bytes"):
        read_size(text, "--max-bytes")


def device(path):
    path.symlink_to("/dev/zero")


def named_pipe(path):
    os.mkfifo(path)


def unix_socket(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.close()


NO_FILES = {"a device": device, "a named pipe": named_pipe, "a socket": unix_socket, "a folder": os.mkdir}


@pytest.mark.skipif(os.name != "posix", reason="needs devices and pipes in the file system")
@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_refused_by_every_command(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    path = tmp_path / "made.csv"
    NO_FILES[kind](path if kind != "a socket" else os.path.relpath(path))
    with pytest.raises(DatasetError, match=f"made.csv: this.* is {kind}, not a file"):
        load(path, 1)
    commands = [("select", path), ("datasets", "info", path)]
    commands += [("report", path)] if kind != "a folder" else []  # which may be that of a study
    for command in commands:
        assert f"is {kind}, not a file" in refusal(*command, "--labels", 1)
    (tmp_path / "table.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(DatasetError, match=f"is {kind}, not a file"):
        load(tmp_path / "table.csv", labels=path.rename(tmp_path / "labels.xml"))
