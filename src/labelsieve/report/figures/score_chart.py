from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.report.figures.figure_style import COLORS, FONT, HATCHES, bar_axes, ink, short_names

_ROW = 0.17  # inches for a feature
_AROUND = 0.75  # inches for the axis below and the legend above
# What a part is drawn with, whatever else is in the figure: place among the colors and hatches.
_LOOKS = {"relevance": 0, "redundancy": 1, "interaction": 2, "complementarity": 2, "label pairs": 3}


def ranking(
    selector: Any,
    *,
    names: Sequence[str] | None = None,
    parts: Mapping[str, Any] | None = None,
    n_shown: int = 30,
    ax: Any = None,
) -> Any:
    """The chosen features in order, from top to bottom, with their scores split into what each is made of.

    Bars to the right add to a score and bars to the left take from it; a diamond is what remains, the score. The parts are
    those of the criterion's formula: relevance, redundancy, interaction with chosen features, pairs of labels. A formula of one
    term has nothing to split, and the figure says so; ``parts`` then shows the information of every step in another way.

    Parameters
    ----------
    selector : fitted selector
        With ``selected_`` and ``scores_``; ``score_components_`` and ``criterion_`` where it has them.
    names : sequence of str, optional
        Of all features; by default those seen by ``fit``, or numbers.
    parts : mapping of str to array-like, optional
        In place of the parts of the scores, such as what ``Sieve.information_components`` returns. A diamond is their sum.
    n_shown : int
        The first so many features.
    ax : matplotlib axes, optional
        By default a figure of its own, as wide as a column where names are not long.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelsieve import Sieve
    >>> sieve = Sieve("mrmr", n_features_to_select=2, discretizer=None).fit([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 0, 1, 1])
    >>> ax = ranking(sieve, names=["tempo", "loud"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1  tempo', '2  loud']
    """
    selected = np.asarray(selector.selected_)
    if selected.ndim != 1:
        raise InputError("ranking draws one list of features; for a list of every label see shared_features.")
    shown = selected[:n_shown]
    labels = [f"{place}  {name}" for place, name in enumerate(names_of(selector, names, shown), 1)]
    if ax is None:
        ax = bar_axes(labels, _AROUND + _ROW * max(1, len(shown)))
    note = ""
    if parts is None:
        parts, note = own_parts(selector)
    columns = {kind: np.asarray(values, dtype=np.float64)[:n_shown] for kind, values in parts.items()}
    columns = {kind: values for kind, values in columns.items() if len(columns) == 1 or np.any(values != 0)}
    _draw(ax, columns, len(shown))
    ax.set_yticks(range(len(shown)), labels, fontsize=FONT, parse_math=False)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    left = f"; {len(selected) - len(shown):,} more are not shown" if len(selected) > len(shown) else ""
    ax.set_xlabel(f"{_unit(selector)}{left}", fontsize=FONT)
    ax.tick_params(axis="x", labelsize=FONT)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    _explain(ax, columns, note)
    return ax


def names_of(selector: Any, names: Sequence[str] | None, columns: NDArray[np.intp]) -> list[str]:
    """Short names of some columns: those given, those that ``fit`` saw, or numbers."""
    known = getattr(selector, "feature_names_in_", None) if names is None else names
    if known is None:
        return [str(int(column)) for column in columns]
    if len(known) != selector.n_features_in_:
        raise InputError(f"{len(known)} names for {selector.n_features_in_} features.")
    return short_names(known[int(column)] for column in columns)


def own_parts(selector: Any) -> tuple[Mapping[str, Any], str]:
    """The parts of the scores, and what to say when there is one only."""
    parts: Mapping[str, Any] = getattr(selector, "score_components_", {})
    criterion = getattr(selector, "criterion_", None)
    if criterion is None or not parts:
        return {"score": selector.scores_}, ""
    if set(parts) == {"relevance"} or len(criterion.plan.components) > 1:
        return parts, ""
    return {"score": selector.scores_}, f"{criterion.name}: one term, nothing to split"


def _unit(selector: Any) -> str:
    """What scores are measured in: those of formulas and their parts are information."""
    return "nats" if hasattr(selector, "criterion_") else "score"


def _draw(ax: Any, columns: Mapping[str, NDArray[np.float64]], n_shown: int) -> None:
    places = np.arange(n_shown)
    right, left = np.zeros(n_shown), np.zeros(n_shown)
    for kind, values in columns.items():
        look = _LOOKS.get(kind, 0)
        start = np.where(values >= 0, right, left)
        how: dict[str, Any] = {"color": COLORS[look], "hatch": HATCHES[look], "edgecolor": "white", "linewidth": 0}
        ax.barh(places, values, left=start, height=0.72, label=kind, **how)
        right, left = right + np.maximum(values, 0), left + np.minimum(values, 0)
    if len(columns) > 1:
        total = np.sum(list(columns.values()), axis=0)
        how = {"color": ink(), "markeredgecolor": "white", "markeredgewidth": 0.6, "markersize": 4.5}
        ax.plot(total, places, "D", linestyle="none", zorder=3, clip_on=False, label="sum", **how)
    ax.axvline(0, color=ink(), linewidth=0.8)


def _explain(ax: Any, columns: Mapping[str, Any], note: str) -> None:
    """The legend, above the axes."""
    known = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    kinds = [*columns, *(["sum"] if len(columns) > 1 else [])]
    if len(columns) > 1 or note or next(iter(columns), "score") != "score":
        ax.legend(
            [known[kind] for kind in kinds],
            [note or kind for kind in kinds],
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=2,
            fontsize=FONT,
            frameon=False,
            handlelength=1.4,
            columnspacing=1.2,
            borderaxespad=0.2,
        )
