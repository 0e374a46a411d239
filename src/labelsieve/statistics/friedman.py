from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2 as chi2_distribution
from scipy.stats import f as f_distribution

from labelsieve.statistics.results_table import ranks


@dataclass(frozen=True)
class Friedman:
    """Friedman's test: the statistics ``chi2`` and ``f`` with their p-values."""

    chi2: float
    chi2_p_value: float
    f: float
    p_value: float
    degrees: tuple[int, int]


def friedman(table: Any, *, lower_is_better: bool = False, correct_ties: bool = False) -> Friedman:
    r"""Friedman's test of equality of all methods: the chi-square, and Iman and Davenport's :math:`F_F`.

    .. math::
        \chi^2_F = \frac{12 N}{k (k + 1)} \Big[\sum_j R_j^2 - \frac{k (k+1)^2}{4}\Big], \qquad
        F_F = \frac{(N - 1) \chi^2_F}{N (k - 1) - \chi^2_F}

    for :math:`k` methods on :math:`N` data sets with average ranks :math:`R_j`; Demšar (2006), section 3.2.2.
    :math:`F_F` is less conservative, and the one that papers print.

    Parameters
    ----------
    table : array-like or frame of shape (n_datasets, n_methods)
    lower_is_better : bool, default=False
        Changes the ranks, but not the test.
    correct_ties : bool, default=False
        Correct the chi-square for the smaller variance of tied ranks, as ``scipy.stats.friedmanchisquare`` does; the published
        formula does not.

    Returns
    -------
    Friedman
        If the ranks are the same on all data sets, ``f`` is infinite and its p-value 0. If all values tie, they are 0 and 1.

    Notes
    -----
    Cost: one sort of every row.

    Examples
    --------
    >>> found = friedman([[3, 2, 1], [3, 2, 1], [2, 3, 1], [3, 1, 2]])
    >>> found.chi2, round(found.f, 3), round(found.p_value, 3)
    (4.5, 3.857, 0.084)
    """
    found = ranks(table, lower_is_better=lower_is_better)
    n, k = found.shape
    chi2 = 12 * n / (k * (k + 1)) * float(((found.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    if correct_ties and chi2 > 0:
        spread = float(((found - (k + 1) / 2) ** 2).sum())
        chi2 *= n * k * (k * k - 1) / 12 / spread
    left = n * (k - 1) - chi2
    f = (n - 1) * chi2 / left if left > 1e-9 * n * k else np.inf
    degrees = (k - 1, (k - 1) * (n - 1))
    return Friedman(chi2, float(chi2_distribution.sf(chi2, k - 1)), float(f), float(f_distribution.sf(f, *degrees)), degrees)
