from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLUMN, FONT, GRAY, SMALLEST_FONT, WIDTH, new_axes, short_names, text_width
from labelsieve.table_types import TableLike

_CELL = (0.2, 0.16)  # inches, where space permits
_TALLEST = 9.0
_MANY = 2500  # cells: more are drawn as one image, also in vector formats
_UNNAMED = 120  # rows or columns: more have no names that could be read


def information_map(
    information: TableLike,
    *,
    features: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mutual information of every feature with every label as a clustered heat map.

    Rows and columns are ordered as the leaves of average-linkage trees of their Euclidean distances (scipy's hierarchy with
    optimal leaf ordering). Dark is high; the colors, shades of one blue, differ in lightness only, so they are safe for
    color-blind readers and keep their order in gray.

    Parameters
    ----------
    information : array-like of shape (n_features, n_labels)
        In nats, as returned by ``Sieve.label_information``.
    features, labels : sequence of str, default=None
        Names (default: numbers).
    ax : matplotlib axes, default=None
        By default a new figure: as wide as a column of a paper, or wider where the labels need it.

    Returns
    -------
    matplotlib axes

    Notes
    -----
    Cost: distances of all pairs of rows and of all pairs of columns.

    Examples
    --------
    >>> ax = information_map([[0.5, 0.0, 0.4], [0.0, 0.3, 0.0], [0.4, 0.0, 0.5]], features=["a", "b", "c"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['b', 'c', 'a']
    """
    table = np.asarray(information, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise InputError(f"information must be a table of finite numbers, features in rows; this has shape {table.shape}.")
    rows = _names(features, table.shape[0], "features")
    columns = _names(labels, table.shape[1], "labels")
    down, across = leaf_order(table), leaf_order(table.T)
    if ax is None:
        ax = _fitting_axes(rows, columns)
    look: dict[str, Any] = {"cmap": "Blues", "edgecolors": "face", "linewidth": 0.2, "rasterized": table.size > _MANY}
    mesh = ax.pcolormesh(table[np.ix_(down, across)], vmin=0, vmax=max(float(table.max()), 1e-12), **look)
    ax.set_ylim(len(rows), 0)
    _write_names(ax, [rows[row] for row in down], [columns[column] for column in across])
    bar = ax.figure.colorbar(mesh, ax=ax, location="right", fraction=0.05, pad=0.02, aspect=30)
    bar.set_label("information, nats", fontsize=FONT)
    bar.ax.tick_params(labelsize=FONT)
    bar.outline.set_visible(False)
    bar.solids.set_rasterized(True)  # type: ignore[union-attr]
    return ax


def leaf_order(table: NDArray[np.float64]) -> list[int]:
    """Return an order of the rows in which similar ones are neighbors.

    >>> leaf_order(np.array([[0.0], [9.0], [1.0]]))
    [1, 2, 0]
    """
    if len(table) < 3:
        return list(range(len(table)))
    from scipy.cluster.hierarchy import leaves_list, linkage

    tree = linkage(table, method="average", optimal_ordering=len(table) <= 500)  # cubic in the rows
    return [int(leaf) for leaf in leaves_list(tree)]


def _names(given: Sequence[str] | None, count: int, what: str) -> list[str]:
    if given is None:
        return [str(number) for number in range(count)]
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} {what}.")
    return short_names(given)


def _fitting_axes(rows: list[str], columns: list[str]) -> Any:
    ax = new_axes(COLUMN, 1.0)
    left = max(text_width(ax, name, FONT) for name in rows) if len(rows) <= _UNNAMED else 0.2
    above = max(text_width(ax, name, FONT) for name in columns) if len(columns) <= _UNNAMED else 0.2
    width = min(WIDTH, max(COLUMN, 1.0 + left + _CELL[0] * len(columns)))
    height = min(_TALLEST, 0.3 + above + max(1.2, _CELL[1] * len(rows)))
    ax.figure.figure.set_size_inches(width, height)
    return ax


def _write_names(ax: Axes, rows: list[str], columns: list[str]) -> None:
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    each = 72 / ax.figure.dpi * box.height / len(rows), 72 / ax.figure.dpi * box.width / len(columns)  # points
    down, across = (min(FONT, 0.95 * points) for points in each)
    centers = np.arange(len(rows)) + 0.5, np.arange(len(columns)) + 0.5
    if down >= SMALLEST_FONT:
        ax.set_yticks(centers[0], rows, fontsize=down, parse_math=False)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(rows):,} features", fontsize=FONT, color=GRAY)
    if across >= SMALLEST_FONT:
        ax.set_xticks(centers[1], columns, fontsize=across, rotation=90, parse_math=False)
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(columns):,} labels", fontsize=FONT, color=GRAY)
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
