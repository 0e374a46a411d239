"""Quadratic programs over the simplex: the compiled solver for a matrix that is at hand."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve import core

Array = NDArray[np.float64]

_CALL = 2e7  # multiplications of one call, some hundredths of a second: an interrupt waits for one at the most


class PairSteps(NamedTuple):
    """How many steps were made, by how much optimality is missed after them, and the smallest curvature on the way."""

    steps: int
    violation: float
    curvature: float


def pair_steps(matrix: Array, weights: Array, gradient: Array, *, tolerance: float, max_steps: int) -> PairSteps:
    r"""Lower :math:`\frac12 w'Qw + c'w` over weights that are not negative and keep their sum, two at a time, in place.

    ``gradient`` is :math:`Qw + c`. It ends when no place with weight has a gradient more than ``tolerance`` above the lowest:
    the conditions of Karush, Kuhn and Tucker. A direction without positive curvature is followed to its end, so the
    conditions are reached whether or not ``matrix`` is positive semi-definite.

    Cost: two rows of ``matrix`` for each step.

    >>> weights, gradient = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    >>> pair_steps(np.eye(2), weights, gradient, tolerance=1e-9, max_steps=100)
    PairSteps(steps=1, violation=0.0, curvature=2.0)
    >>> weights
    array([0.5, 0.5])
    """
    at_once = max(1000, int(_CALL / max(1, len(weights))))
    steps, violation, curvature = 0, np.inf, np.inf
    while True:
        allowed = min(at_once, max_steps - steps)
        made, violation, smallest = core.pair_steps(matrix, weights, gradient, tolerance, allowed)
        steps, curvature = steps + made, min(curvature, smallest)
        if made < allowed or steps >= max_steps:
            return PairSteps(steps, violation, curvature)
