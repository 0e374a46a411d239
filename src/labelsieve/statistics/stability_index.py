"""How stable a selection is: the index of Nogueira, Sechidis and Brown, with its confidence interval."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from labelsieve.errors import InputError, share
from labelsieve.plotting import figure_function


@dataclass(frozen=True, eq=False)
class Stability:
    """What repeated selections say about a selector.

    Attributes
    ----------
    index : float
        1: the same features every time; 0: as stable as drawing so many features at random. NaN when all or none were
        selected every time.
    variance : float
        Of the index, for many repetitions.
    interval : tuple of two floats
        Where the index lies with the asked confidence; not cut at 1.
    frequency : ndarray of float, shape (n_features,)
        How often each feature was selected.
    masks : ndarray of bool, shape (n_repeats, n_features)
    confidence : float
        Of the interval.
    kind : str
        How rows were resampled, where they were: "bootstrap" or "subsample".
    """

    index: float
    variance: float
    interval: tuple[float, float]
    frequency: NDArray[np.float64]
    masks: NDArray[np.bool_]
    confidence: float = 0.95
    kind: str = ""

    def plot(self, *, names: Any = None, n_shown: int = 30, ax: Any = None) -> Any:
        """Draw how often features were selected: see :func:`labelsieve.report.figures.stability_chart`."""
        return figure_function("selection_stability")(self, names=names, n_shown=n_shown, ax=ax)


def stability_index(masks: Any, *, confidence: float = 0.95) -> Stability:
    r"""Stability of M selections among d features.

    .. math:: \hat\Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
              {\frac{\bar k}{d} (1 - \frac{\bar k}{d})}

    with :math:`\hat p_f` the frequency of feature f and :math:`\bar k` the mean number of features. Nogueira, Sechidis and
    Brown (2018), definition 4; it is corrected for chance, allows selections of different sizes, and is 1 exactly when all
    selections are the same. Its variance is :math:`\frac{4}{M^2} \sum_i (\hat\phi_i - \bar\phi)^2` (theorem 7) with

    .. math:: \hat\phi_i = \frac{1}{\frac{\bar k}{d}(1 - \frac{\bar k}{d})} \Big[ \frac{1}{d} \sum_f z_{if} \hat p_f
              - \frac{k_i \bar k}{d^2} + \frac{\hat\Phi}{2} \Big( \frac{2 \bar k k_i}{d^2} - \frac{k_i}{d} - \frac{\bar k}{d}
              + 1 \Big) \Big]

    that is, the spread of what each selection contributes to the index.

    Parameters
    ----------
    masks : array-like of bool, shape (n_repeats, n_features)
        The selections, at least two.
    confidence : float
        Of the interval, which is normal.

    Notes
    -----
    When every selection has all features, or none has any, the index is 0 / 0: NaN, as are variance and interval. The
    interval assumes independent selections; those of overlapping samples are not quite.

    Examples
    --------
    >>> found = stability_index([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])
    >>> round(found.index, 3), found.frequency.round(2).tolist()
    (0.333, [1.0, 0.67, 0.33, 0.0])
    """
    try:
        chosen = np.asarray(masks)
    except ValueError:
        raise InputError("masks must have as many columns in every row, one for each feature.") from None
    if chosen.ndim != 2 or chosen.shape[0] < 2 or chosen.shape[1] < 1 or not np.isin(chosen, (0, 1)).all():
        raise InputError(
            f"masks must be zeros and ones, one row for each of at least two selections; this has shape {chosen.shape}."
        )
    confidence = share(confidence, "confidence")
    chosen = chosen.astype(bool)
    n_repeats, n_features = chosen.shape
    frequency = chosen.mean(axis=0)
    part_chosen = chosen.mean(axis=1)  # k_i / d
    mean = float(part_chosen.mean())
    chance = mean * (1 - mean)
    if chance == 0:
        return Stability(np.nan, np.nan, (np.nan, np.nan), frequency, chosen, confidence)
    spread = float((frequency * (1 - frequency)).mean()) * n_repeats / (n_repeats - 1)
    index = 1 - spread / chance
    agreement = chosen @ frequency / n_features
    part = (agreement - part_chosen * mean + index / 2 * (2 * mean * part_chosen - part_chosen - mean + 1)) / chance
    variance = 4 / n_repeats**2 * float(((part - part.mean()) ** 2).sum())
    reach = float(scipy.stats.norm.ppf((1 + confidence) / 2)) * np.sqrt(variance)
    return Stability(index, variance, (index - reach, index + reach), frequency, chosen, confidence)
