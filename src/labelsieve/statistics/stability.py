from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from labelsieve.errors import InputError, whole_number
from labelsieve.statistics.post_hoc import read_alpha


@dataclass(frozen=True)
class Stability:
    """How alike repeated selections are, and the interval that holds the true value with the confidence asked for."""

    value: float
    low: float
    high: float


def selection_stability(selections: Iterable[Any], n_features: int, *, confidence: float = 0.95) -> Stability:
    r"""Stability of a selection over repetitions: 1 when the same features are chosen every time, about 0 for chance.

    .. math:: \hat\Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M - 1} \hat p_f (1 - \hat p_f)}
        {\frac{\bar k}{d} \big(1 - \frac{\bar k}{d}\big)}

    for :math:`M` selections of :math:`\bar k` of :math:`d` features on average, with :math:`\hat p_f` the share of selections
    that have feature :math:`f`; the interval is the asymptotic one. Nogueira, Sechidis and Brown (2018). When all selections
    are of one size this is Kuncheva's index, averaged over pairs.

    Parameters
    ----------
    selections : iterable of array-like of int
        The columns chosen in each repetition, at least two repetitions; their sizes may differ.
    n_features : int
        How many there were to choose from.
    confidence : float

    Returns
    -------
    Stability
        NaN when every selection is empty, or every one has all features: then nothing was chosen.

    Notes
    -----
    Cost: ``M * d`` cells.

    Examples
    --------
    >>> round(selection_stability([[0, 1], [0, 1], [0, 2]], 5).value, 3)
    0.444
    """
    chosen = _indicators(selections, whole_number(n_features, "n_features", 1, 2**31))
    read_alpha(confidence)
    m, d = chosen.shape
    sizes, shares = chosen.sum(axis=1), chosen.mean(axis=0)
    density = float(sizes.mean()) / d
    if density in (0.0, 1.0):
        return Stability(float("nan"), float("nan"), float("nan"))
    by_chance = density * (1 - density)
    value = 1 - float((shares * (1 - shares)).mean()) * m / (m - 1) / by_chance
    own = sizes / d
    parts = (chosen @ shares / d - own * density + value / 2 * (2 * density * own - own - density + 1)) / by_chance
    half = float(norm.isf((1 - confidence) / 2)) * 2 / m * float(np.sqrt(((parts - parts.mean()) ** 2).sum()))
    return Stability(value, value - half, value + half)


def _indicators(selections: Iterable[Any], d: int) -> NDArray[np.float64]:
    rows = [np.asarray(columns) for columns in selections]
    if len(rows) < 2:
        raise InputError(f"stability needs at least two selections, not {len(rows)}.")
    found = np.zeros((len(rows), d))
    for number, columns in enumerate(rows):
        whole = columns.ndim == 1 and (columns.dtype.kind in "iu" or columns.size == 0)
        if not whole or (columns.size and not (columns.min() >= 0 and columns.max() < d)):
            raise InputError(f"selection {number} must be a list of columns from 0 to {d - 1}, not {columns.tolist()!r}.")
        found[number, columns.astype(np.intp)] = 1.0
    return found
