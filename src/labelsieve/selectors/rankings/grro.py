"""GRRO: relevance and redundancy of all features at once, in closed form."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelsieve.discretize import Discretizer
from labelsieve.errors import InputError
from labelsieve.information import mutual_information
from labelsieve.parameters import NOT_NEGATIVE, checked_fit, parameter
from labelsieve.resources import interruptible, require_memory
from labelsieve.selectors.base import Result
from labelsieve.selectors.counting import BaseCodeRanking
from labelsieve.tables.codes import Codes
from labelsieve.tables.problem import Problem
from labelsieve.tables.types import TableLike, TargetsLike

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class GRRO(BaseCodeRanking):
    r"""Rank features by weights that balance relevance, redundancy and label correlations: global optimization.

    .. math:: \min_W \left\|W - R\right\|_F^2 + \alpha \, tr(W'FW) + \beta \, tr(W L W'), \quad
              (I + \alpha F) W + \beta W L = R

    with :math:`R_{fy} = I(f; y)`, :math:`F_{fg} = I(f; g)`, ones on its diagonal, in bits, and :math:`L_{yz} = 1 - \cos(y, z)`.
    The score of a feature is the sum of its row of W. Zhang, Lin, Jiang, Li, Tang and Tan (2020).

    Parameters
    ----------
    alpha, beta : float, default=100 and 0.1
        Weights of redundancy and of label correlations, as in a public copy of the authors' program.
    discretizer : str, Discretizer or None, default="equal-frequency"
        As for :class:`labelsieve.Sieve`: five bins. That copy uses two, ``EqualFrequency(2)``, and so does the method
        ``"grro"`` of the registry: then the diagonal of F, 1 bit, is the entropy of the features.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        The coefficients W.
    curvature_ : float
        The smallest eigenvalue of the linear system. Neither F nor L need be positive semi-definite: where it is negative, W is
        a stationary point, as published, but no minimum.
    discretizer_, target_discretizer_, target_types_, label_names_
        As for :class:`labelsieve.Sieve`.

    Notes
    -----
    For targets with more than two classes, cosines are between tables with a column for each class but the first.

    Cost: one pass over all pairs of features, the eigenvalues of a d x d matrix and 32 d * d bytes; a MemoryError says when
    they are not free.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_noisy_copies=0)
    >>> sorted(GRRO(n_features_to_select=4).fit(data.X, data.Y).selected_.tolist()) == data.columns("relevant")
    True
    """

    alpha: float = parameter(100.0, NOT_NEGATIVE)
    beta: float = parameter(0.1, NOT_NEGATIVE)
    discretizer: str | Discretizer | dict[Any, Any] | None = "equal-frequency"
    n_jobs: int | None = None

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Score the features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        features, targets, more = self._encode(problem, self.n_jobs)
        require_memory(32 * features.n_columns**2, "GRRO: redundancy of", features.n_columns, targets.n_columns)
        relevance = mutual_information(features, targets, base="bit", n_jobs=self.n_jobs)
        redundancy = mutual_information(features, features, base="bit", n_jobs=self.n_jobs)
        np.fill_diagonal(redundancy, 1.0)
        coefficients, curvature = self._solve(redundancy, 1 - _cosines(targets), relevance)
        return self._best(problem, coefficients.sum(axis=1), coef=coefficients, curvature=curvature, **more)

    def _solve(self, redundancy: Array, unlike: Array, relevance: Array) -> tuple[Array, float]:
        """Solve the Sylvester equation by the eigenvalues of both matrices; return W and the smallest eigenvalue."""
        of_features, left = interruptible(lambda: np.linalg.eigh(redundancy), len(redundancy))
        of_labels, right = np.linalg.eigh(unlike)
        denominators = 1 + self.alpha * of_features[:, np.newaxis] + self.beta * of_labels[np.newaxis, :]
        if not denominators.all():
            raise InputError("GRRO: the linear system is singular for this alpha and beta; change one of them slightly.")
        W: Array = left @ ((left.T @ relevance @ right) / denominators) @ right.T
        return W, float(denominators.min())


def _cosines(targets: Codes) -> Array:
    """Return the cosines of all pairs of labels; labels that never occur are alike: their cosine is 1."""
    codes = targets.to_dense()
    blocks = [(codes[:, [k]] == np.arange(1, max(2, n))).astype(np.float64) for k, n in enumerate(targets.levels)]
    products = np.array([[np.linalg.norm(one.T @ other) for other in blocks] for one in blocks])
    lengths = np.sqrt(np.diag(products))
    scale = np.outer(lengths, lengths)
    return np.asarray(np.divide(products, scale, out=np.ones_like(scale), where=scale > 0))
