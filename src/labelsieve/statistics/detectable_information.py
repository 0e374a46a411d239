"""The information that a test can detect: how much a feature and a target must share to be a discovery."""

import numpy as np
from scipy.special import chdtri, chndtrinc

from labelsieve.errors import InputError


def detectable_information(n_rows: int, degrees: int, level: float, power: float | None = None) -> float:
    r"""Information, in nats, at which :math:`G = 2n \, I` has a p-value of ``level``.

    .. math:: I = \frac{\chi^2_{1 - level}}{2n}

    with ``degrees`` of freedom. With ``power``, the true information that is significant with this probability: under it
    :math:`G` has a noncentral chi-square distribution with noncentrality :math:`2n \, I`.

    >>> round(detectable_information(1000, 4, 0.05 / 1000), 4)
    0.0125
    >>> round(detectable_information(1000, 4, 0.05 / 1000, power=0.8), 4)
    0.0154
    """
    if n_rows < 1 or degrees < 1 or not 0 < level < 1:
        raise InputError("detectable_information needs rows, degrees of freedom and a level between 0 and 1.")
    threshold = float(chdtri(degrees, level))
    if power is None:
        return threshold / (2 * n_rows)
    found = float(chndtrinc(threshold, degrees, 1 - power))
    return (found if np.isfinite(found) else threshold) / (2 * n_rows)
