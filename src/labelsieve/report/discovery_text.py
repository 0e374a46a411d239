"""Discoveries as text that fits the width of the terminal."""

from typing import Any

from labelsieve.report.plaintext import number, plain_table, printable, prose, text_of
from labelsieve.report.selection_text import confidence_text
from labelsieve.selectors.base_discoveries import BaseDiscoveries
from labelsieve.selectors.column_frames import Names

N_SHOWN = 20


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
