"""ML-kNN: the posterior probability of a label given the number of neighbors that have it."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.classifiers.brknn import BaseNeighborClassifier
from labelsieve.classifiers.nearest_neighbors import LabelVotes, Neighbors
from labelsieve.counting.checked_parameters import POSITIVE, parameter
from labelsieve.table_types import Matrix


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
