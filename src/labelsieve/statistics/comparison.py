"""The result of a comparison of methods, as text and as tables."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import one_of
from labelsieve.plotting import Axes, figure_function
from labelsieve.statistics.friedman import Friedman
from labelsieve.statistics.results_table import Floats

NAMES = {
    "nemenyi": "Nemenyi's test",
    "bonferroni-dunn": "Bonferroni and Dunn's test",
    "wilcoxon": "Wilcoxon's test with Holm's correction",
}
_FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Significant differences between methods. Created by :func:`labelsieve.statistics.compare`.

    Attributes
    ----------
    methods, n_datasets : tuple of str, int
        Names of the methods, and number of data sets.
    lower_is_better : bool
        Whether the values are losses.
    average_ranks : ndarray of shape (n_methods,)
        1 is best.
    friedman : Friedman
        Test of the equality of all methods.
    test, alpha : {"nemenyi", "bonferroni-dunn", "wilcoxon"}, float
        The post-hoc test and its significance level.
    control : int or None
        Index of the method that the others were compared with.
    p_values : ndarray of shape (n_methods, n_methods)
        Corrected for the number of comparisons; NaN for pairs that were not compared because of a control.
    critical_difference : float or None
        Critical difference of average ranks; None for Wilcoxon's test.
    different : ndarray of bool, shape (n_methods, n_methods)
        Pairs with a significant difference.
    ahead : ndarray of bool, shape (n_methods, n_methods)
        Whether the first is better by the statistic of the test: the average rank, or for Wilcoxon's test the signed ranks of
        the differences of the two, which may disagree with it.
    groups : tuple of tuples of int
        The largest sets of methods without a significant difference; with a control, the set that does not differ from it.
    """

    methods: tuple[str, ...]
    n_datasets: int
    lower_is_better: bool
    average_ranks: Floats
    friedman: Friedman
    test: str
    alpha: float
    control: int | None
    p_values: Floats
    critical_difference: float | None
    different: NDArray[np.bool_]
    ahead: NDArray[np.bool_]
    groups: tuple[tuple[int, ...], ...]

    @property
    def order(self) -> list[int]:
        """Methods from the best average rank to the worst."""
        return [int(method) for method in np.argsort(self.average_ranks, kind="stable")]

    def pairs(self) -> list[tuple[int, int]]:
        """Compared pairs in the order of their average ranks, the better method of each first."""
        order = self.order
        every = [(first, second) for rank, first in enumerate(order) for second in order[rank + 1 :]]
        compared = [pair for pair in every if self.control is None or self.control in pair]
        return [(second, first) if self.ahead[second, first] else (first, second) for first, second in compared]

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """A row for every compared pair: names, average ranks, the p-value, and whether the difference is significant.

        ``backend`` is "pandas", "polars" or "pyarrow", which must be installed.
        """
        one_of(backend, "backend", tuple(_FRAMES))
        pairs = self.pairs()
        columns = {
            "better": [self.methods[first] for first, _ in pairs],
            "worse": [self.methods[second] for _, second in pairs],
            "better_rank": [float(self.average_ranks[first]) for first, _ in pairs],
            "worse_rank": [float(self.average_ranks[second]) for _, second in pairs],
            "p_value": [float(self.p_values[pair]) for pair in pairs],
            "real": [bool(self.different[pair]) for pair in pairs],
        }
        return getattr(import_module(backend), _FRAMES[backend])(columns)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw average ranks on a line: see :func:`labelsieve.report.figures.critical_difference_diagram`."""
        return figure_function("critical_difference_diagram")(self, ax=ax)

    def __str__(self) -> str:
        direction = "lower" if self.lower_is_better else "higher"
        width = max(len("method"), *(len(name) for name in self.methods))
        lines = [f"{len(self.methods)} methods on {self.n_datasets} data sets, {direction} is better."]
        wide = 5 if self.average_ranks.max() >= 9.995 else 4  # a rank of two digits before the point
        head = f"{'rank':>{wide}}   {'method':<{width}}   better than"
        lines += [self._overall(), self._rule(), "", head, "─" * len(head)]
        for method in self.order:
            beaten = [self.methods[other] for other in self.order if self.better(method, other)]
            lines.append(
                f"{self.average_ranks[method]:{wide}.2f}   {self.methods[method]:<{width}}   {', '.join(beaten) or '-'}"
            )
        return "\n".join([*lines, "", *self._summary()])

    def better(self, first: int, second: int) -> bool:
        """Whether the first method is significantly better than the second."""
        return bool(self.different[first, second] and self.ahead[first, second])

    def _overall(self) -> str:
        found, (over, under) = self.friedman, self.friedman.degrees
        verdict = "the methods differ" if self._first_test_passed else "no difference is shown"
        if found.smallest_p_value >= self.alpha:
            verdict = f"no verdict, since {self.n_datasets} data sets cannot give a p-value below {found.smallest_p_value:.2g}"
        null = {"exact": ", exact", "permutations": ", by permutations", "F": ""}[found.distribution]
        statistic = f"F_F = {found.f:.2f} with {over} and {under} degrees of freedom, p = {found.p_value:.2g}{null}"
        return f"Friedman's test: {verdict} ({statistic})."

    def _rule(self) -> str:
        name = f"{NAMES[self.test]} at {self.alpha:g}"
        against = "" if self.control is None else f", against {self.methods[self.control]}"
        if self.critical_difference is None:
            return f"{name}{against}: pairs with a corrected p-value below {self.alpha:g} differ."
        if not self._first_test_passed:
            return f"{name}{against}: not applied, because Friedman's test shows no difference."
        distance = f"{self.critical_difference:.2f}"
        return f"{name}{against}: average ranks that differ by less than {distance} do not differ significantly."

    @property
    def _first_test_passed(self) -> bool:
        return bool(self.friedman.p_value < self.alpha)

    def _summary(self) -> list[str]:
        control = None if self.control is None else self.methods[self.control]
        if not self.different.any():
            if self.test != "wilcoxon" and self._first_test_passed:
                return [f"No method is shown to differ from {control}." if control else "It is not shown which ones differ."]
            return ["No difference is shown."]
        return [self._differences(control), *self._disagreements()]

    def _differences(self, control: str | None) -> str:
        if len(self.methods) == 2:
            return "The difference is significant."
        if not self.groups:
            return "All differences are significant." if control is None else f"All differ significantly from {control}."
        if self.control is not None:
            rest = [self.methods[method] for method in self.order if method in self.groups[0] and method != self.control]
            return f"Not shown to differ from {control}: {', '.join(rest)}."
        listed = "; ".join(", ".join(self.methods[m] for m in self.order if m in group) for group in self.groups)
        return f"Not shown to differ among themselves: {listed}."

    def _disagreements(self) -> list[str]:
        """Pairs that Wilcoxon's test and the average ranks order differently."""
        found = [
            pair for pair in self.pairs() if self.better(*pair) and self.average_ranks[pair[0]] >= self.average_ranks[pair[1]]
        ]
        listed = "; ".join(f"{self.methods[first]} before {self.methods[second]}" for first, second in found)
        return [f"Unlike the average ranks, because large differences count more: {listed}."] if found else []


def groups_without_differences(different: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """The largest sets of two or more methods without a different pair: maximal cliques, by Bron and Kerbosch (1973).

    For differences of average ranks these are runs of neighbors; Wilcoxon's test can give others. Cost: exponential in the
    worst case, less than a millisecond for the methods of a study.

    >>> groups_without_differences(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    [(0, 1), (1, 2)]
    """
    n = len(different)
    neighbors = [{j for j in range(n) if j != i and not different[i, j]} for i in range(n)]
    found: list[tuple[int, ...]] = []

    def grow(clique: set[int], candidates: set[int], done: set[int]) -> None:
        if not candidates and not done:
            if len(clique) > 1:
                found.append(tuple(sorted(clique)))
            return
        pivot = max(candidates | done, key=lambda method: len(neighbors[method] & candidates))
        for method in sorted(candidates - neighbors[pivot]):
            grow(clique | {method}, candidates & neighbors[method], done & neighbors[method])
            candidates, done = candidates - {method}, done | {method}

    grow(set(), set(range(n)), set())
    return sorted(found)
