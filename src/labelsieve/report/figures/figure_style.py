"""How figures look: sizes that fit a paper, colors that color-blind readers can tell apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from labelsieve.report.plaintext import printable

WIDTH = 6.3  # inches: the text width of a paper on A4
COLUMN = 3.5  # inches: a column of a paper with two
SHORTEST_BARS = 2.5  # inches for the bars of a chart
FONT = 8.0  # points
SMALLEST_FONT = 4.5

# Okabe and Ito (2008), without the yellow that is lost on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# As many as colors, plus one: the first 56 pairs of a color and a style are all different.
STYLES: tuple[Any, ...] = ("-", "--", (0, (1, 1)), "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (6, 3)), (0, (2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
GRAY = "#666666"
# For what lies on a colored cell. Not quite white and black, which a page with a dark background swaps.
ON_DARK, ON_LIGHT = "#fdfdfd", "#0a0a0a"
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx")  # with the first colors: told apart in gray print
LONGEST_NAME = 22  # characters; a figure is no place to read more
_off_screen: ContextVar[bool] = ContextVar("off_screen", default=False)


def pyplot() -> Any:
    """matplotlib, imported when a figure is drawn."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'labelsieve[plot]'.") from error
    return plt


def new_axes(width: float, height: float, *, whole: bool = False) -> Any:
    """Axes in a figure of their own, that fill it or leave room for their labels."""
    how: dict[str, Any] = {"figsize": (width, height), "layout": None if whole else "constrained"}
    if _off_screen.get():
        from matplotlib.figure import Figure

        figure = Figure(**how)
    else:
        figure = pyplot().figure(**how)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0)) if whole else figure.add_subplot()


@contextmanager
def off_screen() -> Iterator[None]:
    """Figures that are made inside are unknown to pyplot: no window opens, and nothing has to be closed."""
    pyplot()  # says what to install
    before = _off_screen.set(True)
    try:
        yield
    finally:
        _off_screen.reset(before)


def short(name: str) -> str:
    """A name as figures show it: long ones without their middle, since many names differ at their ends.

    >>> short("Mean_Acc1298_Mean_Mem40_MFCC_12")
    'Mean_Acc129…m40_MFCC_12'
    """
    return _cut(printable(name), LONGEST_NAME)


def short_names(names: Iterable[object]) -> list[str]:
    """All names of a figure as it shows them: those that would look the same are cut less.

    >>> short_names(["tempo", "Mean_Acc1298_Mean_Mem40_MFCC_1", "Mean_Acc1298_Std_Mem40_MFCC_1"])
    ['tempo', 'Mean_Acc1298_Mean_Mem40_MFCC_1', 'Mean_Acc1298_Std_Mem40_MFCC_1']
    """
    whole = [printable(str(name)) for name in names]
    shown = [_cut(name, LONGEST_NAME) for name in whole]
    often = Counter(shown)
    return [_cut(name, 2 * LONGEST_NAME) if often[cut] > 1 else cut for name, cut in zip(whole, shown, strict=True)]


def _cut(name: str, longest: int) -> str:
    half = longest // 2
    return name if len(name) <= longest + 1 else f"{name[:half]}…{name[-half:]}"


def bar_axes(names: Sequence[str], height: float) -> Any:
    """Axes of a bar chart with names at the left: a column wide, or somewhat wider where names would take its half."""
    ax = new_axes(COLUMN, height)
    beside = max((text_width(ax, name, FONT) for name in names), default=0.0)
    ax.figure.set_figwidth(max(COLUMN, beside + SHORTEST_BARS))
    return ax


def size_in_inches(ax: Any) -> tuple[float, float]:
    """Width and height of axes, once the layout of their figure is settled."""
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    return float(box.width / ax.figure.dpi), float(box.height / ax.figure.dpi)


def ink() -> str:
    """The color of text in the style that is in use: black, or white on the dark background of another."""
    return str(pyplot().rcParams["text.color"])


def color(place: int) -> str:
    """One of the colors, again from the first when there are no more; the black one is the ink of the style."""
    own = COLORS[place % len(COLORS)]
    return ink() if own == "#000000" else own


def text_width(ax: Any, text: str, size: float, weight: str = "normal") -> float:
    """Width of a text in inches."""
    drawn = ax.text(0, 0, text, fontsize=size, fontweight=weight, parse_math=False)
    box = drawn.get_window_extent()
    drawn.remove()
    return float(box.width / ax.figure.dpi)
