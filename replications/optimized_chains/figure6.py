"""Figure 6 of Sun and Kudo (2017): a chain in the order of the file, in an optimized order, and five in random orders."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.labelspace import NetworkRule
from labelsieve.report.figures.style import COLORS, FONT
from labelsieve.studies import Protocol, StudyResults
from labelsieve.studies.protocol import ALL
from replications.curves import panels
from replications.optimized_chains.common import (
    FIGURE_SETS,
    MEASURES,
    TIES,
    WORDS,
    Variant,
    in_readings,
    protocol,
    readings,
    svm,
)
from replications.replication import Claim, DataHome, Figures, Replication, Results, ResultTable, claims_table, selected_sets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PART = "orders"
PROGRAM_FACTOR = 0.5  # levels of the first component, by which the authors' program orders labels, in standard deviations
METHODS = CANONICAL, OPTIMIZED, ENSEMBLE = "oCC", "oCC cos", "EoCC5"


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, four sets, as written and as programmed; otherwise scene as written.

    >>> protocols(full=True)["orders"]
    Protocol: 4 data sets, 1 method (all), 1 number of features, 3 classifiers, 4 measures, FoldsByData
    """
    names = selected_sets(FIGURE_SETS, sets, FIGURE_SETS if full else FIGURE_SETS[:1])

    def orders(variant: Variant) -> Protocol:
        chains = [
            (CANONICAL, chain("given")),
            (OPTIMIZED, chain("sun-kudo", variant)),
            (ENSEMBLE, random_chains(5, variant)),
        ]
        return protocol(names, data_home, [ALL], chains)

    return in_readings(PART, orders, full=full)


def chain(order: str, variant: Variant = "paper") -> ClassifierChain:
    """Return oCC with all parents and all features."""
    factor = 1.0 if variant == "paper" else PROGRAM_FACTOR
    return ClassifierChain(svm(), network=NetworkRule("preceding", order=order, factor=factor))


def random_chains(n_chains: int, variant: Variant = "paper") -> ChainEnsemble:
    """Return an ensemble of chains in random orders."""
    return ChainEnsemble(chain("random", variant), n_chains=n_chains, sampling=variant, ties=TIES[variant], random_state=0)


def means(part: StudyResults, name: str, measure: str) -> dict[str, float]:
    """Return means over the folds by method."""
    return {method: float(part.curve(name, ALL, measure, method)[1].mean()) for method in METHODS}


def compared_sets(part: StudyResults) -> list[str]:
    """Return the data sets for which all three methods are finished."""
    return [name for name in part.datasets if all(part.curve(name, ALL, MEASURES[0], method)[1].size for method in METHODS)]


def result_tables(results: Results) -> list[ResultTable]:
    """Return all means, and the claims, for each reading."""
    named = readings(PART, results)
    return [table for reading, part in named.items() for table in _tables(results[part], reading, part)]


def _tables(part: StudyResults, reading: str, name_of_part: str) -> list[ResultTable]:
    rows, better, near = [], {}, {}
    for name in compared_sets(part):
        for measure in MEASURES:
            by_method = means(part, name, measure)
            rows.append((name, WORDS[measure], *(f"{value:.3f}" for value in by_method.values())))
            better[name, measure] = by_method[OPTIMIZED] - by_method[CANONICAL]
            near[name, measure] = by_method[OPTIMIZED] - by_method[ENSEMBLE]
    gains, n_near = list(better.values()), sum(abs(gap) <= 0.02 for gap in near.values())
    claims = [
        Claim(
            "an optimized order is better than that of the file (on average over sets and measures)",
            float(np.mean(gains)) > 0,
            f"{sum(gain > 0 for gain in gains)} of {len(gains)} better, by {np.mean(gains):+.4f} on average",
        ),
        Claim(
            "the gain is comparable with that of an ensemble (within 0.02) in many cases",
            2 * n_near >= len(near),
            f"within 0.02 of EoCC5 in {n_near} of {len(near)}",
        ),
    ]
    columns = ("data set", "measure", *(f">{method}" for method in METHODS))
    return [ResultTable(f"Means over five folds, {reading}", columns, rows), claims_table(claims, reading, [name_of_part])]


def figures(results: Results) -> Figures:
    """Draw bars, each measure divided by its minimum over the three methods, for each reading."""
    drawn = {f"figure6{part.removeprefix(PART)}": results[part] for part in readings(PART, results).values()}
    return {name: _bar_charts(part) for name, part in drawn.items() if compared_sets(part)}


def _bar_charts(part: StudyResults) -> "Figure":
    names = compared_sets(part)
    figure, axes = panels(1, len(names), height=2.4)
    for ax, name in zip(axes[0], names, strict=True):
        for position, measure in enumerate(MEASURES):
            by_method = means(part, name, measure)
            _bars(ax, position, [value / min(by_method.values()) for value in by_method.values()])
        ax.set_title(name, fontsize=FONT)
        ax.set_xticks(range(len(MEASURES)), ["exact\nmatch", "Hamming\nscore", "macro\nF1", "micro\nF1"], fontsize=FONT - 1)
        ax.tick_params(axis="y", labelsize=FONT)
        ax.set_ylim(bottom=0.98)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("value / minimum", fontsize=FONT)
    figure.legend(axes[0, 0].patches[:3], METHODS, loc="outside lower center", ncols=3, fontsize=FONT, frameon=False)
    return figure


def _bars(ax: "Axes", position: int, heights: list[float]) -> None:
    for shift, (height, color) in enumerate(zip(heights, COLORS, strict=False)):
        ax.bar(position + 0.27 * (shift - 1), height - 0.98, 0.25, bottom=0.98, color=color)


REPLICATION = Replication.of("optimized_chains", "occ-figure6", protocols, result_tables, figures)
