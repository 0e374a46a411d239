"""How figures look: sizes that fit a paper, colours that colour-blind readers can tell apart."""

from typing import Any

WIDTH = 6.3  # inches: the text width of a paper on A4
FONT = 8.0  # points
SMALLEST_FONT = 4.5

# Okabe and Ito (2008), without the yellow that is lost on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# As many as colours, plus one: the first 56 pairs of a colour and a style are all different.
STYLES: tuple[Any, ...] = ("-", "--", (0, (1, 1)), "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (6, 3)), (0, (2, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
GREY = "#666666"


def pyplot() -> Any:
    """matplotlib, imported when a figure is drawn."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'labelsieve[plot]'.") from error
    return plt


def new_axes(width: float, height: float, *, whole: bool = False) -> Any:
    """Axes in a figure of their own, that fill it or leave room for their labels."""
    figure = pyplot().figure(figsize=(width, height), layout=None if whole else "constrained")
    return figure.add_axes((0.0, 0.0, 1.0, 1.0)) if whole else figure.add_subplot()


def size_in_inches(ax: Any) -> tuple[float, float]:
    """Width and height of axes, once the layout of their figure is settled."""
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    return float(box.width / ax.figure.dpi), float(box.height / ax.figure.dpi)


def text_width(ax: Any, text: str, size: float) -> float:
    """Width of a text in inches."""
    drawn = ax.text(0, 0, text, fontsize=size, parse_math=False)
    box = drawn.get_window_extent()
    drawn.remove()
    return float(box.width / ax.figure.dpi)
