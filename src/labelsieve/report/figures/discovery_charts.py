from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.information_map import information_map
from labelsieve.report.figures.style import COLORS, COLUMN, FONT, GRAY, MARKERS, ink, new_axes, short

if TYPE_CHECKING:
    from labelsieve.selectors.base_discoveries import BaseDiscoveries
    from labelsieve.selectors.column_frames import Names

N_NAMED = 5
SMALLEST = 1e-300  # q-values below it are drawn there
_MANY = 5000  # points: more are drawn as one image, also in vector formats
N_SHOWN = 40


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

    Returns
    -------
    matplotlib axes

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
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0, "rasterized": len(q) > _MANY}
    ax.plot(nats[~found], q[~found], color=GRAY, alpha=0.4, markersize=3, label="not discovered", **look)
    ax.plot(nats[found], q[found], color=COLORS[1], alpha=0.8, markersize=4, label=f"discovered: {int(found.sum()):,}", **look)
    ax.axhline(selector.alpha, color=ink(), linewidth=0.9, linestyle=(0, (1, 1.5)), label=f"rate {selector.alpha:g}")
    ax.set_yscale("log")
    lowest = min(float(q.min(initial=1.0)), selector.alpha)
    ax.set_ylim(2.0, lowest**1.08 / 3)
    ax.set_xlim(left=0)
    ax.set_xlabel("information, nats", fontsize=FONT)
    ax.set_ylabel("q-value", fontsize=FONT)
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=FONT, frameon=False, handlelength=1.6, loc="lower right", bbox_to_anchor=(1.0, 0.14))
    table = selector.discovery_table(names, label_names)
    rows = list(zip(table["feature"], table["label"], table["information"], table["q"], strict=True))[:n_named]
    _write_names(ax, rows)
    return ax


def _write_names(ax: Axes, rows: list[tuple[str, str, float, float]]) -> None:
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

    Pairs that were not discovered are white. Rows and columns are ordered by similarity, as in
    :func:`labelsieve.report.figures.information_map`. Labels without a discovery are left out. For a selector that discovers
    features instead of pairs, the map has all labels.

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

    Returns
    -------
    matplotlib axes

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

    from labelsieve.selectors.column_frames import column_names

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
    hidden = int(pairs.any(axis=1).sum()) - len(rows)
    if hidden:
        ax.set_title(f"the first {len(rows)} of {len(rows) + hidden} features", fontsize=FONT)
    return ax


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
