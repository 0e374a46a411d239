"""Knockoffs of numeric columns by a Gaussian copula, and the choice between this model and a tree of discrete columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from labelsieve.discoveries.knockoff_tree import TreeKnockoffs
from labelsieve.errors import InputError, not_negative, one_of
from labelsieve.information import Codes
from labelsieve.tables.codes import require_finite
from labelsieve.tables.frames import read_table
from labelsieve.tables.types import TableLike

Real = NDArray[np.float64]
_SMALLEST = 1e-9  # factor of correlations that are shrunk to almost nothing
SLACKS = ("mvr", "max-entropy", "equicorrelated")
_STEPS = 60  # of Newton's method, at most
_ENOUGH = 1e-7  # squared Newton decrement per column at which the slack is optimal enough
MODELS = ("auto", "tree", "gaussian")
MOST_LEVELS = 10  # a column with more distinct values is taken as numeric


@dataclass(frozen=True, eq=False)
class GaussianKnockoffs:
    r"""Model-X knockoffs of numeric columns whose normal scores have a joint Gaussian distribution.

    For normal scores z with correlation matrix :math:`\Sigma` (Candès et al. 2018, section 3.1.1),

    .. math:: \tilde z \mid z \sim N\left(z - S \Sigma^{-1} z,\; 2 S - S \Sigma^{-1} S\right), \quad S = \mathrm{diag}(s) ,

    with s from :func:`knockoff_slack`. Knockoffs of the scores are mapped back to the values of the column.

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
        """Draw one set of knockoffs with each generator: an array of shape (n_repeats, n_rows, n_columns)."""
        toward, factor = self._moments
        copies = np.empty((len(generators), *self.scores.shape))
        for copy, generator in zip(copies, generators, strict=True):
            scores = self.scores
            if self.values is not None and self._has_ties:
                # The score of a tie is drawn from the interval of its ranks: the mean score would have too little variance.
                position = generator.random(scores.shape)
                scores = ndtri(self.below + position * (self.above - self.below))
            noise = generator.standard_normal(scores.shape)
            # Given the columns x, knockoffs have mean x - x Sigma^-1 S and covariance 2 S - S Sigma^-1 S.
            copy[...] = self._to_values(scores - scores @ toward + noise @ factor)
            # Constant and repeated columns are their own knockoffs; interpolation would only round their values.
            copy[:, self.slack == 0] = self.given[:, self.slack == 0]
        return copies

    def sample_given_others(self, j: int, n_samples: int, generator: np.random.Generator) -> Real:
        """Draw column ``j`` given all others, ``n_samples`` times: an array of shape (n_samples, n_rows)."""
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
        """The matrix Sigma^-1 S, and a factor F of the covariance F' F of knockoffs given the columns."""
        toward = la.solve(self.correlation, np.diag(self.slack), assume_a="pos", check_finite=False)
        covariance = 2 * np.diag(self.slack) - self.slack[:, np.newaxis] * toward
        values, vectors = la.eigh((covariance + covariance.T) / 2, check_finite=False)
        # By eigenvalues and not by Cholesky: where s is at its limit the covariance is singular, up to rounding.
        return toward, np.sqrt(np.clip(values, 0.0, None))[:, np.newaxis] * vectors.T

    @cached_property
    def _has_ties(self) -> bool:
        return bool((self.above - self.below).max() > 1.5 / len(self.scores))

    def _to_values(self, scores: Real, columns: NDArray[np.intp] | None = None) -> Real:
        """Convert normal scores to values of the columns, by interpolation between the sorted values."""
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
        """Mask of columns with ties: their values are taken as levels."""
        return np.asarray(((self.above - self.below) > 1.5 / len(self.scores)).any(axis=0))


def _rank_intervals(numbers: Real) -> tuple[Real, Real]:
    """Return for each cell the shares of its column that are smaller, and that are not larger."""
    n = len(numbers)
    ordered = np.sort(numbers, axis=0)
    below, above = np.empty_like(numbers), np.empty_like(numbers)
    for j, column in enumerate(numbers.T):
        below[:, j] = np.searchsorted(ordered[:, j], column, side="left") / n
        above[:, j] = np.searchsorted(ordered[:, j], column, side="right") / n
    return below, above


def _mean_scores(below: Real, above: Real) -> Real:
    """Return the mean normal score of a rank that is uniform between two shares."""
    # The integral of the normal quantiles between two shares is the difference of the densities at its ends.
    density = [np.exp(-(ndtri(edge) ** 2) / 2) / np.sqrt(2 * np.pi) for edge in (below, above)]
    return np.asarray((density[0] - density[1]) / (above - below))


def shrunk_correlation(scores: Real, varies: NDArray[np.bool_] | None = None, power: float = 1.0) -> Real:
    r"""Estimate the correlation matrix of columns, shrunk toward the identity (Ledoit and Wolf 2004).

    Rows and columns of constant columns are those of the identity.

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
        # ledoit_wolf has multiplied by 1 - amount once already.
        shrunk[~np.eye(len(shrunk), dtype=bool)] *= max(1 - amount, _SMALLEST) ** (power - 1)
        # Scores of ties are means of an interval, so that their spread is less than 1; correlations are of positions in it.
        root = np.sqrt(np.diag(shrunk)) / np.minimum(spread[varies], 1.0)
        correlation[np.ix_(varies, varies)] = shrunk / np.outer(root, root)
        correlation[np.diag_indices(len(correlation))] = 1.0
    return correlation


def _repeated(scores: Real) -> NDArray[np.bool_]:
    """Mask of columns that are equal to another one, or to its negative."""
    # The sign of the first value that is not 0 decides, so that a column and its negative become the same.
    first = scores[(np.abs(scores) > 1e-9).argmax(axis=0), np.arange(scores.shape[1])]
    signed = np.round(scores * np.where(first < 0, -1.0, 1.0), 9)
    _, group, counts = np.unique(signed, axis=1, return_inverse=True, return_counts=True)
    return np.asarray(counts[group.ravel()] > 1)


def knockoff_slack(correlation: Real, method: str = "mvr", *, free: NDArray[np.bool_] | None = None) -> Real:
    r"""Compute the vector s for which :math:`\mathrm{cov}(X_j, \tilde X_j) = 1 - s_j` and all other covariances are those of X.

    It must be positive, and :math:`A = 2 \Sigma - \mathrm{diag}(s)` positive definite; the larger, the less a column resembles
    its knockoff, and the more power the filter has.

    Parameters
    ----------
    correlation : ndarray of shape (d, d)
        :math:`\Sigma`, positive definite with ones on the diagonal.
    method : {"mvr", "max-entropy", "equicorrelated"}, default="mvr"
        ``"mvr"`` minimizes :math:`\mathrm{tr}(A^{-1}) + \sum_j 1 / s_j`, so that each column is hard to reconstruct from the
        others and the knockoffs (Spector and Janson 2022). ``"max-entropy"`` maximizes
        :math:`\log\det A + \sum_j \log s_j` (Gimenez and Zou 2019). ``"equicorrelated"`` takes the same s for all columns,
        :math:`\min(1, 2 \lambda_{\min})` (Barber and Candès 2015); one pair of similar columns makes it small for all.

    free : ndarray of bool, shape (d,), default=None
        Columns that may differ from their knockoffs; s is 0 for the others.

    Notes
    -----
    Both objectives are convex in s and minimized by Newton's method; each step is a few factorizations of d x d matrices, and
    about ten steps are enough.

    Examples
    --------
    >>> knockoff_slack(np.eye(3)).round(6)
    array([1., 1., 1.])
    >>> knockoff_slack(np.array([[1, 0.8], [0.8, 1]]), "equicorrelated").round(6)
    array([0.4, 0.4])
    """
    one_of(method, "slack", SLACKS)
    s = np.zeros(len(correlation))
    free = np.ones(len(s), dtype=bool) if free is None else free
    smallest = float(la.eigh(correlation, eigvals_only=True, subset_by_index=[0, 0])[0])
    s[free] = min(1.0, 2 * smallest) * (1 - 1e-9)  # 2 Sigma - diag(s) stays positive definite
    if method == "equicorrelated" or not free.any():
        return s
    s /= 2  # start of Newton's method, inside of the allowed set
    value, gradient, hessian = _objective(correlation, s, free, method)
    for _ in range(_STEPS):
        step = np.zeros_like(s)
        step[free] = -la.solve(hessian, gradient, assume_a="pos", check_finite=False)
        decrement = -float(gradient @ step[free])  # twice what the step gains by the quadratic model
        if decrement <= _ENOUGH * len(s):
            break
        length = 1.0
        while True:  # the objective is infinite outside of the set where s > 0 and A is positive definite
            tried = _objective(correlation, s + length * step, free, method)
            if tried[0] <= value - 0.1 * length * decrement:
                break
            length /= 2
            if length < 1e-10:
                return s
        s = s + length * step
        value, gradient, hessian = tried
    return s


def _objective(correlation: Real, s: Real, free: NDArray[np.bool_], method: str) -> tuple[float, Real, Real]:
    """Return value, gradient and Hessian in the free columns; the value is infinite where s is not allowed."""
    own = s[free]
    if own.min() <= 0:
        return np.inf, s, correlation
    matrix = 2 * correlation
    matrix[np.diag_indices(len(s))] -= s
    try:
        factor = la.cholesky(matrix, lower=True, check_finite=False)
    except la.LinAlgError:
        return np.inf, s, correlation
    inverse = la.lapack.dpotri(factor, lower=1)[0]  # the lower triangle only
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    part = inverse if len(own) == len(s) else inverse[np.ix_(free, free)]
    if method == "max-entropy":
        value = -2 * float(np.log(np.diag(factor)).sum()) - float(np.log(own).sum())
        hessian = part * part
        hessian[np.diag_indices(len(own))] += 1 / own**2
        return value, np.diag(part) - 1 / own, hessian
    squared = inverse @ inverse
    squared = squared if len(own) == len(s) else squared[np.ix_(free, free)]
    hessian = 2 * squared * part
    hessian[np.diag_indices(len(own))] += 2 / own**3
    return float(np.trace(inverse)) + float((1 / own).sum()), np.diag(squared) - 1 / own**2, hessian


def feature_model(X: TableLike, sampler: str = "auto") -> TreeKnockoffs | GaussianKnockoffs:
    """Fit the model named by ``sampler``: with ``"auto"``, a tree if every column has few values, else a Gaussian copula."""
    one_of(sampler, "sampler", MODELS)
    codes = distinct_codes(X) if sampler == "auto" else Codes.from_values(X) if sampler == "tree" else None
    return GaussianKnockoffs.from_values(X) if codes is None else TreeKnockoffs.from_codes(codes)


def distinct_codes(X: TableLike, bins: Codes | None = None) -> Codes | None:
    """Return the values of every column as levels, or None if some column has too many values to be discrete.

    With ``bins``, codes of the same columns, numeric columns take these, and None is returned only if more than half of the
    columns are numeric.

    >>> distinct_codes([[0.5, 3], [2.5, 1]]).to_dense().tolist(), distinct_codes(np.arange(50.0)[:, np.newaxis]) is None
    ([[0, 1], [1, 0]], True)
    """
    table = read_table(X, allow_missing=True)
    if table.dense is None:
        return Codes.from_values(X) if np.isin(table.sparse.data, (0, 1)).all() else None
    dense = np.asarray(table.dense)
    if dense.dtype.kind == "f" and np.isnan(dense).any():
        return None
    columns: list[Any] = []
    n_numeric = 0
    for j, column in enumerate(dense.T):
        levels, code = np.unique(column, return_inverse=True)
        if len(levels) <= MOST_LEVELS:
            columns.append(code)
            continue
        n_numeric += 1
        if bins is None or 2 * n_numeric > dense.shape[1]:
            return None
        columns.append(bins.column(j))
    return Codes.from_values(np.column_stack(columns))
