"""``labelsieve select``: it selects what the library selects, in every form."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.registry import make_selector
from labelsieve.selection import Selection
from tests.support.command_line import refusal, run, write
from tests.support.table_libraries import install_only


def expected(frame, **parameters):
    return Sieve(n_features_to_select=4, **parameters).fit(frame.iloc[:, :-5], frame.iloc[:, -5:])


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.csv.gz", "t.parquet", "t.pq"])
@pytest.mark.parametrize("reader", ["pyarrow", "csv"])
def test_every_file_type_and_reader_gives_the_selection_of_the_library(frame, tmp_path, name, reader, monkeypatch):
    path = tmp_path / name
    if name.lower().endswith(("csv", "gz")):
        frame.to_csv(path, index=False)
    else:
        frame.set_index(np.arange(7, 7 + len(frame))).to_parquet(path)  # an index that is no column
    if name.endswith(("parquet", "pq")) and reader in ("pandas", "csv"):
        reader = "pyarrow"  # these do not read Parquet
    install_only(monkeypatch, reader)
    result = run("select", path, "--labels", 5, "-k", 4, "--format", "json")
    assert result.exit_code == 0, result.output
    assert [feature["column"] for feature in json.loads(result.stdout)["selected"]] == expected(frame).selected_.tolist()


def test_labels_may_be_counted_from_either_end_or_named(frame, tmp_path):
    names = list(frame.columns)
    turned = frame[names[-5:] + names[:-5]]
    turned.to_csv(tmp_path / "turned.csv", index=False)
    wanted = {tuple(names[-5:])}
    for labels in ("-5", "label-0, label-1,label-2,label-3,label-4", "label-0,label-1,label-2,label-3,label-4,"):
        document = json.loads(run("select", tmp_path / "turned.csv", "--labels", labels, "--format", "json").stdout)
        wanted.add(tuple(document["labels"]))
    assert len(wanted) == 1


def test_a_label_whose_name_is_a_number_or_has_a_comma_can_be_named(tmp_path):
    path = write(tmp_path, '1,2,"a,b"\n0,1,0\n1,0,1\n')
    for labels, expected_names in (("1", ["a,b"]), ("1,", ["1"]), ('"a,b",2', ["a,b", "2"])):
        assert json.loads(run("select", path, "--labels", labels, "-k", 1, "--json").stdout)["labels"] == expected_names


def test_csv_and_json_hold_scores_and_their_parts(frame, file):
    sieve = expected(frame, criterion="mrmr")
    options = ("select", file, "--labels", 5, "-k", 4, "--method", "mrmr")
    rows = list(csv.DictReader(io.StringIO(run(*options, "--format", "csv").stdout)))
    document = json.loads(run(*options, "--format", "json").stdout)
    assert [row["feature"] for row in rows] == [frame.columns[column] for column in sieve.selected_]
    assert [float(row["score"]) for row in rows] == sieve.scores_.tolist()
    assert [feature["score"] for feature in document["selected"]] == sieve.scores_.tolist()
    for kind, values in sieve.information_components(frame.iloc[:, :-5], frame.iloc[:, -5:]).items():
        assert [float(row[kind]) for row in rows] == values.tolist()
        assert [feature["components"][kind] for feature in document["selected"]] == values.tolist()
    assert [float(row["relevance"]) for row in rows] == pytest.approx(sieve.score_components_["relevance"])
    table = sieve.label_information(frame.iloc[:, :-5], frame.iloc[:, -5:])
    assert (
        [row["top_label"] for row in rows]
        == [feature["top_label"] for feature in document["selected"]]
        == table.idxmax(axis=1).tolist()
    )
    assert (document["method"], document["n_rows"], document["n_features"], document["n_bins"]) == ("mrmr", 400, 20, 5)


def test_the_table_shows_ranks_names_and_numbers_in_line(frame, file):
    result = run("select", file, "--labels", 5, "-k", 12, "--method", "mrmr", "--details", width=120)
    verdict, first, note, headline, second = result.stdout.split("\n\n")
    assert re.fullmatch(r"12 of 20 features explain \d+ % \(± \d\) of the labels, as much as all 20 \(\d+ %\)\.", verdict)
    header, _, *rows, whole = first.splitlines()
    assert header.split() == ["rank", "feature", "explained", "gain", "top", "label"]
    assert [int(row.split()[0]) for row in rows] == list(range(1, 13))
    assert whole.startswith("       all 20 features")
    assert note.startswith("explained: share of the labels")
    assert "12 of 20 features for 5 labels (single), from 400 rows" in headline
    above, header, _, *rows = second.splitlines()
    assert above.split() == ["comple-"]
    assert header.split() == ["rank", "feature", "score", "relevance", "redundancy", "mentarity", "added", "folds"]
    assert [int(row.split()[0]) for row in rows] == list(range(1, 13))
    assert "-0.0000" not in result.stdout
    assert "\x1b" not in result.output


@pytest.mark.parametrize("options", [(), ("--memory-limit", "100kB")], ids=["memory", "by columns"])
def test_more_features_than_there_are_is_refused(file, options):
    message = "labelsieve: 500 features asked for, but the table has 20. Leave -k out to let labelsieve choose."
    assert refusal("select", file, "--labels", 5, "-k", 500, *options) == message
    assert "20 of 20 features" in run("select", file, "--labels", 5, "-k", 20).stdout


def test_a_saved_selection_can_be_loaded(frame, file, tmp_path):
    saved = tmp_path / "selected.json"
    assert run("select", file, "--labels", 5, "-k", 4, "--targets", "joint", "--output", saved).exit_code == 0
    sieve = Sieve.from_json(saved)
    features = frame.iloc[:, :-5]
    fitted = Sieve(targets="joint", n_features_to_select=4).fit(features, frame.iloc[:, -5:])
    assert sieve.selected_.tolist() == fitted.selected_.tolist()
    assert sieve.transform(features).shape == (400, 4)
    assert sieve.fit(features, frame.iloc[:, -5:]).selected_.shape == (4,)


def test_a_published_method_brings_its_label_space_and_bins(frame, file):
    selected = json.loads(run("select", file, "--labels", 5, "-k", 4, "--method", "mlinfogain", "--format", "json").stdout)
    assert (selected["method"], selected["targets"], selected["n_bins"]) == ("mlinfogain", "single", 10)
    fitted = Sieve("mlinfogain", n_features_to_select=4).fit(frame.iloc[:, :-5], frame.iloc[:, -5:])
    assert [choice["column"] for choice in selected["selected"]] == fitted.selected_.tolist()
    copied = run("select", file, "--labels", 5, "-k", 4, "--targets", "copy", "--details").stdout
    assert "4 of 20 features for 5 labels (copy)" in copied


def test_threads_do_not_change_what_is_printed(file):
    single, double = (run("select", file, "--labels", 5, "--n-jobs", n).stdout for n in (1, 2))
    assert single == double


def test_bins_and_codes_change_what_is_counted(frame, tmp_path):
    numbers = frame.assign(level=np.arange(len(frame)) % 7)[["level", "rel1", "label-0"]].round().astype(int)
    numbers.to_csv(tmp_path / "codes.csv", index=False)
    scores = {}
    for options in (("--codes",), ("--bins", "7"), ("--bins", "2"), ()):
        result = run("select", tmp_path / "codes.csv", "--labels", 1, "-k", 2, "--method", "mim", "--json", *options)
        scores[options] = {feature["feature"]: feature["score"] for feature in json.loads(result.stdout)["selected"]}
    assert scores["--codes",] == scores["--bins", "7"]
    assert scores["--codes",]["level"] > scores[()]["level"] > scores["--bins", "2"]["level"]


def test_redundant_features_are_listed_below_the_table_and_in_json(frame, tmp_path):
    frame.insert(0, "double", 2 * frame["rel4"])
    path = tmp_path / "doubled.csv"
    frame.to_csv(path, index=False)
    options = ("select", path, "--labels", "label-4", "-k", 1, "--redundant", 0.9)
    lines = run(*options).stdout.splitlines()
    assert lines[-1].split() == ["double", "rel4", "1.0000"]
    assert json.loads(run(*options, "--format", "json").stdout)["selected"][0]["redundant"] == {"rel4": 1.0}
    none = run("select", path, "--labels", 5, "-k", 21, "--redundant", 0.9).stdout
    assert "No feature that was not selected is redundant (similarity at least 0.9)." in none


@pytest.mark.parametrize("options", [("--redundant", "0.2"), ("--labelwise",), ("-k", "g-test"), ("--stability", "3")])
def test_json_is_the_selection_of_the_library(frame, file, options):
    result = run("select", file, "--labels", 5, "-k", 4, *options, "--json")
    document = json.loads(result.stdout)
    selection = Selection.from_dict(document)
    assert json.loads(json.dumps(selection.to_dict())) == document
    assert selection.n_rows == 400
    assert set(selection.fingerprint) == {"X", "y"}
    assert selection.labelwise == ("--labelwise" in options)
    assert bool(selection.stopping) == ("g-test" in options)
    assert (selection.stability is not None) == ("--stability" in options)


def test_text_features_keep_their_levels(tmp_path):
    keys = [f"k{i % 7}" for i in range(140)]
    rows = "\n".join(f"{key},{'yes' if i % 3 else 'no'},{int(key in ('k0', 'k2', 'k4'))}" for i, key in enumerate(keys))
    path = write(tmp_path, f"key,live,minor\n{rows}\n")
    assert run("select", path, "--labels", 1, "-k", 1, "--redundant", 0.9).exit_code == 0
    for options in ((), ("--bins", 3), ("--codes",), ("--discretizer", "mdl"), ("--discretizer", "mean-std")):
        result = run("select", path, "--labels", 1, "-k", 1, "--criterion", "cmim", "--format", "json", *options)
        assert result.stderr == ""
        first = json.loads(result.stdout)["selected"][0]
        assert first["feature"] == "key"
        assert first["score"] == pytest.approx(-(3 / 7) * np.log(3 / 7) - (4 / 7) * np.log(4 / 7))  # all there is


def test_text_labels_are_classes(tmp_path):
    path = write(tmp_path, "a,b,mood\n1,0,calm\n2,1,wild\n1,1,calm\n2,0,wild\n")
    assert (
        json.loads(run("select", path, "--labels", "mood", "-k", 1, "--format", "json").stdout)["selected"][0]["feature"] == "a"
    )


def test_names_cannot_paint_the_terminal(tmp_path):
    path = write(tmp_path, "[red]a,\x1b[31mb,y\n1,0,1\n0,0,0\n")
    output = run("select", path, "--labels", 1, "-k", 2).output
    assert "[red]a" in output
    assert r"\x1b[31mb" in output
    assert "\x1b" not in output


@pytest.mark.parametrize("method", ["hybrid", "omp"])
def test_methods_of_least_squares_take_text_and_missing_cells(frame, tmp_path, method):
    frame = frame.assign(**{frame.columns[1]: np.where(frame["label-0"] == 1, "yes", "no")})
    frame.iloc[::7, 2] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = run("select", tmp_path / "t.csv", "--labels", 5, "-k", 4, "--method", method, "--format", "json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    fitted = make_selector(method, n_features_to_select=4).fit(frame.iloc[:, :-5], frame.iloc[:, -5:])
    assert [feature["column"] for feature in document["selected"]] == fitted.selected_.tolist()
    assert document["method"] == method
    assert 1 in fitted.selected_


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ((), "hybrid"),
        (("-k", "cv:max_features=3"), "hybrid"),
        (("--bins", 3), "hybrid"),
        (("-k", "g-test"), "hybrid"),
        (("-k", "fdr"), "hybrid"),
        (("-k", "knee"), "hybrid"),
        (("--labelwise",), "hybrid"),
        (("--labelwise", "-k", "g-test"), "hybrid"),
        (("--memory-limit", "1GB"), "hybrid"),
        (("--memory-limit", "100KB"), "hybrid"),
    ],
)
def test_the_default_method_is_the_hybrid_whatever_the_options(file, options, method):
    result = run("select", file, "--labels", 5, "--format", "json", *options)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["method"] == method


def test_rules_that_compare_scores_are_refused_for_the_default_method_with_a_remedy(file):
    for rule in ("permutation", "threshold:threshold=0.1"):
        assert "such as cmim" in refusal("select", file, "--labels", 5, "-k", rule)


def test_control_sequences_of_names_reach_files_but_not_terminals(tmp_path):
    name = "loud\x1b[31mness\x9b1m"
    rows = "".join(f"{number % 3},{number % 2}\n" for number in range(60))
    file = write(tmp_path, f"{name},y\n{rows}")
    command = [sys.executable, "-m", "labelsieve", "select", str(file), "--labels", "y", "-k", "1", "--format", "csv"]
    piped = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert [row[1] for row in csv.reader(io.StringIO(piped))][1:] == [name]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        assert process.wait() == 0
    os.close(theirs)
    shown = os.read(ours, 2**16).decode()
    os.close(ours)
    assert r"loud\x1b[31mness\x9b1m" in shown
    assert "\x1b" not in shown
    assert "\x9b" not in shown
