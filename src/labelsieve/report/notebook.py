"""A selection in a notebook: a table and bars of scores as HTML, without matplotlib and without scripts."""

from collections import Counter
from collections.abc import Sequence

from labelsieve.report.figures.style import short_names
from labelsieve.report.html import Html, joined, numeric, paragraph, table, tag
from labelsieve.report.text import headline
from labelsieve.selection import Selection

SHOWN = 30  # rows of the table and of the chart
ROW, NAME, BARS, VALUE = 18, 150, 260, 60  # pixels of the chart: height of a row; widths of names, bars and values
HEADINGS = {
    "label": "label",
    "rank": ">rank",
    "feature": "feature",
    "column": ">column",
    "score": ">score",
    "relevance": ">relevance",
    "redundancy": ">redundancy",
    "complementarity": ">complementarity",
    "added": ">added",
    "top_label": "most informative about",
    "top_label_information": ">nats",
    "stability": ">stability",
    "redundant": "redundant features",
}
# Text has the color of the notebook, light or dark; bars have a color with enough contrast on both.
STYLE = """
.labelsieve-selection { color: inherit; font-size: 0.9em; line-height: 1.4; }
.labelsieve-selection div { display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start; overflow-x: auto; }
.labelsieve-selection table { border-collapse: collapse; margin: 0; color: inherit; font-size: inherit; }
.labelsieve-selection th, .labelsieve-selection td { padding: 0.15em 0.6em; text-align: left; vertical-align: top;
  background: transparent; color: inherit; border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.35); }
.labelsieve-selection thead th { border-bottom: 2px solid rgba(128, 128, 128, 0.7); }
.labelsieve-selection tbody th { font-weight: normal; white-space: nowrap; }
.labelsieve-selection .number { text-align: right; font-variant-numeric: tabular-nums; }
.labelsieve-selection svg { flex: none; font-size: 12px; }
.labelsieve-selection svg text { fill: currentColor; }
.labelsieve-selection svg line { stroke: currentColor; }
.labelsieve-selection svg rect { fill: #2b8cc4; }
"""


def notebook_view(selection: Selection) -> Html:
    """Return the headline, the table of the first features, and a bar for the score of each."""
    n_shown = min(SHOWN, len(selection.selected))
    more = len(selection.selected) - n_shown
    notes = [f"The first {n_shown}; {more:,} more are in to_frame()."] if more else []
    notes += [decision.reason for decision in selection.stopping if len(selection.stopping) == 1]
    body = [paragraph(headline(selection))]
    if selection.selected:
        body.append(tag("div", _table(selection), _chart(selection)))
    return tag("section", tag("style", Html(STYLE)), *body, *map(paragraph, notes), class_="labelsieve-selection")


def _table(selection: Selection) -> Html:
    columns = selection.table()
    names = [name for name in HEADINGS if name in columns]
    rows = [[_cell(columns[name][row]) for name in names] for row in range(min(SHOWN, len(selection.selected)))]
    heads = [HEADINGS[name] for name in names]
    return table("Selected features, in order of selection", heads, rows, name=names.index("feature"), sort=False)


def _cell(value: object) -> object:
    if isinstance(value, int | float):
        return numeric(value, digits=0 if isinstance(value, int) else None)
    return "-" if value is None else value


def _chart(selection: Selection) -> Html:
    """Draw the scores or, where every label has a list, the number of labels that selected a feature."""
    if selection.labelwise:
        counts = Counter(feature.feature for feature in selection.selected).most_common(SHOWN)
        return _bars("labels that selected the feature", [name for name, _ in counts], [float(count) for _, count in counts])
    first = selection.selected[:SHOWN]
    unit = f"score, {selection.unit}"
    return _bars(unit, [feature.feature for feature in first], [feature.score for feature in first])


def _bars(title: str, names: Sequence[str], values: Sequence[float]) -> Html:
    """Draw horizontal bars from zero as SVG, negative ones to the left."""
    low, high = min(0.0, *values), max(0.0, *values)
    scale = BARS / (high - low) if high > low else 0.0
    left = NAME + (VALUE if low < 0 else 0)
    zero, width, height = left - low * scale, left + BARS + VALUE, ROW * (len(values) + 1) + 4
    pieces = [tag("text", title, x=left, y=ROW - 5)]
    for index, (name, value) in enumerate(zip(short_names(names), values, strict=True)):
        y, length = ROW * (index + 1) + 2, abs(value) * scale
        x = zero if value >= 0 else zero - length
        whole = value == int(value) and abs(value) < 1e6
        written = f"{int(value)}" if whole else f"{value:.3g}"
        end = {"x": f"{x + length + 4:.1f}"} if value >= 0 else {"x": f"{x - 4:.1f}", "text_anchor": "end"}
        pieces += [
            tag("text", name, x=NAME - 6, y=y + 12, text_anchor="end"),
            tag("rect", x=f"{x:.1f}", y=y, width=f"{length:.1f}", height=ROW - 4),
            tag("text", written, y=y + 12, **end),
        ]
    pieces.append(tag("line", x1=f"{zero:.1f}", x2=f"{zero:.1f}", y1=ROW, y2=height))
    label = f"{title}: a bar for each of the first {len(values)} features; the table has the numbers."
    look = {"width": width, "height": height, "role": "img", "aria_label": label}
    return Html(tag("svg", joined(pieces), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", **look))
