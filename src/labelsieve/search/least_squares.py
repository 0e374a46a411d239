"""The least-squares gain: how much each feature improves the fit of a linear model of all targets, from sums of products."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammainccinv

from labelsieve import core
from labelsieve.counting.backends import Backend
from labelsieve.counting.backends.chunked.sums import ChunkedSums
from labelsieve.counting.sums import (
    LinearSums,
    RowSums,
    SharedSums,
    SumSource,
    Wanted,
    WholeTargets,
    Wide,
    row_total,
    whole_columns,
)
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.progress import progress_bar
from labelsieve.resources import n_threads, require_memory
from labelsieve.search.gains import Gain
from labelsieve.search.many_labels.listed_products import ListedProducts
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.nominal import declare_nominal
from labelsieve.tables.problem import column_numbers
from labelsieve.tables.targets import TargetTable
from labelsieve.tables.types import ColumnsLike
from labelsieve.tables.weights import RowWeights, quantize

Real = NDArray[np.float64]
CLUSTER_SECONDS = 60.0  # without a worker that runs, after which the cluster counts as lost


@dataclass(frozen=True, eq=False)
class LinearData:
    """What a linear model is fitted to: a source of sums of products, the targets and the weights of the rows."""

    source: SumSource
    targets: WholeTargets
    weights: RowWeights | None

    def by_target(self) -> "list[LinearData]":
        """Return the data of a model for each target; what one of them adds up is kept for the others."""
        shared, of_target = SharedSums(self.source), self.targets.target
        bounds = np.searchsorted(of_target, np.arange(int(of_target[-1]) + 2)).tolist()
        return [
            LinearData(shared.of_targets(first), self.targets.take_columns(slice(first, last)), self.weights)
            for first, last in pairwise(bounds)
        ]


def linear_data(
    table: NumberTable,
    targets: TargetTable,
    *,
    nominal: ColumnsLike | None = None,
    weights: Real | None = None,
    n_jobs: int | None = None,
    allow_missing: bool = True,
    backend: Backend | None = None,
) -> LinearData:
    """Scale a table in memory to whole numbers; ``nominal`` are columns of numbers that are categories, by number or name.

    ``backend`` counts the same rows, and adds up the products of the columns where it can; None: the core does.

    Cost: two passes over the values. Memory: 4 bytes for each cell, 8 for each that a sparse matrix stores.
    """
    if nominal is not None:
        named = nominal if isinstance(nominal, str) else column_numbers(nominal, table.names, table.shape[1], "nominal")
        table = declare_nominal(table, named)
    threads, quantized = core.Threads(n_threads(n_jobs)), None if weights is None else quantize(weights)
    n_rows, n_features = table.shape
    if table.dense is not None:
        require_memory(4 * n_rows * n_features, "A linear model of", n_features, 1)
    columns = whole_columns(table, quantized, threads, allow_missing=allow_missing)
    if backend is not None:
        columns = backend.hold_columns(columns)
    whole = WholeTargets.of(targets, quantized)
    return LinearData(RowSums([columns], whole, row_total(quantized, n_rows)[1], threads), whole, quantized)


class StoredColumns:
    """The columns of a table that is read by columns, scaled to whole numbers and stored in a temporary file.

    Parameters
    ----------
    table : ChunkedTable
    targets, nominal, weights, n_jobs, allow_missing
        As for :func:`linear_data`.
    """

    def __init__(
        self,
        table: ChunkedTable,
        targets: TargetTable,
        *,
        nominal: ColumnsLike | None = None,
        weights: Real | None = None,
        n_jobs: int | None = None,
        allow_missing: bool = True,
    ) -> None:
        self._table, self._allow_missing = table, allow_missing
        self._threads, self._weights = core.Threads(n_threads(n_jobs)), None if weights is None else quantize(weights)
        n_rows, n_features = table.shape
        self._nominal: Collection[int] = ()
        if nominal is not None:
            every = isinstance(nominal, str)
            self._nominal = range(n_features) if every else column_numbers(nominal, table.feature_names, n_features, "nominal")
        self._targets = WholeTargets.of(targets, self._weights)
        self._stored = ChunkedSums(
            n_features,
            self._targets,
            row_total(self._weights, n_rows)[1],
            memory_limit=table.memory_limit,
            threads=self._threads,
            folder=table.cache_folder,
        )

    def add(self, columns: list[int], features: Any) -> None:
        """Scale features that were read, if they are the next ones."""
        n_added = self._stored.n_added
        if columns != [*range(n_added, n_added + len(columns))]:
            return
        numbers = read_table(features, allow_missing=True)
        numbers = declare_nominal(numbers, [at for at, column in enumerate(columns) if column in self._nominal])
        whole = whole_columns(numbers, self._weights, self._threads, allow_missing=self._allow_missing)
        self._stored.add(whole)

    def linear_data(self, backend: str = "chunked") -> LinearData:
        """Return all columns for a linear model; with "dask" or "spark" their rows go to the workers.

        Cost: columns that were not added are read.
        """
        n_features = self._table.shape[1]
        source: SumSource = self._stored
        with progress_bar("scaling features") as progress:
            for columns in self._table.groups(range(self._stored.n_added, n_features)):
                self.add(columns, self._table.features(columns))
                progress(self._stored.n_added, n_features)
        if backend == "dask":
            from labelsieve.counting.backends.dask import Cluster, DaskSums, find_client

            source = DaskSums(Cluster(find_client(), CLUSTER_SECONDS), self._stored)
        elif backend == "spark":
            from labelsieve.counting.backends.spark import SparkSums

            source = SparkSums(self._stored)
        return LinearData(source, self._targets, self._weights)


LEAST_LEFT = 1e-8  # of the variance of a column: with less left, given the selected features, it has no gain
ROUNDING = 100  # times the share of variance that rounding to 24 bits may add to a column must be left, too
WEAK, GUARD = 0.01, 10.0  # with less than 1 % left, a column's drop counts where it exceeds ten times that of noise
EXPLAINED = 1e-12  # of the variance of a target: with less left there is nothing to gain
LISTED_BYTES = 2**30  # of products with targets, beyond which those of sparse columns are not stored
_BLOCK_BYTES = 2**27  # of exact products with targets at a time
DENSE_TARGETS = 0.03  # a share of cells other than 0, above which products among targets are those of an array
_ADDED_AT_ONCE = 2**16  # numbers
_COLUMNS_AT_ONCE = 64  # columns of a selected feature whose products are asked for together
_CELLS_AHEAD = 2**32  # that are read before the core returns from selecting several features


class LeastSquaresGain(Gain):
    r"""Reduction of the mean squared residuals when a feature is added to a linear model of all targets.

    .. math:: O(f) = \sum_y \max\Big(0, \frac{(z_f' R_y)^2}{z_f' z_f} - c \, d_f \frac{|R_y|^2}{N}\Big) / N

    :math:`z_f` and the residuals :math:`R_y` are kept orthogonal to the selected features. :math:`c \, d_f |R_y|^2 / N`
    is a penalty for the degrees of freedom: a column of noise lowers the sum of squares by :math:`|R_y|^2 / N` on average. The
    first term is the drop by all columns of a feature, one for each level if it is nominal, and :math:`d_f` is their number.

    A column with less than :math:`10^{-8}` of its variance left has no gain. With less than one per cent left, as in spectra
    and in rounded copies of a selected feature, its drop for a target counts only if it exceeds :math:`10 |R_y|^2 / N`.

    All that is read from the rows are exact sums of products: of all columns with the targets, once, and of all columns with
    those of the newest feature, at every step. The rest is a Cholesky factorization, one row a step, in numbers of 106 bits.
    So the gains are the same bits for any number of threads, chunks, workers and devices.

    Cost of a step: that of the source, the number of columns times the number of selected ones, and d q. Memory: d q. Of more
    than 1 GB nothing is stored where X is sparse and in memory; a step then costs the pairs of a cell of X and a target of its
    row, each with all selected features.

    Parameters
    ----------
    data : LinearData
    penalty : float, default=2.0
        c.
    target_weights : ndarray of float, default=None
        What the drop of each target counts; None: 1.
    n_jobs : int, default=None
    """

    name = "least squares"
    is_ranking = False

    def __init__(
        self,
        data: LinearData,
        *,
        penalty: float = 2.0,
        target_weights: Real | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._source, self._penalty, self._threads = data.source, float(penalty), core.Threads(n_threads(n_jobs))
        self._starts, weights = data.source.starts, data.weights
        total = row_total(weights, data.targets.columns.shape[0])[0]
        self._total, self._n_rows = float(total), total / (1.0 if weights is None else weights.unit)
        self._read_targets(data.targets, weights, target_weights)
        n_columns, n_targets = int(self._starts[-1]), data.targets.n_columns
        self._listed: ListedProducts | None = None
        large = 8 * n_columns * n_targets > LISTED_BYTES
        if large and isinstance(self._source, RowSums) and (columns := self._source.listed) is not None:
            self._read_margins(self._source.sums(Wanted(margins=True)))
            of_rows, sums = row_total(weights, columns.n_rows)[1], (self._sums, self._target_sums)
            scales = self._factors, self._target_factors
            self._listed = ListedProducts(columns, data.targets, of_rows, *sums, *scales, self._total, self._threads)
            n_targets = 0  # nothing is stored for them
        else:
            self._require_memory(n_columns, n_targets)
        self._products = np.empty((n_columns, n_targets))
        step = max(1, _BLOCK_BYTES // (16 * max(1, n_columns)))
        for first in range(0, n_targets, step):
            last = min(n_targets, first + step)
            found = self._source.sums(Wanted(margins=first == 0, targets=(first, last)))
            if first == 0:
                self._read_margins(found)
            others, factors = self._target_sums[first:last], self._target_factors[first:last]
            out = self._products if last - first == n_targets else np.empty((n_columns, last - first))
            self._center(found.with_targets, others, factors, out)
            if out is not self._products:
                self._products[:, first:last] = out
        self._pursuit = core.Pursuit(
            self._starts,
            self._products,
            self._squares,
            self._squares_low,
            self._sums.high,
            self._sums.low,
            self._factors,
            self._least,
            self._left,
            EXPLAINED * self._left,
            self._total,
            self._n_rows,
            self._penalty,
            WEAK,
            GUARD,
        )
        # Columns that are all in memory alike: the core adds up their products, and need not return after each step.
        self._digits = self._source.own_digits if isinstance(self._source, RowSums) and self._listed is None else None
        self._gains = self._expected = np.zeros(len(self._starts) - 1)
        self._quantiles: dict[float, float] = {}  # of the largest gain that noise reaches, by its probability
        self._known: dict[int, Wide] = {}  # products with columns that were asked for ahead
        self._selected: set[int] = set()

    def _require_memory(self, n_columns: int, n_targets: int) -> None:
        try:
            require_memory(8 * n_columns * n_targets, "Products of", n_columns, n_targets)
        except MemoryError as error:
            remedy = "pass X and Y as sparse matrices in memory, of which no product is stored"
            raise MemoryError(f"{str(error).rstrip('.')}; {remedy}.") from None

    def _read_targets(self, targets: WholeTargets, weights: RowWeights | None, target_weights: Real | None) -> None:
        """Find means, variances and factors of the targets: labels count by their variance, numbers are standardized."""
        sums, squares = targets.margins(weights, self._threads)
        variances, _ = self._center_squares(squares, sums, sums, np.ones(targets.n_columns), np.ones(targets.n_columns))
        deviations = np.sqrt(np.maximum(variances, 0.0))
        standard = np.divide(1.0, deviations, out=np.zeros(len(deviations)), where=variances > 0)
        factors = np.where(targets.unit > 0, targets.unit, standard)
        if target_weights is not None:
            factors = factors * np.sqrt(target_weights)[targets.target]
        self._target_sums, self._target_factors = sums, factors
        self._left = np.maximum(variances, 0.0) * factors**2
        shares = None if weights is None else weights.values / self._total
        self._count_independent = partial(_n_independent, targets, factors, shares, self._threads)

    def _read_margins(self, found: LinearSums) -> None:
        """Standardize the columns, and find their products within each feature."""
        self._sums, ones = found.sums, np.ones(len(found.sums.high))
        variances, _ = self._center_squares(found.squares, found.sums, found.sums, ones, ones)
        self._varies = variances > 0
        self._factors = np.divide(1.0, np.sqrt(np.maximum(variances, 0.0)), out=np.zeros(len(ones)), where=self._varies)
        # Levels are 0 and 1, without rounding; the variance of scaled numbers is far above 1.
        rounding = np.divide(ROUNDING / 12, variances, out=np.zeros(len(ones)), where=variances > 1)
        self._least = np.where(self._varies, np.maximum(LEAST_LEFT, rounding), np.inf)
        squares, sums, factors = found.squares, (found.sums, found.sums), (self._factors, self._factors)
        if (np.diff(self._starts) != 1).any():
            rows, columns = _triangles(self._starts)
            # Levels of one feature have no common rows: their products are 0.
            squares = Wide(*(np.where(rows == columns, of[rows], 0) for of in (squares.high, squares.low)))
            sums, factors = (found.sums[rows], found.sums[columns]), (self._factors[rows], self._factors[columns])
        self._squares, self._squares_low = self._center_squares(squares, *sums, *factors)

    def _center_squares(self, squares: Wide, ones: Wide, others: Wide, factors: Real, of_others: Real) -> tuple[Real, Real]:
        high, low = np.empty(len(squares.high)), np.empty(len(squares.high))
        sums = squares.high, squares.low, ones.high, ones.low, others.high, others.low
        core.center_squares(*sums, self._total, factors, of_others, high, low)
        return high, low

    def _center(self, products: Wide, others: Wide, of_others: Real, out: Real) -> None:
        sums = self._sums.high, self._sums.low, others.high, others.low
        factors = self._factors, of_others
        core.center_products(products.high, products.low, *sums, self._total, *factors, out, self._threads)

    @property
    def constant_features(self) -> NDArray[np.intp]:
        """Return the features none of whose columns varies."""
        return np.flatnonzero(np.diff(np.concatenate([[0], np.cumsum(self._varies)])[self._starts]) == 0)

    def scores(self) -> Real:
        """Return the least-squares gain of every feature."""
        gains = np.empty(len(self._starts) - 1)
        if self._listed is None:
            self._pursuit.scores(gains, self._threads)
        else:
            penalties, guards = np.empty(len(self._left)), np.empty(len(self._left))
            self._pursuit.penalties(penalties, guards)
            gains[:] = 0.0
            gains[np.diff(self._starts) > 0] = self._listed.gains(self._squares, self._least, WEAK, penalties, guards)
            self._pursuit.round(gains)
        self._gains = self._expected = gains
        return gains

    @property
    def selects_ahead(self) -> bool:
        """True for columns in memory: the core selects several features at once."""
        return self._digits is not None

    def select_best(self, n_steps: int, unavailable: Sequence[int]) -> list[tuple[int, float, dict[str, float]]]:
        """Select up to ``n_steps`` features in the core; the last one is not folded in yet."""
        assert self._digits is not None
        n_features, digits = len(self._starts) - 1, self._digits
        available, gains = np.ones(n_features, dtype=bool), np.empty(n_features)
        available[list(unavailable)] = False
        n_steps = min(n_steps, max(1, _CELLS_AHEAD // len(digits.cells)))
        features, scores = np.empty(n_steps, dtype=np.uint32), np.empty(n_steps)
        found = available, features, scores, gains
        n_found = self._pursuit.select_best(digits.cells, digits.n_rows, self._source.ahead, *found, self._threads)
        self._gains = self._expected = gains
        steps = zip(features[:n_found].tolist(), scores[:n_found].tolist(), strict=True)
        return [(feature, score, {self.name: score}) for feature, score in steps]

    def last_scores(self) -> Real:
        """Return the gain of every feature at the last step."""
        return self._gains

    def expect(self, scores: Real) -> None:
        """Note the scores by which features are selected: those with the largest ones will probably be next."""
        self._expected = scores

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
        if alpha not in self._quantiles:
            n_columns = np.diff(self._starts)
            of_one = -np.expm1(np.log1p(-alpha) / len(n_columns))  # of one feature above a level that none exceeds, 1 - alpha
            sizes = np.unique(n_columns[n_columns > 0])
            self._quantiles[alpha] = max((self._quantile(of_one, size) for size in sizes), default=0.0)
        return float(self._left.sum() / self._n_rows * self._quantiles[alpha])

    @cached_property
    def _n_independent(self) -> float:
        return self._count_independent()

    def _quantile(self, probability: float, n_columns: int) -> float:
        """Upper quantile of the gain that a feature of noise with ``n_columns`` columns reaches, for variance 1 and one row."""
        least = self._penalty * n_columns
        tails = [float(chdtrc(n_columns + more, least)) for more in (0, 2, 4)]  # of chi-square distributions
        mean = n_columns * tails[1] - least * tails[0]
        square = n_columns * (n_columns + 2) * tails[2] - 2 * least * n_columns * tails[1] + least**2 * tails[0]
        if mean <= 0 or square <= mean**2:
            return 0.0  # the penalty is never exceeded
        variance = (square - mean**2) / self._n_independent
        return float(gammainccinv(mean**2 / variance, probability) * variance / mean)

    def components(self, feature: int) -> dict[str, float]:
        """The least-squares gain has a single component: the gain itself."""
        return {self.name: float(self._gains[feature])}

    def select(self, feature: int) -> None:
        """Make columns and residuals orthogonal to a feature."""
        self._selected.add(feature)
        if self._digits is not None:
            cells, n_rows = self._digits.cells, self._digits.n_rows
            self._pursuit.select(feature, cells, n_rows, self._expected, self._source.ahead, self._threads)
            return
        every = range(int(self._starts[feature]), int(self._starts[feature + 1]))
        columns = [column for column in every if self._pursuit.can_take_out(column)]
        for first in range(0, len(columns), _COLUMNS_AT_ONCE):
            some = columns[first : first + _COLUMNS_AT_ONCE]
            self._ask(some)
            for column in some:
                self._take_out(column, self._known.pop(column))

    def _ask(self, columns: list[int]) -> None:
        """Ask the source for products with some columns and, where passes are costly, with those of the best candidates."""
        wanted = [column for column in columns if column not in self._known]
        if not wanted:
            return
        for feature in np.argsort(-self._expected, kind="stable").tolist() if self._source.ahead > 1 else ():
            if len(wanted) >= self._source.ahead or self._expected[feature] <= 0:
                break
            more = range(int(self._starts[feature]), int(self._starts[feature + 1]))
            if feature not in self._selected and len(more) == 1:
                wanted += [column for column in more if column not in self._known and column not in wanted]
        found = self._source.sums(Wanted(columns=tuple(wanted))).with_columns
        for position, column in enumerate(wanted):
            self._known[column] = Wide(*(np.ascontiguousarray(part[:, position]) for part in (found.high, found.low)))

    def _take_out(self, column: int, products: Wide) -> None:
        if not self._pursuit.can_take_out(column):
            return
        left = None if self._listed is None else self._listed.of_column(column)
        self._pursuit.take_out(column, products.high, products.low, left, self._threads)
        if self._listed is not None:
            self._listed.take_out(*self._pursuit.direction())


def _triangles(starts: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the lower triangles of all features.

    >>> [each.tolist() for each in _triangles(np.array([0, 1, 3]))]
    [[0, 1, 2, 2], [0, 1, 1, 2]]
    """
    n_columns, widths = int(starts[-1]), np.diff(starts)
    # Row i of a feature has the columns from its first to i.
    first = np.repeat(starts[:-1], widths)
    sizes = np.arange(n_columns) - first + 1
    rows = np.repeat(np.arange(n_columns), sizes)
    ends = np.cumsum(sizes)
    columns = np.arange(len(rows)) - np.repeat(ends - sizes, sizes) + first[rows]
    return rows, columns


def _n_independent(targets: WholeTargets, factors: Real, shares: Real | None, threads: core.Threads) -> float:
    """The number of independent targets with the same sum and sum of squares of their variances; 1 if none varies."""
    n_rows, n_targets = targets.columns.shape
    is_dense = targets.columns.nnz > DENSE_TARGETS * n_rows * n_targets
    is_counted = is_dense and shares is None and 8 * n_targets**2 <= _BLOCK_BYTES
    products: Any
    if is_counted and (factors == 1).all() and (targets.columns.data == 1).all():
        products = _repeated(1.0 / n_rows, targets.common_rows(threads))
        means = products.diagonal().copy()
    else:
        columns: Any = targets.columns.astype(np.float64)
        columns.data *= np.repeat(factors, np.diff(columns.indptr))
        weights = np.full(n_rows, 1.0 / n_rows) if shares is None else shares
        means = np.asarray(columns.T @ weights)
        weighted = columns.copy()
        weighted.data *= weights[columns.indices]
        # Whole rows are multiplied faster than lists where there are many cells.
        products = columns.T @ (weighted.toarray() if is_dense else weighted)
    values = products if isinstance(products, np.ndarray) else products.data
    total = float(products.diagonal().sum() - means @ means)
    squares = float((values**2).sum() - 2 * means @ (products @ means) + (means @ means) ** 2)
    return max(1.0, total**2 / squares) if total > 0 and squares > 0 else 1.0


def _repeated(value: float, times: NDArray[np.int64]) -> Real:
    """Return the value added to 0 as often as ``times`` says, with the bits of adding one after the other.

    >>> _repeated(0.1, np.array([0, 1, 10])).tolist()
    [0.0, 0.1, 0.9999999999999999]
    """
    out, last = np.zeros(times.shape), 0.0
    for first in range(0, int(times.max(initial=0)), _ADDED_AT_ONCE):
        sums = np.cumsum(np.concatenate([[last], np.full(min(_ADDED_AT_ONCE, int(times.max()) - first), value)]))
        here = (times > first) & (times <= first + _ADDED_AT_ONCE)
        out[here] = sums[times[here] - first]
        last = sums[-1]
    return out
