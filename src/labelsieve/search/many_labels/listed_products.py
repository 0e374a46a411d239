"""Products of sparse columns with sparse targets that are added up when they are needed, and never stored."""

import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.sums import BITS, Lists, WholeTargets, Wide, pieces_of

Real = NDArray[np.float64]
SLACK = 1.000001  # of bounds, for rounding


class ListedProducts:
    r"""The products of a least-squares gain for more features and targets than an array could have a number for each pair of.

    The product of what is left of column f with target t is :math:`c_{ft} - \sum_k r_{kf} T_{kt}` after k directions. The
    centered product :math:`c_{ft}` is added up from the rows of the column, which have few targets. A column without a common
    row with a target still has :math:`-\bar{f}\,\bar{t}` and the sum over the directions; by Cauchy and Schwarz it is at most
    :math:`|u_f| |v_t|`, and where the square of that is below the penalty of the target, the pair adds nothing to the gain. Few
    pairs are above it, and those are computed, too. So gains are those of a stored array, bit for bit. Products are multiplied
    by the factors of their column and target.
    """

    def __init__(
        self,
        columns: Lists,
        targets: WholeTargets,
        weights: NDArray[np.int64] | None,
        sums: Wide,
        target_sums: Wide,
        factors: Real,
        target_factors: Real,
        total: float,
        threads: core.Threads,
    ) -> None:
        self._columns, self._sums, self._target_sums, self._threads = columns, sums, target_sums, threads
        self._factors, self._target_factors, self._total = factors, target_factors, total
        by_row = targets.by_row
        pieces = [by_row.data]
        if weights is not None:
            pieces = pieces_of(by_row.data * np.repeat(weights, np.diff(by_row.indptr)))
        self._starts, self._targets = by_row.indptr.astype(np.int64), by_row.indices.astype(np.uint32)
        self._pieces = np.array(pieces, dtype=np.int32)
        self._along, self._of_targets = np.empty((len(factors), 0)), np.empty((len(target_factors), 0))
        self._of_means = (_numbers(sums) / total * factors) ** 2  # squared lengths of u and v
        self._of_target_means = (_numbers(target_sums) / total * target_factors) ** 2

    def gains(self, squares: Real, least: Real, weak: float, penalties: Real, guards: Real) -> Real:
        """Return the gain of every column: see ``pursuit_gains`` of the core."""
        ratios = np.full(len(penalties), np.inf)
        np.divide(self._of_target_means, penalties, out=ratios, where=penalties > 0)
        ratios[self._of_target_means == 0] = 0.0
        ranked = np.argsort(-ratios, kind="stable")
        needed = np.full(len(squares), np.inf)
        np.divide(squares, SLACK * self._of_means, out=needed, where=self._of_means > 0)
        n_near = np.searchsorted(-ratios[ranked], -needed, side="right")
        n_near[needed == np.inf] = 0
        out = np.empty(len(squares))
        columns = self._columns
        core.listed_gains(
            columns.starts,
            columns.rows,
            columns.numbers,
            self._starts,
            self._targets,
            self._pieces,
            self._sums.high,
            self._sums.low,
            self._target_sums.high,
            self._target_sums.low,
            self._total,
            self._factors,
            self._target_factors,
            self._along,
            self._of_targets,
            ranked.astype(np.uint32),
            n_near.astype(np.int64),
            squares,
            least,
            weak,
            penalties,
            guards,
            out,
            self._threads,
        )
        return out

    def of_column(self, column: int) -> Real:
        """Return the products of what is left of a column with all targets."""
        cells, n_targets = slice(self._columns.starts[column], self._columns.starts[column + 1]), len(self._target_factors)
        rows, numbers, wide = self._columns.rows[cells], self._columns.numbers[cells], Wide.zeros(1, n_targets)
        ends = np.array([0, len(rows)], dtype=np.int64)
        for number, piece in enumerate(self._pieces):
            of_rows = self._starts, self._targets, piece
            core.add_listed_vectors(ends, rows, numbers, *of_rows, BITS * number, wide.high, wide.low, self._threads)
        out, one = np.empty((1, n_targets)), slice(column, column + 1)
        sums = self._sums.high[one], self._sums.low[one], self._target_sums.high, self._target_sums.low
        factors = self._factors[one], self._target_factors
        core.center_products(wide.high, wide.low, *sums, self._total, *factors, out, self._threads)
        left: Real = out[0]
        for along, of_targets in zip(self._along[column], self._of_targets.T, strict=True):
            left -= along * of_targets
        return left

    def take_out(self, along: Real, of_targets: Real) -> None:
        """Take out a direction, with these coefficients of the columns and of the targets."""
        self._along, self._of_targets = np.column_stack([self._along, along]), np.column_stack([self._of_targets, of_targets])
        self._of_means += along**2
        self._of_target_means += of_targets**2


def _numbers(sums: Wide) -> Real:
    return np.asarray(sums.high * 2.0**32 + sums.low, dtype=np.float64)
