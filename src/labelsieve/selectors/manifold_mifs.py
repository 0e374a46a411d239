"""Multi-label informed feature selection: a sparse regression onto latent factors of the labels."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from labelsieve.counting.checked_parameters import AT_LEAST_ONE, NOT_NEGATIVE, parameter
from labelsieve.selectors.base import COUNT
from labelsieve.selectors.base_iterative import BaseIterativeRanking, l21_norm, l21_weights, laplacian, neighbor_graph
from labelsieve.selectors.base_model import ModelData, Real

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
        smooth = laplacian(neighbor_graph(X, self.n_neighbors))
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
