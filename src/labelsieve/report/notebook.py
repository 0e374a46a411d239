"""A selection in a notebook as HTML, without matplotlib and without scripts.

With its explained share it is the verdict, a compact table of gains and a small chart; otherwise a table, with bars of what
each feature is by itself where that is known. Lists of labels are a row for each label, and a chart of the features that
several labels share.
"""

from collections import Counter
from math import isfinite

from labelsieve.report.charts import ExplainedCurve, explained_chart
from labelsieve.report.figures.style import short_names
from labelsieve.report.html import Html, breakable, joined, paragraph, tag
from labelsieve.report.text import in_order, notes, noun, number, own_column, pointer, points
from labelsieve.selection import SelectedFeature, Selection

COMPACT = 10  # rows of a table, and bars of a chart
CHART = (360, 240)  # pixels of the chart of the explained share
ROW, BARS, VALUE, CHARACTER = 18, 200, 30, 8  # pixels of the chart: height of a row; widths of bars, values and characters
OTHERS = {"top_label": "top {target}", "stability": ">stability", "redundant": "redundant features"}
# Text has the color of the notebook, light or dark; bars have a color with enough contrast on both.
STYLE = """
.labelsieve-selection { color: inherit; font-size: 0.9em; line-height: 1.4; }
.labelsieve-selection div { display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start; overflow-x: auto; }
.labelsieve-selection table { border-collapse: collapse; margin: 0; color: inherit; font-size: inherit; }
.labelsieve-selection caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.labelsieve-selection th, .labelsieve-selection td { padding: 0.15em 0.6em; text-align: left; vertical-align: top;
  background: transparent; color: inherit; border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.35); }
.labelsieve-selection thead th, .labelsieve-selection thead td { border-bottom: 2px solid rgba(128, 128, 128, 0.7); }
.labelsieve-selection tbody th { font-weight: normal; white-space: nowrap; }
.labelsieve-selection .number { text-align: right; font-variant-numeric: tabular-nums; }
.labelsieve-selection svg { flex: none; font-size: 12px; max-width: 100%; height: auto; }
.labelsieve-selection svg text { fill: currentColor; }
.labelsieve-selection svg line { stroke: currentColor; }
.labelsieve-selection svg rect { fill: #2b8cc4; }
.labelsieve-selection .verdict { font-size: 1.15em; font-weight: 600; margin: 0.4em 0 0.1em; max-width: 60em; }
.labelsieve-selection .said { margin: 0 0 0.6em; opacity: 0.8; max-width: 60em; }
.labelsieve-selection .gains { max-width: 100%; }
.labelsieve-selection .lists { max-width: 46em; } .labelsieve-selection .lists tbody th { min-width: 7em; }
.labelsieve-selection .gains tbody th { white-space: normal; overflow-wrap: break-word; }
.labelsieve-selection .gains td, .labelsieve-selection .gains th { vertical-align: middle; }
.labelsieve-selection .gains .bar { width: 90px; }
.labelsieve-selection .bar span { display: block; height: 11px; min-width: 2px; box-sizing: border-box;
  border: 1px solid #2b8cc4; background: #2b8cc4; }
.labelsieve-selection .bar .unsure { min-width: 4px; background: transparent; }
.labelsieve-selection svg .beyond { fill: rgba(128, 128, 128, 0.14); }
.labelsieve-selection svg .grid { stroke: rgba(128, 128, 128, 0.25); }
.labelsieve-selection svg .axis { stroke: rgba(128, 128, 128, 0.7); }
.labelsieve-selection svg .band { fill: #2b8cc4; opacity: 0.2; }
.labelsieve-selection svg .curve, .labelsieve-selection svg .tail { fill: none; stroke: #2b8cc4; stroke-width: 2; }
.labelsieve-selection svg .tail { opacity: 0.6; }
.labelsieve-selection svg .reference { stroke: #d9760a; stroke-width: 1.5; stroke-dasharray: 6 4; }
.labelsieve-selection svg .drop { stroke: #2b8cc4; }
.labelsieve-selection svg .point { display: none; }
.labelsieve-selection svg .ring { fill: #2b8cc4; }
.labelsieve-selection svg .strong, .labelsieve-selection svg .chosen { font-weight: 600; }
@media (max-width: 600px) {
  .labelsieve-selection tbody th { white-space: normal; } .labelsieve-selection .bars { display: none; }
  .labelsieve-selection .gains .bar, .labelsieve-selection .gains .about { display: none; } }
"""


def notebook_view(selection: Selection) -> Html:
    """Return the verdict with gains and the explained share or, where that is not known, the features in order of selection."""
    explained = selection.explained is not None and bool(selection.selected)
    body = _explained_view(selection) if explained else _plain_view(selection)
    return tag("section", tag("style", Html(STYLE)), *body, class_="labelsieve-selection")


def _explained_view(selection: Selection) -> list[Html]:
    assert selection.explained is not None
    q = len(selection.labels)
    words = f"{selection.method}, {q} {noun(selection, q)}" if q else selection.method
    words += f", {selection.n_rows:,} rows" if selection.n_rows is not None else ""
    if any(feature.signal is not None for feature in selection.selected):
        words += "; filled: distinguishable from noise, hollow: not on its own"
    if selection.stability is not None and selection.stability.index is not None:
        words += f"; stability {selection.stability.index:.2f}"
    chart = explained_chart(ExplainedCurve.of_selection(selection), name="", width=CHART[0], height=CHART[1], named=False)
    return [
        tag("p", selection.explained.verdict, class_="verdict"),
        tag("p", f"{words}.", class_="said"),
        tag("div", _gains(selection), chart),
    ]


def _gains(selection: Selection) -> Html:
    """Return the first features with their gains and totals, and a row for what the others add."""
    selected = selection.selected
    shown = selected if len(selected) <= COMPACT + 1 else selected[:COMPACT]
    most = max([feature.gain or 0.0 for feature in selected])
    about = any(feature.top_label is not None for feature in selected)
    heads = ["", "feature", "", ">gain", ">total %", *([f"top {noun(selection)}"] if about else [])]
    head = tag("tr", *(_head(text, look) for text, look in zip(heads, ("", "", "bar", "", "", "about"), strict=False)))
    rows = [_gain_row(feature, most, about) for feature in shown]
    if len(shown) < len(selected):
        last = next((one.explained for one in reversed(selected) if one.explained is not None), None)
        before = shown[-1].explained
        gain = "" if last is None or before is None else points(last - before)
        total = "" if last is None else f"{100 * last:.1f}"
        cells = [tag("td", text, class_="number") for text in (gain, total)]
        more = tag("th", f"{len(selected) - len(shown):,} more: to_frame()", scope="row")
        rows.append(
            tag("tr", tag("td"), more, tag("td", class_="bar"), *cells, *([tag("td", class_="about")] if about else []))
        )
    return tag("table", tag("thead", head), tag("tbody", *rows), class_="gains")


def _head(text: str, look: str) -> Html:
    look = "number" if text.startswith(">") else look
    return tag("th", text.removeprefix(">"), scope="col", class_=look or None) if text else tag("td", class_=look or None)


def _gain_row(feature: SelectedFeature, most: float, about: bool) -> Html:
    gain = feature.gain
    length = 0.0 if gain is None or most <= 0 else max(0.0, 100 * gain / most)
    look = "unsure" if feature.signal is False else None
    bar = tag("span", class_=look, style=f"width: {length:.0f}%") if length > 0 else ""
    cells = [
        tag("td", str(feature.rank), class_="number"),
        tag("th", breakable(feature.feature), scope="row"),
        tag("td", bar, class_="bar"),
        tag("td", "–" if gain is None else points(gain), class_="number"),
        tag("td", "–" if feature.explained is None else f"{100 * feature.explained:.1f}", class_="number"),
    ]
    label = "–" if feature.top_label is None else breakable(feature.top_label)
    return tag("tr", *cells, *([tag("td", label, class_="about")] if about else []))


def _plain_view(selection: Selection) -> list[Html]:
    """Return the first features, with a bar for each where it has a number of its own, and what to do for more."""
    said = [*notes(selection), *(decision.reason for decision in selection.stopping if len(selection.stopping) == 1)]
    said += [pointer(selection)] if pointer(selection) else []
    verdict = selection.explained.verdict if selection.explained is not None else in_order(selection)
    body = [paragraph(verdict)]
    if selection.labelwise and selection.selected:
        body.append(tag("div", _lists(selection), _counts(selection)))
    elif selection.selected:
        body.append(tag("div", _features(selection)))
    return [*body, *map(paragraph, said)]


def _features(selection: Selection) -> Html:
    """Return a row for each of the first features, with a bar if it has a number of its own, and a row for the others."""
    column, selected = own_column(selection), selection.selected
    columns = selection.table()
    others = [name for name in OTHERS if name in columns]
    values = [] if column is None else [float(columns[column][row]) for row in range(len(selected))]
    longest = max((value for value in values if isfinite(value)), default=0.0)
    n_shown = len(selected) if len(selected) <= COMPACT + 1 else COMPACT
    heads = ["", "feature", *(["", f">{column}"] if values else [])]
    heads += [OTHERS[name].format(target=noun(selection)) for name in others]
    looks = ["", "", *(["bar", ""] if values else []), *("" for _ in others)]
    rows = []
    for row, feature in enumerate(selected[:n_shown]):
        cells = [tag("td", str(feature.rank), class_="number"), tag("th", breakable(feature.feature), scope="row")]
        if values:
            length = max(0.0, 100 * values[row] / longest) if longest > 0 and isfinite(values[row]) else 0.0
            cells.append(tag("td", tag("span", style=f"width: {length:.0f}%") if length > 0 else "", class_="bar"))
            cells.append(tag("td", number(values[row]), class_="number"))
        rows.append(tag("tr", *cells, *(_other(columns[name][row]) for name in others)))
    if n_shown < len(selected):
        more = tag("th", f"{len(selected) - n_shown:,} more: to_frame()", scope="row")
        rows.append(tag("tr", tag("td"), more, *(tag("td", class_=look or None) for look in looks[2:])))
    head = tag("tr", *map(_head, heads, looks))
    return tag("table", tag("thead", head), tag("tbody", *rows), class_="gains")


def _other(value: object) -> Html:
    """Return a cell for a label, a frequency or names."""
    if isinstance(value, float):
        return tag("td", f"{value:.2f}", class_="number")
    return tag("td", "–" if value is None else breakable(str(value)))


def _lists(selection: Selection) -> Html:
    """Return a row for each of the first labels with its features in order."""
    lists: dict[str, list[str]] = {}
    for feature in selection.selected:
        lists.setdefault(str(feature.label), []).append(feature.feature)
    shown = list(lists.items())[: len(lists) if len(lists) <= COMPACT + 1 else COMPACT]
    rows = []
    for label, names in shown:
        words = [*map(breakable, names[:COMPACT]), *([f"{len(names) - COMPACT:,} more"] if len(names) > COMPACT else [])]
        rows.append(tag("tr", tag("th", breakable(label), scope="row"), tag("td", joined(words, ", "))))
    if len(shown) < len(lists):
        rows.append(tag("tr", tag("th", f"{len(lists) - len(shown):,} more: to_frame()", scope="row"), tag("td")))
    head = tag("tr", tag("th", noun(selection), scope="col"), tag("th", "features, in order of selection", scope="col"))
    return tag("table", tag("thead", head), tag("tbody", *rows), class_="gains lists")


def _counts(selection: Selection) -> Html:
    """Draw the number of labels that selected a feature as horizontal bars."""
    counts = Counter(feature.feature for feature in selection.selected).most_common(COMPACT)
    shown = short_names([name for name, _ in counts])
    left, scale = CHARACTER * max(map(len, shown)) + 8, BARS / counts[0][1]
    width, height = left + BARS + VALUE, ROW * (len(counts) + 1) + 4
    title = f"{noun(selection, 2)} that selected the feature"
    pieces = [tag("text", title, x=0, y=ROW - 5)]
    for index, (name, (_, count)) in enumerate(zip(shown, counts, strict=True)):
        y = ROW * (index + 1) + 2
        pieces += [
            tag("text", name, x=left - 6, y=y + 12, text_anchor="end"),
            tag("rect", x=left, y=y, width=f"{count * scale:.1f}", height=ROW - 4),
            tag("text", str(count), x=f"{left + count * scale + 4:.1f}", y=y + 12),
        ]
    pieces.append(tag("line", x1=left, x2=left, y1=ROW, y2=height))
    label = f"{title}: " + ", ".join(f"{name} {count}" for name, count in counts) + "."
    look = {"class_": "bars", "width": width, "height": height, "role": "img", "aria_label": label}
    return Html(tag("svg", joined(pieces), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", **look))
