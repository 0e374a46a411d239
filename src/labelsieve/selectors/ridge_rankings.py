"""Rankings by decisions over ridge regression coefficients: closeness to an ideal feature, and Pareto fronts."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist, squareform

from labelsieve.counting.checked_parameters import POSITIVE, parameter
from labelsieve.counting.resources import require_memory
from labelsieve.selectors.base_model import BaseModelRanking, ModelData, Real
from labelsieve.selectors.normal_equations import solve_centered

_DIGITS = 10  # of the objectives as fractions of the largest: equal columns have equal objectives


def ridge_coefficients(data: ModelData, penalty: float) -> tuple[Real, Real]:
    """(X'X + penalty I)^-1 X'Y with centered targets, and the targets."""
    targets = data.indicators()
    product = np.asarray(data.X.T @ (targets - targets.mean(axis=0)))
    return solve_centered(data.X, product, 1.0, penalty), targets


@dataclass(eq=False, repr=False, kw_only=True)
class MFSMCDM(BaseModelRanking):
    r"""Rank features by multi-criteria decision making: the labels are criteria, ridge coefficients the ratings (TOPSIS).

    .. math:: c_f = \frac{\left\|v_f - v^-\right\|}{\left\|v_f - v^+\right\| + \left\|v_f - v^-\right\|}, \quad
              v_{fy} = \omega_y \left[(X'X + \lambda I)^{-1} X'Y\right]_{fy}

    with :math:`v^+_y = \max_f v_{fy}`, :math:`v^-_y = \min_f v_{fy}` and :math:`\omega` the entropies of the labels, which sum
    to 1. Hashemi, Dowlatshahi and Nezamabadi-pour (2020b).

    Parameters
    ----------
    penalty : float, default=10
        :math:`\lambda`, as in the authors' program.
    weighting : {"entropy", "equal"}, default="entropy"
        :math:`\omega`. The authors' program computes the entropies, as in the paper, but does not use them: "equal".

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        Of standardized features; a column for each class of a target with more than two.
    feature_scores_ : ndarray of float, shape (n_features,)
        Closeness, from 0 to 1.

    Notes
    -----
    As published, the most negative coefficient is the worst. Numeric targets have the weight of a balanced label.

    Cost: one linear system of min(n, d) unknowns.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = MFSMCDM(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    penalty: float = parameter(10.0, POSITIVE)
    weighting: Literal["entropy", "equal"] = "entropy"

    def _score(self, data: ModelData) -> Real:
        self.coef_, targets = ridge_coefficients(data, float(self.penalty))
        ratings = self.coef_ * (_entropies(data, targets) if self.weighting == "entropy" else 1.0)
        to_best = np.linalg.norm(ratings - ratings.max(axis=0), axis=1)
        to_worst = np.linalg.norm(ratings - ratings.min(axis=0), axis=1)
        total = to_best + to_worst
        return np.asarray(np.divide(to_worst, total, out=np.zeros_like(total), where=total > 0))


def _entropies(data: ModelData, targets: Real) -> Real:
    """Entropies of the labels as fractions of their sum."""
    share = targets.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropies = -np.nan_to_num(share * np.log2(share)) - np.nan_to_num((1 - share) * np.log2(1 - share))
    entropies[targets.shape[1] - data.numbers.shape[1] :] = 1.0
    total = entropies.sum()
    return np.asarray(entropies / total if total > 0 else np.ones_like(entropies))


@dataclass(eq=False, repr=False, kw_only=True)
class PMFS(BaseModelRanking):
    r"""Rank features by Pareto fronts of two objectives: the largest ridge coefficient, and the distance from other features.

    .. math:: f_1 = \max_y v_{fy}, \quad f_2 = \sum_g \left\|v_f - v_g\right\|, \quad v = (X'X + \lambda I)^{-1} X'Y

    Features of the first front are better in one objective than any other; the others form the second, and so on. In a front,
    features far from their neighbors (crowding distance) are first. Hashemi, Dowlatshahi and Nezamabadi-pour (2021b).

    Parameters
    ----------
    penalty : float, default=10
        :math:`\lambda`, as in the authors' program.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        v, of standardized features; a column for each class of a target with more than two.
    feature_scores_ : ndarray of float, shape (n_features,)
        The negative of: number of the front + 1 / (1 + crowding distance).

    Notes
    -----
    Cost: one linear system of min(n, d) unknowns, all pairs of features (d * d * q steps, 16 d * d bytes) and sorting.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = PMFS(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    penalty: float = parameter(10.0, POSITIVE)

    def _score(self, data: ModelData) -> Real:
        n_features = data.X.shape[1]
        require_memory(16 * n_features**2, "PMFS: distances of", n_features, data.n_targets)
        self.coef_, _ = ridge_coefficients(data, float(self.penalty))
        distances = squareform(pdist(self.coef_)).sum(axis=1) if n_features > 1 else np.zeros(1)
        costs = -np.column_stack([self.coef_.max(axis=1), distances])
        scale = np.abs(costs).max(axis=0)
        costs = np.round(costs / np.where(scale > 0, scale, 1.0), _DIGITS)
        fronts = pareto_fronts(costs)
        return -(fronts + 1 / (1 + crowding_distances(costs, fronts)))


def pareto_fronts(costs: Real) -> Real:
    """The front of each row of two costs, from 1; equal rows share one.

    >>> pareto_fronts(np.array([[0.0, 1], [1, 0], [1, 1], [2, 2], [0, 1]])).tolist()
    [1.0, 1.0, 2.0, 3.0, 1.0]
    """
    fronts = np.empty(len(costs))
    lowest: list[float] = []  # second cost of the last row in each front; rows come by rising first cost
    before: tuple[float, float, int] | None = None
    for row in np.lexsort((costs[:, 1], costs[:, 0])):
        first, second = map(float, costs[row])
        if before is not None and before[:2] == (first, second):
            front = before[2]
        else:
            front = next((k for k, low in enumerate(lowest) if second < low), len(lowest))
            lowest[front : front + 1] = [second]
        fronts[row], before = front + 1, (first, second, front)
    return fronts


def crowding_distances(costs: Real, fronts: Real) -> Real:
    """Per row, the gap of its neighbors in its front as shares of the front's range, over all costs; infinite at the ends."""
    distances = np.zeros(len(costs))
    for front in np.unique(fronts):
        members = np.flatnonzero(fronts == front)
        for values in costs[members].T:
            order = np.argsort(values, kind="stable")
            ordered = members[order]
            distances[ordered[[0, -1]]] = np.inf
            span = values[order[-1]] - values[order[0]]
            if len(members) > 2 and span > 0:
                distances[ordered[1:-1]] += (values[order[2:]] - values[order[:-2]]) / span
    return distances
