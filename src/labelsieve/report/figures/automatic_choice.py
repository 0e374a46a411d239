from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, FONT, GRAY, STYLES, WIDTH, color, ink, new_axes, short_names

if TYPE_CHECKING:
    from labelsieve.selectors.auto_sieve import AutoSieve

CONTROLS = ("all features", "no features")


def automatic_choice(auto: "AutoSieve", *, ax: Axes | None = None) -> Axes:
    """Draw the comparison of an automatic selection: the measure over the number of features, a curve for each method.

    The band is one standard error of the method that was chosen. Horizontal lines are the controls, all features and none; the
    circle is the choice. The axis of the numbers of features is logarithmic.

    Parameters
    ----------
    auto : fitted AutoSieve
    ax : matplotlib axes, optional
        By default a new figure, as wide as a page of text.

    Returns
    -------
    matplotlib axes

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
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.minorticks_off()
    ax.set_xlabel("number of features", fontsize=FONT)
    ax.set_ylabel(auto.measure_.replace("_", " "), fontsize=FONT, parse_math=False)
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=FONT, frameon=False, handlelength=2.4, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    return ax


def _mark(ax: Axes, auto: "AutoSieve") -> None:
    """The chosen method and number of features."""
    curve = auto.curves_[auto.method_]
    n_features = auto.n_features_in_ if auto.method_ in CONTROLS else int(auto.n_chosen_)
    column = int(np.searchsorted(curve["n_features"], n_features))
    if column >= len(curve["n_features"]):  # a given number beyond those that were evaluated
        return
    edge: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white", "markeredgewidth": 0.6, "zorder": 3}
    x = n_features if auto.method_ not in CONTROLS else max(1, n_features)
    label = f"selected: {n_features}"
    ax.plot([x], [curve["values"].mean(axis=0)[column]], "o", color=ink() or COLORS[0], markersize=6, label=label, **edge)
