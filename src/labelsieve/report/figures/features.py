"""Figures of selected features: scores, stability, confidence, features that labels share, and the label network."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import (
    COLORS,
    COLUMN,
    FONT,
    GRAY,
    HATCHES,
    SMALLEST_FONT,
    WIDTH,
    bar_axes,
    ink,
    name_rows,
    new_axes,
    pyplot,
    short_names,
    text_width,
)

if TYPE_CHECKING:
    from labelsieve.labelspace import LabelNetwork
    from labelsieve.selection import Names
    from labelsieve.selectors.base import BaseSieve
    from labelsieve.selectors.labelwise import LabelwiseSieve
    from labelsieve.statistics import Stability


# Inches.
_BAR, _LINE, _LABEL = 0.17, 0.19, 0.2  # height of a row: of a bar chart, of confidence limits, of a label network
_MARGINS = 0.75  # the axis below a ranking and the legend above
_CELL = (0.17, 0.16)  # a feature and a label, of shared features
_TALLEST = 9.0  # a page
MOST_LABELS = 200  # of shared features
# Fixed index of the color and hatch of each component.
_LOOKS = {
    **{"relevance": 0, "redundancy": 1, "interaction": 2, "complementarity": 2, "label pairs": 3},
    **{"information": 0, "least squares": 2},  # relative gains, which have no unit
}
_HALF_CIRCLE = np.linspace(0, np.pi, 41)


def ranking(
    selector: "BaseSieve",
    *,
    names: "Names" = None,
    components: Mapping[str, Any] | None = None,
    n_shown: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw the selected features in order, from top to bottom, with the components of their scores.

    Bars to the right are positive components and bars to the left negative ones; a diamond is their sum, the score. The
    components are those of the criterion's formula: relevance, redundancy, interaction with selected features, label pairs; for
    the default, :class:`labelsieve.criteria.Hybrid`, the relative gains of information and least squares. A
    formula of one term has no components, which the figure notes; ``components`` then shows other components of every step.

    Parameters
    ----------
    selector : fitted selector
        With ``selected_`` and ``scores_``; ``score_components_`` and ``criterion_`` where it has them.
    names : sequence of str, default=None
        Names of all features; by default those seen by ``fit``, or numbers.
    components : mapping of str to array-like, default=None
        Other components than those of the scores, as returned by ``Sieve.information_components``. A diamond is their sum.
    n_shown : int, default=30
        Maximum number of features.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column where names are not long.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> sieve = Sieve("mrmr", n_features_to_select=2, discretizer=None).fit([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 0, 1, 1])
    >>> ax = ranking(sieve, names=["tempo", "loud"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1  tempo', '2  loud']
    """
    selected = np.asarray(selector.selected_)
    if selected.ndim != 1:
        raise InputError("ranking draws one ranking of features; for a ranking of every label see shared_features.")
    shown = selected[:n_shown]
    labels = [f"{rank}  {name}" for rank, name in enumerate(names_of(selector, names, shown), 1)]
    if ax is None:
        ax = bar_axes(labels, _MARGINS + _BAR * max(1, len(shown)))
    note, unit = "", "nats"
    if components is None:
        components, note = score_components(selector)
        # A score without a meaning of its own has no unit either.
        known, comparable = selector.score_unit()
        unit = known if comparable or known == "nats" else "score"
    columns = {kind: np.asarray(values, dtype=np.float64)[:n_shown] for kind, values in components.items()}
    columns = {kind: values for kind, values in columns.items() if len(columns) == 1 or np.any(values != 0)}
    _draw(ax, columns, len(shown))
    name_rows(ax, labels)
    left = f"; {len(selected) - len(shown):,} more are not shown" if len(selected) > len(shown) else ""
    ax.set_xlabel(f"{unit}{left}", fontsize=FONT)
    _add_legend(ax, columns, note)
    return ax


def names_of(selector: "BaseSieve", names: "Names", columns: NDArray[np.intp]) -> list[str]:
    """Return short names of some columns: those given, those that ``fit`` saw, or numbers."""
    known = getattr(selector, "feature_names_in_", None) if names is None else names
    if known is None:
        return [str(int(column)) for column in columns]
    if len(known) != selector.n_features_in_:
        raise InputError(f"{len(known)} names for {selector.n_features_in_} features.")
    return short_names(known[int(column)] for column in columns)


def score_components(selector: "BaseSieve") -> tuple[Mapping[str, Any], str]:
    """Return the components of the scores, and a note when there is only one."""
    components: Mapping[str, Any] = getattr(selector, "score_components_", {})
    criterion = getattr(selector, "criterion_", None)
    if criterion is None or not components:
        return {"score": selector.scores_}, ""
    if set(components) == {"relevance"} or _is_relative(components) or len(criterion.plan.components) > 1:
        return components, ""
    return {"score": selector.scores_}, f"{criterion.name}: one term, no components"


def _is_relative(components: Mapping[str, Any]) -> bool:
    """True for the gains of the hybrid, each relative to the best candidate of its step."""
    return "least squares" in components


def _draw(ax: Axes, columns: Mapping[str, NDArray[np.float64]], n_shown: int) -> None:
    positions = np.arange(n_shown)
    right, left = np.zeros(n_shown), np.zeros(n_shown)
    for kind, values in columns.items():
        look = _LOOKS.get(kind, 0)
        start = np.where(values >= 0, right, left)
        style: dict[str, Any] = {"color": COLORS[look], "hatch": HATCHES[look], "edgecolor": "white", "linewidth": 0}
        ax.barh(positions, values, left=start, height=0.72, label=kind, **style)
        right, left = right + np.maximum(values, 0), left + np.minimum(values, 0)
    if len(columns) > 1:
        total = np.sum(list(columns.values()), axis=0)
        style = {"color": ink(), "markeredgecolor": "white", "markeredgewidth": 0.6, "markersize": 4.5}
        ax.plot(total, positions, "D", linestyle="none", zorder=3, clip_on=False, label="sum", **style)
    ax.axvline(0, color=ink(), linewidth=0.8)


def _add_legend(ax: Axes, columns: Mapping[str, Any], note: str) -> None:
    """Draw the legend above the axes."""
    known = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    kinds = [*columns, *(["sum"] if len(columns) > 1 else [])]
    if len(columns) > 1 or note or next(iter(columns), "score") != "score":
        handles, texts = [known[kind] for kind in kinds], [note or kind for kind in kinds]
        where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2, "borderaxespad": 0.2}
        ax.legend(handles, texts, fontsize=FONT, frameon=False, handlelength=1.4, columnspacing=1.2, **where)


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
    name_rows(ax, texts)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"], fontsize=FONT)
    left = f"; {len(order) - len(shown):,} more are not shown" if len(order) > len(shown) else ""
    ax.set_xlabel(f"fraction of {len(stability.masks)} resamples{left}", fontsize=FONT)
    title = "all or none selected every time"
    if not np.isnan(stability.index):
        low, high = stability.interval
        title = f"stability {stability.index:.2f} ({100 * stability.confidence:g} %: {low:.2f} to {high:.2f})"
    ax.set_title(title, fontsize=FONT)
    return ax


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
        ax = bar_axes(texts, 0.8 + _LINE * max(1, len(texts)))
    middle, low, high = (list(map(float, table[name])) for name in ("information", "lower", "upper"))
    ax.hlines(rows, low, high, color=COLORS[0], linewidth=2.2)
    ax.plot(middle, rows, linestyle="none", marker="o", markersize=4.5, color=ink())
    name_rows(ax, texts, above=1.1)
    ax.set_xlim(0, 1.02 * max([*high, 1e-9]))
    at_right: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "fontsize": FONT, "va": "center", "ha": "left"}
    ax.text(1.03, -0.85, "rank", **at_right)
    for row, (first, last) in enumerate(zip(table["first_rank"], table["last_rank"], strict=True)):
        ax.text(1.03, row, f"{first}" if first == last else f"{first} to {last}", **at_right)
    ax.set_xlabel(f"information, nats ({100 * confidence:g} %)", fontsize=FONT)
    return ax


def label_network(network: "LabelNetwork", *, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw a label network as labels in chain order, from top to bottom, with an arc from every parent down to its child.

    The first parent of a label has a thick line, the others thin ones. A gray name is a label without parents.

    Parameters
    ----------
    network : LabelNetwork
        As learned by ``NetworkRule.learn``, or the ``network_`` of a chain or a selector.
    names : sequence of str, default=None
        Names of the labels; by default those of the network, or numbers.
    ax : matplotlib axes, default=None
        By default a new figure whose height fits the labels; where they exceed a page, names are left out.

    Notes
    -----
    Cost: a curve of 41 points for each parent of each label.

    Examples
    --------
    >>> from labelsieve import LabelNetwork
    >>> ax = label_network(LabelNetwork(order=[2, 0, 1], parents=[[2], [2, 0], []]), names=["calm", "happy", "sad"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['sad', 'calm', 'happy']
    """
    pyplot()  # raises if matplotlib is missing
    from matplotlib.collections import LineCollection

    known = network.names if names is None else names
    texts = [str(label) for label in range(network.n_labels)] if known is None else list(map(str, known))
    if len(texts) != network.n_labels:
        raise InputError(f"{len(texts)} names for {network.n_labels} labels.")
    in_order = [texts[label] for label in network.order]
    height = min(_TALLEST, _LABEL * (network.n_labels + 1))
    size = min(FONT, 72 * 0.7 * height / (network.n_labels + 1))
    if ax is None:
        ax = new_axes(WIDTH, height)
        widest = max((text_width(ax, name, size) for name in in_order), default=0.0)
        ax.figure.figure.set_size_inches(min(WIDTH, widest + 0.4 + min(3.5, 0.8 + 0.5 * height)), height)
    position_of = {label: position for position, label in enumerate(network.order)}
    first = [(position_of[parents[0]], position_of[label]) for label, parents in enumerate(network.parents) if parents]
    others = [
        (position_of[parent], position_of[label]) for label, parents in enumerate(network.parents) for parent in parents[1:]
    ]
    ax.add_collection(LineCollection(_arcs(others), colors=GRAY, linewidths=0.5, alpha=0.6, zorder=1))
    ax.add_collection(LineCollection(_arcs(first), colors=COLORS[0], linewidths=1.4, zorder=2))
    children = sorted({child for _, child in first})
    ax.plot(np.full(len(children), 0.02), children, "<", color=COLORS[0], markersize=size / 2, clip_on=False, zorder=3)
    longest = max((child - parent for parent, child in first + others), default=1)
    ax.set_xlim(0, 0.5 * longest**0.7 + 0.05)
    ax.set_ylim(network.n_labels - 0.5, -0.5)
    ax.set_xticks([])
    ax.set_yticks(range(network.n_labels), in_order if size >= SMALLEST_FONT else [""] * network.n_labels, fontsize=size)
    for label, text in zip(network.order, ax.get_yticklabels(), strict=True):
        text.set_parse_math(False)
        text.set_color(ink() if network.parents[label] else GRAY)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _arcs(edges: list[tuple[int, int]]) -> list[Any]:
    """Return half ellipses to the right, whose width grows less than linearly with the distance of the labels."""
    arcs = []
    for start, end in edges:
        out = 0.5 * (end - start) ** 0.7 * np.sin(_HALF_CIRCLE)
        down = (start + end) / 2 - (end - start) / 2 * np.cos(_HALF_CIRCLE)
        arcs.append(np.column_stack([out, down]))
    return arcs
