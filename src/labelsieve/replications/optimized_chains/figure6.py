"""Figure 6 of Sun and Kudo (2017): a chain in the order of the file, in a chosen order, and five in random orders."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.labelspace import NetworkRule
from labelsieve.replications.claims import Claim, claims_section
from labelsieve.replications.figure_panels import panels
from labelsieve.replications.optimized_chains import setup as sun_kudo
from labelsieve.replications.optimized_chains.setup import FIGURE_SETS, MEASURES, PAPER, WORDS, svm
from labelsieve.replications.replication import Replication, Results, Section, selected_sets
from labelsieve.report.figures.figure_style import COLORS, FONT
from labelsieve.studies.protocol.protocol import ALL, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Sun and Kudo 2017, figure 6: chain orders"
PART = "orders"
CANONICAL, CHOSEN = "oCC", "oCC cos"
CHOICES = {
    **{name: sun_kudo.CHOICES[name] for name in ("folds", "linear SVM")},
    "data sets": "The names are in the figure alone; those of figure 7 are taken.",
    "k = q, M = d": "All labels before a label are its parents and all features are used, so oCC is a classifier chain, and is "
    "run as one.",
    "EoCC": "Members learn from 75 % of the rows and 50 % of the features, as in the paper's other experiments.",
}


def protocols(
    *, full: bool = False, sets: Sequence[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> dict[str, Protocol]:
    """``full`` is four sets, otherwise scene.

    >>> protocols(full=True)["orders"]
    Protocol: 4 data sets, 1 method (all), 1 number of features, 3 classifiers, 4 measures, FoldsByData
    """
    names = selected_sets(FIGURE_SETS, sets, FIGURE_SETS if full else FIGURE_SETS[:1])
    chains = [(CANONICAL, chain("given")), (CHOSEN, chain("sun-kudo")), ("EoCC5", random_chains(5))]
    return {PART: sun_kudo.protocol(names, data_home, [ALL], chains)}


def chain(order: str) -> ClassifierChain:
    """OCC with all parents and all features."""
    return ClassifierChain(svm(), network=NetworkRule("preceding", order=order))


def random_chains(n_chains: int) -> ChainEnsemble:
    """Some of them in random orders, that vote."""
    return ChainEnsemble(chain("random"), n_chains=n_chains, random_state=0)


def means(results: Results, name: str, measure: str) -> dict[str, float]:
    """Mean over the folds by method."""
    part = results[PART]
    return {one: float(part.curve(name, ALL, measure, one)[1].mean()) for one in (CANONICAL, CHOSEN, "EoCC5")}


def sections(results: Results) -> list[Section]:
    """All means, and the claims."""
    rows, better, near = [], {}, {}
    for name in results[PART].datasets:
        for measure in MEASURES:
            found = means(results, name, measure)
            rows.append((name, WORDS[measure], *(f"{one:.3f}" for one in found.values())))
            better[name, measure] = found[CHOSEN] - found[CANONICAL]
            near[name, measure] = found[CHOSEN] - found["EoCC5"]
    gains = list(better.values())
    claims = [
        Claim(
            "a chosen order is better than that of the file (on average over sets and measures)",
            float(np.mean(gains)) > 0,
            f"{sum(one > 0 for one in gains)} of {len(gains)} better, by {np.mean(gains):+.4f} on average",
        ),
        Claim(
            "the gain is comparable with that of an ensemble (within 0.02) in many cases",
            2 * sum(abs(one) <= 0.02 for one in near.values()) >= len(near),
            f"within 0.02 of EoCC5 in {sum(abs(one) <= 0.02 for one in near.values())} of {len(near)}",
        ),
    ]
    columns = ("data set", "measure", f">{CANONICAL}", f">{CHOSEN}", ">EoCC5")
    return [Section("Means over five folds", columns, rows), claims_section(claims)]


def figures(results: Results) -> "dict[str, Figure]":
    """Bars, each measure divided by its minimum over the three."""
    names = results[PART].datasets
    figure, axes = panels(1, len(names), height=2.4)
    for ax, name in zip(axes[0], names, strict=True):
        for place, measure in enumerate(MEASURES):
            found = means(results, name, measure)
            _bars(ax, place, [one / min(found.values()) for one in found.values()])
        ax.set_title(name, fontsize=FONT)
        ax.set_xticks(range(len(MEASURES)), ["exact\nmatch", "Hamming\nscore", "macro\nF1", "micro\nF1"], fontsize=FONT - 1)
        ax.tick_params(axis="y", labelsize=FONT)
        ax.set_ylim(bottom=0.98)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("value / minimum", fontsize=FONT)
    names_of = (CANONICAL, CHOSEN, "EoCC5")
    figure.legend(axes[0, 0].patches[:3], names_of, loc="outside lower center", ncols=3, fontsize=FONT, frameon=False)
    return {"figure6": figure}


def _bars(ax: Any, place: int, heights: list[float]) -> None:
    for shift, (height, color) in enumerate(zip(heights, COLORS, strict=False)):
        ax.bar(place + 0.27 * (shift - 1), height - 0.98, 0.25, bottom=0.98, color=color)


STUDY = Replication("occ-figure6", TITLE, PAPER, CHOICES, protocols, sections, figures)
