"""Selectors that factorize the label matrix: latent factors and manifolds."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from labelsieve.parameters import AT_LEAST_ONE, NOT_NEGATIVE, parameter
from labelsieve.selectors.base import COUNT
from labelsieve.selectors.regressions.base import (
    BaseIterativeRanking,
    ModelData,
    Real,
    l21_norm,
    l21_weights,
    laplacian,
    neighbor_graph,
)
from labelsieve.tables.types import Matrix, is_sparse

_SMALLEST = 1e-12  # denominators of the updates


@dataclass(eq=False, repr=False, kw_only=True)
class BaseLatentFactors(BaseIterativeRanking):
    """Base of the methods with latent factors: their parameters and random start; features are scaled to 0 ... 1.

    Parameters
    ----------
    n_components : int, default=None
        Columns of V; None: as many as targets.
    max_iter : int, default=1000
        The largest number of steps; a warning is issued when they were not enough.
    tol : float, default=1e-3
        Stop when a step changes the objective by less than this fraction.
    random_state : int, RandomState instance or None, default=0
        Seed of the start.
    """

    n_components: int | None = parameter(None, AT_LEAST_ONE)
    max_iter: int = 1000
    tol: float = 1e-3

    _from_0_to_1: ClassVar[bool] = True

    def _start(self, data: ModelData, Y: Real) -> tuple[int, np.random.Generator]:
        components = Y.shape[1] if self.n_components is None else int(self.n_components)
        return components, np.random.default_rng(data.seed)


def _times(factor: Real, numerator: Real, denominator: Real) -> Real:
    return factor * (numerator / np.maximum(denominator, _SMALLEST))


def _squared_error(product: Real, square: Real, constant: float) -> float:
    """Return the squared norm of A - B from <A, B> and the squared norms of both."""
    return constant - 2 * float(product.sum()) + float(square.sum())


@dataclass(eq=False, repr=False, kw_only=True)
class SSFS(BaseLatentFactors):
    r"""Rank features by latent factors that features and labels share: constrained latent structure shared term.

    .. math:: \min_{V, Q, M \ge 0} \left\|X - VQ'\right\|_F^2 + \alpha \left\|Y - VM\right\|_F^2 + \beta \, tr(V'LV)
              + \gamma \left\|Q\right\|_{2,1}

    with L the Laplacian of a graph of nearest rows. Gao, Li and Hu (2021).

    Parameters
    ----------
    alpha, beta, gamma : float, default=1, 1 and 1
        Weights of the labels, of smoothness and of sparsity. The authors tune them; there is no default in our sources.
    n_neighbors : int, default=5
        Neighbors of a row in the graph.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_components)
        The matrix Q.
    feature_scores_ : ndarray of float, shape (n_features,)
        Lengths of the rows of Q.

    Notes
    -----
    Features are scaled to 0 .. 1. The result is a local minimum, which depends on the seed. Weights of the graph are
    :math:`\exp(-\left\|x_i - x_j\right\|^2 / w^2)`, w the mean distance of neighbors.

    Cost: two products by X in each step; X stays sparse. Neighbors of rows: n * n * d steps.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> len(SSFS(n_features_to_select=2).fit(data.X, data.Y).selected_)
    2
    """

    alpha: float = parameter(1.0, NOT_NEGATIVE)
    beta: float = parameter(1.0, NOT_NEGATIVE)
    gamma: float = parameter(1.0, NOT_NEGATIVE)
    n_neighbors: int = parameter(5, AT_LEAST_ONE)

    def _coefficients(self, data: ModelData) -> Real:
        X, Y = data.X, data.indicators()
        k, rng = self._start(data, Y)
        graph = neighbor_graph(X, self.n_neighbors, n_jobs=data.n_jobs)
        degrees = np.asarray(graph.sum(axis=1)).reshape(-1, 1)
        V, Q, M = rng.random((len(Y), k)), rng.random((X.shape[1], k)), rng.random((k, Y.shape[1]))
        of_features, of_labels = _squares(X), float((Y * Y).sum())

        def objective() -> float:
            square = V.T @ V
            fit = _squared_error(np.asarray(X @ Q) * V, square * (Q.T @ Q), of_features)
            labels = _squared_error((Y @ M.T) * V, square * (M @ M.T), of_labels)
            smooth = float((V * (degrees * V - graph @ V)).sum())
            return fit + self.alpha * labels + self.beta * smooth + self.gamma * l21_norm(Q)

        def step() -> float:
            nonlocal V, Q, M
            up = np.asarray(X @ Q) + self.alpha * (Y @ M.T) + self.beta * (graph @ V)
            V = _times(V, up, V @ (Q.T @ Q + self.alpha * (M @ M.T)) + self.beta * degrees * V)
            square = V.T @ V
            M = _times(M, V.T @ Y, square @ M)
            Q = _times(Q, np.asarray(X.T @ V), Q @ square + self.gamma * l21_weights(Q)[:, np.newaxis] * Q)
            return objective()

        self._descend(objective(), step)
        return Q


@dataclass(eq=False, repr=False, kw_only=True)
class SCMFS(BaseLatentFactors):
    r"""Rank features by a regression onto factors that features and labels share: shared common mode.

    .. math:: \min_{W, V, Q, B \ge 0} \left\|XW - V\right\|_F^2 + \alpha \left\|X - VQ\right\|_F^2
              + \beta \left\|Y - VB\right\|_F^2 + \gamma \left\|W\right\|_{2,1}

    Hu, Li, Gao, Zhang and Hu (2020).

    Parameters
    ----------
    alpha, beta, gamma : float, default=0.1, 0.1 and 0.1
        Weights of the factors of the features, of those of the labels, and of sparsity. The authors tune them; the defaults are
        those of a public program.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_components)
        The coefficients W.

    Notes
    -----
    Features are scaled to 0 .. 1. The objective has no minimum other than W = 0: V and W may shrink while Q and B grow, so the
    iteration ends where the objective hardly changes, and ``tol`` and the seed matter.

    Cost: four products by X in each step; X stays sparse.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> len(SCMFS(n_features_to_select=2).fit(data.X, data.Y).selected_)
    2
    """

    alpha: float = parameter(0.1, NOT_NEGATIVE)
    beta: float = parameter(0.1, NOT_NEGATIVE)
    gamma: float = parameter(0.1, NOT_NEGATIVE)

    def _coefficients(self, data: ModelData) -> Real:
        X, Y = data.X, data.indicators()
        k, rng = self._start(data, Y)
        W, V = rng.random((X.shape[1], k)), rng.random((len(Y), k))
        Q, B = rng.random((k, X.shape[1])), rng.random((k, Y.shape[1]))
        of_features, of_labels = _squares(X), float((Y * Y).sum())

        def objective() -> float:
            square = V.T @ V
            features = _squared_error(np.asarray(X.T @ V).T * Q, square * (Q @ Q.T), of_features)
            labels = _squared_error((V.T @ Y) * B, square * (B @ B.T), of_labels)
            fit = float(((np.asarray(X @ W) - V) ** 2).sum())
            return fit + self.alpha * features + self.beta * labels + self.gamma * l21_norm(W)

        def step() -> float:
            nonlocal W, V, Q, B
            down = np.asarray(X.T @ (X @ W)) + self.gamma * l21_weights(W)[:, np.newaxis] * W
            W = _times(W, np.asarray(X.T @ V), down)
            up = np.asarray(X @ (W + self.alpha * Q.T)) + self.beta * (Y @ B.T)
            V = _times(V, up, V + V @ (self.alpha * (Q @ Q.T) + self.beta * (B @ B.T)))
            square = V.T @ V
            Q = _times(Q, np.asarray(X.T @ V).T, square @ Q)
            B = _times(B, V.T @ Y, square @ B)
            return objective()

        self._descend(objective(), step)
        return W


def _squares(X: Matrix) -> float:
    return float((X.multiply(X) if is_sparse(X) else X * X).sum())


_DECREASE = 1e-4  # Armijo's condition: of the decrease that the gradient promises
_MOST_HALVINGS = 60


@dataclass(eq=False, repr=False, kw_only=True)
class ManifoldMIFS(BaseIterativeRanking):
    r"""Rank features by a regression onto latent factors of the labels, smooth over near rows: multi-label informed selection.

    .. math:: \min_{W, V, B} \left\|XW - V\right\|_F^2 + \alpha \left\|Y - VB\right\|_F^2 + \beta \, tr(V'LV)
              + \gamma \left\|W\right\|_{2,1}

    with L the Laplacian of a graph of nearest rows. Jian, Li, Shu and Liu (2016), who call it MIFS, which is also the name of
    Battiti's criterion ``mifs``. V, B and W are changed in turn by a gradient step, its length by Armijo's rule, as in the
    paper.

    Parameters
    ----------
    alpha, beta, gamma : float, default=1, 0.1 and 1
        Weights of the labels, of smoothness and of sparsity. The authors tune them; the defaults are those of a public program.
    n_components : int or float, default=0.3
        Number of columns of V, or a fraction of the number of targets; the default is that of the same program.
    n_neighbors : int, default=5
        Neighbors of a row in the graph.
    max_iter : int, default=1000
        The largest number of steps; a warning is issued when they were not enough.
    tol : float, default=1e-3
        Stop when a step changes the objective by less than this fraction.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_components)
        The coefficients W.

    Notes
    -----
    Targets are centered, in place of an intercept. The objective has no minimum other than W = 0: V and W may shrink while B
    grows, so the iteration ends where the objective hardly changes, and ``tol`` and the seed matter. Weights of the graph are
    :math:`\exp(-\left\|x_i - x_j\right\|^2 / w^2)`, w the mean distance of neighbors (1 in the paper, for which the weights of
    standardized features are nearly 0).

    Cost: some products by X in each step; X stays sparse. Neighbors of rows: n * n * d steps.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = ManifoldMIFS(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    alpha: float = parameter(1.0, NOT_NEGATIVE)
    beta: float = parameter(0.1, NOT_NEGATIVE)
    gamma: float = parameter(1.0, NOT_NEGATIVE)
    n_components: int | float = parameter(0.3, *COUNT[:2])
    n_neighbors: int = parameter(5, AT_LEAST_ONE)
    max_iter: int = 1000
    tol: float = 1e-3

    def _coefficients(self, data: ModelData) -> Real:
        X, Y = data.X, data.indicators()
        Y = Y - Y.mean(axis=0)
        share: Any = self.n_components
        k = int(share) if isinstance(share, Integral) else max(1, round(float(share) * Y.shape[1]))
        smooth = laplacian(neighbor_graph(X, self.n_neighbors, n_jobs=data.n_jobs))
        rng = np.random.default_rng(data.seed)
        V, B, W = rng.random((len(Y), k)), rng.random((k, Y.shape[1])), np.zeros((X.shape[1], k))
        lengths = {"V": 1.0, "B": 1.0, "W": 1.0}

        def of_factors(V: Real, B: Real) -> float:
            return float(self.alpha * ((Y - V @ B) ** 2).sum() + self.beta * (V * (smooth @ V)).sum())

        def of_fit(W: Real, V: Real) -> float:
            return float(((np.asarray(X @ W) - V) ** 2).sum())

        def step() -> float:
            nonlocal V, B, W
            fitted = np.asarray(X @ W)
            slope = 2 * (V - fitted + self.alpha * (V @ B - Y) @ B.T + self.beta * (smooth @ V))
            V = descend("V", V, slope, lambda V: float(((fitted - V) ** 2).sum()) + of_factors(V, B))
            B = descend("B", B, 2 * self.alpha * V.T @ (V @ B - Y), lambda B: of_factors(V, B))
            slope = 2 * np.asarray(X.T @ (fitted - V)) + 2 * self.gamma * l21_weights(W)[:, np.newaxis] * W
            W = descend("W", W, slope, lambda W: of_fit(W, V) + self.gamma * l21_norm(W))
            return of_fit(W, V) + of_factors(V, B) + self.gamma * l21_norm(W)

        def descend(name: str, point: Real, slope: Real, value: Callable[[Real], float]) -> Real:
            """A gradient step: twice the length of the last one, halved until the value falls as Armijo's rule demands."""
            start, promised, length = value(point), _DECREASE * float((slope * slope).sum()), 2 * lengths[name]
            for _ in range(_MOST_HALVINGS):
                moved = point - length * slope
                if value(moved) <= start - length * promised:
                    lengths[name] = length
                    return moved
                length /= 2
            return point

        self._descend(of_fit(W, V) + of_factors(V, B) + self.gamma * l21_norm(W), step)
        return W
