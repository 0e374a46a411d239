from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, COLUMN, FONT, GRAY, MARKERS, new_axes


def p_value_calibration(p_values: ArrayLike | Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Draw the fraction of p-values below every level against the level, both on logarithmic axes.

    Under the null hypothesis, with shuffled labels for example, valid p-values lie on the diagonal or below it. With the
    labels of the data, what lies above the diagonal at the left are associations.

    Parameters
    ----------
    p_values : array-like, or dict of array-like
        p-values of any shape; several of them by name.
    ax : matplotlib axes, optional
        By default a new figure, as wide as a column.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> p_value_calibration({"shuffled": [0.1, 0.5, 0.9], "labels": [0.001, 0.01, 0.4]}).get_xlabel()
    'p-value'
    """
    named = p_values if isinstance(p_values, Mapping) else {"": p_values}
    series = {name: np.sort(np.asarray(values, dtype=np.float64).ravel()) for name, values in named.items()}
    series = {name: values[np.isfinite(values)] for name, values in series.items()}
    if not series or any(not len(values) or values[0] < 0 or values[-1] > 1 for values in series.values()):
        raise InputError("p_value_calibration draws p-values between 0 and 1, one at least.")
    if ax is None:
        ax = new_axes(COLUMN, 2.8)
    lowest = min(1 / len(values) for values in series.values()) / 2
    levels = np.geomspace(lowest, 1.0, 60)
    for index, (name, values) in enumerate(series.items()):
        below = np.searchsorted(values, levels, side="right") / len(values)
        drawn = below > 0
        look: dict[str, Any] = {"color": COLORS[index % len(COLORS)], "marker": MARKERS[index % len(MARKERS)], "markevery": 6}
        ax.plot(levels[drawn], below[drawn], linewidth=1.3, markersize=4, label=name or None, **look)
    longest = max(len(values) for values in series.values())
    error = 2 * np.sqrt(levels * (1 - levels) / longest)
    ax.plot(levels, levels, color=GRAY, linewidth=0.9, linestyle=(0, (1, 1.5)), label="uniform")
    ax.fill_between(
        levels, np.maximum(levels - error, lowest), np.minimum(levels + error, 1), color=GRAY, alpha=0.2, linewidth=0
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("p-value", fontsize=FONT)
    ax.set_ylabel("fraction of p-values at most this", fontsize=FONT)
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=FONT, frameon=False, handlelength=1.6)
    return ax
