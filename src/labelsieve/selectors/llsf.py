"""LLSF: features of each label, from one sparse regression for all labels."""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.checked_features import check_numbers
from labelsieve.counting.checked_parameters import NOT_NEGATIVE, parameter
from labelsieve.counting.magnitude import check_magnitude
from labelsieve.counting.row_weights import read_weights
from labelsieve.selectors.base import BaseSieve
from labelsieve.selectors.normal_equations import (
    Array,
    extreme_eigenvalues,
    is_positive_definite,
    multiply_by_gram,
    solve,
    weighted_rows,
)
from labelsieve.selectors.proximal import Acceleration, Quadratic, minimize
from labelsieve.selectors.selector_input import read_numbers
from labelsieve.table_types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

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
    t v u'` the objective is :math:`\frac12 (\sigma + \alpha \lambda) t^2` and terms that grow no faster than t, those of the
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

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Select features of ``X`` for every column of ``y``: 0/1 labels or numbers, dense or sparse."""
        X, Y = read_numbers(self, X, y)
        weights = read_weights(sample_weight, X.shape[0])
        check_magnitude("LLSF", X, "X", weights, degree=4)
        check_magnitude("LLSF", Y, "Y", weights)
        if weights is not None:
            X, Y = weighted_rows(X, np.sqrt(weights)), weighted_rows(Y, np.sqrt(weights))
        lengths = np.sqrt(np.asarray((Y.multiply(Y) if is_sparse(Y) else Y * Y).sum(axis=0), dtype=np.float64)).ravel()
        occurring = np.flatnonzero(lengths)
        self.coef_ = np.zeros((X.shape[1], Y.shape[1]))
        self.coef_[:, occurring] = self._fit(X, Y[:, occurring], lengths[occurring])
        self.label_support_ = self.coef_.T != 0
        self.support_ = self.label_support_.any(axis=0)
        size = np.sqrt((self.coef_**2).sum(axis=1))
        order = np.argsort(-size, kind="stable")
        self.selected_ = order[self.support_[order]].astype(np.intp)
        self.scores_, self.feature_scores_ = size[self.selected_], size
        return self

    def _fit(self, X: Matrix, Y: Matrix, lengths: Array) -> Array:
        products = Y.T @ Y
        unlike = 1 - np.asarray(products.toarray() if is_sparse(products) else products) / np.outer(lengths, lengths)
        np.fill_diagonal(unlike, 0.0)
        values, vectors = np.linalg.eigh(unlike) if len(lengths) else (np.zeros(1), np.zeros((0, 1)))
        if self.convex:
            values = np.maximum(values, 0.0)
            unlike = (vectors * values) @ vectors.T
        smallest, largest = extreme_eigenvalues(X)
        bend = self.alpha * float(values.min())
        self.curvature_ = smallest + bend
        rounding = X.shape[1] * np.finfo(np.float64).eps * (largest + abs(bend))
        self.bounded_ = True if self.curvature_ >= -rounding else is_positive_definite(X, bend)
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
            bounded=self.bounded_,
        )
        self.objective_, self.residual_, self.reason_ = minimum.objective, minimum.residual, minimum.reason
        self.n_iter_ = max(1, minimum.n_steps)
        if minimum.reason != "converged":
            remedy = _REMEDIES["not bounded" if minimum.reason == "max_iter" and self.bounded_ is False else minimum.reason]
            state = f"residual {minimum.residual:.3g}, curvature {self.curvature_:.3g}"
            warnings.warn(f"LLSF's objective {remedy} ({state}).", ConvergenceWarning, stacklevel=3)
        return minimum.W

    def label_ranking(self, label: int) -> tuple[NDArray[np.intp], Array]:
        """The columns of label ``label``, those of largest absolute coefficient first, and their coefficients."""
        check_is_fitted(self)
        size = np.abs(self.coef_[:, label])
        columns = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        return columns, self.coef_[columns, label]

    def transform_label(self, X: TableLike, label: int) -> Any:
        """The columns of label ``label``, in the order of :meth:`label_ranking`."""
        columns, _ = self.label_ranking(label)
        return check_numbers(self, X, reset=False, dtype="numeric")[:, columns]
