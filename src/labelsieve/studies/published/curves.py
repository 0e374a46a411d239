"""Curves over the number of features set against each other: how often one is below the other, and how surely."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.metrics import MEASURES
from labelsieve.statistics import confidence_band
from labelsieve.studies.published.study import Section
from labelsieve.studies.results import StudyResults

if TYPE_CHECKING:
    from collections.abc import Mapping

SAME = 1e-12  # losses that differ by less are equal: both methods chose the same features
ALL_BUT = 0.95  # a claim about all numbers of features holds if it does at so many of them; "almost all" is ALMOST
ALMOST = 0.9


@dataclass(frozen=True, eq=False)
class Duel:
    """A method against another on the same splits, by numbers of features; losses, so negative differences are its wins.

    ``differences`` has a row for each split; ``apart`` marks numbers where the 95 % intervals of the two do not overlap.
    """

    sizes: Any
    differences: Any
    apart: Any
    loss: float

    @property
    def mean(self) -> float:
        """The mean difference over all numbers of features."""
        return float(self.differences.mean())

    @property
    def no_worse(self) -> Any:
        """Where its mean is no larger."""
        return self.differences.mean(axis=0) <= SAME

    @property
    def is_sure(self) -> bool:
        """Whether the mean over the numbers differs from 0 by more than its 95 % interval over the splits."""
        if len(self.differences) < 2:
            return False
        band = confidence_band(self.differences.mean(axis=1))
        return bool(band.low > 0 or band.high < 0)

    def where(self, chosen: Any) -> "Duel":
        """The same at some of the numbers."""
        return Duel(self.sizes[chosen], self.differences[:, chosen], self.apart[chosen], self.loss)


def duel(results: StudyResults, dataset: str, measure: str, one: str, other: str) -> Duel | None:
    """Two methods of a study on a data set; None where one of them has no results, or not the same."""
    if dataset not in results.datasets or measure not in results.measures:
        return None
    (sizes, first), (others, second) = (results.curve(dataset, name, measure) for name in (one, other))
    if not first.size or first.shape != second.shape or not np.array_equal(sizes, others):
        return None
    sign = 1.0 if MEASURES[measure].lower_is_better else -1.0
    apart = np.zeros(len(sizes), dtype=bool)
    if len(first) > 1:
        bands = [confidence_band(table) for table in (first, second)]
        apart = (bands[0].low > bands[1].high) | (bands[1].low > bands[0].high)
    return Duel(sizes, sign * (first - second), apart, float(np.abs(second).mean()))


def share_best(duels: Sequence[Duel]) -> float:
    """At what share of the numbers of features a method is no worse than all others."""
    return float(np.logical_and.reduce([one.no_worse for one in duels]).mean())


def curve_table(
    results: StudyResults, title: str, dataset: str, measure: str, methods: "Mapping[str, str]", sizes: Sequence[int]
) -> Section | None:
    """Means at some numbers of features with half widths of the 95 % intervals in units of the last digit."""
    if dataset not in results.datasets:
        return None
    rows = []
    shown = [size for size in sizes if size <= max(results.curve(dataset, next(iter(methods)), measure)[0], default=0)]
    for name, label in methods.items():
        found, table = results.curve(dataset, name, measure)
        rows.append((label, *(_cell(table[:, found == size]) for size in shown)))
    return Section(f"{title}, {dataset}, {measure}", ("features", *(f">{size}" for size in shown)), rows)


def _cell(values: Any) -> str:
    if values.shape[1] != 1 or not len(values):
        return "-"
    column = values[:, 0]
    if len(column) < 2:
        return f"{column.mean():.4f}"
    band = confidence_band(column)
    return f"{band.mean:.4f}({round(float(band.high - band.mean) * 1e4)})"
