"""Rankings by the importances of fitted models: trees, boosting, permutation."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, MultiTaskLasso, Ridge
from sklearn.model_selection import KFold, train_test_split

from labelsieve.parameters import AT_LEAST_ONE, AT_LEAST_TWO, BETWEEN_0_AND_1, POSITIVE, PREDICTOR, StrOptions, parameter
from labelsieve.selectors.regressions.base import BaseModelRanking, ModelData, Real, class_indicators
from labelsieve.tables.types import Matrix, is_sparse


def _trees(data: ModelData, n_estimators: int, X: Matrix) -> Real:
    """Return importances of extra trees for all targets; classes and numbers have a model each, and both are averaged."""
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


INVERSE_PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0)


@dataclass(eq=False, repr=False, kw_only=True)
class L1Importance(BaseModelRanking):
    """Rank features by the coefficients of L1-penalized linear models of the standardized features.

    Classes: one-vs-rest logistic regression for every target, the sum of absolute coefficients. Numeric targets: the multi-task
    lasso, the norm of the coefficients of a feature. Features with coefficients of 0 follow in the order of the columns.

    Parameters
    ----------
    C : float or "cv", default=0.1
        The inverse penalty. For numeric targets the penalty is ``1 / (100 * C)`` of the smallest that leaves no feature: a
        tenth by default. ``"cv"``: of 0.01, 0.03, 0.1, 0.3 and 1, raised as long as the loss on held-out rows falls, log loss
        or squared error summed over the targets.
    cv : int, default=3
        Folds for ``C="cv"``.
    random_state : int, RandomState instance or None, default=0
        Seed of the solver, and of the folds.

    Attributes
    ----------
    C_ : dict of float
        The inverse penalties that were used, by type of target: ``"class"`` and ``"numeric"``.

    Notes
    -----
    A table in which fewer than 10 % of the values are nonzero, such as counts of words, stays sparse, whatever its format: it
    is scaled to unit variance and not centered.

    Cost: fitting a model for every target; for ``C="cv"`` up to five times ``cv`` more on parts of the rows.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = L1Importance(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    >>> L1Importance(C="cv").fit(data.X, data.Y).C_
    {'class': 1.0}
    """

    C: float | Literal["cv"] = parameter(0.1, POSITIVE, StrOptions({"cv"}))
    cv: int = parameter(3, AT_LEAST_TWO)

    _keeps_zeros: ClassVar[bool] = True

    def _score(self, data: ModelData) -> Real:
        total, self.C_ = np.zeros(data.X.shape[1]), {}
        indicators = class_indicators(target for target, is_number in data.targets() if not is_number)
        if indicators:
            Y = np.column_stack(indicators)
            self.C_["class"] = self._inverse_penalty(partial(_logistic_losses, seed=data.seed), data, Y)
            for target in Y.T:
                total += np.abs(_logistic(self.C_["class"], data.seed).fit(data.X, target).coef_[0])
        if data.numbers.any():
            self.C_["numeric"] = self._inverse_penalty(_lasso_losses, data, data.numbers)
            total += np.linalg.norm(_lasso(data.X, data.numbers, self.C_["numeric"]).coef_, axis=0)
        return total

    def _inverse_penalty(self, losses: Callable[..., float], data: ModelData, Y: NDArray[Any]) -> float:
        """Return the parameter ``C``, or, for ``"cv"``, the value with the smallest loss on held-out rows."""
        if self.C != "cv":
            return float(self.C)
        folds = [*KFold(min(self.cv, len(Y)), shuffle=True, random_state=data.seed).split(Y)]
        best, smallest = INVERSE_PENALTIES[0], np.inf
        for C in INVERSE_PENALTIES:
            loss = sum(losses(data.X[train], Y[train], data.X[test], Y[test], C) for train, test in folds)
            if loss >= smallest:
                break
            best, smallest = C, loss
        return best


def _logistic(C: float, seed: int) -> LogisticRegression:
    return LogisticRegression(l1_ratio=1.0, solver="liblinear", C=C, random_state=seed, max_iter=1000)


def _logistic_losses(X: Matrix, Y: NDArray[Any], X_test: Matrix, Y_test: NDArray[Any], C: float, *, seed: int) -> float:
    """Return the log loss on held-out rows, summed over rows and labels; labels with one value in training are left out."""
    total = 0.0
    for target, truth in zip(Y.T, Y_test.T, strict=True):
        if target.any() and not target.all():
            margin = _logistic(C, seed).fit(X, target).decision_function(X_test)
            total += float(np.logaddexp(0, np.where(truth, -margin, margin)).sum())
    return total


def _lasso(X: Matrix, Y: Real, C: float) -> MultiTaskLasso:
    """Fit the lasso with this fraction of the smallest penalty that leaves no feature."""
    X = X.toarray() if is_sparse(X) else X
    most = float(np.linalg.norm(X.T @ (Y - Y.mean(axis=0)), axis=1).max()) / len(X)
    return MultiTaskLasso(alpha=most / (100 * C) if most > 0 else 1.0, max_iter=5000).fit(X, Y)


def _lasso_losses(X: Matrix, Y: Real, X_test: Matrix, Y_test: Real, C: float) -> float:
    predicted = _lasso(X, Y, C).predict(X_test.toarray() if is_sparse(X_test) else X_test)
    return float(((predicted - Y_test) ** 2).sum())


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

    Notes
    -----
    Cost: one fit, and ``n_repeats`` predictions of the held-out rows for every feature. Ctrl-C waits until the model has
    fitted or predicted with a tree: estimators are called as they are, on the thread of the caller.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = PermutationImportance(n_repeats=1, n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    model: BaseEstimator | None = parameter(None, PREDICTOR)
    n_repeats: int = parameter(5, AT_LEAST_ONE)
    test_size: float = parameter(0.3, BETWEEN_0_AND_1)

    def _score(self, data: ModelData) -> Real:
        X, targets = data.X.toarray() if is_sparse(data.X) else data.X, data.indicators()
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

    Notes
    -----
    Cost: about ``log(d) / step`` ridge regressions.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(300, n_noisy_copies=0, n_irrelevant=4)
    >>> selector = RecursiveElimination(n_features_to_select=2).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in selector.selected_]
    ['relevant', 'relevant']
    """

    step: float = parameter(0.1, BETWEEN_0_AND_1)

    def _score(self, data: ModelData) -> Real:
        X, targets, left = data.X, data.indicators(), np.arange(data.X.shape[1])
        scores = np.zeros(len(left))
        while len(left) > 1:
            model = Ridge(solver="lsqr" if is_sparse(X) else "auto").fit(X[:, left], targets)
            sizes = np.linalg.norm(np.atleast_2d(model.coef_), axis=0)
            order = np.argsort(sizes, kind="stable")
            dropped = order[: max(1, int(self.step * len(left)))]
            scores[left] += 1
            # Within a round, by the size of the coefficients; the last rounds drop one feature each.
            scores[left[dropped]] -= 0.5 * (1 - np.arange(len(dropped)) / len(dropped))
            left = np.delete(left, dropped)
        scores[left] += 1
        return scores
