from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, one_of, share
from labelsieve.statistics.comparison import Comparison, groups_without_differences
from labelsieve.statistics.friedman import friedman
from labelsieve.statistics.pair_tests import bonferroni_dunn, critical_difference, nemenyi, signed_rank_sums, wilcoxon_holm
from labelsieve.statistics.results_table import Floats, Results, average_ranks, method_index, read_results
from labelsieve.table_types import Frame

Test = Literal["nemenyi", "bonferroni-dunn", "wilcoxon"]


def compare(
    table: ArrayLike | Frame | Results,
    *,
    lower_is_better: bool,
    control: str | int | None = None,
    test: Test | None = None,
    alpha: float = 0.05,
    methods: Sequence[str] | None = None,
) -> Comparison:
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
        ahead=_ahead(signed_rank_sums(results), lower_is_better) if post_hoc == "wilcoxon" else _ahead(means[:, None] - means),
        groups=_groups(different, control_index, means),
    )


def _post_hoc_test(test: Test | None, k: int, control: int | None) -> str:
    if test is None:
        return "wilcoxon" if k == 2 else "nemenyi" if control is None else "bonferroni-dunn"
    one_of(test, "test", ("nemenyi", "bonferroni-dunn", "wilcoxon"))
    if (control is None) != (test == "nemenyi") and test != "wilcoxon":
        need = "compares all pairs; leave out control" if test == "nemenyi" else "needs control="
        raise InputError(f"{test} {need}, or use test='wilcoxon', which does both.")
    return test


def _p_values(results: Results, test: str, control: int | None, lower_is_better: bool) -> Floats:
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


def _ahead(differences: Floats, lower_is_better: bool = True) -> NDArray[np.bool_]:
    return differences < 0 if lower_is_better else differences > 0


def _groups(different: NDArray[np.bool_], control: int | None, means: Floats) -> tuple[tuple[int, ...], ...]:
    if control is not None:
        group = tuple(int(method) for method in np.flatnonzero(~different[control]))
        return (group,) if len(group) > 1 else ()
    found = groups_without_differences(different)
    return tuple(sorted(found, key=lambda group: sorted(means[list(group)].tolist())))
