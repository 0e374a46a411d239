"""Adding panels to accumulators: the step of every pick, and an optional capability of a backend."""

from typing import NamedTuple, Protocol, cast, runtime_checkable

from labelsieve import core
from labelsieve.counting.backends.protocol import ALL_TARGETS, Backend, Feature, Panel, Sums


class PanelFold(NamedTuple):
    """``constant + fixed + pair_factor * pair + triple_factor * triple``: what a panel adds to an accumulator."""

    constant: int
    fixed: Sums | None
    pair_factor: int
    triple_factor: int


@runtime_checkable
class FoldingBackend(Protocol):
    """An optional capability: panels that are added to an accumulator where they are counted."""

    def fold_given_feature(self, accumulator: Sums, feature: int, fold: PanelFold, *, targets: slice = ALL_TARGETS) -> None:
        """Add ``fold`` of the panel conditioned on a feature, its triples added over the targets, to ``(d,)`` numbers."""


def fold_panel(accumulator: Sums, panel: Panel, fold: PanelFold) -> None:
    """Add ``fold`` of a reduced panel to ``(d,)`` numbers, in one pass."""
    constant, fixed, pair_factor, triple_factor = fold
    core.fold_panel(accumulator, fixed, panel.pair, pair_factor, panel.triple, triple_factor, constant)


def fold_newest(backend: Backend, accumulator: Sums, feature: int, fold: PanelFold, targets: slice) -> None:
    """Add ``fold`` of the panel conditioned on a feature; the panel stays inside a backend that can fold."""
    if hasattr(backend, "fold_given_feature"):  # not isinstance: that takes as long as the fold of a small table
        cast(FoldingBackend, backend).fold_given_feature(accumulator, feature, fold, targets=targets)
    else:
        fold_panel(accumulator, backend.panel(Feature(feature), targets=targets, reduce="sum"), fold)
