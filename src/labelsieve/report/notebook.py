"""A selection in a notebook as HTML, without matplotlib and without scripts.

With its explained share it is the verdict, a compact table of gains and a small chart; otherwise a table, with bars of what
each feature is by itself where that is known.
"""

from collections import Counter
from collections.abc import Sequence

from labelsieve.report.charts import ExplainedCurve, explained_chart
from labelsieve.report.figures.style import short_names
from labelsieve.report.html import Html, breakable, joined, numeric, paragraph, table, tag
from labelsieve.report.text import in_order, notes, own_column, pointer, points, unit_text
from labelsieve.selection import SelectedFeature, Selection

SHOWN = 30  # rows of a table without gains, and of its chart
COMPACT = 10  # rows of the table of gains
CHART = (360, 240)  # pixels of the chart of the explained share
ROW, BARS, VALUE, CHARACTER = 18, 260, 60, 8  # pixels of the chart: height of a row; widths of bars, values and characters
HEADINGS = {
    "label": "label",
    "rank": ">rank",
    "feature": "feature",
    "score": ">score",
    "relevance": ">relevance",
    "top_label": "top label",
    "stability": ">stability",
    "redundant": "redundant features",
}
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
    words = f"{selection.method}, {len(selection.labels)} {_noun(selection)}" if selection.labels else selection.method
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


def _noun(selection: Selection) -> str:
    noun = "target" if "numeric" in selection.target_types else "label"
    return noun if len(selection.labels) == 1 else f"{noun}s"


def _gains(selection: Selection) -> Html:
    """Return the first features with their gains and totals, and a row for what the others add."""
    selected = selection.selected
    shown = selected if len(selected) <= COMPACT + 1 else selected[:COMPACT]
    most = max([feature.gain or 0.0 for feature in selected])
    about = any(feature.top_label is not None for feature in selected)
    heads = ["", "feature", "", ">gain", ">total %", *(["top label"] if about else [])]
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
    """Return the table of the first features, with a bar for each where it has a number of its own, and what to do for more."""
    n_shown = min(SHOWN, len(selection.selected))
    more = len(selection.selected) - n_shown
    said = [f"The first {n_shown}; {more:,} more are in to_frame()."] if more else []
    said += [*notes(selection), *(decision.reason for decision in selection.stopping if len(selection.stopping) == 1)]
    said += [pointer(selection)] if pointer(selection) else []
    verdict = selection.explained.verdict if selection.explained is not None else in_order(selection)
    body = [paragraph(verdict)]
    if selection.selected:
        body.append(tag("div", _table(selection), *_chart(selection)))
    return [*body, *map(paragraph, said)]


def _table(selection: Selection) -> Html:
    columns = selection.table()
    hidden = {"score", "relevance"} - {own_column(selection)}
    names = [name for name in HEADINGS if name in columns and name not in hidden]
    rows = [[_cell(columns[name][row]) for name in names] for row in range(min(SHOWN, len(selection.selected)))]
    heads = [HEADINGS[name] for name in names]
    return table("Selected features, in order of selection", heads, rows, name=names.index("feature"), sort=False)


def _cell(value: object) -> object:
    if isinstance(value, int | float):
        return numeric(value, digits=0 if isinstance(value, int) else None)
    return breakable(value) if isinstance(value, str) else "-" if value is None else value


def _chart(selection: Selection) -> list[Html]:
    """Draw what every feature is by itself or, where every label has a list, the number of labels that selected it."""
    if selection.labelwise:
        counts = Counter(feature.feature for feature in selection.selected).most_common(SHOWN)
        return [_bars("labels that selected the feature", [name for name, _ in counts], [float(count) for _, count in counts])]
    column, first = own_column(selection), selection.selected[:SHOWN]
    if column is None:
        return []
    values = [feature.score if column == "score" else feature.components[column] for feature in first]
    title = unit_text(selection) if column == "score" else f"{column}, nats"
    return [_bars(title, [feature.feature for feature in first], values)]


def _bars(title: str, names: Sequence[str], values: Sequence[float]) -> Html:
    """Draw horizontal bars from zero as SVG, negative ones to the left."""
    low, high = min(0.0, *values), max(0.0, *values)
    scale = BARS / (high - low) if high > low else 0.0
    shown = short_names(names)
    space = CHARACTER * max(map(len, shown)) + 8
    left = space + (VALUE if low < 0 else 0)
    zero, width, height = left - low * scale, left + BARS + VALUE, ROW * (len(values) + 1) + 4
    pieces = [tag("text", title, x=0, y=ROW - 5)]
    for index, (name, value) in enumerate(zip(shown, values, strict=True)):
        y, length = ROW * (index + 1) + 2, abs(value) * scale
        x = zero if value >= 0 else zero - length
        whole = value == int(value) and abs(value) < 1e6
        written = f"{int(value)}" if whole else f"{value:.3g}"
        end = {"x": f"{x + length + 4:.1f}"} if value >= 0 else {"x": f"{x - 4:.1f}", "text_anchor": "end"}
        pieces += [
            tag("text", name, x=space - 6, y=y + 12, text_anchor="end"),
            tag("rect", x=f"{x:.1f}", y=y, width=f"{length:.1f}", height=ROW - 4),
            tag("text", written, y=y + 12, **end),
        ]
    pieces.append(tag("line", x1=f"{zero:.1f}", x2=f"{zero:.1f}", y1=ROW, y2=height))
    label = f"{title}: a bar for each of the first {len(values)} features; the table has the numbers."
    look = {"class_": "bars", "width": width, "height": height, "role": "img", "aria_label": label}
    return Html(tag("svg", joined(pieces), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", **look))
