"""Rankings of features one by one that practitioners use: F statistics, neighbor-based mutual information, loadings."""

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression

from labelsieve.counting.checked_parameters import AT_LEAST_ONE, parameter
from labelsieve.selectors.base_model import BaseModelRanking, ModelData, Real


@dataclass(eq=False, repr=False, kw_only=True)
class FScore(BaseModelRanking):
    """Rank features by the F statistic of each target, averaged over the targets or the maximum.

    One-way analysis of variance for classes (``f_classif`` of scikit-learn), linear regression for numeric targets
    (``f_regression``). Constant features score 0.

    Parameters
    ----------
    combine : {"mean", "max"}, default="mean"
        How the F statistics of the targets are combined.
    random_state, n_jobs
        Not used.

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        The mean or maximum of the F statistics of every feature.

    Notes
    -----
    Features must be numbers without missing values, as for all selectors that rank by scikit-learn's models. Cost: one pass
    over X for each target.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_noisy_copies=0)
    >>> sorted(FScore(n_features_to_select=4).fit(data.X, data.Y).selected_.tolist()) == data.columns("relevant")
    True
    """

    combine: Literal["mean", "max"] = "mean"

    def _score(self, data: ModelData) -> Real:
        scores = [np.zeros(data.X.shape[1])]
        with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)  # their score is 0
            for target, is_number in data.targets():
                statistic = (f_regression if is_number else f_classif)(data.X, target)[0]
                scores.append(np.nan_to_num(statistic, nan=0.0, posinf=float(np.finfo(np.float32).max)))
        total: Real = np.max(scores, axis=0) if self.combine == "max" else np.sum(scores, axis=0) / max(1, len(scores) - 1)
        return total


@dataclass(eq=False, repr=False, kw_only=True)
class NeighborInformation(BaseModelRanking):
    """Rank features by mutual information from nearest neighbors, summed over the targets.

    Kraskov et al. (2004) and Ross (2014), as estimated by ``mutual_info_classif`` and ``mutual_info_regression``.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbors of the estimate.
    random_state : int, RandomState instance or None, default=0
        Seed of the noise that breaks ties.

    Notes
    -----
    Cost: nearest neighbors in every feature for each target, about N log N each. Columns of a sparse matrix that is
    too large to be made dense are taken as discrete, as in scikit-learn.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = NeighborInformation(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    n_neighbors: int = parameter(3, AT_LEAST_ONE)

    def _score(self, data: ModelData) -> Real:
        total = np.zeros(data.X.shape[1])
        for target, is_number in data.targets():
            estimate = mutual_info_regression if is_number else mutual_info_classif
            total += estimate(data.X, target, n_neighbors=self.n_neighbors, random_state=data.seed, n_jobs=data.n_jobs)
        return total


@dataclass(eq=False, repr=False, kw_only=True)
class PCALoadings(BaseModelRanking):
    r"""Rank features by their squared loadings on the first principal components, :math:`\sum_c \lambda_c v_{cf}^2`.

    A control that does not use the targets: features of the directions in which the standardized features vary most.

    Parameters
    ----------
    n_components : int, default=10
        Components; at most half of the features, because over all components every standardized feature scores the same.
    random_state : int, RandomState instance or None, default=0
        Seed of the solver.

    Notes
    -----
    Cost: a truncated singular value decomposition.

    Examples
    --------
    >>> X = [[0.0, 1, 2], [1, 0, 5], [2, 1, 0], [3, 0, 3]]
    >>> PCALoadings(n_components=1, n_features_to_select=1).fit(X, [0, 0, 1, 1]).selected_.shape
    (1,)
    """

    n_components: int = parameter(10, AT_LEAST_ONE)

    def _score(self, data: ModelData) -> Real:
        sparse = hasattr(data.X, "tocsr")
        most = min(data.X.shape[0] - 1, max(1, data.X.shape[1] // 2))
        if most < 1:
            return np.zeros(data.X.shape[1])
        kind = TruncatedSVD if sparse else PCA
        model = kind(n_components=min(self.n_components, most), random_state=data.seed).fit(data.X)
        scores: Real = model.explained_variance_ @ model.components_**2
        return scores
