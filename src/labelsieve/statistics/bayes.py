from dataclasses import dataclass
from typing import Any

import numpy as np

from labelsieve.errors import InputError, number, whole_number
from labelsieve.statistics.results_table import Floats, read_floats

_SAMPLES_AT_A_TIME = 4096


@dataclass(frozen=True)
class Posterior:
    """How probable it is that the first of two methods is better in practice, that they are the same, or the second is."""

    first: float
    same: float
    second: float


def bayesian_signed_rank(
    first: Any,
    second: Any,
    *,
    lower_is_better: bool = False,
    same_within: float = 0.0,
    prior: float = 0.5,
    n_samples: int = 50_000,
    random_state: int = 0,
) -> Posterior:
    r"""Bayesian signed-rank test: the probability that one method is better, instead of a p-value.

    The differences :math:`z_1 \ldots z_N` and a pseudo-difference :math:`z_0 = 0` get weights
    :math:`w \sim \mathrm{Dirichlet}(s, 1, \ldots, 1)`. Each draw splits the mean over pairs into three parts,

    .. math:: \theta_+ = \sum_{ij} w_i w_j [z_i + z_j > 2r], \quad \theta_0 = \sum_{ij} w_i w_j [|z_i + z_j| \leq 2r], \quad
        \theta_- = 1 - \theta_+ - \theta_0

    and the answer is how often each part is the largest. Benavoli, Corani, Demšar and Zaffalon (2017). It can say that
    two methods are the same, which no p-value can.

    Parameters
    ----------
    first, second : array-like of shape (n_datasets,)
        Results of two methods.
    lower_is_better : bool
    same_within : float
        :math:`r`: differences up to this do not matter in practice (the region of practical equivalence).
    prior : float
        :math:`s`, the weight of the pseudo-difference.
    n_samples, random_state : int
        The same seed gives the same answer.

    Returns
    -------
    Posterior

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
    for start in range(0, n_samples, _SAMPLES_AT_A_TIME):
        n = min(_SAMPLES_AT_A_TIME, n_samples - start)
        weights = random.dirichlet([prior] + [1.0] * (len(z) - 1), size=n)
        better = ((weights @ above) * weights).sum(axis=1)
        worse = ((weights @ below) * weights).sum(axis=1)
        parts = np.column_stack([better, 1 - better - worse, worse])
        if same_within == 0:
            parts[:, 1] = -1.0  # exact equality is not a claim of its own: it speaks for neither
        largest = parts == parts.max(axis=1, keepdims=True)
        wins += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    return Posterior(*(float(share) for share in wins / n_samples))


def _differences(first: Any, second: Any, lower_is_better: bool) -> tuple[Floats, float]:
    """Differences, and how far sums of two may be off because decimals are no binary numbers: 0.85 - 0.84 is above 0.01."""
    one, other = read_floats(first, "the results of the first method"), read_floats(second, "those of the second")
    if one.ndim != 1 or one.shape != other.shape or len(one) == 0:
        raise InputError(f"two lists of results on the same data sets are needed, not shapes {one.shape} and {other.shape}.")
    if not (np.isfinite(one) & np.isfinite(other)).all():
        raise InputError("a result is missing or infinite; leave that data set out of both lists.")
    noise = 8 * float(np.finfo(np.float64).eps * np.abs([one, other]).max())
    return other - one if lower_is_better else one - other, noise
