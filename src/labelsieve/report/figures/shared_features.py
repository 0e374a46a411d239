from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.score_chart import names_of
from labelsieve.report.figures.style import COLORS, COLUMN, FONT, GRAY, SMALLEST_FONT, WIDTH, new_axes, short_names, text_width

if TYPE_CHECKING:
    from labelsieve.selectors.labelwise import LabelwiseSieve

_CELL = (0.17, 0.16)  # inches


def shared_features(
    selector: "LabelwiseSieve",
    *,
    names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    n_shown: int = 40,
    ax: Axes | None = None,
) -> Axes:
    """Draw which features are selected for which labels: features of many labels at the top, of a single label at the bottom.

    A dot is a selected feature, larger for a better rank; the number at the right is the number of labels with the feature. A
    line separates shared features from those of only one label, which are in the order of their labels.

    Parameters
    ----------
    selector : fitted LabelwiseSieve
    names : sequence of str, optional
        Names of all features; by default those seen by ``fit``, or numbers.
    label_names : sequence of str, optional
        Default: numbers.
    n_shown : int, default=40
        Maximum number of features.
    ax : matplotlib axes, optional
        By default a new figure: as wide as a column of a paper, or wider where the labels need it.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from labelsieve import LabelwiseSieve
    >>> X, Y = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> sieve = LabelwiseSieve("mim", n_features_to_select=1, discretizer=None).fit(X, Y)
    >>> ax = shared_features(sieve, names=["tempo", "loud", "live"], label_names=["calm", "sad"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['tempo', 'loud']
    """
    support = getattr(selector, "label_support_", None)
    if support is None or np.ndim(selector.selected_) != 2:
        raise InputError("shared_features draws a ranking of every label: fit a LabelwiseSieve.")
    n_labels, n_ranks = selector.selected_.shape
    texts = short_names(range(n_labels) if label_names is None else label_names)
    if len(texts) != n_labels:
        raise InputError(f"{len(texts)} names for {n_labels} labels.")
    if not support.any():
        raise InputError("shared_features has nothing to draw: no label has a selected feature.")
    counts = support.sum(axis=0)
    first_label = support.argmax(axis=0)
    features = sorted(np.flatnonzero(counts), key=lambda column: (-counts[column], first_label[column], column))
    rows = {int(column): row for row, column in enumerate(features[:n_shown])}
    drawn = names_of(selector, names, np.array(list(rows), dtype=np.intp))
    if ax is None:
        ax = _fitting_axes(drawn, texts)
    dots = [
        (label, rows[int(column)], 1 - rank / n_ranks)
        for label, ranking in enumerate(selector.selected_)
        for rank, column in enumerate(ranking)
        if int(column) in rows
    ]
    x, y, weight = np.array(dots).T
    ax.set_xlim(-0.6, n_labels - 0.4)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    cell = 72 / ax.figure.dpi * min(box.width / n_labels, box.height / len(rows))  # points
    ax.scatter(x, y, s=(0.8 * cell * (0.35 + 0.65 * weight)) ** 2, color=COLORS[0], linewidth=0)
    n_shared = int(sum(counts[column] > 1 for column in rows))
    if 0 < n_shared < len(rows):
        ax.axhline(n_shared - 0.5, color=GRAY, linewidth=0.8, linestyle=(0, (4, 2)))
    _write_names(ax, drawn, texts, [f"{counts[column]}" for column in rows], cell)
    left = len(features) - len(rows)
    total = f"{int((counts > 1).sum())} shared, {int((counts == 1).sum())} of one label"
    ax.set_xlabel(f"{total}{f'; {left:,} not shown' if left else ''}", fontsize=FONT, color=GRAY)
    return ax


def _fitting_axes(features: list[str], labels: list[str]) -> Any:
    ax = new_axes(COLUMN, 1.0)
    left = max(text_width(ax, name, FONT) for name in features)
    above = max(text_width(ax, name, FONT) for name in labels)
    width = min(WIDTH, max(COLUMN, 0.6 + left + _CELL[0] * len(labels)))
    ax.figure.figure.set_size_inches(width, 0.5 + above + max(0.5, _CELL[1] * len(features)))
    return ax


def _write_names(ax: Axes, features: list[str], labels: list[str], counts: list[str], cell: float) -> None:
    ax.set_yticks(range(len(features)), features, fontsize=FONT, parse_math=False)
    size = min(FONT, 0.95 * 72 / ax.figure.dpi * ax.get_window_extent().width / len(labels))
    readable = size >= SMALLEST_FONT
    ax.set_xticks(range(len(labels)) if readable else [], labels if readable else [], rotation=90, parse_math=False)
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False, labelsize=size, axis="x")
    ax.tick_params(length=0, axis="y")
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(counts)), counts, fontsize=FONT)
    right.tick_params(length=0)
    for spine in (*ax.spines.values(), *right.spines.values()):
        spine.set_visible(False)
    if cell > SMALLEST_FONT:
        ax.grid(axis="y", linewidth=0.4, color=GRAY, alpha=0.35)
        ax.set_axisbelow(True)
