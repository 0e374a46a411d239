"""LIFT: label-specific features, which are the distances to clusters of the rows with a label and of the rows without it."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from labelsieve.classifiers.base import MultiLabelClassifier, Weights, if_base_has, requesting_weights
from labelsieve.classifiers.binary_relevance import BinaryModel, fit_binary, is_majority
from labelsieve.errors import InputError
from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import PREDICTOR, Interval, checked_meta_fit, parameter
from labelsieve.tables.magnitude import check_magnitude
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse


@dataclass(eq=False, repr=False)
class LIFT(MultiLabelClassifier):
    r"""Learning with label-specific features [Zhang and Wu 2015].

    For each label, the training rows with it (:math:`P`) and without it (:math:`N`) are clustered by k-means into
    :math:`m = \lceil r \min(|P|, |N|) \rceil` clusters each; a row is described by its Euclidean distances to all :math:`2m`
    centers, and a linear support vector machine learns the label from those.

    Parameters
    ----------
    ratio : float, default=0.1
        The ratio :math:`r`, between 0 and 1.
    base : classifier, default=None
        None: a linear ``SVC``. A base without ``predict_proba`` is calibrated by Platt scaling over five folds (fewer for rare
        labels), since rankings of labels by probabilities and by decision values differ. A label that is present or absent in
        only one row cannot be calibrated: the value of the other rows is always predicted.
    random_state : int, RandomState instance or None, default=None
        Seed of the clusterings.
    n_jobs : int, default=None
        Labels fitted in parallel, in threads.

    Attributes
    ----------
    centers_ : list of ndarray
        Cluster centers of each label: of the rows with it, then of the rows without it; empty for a constant label.
    models_ : list
        One for each label, on those distances.

    Notes
    -----
    Row weights: :math:`|P|` and :math:`|N|` are sums of weights, so a row of weight 3 equals three rows; weights that sum to 1
    give one cluster for each side.

    Cost: for each label a k-means of all rows into ``2m`` clusters, ``n * 2m`` distances and one fit of ``base``, or six with
    Platt scaling. k-means runs on one thread, because the clusters are too small for more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> Y = np.column_stack([X[:, 0] > 0, np.abs(X[:, 1]) > 1]).astype(int)
    >>> float((LIFT(random_state=0).fit(X, Y).predict(X) == Y).mean()) > 0.9
    True
    """

    ratio: float = parameter(0.1, Interval(Real, 0, 1, closed="right"))
    _: KW_ONLY
    base: BaseEstimator | None = parameter(None, PREDICTOR)
    random_state: RandomState = None
    n_jobs: int | None = None

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Cluster the rows and fit the classifier of every label.

        ``sample_weight`` are frequencies of the rows: for the numbers of clusters and their centers, for ``base``, which must
        accept weights, and for Platt scaling. The folds of Platt scaling are not weighted.
        """
        if self.base is not None and not hasattr(self.base, "predict_proba") and not hasattr(self.base, "decision_function"):
            raise InputError(f"LIFT needs a base with predict_proba or decision_function, not {self.base!r}.")
        X, labels, weights = self._read(X, y, sample_weight)
        check_magnitude("LIFT", X, "X", degree=4)  # linear kernels of distances
        base = self._base()
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=labels.shape[1])
        by_label = labels.tocsc()
        # k-means and support vector machines compute without the interpreter's lock, each on one thread: clusters are small.
        with threadpool_limits(1):
            fitted = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(_fit_label)(base, X, by_label[:, label].toarray().ravel(), self.ratio, int(seed), weights)
                for label, seed in enumerate(seeds)
            )
        self.centers_ = [centers for centers, _ in fitted]
        self.models_ = [model for _, model in fitted]
        return self

    def _base(self) -> Any:
        return SVC(kernel="linear") if self.base is None else self.base

    def _weighted_estimators(self) -> list[Any]:
        base = self._base()
        return [base] if hasattr(base, "predict_proba") else [base, _calibrated(base, 2)]

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        return self._each_label(X, BinaryModel.probability)

    @if_base_has("decision_function")
    def decision_values(self, X: TableLike) -> NDArray[np.float64]:
        """Compute the decision values of ``base`` before calibration: shape (n_rows, n_labels).

        Not called ``decision_function``, whose sign must agree with ``predict``: a label is predicted if its probability is
        above a half, and Platt's sigmoid is not always a half at a decision value of zero.
        """
        return self._each_label(X, _decision)

    def _each_label(self, X: TableLike, method: Callable[[BinaryModel, Any], NDArray[np.float64]]) -> NDArray[np.float64]:
        X = self._read_queries(X)
        columns = [method(model, distances_to(X, centers)) for model, centers in zip(self.models_, self.centers_, strict=True)]
        return np.column_stack(columns)


def _fit_label(
    base: BaseEstimator, X: Matrix, y: NDArray[Any], ratio: float, seed: int, weights: Weights
) -> tuple[NDArray[np.float64], BinaryModel]:
    """Return the cluster centers of a label, and its classifier on the distances to them."""
    with_label, without = np.flatnonzero(y), np.flatnonzero(y == 0)
    n_rarer = min(len(with_label), len(without))
    if n_rarer == 0:
        return np.empty((0, X.shape[1])), fit_binary(base, X, y)
    sides = [(X[rows], None if weights is None else weights[rows]) for rows in (with_label, without)]
    n_counted = n_rarer if weights is None else min(of_side.sum() for _, of_side in sides if of_side is not None)
    n_clusters = int(np.ceil(ratio * n_counted))
    with threadpool_limits(1, user_api="openmp"):  # a limit of OpenMP holds for the thread that sets it
        centers = np.vstack([_centers(rows, n_clusters, seed, of_side) for rows, of_side in sides])
    if not hasattr(base, "predict_proba"):
        if n_rarer == 1:  # no row can be held out
            return np.empty((0, X.shape[1])), BinaryModel(None, is_majority(y, weights))
        base = _calibrated(base, min(5, n_rarer))
    return centers, fit_binary(base, distances_to(X, centers), y, weights=weights)


def _centers(X: Matrix, n_clusters: int, seed: int, weights: Weights) -> NDArray[np.float64]:
    # More clusters than distinct rows: every distinct row is a center.
    distinct = np.unique(X.toarray() if is_sparse(X) else X, axis=0) if X.shape[0] <= 4 * n_clusters else None
    if distinct is not None and len(distinct) <= n_clusters:
        return distinct
    fitted = KMeans(n_clusters, n_init=1, random_state=seed).fit(X, sample_weight=weights)
    centers: NDArray[np.float64] = fitted.cluster_centers_
    return centers


def distances_to(X: Matrix, centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the Euclidean distances of rows to centers; if X is dense, from differences of each feature, for accuracy."""
    if not len(centers):  # of a constant label
        return np.zeros((X.shape[0], 0))
    distances: NDArray[np.float64] = euclidean_distances(X, centers) if is_sparse(X) else cdist(X, centers)
    return distances


def _calibrated(base: BaseEstimator, n_folds: int) -> CalibratedClassifierCV:
    """Add Platt scaling to a classifier: one model on all rows, and a sigmoid of held-out decision values."""
    return CalibratedClassifierCV(requesting_weights(base), method="sigmoid", ensemble=False, cv=n_folds)


def _decision(model: BinaryModel, Z: Matrix) -> NDArray[np.float64]:
    """Return the decision values of a model before its calibration."""
    if isinstance(model.estimator, CalibratedClassifierCV):
        return BinaryModel(model.estimator.calibrated_classifiers_[0].estimator).decision(Z)
    return model.decision(Z)
