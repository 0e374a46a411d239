"""Rankings by tree ensembles: importances, and hits against permuted copies of the features."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import binom
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

from labelsieve.counting.checked_parameters import AT_LEAST_ONE, parameter
from labelsieve.selectors.base_model import BaseModelRanking, ModelData, Real
from labelsieve.table_types import Matrix, is_sparse


def _trees(data: ModelData, n_estimators: int, X: Matrix) -> Real:
    """Importances of extra trees for all targets at once; where some are classes and some numbers, of both models."""
    models = [(ExtraTreesClassifier, data.classes), (ExtraTreesRegressor, data.numbers)]
    total = np.zeros(X.shape[1])
    for kind, targets in models:
        if targets.shape[1]:
            fitted = kind(n_estimators, random_state=data.seed, n_jobs=data.n_jobs).fit(
                X, np.squeeze(targets, axis=1) if targets.shape[1] == 1 else targets
            )
            total += fitted.feature_importances_ * targets.shape[1]
    return total / data.n_targets


@dataclass(eq=False, repr=False, kw_only=True)
class TreeImportance(BaseModelRanking):
    """Rank features by the impurity-based importances of a tree ensemble.

    Parameters
    ----------
    ensemble : {"extra-trees", "gradient-boosting"}, default="extra-trees"
        Extra trees have one model for all targets of a kind (Geurts, Ernst and Wehenkel 2006); gradient boosting has a model
        for every target (Friedman 2001), and importances are averaged.
    n_estimators : int, default=100
        Trees of the ensemble; boosting has as many rounds.

    Notes
    -----
    Cost: fitting the ensemble.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = TreeImportance(n_estimators=10, n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    ensemble: Literal["extra-trees", "gradient-boosting"] = "extra-trees"
    n_estimators: int = parameter(100, AT_LEAST_ONE)

    def _score(self, data: ModelData) -> Real:
        if self.ensemble == "extra-trees":
            return _trees(data, self.n_estimators, data.X)
        total = np.zeros(data.X.shape[1])
        for target, is_number in data.targets():
            kind = GradientBoostingRegressor if is_number else GradientBoostingClassifier
            total += kind(n_estimators=self.n_estimators, random_state=data.seed).fit(data.X, target).feature_importances_
        return total / data.n_targets


@dataclass(eq=False, repr=False, kw_only=True)
class ShadowFeatures(BaseModelRanking):
    """Rank features by how often they are more important than the best permuted copy of any feature.

    After Boruta (Kursa and Rudnicki 2010): every round adds a permuted copy of each feature, fits extra trees and counts a hit
    for the features above the largest importance of the copies. Ties go by mean importance.

    Parameters
    ----------
    n_rounds : int, default=20
        Number of rounds.
    n_estimators : int, default=100
        Trees of a round.

    Attributes
    ----------
    n_hits_ : ndarray of int, shape (n_features,)
        Number of hits of every feature.
    confirmed_ : ndarray of bool
        Features with more hits than a fair coin at level 0.05, adjusted for the number of features (Bonferroni).

    Notes
    -----
    Cost: ``n_rounds`` fits of an ensemble on twice the features.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = ShadowFeatures(n_rounds=3, n_estimators=10, n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    n_rounds: int = parameter(20, AT_LEAST_ONE)
    n_estimators: int = parameter(100, AT_LEAST_ONE)

    def _score(self, data: ModelData) -> Real:
        X = data.X.toarray() if is_sparse(data.X) else data.X
        d, rng = X.shape[1], np.random.default_rng(data.seed)
        hits, total = np.zeros(d, dtype=np.int64), np.zeros(d)
        for _ in range(self.n_rounds):
            shadows = rng.permuted(X, axis=0)
            drawn = data._replace(seed=int(rng.integers(2**31)))
            importances = _trees(drawn, self.n_estimators, np.hstack([X, shadows]))
            hits += importances[:d] > importances[d:].max()
            total += importances[:d]
        self.n_hits_ = hits
        self.confirmed_ = binom.sf(hits - 1, self.n_rounds, 0.5) * d < 0.05
        largest = total.max()
        scores: Real = hits + (total / (2 * largest) if largest > 0 else 0.0)
        return scores
