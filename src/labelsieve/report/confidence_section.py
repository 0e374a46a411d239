"""How certain a selection is: confidence limits, ranks, and discoveries with their q-values."""

from functools import partial
from typing import Any

from labelsieve.report.data_section import Facts
from labelsieve.report.figures import discovery_map, discovery_volcano, information_confidence
from labelsieve.report.html import Html, joined, paragraph, tag
from labelsieve.report.html_tables import Cell, numeric, table
from labelsieve.report.methods_section import Row
from labelsieve.report.selection_text import ranks_text
from labelsieve.report.svg import figure
from labelsieve.selectors.base import BaseSieve
from labelsieve.selectors.base_discoveries import BaseDiscoveries
from labelsieve.table_types import TableLike, TargetsLike

N_SHOWN = 30  # features
INTERVALS: Row = (
    "confidence limits",
    "The interval of true values for which the observed mutual information is not extreme, by the noncentral chi-square "
    "distribution of the likelihood-ratio statistic; for each feature by itself, whichever label it is most informative about.",
    "Wilks 1938",
)
RANK_SETS: Row = (
    "confidence sets of ranks",
    "Features rank behind others if the difference of their information is larger than in bootstrap samples of the rows; for "
    "all features together.",
    "Mogstad, Romano, Shaikh and Wilhelm 2024",
)
EXPLANATION = (
    "Limits hold for each feature by itself, and ranks, by the information about all labels, for all listed features together. "
    "Limits account for the choice of the most informative label (Bonferroni). Neither accounts for the fact that features "
    "were selected because of their information in these rows."
)


def confidence_section(selector: BaseSieve, X: TableLike, Y: TargetsLike, data: Facts, confidence: float) -> Html:
    """A table and a figure of the first selected features; of discoveries, a table and figures of their q-values."""
    found = selector.information_confidence(
        X, Y, confidence=confidence, names=data.names, label_names=data.label_names, n_shown=N_SHOWN, backend="dict"
    )
    q_values = found.get("q")
    heads = ["feature", "most informative about", ">nats", ">lower", ">upper", "rank", *([">q-value"] if q_values else [])]
    rows = [
        [
            feature,
            found["label"][row],
            *(numeric(found[name][row]) for name in ("information", "lower", "upper")),
            ranks_text(found, row),
            *([Cell(f"{q_values[row]:.2g}", q_values[row])] if q_values else []),
        ]
        for row, feature in enumerate(found["feature"])
    ]
    percent = f"{100 * confidence:g} %"
    certain = sum(first == last for first, last in zip(found["first_rank"], found["last_rank"], strict=True))
    words = f"The rank of {certain} of {len(rows)} features is certain."
    chart = figure(
        partial(information_confidence, found, confidence=confidence),
        name="figure-confidence",
        title=f"Information with its {percent} confidence limits, and ranks.",
        description=f"A line from the lower to the upper limit for every feature. {words}",
        caption=f"About the label that a feature is most informative about. {words}",
    )
    listed = table(f"Confidence limits ({percent}) of information, and ranks", heads, rows)
    figures = tag("div", chart, *_discoveries(selector, data), class_="figures")
    return joined([paragraph(EXPLANATION), listed, figures])


def _discoveries(selector: BaseSieve, data: Facts) -> list[Html]:
    """Information against q-values, and the map of discovered pairs."""
    if not isinstance(selector, BaseDiscoveries) or not selector.finds_pairs:
        return []
    n_pairs = int(selector.pair_support_.sum())
    words = f"{n_pairs:,} pairs of a feature and a label are discovered at a false discovery rate of {selector.alpha:g}."
    names: dict[str, Any] = {"names": data.names, "label_names": data.label_names}
    volcano = figure(
        partial(discovery_volcano, selector, **names),
        name="figure-volcano",
        title="Information against q-values.",
        description=words,
        caption=f"{words} The smallest q-values have names.",
    )
    pairs = figure(
        partial(discovery_map, selector, **names),
        name="figure-discoveries",
        title="Discovered pairs of features and labels.",
        description=words,
        caption="The darker, the more information; pairs that are not discovered are blank.",
    )
    return [volcano, pairs]
