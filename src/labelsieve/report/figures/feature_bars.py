from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, FONT, bar_axes, ink, short_names

if TYPE_CHECKING:
    from labelsieve.statistics import Stability

_BAR, _ROW = 0.17, 0.19  # inches of a feature


def selection_stability(
    stability: "Stability", *, names: Sequence[str] | None = None, n_shown: int = 30, ax: Axes | None = None
) -> Axes:
    """Draw the selection frequency of each feature over resamples, the most frequent at the top, and the stability index.

    A stable selector has only full or missing bars. The dotted line is the frequency of random selections: the mean share of
    features in a selection.

    Parameters
    ----------
    stability : Stability
        From :func:`labelsieve.selectors.selection_stability` or :func:`labelsieve.statistics.stability_index`.
    names : sequence of str, default=None
        Names of all features (default: column numbers).
    n_shown : int, default=30
        Maximum number of features.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column where names are not long.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from labelsieve.statistics import stability_index
    >>> ax = selection_stability(stability_index([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]), names=["a", "b", "c", "d"])
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.get_title()
    (['a', 'b', 'c'], 'stability 0.33 (95 %: -0.02 to 0.69)')
    """
    frequency = stability.frequency
    if names is not None and len(names) != len(frequency):
        raise InputError(f"{len(names)} names for {len(frequency)} features.")
    ever = np.flatnonzero(frequency)
    order = ever[np.argsort(-frequency[ever], kind="stable")]
    shown = order[:n_shown]
    texts = short_names(int(column) if names is None else names[int(column)] for column in shown)
    if ax is None:
        ax = bar_axes(texts, 0.8 + _BAR * max(1, len(shown)))
    ax.barh(range(len(shown)), frequency[shown], height=0.72, color=COLORS[0])
    ax.axvline(float(frequency.mean()), color=ink(), linewidth=1.0, linestyle=(0, (1, 1.5)))
    ax.set_yticks(range(len(shown)), texts, fontsize=FONT, parse_math=False)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"], fontsize=FONT)
    left = f"; {len(order) - len(shown):,} more are not shown" if len(order) > len(shown) else ""
    ax.set_xlabel(f"fraction of {len(stability.masks)} resamples{left}", fontsize=FONT)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title(_index(stability), fontsize=FONT)
    return ax


def _index(stability: "Stability") -> str:
    if np.isnan(stability.index):
        return "all or none selected every time"
    low, high = stability.interval
    return f"stability {stability.index:.2f} ({100 * stability.confidence:g} %: {low:.2f} to {high:.2f})"


def information_confidence(table: Mapping[str, Sequence[Any]], *, confidence: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the information of features with its confidence limits, and at the right the ranks that they may have.

    Parameters
    ----------
    table : mapping of str to sequences
        ``feature``, ``information``, ``lower``, ``upper``, ``first_rank`` and ``last_rank``, as from
        :meth:`labelsieve.Sieve.information_confidence`.
    confidence : float, default=0.95
        Confidence level of the limits, for the label of the axis.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column where names are not long.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> table = {"feature": ["tempo", "pitch"], "information": [0.3, 0.1], "lower": [0.2, 0.05], "upper": [0.4, 0.15]}
    >>> ax = information_confidence({**table, "first_rank": [1, 2], "last_rank": [1, 2]})
    >>> [label.get_text() for label in ax.get_yticklabels()], [text.get_text() for text in ax.texts]
    (['tempo', 'pitch'], ['rank', '1', '2'])
    """
    texts = short_names(table["feature"])
    rows = range(len(texts))
    if ax is None:
        ax = bar_axes(texts, 0.8 + _ROW * max(1, len(texts)))
    middle, low, high = (list(map(float, table[name])) for name in ("information", "lower", "upper"))
    ax.hlines(rows, low, high, color=COLORS[0], linewidth=2.2)
    ax.plot(middle, rows, linestyle="none", marker="o", markersize=4.5, color=ink())
    ax.set_yticks(rows, texts, fontsize=FONT, parse_math=False)
    ax.set_ylim(len(texts) - 0.4, -1.1)
    ax.set_xlim(0, 1.02 * max([*high, 1e-9]))
    at_right: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "fontsize": FONT, "va": "center", "ha": "left"}
    ax.text(1.03, -0.85, "rank", **at_right)
    for row, (first, last) in enumerate(zip(table["first_rank"], table["last_rank"], strict=True)):
        ax.text(1.03, row, f"{first}" if first == last else f"{first} to {last}", **at_right)
    ax.set_xlabel(f"information, nats ({100 * confidence:g} %)", fontsize=FONT)
    ax.tick_params(axis="x", labelsize=FONT)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
