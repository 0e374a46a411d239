from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, COLUMN, FONT, GRAY, STYLES, WIDTH, color, ink, new_axes, short_names

if TYPE_CHECKING:
    from labelsieve.selectors.auto_sieve import AutoSieve
    from labelsieve.stopping import CrossValidated

CONTROLS = ("all features", "no features")


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


def stopping_curve(rule: "CrossValidated", *, ylabel: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the curve of nested cross-validation: the measure over the number of features, with the selected number.

    The band is one standard error of the mean over the folds. The square is the best number; the dotted line is the threshold
    of the rule, and the circle the smallest number within it, which the rule selects.

    Parameters
    ----------
    rule : fitted CrossValidated
        The ``stopping_`` of a selector.
    ylabel : str, default=None
        By default the name of the measure.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column.

    Returns
    -------
    matplotlib axes

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
    allowed = float(rule.standard_errors) * error[best]
    threshold = mean[best] + (allowed if rule.lower_is_better_ else -allowed)
    if ax is None:
        ax = new_axes(COLUMN, 2.3)
    ax.fill_between(sizes, mean - error, mean + error, color=COLORS[0], alpha=0.2, linewidth=0, label="± 1 standard error")
    ax.plot(sizes, mean, color=COLORS[0], linewidth=1.3)
    ax.axhline(threshold, color=GRAY, linewidth=0.9, linestyle=(0, (1, 1.5)), label="threshold")
    edge: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white", "markeredgewidth": 0.6, "zorder": 3}
    ax.plot([rule.best_size_], [mean[best]], "s", color=COLORS[1], markersize=6, label=f"best: {rule.best_size_}", **edge)
    index = int(np.flatnonzero(sizes == kept)[0])
    ax.plot([kept], [mean[index]], "o", color=ink(), markersize=6, label=f"kept: {kept}", **edge)
    ax.set_xlabel("number of features", fontsize=FONT)
    ax.set_ylabel(_measure(rule) if ylabel is None else ylabel, fontsize=FONT, parse_math=False)
    ax.tick_params(labelsize=FONT)
    ax.locator_params(axis="x", integer=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=FONT, frameon=False, handlelength=1.6)
    return ax


def _measure(rule: "CrossValidated") -> str:
    if isinstance(rule.measure, str):
        return str(rule.measure).replace("_", " ")
    return "loss" if rule.lower_is_better_ else "score"
