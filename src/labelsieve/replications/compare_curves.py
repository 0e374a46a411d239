"""Curves over the number of features set against each other: how often one is below the other, and how surely."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.metrics import MEASURES
from labelsieve.replications.replication import Section
from labelsieve.statistics import confidence_band
from labelsieve.studies.results.study_results import StudyResults

if TYPE_CHECKING:
    from collections.abc import Mapping

# When a method is worse than another at a number of features: its 95 % interval lies above the other's, which is what a reader
# of a figure sees; that of their difference on the same splits lies above 0; or its mean is the higher, by however little.
RULES = INTERVALS, PAIRED, MEANS = ("intervals", "paired differences", "means")
SAME = 1e-12  # losses that differ by less are equal: both methods chose the same features
# A claim about all numbers of features holds if it does on so much of the axis; "almost all" is ALMOST.
ALL_BUT = 0.95
ALMOST = 0.9


@dataclass(frozen=True, eq=False)
class Duel:
    """A method against another on the same splits, by numbers of features; losses, so negative differences are its wins.

    ``differences`` has a row for each split; ``apart`` marks numbers where the 95 % intervals of the two do not overlap. Shares
    and means are those of the axis of a figure: a number counts by its distance to those beside it, ``lengths``.
    """

    sizes: Any
    differences: Any
    apart: Any
    lengths: Any
    loss: float

    def share(self, chosen: Any) -> float:
        """How much of the axis these numbers are."""
        return float(np.average(chosen, weights=self.lengths))

    @property
    def mean(self) -> float:
        """The mean difference."""
        return float(self._of_splits.mean())

    @property
    def size(self) -> float:
        """The mean of the absolute difference."""
        return float(np.average(np.abs(self.differences.mean(axis=0)), weights=self.lengths))

    def beaten(self, rule: str = INTERVALS) -> Any:
        """Where it is worse, by one of the :data:`RULES`."""
        worse = self.differences.mean(axis=0) > SAME
        if rule == INTERVALS:
            return worse & self.apart
        if rule == PAIRED and len(self.differences) > 1:
            return confidence_band(self.differences).low > SAME
        return worse

    @property
    def is_sure(self) -> bool:
        """Whether the mean differs from 0 by more than its 95 % interval over the splits."""
        if len(self.differences) < 2:
            return False
        band = confidence_band(self._of_splits)
        return bool(band.low > 0 or band.high < 0)

    @property
    def _of_splits(self) -> Any:
        return np.average(self.differences, axis=1, weights=self.lengths)

    def where(self, chosen: Any) -> "Duel":
        """The same at some of the numbers."""
        return Duel(self.sizes[chosen], self.differences[:, chosen], self.apart[chosen], self.lengths[chosen], self.loss)


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
    lengths = np.gradient(sizes.astype(float)) if len(sizes) > 1 else np.ones(1)
    return Duel(sizes, sign * (first - second), apart, lengths, float(np.abs(second).mean()))


def share_beaten(duels: Sequence[Duel], rule: str = INTERVALS) -> float:
    """On how much of the axis a method is worse than one of the others."""
    return duels[0].share(np.logical_or.reduce([one.beaten(rule) for one in duels]))


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
