"""Reports of selections and studies: whole, self-contained, and true to what they report."""

import os
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from labelsieve import BaselineSieve, InputError, LabelwiseSieve, QuadraticSieve, Sieve
from labelsieve.datasets import make_feature_roles
from labelsieve.discretize import MDL, EqualFrequency
from labelsieve.report import Report, selection_report, study_report
from labelsieve.report.answer import Answer, lead
from labelsieve.report.figures import ranking
from labelsieve.report.html import THEME, escaped, inline_svg, tag
from labelsieve.selection.selection import StabilitySummary
from labelsieve.selectors import LLSF, ReliefF
from labelsieve.stopping import CrossValidated, PermutationTest
from labelsieve.studies import Study, StudyResults
from labelsieve.studies.demo import demo_data
from tests.support.report_pages import EVIL, LABELS, Page, evil_names, evil_selection, evil_study
from tests.support.small_studies import protocol


@pytest.fixture(scope="module", params=["selection", "study"])
def report(request, tmp_path_factory):
    if request.param == "selection":
        return evil_selection()
    return evil_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def page(report):
    return Page(report.html())


@pytest.fixture(scope="module")
def data():
    return demo_data(300)


def test_nothing_that_was_a_name_is_an_element(page):
    kinds = {name for name, _, _ in page.elements}
    assert not kinds & {"img", "i", "b", "iframe", "object", "link", "base", "form"}
    assert len(page.all("script")) == 1
    assert not any(key.startswith("on") for _, attributes, _ in page.elements for key in attributes)
    assert any(EVIL[0] in text for text in page.texts), "the name is shown"


def test_nothing_is_fetched(report, page):
    for _, attributes, _ in page.elements:
        for key, value in attributes.items():
            if key in ("src", "href", "xlink:href", "action", "data"):
                assert value.startswith(("#", "data:image/png")), (key, value)
    style = page.all("style")[0][1]
    assert "url(" not in style
    assert "@import" not in style
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", report.html()))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}, "names of kinds, not places"


def test_ids_are_unique_and_everything_that_points_to_one_finds_it(page):
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = [value for _, attributes, _ in page.elements for key, value in attributes.items() if key.endswith("href")]
    wanted = {link[1:] for link in links if link.startswith("#")}
    for key in ("aria-labelledby", "aria-describedby"):
        wanted |= {one for _, attributes, _ in page.elements for one in attributes.get(key, "").split()}
    wanted |= {one for _, attributes, _ in page.elements for one in re.findall(r"url\(#([^)]*)\)", str(attributes))}
    assert wanted <= set(ids)


def test_structure_is_what_screen_readers_need(page):
    assert page.all("html")[0][0]["lang"] == "en"
    assert len(page.all("h1")) == len(page.all("main")) == len(page.all("nav")) == 1
    assert page.all("a")[0][0] == {"class": "skip", "href": "#findings"}
    assert all(text for _, text in page.all("caption"))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(attributes["scope"] in ("col", "row") for attributes, _ in page.all("th"))
    assert len(page.all("svg")) - len([1 for one, _ in page.all("div") if one.get("class") == "small-screen"]) == len(
        page.all("figure")
    )
    assert len(page.all("figure")) > 3
    for attributes, _ in page.all("svg"):
        assert attributes["role"] == "img"
    assert len([1 for _, text in page.all("desc") if text]) == len(page.all("svg"))
    captions = [text for _, text in page.all("caption")]
    assert len(set(captions)) == len(captions)


def test_everything_is_there(report, page):
    titles = [section.title for section in report.sections]
    assert titles[-3:] == ["Methods", "How to cite", "How to reproduce"]
    text = " ".join(page.texts)
    for wanted in ("labelsieve", "scikit-learn", "fingerprint", "@software{labelsieve", "Nogueira, Sechidis and Brown 2018"):
        assert wanted in text
    assert str(escaped(EVIL[0])) in report.html()


def test_the_same_report_is_the_same_file(data):
    def made():
        sieve = Sieve("cife", n_features_to_select=3).fit(data.X, data.Y)
        return selection_report(sieve, data.X, data.Y, resamples=3, redundant=0.2).html()

    assert made() == made()


def answer_of(report, name):
    """The body of a section."""
    return Page(next(section.body for section in report.sections if section.name == name))


def numbers(body, look):
    """The values of all cells of a kind."""
    kinds = ((attributes.get("class", "").split(), attributes) for attributes, _ in body.all("td"))
    return [float(attributes["data-value"]) for classes, attributes in kinds if look in classes]


def test_the_answer_comes_first_and_its_numbers_are_those_of_the_explained_share(data):
    sieve = Sieve(n_features_to_select=8).fit(data.X, data.Y)
    named = {"names": data.feature_names, "label_names": data.label_names}
    report = selection_report(sieve, data.X, data.Y, **named)
    share = sieve.explained_share(data.X, data.Y)
    page = Page(report.html())
    assert page.all("h1")[0][1].replace("\xa0", " ") == share.verdict(8)
    ranked = answer_of(report, "selected")
    names = [text for attributes, text in ranked.all("th") if attributes["scope"] == "row"]
    assert names == [data.feature_names[column] for column in sieve.selected_]
    assert numbers(ranked, "gain") == pytest.approx(share.gains)
    assert numbers(ranked, "total") == pytest.approx(share.explained)
    folds = [share.share_of_folds(column, 8) for column in sieve.selected_]
    assert numbers(ranked, "again") == pytest.approx(folds)
    selection = sieve.selection(data.X, data.Y, explained=True)
    marks = [text for attributes, text in ranked.all("td") if attributes.get("class") == "mark"]
    assert marks == ["signal" if feature.signal else "unsure" for feature in selection.selected]
    labels = answer_of(report, "labels")
    order = np.argsort(-share.by_target[-1])
    shown = numbers(labels, "share")
    assert shown[::2] == pytest.approx(share.by_target[-1][order])
    assert shown[1::2] == pytest.approx(share.all_by_target[order])


def test_gains_of_single_labels_are_those_of_the_explained_share(data):
    sieve = Sieve(n_features_to_select=4).fit(data.X, data.Y)
    report = selection_report(sieve, data.X, data.Y, names=data.feature_names, label_names=data.label_names)
    gains = np.diff(sieve.explained_share(data.X, data.Y).by_target, axis=0, prepend=0.0)
    shown = [name.removeprefix("label-") for name in data.label_names]
    ranked = answer_of(report, "selected")
    strips = [attributes["aria-label"] for attributes, _ in ranked.all("span") if attributes.get("role") == "img"]
    for strip, row in zip(strips, gains, strict=True):
        said = [f"{name} +{100 * gain:.1f}" for name, gain in zip(shown, row, strict=True) if gain >= 0.005]
        assert strip == (", ".join(said) or "none gains half a point")
    steps = [int(word[1:]) for attributes, _ in ranked.all("span") for word in [attributes.get("class", "")] if word[:1] == "h"]
    assert steps[: gains.size] == np.searchsorted([0.005, 0.01, 0.02, 0.05, 0.1], gains.ravel(), side="right").tolist()
    body = next(section.body for section in report.sections if section.name == "labels")
    bars = [part.split("</td>")[0] for part in body.split('class="bars"')[2:]]
    best_first = np.argsort(-sieve.explained_share(data.X, data.Y).by_target[-1])
    for bar, label in zip(bars, best_first, strict=True):
        drawn = list(map(int, re.findall(r">(\d+)</span>", bar)))
        assert drawn == [rank for rank in drawn if gains[rank - 1, label] >= 0.015]


def test_a_list_that_only_gets_longer_with_other_rows_is_not_said_to_change(data):
    sieve = Sieve(n_features_to_select=2).fit(data.X, data.Y)
    selection = sieve.selection(data.X, data.Y, names=data.feature_names)
    every = StabilitySummary(0.1, (0.0, 0.2), 4, "bootstrap", dict.fromkeys(data.feature_names[:20], 1.0))
    some = StabilitySummary(0.1, (0.0, 0.2), 4, "bootstrap", dict.fromkeys(data.feature_names[:20], 0.5))
    said = [
        lead(Answer(replace(selection, stability=resampled), sieve.explained_share(data.X, data.Y), "labels", 300, ()))
        for resampled in (every, some)
    ]
    assert "The length of the list is not stable: </strong>with other rows it has 20 on average." in said[0]
    assert "The list is not stable: </strong>with other rows, similar features take the places" in said[1]


def test_no_score_and_no_nats_stand_before_the_details(data):
    sieve = Sieve("mrmr", n_features_to_select=4).fit(data.X, data.Y)
    report = selection_report(sieve, data.X, data.Y, redundant=0.2)
    names = [section.name for section in report.sections]
    assert names == ["number", "selected", "labels", "similar", "use", "details", "data", "methods", "cite", "reproduce"]
    first = [text for section in report.sections[:4] for text in Page(section.body).texts]
    assert not {word for text in first for word in ("nats", "score", "relevance") if word in text}
    details = answer_of(report, "details")
    values = [float(attributes["data-value"]) for attributes, _ in details.all("td") if "data-value" in attributes]
    assert np.array(values)[: 4 * 8].reshape(4, 8)[:, 2] == pytest.approx(sieve.scores_)


def test_a_list_that_is_not_stable_is_warned_about():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    Y = (X[:, :2] + 3 * rng.normal(size=(60, 2)) > 0).astype(int)
    sieve = Sieve(n_features_to_select=8).fit(X, Y)
    for resamples in (0, 4):
        page = Page(selection_report(sieve, X, Y, resamples=resamples, confidence=None).html())
        assert any(attributes.get("class") == "card low" for attributes, _ in page.all("div"))
        assert "The list is not stable: " in page.texts
    steady = Sieve(n_features_to_select=1).fit(X[:, :1].repeat(2, axis=1) * [1, 0], (X[:, :1] > 0).astype(int))
    page = Page(selection_report(steady, X[:, :1].repeat(2, axis=1) * [1, 0], (X[:, :1] > 0).astype(int)).html())
    assert not any(attributes.get("class") == "card low" for attributes, _ in page.all("div"))


@pytest.mark.parametrize("n_labels", [16, 17, 101])
def test_many_labels_are_folded_and_very_many_can_be_searched(n_labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    Y = (X[:, rng.integers(6, size=n_labels)] + rng.normal(size=(80, n_labels)) > 0).astype(int)
    report = selection_report(Sieve(n_features_to_select=2).fit(X, Y), X, Y, confidence=None)
    body = answer_of(report, "labels")
    assert len([1 for attributes, _ in body.all("th") if attributes["scope"] == "row"]) == n_labels
    assert [text.split()[0] for _, text in body.all("summary")] == ([] if n_labels == 16 else [str(n_labels - 16)])
    searched = [attributes for attributes, _ in body.all("div") if "data-search" in attributes]
    assert len(searched) == (n_labels > 100)


def test_features_can_be_copied_as_code_that_selects_them(data):
    frame = pd.DataFrame(np.asarray(data.X), columns=[f"it's {name}" for name in data.feature_names])
    sieve = Sieve("cmim", n_features_to_select=3).fit(frame, data.Y)
    body = answer_of(selection_report(sieve, frame, data.Y, command="labelsieve report songs.csv"), "use")
    again, alone, command = (text for _, text in body.all("pre"))
    space = {"X": frame, "Y": data.Y}
    exec(again, space)
    assert space["selector"].selected_.tolist() == sieve.selected_.tolist()
    exec(alone, space)
    assert (
        space["X_selected"].columns.tolist() == sieve.get_feature_names_out()[np.argsort(np.argsort(sieve.selected_))].tolist()
    )
    assert command == "labelsieve report songs.csv"


def test_copied_code_imports_what_it_names_and_keeps_names_with_spaces_and_hyphens_whole(data):
    names = [f"share of the long-term average, {name}" for name in data.feature_names]
    frame = pd.DataFrame(np.asarray(data.X), columns=names)
    rule, bins = CrossValidated(max_features=6), EqualFrequency(4)
    sieve = Sieve(n_features_to_select=rule, discretizer=bins).fit(frame, data.Y)
    again, alone = (text for _, text in answer_of(selection_report(sieve, frame, data.Y), "use").all("pre"))
    space = {"X": frame, "Y": data.Y}
    exec(again, space)
    assert space["selector"].selected_.tolist() == sieve.selected_.tolist()
    exec(alone, space)
    assert space["X_selected"].columns.tolist() == frame.columns[sieve.selected_].tolist()
    relief = ReliefF(n_features_to_select=2).fit(frame, data.Y)
    again, _ = (text for _, text in answer_of(selection_report(relief, frame, data.Y), "use").all("pre"))
    exec(again, space)
    assert space["selector"].selected_.tolist() == relief.selected_.tolist()


def test_a_formula_of_one_term_is_split_as_all_can_be(data):
    sieve = Sieve("cmi", n_features_to_select=3).fit(data.X, data.Y)
    heads = [text for _, text in answer_of(selection_report(sieve, data.X, data.Y), "details").all("th")]
    assert heads[3:7] == ["score", "relevance", "redundancy", "complementarity"]


def test_without_the_explained_share_the_scores_come_first(data):
    sieve = Sieve("mrmr", n_features_to_select=4).fit(data.X, data.Y)
    report = selection_report(sieve, data.X, data.Y, names=data.feature_names, redundant=0.2, explained=False)
    assert Page(report.html()).all("h1")[0][1] == "4 of 20 features selected for 5 labels"
    body = Page(report.sections[0].body)
    names = [text for attributes, text in body.all("th") if attributes["scope"] == "row"]
    assert names == [data.feature_names[column] for column in sieve.selected_]
    redundant = sieve.redundant_features(data.X, data.Y, at_least=0.2)
    shown = [text for attributes, text in body.all("td") if "data-value" not in attributes][1::2]
    for column, text in zip(sieve.selected_, shown, strict=True):
        assert [one.split(" (")[0] for one in text.split(", ")] == [
            data.feature_names[neighbor.feature] for neighbor in redundant[int(column)]
        ] or (text == "-" and not redundant[int(column)])


@pytest.mark.parametrize(
    "selector",
    [
        QuadraticSieve(n_features_to_select=3),
        BaselineSieve("random", n_features_to_select=3),
        ReliefF(n_features_to_select=3),
        LLSF(alpha=0.1, beta=0.1),
        LabelwiseSieve("mim", n_features_to_select=2),
        LabelwiseSieve("mlfs", n_features_to_select=2, parents="kcc"),
        Sieve("br-infogain", n_features_to_select=3),
        Sieve("group-jmi-rand", n_features_to_select=3),
        Sieve("jmi", targets="copy-weight", n_features_to_select=3),
        Sieve("cmim", n_features_to_select=CrossValidated(max_features=4)),
        Sieve("cmim", n_features_to_select=PermutationTest(n_permutations=19, random_state=0, max_features=2)),
        Sieve("jmi", discretizer=MDL("joint"), n_features_to_select=3),
    ],
    ids=lambda selector: str(getattr(selector, "criterion", type(selector).__name__)) + type(selector).__name__,
)
def test_any_selector_has_a_report(data, selector):
    fitted = selector.fit(data.X, data.Y)
    page = Page(selection_report(fitted, data.X, data.Y).html())
    assert len(page.all("svg")) >= 2


def test_lists_of_different_lengths_are_shown_as_they_are(data):
    sieve = LabelwiseSieve("mim", n_features_to_select=3).fit(data.X, data.Y)
    sieve.selected_[0, 1:], sieve.scores_[0, 1:] = -1, np.nan  # as a rule of each label leaves them
    sieve.label_support_[0] = np.isin(np.arange(20), sieve.selected_[0])
    body = Page(selection_report(sieve, data.X, data.Y, names=data.feature_names).sections[0].body)
    assert body.all("td")[0][1] == data.feature_names[sieve.selected_[0, 0]]
    sieve.label_support_[:], sieve.support_[:], sieve.selected_[:] = False, False, -1
    assert "No feature was selected." in selection_report(sieve, data.X, data.Y).html()


def test_a_selection_of_nothing_says_so():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.integers(2, size=(60, 2))
    rule = PermutationTest(n_permutations=19, random_state=0)
    sieve = Sieve("cmim", n_features_to_select=rule).fit(X, Y)
    assert not len(sieve.selected_)
    page = Page(selection_report(sieve, X, Y).html())
    assert "No feature was selected." in " ".join(page.texts)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_targets_that_are_no_labels_have_a_report(kind):
    data = make_feature_roles(n_rows=150, n_xor_pairs=0)
    rng = np.random.default_rng(0)
    Y = rng.integers(3, size=(150, 2)) if kind == "classes" else np.asarray(data.X)[:, :2] + rng.normal(size=(150, 2))
    sieve = Sieve("mim", n_features_to_select=3).fit(data.X, Y)
    text = " ".join(Page(selection_report(sieve, data.X, Y).html()).texts)
    assert ("3 classes" if kind == "classes" else "numeric") in text
    assert "2 targets" in text
    word = "label" if kind == "classes" else "target"
    assert f"top {word}: " in text
    assert f"What each {word} gets" in text
    assert f"Information per {word}" in text


def test_frames_bring_their_names_and_may_hold_text(data):
    frame = pd.DataFrame({"mood <b>": ["wild", "calm"] * 150, **{f"f{k}": np.asarray(data.X)[:, k] for k in range(6)}})
    labels = pd.DataFrame(np.asarray(data.Y), columns=LABELS)
    sieve = Sieve("mim", n_features_to_select=7).fit(frame, labels)
    page = Page(selection_report(sieve, frame, labels, resamples=2).html())
    rows = {text for attributes, text in page.all("th") if attributes["scope"] == "row"}
    assert "mood <b>" in rows
    for label in LABELS:
        assert any(row.startswith(label) for row in rows)


def test_what_does_not_fit_together_is_refused(data):
    sieve = Sieve("mim", n_features_to_select=2).fit(data.X, data.Y)
    with pytest.raises(InputError, match="fitted on 20"):
        selection_report(sieve, np.asarray(data.X)[:, :5], data.Y)
    with pytest.raises(InputError, match="same rows"):
        selection_report(sieve, data.X, np.asarray(data.Y)[:10])
    with pytest.raises(InputError, match="1 names for 5 labels"):
        selection_report(sieve, data.X, data.Y, label_names=["one"])
    with pytest.raises(InputError, match="at_least"):
        selection_report(sieve, data.X, data.Y, redundant=2.0)


def test_an_unfinished_study_has_a_report(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Study(protocol(), tmp_path).run(on_cell=_stop_after(7))
    page = Page(study_report(StudyResults(tmp_path)).html())
    said = " ".join(page.texts)
    assert "No tests over the data sets: a comparison needs at least two data sets and two methods, not 1 and 2." in said


def test_a_study_opens_with_the_best_method_all_features_and_those_that_equal_the_best(tmp_path):
    settings = {"classifiers": ["mlknn"], "measures": ["hamming_loss"], "baselines": ["all"]}
    Study(protocol(methods=["jmi", "mim", "scls"], **settings), tmp_path).run()
    results = StudyResults(tmp_path)
    report = study_report(results)
    grid = results.means("hamming_loss")
    means = {name: np.mean([grid.value(dataset, name) for dataset in grid.rows]) for name in grid.columns}
    best = min((name for name in means if name != "all"), key=means.get)
    heading = Page(report.html()).all("h1")[0][1]
    assert heading.startswith(f"Best: {best} (hamming loss {means[best]:.3f}). All features: {means['all']:.3f}.")
    compared = results.compare("hamming_loss")
    at = compared.methods.index(best)
    equal = [name for name, other in zip(compared.methods, compared.different[at], strict=True) if name != best and not other]
    assert sorted(heading.partition("from the best: ")[2].removesuffix(".").split(", ")) == sorted(equal)
    assert Page(report.summary).texts[:2] == ["Best", best]
    plot = answer_of(report, "behind")
    dots = [float(attributes["cx"]) for attributes, _ in plot.all("circle")][:3]
    shown = [text for attributes, text in plot.all("text") if attributes.get("class") in ("name", "strong")]
    order = sorted((name for name in means if name != "all"), key=means.get)
    assert shown[0] == best
    assert [text for text in shown[:9] if text in means] == order
    assert shown[1] == f"{means[best]:.3f}"
    assert dots == sorted(dots), "a larger loss is further to the right"
    assert "all features" in plot.texts


def test_a_study_with_fewer_splits_of_some_method_says_so(tmp_path):
    Study(protocol(methods=["jmi", "mim"]), tmp_path).run()
    Study(protocol(methods=["scls"], splits="2x50%"), tmp_path).run()
    page = Page(study_report(StudyResults(tmp_path)).html())
    said = " ".join(page.texts)
    assert "(2 of 3 splits)" in said
    assert (
        "No tests over the data sets: a comparison needs the same splits for all methods: scls has 2 of 3 splits on films."
        in said
    )
    assert "No ranks: methods differ in their splits." in said


def _stop_after(cells):
    def on_cell(done, _):
        if done >= cells:
            raise KeyboardInterrupt

    return on_cell


def test_a_study_without_results_is_refused(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Study(protocol(), tmp_path).run(on_cell=_stop_after(1))
    results = StudyResults(tmp_path)
    results.datasets = []
    with pytest.raises(InputError, match="this study has no results"):
        study_report(results)


def test_a_link_to_a_report_stays(tmp_path):
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    link.symlink_to(real)
    Report("songs", tag("p", "text"), ()).write(link)
    assert link.is_symlink()
    assert real.read_text().startswith("<!DOCTYPE html>")


def test_a_failing_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    report = Report("t", tag("p", "after"), ())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        report.write(path)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    monkeypatch.undo()
    assert "after" in report.write(path).read_text(encoding="utf-8")
    for wrong in (tmp_path, tmp_path / "none" / "report.html"):
        with pytest.raises(InputError, match="folder"):
            report.write(wrong)


def test_drawings_follow_the_page_and_the_settings_of_users_do_not_matter(data):
    import matplotlib

    sieve = Sieve("cife", n_features_to_select=4).fit(data.X, data.Y)
    how = {"name": "a", "title": "t", "description": "d"}

    def drawn():
        return inline_svg(lambda: ranking(sieve, names=evil_names(20)), **how)

    plain = drawn()
    with matplotlib.rc_context({"text.color": "red", "font.size": 30, "axes.facecolor": "green", "svg.fonttype": "path"}):
        assert drawn() == plain
    for color, variable in THEME.items():
        assert plain.count(color) == plain.count(f"var({variable}, {color})")
    assert "font-family" not in plain
    assert matplotlib.pyplot.get_fignums() == []


def test_the_citation_is_that_of_the_project():
    from pathlib import Path

    import labelsieve
    from labelsieve.report.provenance import citation_section

    cited = dict(
        re.findall(r"^(\w+): \"?([^\"\n]+)\"?$", (Path(__file__).parents[2] / "CITATION.cff").read_text(), re.MULTILINE)
    )
    text = "".join(Page(citation_section()).texts)
    assert f"title   = {{{cited['title']}}}" in text
    assert f"version = {{{labelsieve.__version__}}}" in text
    assert "The labelsieve developers" in text


def test_a_hybrid_is_named_and_its_relative_gains_are_drawn_without_a_unit(data):
    hybrid = Sieve(n_features_to_select=3).fit(data.X, data.Y)
    page = Page(selection_report(hybrid, data.X, data.Y, resamples=0, confidence=None).html())
    assert any(text.startswith("hybrid selected 3 of 20 features") for text in page.texts)
    assert {"hybrid", "cmim-positive"} <= {text for _, text in page.all("th")}, "the method and its criterion"
    ax = ranking(hybrid)
    assert ax.get_xlabel() == "score"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["information", "least squares", "sum"]
    assert hybrid.plot(data.X, data.Y).get_xlabel() == "explained share in held-out rows, %"
