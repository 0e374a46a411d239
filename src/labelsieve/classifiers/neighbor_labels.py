"""Counts of the labels of neighbors, from the compiled core."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.classifiers.nearest_neighbors import Neighbors


@dataclass(frozen=True)
class LabelVotes:
    """The labels of the training rows: those of row ``i`` are ``labels[starts[i]:starts[i + 1]]``.

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
        """The labels of a 0/1 matrix in CSR format."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.shape[1])

    def histograms(self, neighbors: Neighbors, most: int, n_jobs: int | None = None) -> NDArray[np.int64]:
        """``[b, l, j]``: number of rows without (``b`` = 0) or with label ``l`` that have ``j`` neighbors with it.

        ``j`` ends at ``most``, which means ``most`` or more. ``neighbors`` are those of the training rows.
        Cost: one step for each label of each neighbor.
        """
        lists = neighbors.starts, neighbors.rows, self.starts, self.labels
        found = core.label_histograms(*lists, self.n_labels, most, effective_n_jobs(n_jobs))
        return found.reshape(2, self.n_labels, most + 1)

    def look_up(
        self,
        neighbors: Neighbors,
        table: NDArray[np.float64],
        n_jobs: int | None = None,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """``table[l, j]`` for each query and label ``l``, if ``j`` neighbors have the label; the last column: or more."""
        if out is None:
            out = np.empty((len(neighbors.starts) - 1, self.n_labels))
        lists = neighbors.starts, neighbors.rows, self.starts, self.labels
        core.label_answers(*lists, np.ascontiguousarray(table), out, effective_n_jobs(n_jobs))
        return out

    def counts(
        self, neighbors: Neighbors, n_jobs: int | None = None, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Number of neighbors with each label, for each query."""
        most = int(neighbors.counts.max(initial=0))
        return self.look_up(neighbors, np.tile(np.arange(most + 1.0), (self.n_labels, 1)), n_jobs, out)
