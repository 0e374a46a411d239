"""``labelsieve select`` on bad files and bad options: one line that says what and where, and exit code 2."""

import gzip
import os
from pathlib import Path

import pytest

from tests.support.command_line import refusal, write
from tests.support.table_libraries import install_only

REFUSED = {
    "missing value": ("a,b,y\n1,2,0\n,3,1\n", "1", "column 'a' has 1 missing values, the first in row 2; fill them"),
    "question mark": ("a,b,y\n1,2,0\n?,3,1\n", "1", "column 'a' has 1 missing values"),
    "short row": ("a,b,y\n1,2,0\n2,3\n", "1", "line 3: there are 2 values and 3 columns"),
    "long row": ("a,b,y\n1,2,0\n1,2,0,7\n", "1", "line 3: there are 4 values and 3 columns"),
    "every row long": ("a,b,y\n1,2,0,7\n1,2,0,7\n", "1", "line 2: there are 4 values and 3 columns"),
    "infinite": ("a,b,y\n1,2,0\ninf,3,1\n", "1", "row 2, column 'a': inf is not a finite number"),
    "unknown label": ("a,b,y\n1,2,0\n", "mood", "no column named 'mood'; there are 'a', 'b', 'y'"),
    "too many labels": ("a,b,y\n1,2,0\n", "4", "4 label columns of 3 columns"),
    "too many from the front": ("a,b,y\n1,2,0\n", "-4", "4 label columns of 3 columns"),
    "only labels": ("a,b,y\n1,2,0\n", "3", "all 3 columns are labels"),
    "no labels": ("a,b,y\n1,2,0\n", "0", "0 label columns of 3 columns"),
    "empty name": ("a,b,y\n1,2,0\n", ",", "no label is named"),
    "another delimiter": ("a:b:y\n1:2:0\n", "2", "2 label columns of 1 column"),
    "no header": (
        "1,0,0\n2,1,1\n",
        "1",
        "two columns have the same name: '0' (columns 2 and 3). Rename one of them; is the first row",
    ),
    "no rows": ("a,b,y\n", "1", "no rows under the header"),
    "nothing": ("", "1", "the file is empty"),
    "not text": (b"a,b,y\n\xff\xfe\x00,2,0\n", "1", "line 2: there is a NUL byte"),
}


@pytest.mark.parametrize("reader", ["pyarrow", "csv"])
@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused(tmp_path, case, reader, monkeypatch):
    install_only(monkeypatch, reader)
    text, labels, message = REFUSED[case]
    method = "relieff" if "missing values" in message else "jmi"  # a method that calculates with the values
    assert message in refusal("select", write(tmp_path, text), "--labels", labels, "--criterion", method)


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
    assert "nothing says which columns are labels; there are 'a', 'y'." in refusal("select", write(tmp_path, "a,y\n1,0\n"))
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv: " in refusal("select", tmp_path / "folder.csv", "--labels", 1)
    for name, content, message in (
        ("bad.parquet", b"PAR1", "it cannot be read as Parquet"),
        ("bad.csv.gz", b"a,b", "there are no rows under the header"),
        ("cut.csv.gz", gzip.compress(b"a,b,y\n" * 99)[:20], "the archive is cut short or damaged"),
    ):
        assert f"{name}: {message}" in refusal("select", write(tmp_path, content, name), "--labels", 1)


def test_columns_are_listed_where_labels_are_missing_and_near_names_where_one_is_misspelled(tmp_path):
    names = [f"gene_{number}" for number in range(40)]
    file = write(tmp_path, f"{','.join([*names, 'sick', 'died'])}\n{','.join(['1'] * 42)}\n")
    line = refusal("select", file)
    assert "there are 42 columns: 'gene_0', 'gene_1', " in line
    assert "..., 'gene_34', " in line
    assert "'sick', 'died'. Pass --labels" in line
    line = refusal("select", file, "--labels", "gene_100")
    assert line.count("gene_") == 4, "the name and the three nearest"


def test_the_extra_is_named_when_nothing_that_reads_parquet_is_installed(frame, tmp_path, monkeypatch):
    frame.to_parquet(tmp_path / "t.parquet")
    install_only(monkeypatch, "pandas")
    line = refusal("select", tmp_path / "t.parquet", "--labels", 1)
    assert "reading Parquet needs pyarrow. pip install 'labelsieve[tables]'" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bins", "5", "--codes"), "exclude each other"),
        (("--n-jobs", "0"), "--n-jobs must not be 0"),
        (("--redundant", "0"), "--redundant takes a number above 0"),
        (("--redundant", "1.5"), "--redundant takes a number above 0"),
        (("--redundant", "0.9", "--format", "csv"), "goes with --format table or json"),
        (("--output", "selected.csv"), "takes the name of a .json file"),
        (("--output", "no/such/folder/selected.json"), "in a folder that exists"),
        (("--bins", "70000"), "--n-bins must be a whole number from 1 to 65,535"),
        (("--targets", "powersets"), "'powersets' is not a label space. Did you mean 'joint'?"),
        (("--method", "pmu", "--targets", "joint"), "label pairs need separate targets: use targets='single'"),
    ],
)
def test_options_that_make_no_sense_are_refused(file, options, message):
    assert message in refusal("select", file, "--labels", 5, *options)


def test_nothing_is_written_when_something_is_refused(file, tmp_path):
    saved = tmp_path / "selected.json"
    refusal("select", file, "--labels", 5, "--codes", "--output", saved)
    assert not saved.exists()


@pytest.mark.parametrize(
    "command",
    [
        ("select", "--output", "there/selected.json"),
        ("report", "--output", "there/report.html"),
        ("discover", "--out", "there"),
        ("discover", "--out", "there/new"),
    ],
)
def test_a_read_only_folder_is_refused_before_anything_is_computed(command, tmp_path, monkeypatch):
    path = write(tmp_path, "a,y\n0,1\n1,0\n")
    (tmp_path / "there").mkdir()
    name, option, output = command
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        os, "access", lambda folder, mode: Path(folder).name != "there" or not mode & os.W_OK
    )  # root may write everywhere

    assert "there: this folder is read-only; use another one." in refusal(name, path, "--labels", "y", option, output)
