from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, one_of, share
from labelsieve.statistics.comparison import Comparison
from labelsieve.statistics.friedman import friedman
from labelsieve.statistics.indistinct_groups import groups_without_differences
from labelsieve.statistics.post_hoc import bonferroni_dunn, critical_difference, nemenyi
from labelsieve.statistics.ranks import average_ranks
from labelsieve.statistics.results_table import Floats, Results, method_index, read_results
from labelsieve.statistics.signed_rank import signed_rank_sums, wilcoxon_holm

Test = Literal["nemenyi", "bonferroni-dunn", "wilcoxon"]


def compare(
    table: Any,
    *,
    lower_is_better: bool,
    control: str | int | None = None,
    test: Test | None = None,
    alpha: float = 0.05,
    methods: Sequence[str] | None = None,
) -> Comparison:
    """Say which methods really differ over several data sets.

    Follows Demšar (2006): Friedman's test asks whether there is any difference, and if so a second test asks where. Without
    a control this is Nemenyi's, with one Bonferroni and Dunn's, and for two methods Wilcoxon's, which needs no first test.
    A difference that is not shown may still be there: few data sets show little.

    Parameters
    ----------
    table : array-like or frame of pandas or polars, shape (n_datasets, n_methods)
        One number for each data set and method, for instance a mean over repetitions. The columns of a frame are the methods;
        its index or a column of text names the data sets. Missing cells are refused: fill them or leave the row out.
    lower_is_better : bool
        True for losses.
    control : str or int, optional
        Compare all others with this method, by name or column, and not with each other.
    test : {"nemenyi", "bonferroni-dunn", "wilcoxon"}, optional
        Instead of the choice above. Wilcoxon's test with Holm's correction does not depend on the other methods in the table
        and takes a control as well.
    alpha : float
        How often to see differences where there are none.
    methods : sequence of str, optional
        Names, for tables without.

    Returns
    -------
    Comparison
        ``print`` it for the answer in words; ``to_frame()`` has the pairs, ``p_values`` and ``groups`` the rest.

    Notes
    -----
    Cost: about a millisecond for every pair of methods.

    Examples
    --------
    >>> table = [[0.21, 0.25, 0.40], [0.10, 0.11, 0.19], [0.30, 0.29, 0.35], [0.05, 0.09, 0.11], [0.18, 0.21, 0.50]]
    >>> print(compare(table, lower_is_better=True, methods=["jmi", "mrmr", "chance"]))
    3 methods on 5 data sets, lower is better.
    Friedman's test: the methods differ (F_F = 21.00 with 2 and 8 degrees of freedom, p = 0.00066).
    Nemenyi's test at 0.05: average ranks that are less than 1.48 apart may differ by chance.
    <BLANKLINE>
    rank   method   better than
    ───────────────────────────
    1.20   jmi      chance
    1.80   mrmr     -
    3.00   chance   -
    <BLANKLINE>
    Not shown to differ among themselves: jmi, mrmr; mrmr, chance.
    """
    results = read_results(table, methods)
    n, k = results.values.shape
    alpha = share(alpha, "alpha")
    own = None if control is None else method_index(results.methods, control)
    chosen = _choose(test, k, own)
    overall = friedman(results, lower_is_better=lower_is_better)
    p_values = _p_values(results, chosen, own, lower_is_better)
    different = np.nan_to_num(p_values, nan=1.0) < alpha
    if chosen == "wilcoxon":
        distance = None
    else:
        distance = critical_difference(k, n, alpha=alpha, test="nemenyi" if chosen == "nemenyi" else "bonferroni-dunn")
        different &= overall.p_value < alpha  # the second question is asked only if the first was answered with yes
    means = average_ranks(results, lower_is_better=lower_is_better)
    return Comparison(
        methods=results.methods,
        n_datasets=n,
        lower_is_better=lower_is_better,
        average_ranks=means,
        friedman=overall,
        test=chosen,
        alpha=alpha,
        control=own,
        p_values=p_values,
        critical_difference=distance,
        different=different,
        ahead=_ahead(signed_rank_sums(results), lower_is_better) if chosen == "wilcoxon" else _ahead(means[:, None] - means),
        groups=_groups(different, own, means),
    )


def _choose(test: Test | None, k: int, own: int | None) -> str:
    if test is None:
        return "wilcoxon" if k == 2 else "nemenyi" if own is None else "bonferroni-dunn"
    one_of(test, "test", ("nemenyi", "bonferroni-dunn", "wilcoxon"))
    if (own is None) != (test == "nemenyi") and test != "wilcoxon":
        need = "compares all pairs; leave out control" if test == "nemenyi" else "needs control="
        raise InputError(f"{test} {need}, or use test='wilcoxon', which does both.")
    return test


def _p_values(results: Results, test: str, own: int | None, lower_is_better: bool) -> Floats:
    if own is None:
        return nemenyi(results, lower_is_better=lower_is_better) if test == "nemenyi" else wilcoxon_holm(results)
    row = (
        wilcoxon_holm(results, control=own)
        if test == "wilcoxon"
        else bonferroni_dunn(results, own, lower_is_better=lower_is_better)
    )
    found = np.full((len(row), len(row)), np.nan)
    found[own] = found[:, own] = row
    return found


def _ahead(differences: Floats, lower_is_better: bool = True) -> NDArray[np.bool_]:
    return differences < 0 if lower_is_better else differences > 0


def _groups(different: NDArray[np.bool_], own: int | None, means: Floats) -> tuple[tuple[int, ...], ...]:
    if own is not None:
        alike = tuple(int(method) for method in np.flatnonzero(~different[own]))
        return (alike,) if len(alike) > 1 else ()
    found = groups_without_differences(different)
    return tuple(sorted(found, key=lambda group: sorted(means[list(group)].tolist())))
