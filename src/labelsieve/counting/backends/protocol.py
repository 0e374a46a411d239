"""What the layers above ask of a counting backend, and all they ever ask."""

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.int64]
Reduce = Literal["sum"] | None


class Panel(NamedTuple):
    """Sums within the levels of one more column."""

    pair: Sums
    """``(d,)``: cells of (feature, given)."""
    triple: Sums
    """``(d, q)``, or ``(d,)`` when reduced: cells of (feature, given, target)."""


class PanelFold(NamedTuple):
    """``constant + fixed + pair_factor * pair + triple_factor * triple``: what a panel adds to a sum over the selected."""

    constant: int
    fixed: Sums | None
    pair_factor: int
    triple_factor: int


class Backend(Protocol):
    r"""Joint tables of features and targets, as fixed-point sums :math:`\sum f(n)` over their cells.

    A backend is bound to the codes of ``d`` features and ``q`` targets and to a
    :class:`~labelsieve.counting.fixed_point.FixedPoint`. How it counts is its own affair; the integers that come back
    are the same from every backend.
    """

    def singles(self) -> tuple[Sums, Sums]:
        """``(d,)`` and ``(q,)``: cells of every feature and of every target."""

    def pairs(self, *, reduce: Reduce = None) -> Sums:
        """``(d, q)``: cells of (feature, target); ``reduce="sum"`` adds over the targets: ``(d,)``."""

    def triples(self, given: NDArray[Any], n_levels: int, *, targets: slice = slice(None), reduce: Reduce = None) -> Panel:
        """Cells of (feature, given, target), where ``given`` has one code below ``n_levels`` for each row."""

    def fold_given_feature(self, account: Sums, feature: int, fold: PanelFold, *, targets: slice = slice(None)) -> None:
        """Add to ``account`` a linear function of the panel given one of the features, added over the targets."""

    def triples_given_feature(self, feature: int, *, targets: slice = slice(None), reduce: Reduce = None) -> Panel:
        """The same, given one of the features: its column need not travel to where the counting is done."""
