"""Curves of a study's results: a panel for each data set and measure, with bands, and one legend for all."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from labelsieve.replications.figure_panels import common_legend, panels
from labelsieve.report.figures import curves
from labelsieve.report.figures.figure_style import FONT
from labelsieve.studies.results.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {
    "hamming_loss": "Hamming loss",
    "ranking_loss": "ranking loss",
    "coverage": "coverage",
    "macro_f1": "macro-averaged F1",
    "rrmse": "RRMSE",
}


def results_panels(
    results: StudyResults, wanted: Sequence[Sequence[tuple[str, str]]], methods: Mapping[str, str]
) -> "Figure | None":
    """Rows of panels, each a data set and a measure, with a curve and its 95 % band for every method.

    ``methods`` are names of the study and how the legend calls them. What was not run with all of them is left out; None when
    nothing is left.
    """

    def is_run(dataset: str, measure: str) -> bool:
        return dataset in results.datasets and all(results.curve(dataset, name, measure)[1].size for name in methods)

    rows = [row for row in wanted if any(is_run(*one) for one in row)]
    if not rows:
        return None
    figure: Figure
    figure, axes = panels(len(rows), max(map(len, rows)))
    drawn = []
    for row, own in zip(rows, axes, strict=True):
        for place, ax in enumerate(own):
            if place >= len(row) or not is_run(*row[place]):
                ax.set_axis_off()
                continue
            dataset, measure = row[place]
            found = {label: results.curve(dataset, name, measure) for name, label in methods.items()}
            sizes, _ = next(iter(found.values()))
            values = {label: table for label, (_, table) in found.items()}
            lowest = "number of features" if row is rows[-1] else ""
            curves(sizes, values, legend=False, ax=ax, ylabel=NAMES[measure], xlabel=lowest)
            ax.set_title(dataset, fontsize=FONT)
            drawn.append(ax)
    common_legend(figure, drawn[0], methods.values())
    return figure
