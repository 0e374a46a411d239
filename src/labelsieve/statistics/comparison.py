"""Comparison of methods over data sets: which of them differ significantly, as a value that prints, tabulates and draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, one_of, share
from labelsieve.plotting import Axes, figure_function
from labelsieve.statistics.tests import (
    Floats,
    Friedman,
    Results,
    average_ranks,
    bonferroni_dunn,
    critical_difference,
    friedman,
    method_index,
    nemenyi,
    read_results,
    signed_rank_sums,
    wilcoxon_holm,
)
from labelsieve.tables.types import Frame

NAMES = {
    "nemenyi": "Nemenyi's test",
    "bonferroni-dunn": "Bonferroni and Dunn's test",
    "wilcoxon": "Wilcoxon's test with Holm's correction",
}
Test = Literal["nemenyi", "bonferroni-dunn", "wilcoxon"]


def compare(
    table: ArrayLike | Frame | Results,
    *,
    lower_is_better: bool,
    control: str | int | None = None,
    test: Test | None = None,
    alpha: float = 0.05,
    methods: Sequence[str] | None = None,
) -> "Comparison":
    """Test which methods differ significantly over several data sets.

    Follows Demšar (2006): if Friedman's test rejects equality of all methods, a post-hoc test finds the pairs that differ. The
    default is Nemenyi's test, with a control the Bonferroni-Dunn test, and for two methods Wilcoxon's test, which needs no
    Friedman test. A difference that is not significant may still exist: few data sets give little power.

    Parameters
    ----------
    table : array-like or frame of pandas or polars, shape (n_datasets, n_methods)
        One result for each data set and method, for instance a mean over repetitions. The columns of a frame are the methods;
        its index or a column of text names the data sets. Missing cells are refused: fill them or leave the row out.
    lower_is_better : bool
        True for losses.
    control : str or int, default=None
        Compare all others with this method, by name or column, and not with each other.
    test : {"nemenyi", "bonferroni-dunn", "wilcoxon"}, default=None
        The post-hoc test; None: see above. Wilcoxon's test with Holm's correction does not depend on the other methods in the
        table, and works with and without a control.
    alpha : float, default=0.05
        The significance level.
    methods : sequence of str, default=None
        Names of the methods, for tables without names.

    Returns
    -------
    Comparison
        ``print`` it for a summary; ``to_frame()`` has the pairs, ``p_values`` and ``groups`` the details.

    Notes
    -----
    Cost: about a millisecond for every pair of methods.

    Examples
    --------
    >>> table = [[0.21, 0.25, 0.40], [0.10, 0.11, 0.19], [0.30, 0.29, 0.35], [0.05, 0.09, 0.11], [0.18, 0.21, 0.50]]
    >>> print(compare(table, lower_is_better=True, methods=["jmi", "mrmr", "random"]))
    3 methods on 5 data sets, lower is better.
    Friedman's test: the methods differ (F_F = 21.00 with 2 and 8 degrees of freedom, p = 0.0085, exact).
    Nemenyi's test at 0.05: average ranks that differ by less than 1.48 do not differ significantly.
    <BLANKLINE>
    rank   method   better than
    ───────────────────────────
    1.20   jmi      random
    1.80   mrmr     -
    3.00   random   -
    <BLANKLINE>
    Not shown to differ among themselves: jmi, mrmr; mrmr, random.
    """
    results = read_results(table, methods)
    n, k = results.values.shape
    alpha = share(alpha, "alpha")
    control_index = None if control is None else method_index(results.methods, control)
    post_hoc = _post_hoc_test(test, k, control_index)
    overall = friedman(results, lower_is_better=lower_is_better)
    p_values = _p_values(results, post_hoc, control_index, lower_is_better)
    different = np.nan_to_num(p_values, nan=1.0) < alpha
    if post_hoc == "wilcoxon":
        distance = None
    else:
        distance = critical_difference(k, n, alpha=alpha, test="nemenyi" if post_hoc == "nemenyi" else "bonferroni-dunn")
        different &= overall.p_value < alpha  # the post-hoc test is valid only if Friedman's test rejects
    means = average_ranks(results, lower_is_better=lower_is_better)
    ahead = means[:, None] < means
    if post_hoc == "wilcoxon":
        sums = signed_rank_sums(results)
        ahead = sums < 0 if lower_is_better else sums > 0
    return Comparison(
        methods=results.methods,
        n_datasets=n,
        lower_is_better=lower_is_better,
        average_ranks=means,
        friedman=overall,
        test=post_hoc,
        alpha=alpha,
        control=control_index,
        p_values=p_values,
        critical_difference=distance,
        different=different,
        ahead=ahead,
        groups=_groups(different, control_index, means),
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    """The significant differences between methods. Created by :func:`labelsieve.statistics.compare`.

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
        """List the compared pairs in the order of their average ranks, the better method of each first."""
        order = self.order
        every = [(first, second) for rank, first in enumerate(order) for second in order[rank + 1 :]]
        compared = [pair for pair in every if self.control is None or self.control in pair]
        return [(second, first) if self.ahead[second, first] else (first, second) for first, second in compared]

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for every compared pair: names, average ranks, the p-value, whether it is significant.

        ``backend`` is "pandas", "polars" or "pyarrow", which must be installed.
        """
        one_of(backend, "backend", ("pandas", "polars", "pyarrow"))
        pairs = self.pairs()
        columns = {
            "better": [self.methods[first] for first, _ in pairs],
            "worse": [self.methods[second] for _, second in pairs],
            "better_rank": [float(self.average_ranks[first]) for first, _ in pairs],
            "worse_rank": [float(self.average_ranks[second]) for _, second in pairs],
            "p_value": [float(self.p_values[pair]) for pair in pairs],
            "real": [bool(self.different[pair]) for pair in pairs],
        }
        return nw.from_dict(columns, backend=backend).to_native()

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
        """Tell whether the first method is significantly better than the second."""
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
        """Name the pairs that Wilcoxon's test and the average ranks order differently."""
        found = [
            pair for pair in self.pairs() if self.better(*pair) and self.average_ranks[pair[0]] >= self.average_ranks[pair[1]]
        ]
        listed = "; ".join(f"{self.methods[first]} before {self.methods[second]}" for first, second in found)
        return [f"Unlike the average ranks, because large differences count more: {listed}."] if found else []


def _post_hoc_test(test: Test | None, k: int, control: int | None) -> str:
    """Choose the post-hoc test, or check that the given one goes with the control."""
    if test is None:
        return "wilcoxon" if k == 2 else "nemenyi" if control is None else "bonferroni-dunn"
    one_of(test, "test", ("nemenyi", "bonferroni-dunn", "wilcoxon"))
    if (control is None) != (test == "nemenyi") and test != "wilcoxon":
        need = "compares all pairs; leave out control" if test == "nemenyi" else "needs control="
        raise InputError(f"{test} {need}, or use test='wilcoxon', which does both.")
    return test


def _p_values(results: Results, test: str, control: int | None, lower_is_better: bool) -> Floats:
    """Return the p-values of all pairs; NaN for pairs without the control."""
    if control is None:
        return nemenyi(results, lower_is_better=lower_is_better) if test == "nemenyi" else wilcoxon_holm(results)
    row = (
        wilcoxon_holm(results, control=control)
        if test == "wilcoxon"
        else bonferroni_dunn(results, control, lower_is_better=lower_is_better)
    )
    p_values = np.full((len(row), len(row)), np.nan)
    p_values[control] = p_values[:, control] = row
    return p_values


def _groups(different: NDArray[np.bool_], control: int | None, means: Floats) -> tuple[tuple[int, ...], ...]:
    """Return the sets of methods that are not shown to differ, those with the best average ranks first."""
    if control is not None:
        group = tuple(int(method) for method in np.flatnonzero(~different[control]))
        return (group,) if len(group) > 1 else ()
    found = groups_without_differences(different)
    return tuple(sorted(found, key=lambda group: sorted(means[list(group)].tolist())))


def groups_without_differences(different: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Find the largest sets of two or more methods without a different pair: maximal cliques, by Bron and Kerbosch (1973).

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
