"""The figure of the explained share: what every selected feature adds, and how far all features are away."""

from typing import TYPE_CHECKING, Any

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, FONT, GRAY, bar_axes, ink, name_rows, pyplot, short_names
from labelsieve.report.text import percent, points

if TYPE_CHECKING:
    from labelsieve.selection import Selection

_BAR, _MARGINS = 0.17, 1.0  # inches: height of a row; the axis below the rows and the legend above
_ROOM = 1.04  # of the longest bar


def explained_share(selection: "Selection", *, n_shown: int = 30, ax: Axes | None = None) -> Axes:
    """Draw what the selected features explain, in order from top to bottom, as steps that add up.

    The bar of a feature begins where that of the feature above ends, so its length is the gain and its end the share that the
    features up to it explain in held-out rows. A filled bar is distinguishable from noise, a hollow one is not on its own. The
    number at the right is the gain in points. The thin line at the end of a bar is plus and minus one standard error of the
    share; the dashed line is the share of all features.

    Parameters
    ----------
    selection : Selection
        With its explained share, as ``selector.selection(X, y, explained=True)`` returns it.
    n_shown : int, default=30
        Maximum number of features.
    ax : matplotlib axes, default=None
        By default a new figure, as wide as a column where names are not long.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=300, n_xor_pairs=0)
    >>> sieve = Sieve(n_features_to_select=3).fit(data.X, data.Y)
    >>> ax = explained_share(sieve.selection(data.X, data.Y, names=data.feature_names, explained=True))
    >>> ax.get_xlabel()
    'explained share in held-out rows, %'
    """
    explained = selection.explained
    if explained is None or not selection.selected:
        raise InputError("explained_share: this selection has no explained share; use selection(X, y, explained=True).")
    steps = [feature for feature in selection.selected[:n_shown] if feature.explained is not None and feature.gain is not None]
    names = short_names(feature.feature for feature in steps)
    labels = [f"{feature.rank}  {name}" for feature, name in zip(steps, names, strict=True)]
    if ax is None:
        ax = bar_axes(labels, _MARGINS + _BAR * len(steps))
    looks = {True: COLORS[0], False: "none"}
    ends = []
    for row, feature in enumerate(steps):
        total, gain, error = (
            100 * (feature.explained or 0.0),
            100 * (feature.gain or 0.0),
            100 * (feature.explained_error or 0.0),
        )
        face = looks[feature.signal is not False]
        ax.barh(row, gain, left=total - gain, height=0.72, facecolor=face, edgecolor=COLORS[0], linewidth=0.9)
        ax.plot([total - error, total + error], [row, row], color=GRAY, linewidth=0.8)
        # At the right edge, where the line of all features does not cross the numbers.
        ax.text(1.01, row, points(feature.gain or 0.0), transform=ax.get_yaxis_transform(), fontsize=FONT, va="center")
        ends.append(max(total + error, total - gain))
    whole = 100 * explained.all_features
    ax.axvline(whole, color=COLORS[1], linestyle="--", linewidth=1.1, zorder=0)
    ax.axvline(0, color=ink(), linewidth=0.8)
    name_rows(ax, labels)
    low = min(0.0, *(100 * (feature.explained or 0.0) for feature in steps))
    ax.set_xlim(1.1 * low, _ROOM * max(*ends, whole, 1.0))
    left = len(selection.selected) - len(steps)
    more = f"\n{left:,} more {'is' if left == 1 else 'are'} not shown" if left else ""
    ax.set_xlabel(f"explained share in held-out rows, %{more}", fontsize=FONT)
    _add_key(ax, selection, f"all {selection.n_features:,} features: {percent(explained.all_features)}")
    return ax


def _add_key(ax: Axes, selection: "Selection", reference: str) -> None:
    """Draw the legend above the axes: marks of signal, where they are known, and the line of all features."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    pyplot()
    handles: list[Any] = [Line2D([], [], color=COLORS[1], linestyle="--", linewidth=1.1, label=reference)]
    marks = [feature.signal for feature in selection.selected if feature.signal is not None]
    if marks:
        handles.append(Patch(facecolor=COLORS[0], edgecolor=COLORS[0], label="gain, distinguishable from noise"))
    if not all(marks):
        handles.append(Patch(facecolor="none", edgecolor=COLORS[0], label="gain, not on its own"))
    where: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 1, "borderaxespad": 0.2}
    ax.legend(handles=handles, fontsize=FONT, frameon=False, handlelength=1.6, **where)
