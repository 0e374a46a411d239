"""Random permutations of rows: within strata, and of whole groups of rows."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes, SparseCodes
from labelsieve.errors import InputError

Rows = NDArray[np.intp]


def permutation_within(strata: NDArray[np.integer], random: np.random.RandomState) -> Rows:
    """A random permutation of the rows in which every row is replaced by one of its stratum.

    >>> permutation_within(np.array([0, 1, 2]), np.random.RandomState(0))
    array([0, 1, 2])
    """
    by_stratum = np.argsort(strata, kind="stable")
    order = np.empty(len(strata), dtype=np.intp)
    order[by_stratum] = np.lexsort((random.random_sample(len(strata)), strata))
    return order


def permuted_rows(codes: Codes, order: Rows) -> Codes:
    """Codes in which row ``i`` is row ``order[i]`` of ``codes``; no row is repeated."""
    if codes.dense is not None:
        return replace(codes, dense=codes.dense[order])
    assert codes.sparse is not None
    sparse = codes.sparse
    position = np.empty(len(order), dtype=np.uint32)
    position[order] = np.arange(len(order), dtype=np.uint32)
    rows, columns = position[sparse.rows], np.repeat(np.arange(codes.n_columns), np.diff(sparse.starts))
    by_column = np.lexsort((rows, columns))
    permuted = SparseCodes(sparse.starts, rows[by_column], sparse.codes[by_column], sparse.implicit)
    return replace(codes, sparse=permuted)


@dataclass(frozen=True)
class BlockPermutations:
    """Permutations of whole groups of rows.

    Attributes
    ----------
    rows : ndarray of int
        The rows of the first group, those of the second, and so on.
    sizes : ndarray of int
        Rows of every group.
    kinds : ndarray of int
        Groups of the same kind are exchanged: those of one stratum and, unless targets are constant inside of all groups, of
        one size.
    whole : bool
        Whether targets are constant inside of all groups: then all rows of a group take the targets of another group's first
        row, of any size.
    """

    rows: Rows
    sizes: NDArray[np.intp]
    kinds: NDArray[np.intp]
    whole: bool

    @classmethod
    def of_groups(cls, groups: NDArray[np.integer], strata: NDArray[np.integer], Y: Codes) -> "BlockPermutations":
        """The permutations that groups of rows allow, for these targets."""
        order = np.argsort(groups, kind="stable")
        starts = np.concatenate([[0], np.flatnonzero(np.diff(groups[order])) + 1])
        sizes, first = np.diff([*starts, len(order)]), order[starts]
        representative = np.empty(len(groups), dtype=np.intp)
        representative[order] = np.repeat(first, sizes)
        if (strata != strata[representative]).any():
            raise InputError("groups: a group has rows in several strata, so it cannot be exchanged; drop one of the two.")
        whole = all((Y.column(j) == Y.column(j)[representative]).all() for j in range(Y.n_columns))
        pairs = np.column_stack([strata[first], np.zeros_like(sizes) if whole else sizes])
        kinds = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
        if np.bincount(kinds).max() < 2:
            raise InputError(
                "groups: no two groups can be exchanged. Targets that vary inside of groups need groups of the same size (and "
                "stratum); targets that are constant inside of groups need two groups in a stratum."
            )
        return cls(order, sizes, kinds, whole)

    def draw(self, random: np.random.RandomState) -> Rows:
        """For every row the row whose targets it gets."""
        source = permutation_within(self.kinds, random)
        ends = np.cumsum(self.sizes)
        starts = ends - self.sizes
        taken = np.repeat(starts[source], self.sizes)
        if not self.whole:
            taken += np.arange(ends[-1]) - np.repeat(starts, self.sizes)  # row by row
        order = np.empty(ends[-1], dtype=np.intp)
        order[self.rows] = self.rows[taken]
        return order
