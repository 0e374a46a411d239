"""A Bayesian comparison of two methods, and confidence bands of curves over repetitions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as t_distribution

from labelsieve.errors import InputError, number, share, whole_number
from labelsieve.statistics.tests import Floats, read_floats

SAMPLES_AT_A_TIME = 4096


@dataclass(frozen=True)
class Posterior:
    """The result of :func:`bayesian_signed_rank`: probabilities that a method is better, or that both are equivalent.

    Attributes
    ----------
    first, same, second : float
        The first method is better, both are equivalent, the second is better.
    """

    first: float
    same: float
    second: float


def bayesian_signed_rank(
    first: ArrayLike,
    second: ArrayLike,
    *,
    lower_is_better: bool = False,
    same_within: float = 0.0,
    prior: float = 0.5,
    n_samples: int = 50_000,
    random_state: int = 0,
) -> Posterior:
    r"""Compute the probability that one method is better, instead of a p-value, by the Bayesian signed-rank test.

    The differences :math:`z_1 \ldots z_N` and a pseudo-difference :math:`z_0 = 0` get weights
    :math:`w \sim \mathrm{Dirichlet}(s, 1, \ldots, 1)`. Each draw splits the mean over pairs into three probabilities,

    .. math:: \theta_+ = \sum_{ij} w_i w_j [z_i + z_j > 2r], \quad \theta_0 = \sum_{ij} w_i w_j [|z_i + z_j| \leq 2r], \quad
        \theta_- = 1 - \theta_+ - \theta_0

    and the result is the fraction of draws in which each is the largest. Benavoli, Corani, Demšar and Zaffalon (2017). Unlike a
    p-value, it can show that two methods are equivalent.

    Parameters
    ----------
    first, second : array-like of shape (n_datasets,)
        Results of two methods.
    lower_is_better : bool, default=False
        Whether the results are losses.
    same_within : float, default=0.0
        :math:`r`, the region of practical equivalence: smaller differences do not matter.
    prior : float, default=0.5
        :math:`s`, the weight of the pseudo-difference.
    n_samples : int, default=50000
        Number of draws of the weights.
    random_state : int, default=0
        The same seed gives the same result.

    Notes
    -----
    Cost: ``n_samples * N ** 2`` multiplications.

    Examples
    --------
    >>> found = bayesian_signed_rank([0.9, 0.8, 0.85, 0.9], [0.7, 0.7, 0.8, 0.6], same_within=0.01)
    >>> found.first > 0.95
    True
    """
    z, noise = _differences(first, second, lower_is_better)
    if not 0 <= number(same_within, "same_within") < np.inf:
        raise InputError(f"same_within must be 0 or more, not {same_within!r}.")
    if not 0 < number(prior, "prior") < np.inf:
        raise InputError(f"prior must be above 0, not {prior!r}.")
    n_samples = whole_number(n_samples, "n_samples", 1, 10**9)
    try:
        random = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(f"random_state must be a whole number of 0 or more, not {random_state!r}.") from None
    z = np.append(0.0, z)
    sums = z[:, None] + z
    border = 2 * same_within + noise
    above, below = (sums > border).astype(np.float64), (sums < -border).astype(np.float64)
    wins = np.zeros(3)
    for start in range(0, n_samples, SAMPLES_AT_A_TIME):
        n = min(SAMPLES_AT_A_TIME, n_samples - start)
        weights = random.dirichlet([prior] + [1.0] * (len(z) - 1), size=n)
        better = ((weights @ above) * weights).sum(axis=1)
        worse = ((weights @ below) * weights).sum(axis=1)
        thetas = np.column_stack([better, 1 - better - worse, worse])
        if same_within == 0:
            thetas[:, 1] = -1.0  # exact equality supports neither method
        largest = thetas == thetas.max(axis=1, keepdims=True)
        wins += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    return Posterior(*(float(share) for share in wins / n_samples))


def _differences(first: ArrayLike, second: ArrayLike, lower_is_better: bool) -> tuple[Floats, float]:
    """Return the differences, and a bound on the rounding error of sums of two: in binary, 0.85 - 0.84 is above 0.01."""
    a, b = read_floats(first, "the results of the first method"), read_floats(second, "those of the second")
    if a.ndim != 1 or a.shape != b.shape or len(a) == 0:
        raise InputError(f"two lists of results on the same data sets are needed, not shapes {a.shape} and {b.shape}.")
    if not (np.isfinite(a) & np.isfinite(b)).all():
        raise InputError("a result is missing or infinite; leave that data set out of both lists.")
    noise = 8 * float(np.finfo(np.float64).eps * np.abs([a, b]).max())
    return b - a if lower_is_better else a - b, noise


@dataclass(frozen=True, eq=False)
class Band:
    """The result of :func:`confidence_band`: the ``mean`` over repetitions and its confidence limits, ``low`` and ``high``."""

    mean: Floats
    low: Floats
    high: Floats


def confidence_band(values: ArrayLike, *, confidence: float = 0.95, test_share: float | None = None) -> Band:
    r"""Compute the pointwise mean of repetitions and its t interval.

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
