"""The comparisons of formulas match the results of their studies, and the recommendations the chart."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from labelsieve.statistics import compare
from labelsieve.studies import Protocol

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "evidence" / "formulas.md").read_text(encoding="utf-8")
CHOOSING = (DOCS / "choose" / "index.md").read_text(encoding="utf-8")
BASELINES = ("random", "all")


def read(study, measure):
    """Methods, their values (data sets in rows), and the values of random features."""
    with (DOCS / "studies" / f"{study}.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] == measure]
    methods = [name for name in rows[0] if name not in ("measure", "dataset", *BASELINES)]
    values = np.array([[float(row[name]) for name in methods] for row in rows])
    return methods, values, np.array([[float(row["random"])] for row in rows])


def shown(head):
    """The table of the page with this header, by its first column."""
    table = PAGE[PAGE.index(head) :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {name.strip("`"): rest for name, *rest in cells}


@pytest.mark.parametrize("study", ["choosing", "numeric"])
def test_results_match_the_protocol(study):
    protocol = Protocol.from_toml(DOCS / "studies" / f"{study}.toml")
    for measure in protocol.measures:
        methods, values, _ = read(study, measure)
        assert methods == [method.name for method in protocol.methods if method.name not in BASELINES]
        assert len(values) == len(protocol.datasets)


def test_ranks_on_the_page_match_the_results():
    table, better = shown("| method | Hamming loss"), {}
    for column, (measure, low) in enumerate({"hamming_loss": True, "ranking_loss": True, "macro_f1": False}.items()):
        methods, values, random = read("choosing", measure)
        ranks = compare(values, lower_is_better=low, methods=methods).average_ranks
        wins = (values < random if low else values > random).sum(axis=0)
        for name, rank, n_wins in zip(methods, ranks, wins, strict=True):
            assert table[name][column] == f"{rank:.1f}", name
            better[name] = better.get(name, 0) + int(n_wins)
    assert {name: cells[-1] for name, cells in table.items()} == {name: f"{count} of 27" for name, count in better.items()}


def test_ranks_for_numeric_targets_match_the_results():
    methods, values, _ = read("numeric", "rrmse")
    ranks = compare(values, lower_is_better=True, methods=methods).average_ranks
    assert shown("| method | RRMSE") == {name: [f"{rank:.1f}"] for name, rank in zip(methods, ranks, strict=True)}


def test_ranks_of_the_default_match_the_results(capsys):
    from benchmarks import default_settings

    results = Path(default_settings.__file__).with_suffix(".csv")
    default_settings.print_ranks(default_settings, "confirm", results, default_settings.CONFIRM)
    printed = capsys.readouterr().out.splitlines()[2:]
    ranks = [[f"{float(cell.split()[0]):.1f}" for cell in re.findall(r"[\d.]+ \(", line[38:])] for line in printed]
    assert list(shown("| selector | Hamming loss").values()) == ranks


def test_chart_and_table_recommend_the_same_methods():
    chart = (DOCS / "images" / "chart.svg").read_text(encoding="utf-8")
    named = set(re.findall(r"[A-Z]\w+\(\"\w+\"\)", CHOOSING))
    assert named
    for call in named:
        assert call in chart, call
