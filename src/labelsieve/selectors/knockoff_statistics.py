"""Importance of features and their knockoff copies: linear models for all targets, criteria, and estimators."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from labelsieve.errors import InputError, unknown_name
from labelsieve.registry import CRITERIA
from labelsieve.selectors.sieve import Sieve
from labelsieve.statistics import lasso_importance, likelihood_ratios
from labelsieve.statistics.standard_columns import design_columns
from labelsieve.table_types import TargetsLike

Real = NDArray[np.float64]
MODELS = ("likelihood-ratio", "lasso")


@dataclass(frozen=True, eq=False)
class KnockoffStatistic:
    """W: how much more important each feature is than its copy.

    Attributes
    ----------
    importance : str or estimator
        A name of ``MODELS`` or of a criterion, or an estimator to clone.
    targets : ndarray of float, shape (n_rows, n_targets)
        Standardized, a column for each class of a target with more than two.
    y : Any
        The targets for criteria and estimators.
    levels : ndarray of int, shape (n_features,), or None
        Numbers of levels of features that are codes; each of three or more levels is a column of a linear model.
    """

    importance: Any
    targets: Real
    y: TargetsLike
    levels: NDArray[np.integer] | None

    def contrast(self, X: NDArray[Any], copy: NDArray[Any], generator: np.random.Generator) -> Real:
        """The importance of each feature minus that of its copy.

        Which of the two comes first is random, so that no learner can prefer features by their position.
        """
        if isinstance(self.importance, str) and self.importance == "likelihood-ratio":
            design, owner = self._design(np.hstack([X, copy]))
            return likelihood_ratios(design, self.targets, owner) if self.targets.shape[1] else np.zeros(X.shape[1])
        swap = generator.random(X.shape[1]) < 0.5
        table = np.hstack([np.where(swap, copy, X), np.where(swap, X, copy)])
        first, second = np.split(self._importances(table), 2)
        return np.asarray(np.where(swap, second - first, first - second))

    def _importances(self, table: NDArray[Any]) -> Real:
        if not isinstance(self.importance, str):
            return fitted_importances(clone(self.importance).fit(table, self.y), table.shape[1])
        if self.importance == "lasso":
            design, owner = self._design(table)
            squares = lasso_importance(design, self.targets) ** 2
            return np.sqrt(np.bincount(owner, weights=squares, minlength=table.shape[1]))
        sieve = Sieve(self.importance, n_features_to_select=1, discretizer="equal-frequency").fit(table, self.y)
        return np.asarray(sieve.feature_scores_)

    def _design(self, table: NDArray[Any]) -> tuple[Real, NDArray[np.intp]]:
        return design_columns(table, None if self.levels is None else np.tile(self.levels, 2))


def check_statistic(statistic: object) -> Any:
    """The name or estimator, if importances can be read from it."""
    if isinstance(statistic, str):
        if statistic.lower() in (*MODELS, *CRITERIA):
            return statistic.lower()
        raise unknown_name("statistic", statistic, [*MODELS, *CRITERIA], more=", or an estimator")
    if isinstance(statistic, BaseEstimator) and hasattr(statistic, "fit"):
        return statistic
    raise InputError(
        f"statistic must be {', '.join(map(repr, MODELS))}, the name of a criterion, or an estimator with coef_, "
        f"feature_importances_ or ranking_ after fit, not {statistic!r}."
    )


def fitted_importances(estimator: BaseEstimator, n_columns: int) -> Real:
    """``feature_importances_``, absolute ``coef_`` summed over the targets, or the inverse of ``ranking_``."""
    if hasattr(estimator, "feature_importances_"):
        found = np.asarray(estimator.feature_importances_, dtype=np.float64)
    elif hasattr(estimator, "coef_"):
        found = np.abs(np.atleast_2d(estimator.coef_)).sum(axis=0)
    elif hasattr(estimator, "ranking_"):
        found = 1.0 / np.asarray(estimator.ranking_, dtype=np.float64)
    else:
        raise InputError(f"{type(estimator).__name__} has no coef_, feature_importances_ or ranking_ after fit.")
    if found.shape != (n_columns,):
        raise InputError(f"{type(estimator).__name__} has importances of shape {found.shape} for {n_columns} columns.")
    return found
