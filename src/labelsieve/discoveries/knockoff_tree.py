"""Knockoffs of discrete columns whose joint distribution is a tree of pairwise dependences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from labelsieve.errors import InputError, not_negative
from labelsieve.information import Codes, mutual_information
from labelsieve.tables.types import TableLike

Real = NDArray[np.float64]
Integers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TreeKnockoffs:
    r"""Model-X knockoffs of discrete columns under a tree-structured model, exact for that model.

    Every column depends on one other column, its parent, and given the parent on no other column that is not below it. The tree
    of :meth:`from_codes` has the largest sum of mutual information (Chow and Liu 1968), and the conditional distributions are
    the observed ones. A knockoff is drawn by Metropolized knockoff sampling (Bates, Candès, Janson and Wang 2021). From the
    leaves to the root, column :math:`j` with parent :math:`a` has the distribution
    :math:`\pi_j(u) \propto p(u \mid x_a)\, m_j(u)` given all other columns and the knockoffs of those below it, and one step of
    a chain that is reversible for it leads from :math:`x_j` to the knockoff: Liu's (1996) Metropolized Gibbs sampler, which
    moves whenever it can, so that a column and its knockoff differ more than two independent draws. With K its probabilities,

    .. math:: K(u, v) = \frac{\pi(v)}{\max(1 - \pi(u), 1 - \pi(v))} \;\; (u \ne v), \quad
              m_j(u) = \prod_c Z_c\, \pi_c(x_c)\, K_c(x_c, \tilde x_c) ,

    where :math:`\pi_c` and its normalization :math:`Z_c` are those of child c for a parent of level u. Then
    :math:`(X, \tilde X)` has the same distribution after swapping any set of columns with their knockoffs, which is the
    property that the guarantee of the knockoff filter rests on.

    Attributes
    ----------
    codes : ndarray of int, shape (n_rows, n_columns)
        The columns.
    parents : ndarray of int, shape (n_columns,)
        The parent of every column; -1 for the root.
    order : ndarray of int
        Every column after its parent.
    tables : tuple of ndarray
        :math:`p(u \mid v)` for each column, shape (levels of the parent, levels); one row for the root.

    Notes
    -----
    Cost: the mutual information of all pairs of columns, once; then about :math:`n L^2` operations for each column
    and knockoff, with L levels.

    Examples
    --------
    >>> sampler = TreeKnockoffs.from_codes([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    >>> knockoffs = sampler.sample([np.random.default_rng(0)])
    >>> knockoffs.shape, bool((knockoffs[0, :, 0] == sampler.codes[:, 0]).all())  # equal columns determine each other
    ((1, 4, 3), True)
    """

    codes: Integers
    parents: Integers
    order: Integers
    tables: tuple[Real, ...]

    @classmethod
    def from_codes(cls, X: TableLike | Codes, *, smoothing: float = 0.0) -> Self:
        """Fit the tree of largest mutual information, with the observed conditional distributions.

        ``smoothing`` is added to every cell of the joint counts of a column and its parent. With 0, columns that determine each
        other in the data determine each other in the knockoffs, too.
        """
        smoothing = not_negative(smoothing, "smoothing")
        codes = Codes.from_values(X)
        if codes.has_missing:
            raise InputError("TreeKnockoffs needs a level for every cell: fill missing values, or take them as a level.")
        information = mutual_information(codes)
        parents, order = spanning_tree(information)
        dense, levels = codes.to_dense().astype(np.intp), codes.levels.astype(np.intp)
        tables = []
        for j, parent in enumerate(parents):
            n_above = levels[parent] if parent >= 0 else 1
            above = dense[:, parent] if parent >= 0 else 0
            observed = np.bincount(above * levels[j] + dense[:, j], minlength=n_above * levels[j]).reshape(n_above, levels[j])
            counts = observed + smoothing
            total = counts.sum(axis=1, keepdims=True)
            tables.append(np.divide(counts, total, out=np.full(counts.shape, 1 / levels[j]), where=total > 0))
        return cls(dense, parents, order, tuple(tables))

    def sample(self, generators: Sequence[np.random.Generator]) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Draw one set of knockoffs with each generator: an array of shape (n_repeats, n_rows, n_columns)."""
        few = all(table.shape[1] <= 256 for table in self.tables)
        copies = np.empty((len(generators), *self.codes.shape), dtype=np.uint8 if few else np.uint16)

        def draw(j: int, weights: Real) -> Integers:
            uniform = np.stack([generator.random(len(self.codes)) for generator in generators])
            drawn = _draw(weights, uniform)
            copies[:, :, j] = drawn
            return drawn

        self._walk(draw)
        return copies

    def probability(self, copies: ArrayLike) -> Real:
        """Return the probability of each row of knockoffs ``copies``, shape (n_repeats, n_rows, n_columns), given the codes."""
        given = np.asarray(copies)
        probability = np.ones(given.shape[:2])

        def follow(j: int, weights: Real) -> Integers:
            total = np.broadcast_to(weights.sum(axis=2, keepdims=True), weights.shape)
            shares = np.broadcast_to(_ratio(weights, total), (*given.shape[:2], weights.shape[2]))
            probability[...] *= np.take_along_axis(shares, given[:, :, [j]], axis=2)[..., 0]
            return np.asarray(given[:, :, j])

        self._walk(follow)
        return probability

    def _walk(self, choose: Callable[[int, Real], Integers]) -> None:
        """From the leaves to the root, choose the knockoffs of a column by the weights of its levels."""
        messages: dict[int, Real] = {}
        for j in map(int, self.order[::-1]):
            table, parent = self.tables[j], int(self.parents[j])
            of_children = messages.pop(j, None)
            given = self._given_parent(j)[np.newaxis]
            copies = choose(j, _moves(given if of_children is None else given * of_children, self.codes[:, j]))
            if parent >= 0:
                message = _message(table, of_children, self.codes[:, j], copies)
                message = message if parent not in messages else messages[parent] * message
                largest = message.max(axis=2, keepdims=True)  # only ratios matter: divided, so that products do not underflow
                messages[parent] = np.divide(message, largest, out=message, where=largest > 0)

    def _given_parent(self, j: int) -> Real:
        above = self.codes[:, self.parents[j]] if self.parents[j] >= 0 else np.zeros(len(self.codes), dtype=np.intp)
        return self.tables[j][above]

    def conditional(self, j: int) -> Real:
        """Return the distribution of column ``j`` given all others in each row, shape (n_rows, levels)."""
        weights = self._given_parent(j)
        for child in np.flatnonzero(self.parents == j):
            weights = weights * self.tables[child][:, self.codes[:, child]].T
            weights = weights / weights.max(axis=1, keepdims=True)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def sample_given_others(self, j: int, n_samples: int, generator: np.random.Generator) -> Integers:
        """Draw column ``j`` given all others, ``n_samples`` times: an array of shape (n_samples, n_rows)."""
        return _draw(self.conditional(j)[np.newaxis], generator.random((n_samples, len(self.codes))))


def spanning_tree(weights: Real) -> tuple[Integers, Integers]:
    """Find the maximum spanning tree with column 0 as root: the parent of each column, and columns after their parents.

    >>> parents, order = spanning_tree(np.array([[0, 0.1, 0.5], [0.1, 0, 0.4], [0.5, 0.4, 0]]))
    >>> parents.tolist(), order.tolist()
    ([-1, 2, 0], [0, 2, 1])
    """
    if len(weights) == 1:
        return np.array([-1]), np.array([0])
    costs = weights.max() - weights + 1.0  # positive: a cost of 0 would be no edge
    tree = minimum_spanning_tree(np.triu(costs, 1))
    order, parents = breadth_first_order(tree, 0, directed=False)
    return np.where(parents < 0, -1, parents).astype(np.intp), order.astype(np.intp)


def _draw(weights: Real, uniform: Real) -> Integers:
    """Draw a level for each cell of ``uniform``, with probabilities proportional to the last axis of ``weights``."""
    if weights.shape[-1] == 2:
        return np.asarray(uniform * (weights[..., 0] + weights[..., 1]) >= weights[..., 0], dtype=np.intp)
    upper = np.cumsum(weights, axis=-1)
    return np.asarray((upper[..., :-1] <= (uniform * upper[..., -1])[..., np.newaxis]).sum(axis=-1), dtype=np.intp)


def _moves(weights: Real, codes: Integers) -> Real:
    """Return the weights of levels one step after ``codes`` in the chain that is reversible for the given weights."""
    rest = np.maximum(weights.sum(axis=-1, keepdims=True) - weights, 0.0)
    at = slice(None), np.arange(len(codes)), codes
    own = weights[at]
    moves = own[..., np.newaxis] * _ratio(weights, np.maximum(rest, rest[at][..., np.newaxis]))
    moves[at] = 0.0
    moves[at] = np.maximum(own - moves.sum(axis=-1), 0.0)
    return moves


def _message(table: Real, of_children: Real | None, codes: Integers, copies: Integers) -> Real:
    """Return the likelihood of the parent's levels given a column and its knockoff: (n_repeats, n_rows, levels)."""
    below = np.ones((len(copies), len(codes), table.shape[1])) if of_children is None else of_children
    rows = np.arange(len(codes))
    own = table.T[codes] * below[:, rows, codes, np.newaxis]
    total = below @ table.T
    rest = np.maximum(total - own, 0.0)

    def joint(other: Real) -> Real:
        return own * _ratio(other, np.maximum(rest, np.maximum(total - other, 0.0)))

    stays = (copies == codes)[..., np.newaxis]
    message = joint(table.T[copies] * below[np.arange(len(copies))[:, np.newaxis], rows, copies, np.newaxis])
    if stays.any():
        left = own.copy()
        for level, column in enumerate(table.T):
            left -= np.where((codes == level)[:, np.newaxis], 0.0, joint(column * below[..., level, np.newaxis]))
        message = np.where(stays, np.maximum(left, 0.0), message)
    return message


def _ratio(numerator: Real, denominator: Real) -> Real:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
