"""Knockoffs of numeric columns: a Gaussian copula, or a Gaussian distribution."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from labelsieve.counting.cut_points import require_finite
from labelsieve.counting.number_table import read_table
from labelsieve.errors import InputError, not_negative
from labelsieve.statistics.knockoff_slack import knockoff_slack
from labelsieve.table_types import TableLike

Real = NDArray[np.float64]
_SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class GaussianKnockoffs:
    r"""Model-X knockoffs of numeric columns whose normal scores have a joint Gaussian distribution.

    For normal scores z with correlation matrix :math:`\Sigma` (Candès et al. 2018, section 3.1.1),

    .. math:: \tilde z \mid z \sim N\left(z - S \Sigma^{-1} z,\; 2 S - S \Sigma^{-1} S\right), \quad S = \mathrm{diag}(s) ,

    with s from :func:`labelsieve.statistics.knockoff_slack`. Knockoffs of the scores are mapped back to the values of the
    column.

    Attributes
    ----------
    scores : ndarray of float, shape (n_rows, n_columns)
        z. With the copula, :math:`\Phi^{-1}` of the ranks; equal values of a column share an interval of ranks, in which
        :meth:`sample` draws a position for each knockoff, so that columns with few levels are allowed.
    correlation : ndarray of float, shape (n_columns, n_columns)
        :math:`\Sigma`, shrunk by the rule of Ledoit and Wolf (2004).
    slack : ndarray of float, shape (n_columns,)
        The vector s.
    given : ndarray of float, shape (n_rows, n_columns)
        The columns.
    values : ndarray of float, or None
        Sorted columns, by which scores are mapped back; None: scores are standardized values.

    Notes
    -----
    A constant column is its own knockoff, and so is a column that repeats another one (or its negative): given the
    other one it has no information about any target, and is never discovered. Cost: about ten factorizations of a d x d matrix,
    once; then a product of n x d and d x d numbers for each knockoff.

    Examples
    --------
    >>> X = np.random.default_rng(0).exponential(size=(200, 3))
    >>> sampler = GaussianKnockoffs.from_values(X)
    >>> knockoffs = sampler.sample([np.random.default_rng(1), np.random.default_rng(2)])
    >>> knockoffs.shape, bool((knockoffs >= X.min(axis=0)).all())
    ((2, 200, 3), True)
    """

    scores: Real
    correlation: Real
    slack: Real
    given: Real
    values: Real | None
    below: Real
    above: Real
    center: Real
    scale: Real

    @classmethod
    def from_values(
        cls,
        X: TableLike,
        *,
        copula: bool = True,
        slack: str = "mvr",
        correlation: ArrayLike | None = None,
        shrinkage: float = 1.0,
    ) -> Self:
        r"""Estimate the distribution of the columns of ``X``.

        With ``copula=False`` the scores are standardized values. ``correlation`` is estimated if it is not given, and
        multiplied by :math:`(1 - \delta)^{shrinkage}`, with the :math:`\delta` of Ledoit and Wolf; ``slack`` is the method of
        :func:`knockoff_slack`.
        """
        table = read_table(X)
        require_finite(table, allow_missing=False)
        columns = table.sparse.toarray() if table.dense is None else table.dense
        numbers = np.asarray(columns, dtype=np.float64)
        if len(numbers) < 3:
            raise InputError(f"X has {len(numbers)} rows; the correlation of columns needs three at least.")
        below = above = np.empty((0, 0))
        center, scale = numbers.mean(axis=0), numbers.std(axis=0)
        values = np.sort(numbers, axis=0) if copula else None
        if copula:
            below, above = _rank_intervals(numbers)
            scores = _mean_scores(below, above)
        else:
            scores = (numbers - center) / np.where(scale > 0, scale, 1.0)
        varies = scale > 0
        if correlation is None:
            correlation = shrunk_correlation(scores, varies, not_negative(shrinkage, "shrinkage"))
        matrix = np.array(correlation, dtype=np.float64)
        found = knockoff_slack(matrix, slack, free=varies & ~_repeated(scores))
        return cls(scores, matrix, found, numbers, values, below, above, center, np.where(varies, scale, 0.0))

    def sample(self, generators: Sequence[np.random.Generator]) -> Real:
        """One knockoff for each generator, shape (n_repeats, n_rows, n_columns)."""
        toward, factor = self._moments
        copies = np.empty((len(generators), *self.scores.shape))
        for copy, generator in zip(copies, generators, strict=True):
            scores = self.scores
            if self.values is not None and self._has_ties:
                position = generator.random(scores.shape)
                scores = ndtri(self.below + position * (self.above - self.below))
            noise = generator.standard_normal(scores.shape)
            copy[...] = self._to_values(scores - scores @ toward + noise @ factor)
            copy[:, self.slack == 0] = self.given[:, self.slack == 0]
        return copies

    def sample_given_others(self, j: int, n_samples: int, generator: np.random.Generator) -> Real:
        """Draws of column ``j`` given all others, shape (n_samples, n_rows)."""
        if self.slack[j] == 0:  # a constant, or a column that another one determines
            return np.repeat(self.given[np.newaxis, :, j], n_samples, axis=0)
        others = np.delete(np.arange(len(self.correlation)), j)
        mean, variance = np.zeros(len(self.scores)), 1.0
        if len(others):
            weights = la.solve(self.correlation[np.ix_(others, others)], self.correlation[others, j], assume_a="pos")
            mean = self.scores[:, others] @ weights
            variance = max(0.0, 1.0 - float(weights @ self.correlation[others, j]))
        draws = mean + np.sqrt(variance) * generator.standard_normal((n_samples, len(self.scores)))
        return self._to_values(draws[..., np.newaxis], np.array([j]))[..., 0]

    @cached_property
    def _moments(self) -> tuple[Real, Real]:
        """Sigma^-1 S, and a factor F with F' F the covariance of the knockoffs."""
        toward = la.solve(self.correlation, np.diag(self.slack), assume_a="pos", check_finite=False)
        covariance = 2 * np.diag(self.slack) - self.slack[:, np.newaxis] * toward
        values, vectors = la.eigh((covariance + covariance.T) / 2, check_finite=False)
        return toward, np.sqrt(np.clip(values, 0.0, None))[:, np.newaxis] * vectors.T

    @cached_property
    def _has_ties(self) -> bool:
        return bool((self.above - self.below).max() > 1.5 / len(self.scores))

    def _to_values(self, scores: Real, columns: NDArray[np.intp] | None = None) -> Real:
        """Scores as values of the columns."""
        columns = np.arange(scores.shape[-1]) if columns is None else columns
        if self.values is None:
            return np.asarray(self.center[columns] + scores * self.scale[columns])
        n = len(self.values)
        place = ndtr(scores) * n - 0.5  # between which of the sorted values
        low = np.clip(np.floor(place).astype(np.intp), 0, n - 1)
        high = np.minimum(low + 1, n - 1)
        share = np.clip(place - low, 0.0, 1.0)
        left, right = self.values[low, columns], self.values[high, columns]
        if self._has_ties:  # values of a tie are levels, and there are none between them
            level = self._is_level[columns]
            share = np.where(level, np.round(share), share)
        return np.asarray(left + share * (right - left))

    @cached_property
    def _is_level(self) -> NDArray[np.bool_]:
        """Columns in which a value has a tie with another row: they are taken as levels."""
        return np.asarray(((self.above - self.below) > 1.5 / len(self.scores)).any(axis=0))


def shrunk_correlation(scores: Real, varies: NDArray[np.bool_] | None = None, power: float = 1.0) -> Real:
    r"""The correlation matrix of columns, shrunk toward the identity (Ledoit and Wolf 2004); constant columns: unit vectors.

    Correlations are multiplied by :math:`(1 - \delta)^{power}`, where :math:`\delta` has the smallest expected squared error.
    Knockoffs then depend less on the other columns than the columns do in these rows, by the factor :math:`1 - \delta`, but the
    noise of a draw makes squared correlations larger: a power between 1/4 and 1/2 makes both effects equal. A power of 1 makes
    columns and knockoffs more different, which gives the filter more power.

    >>> shrunk_correlation(np.array([[0.0, 0, 5], [1, 1, 5], [2, 2, 5], [3, 3, 5]])).round(2).tolist()
    [[1.0, 0.68, 0.0], [0.68, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from sklearn.covariance import ledoit_wolf  # loaded where it is needed: importing the package stays fast

    spread = scores.std(axis=0)
    varies = spread > 0 if varies is None else varies & (spread > 0)
    correlation = np.eye(scores.shape[1])
    if np.count_nonzero(varies) > 1:
        standard = (scores[:, varies] - scores[:, varies].mean(axis=0)) / spread[varies]
        shrunk, amount = ledoit_wolf(standard, assume_centered=True)
        shrunk[~np.eye(len(shrunk), dtype=bool)] *= max(1 - amount, _SMALLEST) ** (power - 1)
        # Scores of ties are means of an interval, so that their spread is less than 1; correlations are of positions in it.
        root = np.sqrt(np.diag(shrunk)) / np.minimum(spread[varies], 1.0)
        correlation[np.ix_(varies, varies)] = shrunk / np.outer(root, root)
        correlation[np.diag_indices(len(correlation))] = 1.0
    return correlation


def _repeated(scores: Real) -> NDArray[np.bool_]:
    """Columns that are equal to another one, or to its negative."""
    first = scores[(np.abs(scores) > 1e-9).argmax(axis=0), np.arange(scores.shape[1])]
    signed = np.round(scores * np.where(first < 0, -1.0, 1.0), 9)
    _, group, counts = np.unique(signed, axis=1, return_inverse=True, return_counts=True)
    return np.asarray(counts[group.ravel()] > 1)


def _mean_scores(below: Real, above: Real) -> Real:
    """The mean of a normal score whose rank is uniform between two shares."""
    density = [np.exp(-(ndtri(edge) ** 2) / 2) / np.sqrt(2 * np.pi) for edge in (below, above)]
    return np.asarray((density[0] - density[1]) / (above - below))


def _rank_intervals(numbers: Real) -> tuple[Real, Real]:
    """For each cell, the fractions of its column's cells that are smaller, and that are not larger."""
    n = len(numbers)
    ordered = np.sort(numbers, axis=0)
    below, above = np.empty_like(numbers), np.empty_like(numbers)
    for j, column in enumerate(numbers.T):
        below[:, j] = np.searchsorted(ordered[:, j], column, side="left") / n
        above[:, j] = np.searchsorted(ordered[:, j], column, side="right") / n
    return below, above
