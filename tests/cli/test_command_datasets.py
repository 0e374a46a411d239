"""``labelsieve datasets info``, ``list`` and ``fetch``, and ``select`` on a file of every format."""

import gzip

import numpy as np
import pytest
from scipy.io import savemat

from tests.support import command_line as commandline
from tests.support.command_line import refusal

ROWS = [(98, 3, 1, 0), (160, 9, 0, 1), (97, 8, 1, 0), (150, 3, 0, 1), (99, 9, 1, 1), (149, 4, 0, 1)]
HEAD = "@relation songs\n@attribute tempo numeric\n@attribute loud numeric\n"
LABELS = "@attribute calm {0,1}\n@attribute happy {0,1}\n@data\n"
BODY = "".join(",".join(map(str, row)) + "\n" for row in ROWS)


def run(*arguments):
    result = commandline.run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def mulan(folder):
    (folder / "songs.arff.gz").write_bytes(gzip.compress((HEAD + LABELS + BODY).encode()))
    (folder / "songs.xml").write_text('<labels><label name="calm"/><label name="happy"/></labels>', encoding="utf-8")
    return folder / "songs.arff.gz", []


def meka(folder):
    file = folder / "meka.arff"
    file.write_text(HEAD.replace("songs", "'songs: -C -2'") + LABELS + BODY, encoding="utf-8")
    return file, []


def sparse_arff(folder):
    file = folder / "sparse.arff"
    cells = ("{" + ",".join(f"{k} {value}" for k, value in enumerate(row) if value) + "}\n" for row in ROWS)
    file.write_text(HEAD + LABELS + "".join(cells), encoding="utf-8")
    return file, ["--labels", "calm,happy"]


def comma_separated(folder):
    file = folder / "songs.csv"
    file.write_text("tempo,loud,calm,happy\n" + BODY, encoding="utf-8")
    return file, ["--labels", "2"]


FORMATS = {"Mulan": mulan, "MEKA": meka, "sparse ARFF": sparse_arff, "CSV": comma_separated}


@pytest.mark.parametrize("format", FORMATS)
def test_select_names_the_features_of_a_file_of_any_format(format, tmp_path):
    file, options = FORMATS[format](tmp_path)
    lines = run("select", file, "-k", 1, *options).splitlines()
    assert lines[0].startswith("hybrid: 1 of 2 features for 2 labels, from 6 rows")
    assert lines[4].split()[:2] == ["1", "tempo"]


def test_select_reads_matlab_and_libsvm(tmp_path):
    values = np.array(ROWS)
    savemat(tmp_path / "songs.mat", {"data": values[:, :2].astype(float), "target": values[:, 2:].astype(float)})
    assert run("select", tmp_path / "songs.mat", "-k", 1).splitlines()[0].startswith("hybrid: 1 of 2 features for 2 labels")
    lines = (f"{','.join(str(k) for k in (0, 1) if row[2 + k])} 1:{row[0]} 2:{row[1]}\n" for row in ROWS)
    (tmp_path / "songs.libsvm").write_text("".join(lines), encoding="utf-8")
    assert run("select", tmp_path / "songs.libsvm", "-k", 1).splitlines()[0].startswith("hybrid: 1 of 2 features for 2 labels")


def test_info_prints_the_statistics_of_the_field(tmp_path):
    file, options = mulan(tmp_path)
    text = run("datasets", "info", file, *options)
    facts = {line[:32].strip(): line[32:].strip() for line in text.splitlines()}
    assert text.splitlines()[0] == "songs"
    assert facts["rows"] == "6"
    assert facts["labels"] == "2"
    assert facts["labels per row (cardinality)"] == f"{(3 + 4) / 6:.3f}"
    assert facts["distinct labelsets"] == "3"


@pytest.mark.parametrize("command", [("select",), ("datasets", "info")])
def test_commands_that_read_a_file_take_what_its_refusal_suggests(tmp_path, command):
    file = tmp_path / "songs.csv"
    file.write_text("tempo,loud,calm\n98,3,1\n160,9,0\n97,2,\n120,5,1\n")
    assert "--labels: a number" in refusal(*command, file)
    assert "--missing-labels drop" in refusal(*command, file, "--labels", "1", "--missing-labels", "error")
    assert run(*command, file, *([] if command[0] == "datasets" else ["-k", 1]), "--labels", "1", "--missing-labels", "drop")


def test_what_cannot_be_read_is_one_line(tmp_path):
    file = tmp_path / "broken.arff"
    file.write_text(HEAD + LABELS + "98,3,1\n", encoding="utf-8")
    assert "broken.arff, line" in refusal("datasets", "info", file, "--labels", "2")
    file.write_text(HEAD + LABELS + BODY, encoding="utf-8")
    assert "labels" in refusal("select", file)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a small data set that is named as one of the catalog, and an empty cache."""
    (tmp_path / "local").mkdir()
    file, _ = mulan(tmp_path / "local")
    file.rename(tmp_path / "local" / "foodtruck.arff.gz")
    (tmp_path / "local" / "songs.xml").rename(tmp_path / "local" / "foodtruck.xml")
    monkeypatch.setenv("LABELSIEVE_DATA", str(tmp_path / "local"))
    monkeypatch.setenv("LABELSIEVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("home")
def test_list_says_where_each_data_set_is():
    lines = run("datasets", "list").splitlines()
    rows = {line.split()[0]: line for line in lines if line.strip()}
    assert rows["yeast"].split() == ["yeast", "2,417", "103", "14", "labels", "1", "2", "3", "4", "5", "-"]
    assert rows["foodtruck"].split()[-1] == "folder"
    assert rows["yahoo-arts"].endswith("manual")
    assert rows["rf1"].split()[4:6] == ["numbers", "-"]
    assert len({line.index("labels  ") for line in lines[2:52] if "  labels  " in line}) == 1, "aligned"
    assert max(map(len, lines[:52])) <= 80


@pytest.mark.usefixtures("home")
def test_names_serve_as_files_where_there_is_no_such_file():
    assert run("datasets", "info", "foodtruck").splitlines()[0] == "foodtruck"
    assert run("select", "foodtruck", "-k", 1).splitlines()[0].startswith("hybrid: 1 of 2 features for 2 labels")
    assert (
        run("select", "foodtruck", "-k", 1, "--labels", "calm")
        .splitlines()[0]
        .startswith("hybrid: 1 of 3 features for 1 label,")
    )
    assert "Close to it: 'foodtruck'" in refusal("select", "foodtrucks")
    assert "foodtruck.arff: No such file" in refusal("datasets", "info", "foodtruck.arff")


def test_fetch_checks_the_size_and_says_what_is_missing(home):
    assert "foodtruck has 6 rows, 2 features and 2 labels, and the catalog says 407 rows" in refusal(
        "datasets", "fetch", "foodtruck"
    )
    line = refusal("datasets", "fetch", "rcv1s1")
    assert line.startswith("labelsieve: rcv1s1.mat: is not here, and no address to download it from is known")
    assert f"Put it into {home / 'cache' / 'rcv1s1'}" in line
    (home / "local" / "flags.xml").write_text("<labels/>")
    (home / "local" / "flags.arff").write_text("@relation r")
    assert "flags.arff, line 1" in refusal("datasets", "fetch", "flags", "--folder", home / "local")
