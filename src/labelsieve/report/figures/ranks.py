"""The critical difference diagram: average ranks of methods over data sets, and which of them differ."""

from dataclasses import dataclass
from math import ceil

from labelsieve.plotting import Axes
from labelsieve.report.figures.style import (
    COLORS,
    FONT,
    GRAY,
    SMALLEST_FONT,
    WIDTH,
    ink,
    new_axes,
    size_in_inches,
    text_width,
)
from labelsieve.report.text import printable
from labelsieve.statistics import Comparison

# Inches at the normal font size; everything shrinks together when the axes are too small.
_LEVEL = 0.17  # from one name to the next
_BAR = 0.09  # from one bar to the next
_ABOVE = 0.55  # the axis of ranks with its numbers and the critical difference
_GAP = 0.06  # between a line and its name
_NUMBER = 0.2  # from one number of the axis to the next
_SHORTEST_AXIS = 2.2


def critical_difference_diagram(comparison: Comparison, *, width: float = WIDTH, ax: Axes | None = None) -> Axes:
    """Draw average ranks of methods on a line, with bars that join methods without a significant difference.

    After Demšar (2006), figure 1; the best method is on the left. A bar joins methods of which no two differ significantly. If
    a method under a bar does not belong to it, which Wilcoxon's test can cause, dots mark those that do. A control is in bold,
    and the bar joins the methods that do not differ from it.

    Parameters
    ----------
    comparison : Comparison
        The result of :func:`labelsieve.statistics.compare`.
    width : float, default=6.3
        Inches of a new figure; more where names need it.
    ax : matplotlib axes, default=None
        Their size determines the size of the text. By default a new figure of fitting size.

    Examples
    --------
    >>> from labelsieve.statistics import compare
    >>> found = compare([[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]], lower_is_better=True, methods=["a", "b", "c"])
    >>> ax = critical_difference_diagram(found)
    >>> [text.get_text() for text in ax.texts][-3:]
    ['1.00  a', '2.25  b', 'c  2.75']
    """
    plan = _Plan(comparison)
    if ax is None:
        ax = new_axes(width, plan.height, whole=True)
        ax.figure.figure.set_figwidth(max(width, plan.width_of_names(ax, FONT) + plan.shortest_axis))
    scale = plan.fit(ax)
    _draw_axis(ax, comparison, plan.step, scale)
    for level, bar in enumerate(plan.bars):
        _draw_bar(ax, comparison, bar, -(plan.level_of_bar[level] + 1) * _BAR, scale)
    for name in plan.names:
        _draw_name(ax, name, plan, scale)
    return ax


@dataclass(frozen=True)
class _Name:
    text: str
    rank: float
    level: int
    left: bool
    control: bool

    @property
    def weight(self) -> str:
        return "bold" if self.control else "normal"


class _Plan:
    """The layout: ranks along x, inches along y with the axis of ranks at 0."""

    def __init__(self, comparison: Comparison) -> None:
        self.n_methods = len(comparison.methods)
        order = comparison.order
        on_left = (self.n_methods + 1) // 2
        self.names = []
        for position, method in enumerate(order):
            name, rank = printable(comparison.methods[method]), float(comparison.average_ranks[method])
            left = position < on_left
            text = f"{rank:.2f}  {name}" if left else f"{name}  {rank:.2f}"
            level = position if left else self.n_methods - 1 - position
            self.names.append(_Name(text, rank, level, left, method == comparison.control))
        self.shortest_axis = max(_SHORTEST_AXIS, _NUMBER * (self.n_methods - 1))
        self.gap, self.step = 0.0, 1
        self.bars = [group for group in comparison.groups if len(group) > 1]
        self.level_of_bar = _stack([_span(comparison, bar) for bar in self.bars])
        self.below_bars = (max(self.level_of_bar, default=-1) + 1.5) * _BAR
        self.depth = self.below_bars + on_left * _LEVEL
        self.height = _ABOVE + self.depth + 0.06

    def width_of_names(self, ax: Axes, size: float) -> float:
        """Return the width in inches of the longest names on both sides."""
        return sum(self.margins(ax, size))

    def margins(self, ax: Axes, size: float) -> tuple[float, float]:
        """Return the inches left and right of the axis of ranks."""
        left, right = (
            max((text_width(ax, name.text, size, name.weight) for name in self.names if name.left is side), default=0.0)
            for side in (True, False)
        )
        return left + 3 * _GAP, right + 3 * _GAP

    def fit(self, ax: Axes) -> float:
        """Set the limits of the axes; return the scale of all sizes."""
        ax.set_axis_off()
        width, height = size_in_inches(ax)
        scale = min(1.0, height / self.height)
        available = width - min(self.shortest_axis, 0.3 * width) + 0.01
        while scale * FONT > SMALLEST_FONT and self.width_of_names(ax, FONT * scale) > available:
            scale *= 0.95
        left, right = self.margins(ax, FONT * scale)
        per_rank = max(width - left - right, 0.2 * width) / (self.n_methods - 1)  # inches
        ax.set_xlim(1 - left / per_rank, self.n_methods + right / per_rank)
        ax.set_ylim(_ABOVE - height / scale, _ABOVE)
        self.gap, self.step = _GAP / per_rank, ceil(_NUMBER * scale / per_rank - 0.01)
        return scale


def _draw_axis(ax: Axes, comparison: Comparison, step: int, scale: float) -> None:
    n = len(comparison.methods)
    ax.plot([1, n], [0, 0], color=ink(), linewidth=1.0 * scale, solid_capstyle="butt")
    for rank in range(1, n + 1):
        labeled = (rank - 1) % step == 0
        ax.plot([rank, rank], [0, 0.06 if labeled else 0.035], color=ink(), linewidth=0.8 * scale)
        if labeled:
            ax.text(rank, 0.075, str(rank), ha="center", va="bottom", fontsize=FONT * scale)
    if comparison.critical_difference is None:
        ax.text(1, 0.36, "Wilcoxon's test with Holm's correction", va="center", fontsize=FONT * scale, color=GRAY)
        return
    distance = comparison.critical_difference
    if not comparison.different.any() and max(comparison.average_ranks) - min(comparison.average_ranks) > distance:
        # Explains a bar that is longer than the critical difference.
        ax.text(1, 0.36, "No difference by Friedman's test", va="center", fontsize=FONT * scale, color=GRAY)
    elif distance <= n - 1:
        ax.plot([1, 1 + distance], [0.34, 0.34], color=ink(), linewidth=1.4 * scale, marker="|", markersize=6 * scale)
        ax.text(1 + distance / 2, 0.39, f"CD = {distance:.2f}", ha="center", va="bottom", fontsize=FONT * scale)
    else:
        ax.text(1, 0.36, f"CD = {distance:.2f}, longer than the axis", va="center", fontsize=FONT * scale)


def _draw_bar(ax: Axes, comparison: Comparison, bar: tuple[int, ...], y: float, scale: float) -> None:
    low, high = _span(comparison, bar)
    ax.plot([low, high], [y, y], color=COLORS[0], linewidth=3.0 * scale, solid_capstyle="round", zorder=3)
    members = [float(comparison.average_ranks[method]) for method in bar]
    others = [
        method
        for method, rank in enumerate(comparison.average_ranks)
        if method not in bar and min(members) <= rank <= max(members)
    ]
    if others:
        ax.plot(members, [y] * len(members), "o", color="white", markeredgecolor=COLORS[0], markersize=4 * scale, zorder=4)


def _draw_name(ax: Axes, name: _Name, plan: _Plan, scale: float) -> None:
    y = -plan.below_bars - (name.level + 0.5) * _LEVEL
    end = 1 - plan.gap if name.left else plan.n_methods + plan.gap
    ax.plot([name.rank, name.rank, end], [0, y, y], color=GRAY, linewidth=0.8 * scale, solid_joinstyle="miter", zorder=1)
    x, side = (end - plan.gap, "right") if name.left else (end + plan.gap, "left")
    ax.text(x, y, name.text, ha=side, va="center", fontsize=FONT * scale, fontweight=name.weight, parse_math=False)


def _span(comparison: Comparison, bar: tuple[int, ...]) -> tuple[float, float]:
    """Return the ends of a bar: slightly beyond its methods, so that bars of equal ranks are visible."""
    ranks = [float(comparison.average_ranks[method]) for method in bar]
    margin = 0.004 * (len(comparison.methods) - 1)
    return min(ranks) - margin, max(ranks) + margin


def _stack(spans: list[tuple[float, float]]) -> list[int]:
    """Return the highest free level for every bar, from left to right."""
    ends: list[float] = []
    levels = []
    for low, high in spans:
        free = [level for level, end in enumerate(ends) if end < low]
        level = free[0] if free else len(ends)
        if level == len(ends):
            ends.append(high)
        ends[level] = high
        levels.append(level)
    return levels
