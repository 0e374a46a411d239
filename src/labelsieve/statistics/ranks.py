from typing import Any

import numpy as np
from scipy.stats import rankdata

from labelsieve.statistics.results_table import Floats, read_results


def ranks(table: Any, *, lower_is_better: bool) -> Floats:
    """Ranks of the methods on every data set: 1 for the best, tied methods share the mean of their places.

    Cost: every row is sorted.

    Examples
    --------
    >>> ranks([[0.9, 0.7, 0.7], [0.5, 0.6, 0.4]], lower_is_better=False)
    array([[1. , 2.5, 2.5],
           [2. , 1. , 3. ]])
    """
    values = read_results(table).values
    found: Floats = np.asarray(rankdata(values if lower_is_better else -values, axis=1), dtype=np.float64)
    return found


def average_ranks(table: Any, *, lower_is_better: bool) -> Floats:
    r"""Mean rank of every method over the data sets, :math:`R_j = \frac{1}{N} \sum_i r_{ij}`.

    Examples
    --------
    >>> average_ranks([[0.9, 0.7, 0.7], [0.5, 0.6, 0.4]], lower_is_better=False)
    array([1.5 , 1.75, 2.75])
    """
    means: Floats = ranks(table, lower_is_better=lower_is_better).mean(axis=0)
    return means
