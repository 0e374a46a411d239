"""Stability of feature selection: the index of Nogueira, Sechidis and Brown, and bounds on the features selected by error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, number, one_of, share, whole_number
from labelsieve.plotting import Axes, figure_function

Bound = Literal["meinshausen-buehlmann", "shah-samworth"]
BOUNDS = ("meinshausen-buehlmann", "shah-samworth")


@dataclass(frozen=True, eq=False)
class Stability:
    """The stability of repeated selections, created by :func:`labelsieve.statistics.stability_index`.

    Attributes
    ----------
    index : float
        1: the same features every time; 0: as stable as a random selection of the same size. NaN if all features or none were
        selected every time.
    variance : float
        Asymptotic variance of the index.
    interval : tuple of two floats
        Confidence interval of the index; not cut at 1.
    frequency : ndarray of float, shape (n_features,)
        Selection frequency of each feature.
    masks : ndarray of bool, shape (n_repeats, n_features)
        The selections.
    confidence : float
        Confidence level of the interval.
    kind : str
        How rows were resampled, where they were: "bootstrap", "subsample" or "pairs".
    """

    index: float
    variance: float
    interval: tuple[float, float]
    frequency: NDArray[np.float64]
    masks: NDArray[np.bool_]
    confidence: float = 0.95
    kind: str = ""

    def error_bound(self, threshold: float = 0.75, *, bound: Bound = "meinshausen-buehlmann") -> float:
        """Bound the expected number of features with this frequency that are selected by error: see :func:`stability_bound`.

        It holds for selections from halves of the rows: ``kind="pairs"`` of :func:`labelsieve.selectors.selection_stability`.
        """
        if self.kind != "pairs":
            raise InputError('Error bounds are of selections from pairs of halves: use selection_stability(..., kind="pairs").')
        n_selected = float(self.masks.sum(axis=1).mean())
        return stability_bound(self.masks.shape[1], n_selected, threshold, n_pairs=len(self.masks) // 2, bound=bound)

    def stable_features(self, threshold: float = 0.75) -> NDArray[np.intp]:
        """Return the features with at least this selection frequency, the most frequent first (stability selection)."""
        order = np.argsort(-self.frequency, kind="stable")
        return np.asarray(order[self.frequency[order] >= threshold])

    def plot(self, *, names: Sequence[str] | None = None, n_shown: int = 30, ax: Axes | None = None) -> Axes:
        """Draw the selection frequencies: see :func:`labelsieve.report.figures.selection_stability`."""
        return figure_function("selection_stability")(self, names=names, n_shown=n_shown, ax=ax)


def stability_index(masks: ArrayLike, *, confidence: float = 0.95) -> Stability:
    r"""Compute the stability of M selections among d features.

    .. math:: \hat\Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
              {\frac{\bar k}{d} (1 - \frac{\bar k}{d})}

    with :math:`\hat p_f` the frequency of feature f and :math:`\bar k` the mean number of features. Nogueira, Sechidis and
    Brown (2018), definition 4; it is corrected for chance, allows selections of different sizes, and is 1 exactly when all
    selections are the same. Its variance is :math:`\frac{4}{M^2} \sum_i (\hat\phi_i - \bar\phi)^2` (theorem 7) with

    .. math:: \hat\phi_i = \frac{1}{\frac{\bar k}{d}(1 - \frac{\bar k}{d})} \Big[ \frac{1}{d} \sum_f z_{if} \hat p_f
              - \frac{k_i \bar k}{d^2} + \frac{\hat\Phi}{2} \Big( \frac{2 \bar k k_i}{d^2} - \frac{k_i}{d} - \frac{\bar k}{d}
              + 1 \Big) \Big]

    the contribution of each selection to the index.

    Parameters
    ----------
    masks : array-like of bool, shape (n_repeats, n_features)
        The selections, at least two.
    confidence : float, default=0.95
        Confidence level of the normal interval.

    Notes
    -----
    If every selection has all features, or none has any, the index is 0 / 0: NaN, as are variance and interval. The interval
    assumes independent selections; those of overlapping samples are not independent.

    Examples
    --------
    >>> found = stability_index([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])
    >>> round(found.index, 3), found.frequency.round(2).tolist()
    (0.333, [1.0, 0.67, 0.33, 0.0])
    """
    try:
        selected = np.asarray(masks)
    except ValueError:
        raise InputError("masks must have as many columns in every row, one for each feature.") from None
    if selected.ndim != 2 or selected.shape[0] < 2 or selected.shape[1] < 1 or not np.isin(selected, (0, 1)).all():
        raise InputError(
            f"masks must be zeros and ones, one row for each of at least two selections; this has shape {selected.shape}."
        )
    confidence = share(confidence, "confidence")
    selected = selected.astype(bool)
    n_repeats, n_features = selected.shape
    frequency = selected.mean(axis=0)
    fraction = selected.mean(axis=1)  # k_i / d
    mean = float(fraction.mean())
    random = mean * (1 - mean)  # the variance under random selection
    if random == 0:
        return Stability(np.nan, np.nan, (np.nan, np.nan), frequency, selected, confidence)
    spread = float((frequency * (1 - frequency)).mean()) * n_repeats / (n_repeats - 1)
    index = 1 - spread / random
    agreement = selected @ frequency / n_features
    phi = (agreement - fraction * mean + index / 2 * (2 * mean * fraction - fraction - mean + 1)) / random
    variance = 4 / n_repeats**2 * float(((phi - phi.mean()) ** 2).sum())
    half = float(scipy.stats.norm.ppf((1 + confidence) / 2)) * np.sqrt(variance)
    return Stability(index, variance, (index - half, index + half), frequency, selected, confidence)


def stability_bound(
    n_features: int, n_selected: float, threshold: float, *, n_pairs: int = 50, bound: Bound = "meinshausen-buehlmann"
) -> float:
    r"""Bound the expected number of features selected by error, if those with a frequency of ``threshold`` are selected.

    Of d features, q are selected on average from half of the rows. Let V be the number of features that reach the frequency
    :math:`\pi` although they are selected no more often than at random, with a probability of at most :math:`\theta = q / d`.
    Then

    .. math:: E(V) \le \frac{1}{2 \pi - 1} \cdot \frac{q^2}{d}

    (Meinshausen and Bühlmann 2010, theorem 1; Shah and Samworth 2013, theorem 1, for complementary pairs without further
    assumptions). If the number of pairs in both halves of which a feature is selected has a unimodal distribution, and
    :math:`\theta \le 1 / \sqrt 3`, the factor is for B pairs (Shah and Samworth, theorem 2)

    .. math:: C(\pi, B) = \begin{cases} \frac{1}{2 (2 \pi - 1 - 1 / 2B)} & \pi \le 3/4 \\
              \frac{4 (1 - \pi + 1 / 2B)}{1 + 1 / B} & \pi > 3/4 \end{cases}

    Parameters
    ----------
    n_features, n_selected : int, float
        d and q.
    threshold : float
        :math:`\pi`, above 0.5 and at most 1.
    n_pairs : int, default=50
        B, for ``"shah-samworth"``; it must be more than :math:`1 / (2 \pi - 1)`.
    bound : {"meinshausen-buehlmann", "shah-samworth"}, default="meinshausen-buehlmann"
        The first bound, or the second, with the factor C.

    Examples
    --------
    >>> round(stability_bound(1000, 20, 0.9), 3), round(stability_bound(1000, 20, 0.9, bound="shah-samworth"), 3)
    (0.5, 0.173)
    """
    one_of(bound, "bound", BOUNDS)
    d, pairs = whole_number(n_features, "n_features", 1, 2**53), whole_number(n_pairs, "n_pairs", 1, 2**31)
    q, level = number(n_selected, "n_selected"), number(threshold, "threshold")
    if not 0 <= q <= d:
        raise InputError(f"n_selected must be from 0 to the number of features, {d}, not {n_selected!r}.")
    if not 0.5 < level <= 1:
        raise InputError(f"threshold must be above 0.5 and at most 1, not {threshold!r}.")
    rate = q / d
    plain = 1 / (2 * level - 1)
    if bound == "shah-samworth":
        smallest = min(0.5 + rate**2, 0.5 + 1 / (2 * pairs) + 0.75 * rate**2)
        if rate > 1 / np.sqrt(3) or level <= max(smallest, 0.5 + 0.5 / pairs):
            raise InputError(
                f"The bound of Shah and Samworth needs a threshold above {max(smallest, 0.5 + 0.5 / pairs):.3g} and selections "
                f"of at most {d / np.sqrt(3):.0f} of {d} features; these have {q:g}, and the threshold is {level:g}."
            )
        tail = 4 * (1 - level + 1 / (2 * pairs)) / (1 + 1 / pairs)
        plain = min(plain, tail if level > 0.75 else 1 / (2 * (2 * level - 1 - 1 / (2 * pairs))))
    return float(plain * q * rate)
