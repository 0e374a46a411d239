"""Tests of pairs of methods: Nemenyi's, Bonferroni and Dunn's of average ranks, and Wilcoxon's with Holm's correction."""

from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, rankdata, studentized_range, wilcoxon

from labelsieve.errors import InputError, one_of, share, whole_number
from labelsieve.statistics.results_table import Floats, Results, average_ranks, method_index, read_floats, read_results
from labelsieve.table_types import Frame

PostHoc = Literal["nemenyi", "bonferroni-dunn"]
_EXACT_UP_TO = 400  # data sets, at about 50 ms per pair; beyond, the error of small p-values is a few per cent


def critical_difference(n_methods: int, n_datasets: int, *, alpha: float = 0.05, test: PostHoc = "nemenyi") -> float:
    r"""Critical difference: the smallest significant difference of average ranks.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    Demšar (2006), section 3.2.2: :math:`q_\alpha` is the quantile of the studentized range of :math:`k` means over
    :math:`\sqrt 2` (Nemenyi), or the normal quantile at :math:`1 - \alpha / (2 (k - 1))` (Bonferroni-Dunn).

    Examples
    --------
    >>> round(critical_difference(7, 13), 3)
    2.498
    >>> round(critical_difference(7, 13, test="bonferroni-dunn"), 3)
    2.235
    """
    k = whole_number(n_methods, "n_methods", 2, 10**6)
    n = whole_number(n_datasets, "n_datasets", 2, 10**9)
    one_of(test, "test", ("nemenyi", "bonferroni-dunn"))
    alpha = share(alpha, "alpha")
    if test == "nemenyi":
        quantile = float(studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2)
    else:
        quantile = float(norm.isf(alpha / (2 * (k - 1))))
    return float(quantile * _unit(k, n))


def nemenyi(table: ArrayLike | Frame | Results, *, lower_is_better: bool = False) -> Floats:
    r"""p-values of Nemenyi's test for all pairs of methods, already corrected for their number.

    .. math:: p_{ij} = P\Big(Q_{k, \infty} > \frac{\sqrt 2 \, |R_i - R_j|}{\sqrt{k (k+1) / 6 N}}\Big)

    ``table`` and ``lower_is_better`` are those of :func:`compare`. The diagonal is 1. Cost: one studentized range per pair,
    about a millisecond each.

    Examples
    --------
    >>> nemenyi([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]], lower_is_better=True).round(3)
    array([[1.   , 0.333, 0.013],
           [0.333, 1.   , 0.333],
           [0.013, 0.333, 1.   ]])
    """
    results = read_results(table)
    n, k = results.values.shape
    means = average_ranks(results, lower_is_better=lower_is_better)
    distances, index = np.unique(np.abs(means[:, None] - means), return_inverse=True)
    tails = np.clip(studentized_range.sf(np.sqrt(2) * distances / _unit(k, n), k, np.inf), 0.0, 1.0)
    tails[distances == 0] = 1.0
    p_values: Floats = tails[index].reshape(k, k)
    return p_values


def bonferroni_dunn(table: ArrayLike | Frame | Results, control: str | int, *, lower_is_better: bool = False) -> Floats:
    r"""p-values of Bonferroni and Dunn's test of every method against a control, corrected for their number.

    .. math:: p_j = \min\big(1, 2 (k - 1) \, P(Z > |R_j - R_c| / \sqrt{k (k+1) / 6 N})\big)

    ``control`` is the column of the control, whose p-value is 1. There are fewer comparisons than in :func:`nemenyi`, so
    smaller differences are significant.

    Examples
    --------
    >>> bonferroni_dunn([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]], 0, lower_is_better=True).round(3)
    array([1.   , 0.315, 0.009])
    """
    results = read_results(table)
    n, k = results.values.shape
    index = method_index(results.methods, control)
    means = average_ranks(results, lower_is_better=lower_is_better)
    p_values: Floats = np.minimum(1.0, 2 * (k - 1) * norm.sf(np.abs(means - means[index]) / _unit(k, n)))
    p_values[index] = 1.0
    return p_values


def _unit(k: int, n: int) -> float:
    """Standard error of a difference of two average ranks."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def holm(p_values: ArrayLike) -> Floats:
    r"""p-values corrected for their number by Holm's step-down method.

    The smallest is multiplied by :math:`m`, the next by :math:`m - 1` and so on, and none is smaller than the one before it. It
    controls the family-wise error rate as Bonferroni's correction does, with more power.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = read_floats(p_values, "the p-values")
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"holm takes a list of p-values between 0 and 1, not {p_values!r}.")
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    found = np.empty_like(values)
    found[order] = np.minimum(steps, 1.0)
    return found


def wilcoxon_holm(table: ArrayLike | Frame | Results, *, control: str | int | None = None) -> Floats:
    """p-values of Wilcoxon's signed-rank test for pairs of methods, corrected by Holm's method.

    Unlike average ranks, the result for a pair does not depend on the other methods in the table (Benavoli, Corani and Mangili
    2016). Data sets on which two methods are equal count half for each (Demšar 2006, section 3.1.3). p-values are exact; for
    more than 400 data sets, normal. Small tables have little power: with 5 data sets no p-value is below 0.06.

    Parameters
    ----------
    table : array-like or frame of shape (n_datasets, n_methods)
        Differences must be comparable between data sets; whether higher or lower is better does not matter.
    control : str or int, default=None
        Compare with this method only: fewer tests, a smaller correction.

    Returns
    -------
    ndarray of shape (n_methods, n_methods), or (n_methods,) with a control
        1 for a method with itself.

    Notes
    -----
    Cost: one test per pair, about half a millisecond each.

    Examples
    --------
    >>> table = np.arange(8.0)[:, None] + [0.0, 0.1, 5.0] * np.arange(1, 9)[:, None]
    >>> wilcoxon_holm(table).round(4)
    array([[1.    , 0.0234, 0.0234],
           [0.0234, 1.    , 0.0234],
           [0.0234, 0.0234, 1.    ]])
    """
    results = read_results(table)
    k = len(results.methods)
    index = None if control is None else method_index(results.methods, control)
    pairs = [pair for pair in combinations(range(k), 2) if index is None or index in pair]
    corrected = holm([_p_value(results.values[:, first] - results.values[:, second]) for first, second in pairs])
    p_values = np.ones((k, k))
    for (first, second), value in zip(pairs, corrected, strict=True):
        p_values[first, second] = p_values[second, first] = value
    return p_values if index is None else p_values[index]


def signed_rank_sums(results: Results) -> Floats:
    """For every pair, the sum of the signed ranks of the differences: negative if the first tends to be smaller.

    The statistic of Wilcoxon's test. Its sign can differ from that of the average ranks, because a few large differences may
    outweigh many small ones.
    """
    differences = results.values[:, :, None] - results.values[:, None, :]
    sums: Floats = (np.sign(differences) * rankdata(np.abs(differences), axis=0)).sum(axis=0)
    return sums


def _p_value(differences: Floats) -> float:
    """Exact p-value, also with ties: under the null hypothesis both signs are equally likely."""
    if not differences.any():
        return 1.0
    if len(differences) > _EXACT_UP_TO:
        return float(wilcoxon(differences, zero_method="zsplit", method="approx").pvalue)
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)  # ranks of ties are halves
    positive, negative = doubled[differences > 0], doubled[differences < 0]
    distribution = np.zeros(positive.sum() + negative.sum() + 1)
    distribution[0] = 1.0
    for rank in np.concatenate([positive, negative]):
        distribution *= 0.5
        distribution[rank:] += distribution[:-rank].copy()
    smaller = min(positive.sum(), negative.sum())
    return float(min(1.0, 2 * distribution[: smaller + 1].sum()))
