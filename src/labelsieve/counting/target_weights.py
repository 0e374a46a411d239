"""Weights of the targets in sums over them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.row_weights import checked_weights
from labelsieve.table_types import WeightsLike

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


def read_target_weights(target_weight: WeightsLike, n_targets: int) -> TargetWeights | None:
    """Check weights of targets: one for each, finite, not negative, not all zero.

    >>> read_target_weights([2, 1, 0.5], 3).whole
    False
    """
    if target_weight is None:
        return None
    values = checked_weights(target_weight, "target_weight", n_targets, "target")
    return TargetWeights(values, bool(np.array_equal(values, np.floor(values)) and values.sum() <= _MOST_TARGETS))
