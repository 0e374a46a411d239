"""Several axes in a figure, with one legend for all of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from labelsieve.report.figures import curves
from labelsieve.report.figures.figure_style import FONT, WIDTH, pyplot

HEIGHT = 1.9  # inches of a row


def panels(n_rows: int, n_columns: int, *, height: float = HEIGHT) -> tuple[Any, Any]:
    """A figure and its axes, shape ``(n_rows, n_columns)``."""
    size = (max(WIDTH, 1.9 * n_columns), height * n_rows)
    figure, axes = pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    return figure, axes


def curve_panel(ax: Any, x: Sequence[float], values: Mapping[str, Any], title: str, xlabel: str = "") -> None:
    """Means over the folds as curves, without bands: five folds of one data set say little about spread."""
    means = {name: np.atleast_2d(np.asarray(one, dtype=np.float64)).mean(axis=0) for name, one in values.items()}
    curves(x, means, ax=ax, legend=False, xlabel=xlabel)
    ax.set_title(title, fontsize=FONT)


def common_legend(figure: Any, axes: Any, names: Iterable[str]) -> None:
    """Under all axes. The figure cannot have a common label there too: they would lie on each other."""
    names = list(names)
    figure.legend(axes.lines[: len(names)], names, loc="outside lower center", ncols=len(names), fontsize=FONT, frameon=False)
