"""The numbers on the pages about studies are those of the stored results, and all pages agree."""

import csv
import re
from pathlib import Path

import pytest

from labelsieve.studies import Protocol

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "trust" / "studies.md").read_text(encoding="utf-8")
WORDS = {"ML-kNN": "mlknn", "logistic regression": "logistic", "extra trees": "trees"}
SELECTIONS, MEASURES = ("cmim", "jmi", "scls"), ("hamming_loss", "ranking_loss", "macro_f1")
METHODS = (*SELECTIONS, "random", "all")


@pytest.fixture(scope="module")
def scaling():
    with (DOCS / "studies" / "scaling.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["classifier"], row["scale"], row["measure"]): {name: float(row[name]) for name in METHODS} for row in rows}


def test_the_table_of_scaling_is_that_of_the_stored_results(scaling):
    table = PAGE[PAGE.index("| classifier | scaling |") :].split("\n\n")[0].splitlines()[2:]
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert len(shown) == 6
    for words, scale, *values in shown:
        stored = scaling[WORDS[words], scale, "hamming_loss"]
        assert values == [f"{stored[name]:.3f}" for name in METHODS]


def test_what_the_page_says_about_scaling_follows_from_the_stored_results(scaling):
    text = " ".join(PAGE[PAGE.index("### What scaling changes") : PAGE.index("## The results file")].split())
    with_all, with_selections = re.search(
        r"with all features by (\d+) %, and with the selected features by (\d+) %", text
    ).groups()
    after, before = (scaling["mlknn", scale, "hamming_loss"] for scale in ("standard", "none"))
    saved = {name: 100 * (1 - after[name] / before[name]) for name in METHODS}
    assert int(with_all) == round(saved["all"])
    assert int(with_selections) == round(sum(saved[name] for name in SELECTIONS) / 3)
    for measure in MEASURES:
        sign = -1 if measure == "macro_f1" else 1
        unscaled, scaled = scaling["mlknn", "none", measure], scaling["mlknn", "standard", measure]
        assert all(sign * unscaled[name] < sign * unscaled["all"] for name in ("cmim", "jmi"))
        assert all(sign * scaled[name] > sign * scaled["all"] for name in SELECTIONS)
        trees, logistic = scaling["trees", "standard", measure], scaling["logistic", "standard", measure]
        assert all(sign * trees[name] > sign * trees["all"] for name in SELECTIONS)
        assert all((sign * logistic[name] < sign * logistic["all"]) == (measure == "hamming_loss") for name in SELECTIONS)
        for classifier in ("logistic", "trees"):
            for name in METHODS:
                assert scaling[classifier, "standard", measure][name] == pytest.approx(
                    scaling[classifier, "none", measure][name], abs=5e-4
                )


def test_the_protocol_of_the_stored_results_is_complete(scaling):
    protocol = Protocol.from_toml(DOCS / "studies" / "scaling.toml")
    assert {key[0] for key in scaling} == {classifier.name for classifier in protocol.classifiers}
    assert {key[2] for key in scaling} == set(protocol.measures)
    assert [method.name for method in protocol.methods] == list(METHODS)
