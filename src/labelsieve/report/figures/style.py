"""The style of figures: sizes that fit a paper, and colors that are safe for color-blind readers."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

from labelsieve.plotting import Axes
from labelsieve.report.text import printable

WIDTH = 6.3  # inches: the text width of a paper on A4
COLUMN = 3.5  # inches: a column of a paper with two
SHORTEST_BARS = 2.5  # inches for the bars of a chart
FONT = 8.0  # points
SMALLEST_FONT = 4.5

# Okabe and Ito (2008), without the yellow, which is invisible on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# One more than colors: the first 56 pairs of a color and a style are distinct.
STYLES: tuple[Any, ...] = ("-", "--", (0, (1, 1)), "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (6, 3)), (0, (2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
GRAY = "#666666"
# Text on colored cells. Not exactly white and black, which a dark page swaps.
ON_DARK, ON_LIGHT = "#fdfdfd", "#0a0a0a"
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx")  # with the first colors: distinct in gray print
TICK_GAP = 0.08  # inches between the texts of two ticks
ROUND = (1000, 500, 100, 50, 20, 10, 5, 2, 1)  # a multiple of an earlier number is rounder
LONGEST_NAME = 22  # characters; longer names are shortened
MOST_PARTS = 30  # of all names, the most frequent, that may be left out
_ENDS = "_.:/-+ "  # characters after which a name may be broken
_PART = re.compile(r"(?<=[_.:/+ -])")
_off_screen: ContextVar[bool] = ContextVar("off_screen", default=False)


def pyplot() -> Any:
    """Import matplotlib, when a figure is drawn."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'labelsieve[plot]'.") from error
    return plt


def new_axes(width: float, height: float, *, whole: bool = False) -> Axes:
    """Make axes in a new figure, which fill it (``whole``) or leave a margin for their labels."""
    layout: Literal["constrained"] | None = None if whole else "constrained"
    if _off_screen.get():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout=layout)
    else:
        figure = pyplot().figure(figsize=(width, height), layout=layout)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0)) if whole else figure.add_subplot()


@contextmanager
def off_screen() -> Iterator[None]:
    """Make figures inside without pyplot: no window opens, and no figure must be closed."""
    pyplot()  # raises if matplotlib is missing
    before = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(before)


def short(name: str) -> str:
    """Return a name for a figure: long ones without their middle, since many names differ at their ends.

    >>> short("Mean_Acc1298_Mean_Mem40_MFCC_12")
    'Mean_Acc129…m40_MFCC_12'
    """
    return _cut(printable(name), LONGEST_NAME)


def short_names(names: Iterable[object]) -> list[str]:
    """Return all names of a figure, long ones without middle parts, so that those that differ stay distinct.

    The same middle parts are left out of all long names, the most frequent first. First and last parts always stay. Names
    that are still long lose their middle, and those that would be equal then are cut less.

    >>> short_names(["tempo", "Mean_Acc1298_Mean_Mem40_MFCC_1", "Mean_Acc1298_Std_Mem40_MFCC_1"])
    ['tempo', 'Mean…Mean_Mem40_MFCC_1', 'Mean…Std_Mem40_MFCC_1']
    """
    whole = [printable(str(name)) for name in names]
    n_distinct, kept = len(set(whole)), whole
    parts = [_PART.split(name) if len(name) > LONGEST_NAME + 1 else [name] for name in whole]
    frequent = Counter(part.rstrip(_ENDS) for pieces in parts for part in pieces[1:-1])
    left_out: set[str] = set()
    for part, _ in frequent.most_common(MOST_PARTS):
        if max(map(len, kept), default=0) <= LONGEST_NAME + 1:
            break
        shorter = [_without(pieces, left_out | {part}) for pieces in parts]
        if len(set(shorter)) == n_distinct:
            left_out, kept = left_out | {part}, shorter
    shown = [_cut(name, LONGEST_NAME) for name in kept]
    counts = Counter(cut for _, cut in set(zip(whole, shown, strict=True)))
    return [_cut(name, 2 * LONGEST_NAME) if counts[cut] > 1 else cut for name, cut in zip(whole, shown, strict=True)]


def _without(parts: Sequence[str], left_out: set[str]) -> str:
    """Join the parts of a name, with an ellipsis for those in the middle that are left out."""
    shown = ""
    for index, part in enumerate(parts):
        if 0 < index < len(parts) - 1 and part.rstrip(_ENDS) in left_out:
            shown = shown if shown.endswith("…") else f"{shown.rstrip(_ENDS)}…"
        else:
            shown += part
    return shown


def _cut(name: str, longest: int) -> str:
    half = longest // 2
    return name if len(name) <= longest + 1 else f"{name[:half]}…{name[-half:]}"


def bar_axes(names: Sequence[str], height: float) -> Axes:
    """Make axes of a bar chart with names at the left: a column wide, or wider where names would cover half of it."""
    ax = new_axes(COLUMN, height)
    left = max((text_width(ax, name, FONT) for name in names), default=0.0)
    ax.figure.figure.set_figwidth(max(COLUMN, left + SHORTEST_BARS))
    return ax


def name_rows(ax: Axes, names: Sequence[str], above: float = 0.6) -> None:
    """Write the names of a bar chart, one row each from top to bottom, with ``above`` rows of space over the first."""
    ax.set_yticks(range(len(names)), names, fontsize=FONT, parse_math=False)
    ax.set_ylim(max(len(names), 1) - 0.4, -above)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=FONT)
    ax.spines[["top", "right", "left"]].set_visible(False)


def name_axes(ax: Axes, xlabel: str, ylabel: str, **ylabel_style: Any) -> None:
    """Write the labels of both axes at the font size of figures, and draw the left and the lower axis only."""
    ax.set_xlabel(xlabel, fontsize=FONT)
    ax.set_ylabel(ylabel, fontsize=FONT, **ylabel_style)
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)


def size_ticks(ax: Axes, sizes: Iterable[float]) -> None:
    """Put the ticks of the lower axis at numbers of features that were run: the first, the last, and round ones between.

    Numbers whose texts would touch those of others are left out.
    """
    run = sorted({int(size) for size in sizes})
    figure = ax.figure.figure
    if len(figure.axes) == 1:
        figure.draw_without_rendering()
    else:  # a layout of all panels for each of them takes long; before it they are narrower
        ax.get_xlim()  # sets the limits
    places = {size: float(ax.transData.transform((size, 0.0))[0]) / ax.figure.dpi for size in run}
    widths = {size: text_width(ax, f"{size}", FONT) for size in run}
    rounded = sorted(run, key=lambda size: next(index for index, base in enumerate(ROUND) if size % base == 0))
    kept: list[int] = []
    for size in dict.fromkeys([run[0], run[-1], *rounded]):
        if all(abs(places[size] - places[other]) > (widths[size] + widths[other]) / 2 + TICK_GAP for other in kept):
            kept.append(size)
    ax.set_xticks(sorted(kept), [f"{size}" for size in sorted(kept)])
    ax.xaxis.minorticks_off()


def size_in_inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes after layout."""
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    return float(box.width / ax.figure.dpi), float(box.height / ax.figure.dpi)


def ink() -> str:
    """Return the text color of the current style: black, or white in dark styles."""
    return str(pyplot().rcParams["text.color"])


def color(index: int) -> str:
    """Return a color of the cycle; black is replaced by the text color of the style."""
    cycled = COLORS[index % len(COLORS)]
    return ink() if cycled == "#000000" else cycled


def text_width(ax: Axes, text: str, size: float, weight: str = "normal") -> float:
    """Return the width of a text in inches."""
    drawn = ax.text(0, 0, text, fontsize=size, fontweight=weight, parse_math=False)
    box = drawn.get_window_extent()
    drawn.remove()
    return float(box.width / ax.figure.dpi)
