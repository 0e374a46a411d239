"""One way to make random numbers of a ``random_state``."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def generator(random_state: Any) -> np.random.Generator:
    """A generator of numpy's newer kind from whatever scikit-learn takes as a seed.

    >>> bool(generator(3).random() == generator(3).random())
    True
    """
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
