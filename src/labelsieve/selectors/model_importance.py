"""Rankings by fitted models: L1 penalties, permutation importance, recursive elimination."""

from dataclasses import dataclass
from numbers import Real as AnyReal
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, MultiTaskLasso, Ridge
from sklearn.model_selection import train_test_split
from sklearn.utils._param_validation import HasMethods, Interval

from labelsieve.selectors.base import AT_LEAST_ONE, POSITIVE, Constraints
from labelsieve.selectors.base_model import BaseModelRanking, ModelData, Real


@dataclass(eq=False, repr=False, kw_only=True)
class L1Importance(BaseModelRanking):
    """Rank features by the coefficients of L1-penalized linear models of the standardized features.

    Classes: one-vs-rest logistic regression for every target, the sum of absolute coefficients. Numeric targets: the multi-task
    lasso, the norm of the coefficients of a feature. Features with coefficients of 0 tie and go by their column.

    Parameters
    ----------
    C : float, default=0.1
        The inverse penalty. For numeric targets the penalty is ``1 / (100 * C)`` of the smallest that leaves no feature: a
        tenth by default.
    n_features_to_select, random_state, n_jobs
        As for :class:`labelsieve.selectors.FScore`.

    Attributes
    ----------
    feature_scores_, selected_, scores_, support_
        As for :class:`labelsieve.selectors.FScore`.

    Notes
    -----
    Cost: fitting a model for every target.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> len(L1Importance(n_features_to_select=2).fit(data.X, data.Y).selected_)
    2
    """

    C: float = 0.1

    _parameter_constraints: ClassVar[Constraints] = {**BaseModelRanking._parameter_constraints, "C": [POSITIVE]}

    def _score(self, data: ModelData) -> Real:
        total = np.zeros(data.X.shape[1])
        for target, is_number in data.targets():
            if is_number:
                continue
            levels = np.unique(target)
            for level in levels[1:] if len(levels) == 2 else levels:
                model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=self.C, random_state=data.seed, max_iter=1000)
                total += np.abs(model.fit(data.X, target == level).coef_[0])
        if data.numbers.shape[1]:
            X = data.X.toarray() if sp.issparse(data.X) else data.X
            most = np.linalg.norm(X.T @ data.numbers, axis=1).max() / len(X)
            if most > 0:
                fitted = MultiTaskLasso(alpha=most / (100 * self.C), max_iter=5000).fit(X, data.numbers)
                total += np.linalg.norm(fitted.coef_, axis=0)
        return total


@dataclass(eq=False, repr=False, kw_only=True)
class PermutationImportance(BaseModelRanking):
    """Rank features by the loss of accuracy on held-out rows when their values are permuted (Breiman 2001).

    The loss is the mean squared error of predictions for all targets, classes as indicators.

    Parameters
    ----------
    model : regressor, default=None
        A scikit-learn regressor for several targets; None: extra trees.
    n_repeats : int, default=5
        Permutations of every feature.
    test_size : float, default=0.3
        The fraction of the rows that are held out.
    n_features_to_select, random_state, n_jobs
        As for :class:`labelsieve.selectors.FScore`.

    Attributes
    ----------
    feature_scores_, selected_, scores_, support_
        As for :class:`labelsieve.selectors.FScore`.

    Notes
    -----
    Cost: one fit, and ``n_repeats`` predictions of the held-out rows for every feature.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> len(PermutationImportance(n_repeats=1, n_features_to_select=2).fit(data.X, data.Y).selected_)
    2
    """

    model: Any = None
    n_repeats: int = 5
    test_size: float = 0.3

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseModelRanking._parameter_constraints,
        "model": [HasMethods(["fit", "predict"]), None],
        "n_repeats": [AT_LEAST_ONE],
        "test_size": [Interval(AnyReal, 0, 1, closed="neither")],
    }

    def _score(self, data: ModelData) -> Real:
        X, targets = data.X.toarray() if sp.issparse(data.X) else data.X, data.indicators()
        rng = np.random.default_rng(data.seed)
        train, test = train_test_split(np.arange(len(X)), test_size=self.test_size, random_state=data.seed)
        fitted = ExtraTreesRegressor(random_state=data.seed, n_jobs=data.n_jobs) if self.model is None else clone(self.model)
        fitted.fit(X[train], targets[train, 0] if targets.shape[1] == 1 else targets[train])
        held_out = X[test].copy()

        def loss() -> float:
            return float(np.mean((fitted.predict(held_out).reshape(len(test), -1) - targets[test]) ** 2))

        best, scores = loss(), np.zeros(X.shape[1])
        for feature in range(X.shape[1]):
            values = held_out[:, feature].copy()
            for _ in range(self.n_repeats):
                held_out[:, feature] = rng.permutation(values)
                scores[feature] += (loss() - best) / self.n_repeats
            held_out[:, feature] = values
        return scores


@dataclass(eq=False, repr=False, kw_only=True)
class RecursiveElimination(BaseModelRanking):
    """Rank features by recursive elimination: fit a linear model, drop the features of the smallest coefficients, repeat.

    Guyon et al. (2002), with ridge regression of all targets, classes as indicators. The score is minus the round in which a
    feature was dropped, counted from the last.

    Parameters
    ----------
    step : float, default=0.1
        The fraction of the features that a round drops.
    n_features_to_select, random_state, n_jobs
        As for :class:`labelsieve.selectors.FScore`; no random numbers are used.

    Attributes
    ----------
    feature_scores_, selected_, scores_, support_
        As for :class:`labelsieve.selectors.FScore`.

    Notes
    -----
    Cost: about ``log(d) / step`` ridge regressions.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> len(RecursiveElimination(n_features_to_select=2).fit(data.X, data.Y).selected_)
    2
    """

    step: float = 0.1

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseModelRanking._parameter_constraints,
        "step": [Interval(AnyReal, 0, 1, closed="neither")],
    }

    def _score(self, data: ModelData) -> Real:
        X, targets, left = data.X, data.indicators(), np.arange(data.X.shape[1])
        scores = np.zeros(len(left))
        while len(left) > 1:
            model = Ridge(solver="lsqr" if sp.issparse(X) else "auto").fit(X[:, left], targets)
            sizes = np.linalg.norm(np.atleast_2d(model.coef_), axis=0)
            order = np.argsort(sizes, kind="stable")
            dropped = order[: max(1, int(self.step * len(left)))]
            scores[left] += 1
            # Within a round, by the size of the coefficients; the last rounds drop one feature each.
            scores[left[dropped]] -= 0.5 * (1 - np.arange(len(dropped)) / len(dropped))
            left = np.delete(left, dropped)
        scores[left] += 1
        return scores
