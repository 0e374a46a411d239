"""Curves of a measure over the number of features: of a study, of an automatic choice, and of a stopping rule."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import (
    COLORS,
    COLUMN,
    FONT,
    GRAY,
    MARKERS,
    STYLES,
    WIDTH,
    color,
    ink,
    name_axes,
    new_axes,
    pyplot,
    short,
    short_names,
    size_in_inches,
    size_ticks,
    text_width,
)
from labelsieve.report.text import printable
from labelsieve.statistics import confidence_band
from labelsieve.statistics.tests import Floats, read_floats

if TYPE_CHECKING:
    from labelsieve.selectors.auto.sieve import AutoSieve
    from labelsieve.stopping import CrossValidated

CONTROLS = ("all features", "no features")  # of an automatic choice
_N_MARKERS = 8  # markers along a curve
_MAX_INSIDE = 4  # more curves than this have their legend to the right of the axes
_UNDER = 0.36  # inches of the ticks and the label of the lower axis, above a legend below


def curves(
    n_features: ArrayLike,
    values: Mapping[str, Any],
    *,
    ylabel: str = "",
    title: str = "",
    xlabel: str = "number of features",
    confidence: float = 0.95,
    test_share: float | None = None,
    legend: bool | Literal["below"] = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a measure over the number of features: the mean of repetitions, with its confidence band.

    Curves differ in color, dashes and markers, so that they are distinct in gray print too; the legend lists them in the order
    of their right ends, from top to bottom.

    Parameters
    ----------
    n_features : array-like of shape (n_points,)
        Numbers of features.
    values : mapping of str to array-like of shape (n_repetitions, n_points) or (n_points,)
        A curve for each method. One dimension, or a single repetition, has no band. Where a repetition is missing (NaN), the
        curve has a gap.
    ylabel, title, xlabel : str, default="", "" and "number of features"
        Texts of the axes and the title.
    confidence, test_share : float, default=0.95 and None
        As in :func:`labelsieve.statistics.confidence_band`.
    legend : bool or "below", default=True
        Inside the axes, or to their right for more than four curves; ``"below"`` is for narrow figures. False draws none,
        for instance when several axes share one.
    ax : matplotlib axes, default=None
        By default a new figure.

    Examples
    --------
    >>> ax = curves([1, 2, 3], {"jmi": [[0.3, 0.2, 0.1], [0.4, 0.2, 0.2]], "all": [0.1, 0.1, 0.1]}, ylabel="Hamming loss")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['jmi', 'all']
    """
    x = read_floats(n_features, "the numbers of features")
    if x.ndim != 1 or not len(x) or not len(values):
        raise InputError("curves need a list of numbers of features and at least one method.")
    if ax is None:
        ax = new_axes(WIDTH, max(2.6, 0.17 * len(values) + 0.5))
    ends = {}
    for index, (name, table) in enumerate(values.items()):
        numbers = _read(str(name), table, len(x))
        mean = numbers.mean(axis=0)
        ends[str(name)] = (_draw(ax, x, numbers, index, confidence, test_share), float(mean[~np.isnan(mean)][-1]))
    name_axes(ax, xlabel, ylabel)
    if title:
        full = printable(title)
        fits = text_width(ax, full, FONT) <= size_in_inches(ax)[0]
        ax.set_title(full if fits else short(title), fontsize=FONT, parse_math=False)
    ax.margins(x=0.02)
    whole = bool(np.all(x == np.rint(x))) and type(ax.xaxis.get_major_locator()).__name__ == "AutoLocator"
    if legend:
        _add_legend(ax, ends, below=legend == "below")
    if len(np.unique(x)) == 1:
        ax.set_xticks(x[:1])
    elif whole:  # after the legend, which takes some of the width
        size_ticks(ax, x)
    return ax


def legend_columns(names: Iterable[str]) -> int:
    """Return the number of columns of a legend below narrow axes.

    >>> legend_columns(["jmi", "random"]), legend_columns(["group-jmi-rand-normalized"])
    (3, 1)
    """
    longest = max(len(short(name)) for name in names)
    return 3 if longest <= 9 else 2 if longest <= 16 else 1


def _read(name: str, table: ArrayLike, n_points: int) -> Floats:
    """Check the values of a curve; return an array with repetitions in rows."""
    numbers = np.atleast_2d(read_floats(table, f"the values of {name}"))
    if numbers.ndim != 2 or numbers.shape[1] != n_points:
        raise InputError(f"{name} has values of shape {numbers.shape} for {n_points} numbers of features.")
    if np.isinf(numbers).any():
        raise InputError(f"{name} has an infinite value; NaN leaves a point out.")
    if np.isnan(numbers).any(axis=0).all():
        raise InputError(f"{name} has nothing to draw: a repetition is missing (NaN) at every number of features.")
    return numbers


def _draw(ax: Axes, x: Floats, numbers: Floats, index: int, confidence: float, test_share: float | None) -> Any:
    line_color = color(index)
    mean = numbers.mean(axis=0)
    if len(numbers) > 1:
        known = ~np.isnan(mean)
        band = confidence_band(numbers[:, known], confidence=confidence, test_share=test_share)
        low, high = np.full(len(x), np.nan), np.full(len(x), np.nan)
        low[known], high[known] = band.low, band.high
        if len(x) == 1:  # an area would have no width
            ax.vlines(x, low, high, color=line_color, alpha=0.5, linewidth=1.3)
        else:
            ax.fill_between(x, low, high, color=line_color, alpha=0.15, linewidth=0)
    step = max(1, len(x) // _N_MARKERS)
    style, marker = STYLES[index % len(STYLES)], MARKERS[index % len(MARKERS)]
    look: dict[str, Any] = {"color": line_color, "linestyle": style, "linewidth": 1.3, "marker": marker, "markersize": 3.5}
    (line,) = ax.plot(x, mean, markevery=_marked(mean, index % step, step), **look)
    return line


def _marked(mean: Floats, first: int, step: int) -> list[int]:
    """Return points at regular steps, offset for each curve, and points between two gaps, which no line shows."""
    known = np.pad(~np.isnan(mean), 1)
    alone = known[1:-1] & ~known[:-2] & ~known[2:]
    return sorted({*range(first, len(mean), step), *np.flatnonzero(alone).tolist()})


def _add_legend(ax: Axes, ends: dict[str, tuple[Any, float]], *, below: bool) -> None:
    order = sorted(ends, key=lambda name: -ends[name][1])
    lines = [ends[name][0] for name in order]
    names = short_names(order) if below else [printable(name) for name in order]
    if below:
        under = pyplot().matplotlib.transforms.ScaledTranslation(0, -_UNDER, ax.figure.dpi_scale_trans)
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + under}
        _legend(ax, lines, names, **where, ncols=legend_columns(order), columnspacing=1.0)
    elif len(order) > _MAX_INSIDE:
        _legend(ax, lines, names, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    else:
        inside = _legend(ax, lines, names, loc="best")
        width, _ = size_in_inches(ax)
        if inside.get_window_extent().width / ax.figure.dpi > width:
            inside = _legend(ax, lines, short_names(order), loc="best")
        _extend_above(ax, lines, inside)


def _legend(ax: Axes, lines: list[Any], names: list[str], **where: Any) -> Any:
    # matplotlib keeps names that start with an underscore out of legends.
    shown = [f" {name}" if name.startswith("_") else name for name in names]
    legend = ax.legend(lines, shown, fontsize=FONT, frameon=False, handlelength=3.2, labelspacing=0.3, **where)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def _extend_above(ax: Axes, lines: list[Any], legend: Any) -> None:
    """Raise the upper limit where the legend would cover curves, unless the user has set it."""
    ax.figure.figure.draw_without_rendering()
    box, axes_box = legend.get_window_extent(), ax.get_window_extent()
    covered = any(line.get_transform().transform_path(line.get_path()).intersects_bbox(box, filled=False) for line in lines)
    if covered and ax.get_autoscaley_on() and ax.get_yscale() == "linear":
        low, high = ax.get_ylim()
        share = min(0.6, (box.height + 4) / axes_box.height)
        ax.set_ylim(low, low + (high - low) / (1 - share))
        legend.set_loc("upper right")


def automatic_choice(auto: "AutoSieve", *, ax: Axes | None = None) -> Axes:
    """Draw the comparison of an automatic selection: the measure over the number of features, a curve for each method.

    The band is one standard error of the method that was chosen. Horizontal lines are the controls, all features and none; the
    circle is the choice. The axis of the numbers of features is logarithmic.

    Parameters
    ----------
    auto : fitted AutoSieve
        The automatic selection.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a page of text.

    Examples
    --------
    >>> from labelsieve import AutoSieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=200, n_xor_pairs=0)
    >>> automatic_choice(AutoSieve("mim", cv=3).fit(data.X, data.Y)).get_ylabel()
    'average precision'
    """
    if not hasattr(auto, "curves_"):
        raise InputError("automatic_choice draws a fitted AutoSieve: fit it first.")
    if ax is None:
        ax = new_axes(WIDTH, 2.8)
    methods = [name for name in auto.curves_ if name not in CONTROLS]
    for index, (name, shown) in enumerate(zip(methods, short_names(methods), strict=True)):
        sizes, values = auto.curves_[name]["n_features"], auto.curves_[name]["values"]
        mean = values.mean(axis=0)
        if name == auto.method_:
            error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            ax.fill_between(sizes, mean - error, mean + error, color=color(index), alpha=0.15, linewidth=0)
        look = {"color": color(index), "linestyle": STYLES[index % len(STYLES)], "linewidth": 1.3}
        ax.plot(sizes, mean, marker="." if len(sizes) == 1 else None, label=shown, **look)
    for name, style in zip(CONTROLS, ("-", (0, (1, 1.5))), strict=True):
        ax.axhline(auto.curves_[name]["values"].mean(), color=GRAY, linewidth=0.9, linestyle=style, label=name)
    _mark(ax, auto)
    ax.set_xscale("log", base=2)
    name_axes(ax, "number of features", auto.measure_.replace("_", " "), parse_math=False)
    ax.legend(fontsize=FONT, frameon=False, handlelength=2.4, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    size_ticks(ax, [size for name in methods for size in auto.curves_[name]["n_features"]])
    return ax


def _mark(ax: Axes, auto: "AutoSieve") -> None:
    """Draw a circle at the chosen method and number of features."""
    curve = auto.curves_[auto.method_]
    n_features = auto.n_features_in_ if auto.method_ in CONTROLS else int(auto.n_chosen_)
    column = int(np.searchsorted(curve["n_features"], n_features))
    if column >= len(curve["n_features"]):  # a given number beyond those that were evaluated
        return
    edge: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white", "markeredgewidth": 0.6, "zorder": 3}
    x = n_features if auto.method_ not in CONTROLS else max(1, n_features)
    label = f"selected: {n_features}"
    ax.plot([x], [curve["values"].mean(axis=0)[column]], "o", color=ink() or COLORS[0], markersize=6, label=label, **edge)


def stopping_curve(rule: "CrossValidated", *, ylabel: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the curve of nested cross-validation: the measure over the number of features, with the selected number.

    The band is one standard error of the mean. The square is the best number, and the circle the number that the rule keeps:
    the smallest within its standard errors of the *difference* to the best, which are smaller than the band. A rule that
    keeps no feature has its circle at 0.

    Parameters
    ----------
    rule : fitted CrossValidated
        The ``stopping_`` of a selector.
    ylabel : str, default=None
        By default the name of the measure.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> from labelsieve.stopping import CrossValidated
    >>> data = make_feature_roles(n_rows=200, n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=CrossValidated(measure="ranking_loss", max_features=6)).fit(data.X, data.Y)
    >>> stopping_curve(sieve.stopping_).get_ylabel()
    'ranking loss'
    """
    if not hasattr(rule, "curve_") or not hasattr(rule, "kept_size_"):
        raise InputError("stopping_curve draws a fitted CrossValidated: fit a Sieve with it, and pass its stopping_.")
    sizes, mean, error = rule.sizes_, rule.curve_.mean(axis=0), rule.standard_error_
    best = int(np.flatnonzero(sizes == rule.best_size_)[0])
    kept = rule.kept_size_
    if ax is None:
        ax = new_axes(COLUMN, 2.3)
    ax.fill_between(sizes, mean - error, mean + error, color=COLORS[0], alpha=0.2, linewidth=0, label="± 1 standard error")
    ax.plot(sizes, mean, color=COLORS[0], linewidth=1.3)
    edge: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white", "markeredgewidth": 0.6, "zorder": 3}
    ax.plot([rule.best_size_], [mean[best]], "s", color=COLORS[1], markersize=6, label=f"best: {rule.best_size_}", **edge)
    value = mean[sizes == kept].item() if kept else 0.0
    ax.plot([kept], [value], "o", color=ink(), markersize=6, label=f"kept: {kept}", **edge)
    if ylabel is None:
        losses = "loss" if rule.lower_is_better_ else "score"
        ylabel = rule.measure.replace("_", " ") if isinstance(rule.measure, str) else losses
    name_axes(ax, "number of features", ylabel, parse_math=False)
    size_ticks(ax, sizes)
    ax.legend(fontsize=FONT, frameon=False, handlelength=1.6)
    return ax
