"""The gain of forward least squares for all targets at once: orthogonal matching pursuit."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import chdtrc, gammainccinv

from labelsieve import core
from labelsieve.counting.resources import require_memory
from labelsieve.counting.target_table import TargetTable
from labelsieve.search.gains import Gain
from labelsieve.search.linear_columns import LinearColumns, sparse_columns, target_columns

Real = NDArray[np.float64]
LEAST_LEFT = 0.01  # of the variance of a column: with less left, given the selected features, it has no gain
INDEPENDENT = 1e-10  # of the variance: with less left, a selected column adds no direction
EXPLAINED = 1e-12  # of the variance of a target: with less left there is nothing to gain
NEVER = 1e300  # a penalty that no drop exceeds
_STEPS = 2.0**40  # gains are multiples of the largest divided by this: equal ones are equal in spite of rounding


class LeastSquaresGain(Gain):
    r"""Reduction of the mean squared residuals when a feature is added to a linear model of all targets.

    .. math:: O(f) = \sum_y \max\Big(0, \frac{(z_f' R_y)^2}{z_f' z_f} - c \, d_f \frac{|R_y|^2}{N}\Big) / N

    :math:`z_f` and the residuals :math:`R_y` are kept orthogonal to the selected features. :math:`c \, d_f |R_y|^2 / N`
    is a penalty for the degrees of freedom: a column of noise lowers the sum of squares by :math:`|R_y|^2 / N` on average. The
    first term is the drop by all columns of a feature (levels, or ranks and their squares), and :math:`d_f` is their number.

    Nothing of the size of X'X is formed. With products A = X'R, a step makes the selected column orthogonal to those before
    it, a vector u of unit length, and then :math:`A \leftarrow A - (X'u)(u'Y)'`, since u'R = u'Y.
    Columns are centered implicitly, so sparse ones stay sparse.

    Cost of a step: the stored cells of X and Y, N for every feature selected before, and d q. Memory: d q. The same bits on any
    number of threads.

    Parameters
    ----------
    columns : LinearColumns
    targets : TargetTable
    penalty : float, default=2.0
        c.
    n_jobs : int, default=None
    """

    name = "least squares"
    is_ranking = False

    def __init__(
        self, columns: LinearColumns, targets: TargetTable, *, penalty: float = 2.0, n_jobs: int | None = None
    ) -> None:
        shares, self._columns, self._penalty = columns.shares, columns, float(penalty)
        matrix = target_columns(targets, shares)
        self._targets, deviations = sparse_columns(matrix, shares, n_jobs, standardize=False)
        self._left = deviations**2
        self._explained = EXPLAINED * self._left
        n_columns, n_targets = len(columns.varies), matrix.shape[1]
        require_memory(8 * n_columns * n_targets, "Products of", n_columns, n_targets)
        by_row = matrix.tocsr()
        weighted = by_row.data * np.repeat(shares, np.diff(by_row.indptr))
        self._products = np.empty((n_columns, n_targets))
        columns.core.times_targets(by_row.indptr.astype(np.int64), by_row.indices.astype(np.uint32), weighted, self._products)
        self._least = np.where(columns.varies, LEAST_LEFT, np.inf)
        self._n_independent = _n_independent(matrix, shares)
        self._root = np.sqrt(shares)
        # The first direction is the constant: whatever is orthogonal to it is centered.
        self._directions, self._n_directions = np.empty((8, len(shares))), 1
        self._directions[0] = self._root
        self._squares = columns.squares.copy()

    def scores(self) -> Real:
        """The gain of every feature."""
        gains = np.empty(len(self._columns.starts) - 1)
        penalties = np.where(self._left > self._explained, self._penalty * self._left / self._columns.total, NEVER)
        self._columns.core.gains(self._columns.starts, self._products, self._squares, self._least, penalties, gains)
        largest = gains.max(initial=0.0)
        if largest > 0:
            unit = 2.0 ** np.floor(np.log2(largest)) / _STEPS
            gains = np.rint(gains / unit) * unit
        self._gains = gains
        return gains

    def noise_level(self, alpha: float) -> float:
        r"""What the largest gain exceeds with a probability of about ``alpha`` if no feature is related to the residuals.

        The gain of such a feature is :math:`\sum_y v_y (\chi^2_y - c\,d_f)_+ / N` with the mean squared residuals :math:`v_y`
        and variables of a chi-square distribution of :math:`d_f` degrees of freedom, which depend on each other as the
        targets do. Its mean and its variance define a gamma distribution, whose quantile for :math:`1 - (1 - \alpha)^{1/d}` is
        the level.
        The number of independent targets, :math:`(\operatorname{tr} C)^2 / |C|_F^2` for their covariances C, is that of the
        beginning.
        The approximation is for large samples: too low for values and labels that are both rare.
        """
        if alpha >= 1:
            return 0.0
        n_columns = np.diff(self._columns.starts)
        of_one = -np.expm1(np.log1p(-alpha) / len(n_columns))  # of one feature above a level that none exceeds, 1 - alpha
        scale = self._left.sum() / self._columns.total
        return float(scale * max((self._quantile(of_one, size) for size in np.unique(n_columns[n_columns > 0])), default=0.0))

    def _quantile(self, probability: float, n_columns: int) -> float:
        """Of the gain of noise with so many columns, for residuals of 1 in all and one row."""
        least = self._penalty * n_columns
        tails = [float(chdtrc(n_columns + more, least)) for more in (0, 2, 4)]  # of chi-square distributions
        mean = n_columns * tails[1] - least * tails[0]
        square = n_columns * (n_columns + 2) * tails[2] - 2 * least * n_columns * tails[1] + least**2 * tails[0]
        if mean <= 0 or square <= mean**2:
            return 0.0  # the penalty is never exceeded
        variance = (square - mean**2) / self._n_independent
        return float(gammainccinv(mean**2 / variance, probability) * variance / mean)

    def components(self, feature: int) -> dict[str, float]:
        """All of it."""
        return {self.name: float(self._gains[feature])}

    def select(self, feature: int) -> None:
        """Make columns and residuals orthogonal to a feature."""
        starts = self._columns.starts
        for column in range(int(starts[feature]), int(starts[feature + 1])):
            if self._columns.varies[column]:
                self._take_out(column)

    def _take_out(self, column: int) -> None:
        direction = np.empty(len(self._root))
        self._columns.core.column(column, direction)
        direction *= self._root
        left = core.orthogonalize(self._directions, self._n_directions, direction)
        if left <= INDEPENDENT:
            return
        direction /= np.sqrt(left)
        if self._n_directions == len(self._directions):
            self._directions = np.concatenate([self._directions, np.empty_like(self._directions)])
        self._directions[self._n_directions] = direction
        self._n_directions += 1
        of_columns, of_targets = self._times(direction)
        self._columns.core.fold(self._columns.starts, self._products, self._squares, of_columns, of_targets)
        self._left = np.maximum(self._left - of_targets**2, 0.0)

    def _times(self, direction: Real) -> tuple[Real, Real]:
        """Products of a direction with all columns, and with all targets."""
        weighted = direction * self._root
        of_columns, of_targets = np.empty(len(self._columns.varies)), np.empty(self._products.shape[1])
        self._columns.core.times(weighted, of_columns)
        self._targets.times(weighted, of_targets)
        return of_columns, of_targets


def _n_independent(targets: Any, shares: Real) -> float:
    """The number of independent targets with the same sum and sum of squares of their variances; 1 if none varies."""
    weighted = sp.diags_array(shares) @ targets
    means = np.asarray(targets.T @ shares)
    products = targets.T @ weighted
    total = float(products.diagonal().sum() - means @ means)
    squares = float((products.data**2).sum() - 2 * means @ (products @ means) + (means @ means) ** 2)
    return max(1.0, total**2 / squares) if total > 0 and squares > 0 else 1.0
