"""How often other knockoffs would discover the same features."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import share
from labelsieve.statistics.knockoff_filter import e_q_values, e_values_by_repeat

Real = NDArray[np.float64]
N_RESAMPLES = 200
REPRODUCED = 0.9  # a fraction of resamples above this, or below its complement, is called reproducible


def knockoff_reproducibility(statistics: ArrayLike, alpha: float, *, random_state: int = 0) -> Real:
    r"""The fraction of resamples of the knockoffs with which e-BH discovers each feature, shape (n_features,).

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
        Of the 200 resamples.

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
    """A sentence for discoveries that depend on the knockoffs, all or some of them, and for none that might have been some.

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
