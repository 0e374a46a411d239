from collections.abc import Mapping, Sequence
from typing import Any

from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, FONT, bar_axes, ink, short_names

_ROW = 0.19  # inches


def information_confidence(table: Mapping[str, Sequence[Any]], *, confidence: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the information of features with its confidence limits, and at the right the ranks that they may have.

    Parameters
    ----------
    table : mapping of str to sequences
        ``feature``, ``information``, ``lower``, ``upper``, ``first_rank`` and ``last_rank``, as from
        :meth:`labelsieve.Sieve.information_confidence`.
    confidence : float, default=0.95
        Confidence level of the limits, for the label of the axis.
    ax : matplotlib axes, optional
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
