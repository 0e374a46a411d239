"""Selections, automatic selections and discoveries as text that fits the width of the terminal."""

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

from labelsieve.report.plaintext import number, plain_table, printable, prose, tables, text_of
from labelsieve.selectors.auto_sieve import AutoSieve
from labelsieve.selectors.base_discoveries import BaseDiscoveries
from labelsieve.selectors.column_frames import Names
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
NOTE = (
    "* selected. Means ± standard errors over {folds} folds, which took part in the choice: they are optimistic. Features: the "
    "fewest within {tolerance} of the method's best; for the selected method, of the best of all."
)
N_SHOWN = 20


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


def auto_text(auto: AutoSieve, selection: str) -> str:
    """The verdict, the comparison and the text of the selection of a fitted ``AutoSieve``."""
    n_folds = len(auto.curves_["all features"]["values"])
    errors = auto.standard_errors
    tolerance = "one standard error" if errors == 1 else f"{errors:g} standard errors"
    note = NOTE.format(folds=n_folds, tolerance=tolerance)
    left_out = [prose(f"Not evaluated: {name} ({printable(reason)}).") for name, reason in auto.not_tried_.items()]
    return "\n\n".join([prose(auto.verdict_text_), comparison_text(auto), prose(note), *left_out, selection])


def auto_document(auto: AutoSieve, selection: Selection) -> dict[str, Any]:
    """The selection as plain values, with the verdict, its estimates and the comparison under ``"auto"``."""
    names = ("verdict", "verdict_text", "method", "measure", "score", "standard_error", "all_features_score")
    found = {name: getattr(auto, f"{name}_") for name in (*names, "no_features_score", "comparison")}
    return {**selection.to_dict(), "auto": found}


def comparison_text(auto: AutoSieve) -> str:
    """The comparison as a table; methods that were not evaluated are left out."""
    found = auto.comparison_
    rows = []
    for index, name in enumerate(found["method"]):
        if found["n_features"][index] is None:
            continue
        score = f"{number(found['score'][index])} ± {number(found['standard_error'][index])}"
        best = f"{number(found['best_score'][index])} ({found['best_n_features'][index]})"
        mark = "* " if found["status"][index] == "selected" else "  "
        cells = [str(found["n_features"][index]), score, best, f"{found['seconds'][index]:.1f}"]
        rows.append([f"{mark}{printable(name)}", *cells])
    return tables(["  method", ">features", f">{auto.measure_}", ">best (at)", ">seconds"], rows)


def discovery_text(
    selector: BaseDiscoveries,
    *,
    names: Names = None,
    label_names: Names = None,
    n_shown: int = N_SHOWN,
    confidence: dict[str, Any] | None = None,
) -> str:
    """The number of features and pairs, a table of the first ``n_shown`` pairs, and what the selector says of its tests."""
    table = selector.discovery_table(names, label_names)
    n_pairs, n_features = len(table["feature"]), int(selector.support_.sum())
    d, q = selector.n_features_in_, selector.label_q_values_.shape[1]
    level = f"at a false discovery rate of {selector.alpha:g}"
    pairs = f", {n_pairs} of {d * q} pairs of a feature and a label" if selector.finds_pairs else ""
    head = f"{type(selector).__name__}: {n_features} of {d} features{pairs} {level}."
    paragraphs = [prose(head)]
    if n_pairs:
        label_heading = "label" if selector.finds_pairs else "most informative about"
        shown = plain_table("feature", label_heading, ">information", *(f">{name}" for name in list(table)[3:]))
        for row in list(zip(*table.values(), strict=True))[:n_shown]:
            feature, label, information, *levels = row
            cells = ("-" if level != level else f"{level:.2g}" for level in levels)  # NaN: no value
            shown.add_row(printable(feature), printable(label), number(information), *cells)
        paragraphs.append(text_of(shown))
    if n_pairs > n_shown:
        paragraphs.append(f"{n_pairs - n_shown} more.")
    if selector.reason_:
        paragraphs.append(prose(selector.reason_))
    paragraphs += [] if confidence is None else confidence_text(confidence)
    return "\n\n".join(paragraphs)
