"""The pictures of a selection, as far as it has them."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.report.data_section import Facts
from labelsieve.report.figures import information_map, ranking, selection_stability, shared_features, stopping_curve
from labelsieve.report.html import Html, paragraph, tag
from labelsieve.report.svg import figure
from labelsieve.statistics import Stability

MAPPED, MAPPED_LABELS = 40, 30  # of the map: the first features, and the labels that they tell most about


def selection_figures(
    selector: Any, data: Facts, told: NDArray[np.float64], parts: dict[str, Any] | None, stability: Stability | None
) -> Html:
    """Ranking or shared features, map, network, curve and stability."""
    pieces = [
        *(_shared(selector, data) if np.ndim(selector.selected_) == 2 else _ranked(selector, data, parts)),
        *_map(selector, data, told),
        *_network(selector, data),
        *_curve(selector),
        *_stability(stability, data),
    ]
    return tag("div", *pieces, class_="figures") if pieces else paragraph("Nothing was chosen, so there is no figure_function.")


def _shared(selector: Any, data: Facts) -> list[Html]:
    counts = selector.label_support_.sum(axis=0)
    if not counts.any():
        return []
    return [
        figure(
            partial(shared_features, selector, names=data.names, label_names=data.label_names),
            name="figure-shared",
            title="Which labels share features.",
            description=f"{(counts > 1).sum()} features are shared by several labels, {(counts == 1).sum()} belong to one.",
            caption="A dot is a choice, the larger the earlier; at the right, how many labels chose the feature.",
        )
    ]


def _ranked(selector: Any, data: Facts, parts: dict[str, Any] | None) -> list[Html]:
    if not len(selector.selected_):
        return []
    scores = figure(
        partial(ranking, selector, names=data.names),
        name="figure-ranking",
        title="Scores and their parts.",
        description="A bar for every chosen feature in order of choice; the numbers are in the table of chosen features.",
        caption="Scores when each feature was chosen, split as the formula of the criterion allows.",
    )
    if parts is None:
        return [scores]
    steps = figure(
        partial(ranking, selector, names=data.names, parts=parts),
        name="figure-steps",
        title="What every pick told, repeated and added.",
        description="Relevance, redundancy and complementarity of every pick, in order of choice.",
        caption="The same split for every criterion, averaged over the features chosen before.",
    )
    return [scores, steps]


def _map(selector: Any, data: Facts, told: NDArray[np.float64]) -> list[Html]:
    columns = _mapped(selector)
    if not columns:
        return []
    places = {int(column): place for place, column in enumerate(np.flatnonzero(selector.support_))}
    shown = told[[places[column] for column in columns]]
    labels = np.sort(np.argsort(-shown.sum(axis=0), kind="stable")[:MAPPED_LABELS])
    shown = shown[:, labels]
    row, place = (int(place) for place in np.unravel_index(int(shown.argmax()), shown.shape))
    most = f"Most: {data.names[columns[row]]} about {data.label_names[labels[place]]}, {shown[row, place]:.3f} nats."
    names = [data.label_names[label] for label in labels]
    some = f" The first {MAPPED} features." if len(places) > MAPPED else ""
    if told.shape[1] > MAPPED_LABELS:
        some += f" {MAPPED_LABELS} of {told.shape[1]:,} labels, those about which they tell most."
    return [
        figure(
            partial(information_map, shown, features=[data.names[one] for one in columns], labels=names),
            name="figure-map",
            title="How much features tell about labels.",
            description=most,
            caption=f"Mutual information; features and labels that are alike are neighbors.{some} {most}",
        )
    ]


def _mapped(selector: Any) -> list[int]:
    """Columns for the map: in order of choice, or those that most labels chose."""
    if np.ndim(selector.selected_) == 1:
        return [int(column) for column in selector.selected_[:MAPPED]]
    counts = selector.label_support_.sum(axis=0)
    return [int(column) for column in np.argsort(-counts, kind="stable")[:MAPPED] if counts[column]]


def _network(selector: Any, data: Facts) -> list[Html]:
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


def _curve(selector: Any) -> list[Html]:
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
            caption=f"{words} The dotted line is chance.",
        )
    ]
