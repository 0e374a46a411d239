from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as t_distribution

from labelsieve.errors import InputError, share
from labelsieve.statistics.results_table import Floats, read_floats


@dataclass(frozen=True, eq=False)
class Band:
    """The result of :func:`confidence_band`: the ``mean`` over repetitions and its confidence limits, ``low`` and ``high``."""

    mean: Floats
    low: Floats
    high: Floats


def confidence_band(values: ArrayLike, *, confidence: float = 0.95, test_share: float | None = None) -> Band:
    r"""Pointwise mean of repetitions and its t interval.

    .. math:: \bar x \pm t_{n - 1} \, s \sqrt{\frac{1}{n} + \frac{\rho}{1 - \rho}}

    The papers' bands (95 % over 30 random halves in Sechidis, Nikolaou and Brown 2014) have :math:`\rho = 0`. But random
    splits of one data set share rows, so repetitions are not independent and those bands are too narrow; Nadeau and Bengio
    (2003) correct them with the fraction :math:`\rho` of test rows: 0.5 for halves.

    Parameters
    ----------
    values : array-like of shape (n_repetitions,) or (n_repetitions, n_points)
        At least two repetitions.
    confidence : float, default=0.95
        The confidence level.
    test_share : float, default=None
        :math:`\rho`. None: repetitions are treated as independent.

    Returns
    -------
    Band

    Examples
    --------
    >>> band = confidence_band([[0.1, 0.5], [0.3, 0.5], [0.2, 0.5]])
    >>> band.mean, band.high.round(3)
    (array([0.2, 0.5]), array([0.448, 0.5 ]))
    """
    numbers = read_floats(values, "the values of a band")
    if numbers.ndim not in (1, 2) or len(numbers) < 2:
        raise InputError(f"a band needs at least two repetitions, in rows; the values have shape {numbers.shape}.")
    if not np.isfinite(numbers).all():
        raise InputError(f"repetition {int(np.argwhere(~np.isfinite(numbers))[0][0])} has a value that is missing or infinite.")
    outside = (1 - share(confidence, "confidence")) / 2
    n = len(numbers)
    tested = 0.0 if test_share is None else share(test_share, "test_share")
    mean = np.asarray(numbers.mean(axis=0))
    half = t_distribution.isf(outside, n - 1) * numbers.std(axis=0, ddof=1) * np.sqrt(1 / n + tested / (1 - tested))
    return Band(mean, mean - half, mean + half)
