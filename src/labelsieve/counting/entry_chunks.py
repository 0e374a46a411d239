"""The entries of chunks of rows: classes of the targets, given codes and weights.

An entry is a row of the targets. It belongs to one row of the features; a row index can name a row several times.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.counting.row_weights import RowWeights

CONSTANT = -1  # in place of a target: one class for all entries


class Entries(NamedTuple):
    """The entries of a chunk: their positions among all, and their rows in the chunk (None: all of its rows in order)."""

    where: slice | NDArray[np.intp]
    rows: NDArray[np.uint32] | None
    size: int


class EntryChunks:
    """Everything of a chunk that is not a feature.

    Parameters
    ----------
    Y, weights, row_index
        As for :class:`~labelsieve.counting.backends.protocol.BackendFactory`.
    """

    def __init__(self, Y: Codes, weights: RowWeights | None, row_index: NDArray[np.uint32] | None) -> None:
        self.Y, self._row_weights, self._row_index = Y, weights, row_index
        self.weights = None if weights is None else weights.of(row_index)
        self._order: NDArray[np.intp] | None = None
        if row_index is not None and (row_index[1:] < row_index[:-1]).any():
            self._order = np.argsort(row_index, kind="stable")
            self._row_index = row_index[self._order]

    def of_rows(self, start: int, n_rows: int) -> Entries:
        """The entries of ``n_rows`` rows from ``start``."""
        if self._row_index is None:
            return Entries(slice(start, start + n_rows), None, n_rows)
        low, high = np.searchsorted(self._row_index, (start, start + n_rows)).tolist()
        where = slice(low, high) if self._order is None else self._order[low:high]
        return Entries(where, self._row_index[low:high] - np.uint32(start), high - low)

    def row_weights(self, start: int, n_rows: int) -> NDArray[np.uint64] | None:
        """Weights of ``n_rows`` rows from ``start``."""
        return None if self._row_weights is None else self._row_weights.values[start : start + n_rows]

    def classes(self, entries: Entries, targets: Sequence[int]) -> NDArray[Any]:
        """``(entries, targets)``: codes of these targets."""
        Y = self.Y
        wide = Y.sparse is not None or (Y.dense is not None and Y.dense.dtype == np.uint16)
        out = np.zeros((entries.size, len(targets)), dtype=np.uint16 if wide else np.uint8, order="F")
        for position, target in enumerate(targets):
            if target == CONSTANT:
                continue
            if Y.dense is not None:
                out[:, position] = Y.dense[entries.where, target]
            elif isinstance(entries.where, slice):
                self._fill_sparse(out[:, position], entries.where, target)
            else:
                out[:, position] = Y.column(target)[entries.where]
        return out

    def _fill_sparse(self, out: NDArray[np.uint16], where: slice, target: int) -> None:
        sparse = self.Y.sparse
        assert sparse is not None
        listed = slice(sparse.starts[target], sparse.starts[target + 1])
        low, high = np.searchsorted(sparse.rows[listed], (where.start, where.stop))
        out[:] = sparse.implicit[target]
        out[sparse.rows[listed][low:high] - np.uint32(where.start)] = sparse.codes[listed][low:high]

    def sizes(self, column: NDArray[np.integer], n_levels: int) -> NDArray[np.int64]:
        """Entries of every level of a column, or their weight."""
        weights = None if self.weights is None else self.weights.values.astype(np.float64)
        return np.bincount(column, weights=weights, minlength=n_levels).astype(np.int64)  # exact: weights are below 2^53
