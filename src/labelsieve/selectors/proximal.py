"""Accelerated proximal gradient for a quadratic with a sum of absolute values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Acceleration = Literal["restart", "plain", "none"]
_TOO_LARGE = 1e8  # times the start: then the objective has no minimum, or none that is of use


@dataclass(frozen=True)
class Quadratic:
    r"""The smooth part, :math:`\frac{1}{2} \langle W, H W \rangle - \langle B, W \rangle + c`, H given as a map."""

    multiply: Callable[[Array], Array]
    B: Array
    constant: float


@dataclass(frozen=True)
class Minimum:
    """Where a run ended.

    ``residual`` is the distance of the nearest subgradient from zero, in its largest entry; ``reason`` is "converged",
    "stalled" (the objective stops falling, to rounding), "unbounded" (from here it is unbounded below) or "max_iter".
    """

    W: Array
    objective: Array
    residual: float
    reason: str
    n_steps: int


def subgradient_residual(W: Array, gradient: Array, beta: float) -> float:
    r"""Largest entry of the smallest subgradient: :math:`|g + \beta sgn(w)|`, and :math:`(|g| - \beta)_+` where w = 0."""
    at_zero = np.maximum(np.abs(gradient) - beta, 0.0)
    return float(np.max(np.where(W == 0, at_zero, np.abs(gradient + beta * np.sign(W))), initial=0.0))


def is_unbounded_below(problem: Quadratic, beta: float, W: Array, HW: Array, direction: Array, H_direction: Array) -> bool:
    r"""True when the objective falls all the way along the ray from W in this direction, to minus infinity.

    With curvature :math:`c = \langle D, HD \rangle < 0` its slope is :math:`\langle HW - B, D \rangle + ct +
    \beta \sum_i sgn(w_i + t d_i) d_i`: it falls between the points where an entry changes its sign, and jumps up by
    :math:`2 \beta |d_i|` there. So it is enough to look at the start and after each of those. Cost: sorting the entries.
    """
    curvature = float(np.vdot(direction, H_direction))
    if not curvature < 0:
        return False
    turning = W * direction < 0
    points, jumps = -W[turning] / direction[turning], 2 * beta * np.abs(direction[turning])
    order = np.argsort(points, kind="stable")
    of_absolute = float(np.where(W == 0, np.abs(direction), np.sign(W) * direction).sum())
    slope = float(np.vdot(HW - problem.B, direction)) + beta * of_absolute
    after = slope + curvature * points[order] + np.cumsum(jumps[order])
    return slope <= 0 and bool(np.all(after <= 0))


def minimize(
    problem: Quadratic,
    beta: float,
    start: Array,
    step: float,
    *,
    acceleration: Acceleration,
    max_iter: int,
    tolerance: float,
    bounded: bool | None = True,
) -> Minimum:
    r"""Minimize the quadratic plus :math:`\beta \sum |W|` from ``start``, with steps of a fixed length.

    ``"plain"`` is Nesterov's sequence as in Beck and Teboulle (2009); its objective may rise on the way. ``"restart"`` throws
    a step that rose away and starts the sequence anew (O'Donoghue and Candes 2015): a step without momentum never rises when
    ``step`` is at most 1 / the Lipschitz constant, convex or not. Unless the problem is known to be ``bounded`` below, the run
    ends where the direction of its last step is unbounded below (:func:`is_unbounded_below`). Cost: one product by H in each
    iteration.
    """
    W, HW = start, problem.multiply(start)
    V, HV, momentum = W, HW, 1.0
    values = [float(np.vdot(W, HW) / 2 - np.vdot(problem.B, W) + beta * np.abs(W).sum()) + problem.constant]
    limit = _TOO_LARGE * max(1.0, float(np.abs(start).max(initial=0.0)))
    residual, reason = subgradient_residual(W, HW - problem.B, beta), "max_iter"
    n_steps = 0
    while n_steps < max_iter:
        if residual <= tolerance:
            reason = "converged"
            break
        n_steps += 1
        moved = V - step * (HV - problem.B)
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * beta, 0.0)
        H_new = problem.multiply(new)
        # The change by itself, entry by entry: near the minimum it is far below the last digit of the objective.
        change = float(((new - W) * ((H_new + HW) / 2 - problem.B) + beta * (np.abs(new) - np.abs(W))).sum())
        if acceleration == "restart" and not change <= 0:
            if V is W:
                reason = "stalled"
                break
            V, HV, momentum = W, HW, 1.0
            continue
        if not np.abs(new).max(initial=0.0) < limit:
            reason = "unbounded"
            break
        before, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2 if acceleration != "none" else 1.0
        ahead = (before - 1) / momentum
        moved_by, H_moved_by = new - W, H_new - HW
        V, HV = (new + ahead * moved_by, H_new + ahead * H_moved_by) if ahead > 0 else (new, H_new)
        W, HW = new, H_new
        values.append(values[-1] + change)
        residual = subgradient_residual(W, HW - problem.B, beta)
        if not bounded and residual > tolerance and is_unbounded_below(problem, beta, W, HW, moved_by, H_moved_by):
            reason = "unbounded"
            break
    else:
        reason = "converged" if residual <= tolerance else "max_iter"
    return Minimum(W, np.array(values), residual, reason, n_steps)
