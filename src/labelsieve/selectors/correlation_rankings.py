"""Rankings by the correlation distances of features and labels: PageRank in their graph, and matchings with labels."""

from dataclasses import dataclass
from numbers import Real as AnyReal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import pdist, squareform
from sklearn.utils._param_validation import Interval

from labelsieve.counting.checked_parameters import parameter
from labelsieve.counting.resources import require_memory
from labelsieve.selectors.base_model import BaseModelRanking, ModelData, Real
from labelsieve.table_types import is_sparse

_TOLERANCE = 1e-12  # of the sum of changes of PageRank, which falls by the factor ``damping`` in every step
_MOST_STEPS = 10_000


def correlation_distances(data: ModelData) -> tuple[Real, Real]:
    """1 - r of every feature and target, which is 1 where one of them is constant; and the targets as numbers."""
    targets = data.indicators()
    centered = targets - targets.mean(axis=0)
    lengths = np.sqrt((centered**2).sum(axis=0) * len(targets))
    correlation = np.asarray(data.X.T @ (centered / np.where(lengths > 0, lengths, 1.0)))
    if is_sparse(data.X):  # columns that are constant but not 0 are not scaled
        means = np.asarray(data.X.mean(axis=0)).ravel()
        squares = np.asarray(data.X.multiply(data.X).mean(axis=0)).ravel()
        correlation[squares - means**2 < 0.5] = 0.0
    return 1 - np.clip(correlation, -1.0, 1.0), targets


@dataclass(eq=False, repr=False, kw_only=True)
class MGFS(BaseModelRanking):
    r"""Rank features by PageRank in a graph of all features, whose edges are differences of correlation with the labels.

    .. math:: p = \frac{1 - a}{d} + a \sum_g \frac{w_{fg}}{\sum_h w_{gh}} p_g, \quad
              w_{fg} = \left\|D_f - D_g\right\|, \quad D_{fy} = 1 - r(f, y)

    Hashemi, Dowlatshahi and Nezamabadi-pour (2020a). A feature is central if it differs much from others in its correlations.

    Parameters
    ----------
    damping : float, default=0.85
        a: the default of the PageRank of Matlab, which the authors use.

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        Scores, which sum to 1.

    Notes
    -----
    The correlation with a constant feature or label is 0; the authors' program takes it as 1, which ranks constant features
    first. PageRank is iterated to 1e-12, the program's to 1e-4.

    Cost: all pairs of features: d * d * q steps and 16 d * d bytes; a MemoryError says when they are not free.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> ranking = MGFS(n_features_to_select=2).fit(data.X, data.Y)
    >>> round(float(ranking.feature_scores_.sum()), 9)
    1.0
    """

    damping: float = parameter(0.85, Interval(AnyReal, 0, 1, closed="left"))

    def _score(self, data: ModelData) -> Real:
        n_features = data.X.shape[1]
        require_memory(16 * n_features**2, "MGFS: distances of", n_features, data.n_targets)
        distances, _ = correlation_distances(data)
        edges = squareform(pdist(distances)) if n_features > 1 else np.zeros((1, 1))
        degrees = edges.sum(axis=0)
        isolated = degrees == 0
        edges /= np.where(isolated, 1.0, degrees)
        rank = np.full(n_features, 1 / n_features)
        for _ in range(_MOST_STEPS):
            spread = edges @ rank + rank[isolated].sum() / n_features
            new = (1 - self.damping) / n_features + self.damping * spread
            change, rank = float(np.abs(new - rank).sum()), new
            if change <= _TOLERANCE:
                break
        return rank


@dataclass(eq=False, repr=False, kw_only=True)
class BMFS(BaseModelRanking):
    r"""Rank features by matchings with the labels: each round gives every label one more feature.

    .. math:: \min_{\pi} \sum_y \big( 1 - r(\pi(y), y) \big), \quad \pi \text{ injective into the features left}

    Features of a round follow in the order of their labels, the most frequent label first. Hashemi, Dowlatshahi and
    Nezamabadi-pour (2021a).

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        Ranks, from 1 down to 1 / d.

    Notes
    -----
    As published, negative correlations have the largest distance. The correlation with a constant feature or label is 0; the
    authors' program takes it as 1. The frequency of a numeric target is its mean after scaling to 0 .. 1.

    Cost: an assignment problem for each of the d / q rounds, about d * d * q steps in total.

    Examples
    --------
    >>> X = [[0.0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]]
    >>> BMFS(n_features_to_select=2).fit(X, [[0, 0], [0, 1], [1, 0], [1, 1]]).selected_
    array([0, 2])
    """

    def _score(self, data: ModelData) -> Real:
        distances, targets = correlation_distances(data)
        span = np.ptp(targets, axis=0)
        frequency = (targets - targets.min(axis=0)).mean(axis=0) / np.where(span > 0, span, 1.0)
        by_frequency = np.argsort(-frequency, kind="stable")
        left: NDArray[np.intp] = np.arange(len(distances))
        scores = np.zeros(len(distances))
        n_ranked = 0
        while len(left):
            labels, matched = linear_sum_assignment(distances[left].T)
            of_label = dict(zip(labels.tolist(), matched.tolist(), strict=True))
            for label in by_frequency.tolist():
                if label in of_label:
                    scores[left[of_label[label]]] = 1 - n_ranked / len(scores)
                    n_ranked += 1
            left = np.delete(left, matched)
        return scores
