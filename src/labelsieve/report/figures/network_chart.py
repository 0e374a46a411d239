from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.errors import InputError
from labelsieve.plotting import Axes
from labelsieve.report.figures.style import COLORS, FONT, GRAY, SMALLEST_FONT, WIDTH, ink, new_axes, pyplot, text_width

if TYPE_CHECKING:
    from labelsieve.labelspace import LabelNetwork

_ROW = 0.2  # inches for a label
_TALLEST = 9.0  # a page
_HALF_CIRCLE = np.linspace(0, np.pi, 41)


def label_network(network: "LabelNetwork", *, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw a label network as labels in chain order, from top to bottom, with an arc from every parent down to its child.

    The first parent of a label has a thick line, the others thin ones. A gray name is a label without parents.

    Parameters
    ----------
    network : LabelNetwork
        As learned by ``NetworkRule.learn``, or the ``network_`` of a chain or a selector.
    names : sequence of str, default=None
        Names of the labels; by default those of the network, or numbers.
    ax : matplotlib axes, default=None
        By default a new figure whose height fits the labels; where they exceed a page, names are left out.

    Returns
    -------
    matplotlib axes

    Notes
    -----
    Cost: a curve of 41 points for each parent of each label.

    Examples
    --------
    >>> from labelsieve import LabelNetwork
    >>> ax = label_network(LabelNetwork(order=[2, 0, 1], parents=[[2], [2, 0], []]), names=["calm", "happy", "sad"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['sad', 'calm', 'happy']
    """
    pyplot()  # raises if matplotlib is missing
    from matplotlib.collections import LineCollection

    known = network.names if names is None else names
    texts = [str(label) for label in range(network.n_labels)] if known is None else list(map(str, known))
    if len(texts) != network.n_labels:
        raise InputError(f"{len(texts)} names for {network.n_labels} labels.")
    in_order = [texts[label] for label in network.order]
    height = min(_TALLEST, _ROW * (network.n_labels + 1))
    size = min(FONT, 72 * 0.7 * height / (network.n_labels + 1))
    if ax is None:
        ax = _fitting_axes(in_order, height, size)
    position_of = {label: position for position, label in enumerate(network.order)}
    first = [(position_of[parents[0]], position_of[label]) for label, parents in enumerate(network.parents) if parents]
    others = [
        (position_of[parent], position_of[label]) for label, parents in enumerate(network.parents) for parent in parents[1:]
    ]
    ax.add_collection(LineCollection(_arcs(others), colors=GRAY, linewidths=0.5, alpha=0.6, zorder=1))
    ax.add_collection(LineCollection(_arcs(first), colors=COLORS[0], linewidths=1.4, zorder=2))
    children = sorted({child for _, child in first})
    ax.plot(np.full(len(children), 0.02), children, "<", color=COLORS[0], markersize=size / 2, clip_on=False, zorder=3)
    longest = max((child - parent for parent, child in first + others), default=1)
    ax.set_xlim(0, 0.5 * longest**0.7 + 0.05)
    ax.set_ylim(network.n_labels - 0.5, -0.5)
    ax.set_xticks([])
    ax.set_yticks(range(network.n_labels), in_order if size >= SMALLEST_FONT else [""] * network.n_labels, fontsize=size)
    for label, text in zip(network.order, ax.get_yticklabels(), strict=True):
        text.set_parse_math(False)
        text.set_color(ink() if network.parents[label] else GRAY)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _arcs(edges: list[tuple[int, int]]) -> list[Any]:
    """Return half ellipses to the right, whose width grows less than linearly with the distance of the labels."""
    arcs = []
    for start, end in edges:
        out = 0.5 * (end - start) ** 0.7 * np.sin(_HALF_CIRCLE)
        down = (start + end) / 2 - (end - start) / 2 * np.cos(_HALF_CIRCLE)
        arcs.append(np.column_stack([out, down]))
    return arcs


def _fitting_axes(names: list[str], height: float, size: float) -> Any:
    """Make axes as wide as names and arcs need, up to the width of a page."""
    ax = new_axes(WIDTH, height)
    widest = max((text_width(ax, name, size) for name in names), default=0.0)
    ax.figure.figure.set_size_inches(min(WIDTH, widest + 0.4 + min(3.5, 0.8 + 0.5 * height)), height)
    return ax
