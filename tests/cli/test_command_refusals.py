"""``labelsieve select`` on bad files and bad options: one line that says what and where, and exit code 2."""

import gzip
from importlib.util import find_spec

import pytest

from labelsieve.datasets.readers import tabular
from tests.support.command_line import known_table, refusal, write


@pytest.fixture
def frame():
    return known_table()


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


REFUSED = {
    "missing value": ("a,b,y\n1,2,0\n,3,1\n", "1", "column 'a' has 1 missing values, the first in row 2 under the header"),
    "question mark": ("a,b,y\n1,2,0\n?,3,1\n", "1", "column 'a' has 1 missing values"),
    "missing label": ("a,b,y\n1,2,0\n2,3,NA\n", "1", "column 'y' has 1 missing values"),
    "short row": ("a,b,y\n1,2,0\n2,3\n", "1", "column 'y' has 1 missing values"),
    "long row": ("a,b,y\n1,2,0\n1,2,0,7\n", "1", "cannot be read as CSV"),
    "every row long": ("a,b,y\n1,2,0,7\n1,2,0,7\n", "1", "cannot be read as CSV"),
    "infinite": ("a,b,y\n1,2,0\ninf,3,1\n", "1", "inf is not a finite number"),
    "unknown label": ("a,b,y\n1,2,0\n", "mood", "no column named 'mood'; its 3 columns are 'a', 'b', 'y'"),
    "too many labels": ("a,b,y\n1,2,0\n", "4", "4 label columns of 3 columns"),
    "too many from the front": ("a,b,y\n1,2,0\n", "-4", "4 label columns of 3 columns"),
    "only labels": ("a,b,y\n1,2,0\n", "3", "all 3 columns are labels"),
    "no labels": ("a,b,y\n1,2,0\n", "0", "0 columns are no labels"),
    "empty name": ("a,b,y\n1,2,0\n", ",", "no column is named"),
    "semicolons": ("a;b;y\n1;2;0\n", "2", "is it separated by commas?"),
    "no header": ("1,0,0\n2,1,1\n", "1", "two columns are named '0'; the first row must be a header"),
    "row numbers": (",a,y\n0,1,0\n", "1", "column 1 has no name"),
    "no rows": ("a,b,y\n", "1", "no rows under the header"),
    "nothing": ("", "1", "the file is empty"),
    "not text": (b"a,b,y\n\xff\xfe\x00,2,0\n", "1", "cannot be read as CSV"),
}


@pytest.mark.parametrize("reader", ["pandas", "polars"])
@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused(tmp_path, case, reader, monkeypatch):
    if reader == "polars":
        monkeypatch.setattr(tabular, "find_spec", lambda module: None if module == "pandas" else find_spec(module))
    text, labels, message = REFUSED[case]
    assert message in refusal("select", write(tmp_path, text), "--labels", labels)


def test_an_unknown_method_is_refused_before_the_file_is_read(tmp_path):
    line = refusal("select", tmp_path / "absent.csv", "--labels", 5, "--method", "nonsense")
    assert "'nonsense' is not a criterion" in line


def test_codes_must_be_whole_numbers(file):
    assert "is not a whole number" in refusal("select", file, "--labels", 5, "--codes")


def test_files_that_are_not_there_or_not_readable_are_refused(tmp_path):
    assert "absent.csv: No such file" in refusal("select", tmp_path / "absent.csv", "--labels", 1)
    sheet = tmp_path / "table.xlsx"
    sheet.write_bytes(b"PK\x03\x04" + bytes(range(256)))
    assert "table.xlsx" in refusal("select", sheet, "--labels", 1)
    assert "which columns are labels?" in refusal("select", write(tmp_path, "a,y\n1,0\n"))
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv: " in refusal("select", tmp_path / "folder.csv", "--labels", 1)
    for name, content in (("bad.parquet", b"PAR"), ("bad.csv.gz", b"a,b"), ("cut.csv.gz", gzip.compress(b"a,b,y\n" * 99)[:20])):
        assert "cannot be read as" in refusal("select", write(tmp_path, content, name), "--labels", 1)


@pytest.mark.parametrize(("name", "kind"), [("t.csv", "CSV"), ("t.parquet", "Parquet")])
def test_the_extra_is_named_when_no_reader_is_installed(tmp_path, monkeypatch, name, kind):
    monkeypatch.setattr(tabular, "find_spec", lambda module: None)
    line = refusal("select", write(tmp_path, "a,y\n1,0\n", name), "--labels", 1)
    assert f"reading {kind} needs pandas with pyarrow, or polars: pip install 'labelsieve[tables]'" in line


def test_parquet_without_pyarrow_is_read_with_polars(frame, tmp_path, monkeypatch):
    frame.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(tabular, "find_spec", lambda module: None if module == "pyarrow" else find_spec(module))
    assert type(tabular.read_labeled_table(tmp_path / "t.parquet", "5").X).__module__.startswith("polars")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bins", "5", "--codes"), "exclude each other"),
        (("--n-jobs", "0"), "--n-jobs must not be 0"),
        (("--twins", "0"), "--twins takes a number above 0"),
        (("--twins", "1.5"), "--twins takes a number above 0"),
        (("--twins", "0.9", "--format", "csv"), "goes with --format table or json"),
        (("--output", "chosen.csv"), "takes the name of a .json file"),
        (("--output", "no/such/folder/chosen.json"), "in a folder that exists"),
        (("--bins", "70000"), "n_bins must be a whole number from 1 to 65,535"),
        (("--targets", "powerset"), "'powerset' is not a label space. Known: single, joint, pruned"),
        (("--method", "pmu", "--targets", "joint"), "label pairs need separate targets: use targets='single'"),
    ],
)
def test_options_that_make_no_sense_are_refused(file, options, message):
    assert message in refusal("select", file, "--labels", 5, *options)


def test_nothing_is_written_when_something_is_refused(file, tmp_path):
    saved = tmp_path / "chosen.json"
    refusal("select", file, "--labels", 5, "--codes", "--output", saved)
    assert not saved.exists()
