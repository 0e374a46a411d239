from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, FONT, HATCHES, bar_axes, ink, short_names

if TYPE_CHECKING:
    from labelsieve.selectors.base import BaseSieve
    from labelsieve.selectors.column_frames import Names

_ROW = 0.17  # inches for a feature
_MARGINS = 0.75  # inches for the axis below and the legend above
# Fixed index of the color and hatch of each component.
_LOOKS = {"relevance": 0, "redundancy": 1, "interaction": 2, "complementarity": 2, "label pairs": 3}
_LOOKS |= {"information": 0, "least squares": 2}  # relative gains, which have no unit


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
    :class:`labelsieve.HybridSieve` the relative gains of information and least squares. A
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

    Returns
    -------
    matplotlib axes

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
        ax = bar_axes(labels, _MARGINS + _ROW * max(1, len(shown)))
    note, unit = "", "nats"
    if components is None:
        components, note = score_components(selector)
        unit = _unit(selector)
    columns = {kind: np.asarray(values, dtype=np.float64)[:n_shown] for kind, values in components.items()}
    columns = {kind: values for kind, values in columns.items() if len(columns) == 1 or np.any(values != 0)}
    _draw(ax, columns, len(shown))
    ax.set_yticks(range(len(shown)), labels, fontsize=FONT, parse_math=False)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    left = f"; {len(selected) - len(shown):,} more are not shown" if len(selected) > len(shown) else ""
    ax.set_xlabel(f"{unit}{left}", fontsize=FONT)
    ax.tick_params(axis="x", labelsize=FONT)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
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


def _unit(selector: "BaseSieve") -> str:
    """Return the unit of the scores: those of formulas and their components are information."""
    relative = _is_relative(getattr(selector, "score_components_", {}))
    return "nats" if hasattr(selector, "criterion_") and not relative else "score"


def _is_relative(components: Mapping[str, Any]) -> bool:
    """True for the gains of HybridSieve, each relative to the best candidate of its step."""
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
