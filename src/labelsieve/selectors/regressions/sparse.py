"""Sparse regressions and ridge rankings of all targets."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist, squareform

from labelsieve.parameters import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, parameter
from labelsieve.resources import require_memory
from labelsieve.selectors.regressions.base import (
    BaseIterativeRanking,
    BaseModelRanking,
    ModelData,
    Real,
    conjugate_gradients,
    gram,
    graph_of_distances,
    l21_norm,
    l21_weights,
    laplacian,
    neighbor_graph,
    scale_columns,
    solve,
    solve_centered,
    weighted_rows,
)
from labelsieve.tables.types import is_sparse


@dataclass(eq=False, repr=False, kw_only=True)
class MSSL(BaseIterativeRanking):
    r"""Rank features by a regression with sparse rows, similar for similar features: manifold learning with sparsity.

    .. math:: \min_{W, b} \left\|XW + 1b' - Y\right\|_F^2 + \alpha \, tr(W'LW) + \beta \left\|W\right\|_{2,1}

    with L the Laplacian of a graph of nearest features. Cai and Zhu (2018). The problem is convex.

    Parameters
    ----------
    alpha, beta : float, default=1 and 1
        Weights of smoothness and sparsity. The authors tune both; there is no default in the paper.
    n_neighbors : int, default=5
        Neighbors of a feature in the graph.

    Attributes
    ----------
    objective_ : ndarray
        At W = 0 and after each step; it does not rise from the first step on.

    Notes
    -----
    Weights of the graph are :math:`\exp(-\left\|x_f - x_g\right\|^2 / w^2)`, w the mean distance of neighbors.

    Cost: a d x d linear system in each step and 32 d * d bytes; a MemoryError says when they are not free.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = MSSL(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    alpha: float = parameter(1.0, NOT_NEGATIVE)
    beta: float = parameter(1.0, POSITIVE)
    n_neighbors: int = parameter(5, AT_LEAST_ONE)

    def _coefficients(self, data: ModelData) -> Real:
        X, n_features = data.X, data.X.shape[1]
        require_memory(32 * n_features**2, "MSSL: products of", n_features, data.n_targets)
        Y = data.indicators()
        Y = Y - Y.mean(axis=0)
        square = gram(X)
        if is_sparse(X):
            means = np.asarray(X.mean(axis=0)).ravel()
            square -= X.shape[0] * np.outer(means, means)
        lengths = np.diag(square)
        distances = np.sqrt(np.maximum(lengths + lengths[:, np.newaxis] - 2 * square, 0.0))
        np.fill_diagonal(distances, 0.0)
        square += self.alpha * laplacian(graph_of_distances(distances, self.n_neighbors)).toarray()
        B, constant = np.asarray(X.T @ Y), float((Y * Y).sum())
        W = np.zeros_like(B)
        weights = np.ones(n_features)

        def step() -> float:
            nonlocal W, weights
            system = square.copy()
            system[np.diag_indices_from(system)] += self.beta * weights
            W = np.linalg.solve(system, B)
            weights = l21_weights(W)
            return constant + float((W * (square @ W - 2 * B)).sum()) + self.beta * l21_norm(W)

        self._descend(constant + self.beta * l21_norm(W), step)
        return W


@dataclass(eq=False, repr=False, kw_only=True)
class RFS(BaseIterativeRanking):
    r"""Rank features by a robust regression with sparse rows: joint L2,1 norms of loss and coefficients.

    .. math:: \min_W \left\|XW - Y\right\|_{2,1} + \gamma \left\|W\right\|_{2,1}

    Nie, Huang, Cai and Ding (2010), a baseline of most papers on sparse multi-label selection. The problem is convex.

    Parameters
    ----------
    gamma : float, default=1
        Weight of sparsity.

    Notes
    -----
    Targets are centered, in place of an intercept. Cost: a linear system of min(n, d) unknowns in each step.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = RFS(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    gamma: float = parameter(1.0, POSITIVE)

    def _coefficients(self, data: ModelData) -> Real:
        Y = data.indicators()
        Y = Y - Y.mean(axis=0)
        W = np.zeros((data.X.shape[1], Y.shape[1]))
        of_rows, of_features = np.ones(len(Y)), np.ones(len(W))

        def step() -> float:
            nonlocal W, of_rows, of_features
            # Columns divided by the roots of their weights: a ridge with the same penalty for all.
            roots = 1 / np.sqrt(of_features)
            scaled = weighted_rows(scale_columns(data.X, roots), np.sqrt(of_rows))
            B = np.asarray(scaled.T @ (np.sqrt(of_rows)[:, np.newaxis] * Y))
            W = roots[:, np.newaxis] * solve(scaled, B, 1.0, float(self.gamma))
            residual = np.asarray(data.X @ W) - Y
            of_rows, of_features = l21_weights(residual), l21_weights(W)
            return l21_norm(residual) + self.gamma * l21_norm(W)

        self._descend(l21_norm(Y) + self.gamma * l21_norm(W), step)
        return W


@dataclass(eq=False, repr=False, kw_only=True)
class MDFS(BaseIterativeRanking):
    r"""Rank features by a sparse regression onto smoothed labels: manifold-regularized discriminative feature selection.

    .. math:: \min_{W, b, F} tr(F'LF) + \alpha \left\|XW + 1b' - F\right\|_F^2 + \alpha \left\|F - Y\right\|_F^2
              + \beta \, tr(F L_0 F') + \gamma \left\|W\right\|_{2,1}

    with L and L0 the Laplacians of the graphs of nearest rows and of nearest labels. Zhang, Luo, Li, Zhou and Li (2019). The
    problem is convex.

    Parameters
    ----------
    alpha, beta, gamma : float, default=1, 1 and 0.1
        Weights of the fits, of label correlations and of sparsity, as in a public copy of the authors' program.
    n_neighbors : int, default=None
        Neighbors in both graphs; None: the number of targets minus 1, as in that copy, which connects all labels.
    tol : float, default=1e-5
        Stop when a step changes the objective by less than this fraction; the authors' program uses 1e-3.

    Attributes
    ----------
    smoothed_labels_ : ndarray of shape (n_samples, n_targets)
        The matrix F.
    objective_ : ndarray
        At W = 0 and F = Y, and after each step; it does not rise.

    Notes
    -----
    Labels are 0 and 1 here, and -1 and 1 in the authors' program: W is half of its W for half of its ``gamma``. Weights of the
    graphs are 1 for mutual neighbors and 1/2 for others.

    Cost of a step: a linear system of min(n, d) unknowns for W; for F, some twenty products by the sparse matrix L (conjugate
    gradients), because L0 is diagonal in a basis of q vectors. Neighbors of rows: n * n * d steps.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = MDFS(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    alpha: float = parameter(1.0, POSITIVE)
    beta: float = parameter(1.0, NOT_NEGATIVE)
    gamma: float = parameter(0.1, POSITIVE)
    n_neighbors: int | None = parameter(None, AT_LEAST_ONE)

    def _coefficients(self, data: ModelData) -> Real:
        X, Y, alpha = data.X, data.indicators(), float(self.alpha)
        means = np.asarray(X.mean(axis=0)).ravel() if is_sparse(X) else np.zeros(X.shape[1])
        n_neighbors = max(1, Y.shape[1] - 1) if self.n_neighbors is None else int(self.n_neighbors)
        of_rows = laplacian(neighbor_graph(X, n_neighbors, binary=True, n_jobs=data.n_jobs))
        of_labels = laplacian(neighbor_graph(Y.T, n_neighbors, binary=True)).toarray()
        values, vectors = np.linalg.eigh(of_labels)
        shifts = 2 * alpha + self.beta * values  # of every column of F in this basis
        diagonal = of_rows.diagonal()[:, np.newaxis] + shifts
        W, F = np.zeros((X.shape[1], Y.shape[1])), Y.copy()

        def predict() -> Real:
            return np.asarray(X @ W - means @ W)

        def objective() -> float:
            residual = predict() - (F - F.mean(axis=0))
            fit = alpha * float((residual**2).sum() + ((F - Y) ** 2).sum())
            smooth = float((F * (of_rows @ F)).sum() + self.beta * ((F @ of_labels) * F).sum())
            return smooth + fit + self.gamma * l21_norm(W)

        def step() -> float:
            nonlocal W, F
            right = alpha * (predict() + Y) @ vectors
            F = conjugate_gradients(lambda V: of_rows @ V + shifts * V, right, diagonal)
            # The intercept takes the mean of F out of the fit: constant columns have a curvature smaller by alpha.
            F = (F + right.mean(axis=0) * (1 / (shifts - alpha) - 1 / shifts)) @ vectors.T
            roots = 1 / np.sqrt(l21_weights(W) if W.any() else np.ones(len(W)))
            centered = F - F.mean(axis=0)
            B = alpha * roots[:, np.newaxis] * np.asarray(X.T @ centered)
            W = roots[:, np.newaxis] * solve_centered(scale_columns(X, roots), B, alpha, float(self.gamma))
            return objective()

        self._descend(objective(), step)
        self.smoothed_labels_ = F
        return W


_SAME = 1e-12  # difference of coefficients, as a fraction of the size they may have, up to which they are the same
_DIGITS = 10  # of the objectives as fractions of the largest: equal columns have equal objectives


def ridge_coefficients(data: ModelData, penalty: float) -> tuple[Real, Real]:
    """Return the ridge coefficients (X'X + penalty I)^-1 X'Y of centered targets, and the targets."""
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
        # Coefficients of equal columns, and of columns unrelated to the targets, differ by rounding; where all coefficients do,
        # the ratio below would be one of noise.
        close = _SAME * max(np.abs(ratings).max(initial=0.0), targets.std(axis=0).max(initial=0.0))
        below_best, above_worst = ratings.max(axis=0) - ratings, ratings - ratings.min(axis=0)
        to_best = np.linalg.norm(np.where(below_best > close, below_best, 0.0), axis=1)
        to_worst = np.linalg.norm(np.where(above_worst > close, above_worst, 0.0), axis=1)
        total = to_best + to_worst
        return np.asarray(np.divide(to_worst, total, out=np.zeros_like(total), where=total > 0))


def _entropies(data: ModelData, targets: Real) -> Real:
    """Return the entropies of the labels as fractions of their sum."""
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
    """Return the Pareto front of each row of two costs, from 1; equal rows share one.

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
    """Return the crowding distance of each row: the gap between its neighbors in its front, relative to the range."""
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
