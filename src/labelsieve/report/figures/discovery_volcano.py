from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, COLUMN, FONT, GRAY, ink, new_axes, short

if TYPE_CHECKING:
    from labelsieve.selectors.base_discoveries import BaseDiscoveries
    from labelsieve.selectors.column_frames import Names

N_NAMED = 5
SMALLEST = 1e-300  # q-values below it are drawn there
_MANY = 5000  # points: more are drawn as one image, also in vector formats


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
    names, label_names : sequence of str, optional
        Of features and labels (default: those of ``fit``).
    n_named : int, default=5
        Pairs whose names are shown.
    ax : matplotlib axes, optional
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
