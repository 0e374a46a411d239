from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelsieve.plotting import Axes
from labelsieve.report.figures.style import FONT, ON_DARK, ON_LIGHT, SMALLEST_FONT, WIDTH, new_axes, size_in_inches, text_width
from labelsieve.report.plaintext import printable
from labelsieve.statistics import ranks
from labelsieve.statistics.results_table import Results, read_results
from labelsieve.table_types import Frame

_CELL = (0.42, 0.2)  # inches


def rank_map(
    table: ArrayLike | Frame | Results, *, lower_is_better: bool, methods: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the ranks of the methods on every data set as a heat map, from the best method on the left to the worst.

    The last row has the average ranks. Cells that are large enough show their number. Colors run from dark for the best to
    light and are safe for color-blind readers and gray print (cividis).

    Parameters
    ----------
    table : array-like or frame of shape (n_datasets, n_methods)
        As in :func:`labelsieve.statistics.compare`. Rows may be numbers of features as well.
    lower_is_better : bool
        True for losses.
    methods : sequence of str, default=None
        Names, for tables without column names.
    ax : matplotlib axes, default=None
        By default a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> ax = rank_map([[0.1, 0.3], [0.2, 0.2]], lower_is_better=False, methods=["mim", "jmi"])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['jmi', 'mim']
    """
    results = read_results(table, methods)
    ranked = ranks(results, lower_is_better=lower_is_better)
    means = ranked.mean(axis=0)
    order = np.argsort(means, kind="stable")
    shown = np.vstack([ranked, means])[:, order]
    names = [printable(results.methods[method]) for method in order]
    rows = [*map(printable, results.datasets), "average"]
    n_rows, n_columns = shown.shape
    if ax is None:
        ax = _fitting_axes(names, rows)
    look: dict[str, Any] = {"cmap": "cividis", "edgecolors": "white", "linewidth": 0.5}
    ax.pcolormesh(np.arange(n_columns + 1), np.arange(n_rows + 1), shown, vmin=1, vmax=max(n_columns, 2), **look)
    ax.set_xlim(0, n_columns)
    ax.set_ylim(n_rows, 0)
    ax.axhline(n_rows - 1, color="white", linewidth=2.5)
    _name(ax, names, rows)
    size = _number_size(ax, n_rows, n_columns)
    for (row, column), rank in np.ndenumerate(shown) if size else ():
        text = f"{rank:.2f}" if row == n_rows - 1 else f"{rank:g}"
        dark = rank < 1 + 0.55 * (n_columns - 1)
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=size, color=ON_DARK if dark else ON_LIGHT)
    return ax


def _fitting_axes(names: list[str], rows: list[str]) -> Axes:
    probe = new_axes(WIDTH, 1.0)
    above = max(text_width(probe, name, FONT) for name in names)
    left = max(text_width(probe, row, FONT) for row in rows)
    turned = above > _CELL[0]
    width = min(max(WIDTH, 0.3 + left + _CELL[0] * len(names)), 2 * WIDTH)
    probe.figure.figure.set_size_inches(width, 0.2 + (above if turned else 0.2) + _CELL[1] * len(rows))
    return probe


def _number_size(ax: Axes, n_rows: int, n_columns: int) -> float:
    """Return the largest font size that fits the cells; 0 for cells that are too small for numbers."""
    width, height = size_in_inches(ax)
    by_width = FONT * 0.9 * width / n_columns / text_width(ax, "10.55", FONT)
    by_height = 72 * 0.85 * height / n_rows
    size = min(FONT, by_width, by_height)
    return size if size >= SMALLEST_FONT else 0.0


def _name(ax: Axes, names: list[str], rows: list[str]) -> None:
    """Write names at the normal font size, or smaller where they would cover most of the given axes."""
    width, height = size_in_inches(ax)
    above, left = (max(text_width(ax, name, FONT) for name in texts) for texts in (names, rows))
    turned = above > 0.95 * width / len(names)
    size = FONT * min(1.0, 0.4 * width / left, 0.5 * height / above if turned else 1.0)
    if turned:
        size = min(size, 72 * 0.95 * width / len(names))
    size = max(SMALLEST_FONT, size)
    ax.set_xticks(np.arange(len(names)) + 0.5, names, fontsize=size, rotation=90 if turned else 0, parse_math=False)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=size, parse_math=False)
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
