"""The base class of rankings by the rows of a coefficient matrix that is found by iteration, with row sparsity."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from labelsieve.counting.checked_parameters import AT_LEAST_ONE, NOT_NEGATIVE, parameter
from labelsieve.selectors.base_model import BaseModelRanking, ModelData, Real
from labelsieve.table_types import Matrix, is_sparse

SMOOTHING = 1e-12  # added to squared lengths of rows: the penalty is differentiable, and no weight is infinite

_FLOOR = 0.01


@dataclass(eq=False, repr=False, kw_only=True)
class BaseIterativeRanking(BaseModelRanking):
    """Ranks features by the lengths of their rows of coefficients; ``_descend`` runs the steps and monitors the objective.

    Parameters
    ----------
    max_iter : int, default=100
        Steps at the most; a warning says when they were not enough.
    tol : float, default=1e-5
        Stop when a step changes the objective by less than this fraction.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        W, of standardized features; a column for each class of a target with more than two.
    objective_ : ndarray
        At the start and after each step; it does not rise.
    n_iter_ : int
        Number of steps.
    feature_scores_ : ndarray of float, shape (n_features,)
        Lengths of the rows of W.
    """

    max_iter: int = parameter(100, AT_LEAST_ONE)
    tol: float = parameter(1e-5, NOT_NEGATIVE)

    def _coefficients(self, data: ModelData) -> Real:
        """A row for every feature; sets ``objective_`` and ``n_iter_`` by :meth:`_descend`."""
        raise NotImplementedError

    def _score(self, data: ModelData) -> Real:
        self.coef_ = self._coefficients(data)
        return row_lengths(self.coef_)

    def _descend(self, start: float, step: Callable[[], float]) -> None:
        """Take steps, each of which returns the new objective, until it changes by less than ``tol`` of its value.

        Where the objective falls to 0, its value counts as a hundredth of that after the first step.
        """
        objective = [start]
        for _ in range(int(self.max_iter)):
            objective.append(step())
            if abs(objective[-2] - objective[-1]) <= self.tol * max(abs(objective[-2]), _FLOOR * abs(objective[1])):
                break
        else:
            change = abs(objective[-2] - objective[-1]) / max(abs(objective[-2]), np.finfo(float).tiny)
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} steps; the last changed the objective by "
                f"{change:.1e} of its value, more than tol={self.tol}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=6,
            )
        self.objective_, self.n_iter_ = np.array(objective), len(objective) - 1


def row_lengths(W: Real) -> Real:
    """Euclidean lengths of the rows."""
    lengths: Real = np.sqrt((W * W).sum(axis=1))
    return lengths


def l21_norm(W: Real) -> float:
    """The sum of the lengths of the rows, smoothed."""
    return float(np.sqrt((W * W).sum(axis=1) + SMOOTHING).sum())


def l21_weights(W: Real) -> Real:
    r"""Weights of the rows in the quadratic function that is above the norm and meets it at W.

    :math:`\sum_i d_i \left\|v_i\right\|^2` with :math:`d_i = 1 / (2 \left\|w_i\right\|)`: a step that lowers this function
    plus a constant lowers the norm (iteratively reweighted least squares).
    """
    weights: Real = 0.5 / np.sqrt((W * W).sum(axis=1) + SMOOTHING)
    return weights


def scale_columns(X: Matrix, factors: Real) -> Matrix:
    """The columns of X times factors, dense or sparse."""
    return X.multiply(factors[np.newaxis, :]).tocsr() if is_sparse(X) else X * factors
