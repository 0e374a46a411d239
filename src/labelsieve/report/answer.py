"""The answer of a selection's report: key figures, how many features, which, what each label gets, and code to use them.

A :class:`labelsieve.selection.Selection` with its explained share comes in, markup goes out. Everything here is in percent of
the explained share; scores and their components are in the details of ``selection_page``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelsieve.report.charts import ExplainedCurve, explained_chart
from labelsieve.report.figures.style import short_names
from labelsieve.report.html import MAX_ROWS, Html, breakable, glued, joined, paragraph, tag
from labelsieve.report.text import percent, points
from labelsieve.selection import SelectedFeature, Selection
from labelsieve.selection.explained import NEGLIGIBLE, Explained
from labelsieve.selectors.base import BaseSieve

Real = NDArray[np.float64]

LOW, FAIR = 0.5, 0.75  # stability below which it is low, and fair
OFTEN = 0.7  # share of the resamples in which a feature comes back
WIDE, SMALL = (1120, 400), (358, 260)  # pixels of the two drawings of the chart
FIRST = 5  # features whose share the lead names
MOST_LABELS, AT_EACH_END = 16, 8  # labels that are all shown; with more, the best and the worst
SEARCHED = 100  # labels from which there is a search box
ROWS = 60  # features of the ranking that are not folded
LINE = 92  # characters of a line of code
SIMILAR = 6  # features that could stand in, for one feature
NOTHING = 0.005  # share of a label below which it is called not predicted
HEAT = (0.005, 0.01, 0.02, 0.05, 0.1)  # gains of a label from which its cell is darker
FINE = 10  # labels from which these cells are narrow
SEGMENT = 0.015  # gain of a label from which its bar names the feature
DIGIT = 0.024  # width of a digit in a bar, as a share of the longest bar on a phone
_ENDS = "_.:/+-"  # characters where names are divided


@dataclass(frozen=True, eq=False)
class Answer:
    """The data from which the pieces of the answer at the top of a report are made."""

    selection: Selection  # with its explained share
    share: Explained  # explained by every number of features
    noun: str  # "labels" or "targets"
    n_rows: int
    kinds: Sequence[str]  # a note on every label, such as the number of its rows

    @property
    def one(self) -> str:
        """What one target is called: "label" or "target"."""
        return self.noun.removesuffix("s")

    @property
    def size(self) -> int:
        """Number of features of the selection that the page describes."""
        return len(self.selection.selected)

    @property
    def at(self) -> int:
        """Index of the selected size in the curve; -1 where nothing was selected."""
        return self.share.at(self.size)

    def agreement(self) -> float | None:
        """Stability over resamples or, without them, the mean share of the folds that selected a feature of the list."""
        if self.selection.stability is not None:
            return self.selection.stability.index
        return float(np.mean([self.again(feature) for feature in self.selection.selected])) if self.size else None

    def again(self, feature: SelectedFeature) -> float:
        """Return the share of the resamples or, without them, of the folds that selected a feature again."""
        stability = self.selection.stability
        if stability is not None:
            return stability.frequency.get(feature.feature, 0.0)
        return self.share.share_of_folds(feature.column, self.size)

    def repeats(self) -> str:
        """Say how often the selection was repeated."""
        stability = self.selection.stability
        return f"{self.share_folds} folds" if stability is None else f"{stability.n_repeats} resamples"

    def label_gains(self) -> Real:
        """Return what each feature adds to the share of each label; NaN where this was not evaluated."""
        share, gains = self.share, np.full((self.size, self.share.by_target.shape[1]), np.nan)
        shares = {0: np.zeros(gains.shape[1]), **dict(zip(share.sizes.tolist(), share.by_target, strict=True))}
        for rank in range(1, self.size + 1):
            if rank in shares and rank - 1 in shares:
                gains[rank - 1] = shares[rank] - shares[rank - 1]
        return gains

    @property
    def share_folds(self) -> int:
        """How many folds the explained share was computed with."""
        return len(self.share.lists)


def level(stability: float) -> str:
    """Call a stability low, fair or high.

    >>> level(0.4), level(0.6), level(0.9)
    ('low', 'fair', 'high')
    """
    return "low" if stability < LOW else "fair" if stability < FAIR else "high"


def lead(answer: Answer) -> Html:
    """Say what the first features bring, how many are distinguishable from noise, and whether the list is unstable."""
    selected, share = answer.selection.selected, answer.share
    if not selected:
        return paragraph(f"Up to {int(share.sizes[-1])} features were tried, in {answer.share_folds} folds.")
    words: list[object] = []
    if len(selected) > FIRST:
        words += [f"The first {FIRST} bring ", tag("strong", percent(float(share.explained[share.at(FIRST)]))), ". "]
    marks = [feature.signal for feature in selected if feature.signal is not None]
    n_signal, n_unsure = sum(marks), len(marks) - sum(marks)
    if marks and n_unsure == 0:
        words.append("Each of them is distinguishable from noise. " if len(marks) > 1 else "It is distinguishable from noise. ")
    elif marks:
        verb = "is" if n_signal == 1 else "are"
        rest = "the other one may help" if n_unsure == 1 else f"the other {n_unsure} may help"
        words.append(f"{n_signal} of the {len(marks)} {verb} distinguishable from noise one by one; {rest} in combination. ")
    stability = answer.agreement()
    if stability is not None and stability < LOW:
        words += _unstable(answer)
    if share.sizes[-1] > len(selected):
        words.append(f"Up to {int(share.sizes[-1])} features were tried.")
    return paragraph(*words)


def _unstable(answer: Answer) -> list[object]:
    """Say what differs when the rows do: the members of the list, or only how long it is."""
    resampled = answer.selection.stability
    if resampled is not None and all(answer.again(feature) >= OFTEN for feature in answer.selection.selected):
        length = sum(resampled.frequency.values())
        return [tag("strong", "The length of the list is not stable: "), f"with other rows it has {length:.0f} on average. "]
    return [tag("strong", "The list is not stable: "), "with other rows, similar features take the places of some. "]


def cards(answer: Answer) -> Html:
    """Show four key figures: features, what they explain, what all features explain, and stability."""
    d, size, share, noun = answer.selection.n_features, answer.size, answer.share, answer.noun
    marks = [feature.signal for feature in answer.selection.selected if feature.signal is not None]
    found = [_card("Features selected", f"{size:,}", f"of {d:,}", f"{sum(marks)} distinguishable from noise" if marks else "")]
    held_out = f"of the {noun}, in rows not used to select or fit"
    if answer.at >= 0:
        value, error = float(share.explained[answer.at]), float(share.errors[answer.at])
        found.append(_card("They explain", percent(value), f"± {100 * error:.1f}", held_out))
    of_all = f"± {100 * share.all_features_error:.1f}"
    found.append(_card(f"All {d:,} features explain", percent(share.all_features), of_all, _difference(answer) or held_out))
    stability = answer.agreement()
    if stability is not None:
        found.append(_stability_card(answer, stability))
    return tag("div", *found, class_="cards")


def _card(title: str, value: str, beside: str, below: str, *, low: bool = False) -> Html:
    number = tag("p", value, " ", tag("small", beside), class_="value")
    return tag("div", tag("p", title), number, tag("p", glued(below)) if below else "", class_="card low" if low else "card")


def _difference(answer: Answer) -> str:
    """Write the difference between the selected and all features."""
    if answer.at < 0 or answer.size == answer.selection.n_features:
        return ""
    less, error = float(answer.share.below_all[answer.at]), float(answer.share.below_all_errors[answer.at])
    seen = "; not detectable" if abs(less) <= 2 * error else "; too small to matter" if abs(less) <= NEGLIGIBLE else ""
    return f"difference of the selected: {_signed(-less)} ± {100 * error:.1f} points{seen}"


def _stability_card(answer: Answer, stability: float) -> Html:
    name = level(stability)
    sign = "⚠ " if name == "low" else ""
    often = sum(answer.again(feature) >= OFTEN for feature in answer.selection.selected)
    again = f"{often} of {answer.size} come back in {100 * OFTEN:.0f} % of {answer.repeats()}"
    if answer.selection.stability is not None:
        return _card(
            f"{sign}Stability of the list", f"{stability:.2f}", name, f"1: always the same list; {again}", low=name == "low"
        )
    title = f"{sign}Selected again"
    return _card(title, f"{100 * stability:.0f} %", name, f"of the list, in a fold on average; {again}", low=name == "low")


def how_many(answer: Answer) -> Html:
    """Draw the explained share against the number of features, for wide and for small screens, with a key."""
    curve = ExplainedCurve.of_selection(answer.selection)
    entries = [("dot", "distinguishable from noise (5 %)")] if any(curve.signal) else []
    entries += [("dot unsure", "not on its own")] if False in curve.signal else []
    entries += [("swatch", "explained share ± standard error"), ("dash", "all features")]
    entries += [("gray", f"no better than {curve.chosen}, within the error")] if curve.goes_on and curve.chosen else []
    key = tag("ul", *(tag("li", tag("span", class_=look, aria_hidden="true"), words) for look, words in entries), class_="key")
    wide = explained_chart(curve, name="explained-wide", width=WIDE[0], height=WIDE[1])
    small = explained_chart(curve, name="explained-small", width=SMALL[0], height=SMALL[1], named=False)
    drawings = tag("div", wide, class_="wide-screen") + tag("div", small, class_="small-screen")
    about = tag("p", f"Share of the {answer.noun} that the first features predict in held-out rows.", class_="about")
    return joined([about, tag("figure", key, Html(drawings), id="figure-explained")])


def ranking(answer: Answer) -> Html:
    """Return the selected features in order: gain, total, gain for each label, its top label, how often it is selected."""
    selected = answer.selection.selected
    if not selected:
        return paragraph("No feature was selected.")
    labels = label_display(answer.selection.labels)
    most = max([feature.gain for feature in selected if feature.gain is not None], default=0.0)
    heat = answer.label_gains() if len(labels) <= MOST_LABELS else None
    rows = [_feature_row(answer, feature, most, labels, heat) for feature in selected[:MAX_ROWS]]
    marked = any(feature.signal is not None for feature in selected)
    heads = [
        _head("#", look="rank"),
        _head("feature", look="name"),
        _head("gain", "points", look="gain number"),
        _head("total", "% ± error", look="total number"),
        *([] if heat is None else [_heat_head(list(labels.values()), answer.noun)]),
        _head(f"top {answer.one}", look="about-label"),
        _head("selected in", answer.repeats(), look="again"),
        *([_head("signal", "at 5 %", look="mark")] if marked else []),
    ]
    about = (
        "In order of selection. The gain is what a feature adds to those above it; ± is one standard error. A feature "
        f"alone has the most information about its top {answer.one}."
    )
    look = "ranking" if heat is None else "ranking heat"
    first = _answer_table("What the selected features explain, in order of selection", heads, rows[:ROWS], look)
    pieces = [tag("p", about, class_="about"), first]
    if len(rows) > ROWS:
        rest = _answer_table(f"What the features from rank {ROWS + 1} explain", heads, rows[ROWS:], look)
        pieces.append(tag("details", tag("summary", f"{len(rows) - ROWS:,} more features"), rest))
    if len(selected) > len(rows):
        pieces.append(paragraph(f"The first {len(rows):,} of {len(selected):,} features."))
    return joined([*pieces, *([] if heat is None else [_heat_key(list(labels.values()), answer.noun)])])


def _heat_head(labels: Sequence[str], noun: str) -> Html:
    """Head the strip of gains with the names of the labels, from bottom to top."""
    names = tag("span", *(tag("span", name) for name in short_names(labels)), class_=_strip(labels), aria_hidden="true")
    width = f"width: {(13 if len(labels) > FINE else 18) * len(labels) + 16}px"
    return tag("th", tag("span", f"gain for all {noun}", class_="unseen"), names, scope="col", class_="strips", style=width)


def _strip(labels: Sequence[str]) -> str:
    return "strip fine" if len(labels) > FINE else "strip"


def _heat_key(labels: Sequence[str], noun: str) -> Html:
    """Say what the colors of the strips mean and, where the table has no head, the order of the labels."""
    words = [f"{100 * step:g}" for step in HEAT]
    words[-1] += " and more"
    steps = [tag("li", tag("span", class_=f"h{level}"), text) for level, text in enumerate(["less", *words])]
    order = tag("li", f"From left to right: {', '.join(labels)}", class_="unit")
    return tag("ul", tag("li", f"Gain for each of the {noun}, in points:"), *steps, order, class_="key strips-key")


def _heat_cell(gains: Sequence[float], labels: Sequence[str]) -> Html:
    """Draw what a feature adds to each label as a strip of colors."""
    cells = [tag("span", class_=f"h{sum(gain >= step for step in HEAT)}") for gain in gains]
    seen = [f"{name} {_signed(gain)}" for name, gain in zip(labels, gains, strict=True) if gain >= HEAT[0]]
    said = ", ".join(seen) or "none gains half a point"
    return tag("td", tag("span", *cells, class_=_strip(labels), role="img", aria_label=said, title=said), class_="strips")


def _feature_row(answer: Answer, feature: SelectedFeature, most: float, labels: dict[str, str], heat: Real | None) -> Html:
    gain, total, again = feature.gain, feature.explained, answer.again(feature)
    length = 0.0 if gain is None or most <= 0 else max(0.0, 100 * gain / most)
    look = "bar none" if length <= 0 else "bar unsure" if feature.signal is False else "bar"
    bar = tag("span", class_=look, style=f"width: {length:.1f}%", aria_hidden="true")
    error = tag("small", f" ± {100 * feature.explained_error:.1f}") if feature.explained_error is not None else ""
    shown = [f"{100 * total + 0.0:.1f}", error, tag("span", " total", class_="unit")] if total is not None else ["–"]
    track = tag("span", tag("span", style=f"width: {100 * again:.0f}%"), class_="track", aria_hidden="true")
    often = tag("span", f"{100 * again:.0f} %", tag("span", " selected", class_="unit"))
    cells = [
        tag("td", str(feature.rank), class_="rank"),
        tag("th", breakable(feature.feature), scope="row", class_="feature"),
        tag("td", tag("span", bar, tag("span", _signed(gain)), class_="pair"), class_="gain", data_value=_plain(gain)),
        tag("td", *shown, class_="total number", data_value=_plain(total)),
        *([] if heat is None else [_heat_cell(heat[feature.rank - 1].tolist(), list(labels.values()))]),
        tag("td", tag("span", f"top {answer.one}: ", class_="unit"), _label(feature.top_label, labels), class_="about-label"),
        tag("td", tag("span", track, often, class_="pair"), class_="again", data_value=repr(again)),
    ]
    if feature.signal is not None:
        words = "signal" if feature.signal else "unsure"
        dot = tag("span", class_="dot" if feature.signal else "dot unsure", aria_hidden="true")
        cells.append(tag("td", tag("span", dot, words, class_="marked"), class_="mark"))
    return tag("tr", *cells)


def _label(name: str | None, labels: dict[str, str]) -> Html:
    return breakable("–" if name is None else labels.get(name, name))


def _plain(value: float | None) -> str:
    return "NaN" if value is None else repr(value)


def _signed(share: float | None) -> str:
    """Write a gain in points with a typographic minus."""
    return "–" if share is None else points(share).replace("-", "\u2212")


def _head(title: str, below: str = "", *, look: str = "") -> Html:
    return tag("th", title, tag("small", below) if below else "", scope="col", class_=look or None)


def _answer_table(caption: str, heads: Sequence[Html], rows: Sequence[Html], look: str) -> Html:
    hidden = tag("caption", tag("span", caption, class_="unseen"))
    return tag("table", hidden, tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_=f"answer {look}")


def label_shares(answer: Answer) -> Html:
    """Show what each label gets: a bar for the selected features and a dashed mark for all of them, the best label first.

    Of more than 16 labels, the eight best and the eight worst are shown, and the others are folded. Above 100 there is a
    search box.
    """
    explained, noun = answer.selection.explained, answer.noun
    assert explained is not None
    known = [index for index, share in enumerate(explained.by_label) if share is not None]
    known.sort(key=lambda index: -(explained.by_label[index] or 0.0))
    if not known:
        return paragraph(f"No share of single {noun} is known.")
    shares = [share or 0.0 for share in (*explained.by_label, *explained.all_by_label)]
    scale, shown = max(*shares, 0.01), label_display(answer.selection.labels)
    best = _most_informative(answer.selection)
    gains = answer.label_gains()
    rows = [_label_row(answer, index, scale, shown, best, gains[:, index].tolist()) for index in known]
    one = answer.one
    heads = [
        _head(one, look="label"),
        _head("share that is explained", look="bars"),
        _head("selected", "%", look="share number"),
        _head("all features", "%", look="share of-all number"),
        *([_head("top feature", look="best")] if best else []),
    ]
    about = (
        f"Length is the explained share of a {one} in held-out rows; the dashed mark is all features. Numbers are ranks of "
        f"features that bring {100 * SEGMENT:g} points or more; hollow is what the others bring."
    )
    left_out = len(explained.by_label) - len(known)
    about += f" {left_out:,} of {len(explained.by_label):,} were not evaluated." if left_out else ""
    prefix, suffix = _shared_ends(answer.selection.labels)
    ends = [f"begin with {prefix}" if prefix else "", f"end with {suffix}" if suffix else ""]
    about += f" All names {' and '.join(filter(None, ends))}." if any(ends) else ""
    pieces = [tag("p", about, class_="about")]
    caption = f"Explained share of every {one}, the best first"
    if len(rows) <= MOST_LABELS:
        return joined([*pieces, _answer_table(caption, heads, rows, "label-shares")])
    middle = rows[AT_EACH_END:-AT_EACH_END]
    folded = _answer_table(f"Explained share of the {noun} between", heads, middle, "label-shares")
    parts = [
        _answer_table(f"Explained share of the {AT_EACH_END} best {noun}", heads, rows[:AT_EACH_END], "label-shares"),
        tag("details", tag("summary", f"{len(middle):,} {noun} between"), folded),
        _answer_table(f"Explained share of the {AT_EACH_END} worst {noun}", heads, rows[-AT_EACH_END:], "label-shares"),
    ]
    search = f"Search the {len(rows):,} {noun}" if len(rows) > SEARCHED else None
    return joined([*pieces, tag("div", *parts, data_search=search)])


def _label_row(
    answer: Answer, index: int, scale: float, shown: dict[str, str], best: dict[int, str], gains: Sequence[float]
) -> Html:
    explained = answer.selection.explained
    assert explained is not None
    name, share, of_all = answer.selection.labels[index], explained.by_label[index] or 0.0, explained.all_by_label[index]
    if share < NOTHING:
        mark = tag("span", "not predicted", class_="words", style="left: 0")
    else:
        mark = tag("span", *_segments(gains, share, scale), class_="bar unsure", style=f"width: {100 * share / scale:.1f}%")
    dashed = ""
    if of_all is not None and of_all > 0 and (share >= NOTHING or of_all >= NOTHING):
        dashed = tag("span", class_="all", style=f"left: calc({100 * of_all / scale:.1f}% - 1px)")
    if share < NOTHING and dashed and (of_all or 0.0) / scale < 0.4:
        dashed = ""  # the words are there
    cells = [
        tag("th", breakable(shown[name]), " ", tag("small", answer.kinds[index]), scope="row", class_="label"),
        tag("td", tag("span", mark, dashed, class_="lane", aria_hidden=None if share < NOTHING else "true"), class_="bars"),
        tag("td", _share_text(share), class_="share number", data_value=repr(share)),
        tag(
            "td",
            _share_text(of_all),
            tag("span", " all", class_="unit"),
            class_="share of-all number",
            data_value=_plain(of_all),
        ),
    ]
    if best:
        words = tag("span", "top feature: ", class_="unit")
        cells.append(tag("td", words, breakable(best.get(index, "–")), class_="best feature"))
    return tag("tr", *cells)


def _segments(gains: Sequence[float], share: float, scale: float) -> list[Html]:
    """Divide the bar of a label among the features that bring much of it; each has its rank where there is room."""
    pieces, left = [], share
    for rank, gain in enumerate(gains, 1):
        width = min(gain, left)
        if width >= SEGMENT:
            left -= width
            text = str(rank) if width / scale >= DIGIT * len(str(rank)) else ""
            pieces.append(tag("span", text, style=f"width: {100 * width / share:.1f}%"))
    return pieces


def _share_text(share: float | None) -> str:
    """Write a share in percent; those of rare labels may be far below zero, and how far says nothing."""
    if share is not None and share < -1:
        return "< \u2212100"
    return "–" if share is None else f"{round(100 * share, 1) + 0.0:.1f}".replace("-", "\u2212")


def _most_informative(selection: Selection) -> dict[int, str]:
    """Find the selected feature that has the most information about every label; empty where it is not known."""
    if not selection.selected or not all(feature.information for feature in selection.selected):
        return {}
    table = np.array([feature.information for feature in selection.selected])
    return {label: selection.selected[int(column.argmax())].feature for label, column in enumerate(table.T) if column.max() > 0}


def label_display(names: Sequence[str]) -> dict[str, str]:
    """Shorten names of labels by the beginning and the end that all of them share.

    >>> label_display(["LBL+x1+fut_001", "LBL+x2+fut_001"])
    {'LBL+x1+fut_001': 'x1', 'LBL+x2+fut_001': 'x2'}
    """
    prefix, suffix = _shared_ends(names)
    return {name: name[len(prefix) : len(name) - len(suffix)] for name in names}


def _shared_ends(names: Sequence[str]) -> tuple[str, str]:
    """Find the whole parts with which all names begin and end; empty where they are short, or nothing else is left."""
    if len(set(names)) < 3 and len(names) != 2:
        return "", ""
    start = re.sub(f"[^{re.escape(_ENDS)}]*$", "", _beginning(names))
    end = re.sub(f"^[^{re.escape(_ENDS)}]*", "", _beginning([name[::-1] for name in names])[::-1])
    start, end = (part if len(part) > 3 else "" for part in (start, end))
    return (start, end) if min(map(len, names)) > len(start) + len(end) else ("", "")


def _beginning(names: Sequence[str]) -> str:
    """Return the characters that all names begin with."""
    first, last = min(names), max(names)
    equal = next((index for index, (one, two) in enumerate(zip(first, last, strict=False)) if one != two), None)
    return first[:equal]


def stand_ins(selection: Selection, at_least: float) -> Html:
    """List features that were not selected and are similar to a selected one."""
    rows = []
    for feature in selection.selected:
        if feature.redundant:
            names = [joined([breakable(name), f" ({value:.2f})"]) for name, value in list(feature.redundant.items())[:SIMILAR]]
            left = len(feature.redundant) - len(names)
            more = f" and {left} more" if left else ""
            name = tag("th", breakable(feature.feature), scope="row", class_="feature")
            rows.append(tag("tr", name, tag("td", joined(names, ", "), more, class_="feature")))
    if not rows:
        return Html("")
    about = (
        "A feature on the right has nearly the same information as the selected one on the left, and may be cheaper to measure."
    )
    note = f"Similarity in brackets, at least {at_least:g}; 1 is the same information."
    heads = [_head("selected"), _head("similar, not selected")]
    return joined(
        [
            tag("p", f"{about} {note}", class_="about"),
            _answer_table("Features that could stand in for selected ones", heads, rows[:ROWS], "stand-ins"),
            paragraph(f"The first {ROWS} of {len(rows):,}.") if len(rows) > ROWS else "",
        ]
    )


def use_it(selector: BaseSieve, selection: Selection, command: str | None, *, named: bool) -> Html:
    """Return the selection as code to copy: in Python with and without labelsieve and, where it is known, the command."""
    made = BaseEstimator.__repr__(selector, N_CHAR_MAX=10**6)
    fit = f"{_imports(selector)}\n\nselector = {made}\nX_selected = selector.fit_transform(X, Y)"
    columns: list[object] = [feature.feature if named else feature.column for feature in selection.selected]
    columns = list(dict.fromkeys(columns))
    use = f"features = {_listed(columns)}\nX_selected = {'X[features]' if named else 'X[:, features]'}"
    pieces = [paragraph("Select again in Python:"), _code(fit, "the selection in Python")]
    if columns:
        pieces += [paragraph("The features alone, for a data frame:" if named else "The features alone, for an array:")]
        pieces += [_code(use, "the list of features")]
    if command:
        pieces += [paragraph("On the command line:"), _code(command, "the command")]
    return joined(pieces)


def _imports(selector: BaseSieve) -> str:
    """Return the lines that import a selector and the objects among its parameters, each from its public package."""
    needed = {type(value) for value in [selector, *selector.get_params().values()] if isinstance(value, BaseEstimator)}
    found = {(_public_package(kind), kind.__name__) for kind in needed}
    return "\n".join(f"from {package} import {name}" for package, name in sorted(found))


def _public_package(kind: type) -> str:
    """Return the shortest package that has a class under its name."""
    parts = kind.__module__.split(".")
    packages = (".".join(parts[: length + 1]) for length in range(len(parts)))
    return next(package for package in packages if getattr(import_module(package), kind.__name__, None) is kind)


def _listed(columns: Sequence[object]) -> str:
    """Return a list as code, in lines that end after an item."""
    lines = [""]
    for item in map(repr, columns):
        if lines[-1] and len(lines[-1]) + len(item) > LINE:
            lines.append("")
        lines[-1] += f"{item}, "
    return f"[{(chr(10) + '    ').join(line.rstrip() for line in lines).rstrip(',')}]"


def _code(text: str, what: str) -> Html:
    return tag("div", tag("pre", text, tabindex="0"), class_="code", data_what=what)
