"""A selection as text that fits the width of the terminal."""

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

from labelsieve.report.plaintext import number, plain_table, printable, prose, tables, text_of
from labelsieve.selectors.selection import Selection, StabilitySummary
from labelsieve.statistics import stability_bound

# Columns of the table and their headings; a heading that begins with ">" is for numbers.
HEADINGS = {
    "score": ">score",
    "relevance": ">relevance",
    "redundancy": ">redundancy",
    "complementarity": ">comple-mentarity",
    "added": ">added",
    "stability": ">stability",
    "top_label": "most informative about",
}
STABLE = 0.75  # selection frequency
CONFIDENCE = (
    "Confidence ({:g} %): limits of the information about the label that a feature is most informative about, in nats, and "
    "its rank by information about all labels among these features."
)
REDUNDANT = "Redundant features (similarity at least {:g}; 1: the same information):"


def selection_text(selection: Selection, *, redundant: float | None = None, confidence: dict[str, Any] | None = None) -> str:
    """The selected features as a table and, if asked for, the redundant ones and confidence limits.

    ``redundant`` is the smallest similarity of the redundant features; None does not list them.
    """
    below = [prose(f"{decision.rule}: {decision.reason}") for decision in selection.stopping if len(selection.stopping) == 1]
    below += [] if selection.stability is None else [prose(_stability(selection))]
    below += [] if redundant is None else _redundant(selection, redundant)
    below += [] if confidence is None else confidence_text(confidence)
    return "\n\n".join([prose(headline(selection)), *([_table(selection)] if selection.selected else []), *below])


def headline(selection: Selection) -> str:
    """The method, the number of features and of labels, and the unit of the scores.

    >>> headline(Selection(method="jmi", n_features=9, targets="single", unit="nats", fingerprint={}, selected=()))
    'jmi: 0 of 9 features (single); scores in nats.'
    """
    q, n_rows = len(selection.labels), selection.n_rows
    noun = "target" if "numeric" in selection.target_types else "label"
    labels = f" for {q} {noun}{'s' if q != 1 else ''}" if q else ""
    rows = "" if n_rows is None else f", from {n_rows:,} rows"
    unit = f"scores in {selection.unit}" if selection.unit == "nats" else f"scores are {selection.unit}"
    counts = f"{len(selection.columns)} of {selection.n_features} features{labels}"
    return f"{selection.method}: {counts} ({targets_text(selection)}){rows}; {unit}."


def targets_text(selection: Selection) -> str:
    """The label space, and which targets were taken as numeric; all others are classes.

    >>> known = {"method": "jmi", "n_features": 2, "fingerprint": {}, "selected": ()}
    >>> targets_text(Selection(**known, targets="single", labels=("genre", "price"), target_types=("class", "numeric")))
    'single; 1 as classes; 1 as numeric: price'
    """
    numeric = [name for name, kind in zip(selection.labels, selection.target_types, strict=False) if kind == "numeric"]
    n_classes = len(selection.target_types) - len(numeric)
    if not numeric:  # cut points are those of numeric targets, and without them each label is a target as it is
        return "single" if selection.targets == "cumulative" and n_classes else selection.targets
    if not n_classes:
        return f"{selection.targets}; numeric"
    names = ", ".join([*map(printable, numeric[:5]), *(["..."] if len(numeric) > 5 else [])])
    return f"{selection.targets}; {n_classes} as classes; {len(numeric)} as numeric: {names}"


def _table(selection: Selection) -> str:
    """Ranks and names are one column, which is repeated where the width is not enough for all columns."""
    table = selection.table()
    if "top_label" in table:
        pairs = zip(table["top_label"], table["top_label_information"], strict=True)
        table["top_label"] = [None if label is None else f"{label} ({number(nats)})" for label, nats in pairs]
    names = _beside([f"{rank:>4}" for rank in ["rank", *table["rank"]]], ["feature", *table["feature"]])
    if selection.labelwise:
        names = _beside(["label", *table["label"]], names)
    columns = {names[0]: names[1:]}
    columns |= {heading: [_cell(value) for value in table[name]] for name, heading in HEADINGS.items() if name in table}
    return tables(list(columns), list(zip(*columns.values(), strict=True)))


def _beside(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Two columns of text as one."""
    shown = [printable(str(text)) for text in left]
    width = max(map(cell_len, shown))
    return [f"{set_cell_size(text, width)}   {printable(str(more))}" for text, more in zip(shown, right, strict=True)]


def _cell(value: str | float | None) -> str:
    return "-" if value is None else printable(value) if isinstance(value, str) else number(value)


def _stability(selection: Selection) -> str:
    stability = selection.stability
    assert stability is not None
    resamples = f"over {stability.n_repeats} resamples ({stability.kind})"
    if stability.index is None or stability.interval is None:
        return f"Stability {resamples} is not defined: all features or none were selected every time."
    low, high = map(number, stability.interval)
    interval = f"(95 %: {low} to {high})"
    text = f"Stability {number(stability.index)} {interval} {resamples}; 1: the same features every time, 0: random selections."
    return text if stability.kind != "pairs" else f"{text} {_stable_features(selection.n_features, stability)}"


def _stable_features(n_features: int, stability: StabilitySummary) -> str:
    """The features that stability selection selects, and how many of them by error."""
    n_stable = sum(frequency >= STABLE for frequency in stability.frequency.values())
    errors = stability_bound(n_features, sum(stability.frequency.values()), STABLE)
    frequent = f"{n_stable} features are in {100 * STABLE:.0f} % of the selections or more"
    return f"{frequent}; the expected number of those selected by error is at most {number(errors)}."


def confidence_text(table: dict[str, Any]) -> list[str]:
    """The table of :meth:`labelsieve.Sieve.information_confidence` and its ``confidence``."""
    has_q = "q" in table
    shown = plain_table("feature", "about", ">information", ">lower", ">upper", ">rank", *([">q"] if has_q else []))
    for row, feature in enumerate(table["feature"]):
        numbers = [number(table[name][row]) for name in ("information", "lower", "upper")]
        q = [f"{table['q'][row]:.2g}"] if has_q else []
        shown.add_row(printable(feature), printable(table["label"][row]), *numbers, ranks_text(table, row), *q)
    return [prose(CONFIDENCE.format(100 * table["confidence"])), text_of(shown)]


def ranks_text(table: dict[str, Any], row: int) -> str:
    """The ranks that a feature may have.

    >>> ranks_text({"first_rank": [1, 3], "last_rank": [1, 5]}, 1)
    '3 to 5'
    """
    first, last = table["first_rank"][row], table["last_rank"][row]
    return f"{first}" if first == last else f"{first} to {last}"


def _redundant(selection: Selection, at_least: float) -> list[str]:
    table = plain_table("selected", "not selected", ">similarity")
    for feature in selection.selected:
        for name, similarity in feature.redundant.items():
            table.add_row(printable(feature.feature), printable(name), number(similarity))
    if not table.row_count:
        return [f"No feature that was not selected is redundant (similarity at least {at_least:g})."]
    return [REDUNDANT.format(at_least), text_of(table)]
