"""Nystrom's approximation of the redundancy matrix from some of its columns."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.search.redundancy_matrix import Redundancy

Array = NDArray[np.float64]

_NOTHING = 1e-12  # smaller eigenvalues, relative to the largest, are rounding


class Nystrom:
    r""":math:`\tilde H = C A^+ C'` with :math:`C` some columns of :math:`H` and :math:`A` their rows in it.

    Rodriguez-Lujan, Huerta, Elkan and Cruz (2010). :math:`\tilde H` is positive semi-definite: eigenvalues of
    :math:`A` that are not positive are left out. Up to those it agrees with :math:`H` in the sampled rows and columns.

    Parameters
    ----------
    matrix : Redundancy
    sample : ndarray of int
        Indices of the sampled columns.

    Notes
    -----
    Cost: one pass over pairs for each sampled column, :math:`r^3` for their eigenvalues, and :math:`8 d r` bytes. The products
    are numpy's: their last bits may depend on its threads (the selector allows it one), never on ours.

    Examples
    --------
    >>> from labelsieve.counting.codes import Codes
    >>> matrix = Redundancy(Codes.from_values([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    >>> Nystrom(matrix, np.array([0, 2])).column(1).round(12)
    array([1., 1., 0.])
    """

    def __init__(self, matrix: Redundancy, sample: NDArray[np.intp]) -> None:
        columns = np.column_stack([matrix.column(int(j)) for j in sample])
        values, vectors = np.linalg.eigh(columns[sample])
        positive = values > _NOTHING * max(values[-1], np.finfo(float).tiny)
        self._factor = columns @ (vectors[:, positive] / np.sqrt(values[positive]))
        self.diagonal: Array = np.einsum("ij,ij->i", self._factor, self._factor)

    def __len__(self) -> int:
        return len(self._factor)

    def column(self, j: int) -> Array:
        """Column ``j`` of the approximation."""
        column: Array = self._factor @ self._factor[j]
        return column

    def mean(self) -> float:
        """The mean of all entries."""
        sums = self._factor.sum(axis=0)
        return float(sums @ sums) / len(self) ** 2
