"""Rankings of each feature by itself: F statistics, correlations, variances, and random order."""

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Real as AnyReal
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.utils import check_random_state

from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import AT_LEAST_ONE, Interval, StrOptions, checked_fit, parameter
from labelsieve.registry import methods_of
from labelsieve.resources import require_memory
from labelsieve.selectors.base import N_FEATURES, BaseSieve, Count, Result
from labelsieve.selectors.regressions.base import BaseModelRanking, ModelData, Real
from labelsieve.tables.codes import require_finite
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.magnitude import check_magnitude
from labelsieve.tables.problem import Problem, Source, check_features
from labelsieve.tables.targets import read_target_columns
from labelsieve.tables.types import ColumnsLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import read_weights

_ROUNDING = 1e-12  # fraction of a feature's variance up to which the variance within classes is rounding


@dataclass(eq=False, repr=False, kw_only=True)
class FScore(BaseModelRanking):
    """Rank features by the F statistic of each target, averaged over the targets or the maximum.

    One-way analysis of variance for classes (``f_classif`` of scikit-learn), linear regression for numeric targets
    (``f_regression``). Constant features score 0, features that determine a target the largest number of single precision.

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
                n_classes = 2 if is_number else len(np.unique(target))
                # Variances are differences of sums. Where none is left within classes, they leave a rounding error of either
                # sign, and a feature that determines the target would rank last.
                largest = (len(target) - n_classes) / (n_classes - 1) / _ROUNDING
                statistic = np.where(np.abs(statistic) > largest, np.inf, np.maximum(statistic, 0.0))
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


@dataclass(eq=False, repr=False)
class BaselineSieve(BaseSieve):
    r"""Select features without using the labels.

    Parameters
    ----------
    criterion : {"random", "variance", "all"}, default="random"
        A random order; the columns of largest variance :math:`\frac{1}{N} \sum_i (x_i - \bar x)^2` of their values, unscaled,
        so that units matter; or all columns in order, whatever ``n_features_to_select`` says.
    n_features_to_select : int, float, str or None, default=10
        A number (all, if there are fewer), a fraction of all, ``"all"`` or None for all.
    random_state : int, RandomState or None, default=0
        For the random order.

    Attributes
    ----------
    scores_, feature_scores_ : ndarray of float
        Variances of selected features and of all; otherwise values that decrease from 1 to 0 by rank.

    Notes
    -----
    Cost: one pass over X for the variance; nothing for the others. Columns of text are numbered by their sorted values.

    Examples
    --------
    >>> BaselineSieve("variance", n_features_to_select=1).fit([[0, 5], [1, 9]]).selected_
    array([1])
    """

    criterion: Literal["random", "variance", "all"] = parameter("random", StrOptions(methods_of("BaselineSieve")))
    _: KW_ONLY
    n_features_to_select: Count = parameter(10, *N_FEATURES)
    forced: ColumnsLike = parameter((), "array-like")
    excluded: ColumnsLike = parameter((), "array-like")
    random_state: RandomState = 0

    @checked_fit
    def fit(self, X: Any, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Put the features of ``X`` in order; ``y`` is not used."""
        if isinstance(X, Problem):
            X, _, sample_weight = X.source
        self._forget()
        checked = check_features(self, X)
        target = np.zeros(checked.shape[0], dtype=np.uint8)  # the targets are not used, and none need be given
        names = vars(self).get("feature_names_in_")
        problem = Problem(
            checked,
            read_target_columns(target),
            read_weights(sample_weight, checked.shape[0]),
            None if names is None else tuple(map(str, names)),
            source=Source(X, None, sample_weight),
        )
        return self._keep(problem, self._select(problem))

    def _select(self, problem: Problem) -> Result:
        table, d = problem.features, problem.n_features
        require_finite(table, allow_missing=False)
        forced, excluded = self._limits(problem)
        falling = np.linspace(1.0, 0.0, d)
        if self.criterion == "variance":
            scores = _variances(table, problem.weights)
        elif self.criterion == "random":
            scores = falling[check_random_state(self.random_state).permutation(d)]
        else:
            scores = falling
        order = np.argsort(-scores, kind="stable")
        order = order[~np.isin(order, [*forced, *excluded])]  # ties go to the lowest column
        available = d - len(excluded)
        wanted = available if self.criterion == "all" else max(self._n_wanted(available, d), len(forced))
        selected = np.array([*forced, *order][:wanted], dtype=np.intp)
        return Result(selected, scores[selected], {"feature_scores": scores})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _variances(table: NumberTable, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the variances, column by column, so that a sparse table gives the same bits as a dense one."""
    check_magnitude("BaselineSieve('variance')", table.sparse if table.dense is None else table.dense, "X", weights)
    variances = np.empty(table.shape[1])
    for j in range(len(variances)):
        values = table.sparse[:, [j]].toarray()[:, 0] if table.dense is None else table.dense[:, j]
        values = np.ascontiguousarray(values, dtype=np.float64)
        centered = values - values[0]  # a constant column is exactly that
        centered -= np.average(centered, weights=weights)
        variances[j] = np.average(centered * centered, weights=weights)
    return variances


_TOLERANCE = 1e-12  # of the sum of changes of PageRank, which falls by the factor ``damping`` in every step
_MOST_STEPS = 10_000


def correlation_distances(data: ModelData) -> tuple[Real, Real]:
    """Return 1 - r of every feature and target, which is 1 if one of them is constant, and the targets as numbers."""
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
