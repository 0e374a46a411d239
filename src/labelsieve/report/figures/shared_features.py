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
MOST_LABELS = 200


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
    line separates shared features from those of only one label, which are in the order of their labels. Of more than 200
    labels, the 200 with the most of these features are drawn.

    Parameters
    ----------
    selector : fitted LabelwiseSieve
        The selections.
    names : sequence of str, default=None
        Names of all features; by default those seen by ``fit``, or numbers.
    label_names : sequence of str, default=None
        Default: numbers.
    n_shown : int, default=40
        Maximum number of features.
    ax : matplotlib axes, default=None
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
    if not hasattr(selector, "label_support_") or np.ndim(selector.selected_) != 2:
        raise InputError("shared_features draws a ranking of every label: fit a LabelwiseSieve.")
    n_labels, n_ranks = selector.selected_.shape
    texts = [str(label) for label in (range(n_labels) if label_names is None else label_names)]
    if len(texts) != n_labels:
        raise InputError(f"{len(texts)} names for {n_labels} labels.")
    labels, ranks = np.nonzero(selector.selected_ >= 0)
    if not len(labels):
        raise InputError("shared_features has nothing to draw: no label has a selected feature.")
    columns = selector.selected_[labels, ranks]
    counts, first_label = np.bincount(columns), np.zeros(columns.max() + 1, dtype=np.intp)
    first_label[columns[::-1]] = labels[::-1]
    features = np.flatnonzero(counts)
    features = features[np.lexsort((features, first_label[features], -counts[features]))]
    rows = np.full(len(counts), -1)
    rows[features[:n_shown]] = np.arange(len(features[:n_shown]))
    drawn = names_of(selector, names, features[:n_shown])
    shown = np.arange(n_labels)
    if n_labels > MOST_LABELS:
        with_drawn = np.bincount(labels[rows[columns] >= 0], minlength=n_labels)
        shown = np.sort(np.argsort(-with_drawn, kind="stable")[:MOST_LABELS])
    texts = short_names([texts[label] for label in shown])
    if ax is None:
        ax = _fitting_axes(drawn, texts)
    is_drawn = (rows[columns] >= 0) & np.isin(labels, shown)
    x, y, weight = np.searchsorted(shown, labels[is_drawn]), rows[columns[is_drawn]], 1 - ranks[is_drawn] / n_ranks
    counts, n_columns = counts[features], len(shown)
    ax.set_xlim(-0.6, n_columns - 0.4)
    ax.set_ylim(len(drawn) - 0.5, -0.5)
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    cell = 72 / ax.figure.dpi * min(box.width / n_columns, box.height / len(drawn))  # points
    ax.scatter(x, y, s=(0.8 * cell * (0.35 + 0.65 * weight)) ** 2, color=COLORS[0], linewidth=0)
    n_shared = int((counts[: len(drawn)] > 1).sum())
    if 0 < n_shared < len(drawn):
        ax.axhline(n_shared - 0.5, color=GRAY, linewidth=0.8, linestyle=(0, (4, 2)))
    _write_names(ax, drawn, texts, [f"{count}" for count in counts[: len(drawn)]], cell)
    left = f"; {len(features) - len(drawn):,} not shown" if len(features) > len(drawn) else ""
    left += f"; {n_labels - n_columns:,} labels not shown" if n_labels > n_columns else ""
    total = f"{int((counts > 1).sum())} shared, {int((counts == 1).sum())} of one label"
    ax.set_xlabel(f"{total}{left}", fontsize=FONT, color=GRAY)
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
