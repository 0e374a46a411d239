"""Random permutations of rows, within strata or of whole groups, and p-values from them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError
from labelsieve.information import conditional_mutual_information, mutual_information
from labelsieve.progress import progress_bar
from labelsieve.tables.codes import Codes, SparseCodes

Real = NDArray[np.float64]
Rows = NDArray[np.intp]
Draw = Callable[[np.random.RandomState], NDArray[np.intp]]
ENOUGH = 20  # permutations at least as informative after which a pair needs no more
CODES_AT_ONCE = 2**24  # rows times columns of the permuted targets that are counted together
VALUES_AT_ONCE = 2**22  # values of their information
ROUNDING = 1e-11  # nats: tables that differ in the order of their levels only have the same information up to rounding


def permutation_p_values(
    X: Codes,
    Y: Codes,
    wanted: NDArray[np.bool_],
    *,
    draw: Draw,
    n_permutations: int,
    seed: int,
    strata: Codes | None = None,
    n_jobs: int | None = None,
) -> Real:
    r"""Compute p-values of the pairs ``wanted`` of a feature (rows) and a target (columns); NaN for the others.

    The rows of the targets are permuted :math:`B` times, all targets together, and the information (given the strata, if there
    are any) is counted again:

    .. math:: p = \frac{1 + \#\{b : I^{(b)} \ge I\}}{1 + B},

    or :math:`p = h / l` for a pair that :math:`h = 20` of the first :math:`l` permutations have reached (Besag and Clifford
    1991). Both are valid for every pair: if the permuted data are as likely as the observed ones, :math:`P(p \le u) \le u`.

    Cost: up to :math:`B` times counting the pairs that are left; many permutations are counted at once.
    """
    p_values = np.full(wanted.shape, np.nan)
    targets = np.flatnonzero(wanted.any(axis=0))
    at_once = max(1, CODES_AT_ONCE // (4 * max(1, X.n_rows)))
    with progress_bar("permutations of the rows") as progress:
        for first in range(0, len(targets), at_once):
            chunk = targets[first : first + at_once]
            some = Y.take_columns(chunk)
            counter = _Counter(X, Codes(some.n_rows, some.levels, dense=some.to_dense()), strata, n_jobs)
            random = np.random.RandomState(seed)  # the same permutations for all chunks
            left, reached = wanted[:, chunk].copy(), np.zeros((len(wanted), len(chunk)), dtype=np.int64)
            of_chunk, n_done, batch = np.full(left.shape, np.nan), 0, 16
            while n_done < n_permutations and left.any():
                counter.keep(left)
                size = counter.fitting(min(batch, n_permutations - n_done))
                total = reached[counter.pairs][:, np.newaxis] + counter.reached([draw(random) for _ in range(size)])
                # A pair that enough permutations have reached is decided, with the number of permutations drawn until then.
                stops = (total[:, -1] >= ENOUGH) & left[counter.pairs]
                when = n_done + 1 + (total >= ENOUGH).argmax(axis=1)
                of_chunk[counter.pairs] = np.where(stops, ENOUGH / when, of_chunk[counter.pairs])
                reached[counter.pairs] = total[:, -1]
                left[counter.pairs] &= ~stops
                n_done, batch = n_done + size, batch * 2
                progress(first * n_permutations + n_done * len(chunk), len(targets) * n_permutations)
            of_chunk[left] = (1 + reached[left]) / (1 + n_permutations)
            p_values[:, chunk] = of_chunk
    return p_values


class _Counter:
    """Counts how many permutations reach the observed information, for the features and targets that are left."""

    def __init__(self, X: Codes, Y: Codes, strata: Codes | None, n_jobs: int | None) -> None:
        self._X, self._Y, self._strata, self._n_jobs = X, Y, strata, n_jobs
        self._shape = 0, 0

    def keep(self, left: NDArray[np.bool_]) -> None:
        """Drop features and targets without a pair that still needs permutations."""
        features, targets = np.flatnonzero(left.any(axis=1)), np.flatnonzero(left.any(axis=0))
        if (len(features), len(targets)) == self._shape:
            return
        self._shape, self.pairs = (len(features), len(targets)), np.ix_(features, targets)
        self._features, self._targets = self._X.take_columns(features), self._Y.take_columns(targets)
        self._observed = self._information(self._targets)

    def fitting(self, size: int) -> int:
        """Return how many permutations, up to ``size``, can be counted together."""
        d, q = self._shape
        return max(1, min(size, CODES_AT_ONCE // (self._X.n_rows * q), VALUES_AT_ONCE // (d * q)))

    def reached(self, orders: list[NDArray[np.intp]]) -> NDArray[np.int64]:
        """Count the permutations so far that reach the observed information: shape (features, permutations, targets)."""
        dense, levels = np.asarray(self._targets.dense), self._targets.levels
        permuted = np.concatenate([dense[order] for order in orders], axis=1)
        values = self._information(Codes(len(dense), np.tile(levels, len(orders)), dense=permuted))
        values = values.reshape(len(values), len(orders), -1)
        return np.cumsum(values >= self._observed[:, np.newaxis] - ROUNDING, axis=1)

    def _information(self, targets: Codes) -> Real:
        if self._strata is None:
            return mutual_information(self._features, targets, n_jobs=self._n_jobs)
        return conditional_mutual_information(self._features, targets, self._strata, n_jobs=self._n_jobs)


def permutation_within(strata: NDArray[np.integer], random: np.random.RandomState) -> Rows:
    """Draw a random permutation of the rows in which every row is replaced by one of its stratum.

    >>> permutation_within(np.array([0, 1, 2]), np.random.RandomState(0))
    array([0, 1, 2])
    """
    by_stratum = np.argsort(strata, kind="stable")
    order = np.empty(len(strata), dtype=np.intp)
    order[by_stratum] = np.lexsort((random.random_sample(len(strata)), strata))
    return order


@dataclass(frozen=True)
class BlockPermutations:
    """Permutations of whole groups of rows.

    Groups of the same kind are exchanged: those of one stratum and, unless targets are constant inside of all groups, of one
    size. Where they are constant, all rows of a group take the targets of another group's first row.
    """

    rows: Rows  # of the first group, those of the second, and so on
    sizes: NDArray[np.intp]  # rows of every group
    kinds: NDArray[np.intp]
    whole: bool  # targets are constant inside of all groups

    @classmethod
    def of_groups(cls, groups: NDArray[np.integer], strata: NDArray[np.integer], Y: Codes) -> "BlockPermutations":
        """Find which groups of rows may be exchanged, for these targets."""
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
        """Draw for every row the row whose targets it gets."""
        source = permutation_within(self.kinds, random)
        ends = np.cumsum(self.sizes)
        starts = ends - self.sizes
        taken = np.repeat(starts[source], self.sizes)
        if not self.whole:
            taken += np.arange(ends[-1]) - np.repeat(starts, self.sizes)  # row by row
        order = np.empty(ends[-1], dtype=np.intp)
        order[self.rows] = self.rows[taken]
        return order


def permuted_rows(codes: Codes, order: Rows) -> Codes:
    """Return codes in which row ``i`` is row ``order[i]`` of ``codes``; no row is repeated."""
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
