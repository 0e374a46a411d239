"""The table of selected features: ranks, scores and components, information per label, redundant features."""

from collections import Counter
from collections.abc import Mapping, Sequence

from labelsieve.report.html import Html, joined, paragraph, tag
from labelsieve.report.html_tables import numeric, table
from labelsieve.selectors.selection import SelectedFeature, Selection

MOST_REDUNDANT = 8  # redundant features that a row shows, the most similar


def selected_table(selection: Selection, components: Mapping[str, Sequence[float]], redundant: float | None) -> Html:
    """One list with scores and ``components``, or the list of every label.

    ``redundant`` is the smallest similarity of the redundant features; None has no column for them.
    """
    if not selection.selected:
        return paragraph("No feature was selected.")
    if selection.labelwise:
        return _by_label(selection)
    heads = [">rank", "feature", ">column", ">score", *(f">{kind}" for kind in components), "most informative about", ">nats"]
    caption = "Selected features, in order of selection"
    if redundant is not None:
        heads.append("redundant features")
        caption += f"; redundant features were not selected and have a similarity of at least {redundant:g}"
    rows = []
    for index, feature in enumerate(selection.selected):
        most = max(range(len(selection.labels)), key=feature.information.__getitem__)
        row: list[object] = [numeric(feature.rank, digits=0), feature.feature, numeric(feature.column, digits=0)]
        row += [numeric(feature.score), *(numeric(float(values[index])) for values in components.values())]
        row += [selection.labels[most], numeric(feature.information[most])]
        rows.append([*row, *([] if redundant is None else [_redundant(feature)])])
    return table(caption, heads, rows, name=1)


def _redundant(feature: SelectedFeature) -> Html:
    if not feature.redundant:
        return Html("-")
    names = [f"{name} ({similarity:.2f})" for name, similarity in list(feature.redundant.items())[:MOST_REDUNDANT]]
    left = len(feature.redundant) - len(names)
    return joined([joined(names, ", "), tag("span", f" and {left} more") if left else ""])


def _by_label(selection: Selection) -> Html:
    lists: dict[str, list[SelectedFeature]] = {label: [] for label in selection.labels}
    for feature in selection.selected:
        lists[str(feature.label)].append(feature)
    rows = [
        [label, joined((one.feature for one in features), ", "), numeric(features[0].score) if features else "-"]
        for label, features in lists.items()
    ]
    names = {feature.column: feature.feature for feature in selection.selected}
    counts = Counter(feature.column for feature in selection.selected)
    ranked = sorted(counts, key=lambda column: (-counts[column], column))
    shared = [[names[column], numeric(counts[column], digits=0)] for column in ranked]
    by_label = table("Features of every label, in order of selection", ["label", "features", ">score of the first"], rows)
    return Html(by_label + table("Number of labels that selected a feature", ["feature", ">labels"], shared))
