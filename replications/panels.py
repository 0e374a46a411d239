"""Figures of several axes with one legend: curves over the number of features, for each data set and measure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.report.figures import critical_difference_diagram, curves
from labelsieve.report.figures.style import FONT, WIDTH, pyplot
from labelsieve.statistics import Comparison
from labelsieve.studies.results import StudyResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_HEIGHT = COLUMN_WIDTH = 1.9  # inches
NAMES = {
    "hamming_loss": "Hamming loss",
    "ranking_loss": "ranking loss",
    "coverage": "coverage",
    "macro_f1": "macro-averaged F1",
    "rrmse": "RRMSE",
}


def panels(n_rows: int, n_columns: int, *, height: float = ROW_HEIGHT) -> "tuple[Figure, Any]":
    """Make a figure and its axes, shape ``(n_rows, n_columns)``."""
    size = (max(WIDTH, COLUMN_WIDTH * n_columns), height * n_rows)
    figure, axes = pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    return figure, axes


def curve_panel(ax: "Axes", x: Sequence[float], values: Mapping[str, Any], title: str, xlabel: str = "") -> None:
    """Draw means over the folds as curves, without bands: five folds of one data set say little about spread."""
    means = {name: np.atleast_2d(np.asarray(table, dtype=np.float64)).mean(axis=0) for name, table in values.items()}
    curves(x, means, ax=ax, legend=False, xlabel=xlabel)
    ax.set_title(title, fontsize=FONT)


def measure_panels(
    measures: Mapping[str, str],
    datasets: Sequence[str],
    curves_of: Callable[[str, str], tuple[Sequence[float], Mapping[str, Any]]],
    xlabel: Callable[[str], str],
) -> "Figure":
    """Draw a row for each measure and a column for each data set, as ``curves_of(dataset, measure)`` gives them."""
    figure, axes = panels(len(measures), len(datasets))
    names: Iterable[str] = ()
    for row, (measure, words) in enumerate(measures.items()):
        for ax, name in zip(axes[row], datasets, strict=True):
            x, values = curves_of(name, measure)
            curve_panel(ax, x, values, name, xlabel(name) if row == len(measures) - 1 else "")
            names = values
        axes[row, 0].set_ylabel(words, fontsize=8)
    common_legend(figure, axes[0, 0], names)
    return figure


def common_legend(figure: "Figure", ax: "Axes", names: Iterable[str]) -> None:
    """Draw one legend below all axes. A common label would overlap with it."""
    names = list(names)
    figure.legend(ax.lines[: len(names)], names, loc="outside lower center", ncols=len(names), fontsize=FONT, frameon=False)


def results_panels(
    results: StudyResults, wanted: Sequence[Sequence[tuple[str, str]]], methods: Mapping[str, str]
) -> "Figure | None":
    """Draw rows of panels, each a data set and a measure, with a curve and its 95 % band for every method.

    ``methods`` maps names of the study to labels of the legend. Panels without results of all methods are left out; None when
    no panel is left.
    """

    def is_run(dataset: str, measure: str) -> bool:
        return dataset in results.datasets and all(results.curve(dataset, name, measure)[1].size for name in methods)

    rows = [row for row in wanted if any(is_run(*panel) for panel in row)]
    if not rows:
        return None
    figure, axes = panels(len(rows), max(map(len, rows)))
    drawn = []
    for row, row_axes in zip(rows, axes, strict=True):
        for column, ax in enumerate(row_axes):
            if column >= len(row) or not is_run(*row[column]):
                ax.set_axis_off()
                continue
            dataset, measure = row[column]
            drawn_curves = {label: results.curve(dataset, name, measure) for name, label in methods.items()}
            sizes, _ = next(iter(drawn_curves.values()))
            values = {label: table for label, (_, table) in drawn_curves.items()}
            xlabel = "number of features" if row is rows[-1] else ""
            curves(sizes, values, legend=False, ax=ax, ylabel=NAMES[measure], xlabel=xlabel)
            ax.set_title(dataset, fontsize=FONT)
            drawn.append(ax)
    common_legend(figure, drawn[0], methods.values())
    return figure


def diagram_panels(comparisons: Mapping[str, Comparison]) -> "Figure":
    """Draw four critical difference diagrams in two rows, by title."""
    figure, axes = panels(2, 2, height=2.0)
    for ax, (title, comparison) in zip(axes.ravel(), comparisons.items(), strict=True):
        ax.set_title(title, fontsize=FONT)
        critical_difference_diagram(comparison, ax=ax)
    return figure
