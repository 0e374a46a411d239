"""What a fitted selector shows: tables, text, notebooks, ranks and scores of all features."""

import re
import sys
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from rich.cells import cell_len
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from labelsieve import BaselineSieve, InputError, LabelwiseSieve, QuadraticSieve, Sieve, selectors
from labelsieve.information import conditional_mutual_information, mutual_information
from labelsieve.registry import CRITERIA
from labelsieve.report.text import points
from labelsieve.selection import selection as selection_module
from labelsieve.selectors import LLSF, MDDM, ChiSquare, ConditionalDiscoveries, PermutationImportance, ReliefF
from labelsieve.stopping import GTest
from tests.support.discovery import estimator_cases
from tests.support.selection_data import LABELS, NAMES, frames, make_data

CASES = {
    PermutationImportance: [PermutationImportance(model=DecisionTreeRegressor(random_state=0), n_repeats=1)],
    LLSF: [LLSF(beta=12.0)],
    MDDM: [],  # projects and selects nothing
    ConditionalDiscoveries: [],  # selects 1 / alpha features or none, and there are fewer
    Sieve: [Sieve("mrmr", n_features_to_select=3), Sieve("cmim", n_features_to_select=GTest()), Sieve("br-infogain")],
    LabelwiseSieve: [LabelwiseSieve("jmi", n_features_to_select=2)],
    QuadraticSieve: [QuadraticSieve(n_features_to_select=3)],
}
every_selector = pytest.mark.parametrize("selector", estimator_cases(selectors, CASES), ids=lambda one: type(one).__name__)


@every_selector
def test_a_frame_has_a_row_for_every_selected_feature(selector):
    X, Y = frames()
    fitted = clone(selector).fit(X, Y)
    table = fitted.to_frame(X, Y)
    assert isinstance(table, pd.DataFrame)
    information = fitted.label_information(X, Y)
    assert table["top_label"].tolist() == information.loc[table["feature"]].idxmax(axis=1).tolist()
    assert table["top_label_information"].to_numpy() == pytest.approx(information.loc[table["feature"]].max(axis=1).to_numpy())
    if "label" in table:
        own = [information.loc[row.feature, row.label] for row in table.itertuples()]
        assert table["relevance"].to_numpy() == pytest.approx(np.array(own))
    else:
        assert table["column"].tolist() == fitted.selected_.tolist()
        assert table["rank"].tolist() == list(range(1, len(table) + 1))
        assert table["relevance"].to_numpy() == pytest.approx(information.loc[table["feature"]].sum(axis=1).to_numpy())
    without_data = fitted.to_frame()
    assert without_data[["rank", "feature", "column", "score"]].equals(table[["rank", "feature", "column", "score"]])


@pytest.mark.parametrize("criterion", [name for name in CRITERIA if name != "mlfs"])
def test_relevance_and_steps_of_every_criterion_are_those_of_a_naive_count(criterion):
    X, Y = frames()
    sieve = Sieve(criterion, n_features_to_select=4).fit(X, Y)
    table, codes = sieve.to_frame(X, Y), sieve.discretizer_.encode(X.to_numpy(), None).to_dense()
    for step, column in enumerate(sieve.selected_):
        feature = codes[:, [column]]
        relevance = mutual_information(feature, Y.to_numpy()).sum()
        redundancy = complementarity = 0.0
        for before in sieve.selected_[:step]:
            other = codes[:, [before]]
            for label in Y.to_numpy().T:
                given_label = conditional_mutual_information(feature, other, label[:, None])[0, 0]
                interaction = given_label - mutual_information(feature, other)[0, 0]
                redundancy += min(interaction, 0.0) / step
                complementarity += max(interaction, 0.0) / step
        row = table.iloc[step]
        expected = [relevance, redundancy, complementarity]
        assert [row["relevance"], row["redundancy"], row["complementarity"]] == pytest.approx(expected, abs=1e-9)
        assert row["added"] == pytest.approx(sum(expected), abs=1e-9)
    if sieve.relevance_ is not None:
        assert sieve.relevance_ == pytest.approx(mutual_information(codes, Y.to_numpy()).sum(axis=1))
        assert sieve.to_frame()["relevance"].to_numpy() == pytest.approx(table["relevance"].to_numpy())


def test_most_criteria_know_the_relevance_of_every_feature_without_the_data():
    X, Y = make_data()
    known = {name for name in CRITERIA if Sieve(name, n_features_to_select=2).fit(X, Y).relevance_ is not None}
    assert set(CRITERIA) - known == {"cmi", "cmim-positive", "enm", "scls", "lrfs", "tcrfs"}


def test_components_do_not_grow_with_the_number_of_labels_that_have_nothing_to_do_with_them():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 1)).repeat(2, axis=1) ^ (rng.random((400, 2)) < 0.1)
    Y = np.column_stack([X[:, 0], rng.integers(0, 2, size=(400, 300))])
    components = Sieve("jmi", n_features_to_select=2, discretizer=None).fit(X, Y).information_components(X, Y)
    shared = mutual_information(X[:, :1].astype(int), X[:, 1:].astype(int))[0, 0]
    assert shared > 0.25
    assert -2.0 < components["redundancy"][1] < 0  # I(f; s) for each of 301 labels would be below -75


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict", None])
def test_frames_come_from_the_library_that_is_asked_for(library, monkeypatch):
    X, Y = frames()
    sieve = Sieve("jmi", n_features_to_select=2).fit(X, Y)
    if library is None:  # none is installed
        monkeypatch.setattr(selection_module, "find_spec", lambda name: None)
        table = sieve.to_frame()
        assert isinstance(table, dict)
    else:
        table = sieve.to_frame(backend=library)
    columns = table if isinstance(table, dict) else {name: list(table[name]) for name in ("rank", "feature")}
    assert [str(name) for name in columns["feature"]] == [NAMES[column] for column in sieve.selected_]
    with pytest.raises(InputError, match="Did you mean 'polars'"):
        sieve.to_frame(backend="polar")


def test_polars_data_give_polars_frames():
    X, Y = frames()
    sieve = Sieve("jmi", n_features_to_select=2).fit(pl.from_pandas(X), pl.from_pandas(Y))
    assert isinstance(sieve.to_frame(pl.from_pandas(X), pl.from_pandas(Y)), pl.DataFrame)
    information = sieve.label_information(pl.from_pandas(X), pl.from_pandas(Y))
    assert information.columns == ["feature", *LABELS]
    assert information["feature"].to_list() == [NAMES[column] for column in sieve.selected_]


@every_selector
def test_ranks_of_all_features_begin_with_the_selected_ones(selector):
    X, Y = make_data()
    fitted = clone(selector).fit(X, Y)
    ranks = fitted.ranking_
    assert ranks.shape == (len(Y[0]), 8) if np.ndim(fitted.selected_) == 2 else (8,)
    if ranks.ndim == 1:
        assert ranks[fitted.selected_].tolist() == list(range(1, len(fitted.selected_) + 1))
        rest = np.flatnonzero(~fitted.support_)
        assert (ranks[rest] > len(fitted.selected_)).all()
        assert (np.diff(fitted.feature_scores_[rest[np.argsort(ranks[rest])]]) <= 0).all()
    else:
        for label, own in enumerate(ranks):
            assert own[fitted.label_ranking(label)[0]].tolist() == [1, 2]
            assert sorted(own)[2:] == [3] * 6


def test_scores_of_all_features_are_those_of_the_next_step():
    X, Y = make_data()
    for criterion in ("mim", "jmi", "mrmr", "cmim"):
        three = Sieve(criterion, n_features_to_select=3, excluded=[7]).fit(X, Y)
        for column in np.flatnonzero(~three.support_):
            forced = Sieve(criterion, n_features_to_select=3, forced=[*three.selected_[:2], column]).fit(X, Y)
            assert three.feature_scores_[column] == forced.scores_[2]
        assert np.array_equal(three.feature_scores_[three.selected_], three.scores_)
        assert three.ranking_[7] == 8
        assert sorted(three.ranking_) == list(range(1, 9))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("selector", [Sieve("cmim"), LabelwiseSieve("jmi", n_features_to_select=2)], ids=["one", "labelwise"])
def test_lines_of_the_summary_are_as_long_as_their_table_at_any_width(selector, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    X, Y = frames()
    X = X.set_axis(["テンポ", *X.columns[1:]], axis=1)
    fitted = clone(selector).fit(X, Y)
    text = str(fitted.summary(X, Y, stability=2))
    for block in re.split(r"\n\n", text):
        lines = block.splitlines()
        if any("──" in line for line in lines):
            rule = next(line for line in lines if "──" in line)
            assert len(rule) <= max(width, 50)
            assert max(map(cell_len, lines)) <= len(rule)
            ends = {cell_len(line) for line in lines[lines.index(rule) + 1 :] if line[-1].isdigit()}
            assert len(ends) <= 1
    assert all(name in text for name in X.columns[fitted.support_])


def test_text_in_a_terminal_a_notebook_and_a_pipeline():
    X, Y = frames()
    sieve = Sieve(n_features_to_select=2)
    assert repr(sieve) == str(sieve) == "Sieve(n_features_to_select=2)"
    assert "labelsieve-selection" not in sieve._repr_html_()
    sieve.fit(X, Y)
    first, second = (NAMES[column] for column in sieve.selected_)
    assert repr(sieve) == f"Sieve(n_features_to_select=2)  # 2 of 8 features: {first}, {second}"
    assert str(sieve).splitlines()[1] == "hybrid: 2 of 8 features for 4 labels, in order of selection."
    assert repr(make_pipeline(sieve)) == "Pipeline(steps=[('sieve', Sieve(n_features_to_select=2))])"
    assert sieve._repr_mimebundle_()["text/plain"] == str(sieve)
    assert eval(repr(sieve)).get_params() == sieve.get_params()
    with sklearn.config_context(display="text"):
        assert not hasattr(sieve, "_repr_html_")
        assert "text/html" not in sieve._repr_mimebundle_()


def test_numbers_to_predict_are_called_targets_and_not_labels():
    X, _ = frames()
    Y = X.iloc[:, :2].astype(float).add(np.random.default_rng(0).normal(size=(len(X), 2))).set_axis(["price", "size"], axis=1)
    assert "top target" in str(Sieve(n_features_to_select=2).fit(X, Y).summary(X, Y))
    for selector in (Sieve(n_features_to_select=2), LabelwiseSieve(n_features_to_select=2)):
        summary = selector.fit(X, Y).summary(X, Y)
        assert "label" not in str(summary)
        assert "target" in str(summary)
        style, *texts = Texts(summary._repr_html_()).texts
        assert "label" in style
        assert "label" not in " ".join(texts)


class Texts(HTMLParser):
    """The texts of a page, and its unclosed elements."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag != "wbr":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@every_selector
def test_notebooks_show_the_table_and_the_scores_without_matplotlib(selector, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # importing it fails
    X, Y = frames()
    X = X.set_axis(["<script>alert(1)</script>", *X.columns[1:]], axis=1)
    fitted = clone(selector).fit(X, Y)
    page = fitted.summary(X, Y)._repr_html_()
    parsed = Texts(page)
    assert parsed.open == []
    assert "<script" not in page
    for row in fitted.to_frame(X, Y).itertuples():
        assert row.feature in "".join(parsed.texts)
    if fitted.selected_.ndim == 2:
        assert page.count("<rect") == len(np.unique(fitted.selected_[fitted.selected_ >= 0]))
    else:
        share = fitted.explained_share(X, Y)
        assert share.verdict(len(fitted.selected_)) in parsed.texts
        gains = [text for text in parsed.texts if text in {points(gain) for gain in share.gains}]
        assert len(gains) >= len(fitted.selected_)
    with sklearn.config_context(display="diagram"):
        assert "labelsieve-selection" in fitted._repr_html_()


def ours(fitted):
    """What a notebook shows below the diagram of scikit-learn."""
    return fitted._repr_html_().split("</style>")[-1]


def test_a_long_selection_is_short_in_a_notebook_and_its_output_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    sieve = Sieve("mim", n_features_to_select=60).fit(X, (X[:, :2] > 0).astype(int))
    page = sieve.summary(X, (X[:, :2] > 0).astype(int))._repr_html_()
    assert page.count("<tr>") == 1 + 10 + 1
    assert "50 more: to_frame()" in page
    assert len(page.encode()) < 100_000


def test_plain_text_of_a_notebook_has_no_codes_of_terminals(monkeypatch):
    X, Y = frames()
    sieve = Sieve(n_features_to_select=2).fit(X, Y)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in str(sieve), "a terminal gets bold headings"
    assert "\x1b" not in sieve._repr_mimebundle_()["text/plain"]


def test_long_selections_are_cut_in_notebooks_and_negative_scores_have_no_bar():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 40))
    fitted = ReliefF(n_features_to_select=40).fit(X, (X[:, :2] > 0).astype(int))
    page = ours(fitted)
    assert "30 more: to_frame()" in page
    assert page.count("<tr>") == 1 + 10 + 1
    assert page.count('<span style="width: ') == np.count_nonzero(fitted.scores_[:10] > 0)
    fitted = ReliefF(n_features_to_select=40).fit(rng.normal(size=(50, 11)), rng.integers(0, 2, size=(50, 2)))
    assert (fitted.scores_ < 0).any()
    assert ours(fitted).count('<span style="width: ') == np.count_nonzero(fitted.scores_ > 0)


def test_a_summary_lists_redundant_features_and_stability():
    X, Y = frames()
    X["copy"] = X[NAMES[1]]
    sieve = Sieve("mrmr", n_features_to_select=3).fit(X, Y)
    table = sieve.to_frame(X, Y, redundant=0.9, stability=4)
    assert "copy" in table["redundant"].tolist() or NAMES[1] in table["redundant"].tolist()
    assert table["stability"].between(0, 1).all()
    assert "Redundant features" in str(sieve.summary(X, Y, redundant=0.9))
    for options in ({"redundant": 0.9}, {"stability": 4}):
        with pytest.raises(InputError, match="need X and y"):
            sieve.summary(**options)


def test_steps_of_long_rankings_stop_after_a_hundred_features():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 2, size=(60, 120)), rng.integers(0, 2, size=(60, 2))
    table = Sieve("mim", n_features_to_select=None, discretizer=None).fit(X, Y).to_frame(X, Y)
    assert table["added"].notna().tolist() == [True] * 100 + [False] * 20
    assert table["relevance"].notna().all()


def test_no_selected_feature_is_shown_as_such():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 5)), rng.integers(0, 2, size=(40, 1))
    sieve = Sieve("mim", n_features_to_select=GTest(alpha=1e-9)).fit(X, Y)
    assert len(sieve.selected_) == 0
    assert repr(sieve).endswith("# 0 of 5 features")
    assert "0 of 5 features" in str(sieve.summary(X, Y))
    assert "0 of 5 features" in sieve._repr_html_()
    assert len(sieve.to_frame(X, Y)) == 0
    assert sieve.label_information(X, Y).shape == (0, 1)


def test_a_chi_square_statistic_is_not_an_information():
    X, Y = frames()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ChiSquare(n_features_to_select=2).fit(X, Y)
        other = ChiSquare(n_features_to_select=2, discretizer="mean-std").fit(X, Y)  # no method has this setting
    for one in (fitted, other):
        assert "score: chi-square statistics." in str(one.summary())
        assert "chi-square statistics" in one._repr_html_()
        assert (one.to_frame(X, Y)["score"] > 1).all()


@pytest.mark.parametrize("selector", [Sieve(n_features_to_select=3), Sieve("omp"), BaselineSieve("random")], ids=str)
def test_scores_that_say_nothing_about_a_feature_are_not_shown(selector):
    X, Y = frames()
    fitted = clone(selector).fit(X, Y)
    text, page = str(fitted.summary()), fitted.summary()._repr_html_()
    assert [line.split(maxsplit=1) for line in text.splitlines()[4:7]] == [
        [str(rank), NAMES[column]] for rank, column in enumerate(fitted.selected_[:3], 1)
    ]
    for shown in (text, page):
        assert "score" not in shown.replace("score_", "")
        assert "With the data, to_frame(X, Y) and plot(X, Y) show what every feature explains." in shown
    assert "<svg" not in page
    assert "With the data" not in str(fitted.summary(X, Y))
    assert fitted.to_frame()["score"].tolist() == fitted.scores_.tolist()


@pytest.mark.parametrize("criterion", ["jmi", "mim"])
def test_what_a_feature_has_alone_is_shown_without_data(criterion):
    X, Y = frames()
    fitted = Sieve(criterion, n_features_to_select=3).fit(X, Y)
    alone = fitted.label_information(X, Y).sum(axis=1)
    text, page = str(fitted.summary()), fitted._repr_html_()
    assert all(f"{value:.4f}" in text for value in alone)
    assert "in nats." in text
    assert page.count('<span style="width: ') == 3


def test_lists_of_labels_have_no_scores_without_data():
    X, Y = frames()
    fitted = LabelwiseSieve("cmim", n_features_to_select=2).fit(X, Y)
    text = str(fitted.summary())
    assert text.splitlines()[2].split() == ["label", "rank", "feature"]
    assert "to_frame(X, Y) shows what every feature tells about its label." in text
    assert "relevance" in fitted.to_frame(X, Y)
    assert ours(fitted).count("<tr>") == 1 + Y.shape[1], "a row for every label"
    assert len(fitted._repr_html_().encode()) < 100_000


def test_arrays_of_text_labels_are_shown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.where(np.column_stack([X[:, 1] > 0, X[:, 2] > 0]), "yes", "no").astype(object)
    fitted = Sieve(n_features_to_select=2).fit(X, Y)
    assert sorted(fitted.to_frame(X, Y)["feature"]) == ["feature 1", "feature 2"]
    assert fitted.selection(X, Y).fingerprint == fitted.selection(X, Y.copy()).fingerprint
