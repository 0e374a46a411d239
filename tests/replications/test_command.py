"""``python -m replications``: what it prints, how it goes on, what it refuses, and its report."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from replications import REPLICATIONS, Replication, ResultTable
from replications.__main__ import app
from replications.curves import panels
from replications.group_jmi import table2
from replications.replication import Claim, claims_table, not_run
from tests.support import command_line
from tests.support.report_pages import Page
from tests.support.shared_files import shared_file
from tests.support.small_studies import data, protocol

run, refusal = partial(command_line.run, app=app), partial(command_line.refusal, app=app)


def test_the_command_runs_from_the_root_of_a_checkout():
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-m", "replications"], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("composite-likelihood: ")


def test_published_studies_are_listed_and_unknown_ones_refused():
    names = [line.split(":")[0] for line in run().stdout.splitlines() if line.split(":")[0] in REPLICATIONS]
    assert names == list(REPLICATIONS)
    assert "Known: composite-likelihood, " in refusal("table-9")
    assert "'songs' is not a data set of this replication" in refusal("group-jmi-table2", "--sets", "songs")


def test_the_published_table_has_the_wins_that_the_paper_counts():
    wins = [printed.index(min(printed)) for rows in table2.PRINTED.values() for printed in rows.values()]
    assert [wins.count(place) for place in range(3)] == [3, 13, 20]
    assert all(sum(printed) == pytest.approx(6, abs=0.02) for rows in table2.PRINTED.values() for printed in rows.values())


def test_the_published_study_is_what_the_paper_says():
    full = table2.protocols(full=True)["table2"]
    assert [source.name for source in full.datasets] == list(table2.SETS)
    assert full.splits.splitter.get_n_splits() == 30
    assert (full.n_features, full.baselines) == (list(range(1, 51)), [])
    assert full.classifiers[0].estimator.k == 7


def test_quick_study_prints_published_ranks_beside_ours(tmp_path, monkeypatch):
    folder = shared_file("data", "emotions", "emotions.arff.gz").parents[1]

    def quicker(**how):
        parts = table2.protocols(**how)
        parts["table2"].n_features = [5, 10]
        return parts

    monkeypatch.setitem(REPLICATIONS, "group-jmi-table2", replace(table2.REPLICATION, protocols=quicker))
    where = ["--data", folder, "--sets", "emotions", "--out", tmp_path / "study"]
    result = run("group-jmi-table2", "--quick", *where)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("emotions")]
    printed = [[f"{mean:.2f}" for mean in columns["emotions"]] for columns in table2.PRINTED.values()]
    assert [row[1:4] for row in rows] == printed * 2
    assert all(abs(sum(map(float, row[4:7])) - 6) < 0.02 for row in rows)
    assert "is ours in" in result.stdout
    document = json.loads(run("group-jmi-table2", "--quick", *where, "--json").stdout)
    assert (document["name"], set(document["assumptions"])) == ("group-jmi-table2", set(table2.REPLICATION.assumptions))
    assert all(len(row) == len(table["columns"]) for table in document["tables"] for row in table["rows"])
    shown = [" ".join(row).split() for table in document["tables"] for row in table["rows"]]
    assert [row for row in shown if row[0] == "emotions"] == rows
    cost = json.loads(run("group-jmi-table2", "--quick", *where, "--dry-run", "--json").stdout)
    assert cost["table2"]["n_missing"] == 0


def test_all_parts_of_a_study_are_told_when_cells_of_one_fail_and_can_be_tried_again(tmp_path, monkeypatch):
    def parts(**how):
        common = {"n_features": [2], "splits": "1x50%", "baselines": []}
        methods = {"songs": "qpfs", "films": "mim"}  # qpfs takes one target, and here are five
        return {name: protocol(datasets=[data(name)], methods=[method], **common) for name, method in methods.items()}

    fake = replace(table2.REPLICATION, name="fake", protocols=parts, result_tables=lambda results: [], figures=None)
    monkeypatch.setitem(REPLICATIONS, "fake", fake)
    first = run("fake", "--out", tmp_path / "study")
    assert first.exit_code == 1, first.output
    assert re.search(r"2 failed; all in .*songs\..*0 failed; all in .*films\..*--retry-failed", first.stderr, re.DOTALL)
    assert "0 cells run" in run("fake", "--out", tmp_path / "study").stderr
    assert "2 cells run" in run("fake", "--out", tmp_path / "study", "--retry-failed").stderr


def test_studies_are_listed_for_programs():
    assert [document["name"] for document in json.loads(run("--json").stdout)] == list(REPLICATIONS)
    assert "several tables; use json" in refusal(next(iter(REPLICATIONS)), "--format", "csv")


def test_a_published_study_has_its_numbers_its_claims_and_its_figures(tmp_path, monkeypatch):
    def parts(**how):
        small = {"n_features": [2], "splits": "2x50%", "classifiers": [{"name": "mlknn", "k": 3}], "baselines": []}
        return {name: protocol(datasets=[data(name)], methods=["jmi", "mim"], **small) for name in ("songs", "films")}

    def sections(results):
        rows = [(name, "0.25", f"{study.means('hamming_loss').value(name, 'jmi'):.4f}") for name, study in results.items()]
        claims = [Claim("JMI < all others", True, "0.1 < 0.2"), not_run("MIM is last.")]
        return [ResultTable("Table 2", ("data set", ">printed", ">ours"), rows, "Far apart."), claims_table(claims)]

    def figures(results):
        figure, axes = panels(1, 1)
        axes[0, 0].plot([1, 2])
        return {"figure9": figure}

    made = Replication("fake", "Nobody 1999", "A. Nobody: Nothing.", {"k": "3, as <it> says."}, parts, sections, figures)
    monkeypatch.setitem(REPLICATIONS, "fake", made)
    out = tmp_path / "s.html"
    printed = run("fake", "--out", tmp_path / "fake-study")
    assert printed.exit_code == 0, printed.output
    assert "there are no results of fake" in refusal("fake", "--out", tmp_path, "--report", out)
    assert run("fake", "--out", tmp_path / "fake-study", "--report", out).exit_code == 0
    text = " ".join(Page(out.read_text(encoding="utf-8")).texts)
    assert "Claims of the paper Published numbers and ours Figures Assumptions" in text
    ours = [line.split()[2] for line in printed.stdout.splitlines() if line.startswith(("songs", "films"))]
    assert len(ours) == 2
    assert all(number in text for number in ours), "the numbers that were printed"
    for words in (
        "JMI < all others holds 0.1 < 0.2",
        "MIM is last. undecided",
        "Claims: 1 of 1 claims hold here, 1 undecided.",
        "Far apart.",
    ):
        assert words in text
    assert "k 3, as <it> says." in text
    assert "fake, figure9." in text
