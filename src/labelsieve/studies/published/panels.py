"""Figures of published studies: a panel for each data set and measure, with one legend."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labelsieve.report.figures import curves
from labelsieve.report.figures.style import FONT, WIDTH, pyplot
from labelsieve.studies.results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {
    "hamming_loss": "Hamming loss",
    "ranking_loss": "ranking loss",
    "coverage": "coverage",
    "macro_f1": "macro-averaged F1",
    "rrmse": "RRMSE",
}
_HEIGHT = 1.75  # inches of a row of panels
_LEGEND = 0.5


def curve_panels(
    results: StudyResults, panels: Sequence[Sequence[tuple[str, str]]], methods: Mapping[str, str], title: str = ""
) -> "Figure | None":
    """Rows of panels, each a data set and a measure, with a curve for every method that has results there.

    ``methods`` are names of the study and how the legend calls them. Rows of which nothing was run are left out; None when
    nothing is left.
    """
    rows = [row for row in panels if any(dataset in results.datasets for dataset, _ in row)]
    if not rows:
        return None
    height = _HEIGHT * len(rows) + _LEGEND
    figure: Figure
    figure, axes = pyplot().subplots(
        len(rows), max(map(len, rows)), figsize=(WIDTH, height), layout="constrained", squeeze=False
    )
    lines: dict[str, Any] = {}
    for row, own in zip(rows, axes, strict=True):
        for ax in own[len(row) :]:
            ax.set_axis_off()
        for (dataset, measure), ax in zip(row, own, strict=False):
            if dataset not in results.datasets:
                ax.set_axis_off()
                continue
            found = {label: results.curve(dataset, name, measure) for name, label in methods.items()}
            found = {label: one for label, one in found.items() if one[1].size}
            sizes = next(iter(found.values()))[0]
            curves(sizes, {label: table for label, (_, table) in found.items()}, legend=False, ax=ax, ylabel=NAMES[measure])
            lines.update(zip(found, ax.lines, strict=True))
            ax.set_title(dataset, fontsize=FONT)
            if row is not rows[-1]:
                ax.set_xlabel("")
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="outside lower center",
        ncols=min(len(lines), 4),
        fontsize=FONT,
        frameon=False,
        handlelength=3.2,
    )
    if title:
        figure.suptitle(title, fontsize=FONT + 1)
    return figure
