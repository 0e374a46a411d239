"""The knockoff filter, e-values that combine several sets of knockoffs, and how often other sets discover the same."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, share

Real = NDArray[np.float64]
_DECIMALS = 12  # of rates: 0.1 allows one in ten, in spite of binary fractions
_ROUNDING, _SAME = 1 + 1e-12, 1e-13  # tolerances of comparisons and of equal rates
_MANY_REPEATS = 10  # sets of knockoffs from which the threshold is stricter
N_RESAMPLES = 200  # of sets of knockoffs, for their reproducibility
REPRODUCED = 0.9  # a fraction of resamples above this, or below its complement, is called reproducible


def knockoff_threshold(statistics: ArrayLike, alpha: float) -> float:
    r"""Compute the threshold of the knockoff+ filter (Barber and Candès 2015, eq. 1.9); it is infinite if none is allowed.

    .. math:: T = \min\left\{t > 0 : \frac{1 + \#\{j : W_j \le -t\}}{\#\{j : W_j \ge t\}} \le \alpha\right\}

    Features with :math:`W_j \ge T` have a false discovery rate of at most ``alpha`` if the signs of the statistics of null
    features are independent coin flips. At least :math:`1 / \alpha` features must pass, or none does.

    Parameters
    ----------
    statistics : array-like of shape (n_features,)
        W: positive where a feature is more important than its knockoff.
    alpha : float
        False discovery rate.

    Examples
    --------
    >>> knockoff_threshold([5, 4, 3, 2, -1, 1], alpha=0.25), knockoff_threshold([5, 4, 3, 2, -1, 1], alpha=0.2)
    (2.0, inf)
    """
    W = _checked(statistics, 1)
    level = share(alpha, "alpha")
    return float(_thresholds(W[np.newaxis], lambda n_positive: level * n_positive)[0])


def knockoff_e_values(statistics: ArrayLike, alpha: float) -> Real:
    r"""Compute e-values of features for a false discovery rate, averaged over sets of knockoffs (Ren and Barber 2024, eq. 5).

    .. math:: e_j = \frac{1}{M} \sum_m d \cdot \frac{1\{W^m_j \ge T^m\}}{1 + \#\{k : W^m_k \le -T^m\}}

    The threshold :math:`T^m` of set m allows a number :math:`1 + \#\{k : W^m_k \le -T^m\}` that depends on the number
    :math:`p` of features that pass:

    - one set of knockoffs: at most :math:`\alpha p`, the filter of :func:`knockoff_threshold`;
    - fewer than ten sets: :math:`\alpha p / 2`, so that a feature has to pass for about half of the sets, or
      :math:`\alpha p` if the former is less than 1;
    - ten sets or more: the larger one of 1 and :math:`\alpha p / 3`. Few discoveries are then those before the first negative
      statistic, which differ less from set to set than longer lists (Ren, Wei and Candès 2023).

    Each threshold depends on no more than the filter may use, so over the null features the expected sum is at most d, also
    for the average, whatever the dependence of the sets; :func:`e_q_values` therefore controls the false discovery rate.

    Parameters
    ----------
    statistics : array-like of shape (n_repeats, n_features)
        W for each set of knockoffs.
    alpha : float
        False discovery rate that is wanted.

    Examples
    --------
    >>> knockoff_e_values([[5, 4, 3, 2, -1, 1], [5, 4, 3, 2, 1, -2]], 0.5)
    array([6., 6., 6., 3., 0., 0.])
    """
    return np.asarray(e_values_by_repeat(statistics, alpha).mean(axis=0))


def e_values_by_repeat(statistics: ArrayLike, alpha: float) -> Real:
    """Compute e-values for every set of knockoffs, shape (n_repeats, n_features); :func:`knockoff_e_values` is their mean."""
    W, alpha = _checked(statistics, 2), share(alpha, "alpha")

    def most(n_positive: NDArray[np.integer]) -> Real:
        if len(W) >= _MANY_REPEATS:
            return np.asarray(np.maximum(1.0, alpha / 3 * n_positive))
        few = (len(W) == 1) | (alpha / 2 * n_positive * _ROUNDING < 1)
        return np.asarray(np.where(few, alpha, alpha / 2) * n_positive)

    thresholds = _thresholds(W, most)[:, np.newaxis]
    n_negative = (-thresholds >= W).sum(axis=1, keepdims=True)
    return np.asarray(W.shape[1] * (thresholds <= W) / (1 + n_negative))


def e_q_values(e_values: ArrayLike) -> Real:
    r"""Return the smallest level, at most 1, at which the e-BH procedure discovers each feature (Wang and Ramdas 2022).

    At level :math:`\alpha`, e-BH discovers the features with the k largest e-values for the largest k with
    :math:`k\, e_{(k)} \ge d / \alpha`.

    Examples
    --------
    >>> e_q_values([40, 40, 10, 1]).round(3)
    array([0.05 , 0.05 , 0.133, 1. ])
    """
    e = np.asarray(e_values, dtype=np.float64)
    if e.ndim != 1 or np.isnan(e).any() or (e < 0).any():
        raise InputError("e-values must be numbers of 0 or more, one for each feature.")
    order = np.argsort(-e, kind="stable")
    with np.errstate(divide="ignore", over="ignore"):
        rate = np.minimum(1 / np.round(np.arange(1, len(e) + 1) * e[order] / len(e), _DECIMALS), 1.0)
    decimal = np.round(rate, _DECIMALS)
    rate = np.where(np.abs(rate - decimal) < _SAME, decimal, rate)  # 1 / 15 as well as 0.15, whatever the sums were rounded to
    q = np.empty(len(e))
    q[order] = np.minimum.accumulate(rate[::-1])[::-1]
    return q


def _checked(statistics: ArrayLike, n_dimensions: int) -> Real:
    W = np.asarray(statistics, dtype=np.float64)
    if W.ndim != n_dimensions or not W.size or np.isnan(W).any():
        shape = "(n_features,)" if n_dimensions == 1 else "(n_repeats, n_features)"
        raise InputError(f"statistics must be numbers of shape {shape}; these have shape {W.shape}, or NaN.")
    return W


def _thresholds(W: Real, most: Callable[[NDArray[np.integer]], NDArray[np.floating]]) -> Real:
    """Return the smallest threshold t of each row with 1 + #{W <= -t} <= most(#{W >= t}); infinite if there is none."""
    thresholds = np.full(len(W), np.inf)
    for row, values in enumerate(W):
        size = np.sort(np.abs(values[values != 0]))
        positive, negative = np.sort(values[values > 0]), np.sort(-values[values < 0])
        n_positive = len(positive) - np.searchsorted(positive, size, side="left")
        n_negative = len(negative) - np.searchsorted(negative, size, side="left")
        allowed = 1 + n_negative <= most(n_positive) * _ROUNDING
        if allowed.any():
            thresholds[row] = size[int(allowed.argmax())]
    return thresholds


def knockoff_reproducibility(statistics: ArrayLike, alpha: float, *, random_state: int = 0) -> Real:
    r"""Return the fraction of resamples of the knockoffs with which e-BH discovers each feature, shape (n_features,).

    Sets of knockoffs are independent draws given the data, and a discovery depends on the mean of their e-values. Bootstrap
    samples of the sets therefore show how much the discoveries depend on the seed: with a fraction near 1 or 0, other knockoffs
    lead to the same decision about a feature. It is not an error rate, and no reason to choose among seeds: the false discovery
    rate holds for a seed and a number of sets that were fixed before. Inaccurate for fewer than ten sets; NaN for a single one.

    Parameters
    ----------
    statistics : array-like of shape (n_repeats, n_features)
        W for each set of knockoffs.
    alpha : float
        False discovery rate that is wanted.
    random_state : int, default=0
        Seed of the 200 resamples.

    Examples
    --------
    >>> W = np.ones((20, 6))
    >>> W[17:, 0] = -2  # nothing passes with three of the knockoffs
    >>> knockoff_reproducibility(W, 0.2)
    array([0.62, 0.62, 0.62, 0.62, 0.62, 0.62])
    """
    level, by_repeat = share(alpha, "alpha"), e_values_by_repeat(statistics, alpha)
    n_repeats = len(by_repeat)
    if n_repeats < 2:
        return np.full(by_repeat.shape[1], np.nan)
    rng = np.random.default_rng(random_state)
    times = rng.multinomial(n_repeats, np.full(n_repeats, 1 / n_repeats), size=N_RESAMPLES)
    return np.asarray(np.mean([e_q_values(e_values) <= level for e_values in times @ by_repeat / n_repeats], axis=0))


def reproducibility_note(shares: Real, found: NDArray[np.bool_]) -> str:
    """Say in a sentence how far the discoveries depend on the random knockoffs; the text is empty if they do not.

    >>> reproducibility_note(np.array([0.97, 0.95, 0.0]), np.array([True, True, False]))
    ''
    >>> reproducibility_note(np.array([0.3, 0.2]), np.array([False, False]))[:54]
    'Other knockoffs may discover features: 30% of resample'
    """
    remedy = "Increase n_repeats; do not choose among seeds, which invalidates the false discovery rate."
    most = float(np.nan_to_num(shares).max(initial=0.0))
    if not found.any():
        if most <= 1 - REPRODUCED:
            return ""
        return f"Other knockoffs may discover features: {most:.0%} of resamples of these knockoffs do. {remedy}"
    if np.isnan(shares).any():
        return ""
    if most < REPRODUCED:
        return f"Other knockoffs may discover nothing: {1 - most:.0%} of resamples of these knockoffs do. {remedy}"
    unsure = int(np.count_nonzero(shares[found] < REPRODUCED))
    if not unsure:
        return ""
    return f"{unsure} of {found.sum()} discoveries depend on the knockoffs: fewer than {REPRODUCED:.0%} of resamples have them."
