"""What a comparison of methods found, in words and as tables."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import one_of
from labelsieve.plotting import figure_function
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
    """Which differences between methods are real. Made by :func:`labelsieve.statistics.compare`.

    Attributes
    ----------
    methods : tuple of str
    n_datasets : int
    lower_is_better : bool
    average_ranks : ndarray of shape (n_methods,)
        1 is best.
    friedman : Friedman
    test : {"nemenyi", "bonferroni-dunn", "wilcoxon"}
    alpha : float
    control : int or None
        The method that the others were compared with.
    p_values : ndarray of shape (n_methods, n_methods)
        Corrected for the number of comparisons; NaN where a control left a pair out.
    critical_difference : float or None
        Of average ranks; None for Wilcoxon's test.
    different : ndarray of bool, shape (n_methods, n_methods)
        Pairs whose difference is real.
    ahead : ndarray of bool, shape (n_methods, n_methods)
        Whether the first is the better one by what the test looks at: the average rank, or for Wilcoxon's test the signed ranks
        of the differences of the two, which need not agree with it.
    groups : tuple of tuples of int
        The largest sets of methods of which no two differ; with a control, the one set of those that do not differ from it.
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
        """Compared pairs in the order of their average ranks, of each the one first that is ahead."""
        order = self.order
        found = [(first, second) for place, first in enumerate(order) for second in order[place + 1 :]]
        compared = [pair for pair in found if self.control is None or self.control in pair]
        return [(second, first) if self.ahead[second, first] else (first, second) for first, second in compared]

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """A row for every compared pair: both names, their average ranks, the p-value and whether the difference is real.

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

    def plot(self, *, ax: Any = None) -> Any:
        """Draw average ranks on a line: see :func:`labelsieve.report.figures.critical_difference_diagram`."""
        return figure_function("critical_difference_diagram")(self, ax=ax)

    def __str__(self) -> str:
        way = "lower" if self.lower_is_better else "higher"
        width = max(len("method"), *(len(name) for name in self.methods))
        lines = [f"{len(self.methods)} methods on {self.n_datasets} data sets, {way} is better."]
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
        """Whether the first method is really better than the second."""
        return bool(self.different[first, second] and self.ahead[first, second])

    def _overall(self) -> str:
        found, (over, under) = self.friedman, self.friedman.degrees
        verdict = "the methods differ" if self._first_test_passed else "no difference is shown"
        statistic = f"F_F = {found.f:.2f} with {over} and {under} degrees of freedom, p = {found.p_value:.2g}"
        return f"Friedman's test: {verdict} ({statistic})."

    def _rule(self) -> str:
        name = f"{NAMES[self.test]} at {self.alpha:g}"
        against = "" if self.control is None else f", against {self.methods[self.control]}"
        if self.critical_difference is None:
            return f"{name}{against}: pairs with a corrected p-value below {self.alpha:g} differ."
        if not self._first_test_passed:
            return f"{name}{against}: not asked, because Friedman's test shows no difference."
        return f"{name}{against}: average ranks that are less than {self.critical_difference:.2f} apart may differ by chance."

    @property
    def _first_test_passed(self) -> bool:
        return bool(self.friedman.p_value < self.alpha)

    def _summary(self) -> list[str]:
        control = None if self.control is None else self.methods[self.control]
        if not self.different.any():
            if self.test != "wilcoxon" and self._first_test_passed:
                return [f"No method is shown to differ from {control}." if control else "It is not shown which ones differ."]
            return ["No difference is shown."]
        return [self._differences(control), *self._other_ways()]

    def _differences(self, control: str | None) -> str:
        if len(self.methods) == 2:
            return "The difference is real."
        if not self.groups:
            return "All differences are real." if control is None else f"All differ from {control}."
        if self.control is not None:
            rest = [self.methods[method] for method in self.order if method in self.groups[0] and method != self.control]
            return f"Not shown to differ from {control}: {', '.join(rest)}."
        listed = "; ".join(", ".join(self.methods[m] for m in self.order if m in group) for group in self.groups)
        return f"Not shown to differ among themselves: {listed}."

    def _other_ways(self) -> list[str]:
        """Pairs that Wilcoxon's test orders in another way than the average ranks do."""
        found = [
            pair for pair in self.pairs() if self.better(*pair) and self.average_ranks[pair[0]] >= self.average_ranks[pair[1]]
        ]
        listed = "; ".join(f"{self.methods[first]} before {self.methods[second]}" for first, second in found)
        return [f"Not as the average ranks have it, because large differences count more: {listed}."] if found else []
