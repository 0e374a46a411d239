"""Weights of the targets in sums over them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError

_MOST_TARGETS = 2**16  # that whole weights may add up to: the fixed point needs headroom for them


@dataclass(frozen=True, eq=False)
class TargetWeights:
    r"""One weight for every target: :math:`\sum_y` becomes :math:`\sum_y w_y` and the number of targets :math:`\sum_y w_y`.

    Whole weights keep sums exact: a target of weight 3 is that target three times, to the last bit. With others, the weighted
    sum is taken in doubles, target by target in their order, so it does not depend on threads either.

    Attributes
    ----------
    values : ndarray of float
    whole : bool
        They are whole numbers, small enough to count as that many targets.
    """

    values: NDArray[np.float64]
    whole: bool

    @property
    def n_targets(self) -> int:
        """Number of targets that sums need headroom for."""
        return int(self.values.sum()) if self.whole else len(self.values)


def read_target_weights(target_weight: Any, n_targets: int) -> TargetWeights | None:
    """Check weights of targets: one for each, finite, not negative, not all zero.

    >>> read_target_weights([2, 1, 0.5], 3).whole
    False
    """
    if target_weight is None:
        return None
    try:
        values = np.asarray(target_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"target_weight must be numbers, one for each of the {n_targets} targets.") from None
    if values.shape != (n_targets,):
        raise InputError(f"target_weight has shape {values.shape}; one weight for each of the {n_targets} targets is needed.")
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        target = int(np.argmax(bad))
        raise InputError(f"target_weight[{target}] is {values[target]}; weights must be finite and not negative.")
    if not values.any():
        raise InputError("target_weight is zero for every target; at least one must count.")
    return TargetWeights(values, bool(np.array_equal(values, np.floor(values)) and values.sum() <= _MOST_TARGETS))
