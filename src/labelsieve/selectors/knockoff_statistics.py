"""Importance of features and their knockoff copies: linear models for all targets, criteria, and estimators."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from labelsieve.errors import InputError
from labelsieve.names import unknown_name
from labelsieve.registry import CRITERIA
from labelsieve.selectors.sieve import Sieve
from labelsieve.statistics import lasso_importance, sparse_bayes_importance

Real = NDArray[np.float64]
MODELS: dict[str, Callable[[Real, Real], Real]] = {"lasso": lasso_importance, "sparse-bayes": sparse_bayes_importance}


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
    nominal : ndarray of bool, shape (n_features,)
        Features whose values are codes of more than two levels: each level is a column of a linear model.
    """

    importance: Any
    targets: Real
    y: Any
    nominal: NDArray[np.bool_]

    def contrast(self, X: NDArray[Any], copy: NDArray[Any], generator: np.random.Generator) -> Real:
        """The importance of each feature minus that of its copy.

        Which of the two comes first is random, so that no learner can prefer features by their position.
        """
        swap = generator.random(X.shape[1]) < 0.5
        table = np.hstack([np.where(swap, copy, X), np.where(swap, X, copy)])
        first, second = np.split(self._importances(table), 2)
        return np.asarray(np.where(swap, second - first, first - second))

    def _importances(self, table: NDArray[Any]) -> Real:
        if isinstance(self.importance, str) and self.importance in MODELS:
            design, owner = self._design(table)
            if not len(owner) or not self.targets.shape[1]:
                return np.zeros(table.shape[1])
            squares = MODELS[self.importance](design, self.targets) ** 2
            return np.sqrt(np.bincount(owner, weights=squares, minlength=table.shape[1]))
        if isinstance(self.importance, str):
            sieve = Sieve(self.importance, n_features_to_select=1, discretizer="equal-frequency").fit(table, self.y)
            return np.asarray(sieve.feature_scores_)
        return fitted_importances(clone(self.importance).fit(table, self.y), table.shape[1])

    def _design(self, table: NDArray[Any]) -> tuple[Real, NDArray[np.intp]]:
        """Standardized columns that are not constant, and the feature or copy to which each belongs."""
        columns, owner = [table[:, ~np.tile(self.nominal, 2)].astype(np.float64)], [np.flatnonzero(~np.tile(self.nominal, 2))]
        for j in np.flatnonzero(np.tile(self.nominal, 2)):
            levels = np.unique(table[:, j])
            columns.append((table[:, [j]] == levels).astype(np.float64))
            owner.append(np.full(len(levels), j))
        design = standardized(np.hstack(columns))
        varies = design.any(axis=0)
        return design[:, varies], np.concatenate(owner)[varies]


def check_statistic(statistic: Any) -> Any:
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


def fitted_importances(estimator: Any, n_columns: int) -> Real:
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


def standardized(table: Real) -> Real:
    """Columns of mean 0 and variance 1; constant ones are 0."""
    centered = table - table.mean(axis=0)
    scale = centered.std(axis=0)
    return np.asarray(centered / np.where(scale > 1e-12, scale, np.inf))
