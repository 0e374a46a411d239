"""RReliefF: Relief for numeric targets."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context

from labelsieve.progress import progress_bar
from labelsieve.selectors.relief import Array, BaseRelief, blocks
from labelsieve.selectors.relief_rows import NO_ROW, Neighbors
from labelsieve.selectors.selector_input import read_numbers
from labelsieve.table_types import Matrix, TableLike, TargetsLike, is_sparse


class RReliefF(BaseRelief):
    r"""Rank features by the differences of near rows when, and only when, they differ in the target.

    .. math:: W_f = \frac{N_{df}}{N_d} - \frac{N_f - N_{df}}{m - N_d}

    with :math:`N_d = \sum_{ij} w_{ij} \delta(y_i, y_j)`, :math:`N_f = \sum_{ij} w_{ij} \delta_f(i, j)` and
    :math:`N_{df} = \sum_{ij} w_{ij} \delta(y_i, y_j) \delta_f(i, j)` over m rows i and their k nearest rows j;
    :math:`w_{ij}` is 1/k. Robnik-Sikonja and Kononenko (1997; 2003, eq. 15-21). Scores are averaged over the targets, as in
    Sechidis et al. (2019, section 5), whose "RReliefF 10" and "50" are ``n_neighbors``. Targets, like features, are scaled
    to [0, 1]; 0/1 labels are numbers too.

    Parameters
    ----------
    sigma : float, default=None
        Weigh the neighbor of rank r by :math:`e^{-(r / \sigma)^2}`; None weights all equally. Robnik-Sikonja and Kononenko
        (2003) recommend ``sigma=20`` with 70 neighbors.

    Notes
    -----
    A constant target scores 0, and so does a fraction whose denominator is 0. Neighbors do not depend on the targets: one
    search serves them all.

    Cost: m n d for the distances, m k q for the targets, m k d for the differences.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 4))
    >>> RReliefF(n_features_to_select=2).fit(X, np.column_stack([X[:, 2], X[:, 0] + X[:, 2]])).selected_
    array([2, 0])
    """

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Score the features of ``X`` for the numeric targets ``y``, one column or many, dense or sparse."""
        X, Y = read_numbers(self, X, y)
        targets = _Targets(Y)
        references = self._references(X.shape[0])
        table = Neighbors(X, self.n_jobs)
        some = blocks(references, self.n_neighbors * max(1, Y.shape[1]))
        searched = []
        differing = np.zeros(Y.shape[1])
        with progress_bar(f"{type(self).__name__}: looking for neighbors") as progress:
            for done, block in enumerate(some):
                neighbors = table.nearest(block, [np.arange(X.shape[0])], self.n_neighbors)[:, 0]
                searched.append((neighbors, self._shares(neighbors)))
                differing += np.einsum("rk,rkt->t", searched[-1][1], targets.differences(block, neighbors))
                progress(done + 1, len(some))
        total = float(sum(shares.sum() for _, shares in searched))
        same = np.maximum(total - differing, 0.0)
        # W is linear in the differences of a feature: one factor for each pair of rows, whatever the targets.
        per_different = _inverse(differing) + _inverse(same)
        per_pair = np.where(targets.vary, _inverse(same), 0.0).sum() / Y.shape[1]
        scores = np.zeros(X.shape[1])
        for block, (neighbors, shares) in zip(some, searched, strict=True):
            factors = targets.differences(block, neighbors) @ per_different / Y.shape[1] - per_pair
            scores += table.weighted_differences(block, neighbors, shares * factors)
        self._keep_best(scores, X, Y)
        return self


def _inverse(values: Array) -> Array:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


class _Targets:
    """Differences of the targets, each scaled to [0, 1]; of a constant one, 0."""

    def __init__(self, Y: Matrix) -> None:
        self.Y = Y
        high, low = Y.max(axis=0), Y.min(axis=0)
        high, low = (side.toarray().ravel() if is_sparse(side) else np.asarray(side).ravel() for side in (high, low))
        self.half_range = high / 2 - low / 2  # halves: the whole may not be finite
        self.vary = self.half_range > 0

    def rows(self, rows: NDArray[Any]) -> Array:
        taken = self.Y[rows.ravel()]
        dense: Array = taken.toarray() if is_sparse(taken) else taken
        return np.reshape(dense, (*rows.shape, -1)) / 2

    def differences(self, references: NDArray[np.intp], neighbors: NDArray[np.uint32]) -> Array:
        """``(n_references, k, n_targets)``; at positions without a neighbor, anything finite."""
        rows = np.where(neighbors == NO_ROW, references[:, np.newaxis], neighbors)
        between = np.abs(self.rows(rows) - self.rows(references)[:, np.newaxis])
        return np.divide(between, self.half_range, out=np.zeros_like(between), where=self.vary)
