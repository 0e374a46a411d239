"""Learners from nearest neighbors: BR-kNN, ML-kNN, IBLR and a regressor, and their predictions from nested sets of features."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, check_X_y

from labelsieve.classifiers.base import MultiLabelClassifier, read_numbers, unknown_label
from labelsieve.classifiers.neighbor_search import LabelVotes, Neighbors, Searcher, Ties, nearest_neighbors, nested_neighbors
from labelsieve.errors import InputError
from labelsieve.parameters import (
    AT_LEAST_ONE,
    POSITIVE,
    CheckedParameters,
    HasMethods,
    checked_fit,
    checked_meta_fit,
    parameter,
)
from labelsieve.tables.frames import read_values
from labelsieve.tables.magnitude import check_for_models
from labelsieve.tables.problem import required
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, is_sparse


@dataclass(eq=False, repr=False)
class BaseNeighborEstimator(CheckedParameters, BaseEstimator):
    """The parameters of a neighbor search, and the search itself.

    Parameters
    ----------
    k : int, default=10
        Number of neighbors.
    ties : {"first", "all"}, default="first"
        Exactly ``k`` neighbors, or all rows at most as far as the ``k``-th (as in Weka and Mulan).
    n_jobs : int, default=None
        Threads.
    backend : {"native", "gpu"}, default="native"
        Where neighbors are searched: in the compiled core, or on a GPU, for dense rows and ``ties="first"``. The predictions do
        not depend on it.
    """

    k: int = parameter(10, AT_LEAST_ONE)
    _: KW_ONLY
    ties: Ties = "first"
    n_jobs: int | None = None
    backend: Searcher = "native"

    def _neighbors(self, X: Matrix | None) -> Neighbors:
        """Search the neighbors of query rows; None: of the training rows themselves."""
        return nearest_neighbors(self._X, X, k=self.k, ties=self.ties, n_jobs=self.n_jobs, backend=self.backend)


class BaseNeighborClassifier(MultiLabelClassifier, BaseNeighborEstimator):
    """A classifier with one neighbor search for all labels. Subclasses learn from neighbors and labels, few also from X."""

    _needs_neighbors_of_rows = True  # whether it learns from the neighbors of the training rows

    @property
    def _needs_features(self) -> bool:
        """Whether it learns from X itself."""
        return False

    @property
    def _labels_are_separate(self) -> bool:
        """Whether a label does not depend on the others, so that each can be learned from its known rows."""
        return False

    def _learn(self, X: Matrix, neighbors: Neighbors | None, labels: sp.csr_matrix) -> None:
        """Learn from the other training rows near each row. ``X`` may be None unless ``_needs_features``."""
        raise NotImplementedError

    def _estimate(self, X: Matrix, neighbors: Neighbors) -> NDArray[np.float64]:
        """Return the probability of each label from the neighbors of the query rows."""
        raise NotImplementedError

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Store the rows, and learn from the labels of their neighbors."""
        self._X, labels, known, _ = self._read_known(X, y)
        self._parts: list[tuple[NDArray[np.intp], Any]] = []
        if known is None:
            self._learn(self._X, self._neighbors(None) if self._needs_neighbors_of_rows else None, labels)
        elif self._labels_are_separate:
            self._learn_parts(labels, known)
        else:
            raise InputError(unknown_label(known))
        return self

    def _learn_parts(self, labels: sp.csr_matrix, known: NDArray[np.bool_]) -> None:
        """Fit one classifier for the labels that are known in the same rows."""
        patterns, group = np.unique(known, axis=1, return_inverse=True)
        for pattern, rows in enumerate(patterns.T):
            columns = np.flatnonzero(group.ravel() == pattern)
            kept = np.flatnonzero(rows)
            self._parts.append((columns, clone(self).fit(self._X[kept], labels[kept][:, columns])))

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        if not self._parts:
            return self._estimate(X, self._neighbors(X))
        probabilities = np.empty((X.shape[0], self.n_labels_))
        for columns, part in self._parts:
            probabilities[:, columns] = part._label_probabilities(X)
        return probabilities


@dataclass(eq=False, repr=False)
class BRkNN(BaseNeighborClassifier):
    """Binary relevance with k nearest neighbors [Spyromitros, Tsoumakas and Vlahavas 2008].

    The probability of a label is its frequency among the neighbors.

    Parameters
    ----------
    smoothing : {None, "mulan"}, default=None
        Mulan's confidence :math:`(c + 1/N) / (k + q/N)` in place of :math:`c / k`.
    extension : {None, "a", "b"}, default=None
        The predicted labels: those of more than half of the neighbors; (a) also the most probable label if there is no other;
        (b) the ``s`` most probable labels, ``s`` being the mean number of labels of the neighbors, a half rounded down. Ties
        go to the first label.

    Notes
    -----
    Cost: that of :func:`~labelsieve.classifiers.nearest_neighbors` for each prediction; ``fit`` stores the rows. Labels may be
    unknown (NaN) in some rows, unless there is smoothing or an extension: each has the neighbors in which it is known, which
    costs a search for every set of rows in which labels are known.

    Examples
    --------
    >>> BRkNN(k=2).fit([[0.0], [1.0], [5.0], [6.0]], [[1, 0], [1, 1], [0, 1], [0, 1]]).predict_proba([[0.4], [5.5]])
    array([[1. , 0.5],
           [0. , 1. ]])
    """

    _needs_neighbors_of_rows = False

    _: KW_ONLY
    smoothing: Literal["mulan"] | None = None
    extension: Literal["a", "b"] | None = None

    def _learn(self, X: Matrix, neighbors: Neighbors | None, labels: sp.csr_matrix) -> None:
        self._labels = labels.astype(np.int32)

    def _estimate(self, X: Matrix, neighbors: Neighbors) -> NDArray[np.float64]:
        frequencies = LabelVotes.of(self._labels).counts(neighbors, self.n_jobs)
        n_rows, n_labels = self._labels.shape
        smoothing = 1 / n_rows if self.smoothing == "mulan" else 0.0
        frequencies += smoothing
        frequencies /= neighbors.counts[:, np.newaxis] + n_labels * smoothing
        return frequencies

    @property
    def _labels_are_separate(self) -> bool:
        return self.smoothing is None and self.extension is None

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        if self._parts:
            return super()._present(X)
        neighbors = self._neighbors(X)
        probabilities = self._estimate(X, neighbors)
        present: NDArray[np.bool_] = probabilities > 0.5
        if self.extension == "a":
            empty = ~present.any(axis=1)
            present[empty, probabilities[empty].argmax(axis=1)] = True
        elif self.extension == "b":
            sizes = np.asarray(self._labels.sum(axis=1))
            n_predicted = np.ceil(neighbors.sum(sizes)[:, 0] / neighbors.counts - 0.5)
            ranks = np.argsort(np.argsort(-probabilities, axis=1, kind="stable"), axis=1)
            present = ranks < n_predicted[:, np.newaxis]
        return present


@dataclass(eq=False, repr=False)
class MLkNN(BaseNeighborClassifier):
    r"""Multi-label k nearest neighbors [Zhang and Zhou 2007].

    If :math:`C` neighbors of a row have a label, its probability is :math:`P(1) P(C \mid 1) / \sum_b P(b) P(C \mid b)`, where
    :math:`P(1) = (s + n_1) / (2s + n)` and :math:`P(j \mid b) = (s + c_b[j]) / (s (k + 1) + \sum_i c_b[i])`; :math:`c_b[j]`
    counts the training rows with the label (:math:`b = 1`) or without it that have :math:`j` neighbors with it, not counting
    the row itself.

    Parameters
    ----------
    s : float, default=1.0
        Smoothing; 1 is Laplace smoothing.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        :math:`P(1)`.
    conditional_ : ndarray of shape (2, n_labels, k + 1)
        :math:`P(j \mid 0)` and :math:`P(j \mid 1)`; longer than ``k + 1`` if ties add neighbors.

    Notes
    -----
    Cost: a search for the neighbors of all training rows, then of the query rows. Labels may be unknown (NaN) in some rows:
    each is learned from the rows in which it is known, with a search for every set of such rows.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> MLkNN(k=2).fit(X, Y).predict([[0.05], [5.05]])
    array([[1, 0],
           [0, 1]])
    """

    _: KW_ONLY
    s: float = parameter(1.0, POSITIVE)

    @property
    def _labels_are_separate(self) -> bool:
        return True

    def _learn_parts(self, labels: sp.csr_matrix, known: NDArray[np.bool_]) -> None:
        super()._learn_parts(labels, known)
        longest = max(part.conditional_.shape[2] for _, part in self._parts)
        self.prior_ = np.empty(labels.shape[1])
        self.conditional_ = np.zeros((2, labels.shape[1], longest))
        for columns, part in self._parts:
            self.prior_[columns] = part.prior_
            self.conditional_[:, columns, : part.conditional_.shape[2]] = part.conditional_

    def _learn(self, X: Matrix, neighbors: Neighbors | None, labels: sp.csr_matrix) -> None:
        assert neighbors is not None
        self._votes = LabelVotes.of(labels)
        n_rows, n_present = labels.shape[0], np.bincount(labels.indices, minlength=labels.shape[1])
        longest = max(self.k, int(neighbors.counts.max(initial=0)))  # ties may add neighbors
        both = self._votes.histograms(neighbors, longest, self.n_jobs)
        self.prior_ = (self.s + n_present) / (2 * self.s + n_rows)
        self.conditional_ = (self.s + both) / (self.s * (longest + 1) + both.sum(axis=2, keepdims=True))
        present = self.prior_[:, np.newaxis] * self.conditional_[1]
        absent = (1 - self.prior_)[:, np.newaxis] * self.conditional_[0]
        self._posterior = present / (present + absent)

    def _estimate(self, X: Matrix, neighbors: Neighbors) -> NDArray[np.float64]:
        return self._votes.look_up(neighbors, self._posterior, self.n_jobs)


MAX_CHOLESKY_INPUTS = 500  # above, decompositions take seconds for a label (92 s for one of bibtex with 1,836 features)
WEKA_RIDGE = 1e-8


@dataclass(eq=False, repr=False)
class IBLR(BaseNeighborClassifier):
    """Instance-based learning and logistic regression combined [Cheng and Hüllermeier 2009].

    For each label a logistic regression on the frequencies of all labels among the neighbors (IBLR-ML), or on these and the
    features (IBLR-ML+). A training row is not its own neighbor.

    Parameters
    ----------
    with_features : bool, default=False
        IBLR-ML+: the features are inputs too.
    base : classifier with ``predict_proba``, default=None
        None: scikit-learn's logistic regression on standardized inputs with the weak penalty of Weka (a ridge of 1e-8,
        ``C=5e7``), by Newton's method (``newton-cholesky``); with more than 500 inputs by ``newton-cg``, which needs no matrix
        of all pairs of inputs. Where the inputs separate a label, its probabilities are near 0 and 1, and depend on the
        tolerance of the solver.
    n_jobs : int, default=None
        Number of threads, and of labels that are fitted in parallel.

    Attributes
    ----------
    estimators_ : list
        One for each label; None for a constant label of the training rows, with probability 1 or 0.

    Notes
    -----
    Cost: a search for the neighbors of all training rows, then ``n_labels`` regressions on ``n_labels`` inputs.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> Y = np.column_stack([X[:, 0] < 6, X[:, 0] % 2 == 0]).astype(int)
    >>> IBLR(k=3).fit(X, Y).predict([[1.2], [9.9]])[:, 0]
    array([1, 0])
    """

    _: KW_ONLY
    with_features: bool = False
    base: BaseEstimator | None = parameter(None, HasMethods(["fit", "predict_proba"]))

    @property
    def _needs_features(self) -> bool:
        return self.with_features

    def _base(self) -> Any:
        return self.base

    def _learn(self, X: Matrix, neighbors: Neighbors | None, labels: sp.csr_matrix) -> None:
        assert neighbors is not None
        if self.with_features:
            check_for_models("IBLR", X)
        self._labels = labels
        self._dense_features = not is_sparse(X)
        inputs = self._inputs(X, neighbors)
        columns = labels.toarray().T
        base = _regression(inputs) if self.base is None else self.base
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(clone(base).fit)(inputs, column) for column in columns if 0 < column.sum() < len(column)
        )
        remaining = iter(fitted)
        self.estimators_ = [next(remaining) if 0 < column.sum() < len(column) else None for column in columns]
        self._always = columns.all(axis=1)

    def _inputs(self, X: Matrix, neighbors: Neighbors) -> Matrix:
        """Return the inputs of the regressions: frequencies of the labels among the neighbors, with or without features."""
        # A single training row has no neighbors: all frequencies are 0.
        counts = LabelVotes.of(self._labels).counts(neighbors, self.n_jobs)
        frequencies = counts / np.maximum(neighbors.counts, 1)[:, np.newaxis]
        if not self.with_features:
            return frequencies
        if self._dense_features and is_sparse(X):  # the regressions were fitted to centered inputs
            X = X.toarray()
        return sp.hstack([X, sp.csr_matrix(frequencies)], format="csr") if is_sparse(X) else np.hstack([X, frequencies])

    def _estimate(self, X: Matrix, neighbors: Neighbors) -> NDArray[np.float64]:
        inputs = self._inputs(X, neighbors)
        probabilities = np.empty((inputs.shape[0], self.n_labels_))
        for label, estimator in enumerate(self.estimators_):
            probabilities[:, label] = self._always[label] if estimator is None else estimator.predict_proba(inputs)[:, 1]
        return probabilities


def _regression(inputs: Matrix) -> BaseEstimator:
    """Return the unfitted logistic regression of IBLR for inputs of this shape."""
    # A weak penalty leaves the likelihood nearly flat where a label is separable: only a tiny tolerance ends at the minimum.
    solver, tol = ("newton-cholesky", 1e-13) if inputs.shape[1] <= MAX_CHOLESKY_INPUTS else ("newton-cg", 1e-8)
    regression = LogisticRegression(C=0.5 / WEKA_RIDGE, solver=solver, tol=tol, max_iter=1000)
    return make_pipeline(StandardScaler(with_mean=not is_sparse(inputs)), regression)


class KNNRegressor(RegressorMixin, BaseNeighborEstimator):
    """Predicts the mean targets of the nearest rows, from one search for all targets [Sechidis et al. 2019, section 5].

    Notes
    -----
    Cost: that of :func:`~labelsieve.classifiers.nearest_neighbors` for each prediction; ``fit`` stores the
    rows.

    Examples
    --------
    >>> KNNRegressor(k=2).fit([[0.0], [1.0], [5.0]], [[1.0, 10.0], [3.0, 20.0], [9.0, 9.0]]).predict([[0.4]])
    array([[ 2., 15.]])
    """

    _needs_neighbors_of_rows = _needs_features = False

    @checked_fit
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Store the training rows and their targets; neighbors are searched when a prediction is made."""
        self._X, targets = self._read(X, y)
        self._learn(self._X, None, targets)
        return self

    def _read(self, X: TableLike, y: TargetsLike | None) -> tuple[Matrix, NDArray[Any]]:
        """Read X and the numeric targets."""
        if is_sparse(y):
            raise InputError("Y is a sparse matrix, and numeric targets must be an array; use Y.toarray().")
        numbers = read_numbers(self, X)
        rows: Matrix
        targets: NDArray[Any]
        rows, targets = check_X_y(
            numbers,
            read_values(required(self, y), "Y"),
            accept_sparse="csr",
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
        )
        if not np.isfinite(targets).all():  # scikit-learn does not check all objects
            raise InputError("Input y contains NaN or infinity; every target must be known.")
        return rows, targets

    def _read_queries(self, X: TableLike) -> Matrix:
        check_is_fitted(self)
        return read_numbers(self, X, reset=False)

    def _learn(self, X: Matrix, neighbors: Neighbors | None, targets: NDArray[Any]) -> None:
        self._one_target = targets.ndim == 1
        self._targets = targets.reshape(len(targets), -1).astype(np.float64)

    def _estimate(self, X: Matrix, neighbors: Neighbors) -> NDArray[np.float64]:
        means: NDArray[np.float64] = neighbors.sum(self._targets) / neighbors.counts[:, np.newaxis]
        return means[:, 0] if self._one_target else means

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the targets of every row."""
        X = self._read_queries(X)
        return self._estimate(X, self._neighbors(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


def nested_predictions(
    estimator: BaseNeighborClassifier | KNNRegressor,
    X: TableLike,
    Y: TargetsLike,
    queries: TableLike,
    *,
    features: Sequence[int],
    sizes: Sequence[int] | None = None,
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield predictions of a nearest-neighbor estimator with the best 1, 2, ..., features.

    Parameters
    ----------
    estimator : BRkNN, MLkNN, IBLR or KNNRegressor
        A clone of it is fitted.
    X, Y : array-like
        Training rows and their labels or targets.
    queries : array-like
        Rows to predict.
    features : sequence of int
        Columns, best first: ``selected_`` of a selector fitted on the same training rows.
    sizes : increasing sequence of int, default=None
        Numbers of features; None: 1 up to all.

    Yields
    ------
    size : int
        Number of features.
    predictions : ndarray
        ``predict_proba`` of a classifier, ``predict`` of a regressor: the same numbers as from a fit on those columns.

    Notes
    -----
    Cost: with ``n`` training rows and ``m`` queries, distances take ``(n + m) * n`` steps for each feature in place of
    ``(n + m) * n * size`` for each size; the search of neighbors and the fit are repeated for each size. The used columns are
    stored densely; small whole numbers take two bytes per row.

    Examples
    --------
    >>> X, Y = np.array([[0.0, 5.0], [1.0, 0.0], [9.0, 5.0]]), np.array([[1], [1], [0]])
    >>> for size, probabilities in nested_predictions(BRkNN(k=1), X, Y, [[6.0, 0.0]], features=[0, 1]):
    ...     print(size, probabilities)
    1 [[0.]]
    2 [[1.]]
    """
    if not isinstance(estimator, BaseNeighborClassifier | KNNRegressor):
        raise InputError(
            f"Nested predictions need a nearest-neighbor estimator (BRkNN, MLkNN, IBLR, KNNRegressor), not {estimator!r}."
        )
    fitted = clone(estimator)
    fitted._validate_params()
    table, labels, *_ = fitted._read(X, Y)
    searched = fitted._read_queries(queries)
    columns = checked_features(features, table.shape[1])
    neighbors = partial(
        nested_neighbors,
        table,
        features=columns.tolist(),
        sizes=sizes,
        k=fitted.k,
        ties=fitted.ties,
        n_jobs=fitted.n_jobs,
        backend=fitted.backend,
        distances=False,
    )
    of_queries = neighbors(searched)
    of_rows: list[Neighbors] | None = neighbors() if fitted._needs_neighbors_of_rows else None
    for step, size in enumerate(range(1, len(columns) + 1) if sizes is None else sizes):
        rows, points = (table[:, columns[:size]], searched[:, columns[:size]]) if fitted._needs_features else (None, None)
        fitted._learn(rows, None if of_rows is None else of_rows[step], labels)
        predictions = fitted._estimate(points, of_queries[step])
        yield int(size), fitted._in_form_of_y(predictions) if isinstance(fitted, BaseNeighborClassifier) else predictions


def checked_features(features: Sequence[int], n_features: int) -> NDArray[np.intp]:
    """Check a ranking of features, which are columns of X.

    >>> checked_features([2, 0], 3)
    array([2, 0])
    """
    columns = np.asarray(features)
    if columns.shape == (0,):
        raise InputError("features must not be empty.")
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or (columns < 0).any() or (columns >= n_features).any():
        raise InputError(f"features must be columns from 0 to {n_features - 1}.")
    return columns.astype(np.intp)
