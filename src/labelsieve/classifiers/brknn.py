"""Binary relevance with nearest neighbors: the probability of a label is its frequency among the nearest rows."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils.validation import check_is_fitted

from labelsieve.classifiers.base_classifier import MultiLabelClassifier
from labelsieve.classifiers.label_encoding import unknown_label
from labelsieve.classifiers.nearest_neighbors import LabelVotes, Neighbors, Searcher, Ties, nearest_neighbors
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, CheckedParameters, parameter
from labelsieve.errors import InputError
from labelsieve.table_types import Matrix, TableLike, TargetsLike


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
