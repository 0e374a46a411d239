"""Claims of papers hold or fail by the results, and say when they could not be checked."""

import numpy as np
import pytest

from labelsieve.studies import Grid
from replications.composite_likelihood import figures3to5 as likelihood
from replications.curves import MEANS, RULES, curve_difference, curve_table
from replications.group_jmi import figure4 as regression
from replications.group_jmi import figures1and2 as parameters
from replications.group_jmi import table2
from replications.replication import Claim, claims_table, not_run

SIZES = np.array([1, 2, 3, 10, 50, 100])


class MadeResults:
    """Results of which every curve is its method's level, the same in every split but for a little."""

    def __init__(self, levels, datasets=("scene", "yeast"), measures=("hamming_loss", "ranking_loss")):
        self.levels, self.datasets, self.measures = levels, list(datasets), list(measures)
        self.methods = list(levels)

    def curve(self, dataset, method, measure):
        wobble = np.array([[-1e-4], [0.0], [1e-4]])
        return SIZES, self.levels[method] + wobble + np.zeros(len(SIZES))

    def ranks(self, measure, *, methods):
        grid = Grid(self.datasets, list(methods), True)
        order = sorted(methods, key=lambda method: self.levels[method])
        for dataset in self.datasets:
            for method in methods:
                grid.put(dataset, method, 1.0 + order.index(method))
        return grid


LIKELY = {"single-cmi": 0.30, "joint-cmi": 0.31, "single-jmi": 0.2, "joint-jmi": 0.2, "single-mim": 0.21, "joint-mim": 0.21}
LIKELY |= {"pmu": 0.25, "pruned-cmi": 0.4}


def test_duels_count_by_the_axis():
    found = curve_difference(MadeResults({"a": 0.1, "b": 0.2}), "yeast", "hamming_loss", "a", "b")
    assert found.mean == pytest.approx(-0.1)
    assert not found.is_worse().any()
    assert curve_difference(MadeResults({"a": 0.1, "b": 0.2}), "yeast", "hamming_loss", "b", "a").is_worse().all()
    assert found.share(SIZES <= 3) == pytest.approx((1 + 1 + 4) / (1 + 1 + 4 + 23.5 + 45 + 50))
    assert found.where(SIZES <= 3).share([True, False, False]) == pytest.approx(1 / 6)
    assert curve_difference(MadeResults({"a": 0.1, "b": 0.2}), "enron", "hamming_loss", "a", "b") is None
    assert curve_difference(
        MadeResults({"a": 0.1, "b": 0.2}, measures=["macro_f1"]), "yeast", "macro_f1", "a", "b"
    ).mean == pytest.approx(0.1)


def test_rules_for_what_is_worse_grow_stricter():
    results = MadeResults({"a": 0.2, "b": 0.2 - 1e-5})  # less than the splits wobble, but the same in all of them
    found = curve_difference(results, "yeast", "hamming_loss", "a", "b")
    assert [bool(found.is_worse(rule).all()) for rule in RULES] == [False, True, True]
    assert not curve_difference(results, "yeast", "hamming_loss", "a", "a").is_worse(MEANS).any()


def test_tables_show_intervals_in_the_last_digits():
    section = curve_table(MadeResults({"a": 0.2}), "figure", "yeast", "hamming_loss", {"a": "A"}, [1, 10, 200])
    assert (section.columns, section.rows) == (("features", ">1", ">10"), [("A", "0.2000(2)", "0.2000(2)")])


def test_likelihood_claims_follow_the_results():
    held = likelihood.claims(MadeResults(LIKELY))
    assert [one.holds for one in held[4:8]] == [True] * 4
    worse = likelihood.claims(MadeResults(LIKELY | {"single-jmi": 0.35}))
    assert [one.holds for one in worse[4:8]] == [False] * 4
    assert [one.holds for one in likelihood.claims(MadeResults(LIKELY, datasets=["yeast"]))[4:6]] == [None, None]


def test_the_nearest_neighbor_estimator_is_compared_on_its_splits_and_numbers_of_features():
    class Estimated(MadeResults):
        def curve(self, dataset, method, measure):
            sizes, table = super().curve(dataset, method, measure)
            return sizes[:4], table[:2, :4]

    results = {"figures": MadeResults(LIKELY), "neighbors": Estimated({"pptmi": 0.22}, datasets=["yeast"])}
    (table,) = [one for one in likelihood.result_tables(results) if "own estimator" in one.title]
    assert [row[:5] for row in table.rows] == [
        (f"yeast, {measure} loss", "0.2200", "0.2000", "0.4000", "0.2500") for measure in ("Hamming", "ranking")
    ]
    assert all(row[5].startswith("-0.0200") and row[6] == "100%" for row in table.rows)


def test_first_place_in_figure_3_is_that_of_the_lowest_rank():
    levels = {"group-jmi-rand": 0.1, "mim": 0.3, "ela-chi": 0.3, "ami": 0.4, "pmu": 0.5, "fimf": 0.6, "scls": 0.2}
    results = MadeResults(levels, datasets=["a", "b", "c"], measures=list(table2.PRINTED))
    assert [one.holds for one in table2.rank_claims(results, "group-jmi-rand")] == [False, True, True, True, True, True]
    results.levels["scls"] = 0.05
    assert [one.holds for one in table2.rank_claims(results, "group-jmi-rand")] == [True, False, False, False, True, True]
    results.levels["scls"] = 0.9
    assert [one.holds for one in table2.rank_claims(results, "group-jmi-rand")][4] is False
    assert all(
        one.holds is None
        for one in table2.rank_claims(MadeResults(levels, datasets=["a"], measures=["coverage"]), "group-jmi-rand")
    )


def test_best_parameters_are_those_of_the_lowest_rank():
    levels = {f"group-{clusters}-50%": 0.5 - clusters / 100 for clusters in (4, 8, 16)} | {
        "group-8-25%": 0.1,
        "group-8-75%": 0.2,
    }
    results = MadeResults(levels, datasets=parameters.SETS, measures=parameters.MEASURES)
    found = {one.text: one.holds for one in parameters.claims(results, "equation 3")}
    assert found["Figure 1: NoC 16 is the best on medical."]
    assert not found["Figure 1: NoC 4 is the best on image."]
    assert found["Figure 2: PoT 25% is the best on medical."]
    assert not found["Figure 2: no clear winner between PoT 50% and PoT 75% on genbase."]


def test_regression_claims_are_about_better_same_and_worse():
    levels = {"rrelieff-10": 0.8, "rrelieff-50": 0.7, "group-jmi-rand": 0.6}
    held = [one.holds for one in regression.claims(MadeResults(levels, regression.SETS, ["rrmse"]), "equation 3")]
    assert held == [regression.STATED[name] == regression.BETTER for name in regression.SETS]
    same = [
        one.holds
        for one in regression.claims(MadeResults(levels | {"group-jmi-rand": 0.7}, regression.SETS, ["rrmse"]), "equation 3")
    ]
    assert [name for name, holds in zip(regression.SETS, same, strict=True) if holds] == ["oes97"]


def test_claims_that_were_not_checked_do_not_count():
    section = claims_table([Claim("a", True, "-"), Claim("b", False, "-"), not_run("c")])
    assert [row[1] for row in section.rows] == ["holds", "does not", "undecided"]
    assert section.summary == "1 of 2 claims hold here, 1 undecided."
