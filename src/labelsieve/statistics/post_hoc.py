"""Post-hoc tests of average ranks: Nemenyi's of all pairs, Bonferroni and Dunn's against a control."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, studentized_range

from labelsieve.errors import one_of, share, whole_number
from labelsieve.statistics.results_table import Floats, Results, average_ranks, method_index, read_results
from labelsieve.table_types import Frame

PostHoc = Literal["nemenyi", "bonferroni-dunn"]


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

    The diagonal is 1. Cost: one studentized range per pair, about a millisecond each.

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

    That of the control is 1. There are fewer comparisons than in :func:`nemenyi`, so smaller differences are significant.

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
