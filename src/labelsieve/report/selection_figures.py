"""Sections of the report of a selection: its figures, and the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets import Dataset, Description, describe
from labelsieve.errors import require_same_rows
from labelsieve.labelspace import read_targets
from labelsieve.report.figures import (
    discovery_map,
    discovery_volcano,
    information_confidence,
    information_map,
    ranking,
    selection_stability,
    shared_features,
    stopping_curve,
)
from labelsieve.report.html import Cell, Html, facts, figure, folded, joined, numeric, paragraph, table, tag
from labelsieve.report.provenance import Row
from labelsieve.report.text import ranks_text
from labelsieve.selectors.base import BaseSieve
from labelsieve.selectors.column_frames import column_names
from labelsieve.selectors.discoveries import BaseDiscoveries
from labelsieve.selectors.selection import Selection
from labelsieve.statistics import Stability
from labelsieve.tables.frames import is_frame
from labelsieve.tables.targets import TargetTable, TargetTypes
from labelsieve.tables.types import TableLike, TargetsLike

FOLDED = 60  # labels in a table; a longer one is folded


@dataclass(frozen=True, eq=False)
class Facts:
    """Sizes and names; ``description`` where all targets are labels of 0 and 1."""

    n_rows: int
    names: tuple[str, ...]
    label_names: tuple[str, ...]
    targets: TargetTable
    description: Description | None
    has_density: bool

    @property
    def n_features(self) -> int:
        return len(self.names)

    def count_of_labels(self) -> str:
        """The number of targets and their kind."""
        kind = "label" if self.description is not None else "target"
        return f"{len(self.label_names):,} {kind}{'s' if len(self.label_names) != 1 else ''}"

    def rows(self) -> list[tuple[str, str]]:
        """The sizes."""
        return [
            ("rows", f"{self.n_rows:,}"),
            ("features", f"{self.n_features:,}"),
            ("labels" if self.description is not None else "targets", f"{len(self.label_names):,}"),
        ]


def read_facts(
    X: TableLike, Y: TargetsLike, names: Sequence[str] | None, label_names: Sequence[str] | None, types: TargetTypes = "auto"
) -> Facts:
    """Look at the data once; ``types`` are those of the targets, as a selector took them."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    targets = read_targets(Y, types)
    n_rows, n_features = int(X.shape[0]), int(X.shape[1])
    require_same_rows(n_rows, targets.n_rows)
    features = column_names(X, names, n_features, "feature")
    labels = column_names(Y, label_names, targets.n_columns, "label")
    description = None
    if not targets.is_numeric.any() and int(targets.classes.levels.max()) <= 2:
        # A frame may hold text: its cells are not counted.
        values = sparse.csr_array((n_rows, n_features)) if is_frame(X) else X
        binary = targets.classes.to_dense().astype(np.uint8, copy=False)
        kinds = ("numeric",) * n_features
        description = describe(Dataset(values, binary, features, labels, kinds))  # type: ignore[arg-type]
    return Facts(n_rows, features, labels, targets, description, not is_frame(X))


def data_section(data: Facts) -> Html:
    """The statistics that papers print."""
    rows: list[tuple[object, object]] = list(data.rows())
    description = data.description
    if description is not None:
        rows += [
            ("labels in a row, on average (cardinality)", f"{description.cardinality:.3f}"),
            ("as a fraction of all labels (density)", f"{description.density:.4f}"),
            ("distinct labelsets", f"{description.n_distinct:,}"),
            ("mean imbalance (MeanIR)", f"{description.mean_imbalance:.2f}"),
            ("variation of the imbalance (CVIR)", f"{description.imbalance_variation:.3f}"),
            ("rare labels among frequent ones (SCUMBLE)", f"{description.scumble:.3f}"),
        ]
        rows += [("nonzero cells of X", f"{100 * description.x_density:.1f} %")] if data.has_density else []
    return facts("Statistics of the data", rows)


def label_table(data: Facts, selection: Selection) -> Html:
    """Every label: its frequency, and the selected feature that is most informative about it."""
    information, columns = selection.information(), selection.columns
    rows = []
    for label, name in enumerate(data.label_names):
        row: list[object] = [name]
        if data.description is not None:
            share = float(np.mean(data.targets.classes.column(label) > 0))
            row += [numeric(share * data.n_rows, digits=0), numeric(100 * share, digits=1)]
            row.append(numeric(float(data.description.imbalance[label]), digits=2))
        else:
            real = bool(data.targets.is_numeric[label])
            row.append("numeric" if real else f"{int(data.targets.classes.levels[label])} classes")
        if columns:
            best = int(information[:, label].argmax())
            row += [data.names[columns[best]], numeric(float(information[best, label]))]
        rows.append(row)
    heads = ["label", ">rows", ">percent", ">imbalance"] if data.description is not None else ["target", "kind"]
    heads += ["most informative feature", ">nats"] if columns else []
    caption = "Labels" if data.description is not None else "Targets"
    return folded(table(caption, heads, rows), f"All {len(rows):,} {caption.lower()}", len(rows) > FOLDED)


MAPPED, MAPPED_LABELS = 40, 30  # of the map: the first features, and the labels about which they are most informative
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


def selection_figures(
    selector: BaseSieve, selection: Selection, data: Facts, steps: dict[str, list[float]], stability: Stability | None
) -> Html:
    """Ranking or shared features, map, network, curve and stability."""
    pieces = [
        *(_shared(selector, data) if np.ndim(selector.selected_) == 2 else _ranked(selector, data, steps)),
        *_map(selector, selection, data),
        *_network(selector, data),
        *_curve(selector),
        *_stability(stability, data),
    ]
    return tag("div", *pieces, class_="figures") if pieces else paragraph("Nothing was selected, so there is no figure.")


def _shared(selector: BaseSieve, data: Facts) -> list[Html]:
    counts = selector.label_support_.sum(axis=0)
    if not counts.any():
        return []
    return [
        figure(
            partial(shared_features, selector, names=data.names, label_names=data.label_names),
            name="figure-shared",
            title="Which labels share features.",
            description=f"{(counts > 1).sum()} features belong to several labels, {(counts == 1).sum()} belong to one label.",
            caption="A dot is a selected feature, the larger the earlier; at the right, the number of labels that selected it.",
        )
    ]


def _ranked(selector: BaseSieve, data: Facts, steps: dict[str, list[float]]) -> list[Html]:
    if not len(selector.selected_):
        return []
    scores = figure(
        partial(ranking, selector, names=data.names),
        name="figure-ranking",
        title="Scores and their components.",
        description="A bar for every selected feature in order of selection; the table of selected features has the numbers.",
        caption="Score of each feature in the step in which it was selected, split into components.",
    )
    if not steps:
        return [scores]
    split = figure(
        partial(ranking, selector, names=data.names, components=steps),
        name="figure-steps",
        title="Relevance, redundancy and complementarity of every step.",
        description="Three bars for every selected feature, in order of selection.",
        caption="The same components for every criterion, averaged over the features selected before; the sum is added.",
    )
    return [scores, split]


def _map(selector: BaseSieve, selection: Selection, data: Facts) -> list[Html]:
    columns = _mapped(selector)
    if not columns:
        return []
    index = {column: row for row, column in enumerate(selection.columns)}
    shown = selection.information()[[index[column] for column in columns]]
    n_labels = shown.shape[1]
    labels = np.sort(np.argsort(-shown.sum(axis=0), kind="stable")[:MAPPED_LABELS])
    shown = shown[:, labels]
    row, label = (int(axis) for axis in np.unravel_index(int(shown.argmax()), shown.shape))
    most = f"Most: {data.names[columns[row]]} about {data.label_names[labels[label]]}, {shown[row, label]:.3f} nats."
    names = [data.label_names[label] for label in labels]
    extent = f" The first {MAPPED} features." if len(index) > MAPPED else ""
    if n_labels > MAPPED_LABELS:
        extent += f" {MAPPED_LABELS} of {n_labels:,} labels, those with the most information."
    return [
        figure(
            partial(information_map, shown, features=[data.names[column] for column in columns], labels=names),
            name="figure-map",
            title="Information of features about labels.",
            description=most,
            caption=f"Mutual information; similar features and similar labels are neighbors.{extent} {most}",
        )
    ]


def _mapped(selector: BaseSieve) -> list[int]:
    """Columns for the map: in order of selection, or those that most labels selected."""
    if np.ndim(selector.selected_) == 1:
        return [int(column) for column in selector.selected_[:MAPPED]]
    counts = selector.label_support_.sum(axis=0)
    return [int(column) for column in np.argsort(-counts, kind="stable")[:MAPPED] if counts[column]]


def _network(selector: BaseSieve, data: Facts) -> list[Html]:
    network = getattr(selector, "network_", None)
    if network is None:
        return []
    lists = [f"{data.label_names[label]} after {_parents(network.parents[label], data)}" for label in network.order]
    return [
        figure(
            partial(network.plot, names=data.label_names),
            name="figure-network",
            title="The label network.",
            description="; ".join(lists),
            caption="In chain order from top to bottom; arcs lead from parents to children, strong ones from first parents.",
        )
    ]


def _parents(parents: tuple[int, ...], data: Facts) -> str:
    return " and ".join(data.label_names[parent] for parent in parents) or "nothing"


def _curve(selector: BaseSieve) -> list[Html]:
    rule = getattr(selector, "stopping_", None)
    if rule is None or not hasattr(rule, "kept_size_"):
        return []
    return [
        figure(
            partial(stopping_curve, rule),
            name="figure-stopping",
            title="Loss against the number of features." if rule.lower_is_better_ else "Score against the number of features.",
            description=rule.reason_,
            caption=f"From cross-validation with the selection inside. {rule.reason_}",
        )
    ]


def _stability(stability: Stability | None, data: Facts) -> list[Html]:
    if stability is None:
        return []
    often = int(np.count_nonzero(stability.frequency >= 0.9))
    words = f"{often} features were selected in at least 90 % of {len(stability.masks)} resamples."
    return [
        figure(
            partial(selection_stability, stability, names=data.names, n_shown=20),
            name="figure-stability",
            title="How often features are selected on resampled rows.",
            description=words,
            caption=f"{words} The dotted line is the expectation for random features.",
        )
    ]


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
