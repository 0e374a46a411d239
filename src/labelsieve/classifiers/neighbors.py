"""Neighbor methods: BR-kNN, ML-kNN, IBLR and regression by neighbors."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted, check_X_y

from labelsieve.classifiers.base import MultiLabelClassifier, read_numbers, unknown_label
from labelsieve.classifiers.logistic_newton import _NewtonLogistic
from labelsieve.classifiers.nearest_neighbors import LabelVotes, Neighbors, Searcher, Ties, nearest_neighbors
from labelsieve.errors import InputError
from labelsieve.parameters import AT_LEAST_ONE, POSITIVE, CheckedParameters, parameter
from labelsieve.tables.features import required
from labelsieve.tables.frames import read_values
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, is_sparse


@dataclass(eq=False, repr=False)
class BaseNeighborEstimator(CheckedParameters, BaseEstimator):  # type: ignore[misc]
    """Parameters and queries of a neighbor search.

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
        """Of query rows; None: of the training rows themselves."""
        return nearest_neighbors(self._X, X, k=self.k, ties=self.ties, n_jobs=self.n_jobs, backend=self.backend)


class BaseNeighborClassifier(MultiLabelClassifier, BaseNeighborEstimator):
    """A classifier with one neighbor search for all labels. Subclasses learn from neighbors and labels, few also from X."""

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Store the rows, and learn from the labels of their neighbors."""
        self._X, labels, known = self._read_known(X, y)
        self._parts: list[tuple[NDArray[np.intp], Any]] = []
        if known is not None:
            if not self._labels_are_separate:
                raise InputError(unknown_label(known))
            self._learn_parts(labels, known)
            return self
        needed = self._needs_neighbors_of_rows
        self._learn(self._X, self._neighbors(None) if needed else None, labels)
        return self

    _needs_neighbors_of_rows = True

    @property
    def _labels_are_separate(self) -> bool:
        """True if a label does not depend on the others, so that each can be learned from its known rows."""
        return False

    def _learn_parts(self, labels: sp.csr_matrix, known: NDArray[np.bool_]) -> None:
        """One classifier for the labels that are known in the same rows."""
        patterns, group = np.unique(known, axis=1, return_inverse=True)
        for pattern, rows in enumerate(patterns.T):
            columns = np.flatnonzero(group.ravel() == pattern)
            kept = np.flatnonzero(rows)
            self._parts.append((columns, clone(self).fit(self._X[kept], labels[kept][:, columns])))

    @property
    def _needs_features(self) -> bool:
        return False

    def _learn(self, X: Matrix, neighbors: Neighbors | None, labels: sp.csr_matrix) -> None:
        """Learn from the other training rows near each row. ``X`` may be None unless ``_needs_features``."""
        raise NotImplementedError

    def _estimate(self, X: Matrix, neighbors: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Probability of each label from the neighbors of the query rows; written to ``out`` if that is given."""
        raise NotImplementedError

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

    def _estimate(self, X: Matrix, neighbors: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        frequencies = LabelVotes.of(self._labels).counts(neighbors, self.n_jobs, out)
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
        return self._extended(self._estimate(X, neighbors), neighbors)

    def _extended(self, probabilities: NDArray[np.float64], neighbors: Neighbors) -> NDArray[np.bool_]:
        check_is_fitted(self)
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
        longest = max(self.k, int(neighbors.counts.max(initial=0)))
        both = self._votes.histograms(neighbors, longest, self.n_jobs)
        self.prior_ = (self.s + n_present) / (2 * self.s + n_rows)
        self.conditional_ = (self.s + both) / (self.s * (longest + 1) + both.sum(axis=2, keepdims=True))
        present, absent = (
            self.prior_[:, np.newaxis] * self.conditional_[1],
            (1 - self.prior_)[:, np.newaxis] * self.conditional_[0],
        )
        self._posterior = present / (present + absent)

    def _estimate(self, X: Matrix, neighbors: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        return self._votes.look_up(neighbors, self._posterior, self.n_jobs, out)


MAX_NEWTON_INPUTS = 500  # above, a step of Newton's method takes seconds (92 s for a label of bibtex with 1,836 features)


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
        None: logistic regression on standardized inputs with the weak penalty of Weka (a ridge of 1e-8, ``C=5e7``), so that
        coefficients are finite for labels that the inputs separate. It is solved by Newton's method until it converges; with
        more than 500 inputs, by scikit-learn's ``newton-cg`` to a gradient of 1e-8, where confidences of labels that the inputs
        separate depend on the tolerance.
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

    def _learn(self, X: Matrix, neighbors: Neighbors | None, labels: sp.csr_matrix) -> None:
        assert neighbors is not None
        self._labels = labels
        self._dense_features = not is_sparse(X)
        inputs = self._inputs(X, neighbors)
        columns = labels.toarray().T
        base = self.base
        if base is None:
            base = _regression(inputs)
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(clone(base).fit)(inputs, column) for column in columns if 0 < column.sum() < len(column)
        )
        remaining = iter(fitted)
        self.estimators_ = [next(remaining) if 0 < column.sum() < len(column) else None for column in columns]
        self._always = columns.all(axis=1)

    def _inputs(self, X: Matrix, neighbors: Neighbors) -> Matrix:
        # A single training row has no neighbors: all frequencies are 0.
        counts = LabelVotes.of(self._labels).counts(neighbors, self.n_jobs)
        frequencies = counts / np.maximum(neighbors.counts, 1)[:, np.newaxis]
        if not self.with_features:
            return frequencies
        if self._dense_features and is_sparse(X):  # the regressions were fitted to centered inputs
            X = X.toarray()
        return sp.hstack([X, sp.csr_matrix(frequencies)], format="csr") if is_sparse(X) else np.hstack([X, frequencies])

    def _estimate(self, X: Matrix, neighbors: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        inputs = self._inputs(X, neighbors)
        probabilities = np.empty((inputs.shape[0], self.n_labels_)) if out is None else out
        for label, estimator in enumerate(self.estimators_):
            probabilities[:, label] = self._always[label] if estimator is None else estimator.predict_proba(inputs)[:, 1]
        return probabilities


def _regression(inputs: Matrix) -> BaseEstimator:
    """The unfitted logistic regression for inputs of this shape."""
    if inputs.shape[1] <= MAX_NEWTON_INPUTS:
        return _NewtonLogistic()
    scaler = StandardScaler(with_mean=not is_sparse(inputs))
    return make_pipeline(scaler, LogisticRegression(C=5e7, solver="newton-cg", max_iter=1000, tol=1e-8))


class KNNRegressor(RegressorMixin, BaseNeighborEstimator):  # type: ignore[misc]
    """The mean of the targets of the nearest rows, from one search for all targets [Sechidis et al. 2019, section 5, k = 10].

    Notes
    -----
    Cost: that of :func:`~labelsieve.classifiers.nearest_neighbors` for each prediction; ``fit`` stores the
    rows.

    Examples
    --------
    >>> KNNRegressor(k=2).fit([[0.0], [1.0], [5.0]], [[1.0, 10.0], [3.0, 20.0], [9.0, 9.0]]).predict([[0.4]])
    array([[ 2., 15.]])
    """

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Store the rows."""
        self._X, targets = self._read(X, y)
        self._learn(self._X, None, targets)
        return self

    _needs_neighbors_of_rows = _needs_features = False

    def _read(self, X: TableLike, y: TargetsLike | None) -> tuple[Matrix, NDArray[Any]]:
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

    def _estimate(self, X: Matrix, neighbors: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        means: NDArray[np.float64] = np.divide(neighbors.sum(self._targets), neighbors.counts[:, np.newaxis], out=out)
        return means[:, 0] if self._one_target else means

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """The targets of every row."""
        X = self._read_queries(X)
        return self._estimate(X, self._neighbors(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags
