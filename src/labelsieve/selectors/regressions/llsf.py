"""LLSF: label-specific features by a sparse regression with label correlations."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import warn
from labelsieve.parameters import NOT_NEGATIVE, Interval, checked_fit, parameter
from labelsieve.selectors.base import BaseSieve, Result
from labelsieve.selectors.regressions.base import (
    Array,
    extreme_eigenvalues,
    is_positive_definite,
    multiply_by_gram,
    solve,
    weighted_rows,
)
from labelsieve.tables.magnitude import check_magnitude
from labelsieve.tables.problem import NumberProblem, Problem, check_numbers, read_numbers
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

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
    """The coefficients with which a run of the solver ended, and its objective.

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


LARGEST_PENALTY = 1e100  # the square of a larger one may overflow
_REMEDIES = {
    "max_iter": "was not at a minimum after max_iter steps; raise max_iter or tol, or scale the features",
    "not bounded": "falls without bound along some direction, and the run was at no local minimum after max_iter steps; use "
    "convex=True, a larger beta, or more steps",
    "stalled": "stopped falling before the tolerance was met; raise tol, or scale the features",
    "unbounded": "has no minimum, and is unbounded below from where the run ended: the label correlations outweigh X'X "
    "where features are (nearly) dependent; use convex=True, or a larger beta",
}


@dataclass(eq=False, repr=False, kw_only=True)
class LLSF(BaseSieve):
    r"""Select features for every label by a least-squares fit that correlated labels share.

    .. math:: \min_W \tfrac{1}{2} \left\|XW - Y\right\|_F^2 + \tfrac{\alpha}{2} tr(R W'W) + \beta \left\|W\right\|_1,
              \quad R_{lm} = 1 - \cos(Y_l, Y_m)

    Label l's features are the non-zeros of column l of W. Huang et al. (2015); a baseline of Sun and Kudo (2017), whose
    values are the defaults of ``alpha`` and ``gamma``, and who tune ``beta`` from 0.001 to 10.

    Parameters
    ----------
    alpha, beta, gamma : float, default=0.5, 0.1 and 0.01
        Weight of the label correlations, weight of sparsity, and the ridge penalty of the start :math:`(X'X + \gamma I)^{-1}
        X'Y`.
    acceleration : {"restart", "plain", "none"}, default="restart"
        ``"restart"`` drops the momentum whenever the objective would increase, so that it always decreases; ``"plain"`` is the
        acceleration of the paper, under which it may increase; ``"none"`` is proximal gradient descent.
    convex : bool, default=False
        Drop the negative eigenvalues of R. As published R has zeros on its diagonal, so it is indefinite unless all labels
        are proportional, and the objective may have no minimum: see ``bounded_``.
    max_iter : int, default=2000
        The largest number of steps.
    tol : float, default=1e-5
        Stop when no entry of the smallest subgradient is larger than ``tol`` times the largest of X'Y.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        The coefficients W.
    label_support_ : ndarray of bool, shape (n_targets, n_features)
        Non-zeros of W, label by label.
    feature_scores_ : ndarray of float, shape (n_features,)
        Lengths of the rows of W.
    selected_, scores_ : ndarray
        Columns that at least one label selected, by the length of their rows of W, longest first; and those lengths.
    support_ : ndarray of bool
        What ``transform`` keeps.
    objective_ : ndarray
        The objective at the start and after each accepted step.
    residual_ : float
        The largest entry of the smallest subgradient: 0 at a minimum.
    curvature_ : float
        A lower bound of the curvature of the smooth part; the problem is convex where it is not negative.
    bounded_ : bool or None
        Whether the objective is bounded below; None where that was not determined (more than 10,000 features).
    n_iter_ : int
        Number of steps, including rejected ones; at least 1.
    reason_ : {"converged", "stalled", "unbounded", "max_iter"}
        Why the run ended. Where the objective is not bounded, "converged" is at a local minimum; a warning names the others.

    Notes
    -----
    Let v and u be eigenvectors of X'X and R for their smallest eigenvalues :math:`\sigma` and :math:`\lambda`. Along :math:`W +
    t v u'` the objective is :math:`\frac{1}{2} (\sigma + \alpha \lambda) t^2` and terms that grow no faster than t, the
    absolute values among them. So it is bounded below only where :math:`\sigma + \alpha \lambda \ge 0`, which is where it is
    convex. Elsewhere a run may end at a local minimum, which a larger ``beta`` makes likelier; or it reaches a point where the
    objective is unbounded below along the step, and ends there.

    The step is :math:`1 / \sqrt{2 (\left\|X'X\right\|^2 + \left\|\alpha R\right\|^2)}` with spectral norms. Nothing is
    centered: there is no intercept. Labels that never occur are left out and get no features. Weighted rows count in the fit
    and in R.

    Cost: one product by X'X in each step, d x d where d is at most n and 2,048, else by X and X' (X is never made dense).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = np.column_stack([X[:, 1] > 0, X[:, 4] > 0])
    >>> LLSF(beta=20).fit(X, Y).label_support_.astype(int)
    array([[0, 1, 0, 0, 0, 0],
           [0, 0, 0, 0, 1, 0]])
    """

    alpha: float = parameter(0.5, Interval(Real, 0, LARGEST_PENALTY, closed="both"))
    beta: float = parameter(0.1, Interval(Real, 0, LARGEST_PENALTY, closed="both"))
    gamma: float = parameter(0.01, Interval(Real, 0, LARGEST_PENALTY, closed="right"))
    acceleration: Acceleration = "restart"
    convex: bool = False
    max_iter: int = parameter(2000, Interval(Integral, 0, None, closed="left"))
    tol: float = parameter(1e-5, NOT_NEGATIVE)

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Select features of ``X`` for every column of ``y``: 0/1 labels or numbers, dense or sparse."""
        self._forget()
        problem = read_numbers(self, X, y, sample_weight)
        return self._keep(problem, self._select(problem))

    def _select(self, problem: NumberProblem) -> Result:  # type: ignore[override]
        X, Y, weights = problem.X, problem.Y, problem.weights
        check_magnitude("LLSF", X, "X", weights, degree=4)
        check_magnitude("LLSF", Y, "Y", weights)
        if weights is not None:
            X, Y = weighted_rows(X, np.sqrt(weights)), weighted_rows(Y, np.sqrt(weights))
        lengths = np.sqrt(np.asarray((Y.multiply(Y) if is_sparse(Y) else Y * Y).sum(axis=0), dtype=np.float64)).ravel()
        occurring = np.flatnonzero(lengths)
        coefficients = np.zeros((X.shape[1], Y.shape[1]))
        coefficients[:, occurring], found = self._coefficients(X, Y[:, occurring], lengths[occurring])
        size = np.sqrt((coefficients**2).sum(axis=1))
        order = np.argsort(-size, kind="stable")
        selected = order[(coefficients != 0).any(axis=1)[order]].astype(np.intp)
        more = {"coef": coefficients, "label_support": coefficients.T != 0, "feature_scores": size, **found}
        return Result(selected, size[selected], more)

    def _lists(self, n_labels: int) -> list[tuple[int | None, Any, Any]]:
        return [(label, *self.label_ranking(label)) for label in range(n_labels)]

    def _n_labels(self) -> int | None:
        return int(self.coef_.shape[1])

    def _target_space(self) -> str:
        return "labelwise"

    def _has_one_table(self) -> bool:
        return False

    def _coefficients(self, X: Matrix, Y: Matrix, lengths: Array) -> tuple[Array, dict[str, Any]]:
        """Return the coefficients of the labels that occur, and fitted attributes of the minimization."""
        products = Y.T @ Y
        unlike = 1 - np.asarray(products.toarray() if is_sparse(products) else products) / np.outer(lengths, lengths)
        np.fill_diagonal(unlike, 0.0)
        values, vectors = np.linalg.eigh(unlike) if len(lengths) else (np.zeros(1), np.zeros((0, 1)))
        if self.convex:
            values = np.maximum(values, 0.0)
            unlike = (vectors * values) @ vectors.T
        smallest, largest = extreme_eigenvalues(X)
        bend = self.alpha * float(values.min())
        curvature = smallest + bend
        rounding = X.shape[1] * np.finfo(np.float64).eps * (largest + abs(bend))
        bounded = True if curvature >= -rounding else is_positive_definite(X, bend)
        lipschitz = np.sqrt(2 * (largest**2 + (self.alpha * float(np.abs(values).max())) ** 2))
        product = X.T @ Y
        B = np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64)
        by_gram = multiply_by_gram(X)
        problem = Quadratic(lambda W: by_gram(W) + self.alpha * (W @ unlike), B, float((lengths**2).sum()) / 2)
        minimum = minimize(
            problem,
            self.beta,
            solve(X, B, 1.0, self.gamma),
            1 / lipschitz if lipschitz > 0 else 1.0,
            acceleration=self.acceleration,
            max_iter=self.max_iter,
            tolerance=self.tol * float(np.abs(B).max(initial=0.0)),
            bounded=bounded,
        )
        if minimum.reason != "converged":
            remedy = _REMEDIES["not bounded" if minimum.reason == "max_iter" and bounded is False else minimum.reason]
            state = f"residual {minimum.residual:.3g}, curvature {curvature:.3g}"
            warn(f"LLSF's objective {remedy} ({state}).", ConvergenceWarning)
        return minimum.W, {
            "curvature": curvature,
            "bounded": bounded,
            "objective": minimum.objective,
            "residual": minimum.residual,
            "reason": minimum.reason,
            "n_iter": max(1, minimum.n_steps),
        }

    def label_ranking(self, label: int) -> tuple[NDArray[np.intp], Array]:
        """Return the columns of a label, those of largest absolute coefficient first, and their coefficients."""
        check_is_fitted(self)
        size = np.abs(self.coef_[:, label])
        columns = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        return columns, self.coef_[columns, label]

    def transform_label(self, X: TableLike, label: int) -> Any:
        """Return the columns of ``X`` that a label selected, in the order of :meth:`label_ranking`."""
        columns, _ = self.label_ranking(label)
        return check_numbers(self, X, reset=False, dtype="numeric")[:, columns]
