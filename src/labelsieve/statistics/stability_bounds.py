"""Bounds of the number of features that stability selection selects by error."""

from typing import Literal

import numpy as np

from labelsieve.errors import InputError, number, one_of, whole_number

Bound = Literal["meinshausen-buehlmann", "shah-samworth"]
BOUNDS = ("meinshausen-buehlmann", "shah-samworth")


def stability_bound(
    n_features: int, n_selected: float, threshold: float, *, n_pairs: int = 50, bound: Bound = "meinshausen-buehlmann"
) -> float:
    r"""The largest expected number of features selected by error, if those with a frequency of ``threshold`` are selected.

    With d features and selections of q features on average from half of the rows, features that are selected with a probability
    of at most :math:`\theta = q / d`, no more often than at random, are selected at frequency :math:`\pi` or more

    .. math:: E(V) \le \frac{1}{2 \pi - 1} \cdot \frac{q^2}{d}

    times (Meinshausen and Bühlmann 2010, theorem 1; Shah and Samworth 2013, theorem 1, for complementary pairs without further
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
