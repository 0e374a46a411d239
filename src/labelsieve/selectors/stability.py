"""How stable a selection is: the index of Nogueira, Sechidis and Brown, with its confidence interval."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.stats
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from labelsieve.errors import InputError, one_of, whole_number
from labelsieve.information.tables import is_frame

Kind = Literal["bootstrap", "subsample"]


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
    """

    index: float
    variance: float
    interval: tuple[float, float]
    frequency: NDArray[np.float64]
    masks: NDArray[np.bool_]


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
    chosen = np.asarray(masks)
    if chosen.ndim != 2 or chosen.shape[0] < 2 or chosen.shape[1] < 1 or not np.isin(chosen, (0, 1)).all():
        raise InputError(
            f"masks must be zeros and ones, one row for each of at least two selections; this has shape {chosen.shape}."
        )
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, not {confidence!r}.")
    chosen = chosen.astype(bool)
    n_repeats, n_features = chosen.shape
    frequency = chosen.mean(axis=0)
    share = chosen.mean(axis=1)  # k_i / d
    mean = float(share.mean())
    chance = mean * (1 - mean)
    if chance == 0:
        return Stability(np.nan, np.nan, (np.nan, np.nan), frequency, chosen)
    spread = float((frequency * (1 - frequency)).mean()) * n_repeats / (n_repeats - 1)
    index = 1 - spread / chance
    agreement = chosen @ frequency / n_features
    part = (agreement - share * mean + index / 2 * (2 * mean * share - share - mean + 1)) / chance
    variance = 4 / n_repeats**2 * float(((part - part.mean()) ** 2).sum())
    reach = float(scipy.stats.norm.ppf((1 + confidence) / 2)) * np.sqrt(variance)
    return Stability(index, variance, (index - reach, index + reach), frequency, chosen)


def selection_stability(
    selector: Any,
    X: Any,
    Y: Any,
    *,
    n_repeats: int = 30,
    kind: Kind = "bootstrap",
    fraction: float = 0.5,
    confidence: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """Stability of a selector over resamples of the rows: see :func:`stability_index`.

    Parameters
    ----------
    selector : estimator
        Anything with ``fit(X, Y)`` and ``get_support()``. It is cloned, not changed.
    X, Y : array-like, frame or sparse matrix
    n_repeats : int
        At least two.
    kind : {"bootstrap", "subsample"}
        As many rows as there are, drawn with repetition, or a ``fraction`` of them without. Selectors that look for
        neighbours want ``"subsample"``: a row drawn twice is its own neighbour.
    fraction : float
    confidence : float
    random_state : int, RandomState or None
        The same number gives the same samples, whatever ``n_jobs``.
    n_jobs : int, optional
        Processes, as joblib counts; None is one, -1 is all.

    Notes
    -----
    Cost: ``n_repeats`` fits.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_known_answer
    >>> data = make_known_answer()
    >>> found = selection_stability(Sieve("mim", n_features_to_select=4), data.X, data.Y, n_repeats=10, random_state=0)
    >>> found.index
    1.0
    """
    n_repeats = whole_number(n_repeats, "n_repeats", 2, 1_000_000)
    one_of(kind, "kind", ("bootstrap", "subsample"))
    if not 0 < fraction <= 1:
        raise InputError(f"fraction must be above 0 and at most 1, not {fraction!r}.")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    rng = check_random_state(random_state)
    if kind == "bootstrap":
        samples = [rng.randint(n_rows, size=n_rows) for _ in range(n_repeats)]
    else:
        size = max(1, round(fraction * n_rows))
        samples = [np.sort(rng.permutation(n_rows)[:size]) for _ in range(n_repeats)]
    masks = Parallel(n_jobs=n_jobs)(delayed(_support)(selector, X, Y, rows) for rows in samples)
    return stability_index(np.array(masks), confidence=confidence)


def _support(selector: Any, X: Any, Y: Any, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    X, Y = (table if is_frame(table) or hasattr(table, "shape") else np.asarray(table) for table in (X, Y))
    mask: NDArray[np.bool_] = clone(selector).fit(_safe_indexing(X, rows), _safe_indexing(Y, rows)).get_support()
    return mask
