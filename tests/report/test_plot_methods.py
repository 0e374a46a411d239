"""``plot`` of every result draws what the result says."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from labelsieve import AutoSieve, BaselineSieve, InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.discretize import MDL
from labelsieve.information import conditional_mutual_information, mutual_information
from labelsieve.registry import CRITERIA
from labelsieve.report.figures import (
    curves,
    explained_share,
    information_map,
    ranking,
    selection_stability,
    shared_features,
    stopping_curve,
)
from labelsieve.report.figures.style import short_names
from labelsieve.selectors import ChiSquare, ReliefF
from labelsieve.statistics import compare, stability_index
from labelsieve.stopping import Knee
from labelsieve.studies import Study, StudyResults
from labelsieve.studies.demo import demo_data
from tests.support.figure_texts import assert_readable, visible_texts
from tests.support.small_studies import protocol


@pytest.fixture(scope="module")
def data():
    return demo_data(400)


def bars(ax):
    """Widths of the bars of every part."""
    return {container.get_label(): [bar.get_width() for bar in container] for container in ax.containers}


@pytest.mark.parametrize("criterion", CRITERIA)
def test_bars_of_any_criterion_add_up_to_its_scores(data, criterion):
    sieve = Sieve(criterion, n_features_to_select=4).fit(data.X, data.Y)
    ax = ranking(sieve, names=data.feature_names)
    assert np.sum(list(bars(ax).values()), axis=0) == pytest.approx(sieve.scores_, abs=1e-9)
    assert_readable(ax.figure)


def test_a_formula_of_one_term_says_that_there_is_nothing_to_split(data):
    ax = ranking(Sieve("scls", n_features_to_select=3).fit(data.X, data.Y))
    assert "scls: one term, no components" in [text.get_text() for text in visible_texts(ax.figure)]


@pytest.mark.parametrize("criterion", ["cmi", "jmi", "mim"])
def test_with_data_every_criterion_has_three_parts_that_mean_the_same(data, criterion):
    sieve = Sieve(criterion, n_features_to_select=4).fit(data.X, data.Y)
    parts = sieve.information_components(data.X, data.Y)
    X = sieve.discretizer_.encode(data.X, None).to_dense()
    chosen = [int(column) for column in sieve.selected_]
    for step, column in enumerate(chosen[1:], 1):
        information = [conditional_mutual_information(X[:, [column]], data.Y, X[:, [before]]).sum() for before in chosen[:step]]
        assert sum(values[step] for values in parts.values()) == pytest.approx(np.mean(information), abs=1e-9)
    assert sum(values[0] for values in parts.values()) == pytest.approx(
        sieve.label_information(data.X, data.Y).to_numpy().sum(axis=1).max()
    )
    assert set(bars(ranking(sieve, components=parts))) <= {"relevance", "redundancy", "complementarity"}


def test_with_data_the_bars_are_gains_that_add_up_to_the_explained_share(data):
    sieve = Sieve(n_features_to_select=6).fit(data.X, data.Y)
    share = sieve.explained_share(data.X, data.Y)
    selection = sieve.selection(data.X, data.Y, explained=True)
    ax = sieve.plot(data.X, data.Y, names=data.feature_names, n_shown=5)
    drawn = [container[0] for container in ax.containers]
    assert [bar.get_width() for bar in drawn] == pytest.approx(100 * share.gains[:5])
    assert [bar.get_x() + bar.get_width() for bar in drawn] == pytest.approx(100 * share.explained[:5])
    filled = [bar.get_facecolor()[3] > 0 for bar in drawn]
    assert filled == [feature.signal for feature in selection.selected[:5]]
    lines = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert lines == pytest.approx([100 * share.all_features])
    assert ax.get_xlabel() == "explained share in held-out rows, %\n1 more is not shown"
    assert_readable(ax.figure)


def test_a_selection_without_its_explained_share_cannot_be_drawn_with_it(data):
    sieve = Sieve(n_features_to_select=2).fit(data.X, data.Y)
    with pytest.raises(InputError, match="explained=True"):
        explained_share(sieve.selection(data.X, data.Y))


def test_label_names_of_the_data_are_those_of_the_figure(data):
    frame = pd.DataFrame(np.asarray(data.Y), columns=["calm", "sad", "loud", "fast", "old"])
    ax = LabelwiseSieve("mim", n_features_to_select=2).fit(data.X, frame).plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == list(frame.columns)


def test_ticks_are_numbers_of_features_that_were_run():
    sizes = [1, 3, 7, 20, 50]
    rng = np.random.default_rng(0)
    ax = curves(sizes, {"jmi": rng.random((3, 5))})
    assert list(ax.get_xticks()) == sizes
    ax = curves(range(1, 101), {"jmi": rng.random((3, 100))})
    ticks = set(ax.get_xticks())
    assert {1, 100} < ticks < set(range(1, 101))
    assert_readable(ax.figure)


def test_forced_features_and_their_order_stay_in_the_parts(data):
    sieve = Sieve("mrmr", n_features_to_select=3, forced=[7], excluded=[0]).fit(data.X, data.Y)
    assert sieve.information_components(data.X, data.Y)["relevance"] == pytest.approx(sieve.score_components_["relevance"])


RATINGS = {
    "weights, or minus the increase of the objective": QuadraticSieve(n_features_to_select=3),
    "variances": BaselineSieve("variance"),
    "chi-square statistics": ChiSquare(n_features_to_select=3),
    "mean differences, from -1 to 1": ReliefF(n_features_to_select=3, n_neighbors=3),
    "nats": Sieve("mim", n_features_to_select=3),
}


@pytest.mark.parametrize("unit", RATINGS)
def test_scores_that_rate_a_feature_alone_are_drawn_with_their_unit(data, unit):
    fitted = clone(RATINGS[unit]).fit(data.X, data.Y)
    ax = fitted.plot(names=data.feature_names)
    ((_, drawn),) = bars(ax).items()
    assert drawn == pytest.approx(fitted.scores_)
    assert ax.get_xlabel() == unit
    assert fitted.label_information(data.X, data.Y).shape == (fitted.support_.sum(), 5)
    assert_readable(ax.figure)


@pytest.mark.parametrize("criterion", ["jmi", "mrmr", "pmu"])
def test_without_data_the_bars_of_a_search_are_what_every_feature_has_alone(data, criterion):
    sieve = Sieve(criterion, n_features_to_select=4).fit(data.X, data.Y)
    alone = mutual_information(sieve.discretizer_.encode(data.X, None).to_dense(), data.Y).sum(axis=1)
    assert bars(sieve.plot()) == {"relevance": pytest.approx(alone[sieve.selected_])}


@pytest.mark.parametrize("selector", [Sieve(n_features_to_select=2), Sieve("omp"), BaselineSieve("random")], ids=str)
def test_a_plot_that_would_say_nothing_asks_for_the_data(data, selector):
    fitted = clone(selector).fit(data.X, data.Y)
    with pytest.raises(InputError, match=r"plot\(X, Y\) draws what every feature adds"):
        fitted.plot()


def test_an_explained_share_that_is_known_is_drawn_without_data(data):
    sieve = Sieve(n_features_to_select="auto").fit(data.X, data.Y)
    assert sieve.plot().get_xlabel() == "explained share in held-out rows, %"


def test_an_automatic_choice_without_data_is_its_comparison(data):
    auto = AutoSieve(portfolio=["mim", "omp"], n_features_to_select=3).fit(data.X, data.Y)
    drawn, expected = ([text.get_text() for text in visible_texts(ax.figure)] for ax in (auto.plot(), auto.plot_comparison()))
    assert drawn == expected


def test_long_rankings_say_how_many_are_not_shown(data):
    ax = Sieve("mim", n_features_to_select=None).fit(data.X, data.Y).plot(n_shown=12)
    assert ax.get_xlabel() == "nats; 8 more are not shown"
    assert_readable(ax.figure)


def test_names_are_shortened_and_never_read_as_formulas(data):
    names = [f"$x_{place}$ " + "long " * 9 for place in range(20)]
    ax = Sieve("pmu", n_features_to_select=3).fit(data.X, data.Y).plot(names=names)
    assert all("…" in label.get_text() and "$x_" in label.get_text() for label in ax.get_yticklabels())
    assert_readable(ax.figure)


def test_long_names_lose_the_parts_that_they_share_and_stay_distinct():
    kinds = [
        f"{one}_Acc1298_{two}_Mem40_MFCC_{place}" for one in ("Mean", "Std") for two in ("Mean", "Std") for place in range(13)
    ]
    names = [*kinds, "Mean_Acc1298_Mean_Mem40_Centroid", "BHSUM1"]
    shown = short_names(names)
    assert shown[kinds.index("Mean_Acc1298_Std_Mem40_MFCC_3")] == "Mean…Std…MFCC_3"
    assert shown[-1] == "BHSUM1"
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) <= 22
    words = [f"{'very ' * 12}long name {place} with {'many ' * 9}words" for place in range(5)]
    assert len(set(short_names([*words, words[0]]))) == 5, "equal names stay equal, and no others become so"


def test_names_must_fit(data):
    sieve = Sieve("mim", n_features_to_select=3).fit(data.X, data.Y)
    with pytest.raises(InputError, match="2 names for 20 features"):
        sieve.plot(names=["a", "b"])
    with pytest.raises(InputError, match="1 names for 5 labels"):
        sieve.plot_information(data.X, data.Y, label_names=["a"])
    with pytest.raises(InputError, match="1 names for 4 features"):
        selection_stability(stability_index(np.eye(4)), names=["a"])


def test_the_map_shows_every_pair_in_the_order_of_its_names(data):
    sieve = Sieve("mim", n_features_to_select=4).fit(data.X, data.Y)
    table = sieve.label_information(data.X, data.Y).to_numpy()
    ax = sieve.plot_information(data.X, data.Y, names=data.feature_names, label_names=data.label_names)
    shown = np.asarray(ax.collections[0].get_array()).reshape(4, 5)
    rows = [np.array(data.feature_names)[sieve.selected_].tolist().index(t.get_text()) for t in ax.get_yticklabels()]
    columns = [list(data.label_names).index(label.get_text()) for label in ax.get_xticklabels()]
    assert np.array_equal(shown, table[np.ix_(rows, columns)])


def test_bins_of_every_label_by_itself_are_used_in_the_map(data):
    sieve = LabelwiseSieve("mim", n_features_to_select=2, discretizer=MDL("single")).fit(data.X, data.Y)
    table = sieve.label_information(data.X, data.Y).to_numpy()
    columns = np.flatnonzero(sieve.support_).tolist()
    for label, own in enumerate(sieve.selected_):
        assert [table[columns.index(int(column)), label] for column in own] == pytest.approx(sieve.scores_[label])


def test_large_maps_have_no_names_but_say_how_large_they_are():
    ax = information_map(np.random.default_rng(0).random((40, 400)))
    assert ax.get_xlabel() == "400 labels"
    assert not ax.get_xticklabels()
    assert len(ax.get_yticklabels()) == 40
    assert_readable(ax.figure)


@pytest.mark.parametrize("table", [np.zeros((0, 3)), [1.0, 2.0], [[np.nan]]])
def test_what_is_no_table_is_refused(table):
    with pytest.raises(InputError, match="table of finite numbers"):
        information_map(table)


def test_shared_features_come_before_those_of_one_label(data):
    sieve = LabelwiseSieve("mim", n_features_to_select=3).fit(data.X, data.Y)
    ax = sieve.plot(names=data.feature_names, label_names=data.label_names)
    counts = dict(zip(data.feature_names, sieve.label_support_.sum(axis=0), strict=True))
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(shown) == sorted(name for name, count in counts.items() if count)
    assert [counts[name] for name in shown] == sorted((counts[name] for name in shown), reverse=True)
    assert len(ax.collections[0].get_offsets()) == 15
    with pytest.raises(InputError, match="LabelwiseSieve"):
        shared_features(Sieve("mim").fit(data.X, data.Y))
    with pytest.raises(InputError, match="shared_features"):
        ranking(sieve)


def test_other_rules_have_no_curve_to_draw(data):
    sieve = Sieve("mim", n_features_to_select=Knee()).fit(data.X, data.Y)
    with pytest.raises(InputError, match="CrossValidated"):
        stopping_curve(sieve.stopping_)


def test_stability_of_everything_or_nothing_is_said_in_words():
    ax = stability_index(np.ones((3, 4))).plot()
    assert ax.get_title() == "all or none selected every time"


def test_a_study_has_a_curve_for_every_method(tmp_path):
    Study(protocol(splits="2x50%"), tmp_path).run()
    results = StudyResults(tmp_path)
    ax = results.plot("songs", "hamming_loss", "mlknn")
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"jmi", "grouped", "random", "all"}
    lines = dict(zip(results.methods, ax.lines, strict=True))
    _, table = results.curve("songs", "jmi", "hamming_loss", "mlknn")
    assert lines["jmi"].get_ydata() == pytest.approx(table.mean(axis=0))
    assert len(set(lines["all"].get_ydata())) == 1
    with pytest.raises(InputError, match="'tapes'"):
        results.plot("tapes", "hamming_loss", "mlknn")


def test_a_comparison_draws_its_diagram():
    found = compare(np.random.default_rng(0).normal(size=(9, 3)), lower_is_better=True, methods=["a", "b", "c"])
    assert len(found.plot().texts) >= 6


def test_plotting_is_loaded_when_somebody_plots():
    code = (
        "import sys; from labelsieve import Sieve; Sieve('mim').fit([[0, 1], [1, 0]] * 4, [0, 1] * 4); "
        "assert 'matplotlib' not in sys.modules and 'labelsieve.report' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_plot_says_what_to_install(data, monkeypatch):
    sieve = Sieve("mim", n_features_to_select=2).fit(data.X, data.Y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'labelsieve\[plot\]'"):
        sieve.plot()
