"""What the labels of neighbors tell, counted by the core."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.classifiers.nearest_neighbors import Neighbors


@dataclass(frozen=True)
class LabelVotes:
    """The labels of rows, whose neighbors are asked: those of row ``i`` are ``labels[starts[i]:starts[i + 1]]``.

    >>> import scipy.sparse as sp
    >>> from labelsieve.classifiers.nearest_neighbors import nearest_neighbors
    >>> votes = LabelVotes.of(sp.csr_matrix([[1, 0], [1, 1], [0, 1]]))
    >>> votes.counts(nearest_neighbors(np.array([[0.0], [1.0], [5.0]]), np.array([[0.4]]), k=2))
    array([[2., 1.]])
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.uint32]
    n_labels: int

    @classmethod
    def of(cls, matrix: Any) -> Self:
        """From a sparse matrix of zeros and ones in rows."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.shape[1])

    def histograms(self, own: Neighbors, most: int, n_jobs: int | None = None) -> NDArray[np.int64]:
        """``[b, l, j]``: how many rows without (``b`` = 0) or with label ``l`` have ``j`` neighbors with it, ``most`` or more.

        ``own`` are the neighbors of these rows. Cost: one step for each label of each neighbor.
        """
        lists = own.starts, own.rows, self.starts, self.labels
        found = core.label_histograms(*lists, self.n_labels, most, effective_n_jobs(n_jobs))
        return found.reshape(2, self.n_labels, most + 1)

    def answers(
        self,
        found: Neighbors,
        table: NDArray[np.float64],
        n_jobs: int | None = None,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """``table[l, j]`` for each query and label ``l`` that ``j`` of its neighbors have; the last column: or more."""
        if out is None:
            out = np.empty((len(found.starts) - 1, self.n_labels))
        lists = found.starts, found.rows, self.starts, self.labels
        core.label_answers(*lists, np.ascontiguousarray(table), out, effective_n_jobs(n_jobs))
        return out

    def counts(
        self, found: Neighbors, n_jobs: int | None = None, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """How many of the neighbors of each query have each label."""
        most = int(found.counts.max(initial=0))
        return self.answers(found, np.tile(np.arange(most + 1.0), (self.n_labels, 1)), n_jobs, out)
