"""Figures of pairs of a feature and a label: information, discoveries, and the calibration of p-values."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import (
    COLORS,
    COLUMN,
    FONT,
    GRAY,
    MARKERS,
    ON_DARK,
    ON_LIGHT,
    SMALLEST_FONT,
    WIDTH,
    ink,
    name_axes,
    new_axes,
    short,
    short_names,
    text_width,
)
from labelsieve.tables.types import TableLike

if TYPE_CHECKING:
    from labelsieve.selection import Names
    from labelsieve.selectors.discoveries import BaseDiscoveries

_CELL = (0.2, 0.16)  # inches of a cell of a map, where space permits
_TALLEST = 9.0  # inches
_MANY_CELLS, _MANY_POINTS = 2500, 5000  # more are drawn as one image, also in vector formats
_UNNAMED = 120  # rows or columns: more have no names that could be read
N_NAMED = 5  # discovered pairs with names
N_SHOWN = 40  # features of a map
SMALLEST = 1e-300  # smaller q-values are drawn there


def information_map(
    information: TableLike,
    *,
    features: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mutual information of every feature with every label as a clustered heat map.

    Rows and columns are ordered as the leaves of average-linkage trees of their Euclidean distances (scipy's hierarchy with
    optimal leaf ordering). Dark is high; the colors, shades of one blue, differ in lightness only, so they are safe for
    color-blind readers and keep their order in gray.

    Parameters
    ----------
    information : array-like of shape (n_features, n_labels)
        In nats, as returned by ``Sieve.label_information``.
    features, labels : sequence of str, default=None
        Names (default: numbers).
    ax : matplotlib axes, default=None
        By default a new figure: as wide as a column of a paper, or wider where the labels need it.

    Notes
    -----
    Cost: distances of all pairs of rows and of all pairs of columns.

    Examples
    --------
    >>> ax = information_map([[0.5, 0.0, 0.4], [0.0, 0.3, 0.0], [0.4, 0.0, 0.5]], features=["a", "b", "c"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['b', 'c', 'a']
    """
    table = np.asarray(information, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise InputError(f"information must be a table of finite numbers, features in rows; this has shape {table.shape}.")
    rows = _names(features, table.shape[0], "features")
    columns = _names(labels, table.shape[1], "labels")
    down, across = leaf_order(table), leaf_order(table.T)
    if ax is None:
        ax = _fitting_axes(rows, columns)
    look: dict[str, Any] = {"cmap": "Blues", "edgecolors": "face", "linewidth": 0.2, "rasterized": table.size > _MANY_CELLS}
    mesh = ax.pcolormesh(table[np.ix_(down, across)], vmin=0, vmax=max(float(table.max()), 1e-12), **look)
    ax.set_ylim(len(rows), 0)
    _write_names(ax, [rows[row] for row in down], [columns[column] for column in across])
    bar = ax.figure.colorbar(mesh, ax=ax, location="right", fraction=0.05, pad=0.02, aspect=30)
    bar.set_label("information, nats", fontsize=FONT)
    bar.ax.tick_params(labelsize=FONT)
    bar.outline.set_visible(False)
    bar.solids.set_rasterized(True)  # type: ignore[union-attr]
    return ax


def leaf_order(table: NDArray[np.float64]) -> list[int]:
    """Return an order of the rows in which similar ones are neighbors.

    >>> leaf_order(np.array([[0.0], [9.0], [1.0]]))
    [1, 2, 0]
    """
    if len(table) < 3:
        return list(range(len(table)))
    from scipy.cluster.hierarchy import leaves_list, linkage

    tree = linkage(table, method="average", optimal_ordering=len(table) <= 500)  # cubic in the rows
    return [int(leaf) for leaf in leaves_list(tree)]


def _names(given: Sequence[str] | None, count: int, what: str) -> list[str]:
    if given is None:
        return [str(number) for number in range(count)]
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} {what}.")
    return short_names(given)


def _fitting_axes(rows: list[str], columns: list[str]) -> Any:
    ax = new_axes(COLUMN, 1.0)
    left = max(text_width(ax, name, FONT) for name in rows) if len(rows) <= _UNNAMED else 0.2
    above = max(text_width(ax, name, FONT) for name in columns) if len(columns) <= _UNNAMED else 0.2
    width = min(WIDTH, max(COLUMN, 1.0 + left + _CELL[0] * len(columns)))
    height = min(_TALLEST, 0.3 + above + max(1.2, _CELL[1] * len(rows)))
    ax.figure.figure.set_size_inches(width, height)
    return ax


def _write_names(ax: Axes, rows: list[str], columns: list[str]) -> None:
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    each = 72 / ax.figure.dpi * box.height / len(rows), 72 / ax.figure.dpi * box.width / len(columns)  # points
    down, across = (min(FONT, 0.95 * points) for points in each)
    centers = np.arange(len(rows)) + 0.5, np.arange(len(columns)) + 0.5
    if down >= SMALLEST_FONT:
        ax.set_yticks(centers[0], rows, fontsize=down, parse_math=False)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(rows):,} features", fontsize=FONT, color=GRAY)
    if across >= SMALLEST_FONT:
        ax.set_xticks(centers[1], columns, fontsize=across, rotation=90, parse_math=False)
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(columns):,} labels", fontsize=FONT, color=GRAY)
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)


def discovery_volcano(
    selector: "BaseDiscoveries",
    *,
    names: "Names" = None,
    label_names: "Names" = None,
    n_named: int = N_NAMED,
    ax: Axes | None = None,
) -> Axes:
    """Draw the information of every pair of a feature and a label against its q-value.

    Discovered pairs are orange, above the dotted line at the false discovery rate; the smallest q-values have names. Pairs with
    much information and a large q-value are those of rare labels, or of features with many levels. For a selector that
    discovers features instead of pairs, a point is a feature, with the information about its most informative label.

    Parameters
    ----------
    selector : fitted selector with discoveries
        Such as :class:`labelsieve.selectors.MarginalDiscoveries`.
    names, label_names : sequence of str, default=None
        Names of features and labels; by default those seen by ``fit``.
    n_named : int, default=5
        Pairs whose names are shown.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> from labelsieve.selectors import MarginalDiscoveries
    >>> data = make_feature_roles(n_rows=200, n_xor_pairs=0)
    >>> discovery_volcano(MarginalDiscoveries().fit(data.X, data.Y)).get_xlabel()
    'information, nats'
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(selector)
    q, nats, found = selector.label_q_values_, selector.information_, selector.pair_support_
    if not selector.finds_pairs:
        q, nats, found = selector.q_values_, nats.max(axis=1), selector.support_
    known = np.isfinite(q) & np.isfinite(nats)
    q, nats, found = np.maximum(q[known], SMALLEST), nats[known], found[known]
    if ax is None:
        ax = new_axes(COLUMN, 2.8)
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0, "rasterized": len(q) > _MANY_POINTS}
    ax.plot(nats[~found], q[~found], color=GRAY, alpha=0.4, markersize=3, label="not discovered", **look)
    ax.plot(nats[found], q[found], color=COLORS[1], alpha=0.8, markersize=4, label=f"discovered: {int(found.sum()):,}", **look)
    ax.axhline(selector.alpha, color=ink(), linewidth=0.9, linestyle=(0, (1, 1.5)), label=f"rate {selector.alpha:g}")
    ax.set_yscale("log")
    lowest = min(float(q.min(initial=1.0)), selector.alpha)
    ax.set_ylim(2.0, lowest**1.08 / 3)
    ax.set_xlim(left=0)
    name_axes(ax, "information, nats", "q-value")
    ax.legend(fontsize=FONT, frameon=False, handlelength=1.6, loc="lower right", bbox_to_anchor=(1.0, 0.14))
    table = selector.discovery_table(names, label_names)
    rows = list(zip(table["feature"], table["label"], table["information"], table["q"], strict=True))[:n_named]
    _name_points(ax, rows)
    return ax


def _name_points(ax: Axes, rows: list[tuple[str, str, float, float]]) -> None:
    """Write names next to their points; a name that overlaps an earlier one or the axis is omitted."""
    ax.figure.figure.draw_without_rendering()
    taken: list[Any] = []
    near_axis = 0.3 * ax.get_xlim()[1]
    for feature, label, nats, q in rows:
        left = nats > near_axis
        text = ax.annotate(
            f"{short(feature)}, {short(label)}",
            (nats, max(q, SMALLEST)),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=FONT - 1.5,
            parse_math=False,
        )
        box = text.get_window_extent()
        if box.x0 < ax.get_window_extent().x0 or any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)


def discovery_map(
    selector: "BaseDiscoveries",
    *,
    names: "Names" = None,
    label_names: "Names" = None,
    n_shown: int = N_SHOWN,
    ax: Axes | None = None,
) -> Axes:
    """Draw the discovered pairs of features (rows) and labels (columns), dark where they share much information.

    Every discovered pair has a dot, so that a weak one is seen too; pairs that were not discovered are white. Rows and columns
    are ordered by similarity, as in :func:`labelsieve.report.figures.information_map`. Labels without a discovery are left out.
    For a selector that discovers features instead of pairs, the map has all labels.

    Parameters
    ----------
    selector : fitted selector with discoveries
        Such as :class:`labelsieve.selectors.MarginalDiscoveries`.
    names, label_names : sequence of str, default=None
        Names of features and labels; by default those seen by ``fit``.
    n_shown : int, default=40
        The largest number of features, those with the smallest q-values.
    ax : matplotlib axes, default=None
        By default a new figure.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> from labelsieve.selectors import MarginalDiscoveries
    >>> data = make_feature_roles(n_rows=200, n_xor_pairs=0, n_noisy_copies=0)
    >>> found = MarginalDiscoveries().fit(data.X, data.Y)
    >>> len(discovery_map(found).get_yticklabels()) == len(found.selected_)
    True
    """
    from sklearn.utils.validation import check_is_fitted

    from labelsieve.selection import column_names

    check_is_fitted(selector)
    pairs = selector.pair_support_
    if not selector.finds_pairs:
        pairs = np.broadcast_to(selector.support_[:, np.newaxis], selector.information_.shape)
    rows = selector.selected_[pairs[selector.selected_].any(axis=1)][:n_shown]
    columns = np.flatnonzero(pairs[rows].any(axis=0))
    if not len(rows):
        raise InputError("discovery_map: nothing was discovered, so there is nothing to draw; see reason_.")
    names = getattr(selector, "feature_names_in_", None) if names is None else names
    label_names = getattr(selector, "label_names_", None) if label_names is None else label_names
    features = column_names(None, names, selector.n_features_in_, "feature")
    labels = column_names(None, label_names, pairs.shape[1], "label")
    table = np.where(pairs, np.nan_to_num(selector.information_), 0.0)[np.ix_(rows, columns)]
    ax = information_map(table, features=[features[row] for row in rows], labels=[labels[column] for column in columns], ax=ax)
    if selector.finds_pairs and table.size <= _MANY_CELLS:
        _mark_pairs(ax, pairs[np.ix_(rows, columns)], table)
    hidden = int(pairs.any(axis=1).sum()) - len(rows)
    if hidden:
        ax.set_title(f"the first {len(rows)} of {len(rows) + hidden} features", fontsize=FONT)
    return ax


def _mark_pairs(ax: Axes, found: NDArray[np.bool_], table: NDArray[np.float64]) -> None:
    """Put a dot on every discovered pair of a map, whose rows and columns are in the order of :func:`leaf_order`."""
    down, across = np.nonzero(found[np.ix_(leaf_order(table), leaf_order(table.T))])
    look: dict[str, Any] = {"s": 9, "facecolors": ON_DARK, "edgecolors": ON_LIGHT, "linewidths": 0.5}
    ax.scatter(across + 0.5, down + 0.5, label="discovered pair", **look)
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), fontsize=FONT, frameon=False, handletextpad=0.2, borderaxespad=0.1)


def p_value_calibration(p_values: ArrayLike | Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Draw the fraction of p-values below every level against the level, both on logarithmic axes.

    Under the null hypothesis, with shuffled labels for example, valid p-values lie on the diagonal or below it. With the
    labels of the data, what lies above the diagonal at the left are associations.

    Parameters
    ----------
    p_values : array-like, or dict of array-like
        p-values of any shape; several of them by name.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column.

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
    name_axes(ax, "p-value", "fraction of p-values at most this")
    ax.legend(fontsize=FONT, frameon=False, handlelength=1.6)
    return ax
