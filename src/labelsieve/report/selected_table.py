"""The table of chosen features: places, scores, what they tell, and their redundant twins."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.discretize import one_table
from labelsieve.labelspace import read_targets
from labelsieve.report.data_section import Facts
from labelsieve.report.figures.score_chart import own_parts
from labelsieve.report.html import Html, joined, paragraph, tag
from labelsieve.report.html_tables import numeric, table
from labelsieve.selectors.redundancy import RedundantFeature, redundant_features

MOST_TWINS = 8  # of one feature, the nearest
Twins = tuple[float, dict[int, list[RedundantFeature]]]


def twins_of(selector: Any, X: Any, Y: Any, at_least: float) -> Twins | None:
    """Features left out that are so similar to chosen ones; None where every target has bins of its own."""
    discretizer = getattr(selector, "discretizer_", None)
    if discretizer is None or not len(selector.selected_):
        return None
    codes = discretizer.encode(X, read_targets(Y).codes())
    if isinstance(codes, list) and len(codes) > 1:
        return None
    one: Codes = one_table(codes, "twins")
    return at_least, redundant_features(one, selector.selected_, selector._counting_options(), at_least=at_least)


def chosen_table(
    selector: Any, data: Facts, told: NDArray[np.float64], parts: Mapping[str, Any] | None, alike: Twins | None
) -> Html:
    """One list with scores, or the list of every label."""
    if not selector.support_.any():
        return paragraph("No feature was chosen.")
    if np.ndim(selector.selected_) == 2:
        return _by_label(selector, data)
    own, _ = own_parts(selector)
    # A formula of one term has nothing to split; then the table shows the split that all criteria have.
    split = own if len(own) > 1 else parts or {}
    heads = [">rank", "feature", ">column", ">score", *(f">{kind}" for kind in split)]
    heads += ["tells most about", ">nats"]
    rows = []
    places = {int(column): place for place, column in enumerate(np.flatnonzero(selector.support_))}
    for place, column in enumerate(map(int, selector.selected_)):
        about = told[places[column]]
        label = int(about.argmax())
        row: list[object] = [numeric(place + 1, digits=0), data.names[column], numeric(column, digits=0)]
        row += [numeric(float(values[place])) for values in (selector.scores_, *split.values())]
        row += [data.label_names[label], numeric(float(about[label]))]
        rows.append([*row, *([] if alike is None else [_twins(alike[1].get(column, []), data)])])
    caption = "Chosen features, in order of choice"
    if alike is not None:
        heads.append("twins")
        caption += f"; twins were left out and are alike to {alike[0]:g} or more"
    return table(caption, heads, rows, name=1)


def _twins(found: list[RedundantFeature], data: Facts) -> Html:
    if not found:
        return Html("-")
    shown = [f"{data.names[twin.feature]} ({twin.similarity:.2f})" for twin in found[:MOST_TWINS]]
    left = len(found) - len(shown)
    return joined([joined(shown, ", "), tag("span", f" and {left} more") if left else ""])


def _by_label(selector: Any, data: Facts) -> Html:
    rows = []
    for label, (own, scores) in enumerate(zip(selector.selected_, selector.scores_, strict=True)):
        names = joined((data.names[int(column)] for column in own if column >= 0), ", ")  # -1 fills up short lists
        rows.append([data.label_names[label], names, numeric(float(scores[0]))])
    counts = selector.label_support_.sum(axis=0)
    shared = [
        [data.names[int(column)], numeric(int(counts[column]), digits=0)]
        for column in np.argsort(-counts, kind="stable")
        if counts[column]
    ]
    lists = table("Features of every label, in order of choice", ["label", "features", ">score of the first"], rows)
    return Html(lists + table("How many labels chose a feature", ["feature", ">labels"], shared))
