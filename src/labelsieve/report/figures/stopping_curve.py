from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, COLUMN, FONT, GRAY, ink, new_axes

if TYPE_CHECKING:
    from labelsieve.stopping import CrossValidated


def stopping_curve(rule: "CrossValidated", *, ylabel: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the curve of nested cross-validation: the measure over the number of features, with the selected number.

    The band is one standard error of the mean over the folds. The square is the best number; the dotted line is the threshold
    of the rule, and the circle the smallest number within it, which the rule selects.

    Parameters
    ----------
    rule : fitted CrossValidated
        The ``stopping_`` of a selector.
    ylabel : str, optional
        By default the name of the measure.
    ax : matplotlib axes, optional
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
