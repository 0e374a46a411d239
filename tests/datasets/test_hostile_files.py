"""Files made to take long or to fill the memory are answered at once, in words."""

import contextlib
import io
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import io as matlab
from scipy import sparse

from fuzz.seeds import seeds
from fuzz.targets import TARGETS, read_or_refused
from labelsieve.datasets import DatasetError, load
from labelsieve.datasets.readers.arff import strip_comment
from labelsieve.datasets.readers.files import LONGEST_LINE, decode
from labelsieve.datasets.readers.labels import read_label_header
from labelsieve.datasets.readers.load import parse

HEAD = b"@relation r\n@attribute a numeric\n@attribute b {0,1}\n@data\n"
LONG = 50_000  # a reader that goes over it again from every place takes minutes


def head(values):
    return b"@relation r\n@attribute a {" + values + b"}\n@data\n1\n"


HOSTILE = {
    "empty lines before no ARFF": b"\n" * LONG + b"x",
    "comments before no ARFF": b"% \n" * LONG + b"x",
    "a long number that is none": b"1" * LONG + b"x\n",
    "many labels and no row": b"1," * LONG + b"x\n",
    "pairs and no row": b"1:1 " * LONG + b"x\n",
    "blanks in a value": HEAD + b"1" + b" " * LONG + b"1,'0'\n",
    "blanks in a declared value": head(b"a" + b" " * LONG + b"b"),
    "quotes that never close": HEAD + b"'\\" * LONG + b"%\n",
    "one quote, and a comment": head(b"'" + b"a" * LONG + b" % b"),
    "one value declared twice": head(b",".join(b"%d" % k for k in range(LONG)) + b",49999"),
    "many quoted rows of many values": (
        b"@relation r\n@attribute a {" + b",".join(b"v%d" % k for k in range(10_000)) + b"}\n@data\n" + b"'v9999'\n" * 10_000
    ),
    "an index of many digits": HEAD + b"{" + b"9" * 5000 + b" 1}\n",
    "an index over 64 bits": HEAD + b"{99999999999999999999 1}\n",
    "sizes of many digits": b"9" * 5000 + b" 2 2\n0 0:1\n",
    "a column far away": b"1 16000000:1\n",
    "columns that only the first line knows": b"1 16000000 2\n0 0:1\n",
    "labels that only the first line knows": b"1 2 16000000\n0 0:1\n",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_answer_comes_at_once(case):
    start = time.process_time()
    with contextlib.suppress(DatasetError):
        parse(HOSTILE[case], "made")
    assert time.process_time() - start < 3


def test_comments_end_lines_outside_of_quotes_only():
    assert strip_comment("a, 'b % c', d % e") == "a, 'b % c', d "
    assert strip_comment(r"'it\'s 5 %' % x") == r"'it\'s 5 %' "
    assert strip_comment("don't % x") == "don't "
    assert strip_comment("'\" % x") == "'\" "
    assert strip_comment("100") == "100"


@pytest.mark.parametrize("encoding", ["nonsense", "gbk", "hex"])
def test_header_in_an_encoding_that_cannot_be_read(tmp_path, encoding):
    header = tmp_path / "made.xml"
    header.write_text(f'<?xml version="1.0" encoding="{encoding}"?><labels><label name="a"/></labels>')
    with pytest.raises(DatasetError, match=r"made\.xml: it says that it is in an encoding that cannot be read.*UTF-8"):
        read_label_header(header)


def test_header_with_the_last_of_many_labels_twice(tmp_path):
    header = tmp_path / "made.xml"
    header.write_text("<labels>" + "".join(f'<label name="{k}"/>' for k in [*range(LONG), LONG - 1]) + "</labels>")
    start = time.process_time()
    with pytest.raises(DatasetError, match="label '49999' is there twice"):
        read_label_header(header)
    assert time.process_time() - start < 3


def test_a_count_of_labels_with_many_digits_is_not_taken(tmp_path):
    file = tmp_path / "made.arff"
    file.write_bytes(HEAD.replace(b"@relation r", b"@relation 'r: -C " + b"9" * 5000 + b"'") + b"1,0\n")
    with pytest.raises(DatasetError, match="nothing says which columns are labels"):
        load(file)


def matlab_bytes(**variables):
    file = io.BytesIO()
    matlab.savemat(file, variables, do_compression=True)
    return file.getvalue()


@pytest.mark.parametrize(
    ("X", "Y", "words"),
    [
        (sparse.csc_array((2**24, 1)), sparse.csc_array((1, 2**24)), "a sparse variable has the size"),
        (np.zeros((0, 2**24)), np.zeros((1, 0)), "data has no rows"),
    ],
)
def test_empty_matlab_matrices_of_a_great_size_are_refused(X, Y, words):
    with pytest.raises(DatasetError, match=words):
        parse(matlab_bytes(data=X, target=Y), "made.mat")


def test_rows_without_any_label_are_refused(tmp_path):
    file = tmp_path / "made.libsvm"
    file.write_bytes(b"1:1 2:1\n1:2\n")
    with pytest.raises(DatasetError, match=r"made\.libsvm: there are no labels in it"):
        load(file)


@pytest.mark.parametrize("target", TARGETS)
def test_what_the_fuzzer_begins_with_is_read_or_refused(target):
    for seed in seeds(target):
        read_or_refused(target, seed)


def test_parquet_that_asks_for_more_memory_than_there_is_is_refused(monkeypatch):
    """A damaged page asked pyarrow for 256 GB."""
    lib, parquet = pytest.importorskip("pyarrow.lib"), pytest.importorskip("pyarrow.parquet")

    def read(self):
        raise lib.ArrowMemoryError("malloc of size 274877906944 failed")

    monkeypatch.setattr(parquet.ParquetFile, "read", read)
    with pytest.raises(DatasetError, match=r"made\.parquet: it cannot be read as Parquet \(malloc of size"):
        parse(seeds("parquet")[0], "made.parquet")


@pytest.mark.parametrize(
    ("name", "start", "word"),
    [
        ("made.arff", b"@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n1,0\n", b"1,"),
        ("made.csv", b"x,y\n1,0\n", b"1,"),
        ("made.svm", b"0 1:1\n", b"1:1 "),
    ],
)
@pytest.mark.parametrize("n_bytes", [10**8, LONGEST_LINE + 1])
def test_a_line_that_is_too_long_is_refused_at_once(tmp_path, name, start, word, n_bytes):
    file = tmp_path / name
    file.write_bytes(start + word * (n_bytes // len(word) + 1) + b"\n")
    place = start.count(b"\n") + 1
    with pytest.raises(DatasetError, match=rf"line {place}: it is longer than 16,777,216 bytes\. Are its line ends lost"):
        load(file, labels=1)


def test_long_files_of_ordinary_lines_are_not_long_lines():
    for end in (b"\n", b"\r\n", b"\r"):
        assert len(decode((b"1" * 999 + end) * 20_000, Path("made.csv")).split("\n")) == 20_001
