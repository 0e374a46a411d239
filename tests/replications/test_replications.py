"""Published studies: protocols are those of the papers, printed numbers are consistent, and a small run prints and draws."""

from dataclasses import replace
from itertools import pairwise

import pytest

from labelsieve.metrics import convention_options
from labelsieve.studies import Grid
from labelsieve.studies.estimators import read_splits
from replications import REPLICATIONS
from replications.__main__ import app
from replications.composite_likelihood import figures3to5 as likelihood
from replications.group_jmi import figure4 as regression
from replications.group_jmi import figures1and2 as parameters
from replications.group_jmi import table2
from replications.replication import SWAPPED
from tests.support.command_line import run
from tests.support.shared_files import shared_file

OURS = {one.REPLICATION.name: one for one in (table2, parameters, regression, likelihood)}
# The data set and the numbers of features of a run that takes seconds, and what it must print.
SMALL = {
    "group-jmi-table2": ("emotions", [5, 10], "Table 2, macro-averaged F1, Group-JMI-Rand by equation 3"),
    "group-jmi-parameters": ("genbase", [5, 10], "Figure 2, Group-JMI by the author's program"),
    "group-jmi-regression": ("atp7d", [5, 10], "Range of the curves"),
    "composite-likelihood": ("yeast", [1, 5, 60], "figure5, yeast, ranking_loss"),
}


def whole(name):
    protocol, *_ = REPLICATIONS[name].protocols(full=True, sets=None, data_home=None).values()
    return protocol


@pytest.mark.parametrize("name", OURS)
def test_repetitions_and_bins_are_those_of_the_papers(name):
    protocol = whole(name)
    assert protocol.splits.words == "30x50%"
    assert protocol.baselines == []
    assert [source.name for source in protocol.datasets] == list(OURS[name].SETS)
    for method in protocol.methods:
        rule = method.settings.get(
            "discretizer", {"name": "equal-width", "n_bins": 5}
        )  # presets of these papers have five bins
        assert rule == {"name": "equal-width", "n_bins": 5}


@pytest.mark.parametrize("name", ["group-jmi-table2", "group-jmi-parameters"])
def test_stratified_halves_differ_from_random_ones_in_the_halves_only(name):
    first, second, *_ = REPLICATIONS[name].protocols(full=True, sets=None, data_home=None).values()
    assert [first.splits.words, second.splits.words] == ["30x50%", "stratified 30x50%"]
    first, second = first.plain(), second.plain()
    differing = {key for key in first if first[key] != second[key]}
    assert {"splits"} <= differing <= {"splits", "datasets"}  # languagelog-swapped is one more data set


def test_the_exchanged_languagelog_is_shown_next_to_the_printed_ranks_and_does_not_count():
    class Results:
        def __init__(self, names):
            self.datasets = names

        def ranks(self, measure, *, methods):
            grid = Grid(self.datasets, list(methods), True)
            for name in self.datasets:
                for method, rank in zip(methods, (3.0, 1.0, 2.0), strict=True):
                    grid.put(name, method, rank)
            return grid

    tables = table2.table2(Results(["languagelog", "yeast"]), "equation 3", swapped=Results([SWAPPED]))
    assert [row[0] for row in tables[0].rows] == ["languagelog", "yeast", SWAPPED]
    assert tables[0].rows[0][1:4] == tables[0].rows[2][1:4]
    assert tables[-1].compared.run == 4 * 2 * 3
    assert "languagelog-swapped are" in tables[-1].summary


@pytest.mark.parametrize("name", REPLICATIONS)
def test_classifiers_get_the_features_as_in_the_papers_and_f1_counts_absent_labels_as_printed(name):
    for protocol in (
        REPLICATIONS[name]
        .protocols(full=True, sets=["scene"] if "figure" in name or "occ" in name else None, data_home=None)
        .values()
    ):
        assert protocol.scale is None
        for measure in {"macro_f1", "micro_f1"} & set(protocol.measures):
            assert convention_options(measure, protocol.convention) == {"zero_division": 0.0}


@pytest.mark.parametrize("name", OURS)
def test_classifiers_and_measures_are_those_of_the_papers(name):
    protocol = whole(name)
    (classifier,) = protocol.classifiers
    assert classifier.estimator.k == (10 if name == "group-jmi-regression" else 7)
    assert (
        protocol.measures
        == {
            "group-jmi-table2": ["hamming_loss", "ranking_loss", "coverage", "macro_f1"],
            "group-jmi-parameters": ["hamming_loss", "ranking_loss", "macro_f1"],
            "group-jmi-regression": ["rrmse"],
            "composite-likelihood": ["hamming_loss", "ranking_loss"],
        }[name]
    )
    if name.startswith("group-jmi"):
        assert protocol.n_features == list(range(1, 51))
    else:
        assert (protocol.n_features[0], protocol.n_features[-1]) == (1, 294)
        assert all(first < second for first, second in pairwise(protocol.n_features))


def test_table_2_and_figure_3_have_their_nine_methods_and_both_readings_of_the_group():
    names = [method.name for method in whole("group-jmi-table2").methods]
    assert names == [*table2.METHODS, table2.NORMALIZED, "mim", "ela-chi", "ami", "pmu", "fimf", "scls"]
    ela = next(method.estimator for method in whole("group-jmi-table2").methods if method.name == "ela-chi")
    assert (type(ela).__name__, ela.targets) == ("ChiSquare", "copy-weight")


def test_parameters_vary_around_the_values_that_the_paper_fixes():
    spaces = {method.name: method.estimator.targets for method in whole("group-jmi-parameters").methods}
    plain = {(space.n_clusters, space.pot) for name, space in spaces.items() if not name.endswith("normalized")}
    assert plain == {(4, 0.5), (8, 0.5), (16, 0.5), (8, 0.25), (8, 0.75)}
    assert len(spaces) == 2 * len(plain)


def test_regression_has_relief_of_10_and_50_neighbors():
    found = {method.name: method.estimator for method in whole("group-jmi-regression").methods}
    assert [found[f"rrelieff-{k}"].n_neighbors for k in (10, 50)] == [10, 50]


@pytest.mark.parametrize("measure", table2.PRINTED_RANKS)
def test_printed_ranks_of_figure_3_are_those_of_seven_methods_on_nine_sets(measure):
    printed = table2.PRINTED_RANKS[measure]
    assert set(printed) == {table2.GROUP, *table2.OTHERS.values()}
    assert sum(printed.values()) == pytest.approx(28, abs=0.003)
    assert all(rank * 18 == pytest.approx(round(rank * 18), abs=0.01) for rank in printed.values())
    assert list(printed.values()) == sorted(printed.values())


@pytest.mark.parametrize("name", OURS)
def test_small_run_prints_and_draws(name, tmp_path, monkeypatch):
    dataset, sizes, said = SMALL[name]
    folder = shared_file("data", "README.md").parent

    def smaller(**how):
        parts = OURS[name].protocols(**how)
        for protocol in parts.values():
            protocol.n_features, protocol.splits = sizes, read_splits("2x50%", 0)
        return parts

    monkeypatch.setitem(REPLICATIONS, name, replace(REPLICATIONS[name], protocols=smaller))
    result = run(name, "--data", folder, "--sets", dataset, "--out", tmp_path / "study", app=app)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    text = " ".join(result.stdout.split())
    assert said in text
    assert "claim here our numbers" in text
    drawn = sorted((tmp_path / "study").glob("*.svg"))
    assert [path.name in result.stderr for path in drawn] == [True] * len(drawn)
    assert all("<svg" in path.read_text(encoding="utf-8")[:1000] for path in drawn)
    assert bool(drawn) == (name != "group-jmi-table2")  # diagrams of one data set would say nothing


@pytest.mark.parametrize("name", REPLICATIONS)
def test_every_study_says_what_it_is_and_what_was_chosen(name):
    study = REPLICATIONS[name]
    assert study.title
    assert study.paper
    assert all(reason.endswith(".") for reason in study.assumptions.values())
