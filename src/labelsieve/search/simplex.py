"""Dense quadratic programs over the simplex: the compiled solver, and the smallest eigenvalue of the matrix."""

from contextlib import AbstractContextManager
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.linalg.blas import dsymv
from threadpoolctl import ThreadpoolController

from labelsieve import core

Array = NDArray[np.float64]

_CALL = 2e7  # multiplications of one call, some hundredths of a second: an interrupt waits for one at the most
_LARGEST_EXACT = 128  # rows up to which all eigenvalues are computed
_STEPS = 60  # of Lanczos' method for larger matrices, at the most
_CHECKED = 6  # steps after which the estimate is tested
_SETTLED = 3e-3  # of the estimate is its residual: its error is smaller, as the square
_NOTHING = 1e-9  # of the residual, when the steps span the whole space


def one_blas_thread() -> AbstractContextManager[object]:
    """Products of numpy and scipy on one thread; the search for their libraries, some milliseconds, is done once."""
    limit: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limit


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


class PairSteps(NamedTuple):
    """The number of steps, the violation of optimality after them, and the smallest curvature met."""

    steps: int
    violation: float
    curvature: float


def pair_steps(matrix: Array, weights: Array, gradient: Array, *, tolerance: float, max_steps: int) -> PairSteps:
    r"""Lower :math:`\frac12 w'Qw + c'w` over weights that are not negative and keep their sum, two at a time, in place.

    ``gradient`` is :math:`Qw + c`. It ends when no positive weight has a gradient more than ``tolerance`` above the lowest one:
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
        done, violation, smallest = core.pair_steps(matrix, weights, gradient, tolerance, allowed)
        steps, curvature = steps + done, min(curvature, smallest)
        if done < allowed or steps >= max_steps:
            return PairSteps(steps, violation, curvature)


def smallest_eigenvalue(matrix: Array) -> float:
    """Of a symmetric matrix; of a large one Lanczos' estimate, which is never below it.

    Cost: the cube of a small size; of a large one up to 60 products with a vector.

    >>> round(smallest_eigenvalue(np.array([[1.0, 2.0], [2.0, 1.0]])), 12)
    -1.0
    """
    n = len(matrix)
    if n <= _LARGEST_EXACT:
        return float(np.linalg.eigvalsh(matrix)[0])
    vectors = np.zeros((_STEPS, n))
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    vector = np.cos(np.arange(n) + 1.0)  # not orthogonal to any feature
    vector /= np.sqrt(vector @ vector)
    for step in range(_STEPS):
        vectors[step] = vector
        vector = dsymv(1.0, matrix.T, vector)  # reads half of the matrix
        diagonal.append(float(vector @ vectors[step]))
        vector -= diagonal[-1] * vectors[step]
        if step > 0:
            vector -= off_diagonal[-1] * vectors[step - 1]
        vector -= (vectors[: step + 1] @ vector) @ vectors[: step + 1]  # of rounding
        off_diagonal.append(float(np.sqrt(vector @ vector)))
        last = step + 1 == _STEPS or off_diagonal[-1] <= _NOTHING
        if last or (step + 1) % _CHECKED == 0:
            lowest, ritz = eigh_tridiagonal(diagonal, off_diagonal[:-1], select="i", select_range=(0, 0))
            if last or off_diagonal[-1] * abs(ritz[-1, 0]) <= _SETTLED * abs(lowest[0]):
                break
        vector /= off_diagonal[-1]
    return float(lowest[0])
