"""Curves over the number of features: where one method is worse than another, and figures of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.metrics import MEASURES
from labelsieve.report.figures import critical_difference_diagram, curves
from labelsieve.report.figures.style import FONT, WIDTH, pyplot
from labelsieve.statistics import Comparison, confidence_band
from labelsieve.studies import StudyResults
from replications.replication import ResultTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# A method is worse than another at a number of features if its 95 % interval lies above the other's, as a reader of a figure
# sees it; if the interval of their difference on the same splits lies above 0; or if its mean is higher, by any amount.
RULES = INTERVALS, PAIRED, MEANS = ("intervals", "paired differences", "means")
SAME = 1e-12  # smaller differences of losses are rounding: both methods selected the same features
# The share of the axis on which a claim about all numbers of features must hold; ALMOST is for "almost all".
ALL_BUT = 0.95
ALMOST = 0.9
NAMES = {
    "hamming_loss": "Hamming loss",
    "ranking_loss": "ranking loss",
    "coverage": "coverage",
    "macro_f1": "macro-averaged F1",
    "rrmse": "RRMSE",
}
ROW_HEIGHT = COLUMN_WIDTH = 1.9  # inches


@dataclass(frozen=True, eq=False)
class CurveDifference:
    """The loss of a method minus that of another on the same splits, by numbers of features; negative where it is better.

    ``differences`` has a row for each split; ``apart`` marks numbers where the 95 % intervals of the two do not overlap. Shares
    and means refer to the axis of a figure: a number has as weight its distance to its neighbors, ``lengths``.
    """

    sizes: NDArray[np.intp]
    differences: NDArray[np.float64]
    apart: NDArray[np.bool_]
    lengths: NDArray[np.float64]
    loss: float

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Return the share of the axis that a mask of the numbers covers."""
        return float(np.average(mask, weights=self.lengths))

    @property
    def mean(self) -> float:
        """Mean difference over the axis and the splits."""
        return float(self._of_splits.mean())

    @property
    def size(self) -> float:
        """Mean absolute difference over the axis."""
        return float(np.average(np.abs(self.differences.mean(axis=0)), weights=self.lengths))

    def is_worse(self, rule: str = INTERVALS) -> NDArray[np.bool_]:
        """Return a mask of the numbers where the method is worse, by one of the :data:`RULES`."""
        worse: NDArray[np.bool_] = self.differences.mean(axis=0) > SAME
        if rule == INTERVALS:
            worse &= self.apart
        if rule == PAIRED and len(self.differences) > 1:
            worse = confidence_band(self.differences).low > SAME
        return worse

    @property
    def is_significant(self) -> bool:
        """Whether the 95 % interval of the mean over the splits excludes 0."""
        if len(self.differences) < 2:
            return False
        band = confidence_band(self._of_splits)
        return bool(band.low > 0 or band.high < 0)

    @property
    def _of_splits(self) -> NDArray[np.float64]:
        return np.average(self.differences, axis=1, weights=self.lengths)

    def where(self, mask: NDArray[np.bool_]) -> "CurveDifference":
        """Return the difference at some of the numbers."""
        return CurveDifference(self.sizes[mask], self.differences[:, mask], self.apart[mask], self.lengths[mask], self.loss)


def curve_difference(results: StudyResults, dataset: str, measure: str, method: str, other: str) -> CurveDifference | None:
    """Compare two methods on a data set; None unless both have results for the same numbers and splits."""
    if dataset not in results.datasets or measure not in results.measures:
        return None
    (sizes, first), (others, second) = (results.curve(dataset, name, measure) for name in (method, other))
    if not first.size or first.shape != second.shape or not np.array_equal(sizes, others):
        return None
    sign = 1.0 if MEASURES[measure].lower_is_better else -1.0
    apart = np.zeros(len(sizes), dtype=bool)
    if len(first) > 1:
        bands = [confidence_band(table) for table in (first, second)]
        apart = (bands[0].low > bands[1].high) | (bands[1].low > bands[0].high)
    lengths = np.gradient(sizes.astype(float)) if len(sizes) > 1 else np.ones(1)
    return CurveDifference(sizes, sign * (first - second), apart, lengths, float(np.abs(second).mean()))


def share_worse(differences: Sequence[CurveDifference], rule: str = INTERVALS) -> float:
    """Return the share of the axis on which a method is worse than at least one of the others."""
    return differences[0].share(np.logical_or.reduce([difference.is_worse(rule) for difference in differences]))


def curve_table(
    results: StudyResults, title: str, dataset: str, measure: str, methods: "Mapping[str, str]", sizes: Sequence[int]
) -> ResultTable | None:
    """Return means at some numbers of features, with half widths of the 95 % intervals in units of the last digit."""
    if dataset not in results.datasets:
        return None
    rows = []
    shown = [size for size in sizes if size <= max(results.curve(dataset, next(iter(methods)), measure)[0], default=0)]
    for name, label in methods.items():
        sizes_run, table = results.curve(dataset, name, measure)
        rows.append((label, *(_cell(table[:, sizes_run == size]) for size in shown)))
    return ResultTable(f"{title}, {dataset}, {measure}", ("features", *(f">{size}" for size in shown)), rows)


def _cell(values: NDArray[np.float64]) -> str:
    if values.shape[1] != 1 or not len(values):
        return "-"
    column = values[:, 0]
    if len(column) < 2:
        return f"{column.mean():.4f}"
    band = confidence_band(column)
    return mean_with_interval(float(band.mean), float(band.high - band.mean))


def mean_with_interval(mean: float, half_width: float | None) -> str:
    """Return a mean with the half width of its interval in units of the last digit.

    >>> mean_with_interval(0.2135, 0.0065)
    '0.2135(65)'
    """
    return f"{mean:.4f}" + ("" if half_width is None else f"({round(half_width * 1e4)})")


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


def curve_panel(ax: "Axes", x: Sequence[float], values: Mapping[str, Any], title: str, xlabel: str = "") -> None:
    """Draw means over the folds as curves, without bands: five folds of one data set say little about spread."""
    means = {name: np.atleast_2d(np.asarray(table, dtype=np.float64)).mean(axis=0) for name, table in values.items()}
    curves(x, means, ax=ax, legend=False, xlabel=xlabel)
    ax.set_title(title, fontsize=FONT)


def diagram_panels(comparisons: Mapping[str, Comparison]) -> "Figure":
    """Draw four critical difference diagrams in two rows, by title."""
    figure, axes = panels(2, 2, height=2.0)
    for ax, (title, comparison) in zip(axes.ravel(), comparisons.items(), strict=True):
        ax.set_title(title, fontsize=FONT)
        critical_difference_diagram(comparison, ax=ax)
    return figure


def panels(n_rows: int, n_columns: int, *, height: float = ROW_HEIGHT) -> "tuple[Figure, Any]":
    """Make a figure and its axes, shape ``(n_rows, n_columns)``."""
    size = (max(WIDTH, COLUMN_WIDTH * n_columns), height * n_rows)
    figure, axes = pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    return figure, axes


def common_legend(figure: "Figure", ax: "Axes", names: Iterable[str]) -> None:
    """Draw one legend below all axes. A common label would overlap with it."""
    names = list(names)
    figure.legend(ax.lines[: len(names)], names, loc="outside lower center", ncols=len(names), fontsize=FONT, frameon=False)
