"""The same options of reading for every command: label sets, patterns, other delimiters, dates, missing labels, memory."""

import json
import time

import numpy as np
import pytest

from labelsieve.information import mutual_information
from tests.support.command_line import refusal, run

# Warnings are notes on the command line.
pytestmark = pytest.mark.filterwarnings("always::labelsieve.datasets.DatasetWarning")
N_ROWS = 60


@pytest.fixture
def file(tmp_path):
    """A semicolon CSV with decimal commas, dates, missing cells and text; ``loud`` depends on size, ``calm`` on key."""
    rng = np.random.default_rng(0)
    size, key = rng.normal(size=N_ROWS), rng.choice(["A", "B flat", "C"], N_ROWS)
    lines = ["when;size;key;noise;tags;y1;y2"]
    for row in range(N_ROWS):
        tags = ["any"] + [name for name, holds in (("loud", size[row] > 0), ("calm", key[row] == "A")) if holds]
        noise = str(row % 7) if row % 9 else ""
        cells = [f"2020-01-{row % 28 + 1:02}", f"{size[row]:.3f}".replace(".", ","), key[row], noise]
        lines.append(";".join([*cells, "|".join(tags), str(int("loud" in tags)), str(int("calm" in tags))]))
    path = tmp_path / "songs.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def document(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), result.stderr


SETS = ("--labels", "tags", "--label-separator", "|")


def test_select_reads_label_sets_and_names_what_it_decided(file):
    found, notes = document("select", file, *SETS, "-k", 2)
    assert found["labels"] == ["any", "calm", "loud"]
    assert "dates and times become numbers, seconds since 1970-01-01: 'when'" in notes
    assert "commas are decimal marks" in notes
    detected, notes = document("select", file, "--labels", "tags", "-k", 2)
    assert detected["labels"] == ["any", "calm", "loud"]
    assert "'tags' holds sets of labels with '|' between them" in notes
    assert "--label-separator '|'; --label-separator none takes each text as a class" in notes
    classes, notes = document("select", file, "--labels", "tags", "--label-separator", "none")
    assert classes["labels"] == ["tags"]
    assert "holds sets" not in notes


@pytest.mark.parametrize("labels", ["y*", r"re:^y\d$", "y1,y2", "2"])
def test_patterns_name_the_same_labels_for_every_command(file, labels):
    assert document("select", file, "--labels", labels, "-k", 1)[0]["labels"] == ["y1", "y2"]
    assert document("datasets", "info", file, "--labels", labels)[0]["n_labels"] == 2


def test_compare_and_report_read_as_select_does(file, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "songs.html"
    assert run("report", file, *SETS, "-o", page, "--stability", 0, "-k", 2).exit_code == 0
    assert "calm" in page.read_text(encoding="utf-8")
    small = ["--methods", "jmi", "-k", "1..2", "--splits", "2x50%", "--classifiers", "brknn:k=3", "--measures", "hamming_loss"]
    csv = file.with_name("plain.csv")
    csv.write_text("a,b,tags\n" + "".join(f"{k % 3},{k % 5},{'x;y' if k % 3 else 'x'}\n" for k in range(40)))
    result = run("compare", csv, "--labels", "tags", "--label-separator", ";", "--out", tmp_path / "study", *small)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", [("select",), ("report",), ("datasets", "info"), ("compare",)])
def test_the_memory_limit_is_an_option_of_every_command(file, tmp_path, command):
    more = ["--methods", "jmi", "--out", tmp_path / "study"] if command == ("compare",) else []
    line = refusal(*command, file, *more, *SETS, "--max-bytes", "2k")
    assert "songs.csv: its content is longer than 1,024 bytes" in line
    assert "pass --max-bytes with a larger number" in line
    assert "--max-bytes: 'huge' is not a number of bytes such as 500M or 8G" in refusal(
        *command, file, *more, *SETS, "--max-bytes", "huge"
    )


def test_a_refusal_for_memory_names_the_number_to_pass(tmp_path):
    file = tmp_path / "wide.csv"
    file.write_text("a,b,y\n" + "1,2,0\n2,2,1\n" * 50_000)
    line = refusal("select", file, "--labels", 1, "--max-bytes", "7000000")
    assert "wide.csv: text of 600,006 bytes with 300,003 cells takes about 8.4 MB of memory" in line
    assert "pass --max-bytes 8400084 or more, or set the variable LABELSIEVE_MAX_BYTES" in line
    assert run("select", file, "--labels", 1, "--max-bytes", "8400084").exit_code == 0


def test_a_table_of_many_columns_takes_no_longer_than_its_cells(tmp_path):
    rows = np.random.default_rng(0).integers(0, 9, size=(20, 20_000))
    file = tmp_path / "wide.csv"
    file.write_text("\n".join([",".join(f"f{k}" for k in range(20_000)), *(",".join(map(str, row)) for row in rows.tolist())]))
    start = time.process_time()
    result = run("select", file, "--labels", 2, "-k", 1, "--target-type", "class")
    assert result.exit_code == 0, result.output
    assert time.process_time() - start < 10, "some cost grew with the square of the number of columns"


def test_names_exclude_features_of_sparse_rows_too(tmp_path):
    file = tmp_path / "sparse.arff"
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute key {x,y,z}\n@attribute calm {0,1}\n@data\n"
    rows = "".join("{" + f"0 {k % 2},1 {k % 4 // 2},2 {'yz'[k % 2]},3 {k % 2}" + "}\n" for k in range(40))
    file.write_text(head + rows)
    names = {}
    for excluded in ("a", "a,key"):
        found, _ = document("select", file, "--labels", 1, "--excluded", excluded, "-k", 3)
        names[excluded] = {feature["feature"] for feature in found["selected"]}
    assert names == {"a": {"b", "key"}, "a,key": {"b"}}
    assert [f["feature"] for f in document("select", file, "--labels", 1, "--forced", "b", "-k", 1)[0]["selected"]] == ["b"]
    assert "there is no feature named 'aa'" in refusal("select", file, "--labels", 1, "--excluded", "aa")


def test_labels_that_are_kept_as_unknown_are_counted_where_they_are_known(tmp_path):
    """The score is that of the rows in which the label is known."""
    rows = [f"{k % 3},{k % 5},{'' if k % 4 == 0 else k % 3 // 2}" for k in range(120)]
    for name, kept in (("all", rows), ("known", [row for row in rows if not row.endswith(",")])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,y", *kept]) + "\n")
    options = ("--labels", 1, "--criterion", "mim", "-k", 2)
    found, _ = document("select", tmp_path / "all.csv", *options, "--missing-labels", "keep")
    expected, _ = document("select", tmp_path / "known.csv", *options)
    known = {one["feature"]: one["score"] for one in expected["selected"]}
    assert {one["feature"]: one["score"] for one in found["selected"]} == pytest.approx(known, abs=1e-12)
    assert known["a"] > 0.5


def test_unknown_labels_are_kept_and_left_out_label_by_label(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(80, 3))
    Y = np.column_stack([X[:, 2] > 0, X[:, 0] > 1]).astype(int)
    cells = np.where(rng.random(Y.shape) < 0.2, "", Y.astype(str))
    table = np.column_stack([X.astype(str), cells])
    path = tmp_path / "unknown.csv"
    path.write_text("a,b,c,y1,y2\n" + "\n".join(map(",".join, table)) + "\n", encoding="utf-8")
    refused = run("select", path, "--labels", "y*", "--missing-labels", "error")
    assert refused.exit_code == 2
    assert "--missing-labels keep" in refused.stderr
    found, _ = document("select", path, "--labels", "y*", "--missing-labels", "keep", "--criterion", "mim", "-k", 3)
    assert found == document("select", path, "--labels", "y*", "--criterion", "mim", "-k", 3)[0]
    expected = dict.fromkeys("abc", 0.0)
    for label in range(2):
        known = cells[:, label] != ""
        information = mutual_information(X[known], Y[known][:, [label]])[:, 0]
        for name, value in zip("abc", information, strict=True):
            expected[name] += value
    assert {entry["feature"]: entry["score"] for entry in found["selected"]} == pytest.approx(expected)
