import numpy as np
import pytest
from matplotlib import pyplot

from labelsieve.report.figures import critical_difference_diagram
from labelsieve.report.figures.ranks import _stack
from labelsieve.statistics import compare
from tests.support.figure_texts import assert_readable
from tests.support.printed_tables import METHODS, TABLES

LONG = [f"Group-JMI-Rand with a long name no. {place}" if place % 3 else f"m{place}" for place in range(15)]


def many(n_methods, n_datasets=20, seed=0):
    table = np.random.default_rng(seed).normal(size=(n_datasets, n_methods)) + np.linspace(0, 2, n_methods)
    return table, (LONG * 2)[:n_methods]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_published_diagram_has_its_names_ranks_and_bars():
    found = compare(TABLES["exact match"], lower_is_better=False, methods=METHODS)
    ax = critical_difference_diagram(found)
    assert texts(ax)[:8] == ["1", "2", "3", "4", "5", "6", "7", "CD = 2.50"]
    assert texts(ax)[8:] == ["1.85  oCC", "2.50  EoCC", "2.69  ECC", "3.81  EBCC", "LLSF  5.19", "BR  5.38", "MDDM  6.58"]
    bars = [line.get_xdata() for line in ax.lines if line.get_zorder() == 3]
    expected = [[1.846, 3.808], [3.808, 5.385], [5.192, 6.577]]
    assert np.array(bars) == pytest.approx(np.array(expected), abs=0.03)
    assert_readable(ax.figure)


def test_lines_lead_from_the_rank_to_the_name():
    found = compare(TABLES["exact match"], lower_is_better=False, methods=METHODS)
    ax = critical_difference_diagram(found)
    elbows = [line for line in ax.lines if len(line.get_xdata()) == 3]
    assert sorted(line.get_xdata()[0] for line in elbows) == pytest.approx(sorted(found.average_ranks))
    levels = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert levels["1.85  oCC"] > levels["2.50  EoCC"] > levels["3.81  EBCC"], "no line crosses another"
    assert levels["MDDM  6.58"] > levels["BR  5.38"] > levels["LLSF  5.19"]


@pytest.mark.parametrize("n_methods", [2, 3, 15])
@pytest.mark.parametrize("test", [None, "wilcoxon"])
def test_names_do_not_overlap_whatever_their_number_and_length(n_methods, test):
    table, names = many(n_methods)
    ax = critical_difference_diagram(compare(table, lower_is_better=True, methods=names, test=test))
    assert_readable(ax.figure)


def test_twenty_five_methods_fit():
    table = np.random.default_rng(1).normal(size=(30, 25)) + np.linspace(0, 3, 25)
    assert_readable(critical_difference_diagram(compare(table, lower_is_better=True)).figure)


def test_diagrams_fit_into_given_axes():
    figure, axes = pyplot.subplots(2, 2, figsize=(7, 4), layout="constrained")
    for (measure, table), ax in zip(TABLES.items(), axes.flat, strict=True):
        assert critical_difference_diagram(compare(table, lower_is_better=False, methods=METHODS), ax=ax) is ax
        ax.set_title(measure, fontsize=8)
    assert_readable(figure)


def test_few_data_sets_have_a_difference_longer_than_the_axis():
    table, _ = many(3, n_datasets=2)
    ax = critical_difference_diagram(compare(table, lower_is_better=True))
    assert any("longer than the axis" in text for text in texts(ax))
    assert_readable(ax.figure)


def test_dots_mark_the_members_of_a_bar_that_skips_a_method():
    table, names = many(15)
    found = compare(table, lower_is_better=True, methods=names, test="wilcoxon")
    skipping = [
        group
        for group in found.groups
        if len(group)
        < np.sum(
            (found.average_ranks >= found.average_ranks[list(group)].min())
            & (found.average_ranks <= found.average_ranks[list(group)].max())
        )
    ]
    assert skipping
    ax = critical_difference_diagram(found)
    dotted = [line for line in ax.lines if line.get_marker() == "o"]
    assert sorted(len(line.get_xdata()) for line in dotted) == sorted(map(len, skipping))


def test_control_is_in_bold():
    ax = critical_difference_diagram(compare(TABLES["exact match"], lower_is_better=False, methods=METHODS, control="EoCC"))
    assert [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"] == ["2.50  EoCC"]
    assert_readable(ax.figure)


def test_names_are_not_read_as_formulas():
    table, _ = many(3)
    ax = critical_difference_diagram(compare(table, lower_is_better=True, methods=["$a$", "b_1", "50%"]))
    assert {text.split("  ")[1] for text in texts(ax)[-3:-1]} == {"$a$", "b_1"}
    assert_readable(ax.figure)


def test_bars_that_overlap_get_levels_of_their_own():
    assert _stack([(1, 3), (2, 4), (3.5, 5)]) == [0, 1, 0]


@pytest.mark.parametrize("control", [0, 5])
def test_a_control_in_bold_is_not_cut_off(control):
    table, _ = many(6)
    found = compare(table, lower_is_better=True, methods=[f"{LONG[1]} {place}" for place in range(6)], control=control)
    assert_readable(critical_difference_diagram(found).figure)


def test_a_bar_longer_than_the_critical_difference_is_explained():
    apart = np.linspace(-1, 1, 10) ** 5
    tables = (np.random.default_rng(seed).normal(size=(6, 10)) + apart for seed in range(500))
    comparisons = (compare(table, lower_is_better=True) for table in tables)
    found = next(
        one
        for one in comparisons
        if one.friedman.p_value >= 0.05 and one.average_ranks.max() - one.average_ranks.min() > one.critical_difference
    )
    ax = critical_difference_diagram(found, width=3.5)
    assert "No difference by Friedman's test" in texts(ax)
    assert_readable(ax.figure)


def test_a_name_stays_on_its_line():
    table, _ = many(4)
    ax = critical_difference_diagram(compare(table, lower_is_better=True, methods=["a\nb", "c", "d\te", "f"]))
    assert any(text.endswith(r"a\nb") for text in texts(ax))
    assert_readable(ax.figure)
