"""The base class of rankings by the rows of a coefficient matrix that is found by iteration, and graphs of neighbors."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

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
        The largest number of steps; a warning is issued when they were not enough.
    tol : float, default=1e-5
        Stop when a step changes the objective by less than this fraction.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        Coefficients W of standardized features; a column for each class of a target with more than two.
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


def neighbor_graph(rows: Matrix, n_neighbors: int, *, binary: bool = False, metric: str = "euclidean") -> sp.csr_array:
    r"""Symmetric weights of rows of which one is among the nearest of the other.

    Weights are 1 for both directions and 1/2 for one (``binary``), or :math:`\exp(-\left\|x_i - x_j\right\|^2 / w^2)`, w being
    the mean distance of neighbors. There are at most as many neighbors as other rows. With the metric
    ``"precomputed"``, ``rows`` are distances.

    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, binary=True).toarray()
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    n_rows = rows.shape[0]
    n_neighbors = min(n_neighbors, n_rows - 1)
    if n_neighbors < 1:
        return sp.csr_array((n_rows, n_rows))
    mode = "connectivity" if binary else "distance"
    graph = sp.csr_array(kneighbors_graph(rows, n_neighbors, mode=mode, metric=metric))
    if binary:
        return sp.csr_array((graph + graph.T) / 2)
    scale = float(graph.data.mean())
    graph.data = np.exp(-((graph.data / scale) ** 2)) if scale > 0 else np.ones_like(graph.data)
    return sp.csr_array(graph.maximum(graph.T))


def laplacian(graph: sp.csr_array) -> sp.csr_array:
    """The diagonal matrix of the degrees minus the weights.

    >>> laplacian(sp.csr_array(np.array([[0.0, 2], [2, 0]]))).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return sp.csr_array(sp.diags_array(np.asarray(graph.sum(axis=1)).ravel()) - graph)
