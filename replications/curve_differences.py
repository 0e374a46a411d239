"""Differences of curves over the number of features: where one method is worse than another, and how significantly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labelsieve.metrics import MEASURES
from labelsieve.statistics import confidence_band
from labelsieve.studies.results import StudyResults
from replications.claims import ResultTable

if TYPE_CHECKING:
    from collections.abc import Mapping

# A method is worse than another at a number of features if its 95 % interval lies above the other's, as a reader of a figure
# sees it; if the interval of their difference on the same splits lies above 0; or if its mean is higher, by any amount.
RULES = INTERVALS, PAIRED, MEANS = ("intervals", "paired differences", "means")
SAME = 1e-12  # smaller differences of losses are rounding: both methods selected the same features
# The share of the axis on which a claim about all numbers of features must hold; ALMOST is for "almost all".
ALL_BUT = 0.95
ALMOST = 0.9


@dataclass(frozen=True, eq=False)
class CurveDifference:
    """The loss of a method minus that of another on the same splits, by numbers of features; negative where it is better.

    ``differences`` has a row for each split; ``apart`` marks numbers where the 95 % intervals of the two do not overlap. Shares
    and means refer to the axis of a figure: a number has as weight its distance to its neighbors, ``lengths``.
    """

    sizes: NDArray[np.intp]
    differences: NDArray[np.float64]
    apart: NDArray[np.bool_]
    lengths: NDArray[np.float64]
    loss: float

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Return the share of the axis that a mask of the numbers covers."""
        return float(np.average(mask, weights=self.lengths))

    @property
    def mean(self) -> float:
        """Mean difference."""
        return float(self._of_splits.mean())

    @property
    def size(self) -> float:
        """Mean absolute difference."""
        return float(np.average(np.abs(self.differences.mean(axis=0)), weights=self.lengths))

    def is_worse(self, rule: str = INTERVALS) -> NDArray[np.bool_]:
        """Return a mask of the numbers where the method is worse, by one of the :data:`RULES`."""
        worse: NDArray[np.bool_] = self.differences.mean(axis=0) > SAME
        if rule == INTERVALS:
            worse &= self.apart
        if rule == PAIRED and len(self.differences) > 1:
            worse = confidence_band(self.differences).low > SAME
        return worse

    @property
    def is_significant(self) -> bool:
        """Whether the 95 % interval of the mean over the splits excludes 0."""
        if len(self.differences) < 2:
            return False
        band = confidence_band(self._of_splits)
        return bool(band.low > 0 or band.high < 0)

    @property
    def _of_splits(self) -> NDArray[np.float64]:
        return np.average(self.differences, axis=1, weights=self.lengths)

    def where(self, mask: NDArray[np.bool_]) -> "CurveDifference":
        """Return the difference at some of the numbers."""
        return CurveDifference(self.sizes[mask], self.differences[:, mask], self.apart[mask], self.lengths[mask], self.loss)


def curve_difference(results: StudyResults, dataset: str, measure: str, method: str, other: str) -> CurveDifference | None:
    """Compare two methods on a data set; None unless both have results for the same numbers and splits."""
    if dataset not in results.datasets or measure not in results.measures:
        return None
    (sizes, first), (others, second) = (results.curve(dataset, name, measure) for name in (method, other))
    if not first.size or first.shape != second.shape or not np.array_equal(sizes, others):
        return None
    sign = 1.0 if MEASURES[measure].lower_is_better else -1.0
    apart = np.zeros(len(sizes), dtype=bool)
    if len(first) > 1:
        bands = [confidence_band(table) for table in (first, second)]
        apart = (bands[0].low > bands[1].high) | (bands[1].low > bands[0].high)
    lengths = np.gradient(sizes.astype(float)) if len(sizes) > 1 else np.ones(1)
    return CurveDifference(sizes, sign * (first - second), apart, lengths, float(np.abs(second).mean()))


def share_worse(differences: Sequence[CurveDifference], rule: str = INTERVALS) -> float:
    """Return the share of the axis on which a method is worse than at least one of the others."""
    return differences[0].share(np.logical_or.reduce([difference.is_worse(rule) for difference in differences]))


def curve_table(
    results: StudyResults, title: str, dataset: str, measure: str, methods: "Mapping[str, str]", sizes: Sequence[int]
) -> ResultTable | None:
    """Return means at some numbers of features, with half widths of the 95 % intervals in units of the last digit."""
    if dataset not in results.datasets:
        return None
    rows = []
    shown = [size for size in sizes if size <= max(results.curve(dataset, next(iter(methods)), measure)[0], default=0)]
    for name, label in methods.items():
        sizes_run, table = results.curve(dataset, name, measure)
        rows.append((label, *(_cell(table[:, sizes_run == size]) for size in shown)))
    return ResultTable(f"{title}, {dataset}, {measure}", ("features", *(f">{size}" for size in shown)), rows)


def _cell(values: NDArray[np.float64]) -> str:
    if values.shape[1] != 1 or not len(values):
        return "-"
    column = values[:, 0]
    if len(column) < 2:
        return f"{column.mean():.4f}"
    band = confidence_band(column)
    return mean_with_interval(float(band.mean), float(band.high - band.mean))


def mean_with_interval(mean: float, half_width: float | None) -> str:
    """Return a mean with the half width of its interval in units of the last digit.

    >>> mean_with_interval(0.2135, 0.0065)
    '0.2135(65)'
    """
    return f"{mean:.4f}" + ("" if half_width is None else f"({round(half_width * 1e4)})")
