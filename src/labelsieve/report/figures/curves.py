from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from labelsieve.errors import InputError
from labelsieve.report.figures.style import COLOURS, FONT, MARKERS, STYLES, WIDTH, new_axes, short
from labelsieve.statistics import confidence_band

_MARKED = 8  # markers along a curve
_BESIDE = 4  # more curves than this have their legend beside the axes


def curves(
    n_features: Any,
    values: Mapping[str, Any],
    *,
    ylabel: str = "",
    title: str = "",
    xlabel: str = "number of features",
    confidence: float = 0.95,
    test_share: float | None = None,
    legend: bool | Literal["below"] = True,
    ax: Any = None,
) -> Any:
    """A measure over the number of features: the mean of repetitions, with its confidence band.

    Curves differ in colour, dashes and markers, so that they can be told apart in grey print too; the legend lists them in the
    order of their right ends, from top to bottom.

    Parameters
    ----------
    n_features : array-like of shape (n_points,)
    values : mapping of str to array-like of shape (n_repetitions, n_points) or (n_points,)
        A curve for each method. One dimension, or a single repetition, has no band.
    ylabel, title, xlabel : str
    confidence, test_share : float
        As in :func:`labelsieve.statistics.confidence_band`.
    legend : bool or "below"
        Inside the axes, or beside them for more than four curves; ``"below"`` is for narrow figures. False leaves it to you,
        for instance when several axes share one.
    ax : matplotlib axes, optional
        By default a figure of its own.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = curves([1, 2, 3], {"jmi": [[0.3, 0.2, 0.1], [0.4, 0.2, 0.2]], "all": [0.1, 0.1, 0.1]}, ylabel="Hamming loss")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['jmi', 'all']
    """
    x = np.asarray(n_features, dtype=np.float64)
    if x.ndim != 1 or not len(x) or not len(values):
        raise InputError("curves need a list of numbers of features and at least one method.")
    if ax is None:
        ax = new_axes(WIDTH, max(2.6, 0.17 * len(values) + 0.5))
    ends = {}
    for place, (name, own) in enumerate(values.items()):
        numbers = np.atleast_2d(np.asarray(own, dtype=np.float64))
        if numbers.ndim != 2 or numbers.shape[1] != len(x):
            raise InputError(f"{name} has values of shape {numbers.shape} for {len(x)} numbers of features.")
        ends[name] = (_draw(ax, x, numbers, place, confidence, test_share), float(numbers[:, -1].mean()))
    ax.set_xlabel(xlabel, fontsize=FONT)
    ax.set_ylabel(ylabel, fontsize=FONT)
    if title:
        ax.set_title(short(title), fontsize=FONT, parse_math=False)
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.02)
    if np.all(x == np.rint(x)) and type(ax.xaxis.get_major_locator()).__name__ == "AutoLocator":  # no ticks at 2.5 features
        ax.xaxis.get_major_locator().set_params(integer=True)
    if legend:
        _add_legend(ax, ends, below=legend == "below")
    return ax


def legend_columns(names: Iterable[str]) -> int:
    """How many columns a legend below narrow axes can have.

    >>> legend_columns(["jmi", "random"]), legend_columns(["group-jmi-rand-normalised"])
    (3, 1)
    """
    longest = max(len(short(name)) for name in names)
    return 3 if longest <= 9 else 2 if longest <= 16 else 1


def _draw(ax: Any, x: Any, numbers: Any, place: int, confidence: float, test_share: float | None) -> Any:
    colour = COLOURS[place % len(COLOURS)]
    mean = numbers.mean(axis=0)
    if len(numbers) > 1:
        band = confidence_band(numbers, confidence=confidence, test_share=test_share)
        ax.fill_between(x, band.low, band.high, color=colour, alpha=0.15, linewidth=0)
    step = max(1, len(x) // _MARKED)
    (line,) = ax.plot(
        x,
        mean,
        color=colour,
        linestyle=STYLES[place % len(STYLES)],
        linewidth=1.3,
        marker=MARKERS[place % len(MARKERS)],
        markersize=3.5,
        markevery=(place % step, step),  # not all at the same x
    )
    return line


def _add_legend(ax: Any, ends: dict[str, tuple[Any, float]], *, below: bool) -> None:
    order = sorted(ends, key=lambda name: -ends[name][1])
    where: dict[str, Any] = {"loc": "best"}
    if below:
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": legend_columns(order), "columnspacing": 1.0}
    elif len(order) > _BESIDE:
        where = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    legend = ax.legend(
        [ends[name][0] for name in order],
        # matplotlib keeps names that start with an underscore out of legends.
        [f" {name}" if name.startswith("_") else short(name) if below else name for name in order],
        fontsize=FONT,
        frameon=False,
        handlelength=3.2,
        labelspacing=0.3,
        **where,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
