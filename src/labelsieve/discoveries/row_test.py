r"""The row test tells whether the contribution of a selected feature, given those before it, is distinguishable from noise.

Columns of the selected features and of the targets come in, one corrected p-value for every row of the selection goes out.
Nothing is permuted: the moments of the permutation distribution have closed forms. Start reading at :func:`row_tests`.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincc, gammaln, ndtr, ndtri

from labelsieve import core
from labelsieve.errors import InputError, require_same_rows, share, whole_number
from labelsieve.resources import one_blas_thread
from labelsieve.tables.frames import NumberTable
from labelsieve.tables.magnitude import column_exponents
from labelsieve.tables.nominal import declare_nominal
from labelsieve.tables.targets import TargetTable
from labelsieve.tables.weights import positive_weights

if TYPE_CHECKING:  # reading a problem needs scikit-learn
    from labelsieve.tables.problem import Problem

Real = NDArray[np.float64]
LEAST_LEFT = 0.01  # of the variance of a column: with less left, given the features before, it is a copy and not tested
INDEPENDENT = 1e-10  # of the variance of a column: with less left it adds no direction
EXPLAINED = 1e-10  # of the variance of a target: with less left there is nothing to test
CONSTANT = 1e-13  # a standard deviation below this fraction of the largest value is rounding
MOST_SHARE = 1 / 3  # of the rows, that directions of selected features may be; with more, each has one column
FEWEST_DEGREES = 3  # rows beyond the directions of the selected features, with fewer of which nothing is tested
MOST_ROWS, FEWEST_SAMPLED = 50_000, 5_000  # of more rows, or more cells of targets than below, a random sample is tested
MOST_LEVELS, FEWEST_ROWS = 10, 5  # a nominal feature has a column for each of its most frequent levels of so many rows
MOST_PAIRED, MOST_CUBES = 64, 16  # targets that are multiplied with each other, in pairs and in triples; they stand for all
MOST_CELLS = 2**23  # rows times targets, from which on rows are sampled, and whose residuals are kept at once
MOST_TARGETS = 2_000  # of a problem; of more, those with the most rows are tested
CELLS_IN_CACHE = 2**18  # that are tested at once
PANEL = 5  # features whose columns are made orthogonal to those before at once
MOST_FILLS = 10  # rounds that fill unknown cells of targets with what the selected features predict for them
FILLED = 1e-3  # of the length of the residuals: with less in unknown cells, they are filled
SMALL = 0.01  # tails up to which kurtosis is accounted for, which hardly matters for others
NO_KURTOSIS, N_NODES = 0.02, 129  # below which the tail is the normal one; nodes of the integral over variances
ABOVE = 4.0  # a product is looked at closely if its normal tail is below this many times the tail that would matter
NO_SKEWNESS = 1e-4  # below which Pearson's distribution is the normal one


@dataclass(frozen=True, eq=False)
class RowTests:
    """Which rows of a selection are signal.

    Attributes
    ----------
    p_values : ndarray of float
        One for every selected feature, corrected for being the best of all candidates. Those up to ``alpha`` are upper bounds:
        a feature that one test marks is not tested further.
    signal : ndarray of bool
        Whether the p-value is at most ``alpha``.
    alpha : float
        The share of selections of pure noise in which some row may be marked as signal.
    """

    p_values: Real
    signal: NDArray[np.bool_]
    alpha: float


def row_tests(
    features: ArrayLike,
    targets: ArrayLike,
    n_candidates: int,
    *,
    nominal: Collection[int] = (),
    numeric: Sequence[bool] | NDArray[np.bool_] | None = None,
    weights: ArrayLike | None = None,
    n_forced: int = 0,
    alpha: float = 0.05,
) -> RowTests:
    r"""Test for every row of a selection whether the feature adds more to those before it than noise would.

    Every feature is represented by its values x, their ranks u and u². Q is an orthonormal basis of the constant and of these
    columns of the features before, of their first columns alone if there were more columns than a third of the rows. R are
    the residuals of the targets on Q, of length 1, and B are the columns of the feature, made orthonormal to Q; a column with
    less than 1 % of its variance left is dropped, so that a copy has p = 1. Under the hypothesis that rows of R are
    exchangeable, with the variance :math:`1 / (N - \operatorname{rank} Q)` of real residuals, three tests are made:

    1. :math:`\sum_y (b_1' R_y)^2`, for effects that are spread over the targets: tail of Pearson's distribution of type III,
       with the exact mean and variance over all permutations (Kazi-Aoual et al. 1995) and the skewness of rows drawn with
       replacement, but not less than that of normal variables that correlate as the residuals do, nor of a gamma distribution;
    2. :math:`b' R_y` for every column and target: tail of the same distribution with the exact skewness over all
       permutations on the side to which it is skewed, and of the normal distribution on the other, or of a mixture of normal
       distributions that has the kurtosis beyond that, if it is larger (a rare label and a few cells); times their number;
    3. the same for products of the feature's ranks with those of each feature before, for effects of pairs: the larger of
       that tail and the normal tail of the sum divided by its own estimate of scale; times the number of them.

    With m candidates left, :math:`p = 3 m \min(p_1, p_2, p_3)`; where the second alone gives at most ``alpha``, the others
    are not computed and p is that of the second. Since a noise feature was the best of m, at most a share of about ``alpha``
    of all selections from pure noise has a mark in its first row; later noise rows are second best, so the share with any
    mark is about the same.

    Rows are assumed to be independent. Numeric targets count as normal scores of their ranks. Missing cells of features have
    the mean of their column. Cells of targets that are unknown are filled with what the features before predict, and take part
    in no product. Whole weights are repetitions of a row; others are scaled so that they add up to Kish's effective number of
    rows, :math:`(\sum w)^2 / \sum w^2`. Of more than
    50,000 rows, or of rows with more than eight million cells of targets, a random sample is tested, of 5,000 rows at least. Of
    more than 16 targets with many rows, or 64 with few, the correlations among so many stand for all in the first test.

    Cost: about :math:`N K (3 q + K q / 2 + 2 K^2)` multiplications for K features and q targets; memory for a few
    arrays of eight million cells of targets and 4 K columns.

    Parameters
    ----------
    features : array-like of shape (n_rows, n_selected)
        The selected features, in the order of selection; NaN where a cell is missing.
    targets : array-like of shape (n_rows, n_targets)
        Labels as 0 and 1, classes as a 0/1 column each, or numbers; NaN where a cell is unknown.
    n_candidates : int
        The number of features among which the first was selected.
    nominal : collection of int, default=()
        Columns of ``features`` whose numbers are levels without an order. Each of the ten most frequent levels has a column
        of zeros and ones, if it has five rows; missing cells are a level.
    numeric : sequence of bool, default=None
        Which targets are numbers; None: those with other values than 0 and 1.
    weights : array-like of shape (n_rows,), default=None
        Weights of the rows; those of weight 0 are left out.
    n_forced : int, default=0
        How many of the first features were not chosen among candidates, so that their p-values need no correction for that.
    alpha : float, default=0.05
        The level of the marks.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 3))
    >>> Y = X[:, :1] + random.normal(size=(200, 2)) > 0
    >>> row_tests(X[:, [0, 0, 1]], Y, n_candidates=3).signal
    array([ True, False, False])
    """
    table, values = np.asarray(features, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if table.ndim != 2 or values.ndim != 2:
        raise InputError(f"Row tests need tables of two dimensions; features have {table.ndim} and targets {values.ndim}.")
    require_same_rows(len(table), len(values), "targets", "features")
    if numeric is None:
        is_numeric: NDArray[np.bool_] = ((values != 0) & (values != 1) & ~np.isnan(values)).any(axis=0)
    else:
        is_numeric = np.asarray(numeric, dtype=bool)
    if is_numeric.shape != values.shape[1:]:
        raise InputError(f"numeric has {is_numeric.size} entries for {values.shape[1]} targets; give one for each.")
    rows, counted = positive_weights(weights, len(table))
    if rows is not None:
        table, values = table[rows], values[rows]
    columns = NumberTable(table, None, nominal=frozenset(nominal))
    of_values = _Targets(is_numeric, lambda target: values[:, target])
    return _row_tests(columns, of_values, n_candidates, counted, n_forced, alpha)


def row_tests_of(
    problem: "Problem",
    selected: Sequence[int] | NDArray[np.integer],
    n_candidates: int,
    *,
    nominal: Collection[int] = (),
    n_forced: int = 0,
    alpha: float = 0.05,
) -> RowTests:
    """Make the :func:`row_tests` of a selection from a problem, of which only the selected columns are read.

    Parameters
    ----------
    problem : Problem
        The problem of which the features were selected. A target of more than two classes has a column for each. Of more than
        2,000 columns of targets, those with the most rows in the rarer of their two classes are tested.
    selected : sequence of int
        The selected features, in the order of selection.
    n_candidates : int
        The number of features among which the first was selected.
    nominal : collection of int, default=()
        Features whose numbers are levels without an order, besides those that are text, categories or truth values.
    n_forced : int, default=0
        How many of the first features were not chosen among candidates.
    alpha : float, default=0.05
        The level of the marks.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> from labelsieve.tables.problem import read
    >>> data = make_feature_roles(n_relevant=3, n_noisy_copies=0, n_xor_pairs=0)
    >>> problem = read(data.X, data.Y)
    >>> selected = Sieve(n_features_to_select=5).fit(problem).selected_
    >>> row_tests_of(problem, selected, problem.n_features).signal
    array([ True,  True,  True, False, False])
    """
    columns = [int(column) for column in selected]
    table = problem.features.take_columns(columns)
    also = [at for at, column in enumerate(columns) if column in set(nominal)]
    targets = _targets_of(problem.targets)
    return _row_tests(declare_nominal(table, also), targets, n_candidates, problem.weights, n_forced, alpha)


@dataclass(frozen=True, eq=False)
class _Targets:
    """Columns of targets, read one by one, with NaN where a cell is unknown, and which of them are numeric."""

    is_numeric: NDArray[np.bool_]
    column: Callable[[int], NDArray[Any]]


def _targets_of(targets: TargetTable) -> _Targets:
    """Columns of a table of targets: 0/1 for two classes, one for each of more classes, and numbers."""
    codes, numbers = targets.classes, targets.numbers
    sources = list[tuple[int, int]]()  # a column, and the class that is 1
    for target in range(targets.n_columns):
        unknown = codes.missing is not None and bool(codes.missing[target])
        n_classes = int(codes.levels[target]) - unknown
        classes = [0] if targets.is_numeric[target] else range(1, 2) if n_classes <= 2 else range(n_classes)
        sources += [(target, level) for level in classes]
    if len(sources) > MOST_TARGETS:
        rarer = np.array([_rarer(targets, *source) for source in sources])
        sources = [sources[at] for at in np.sort(np.argsort(-rarer, kind="stable")[:MOST_TARGETS])]
    position = np.cumsum(targets.is_numeric) - 1

    def column(at: int) -> NDArray[Any]:
        target, level = sources[at]
        if targets.is_numeric[target]:
            return np.asarray(numbers[:, position[target]])
        is_level: Real = (codes.column(target) == level).astype(np.float64)
        if codes.missing is not None and codes.missing[target]:
            is_level[~codes.is_known(target)] = np.nan
        return is_level

    return _Targets(targets.is_numeric[[target for target, _ in sources]], column)


def _rarer(targets: TargetTable, target: int, level: int) -> float:
    """Return the number of rows that have a class, or of those that do not, whichever is smaller; numbers come first."""
    codes = targets.classes
    if targets.is_numeric[target]:
        return np.inf
    if codes.sparse is not None and level > 0 and not codes.sparse.implicit[target]:
        listed = slice(codes.sparse.starts[target], codes.sparse.starts[target + 1])
        count = np.count_nonzero(codes.sparse.codes[listed] == level)
    else:
        count = np.count_nonzero(codes.column(target) == level)
    return float(min(count, codes.n_rows - count))


class _Rows(NamedTuple):
    """The rows that are tested: which, their weights' square roots, the number of rows for which they stand."""

    chosen: NDArray[np.intp] | slice
    root: Real
    total: float
    equal: bool  # whether all weights are 1


def _rows(weights: Real | None, n_rows: int, n_targets: int) -> _Rows:
    chosen: NDArray[np.intp] | slice = slice(None)
    most = min(MOST_ROWS, max(FEWEST_SAMPLED, MOST_CELLS // n_targets))
    if n_rows > most:
        chosen = np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))
    if weights is None:
        n_rows = min(n_rows, most)
        return _Rows(chosen, np.ones(n_rows), float(n_rows), equal=True)
    weights = weights[chosen]
    if (weights != np.floor(weights)).any():
        weights = weights / weights.max()
        weights = weights * (weights.sum() / (weights @ weights))
    return _Rows(chosen, np.sqrt(weights), float(weights.sum()), equal=False)


def _row_tests(
    table: NumberTable, targets: _Targets, n_candidates: int, weights: Real | None, n_forced: int, alpha: float
) -> RowTests:
    alpha, n_features = share(alpha, "alpha"), table.shape[1]
    whole_number(n_candidates, "n_candidates", n_features, 2**63)
    rows = _rows(weights, table.shape[0], len(targets.is_numeric))
    n_left = [1 if row < n_forced else n_candidates - row for row in range(n_features)]
    p_values = np.ones(n_features)
    # Small products are faster on one thread, and the same bits on any machine with the same library.
    with one_blas_thread():
        features = _features(table, rows)
        n_columns = 1 + np.cumsum([0, *(len(feature.columns) for feature in features[:-1])])
        n_full = int(np.count_nonzero(n_columns <= MOST_SHARE * rows.total))
        for first, last, first_only in ((0, n_full, False), (n_full, n_features, True)):
            if first < last:
                p_values[first:last] = _p_values(features[:last], n_left[first:last], first_only, targets, rows, alpha)
    return RowTests(p_values, p_values <= alpha, alpha)


# Columns of features and targets.


class _Feature(NamedTuple):
    """The columns of a feature, times the square roots of the weights, and the one that is multiplied in products."""

    columns: Real
    factor: Real


def _features(table: NumberTable, rows: _Rows) -> list[_Feature]:
    """Standardize the columns of all features."""
    columns = [table.column(column)[rows.chosen] for column in range(table.shape[1])]
    values = np.array(columns, dtype=np.float64).reshape(len(columns), len(rows.root))
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        column, row = infinite[0]
        raise InputError(f"X, {table.name(column)}: {values[column, row]} is not finite; fill such cells or drop their rows.")
    ordered = [column for column in range(len(values)) if column not in table.nominal]
    numbers = values[ordered]
    plain, ranks = _standardized(numbers, rows), _standardized(_mid_ranks(numbers, rows), rows)
    squares = _standardized(np.where(np.isnan(numbers), np.nan, ranks * ranks), rows)
    found = dict[int, _Feature]()
    for at, column in enumerate(ordered):
        found[column] = _Feature(np.array([plain[at], ranks[at], squares[at]]) * rows.root, ranks[at])
    for column in sorted(table.nominal):
        levels = _standardized(_levels(values[column], rows), rows)
        found[column] = _Feature(levels * rows.root, levels[0])
    return [found[column] for column in range(len(values))]


def _levels(values: Real, rows: _Rows) -> Real:
    """Return, in rows, a 0/1 column for each frequent level, the most frequent first, but not for the last of all levels."""
    levels, index = np.unique(values, return_inverse=True)  # NaN is one value, the last
    counts = np.bincount(index, rows.root**2)
    order = np.argsort(-counts, kind="stable")[: max(1, min(MOST_LEVELS, len(levels) - 1))]
    kept = [level for level in order.tolist() if counts[level] >= FEWEST_ROWS] or order[:1].tolist()
    return np.array([index == level for level in kept], dtype=np.float64)


def _mid_ranks(values: Real, rows: _Rows) -> Real:
    """Mean ranks of columns, in rows, as fractions of the known rows, between 0 and 1; NaN where a cell is missing."""
    ranks = np.empty_like(values)
    core.mid_ranks(values, None if rows.equal else rows.root**2, ranks)
    return ranks


def _standardized(vectors: Real, rows: _Rows) -> Real:
    """Give vectors, in rows, mean 0 and variance 1; missing cells are 0, and all of a constant vector."""
    if not len(vectors):
        return vectors
    missing = np.isnan(vectors)
    some_missing = bool(missing.any())
    values: Real = np.where(missing, 0.0, vectors) if some_missing else vectors.copy()
    exponents = column_exponents(values.T)
    if exponents.any():
        values = np.ldexp(values, -exponents[:, np.newaxis])
    largest, weights = np.abs(values).max(axis=1, initial=0.0), rows.root**2
    n_known = np.maximum(~missing @ weights, np.finfo(float).tiny) if some_missing else rows.total
    values -= ((values @ weights) / n_known)[:, np.newaxis]
    if some_missing:
        values[missing] = 0.0
    deviations = np.sqrt(((values * values) @ weights) / n_known)
    varies = deviations > CONSTANT * largest
    values *= np.divide(1.0, deviations, out=np.zeros(len(deviations)), where=varies)[:, np.newaxis]
    return values


class _Block(NamedTuple):
    """Residuals of some targets as rows of an array, times the square roots of the weights; 0 in unknown cells.

    ``partial`` are the targets that have unknown cells, and ``known`` the masks of their known cells, as numbers.
    """

    residuals: Real
    partial: NDArray[np.intp]
    known: Real


def _block(targets: _Targets, columns: Sequence[int], rows: _Rows) -> _Block:
    values, partial, known = np.empty((len(columns), len(rows.root))), [], []
    for at, column in enumerate(columns):
        cells = np.ascontiguousarray(targets.column(column)[rows.chosen], dtype=np.float64)
        unknown = np.isnan(cells)
        if targets.is_numeric[column]:
            cells = ndtri(_mid_ranks(cells[np.newaxis], rows)[0])
        values[at] = cells
        if unknown.any():
            partial.append(at)
            known.append(~unknown)
    values = _standardized(values, rows) * rows.root
    return _Block(values, np.array(partial, dtype=np.intp), np.array(known, dtype=np.float64).reshape(-1, len(rows.root)))


# The tests.


class _Step(NamedTuple):
    """What a feature adds to those before it: unit vectors in rows, orthogonal to all of theirs.

    ``directions`` are those of its columns, of which those in ``tested`` have enough left.
    """

    basis: Real  # of all features before
    directions: Real
    tested: list[int]
    products: Callable[[], "_Products"]


def _steps(features: list[_Feature], rows: _Rows, first_only: bool) -> Iterator[_Step]:
    """Yield what each feature adds; with ``first_only``, every feature has its first column alone."""
    sizes = [1 if first_only else len(feature.columns) for feature in features]
    basis = np.empty((min(1 + sum(sizes), len(rows.root)), len(rows.root)))
    basis[0], rank = rows.root / np.sqrt(rows.total), 1
    factors = np.array([feature.factor for feature in features])
    panel = np.empty((0, len(rows.root)))
    for k, (feature, size) in enumerate(zip(features, sizes, strict=True)):
        before, tested = rank, list[int]()
        if not len(panel):  # of several features at once, so that the basis is read once for them
            together = slice(k, k + PANEL)
            columns = [feature.columns[:n] for feature, n in zip(features[together], sizes[together], strict=True)]
            start, panel = rank, np.vstack(columns)
            panel -= (panel @ basis[:rank].T) @ basis[:rank]
        lefts, panel = panel[:size], panel[size:]
        for column, left in zip(feature.columns[:size], lefts, strict=True):
            length = column @ column
            if rank == len(basis) or length == 0:
                continue
            left = left - (basis[start:rank] @ left) @ basis[start:rank]
            share_left = (left @ left) / length
            if share_left <= INDEPENDENT:
                continue
            if share_left < LEAST_LEFT:
                left -= (basis[:rank] @ left) @ basis[:rank]  # once more: rounding is large in what is left of a near copy
            else:
                tested.append(rank - before)
            basis[rank] = left / np.sqrt(left @ left)
            rank += 1
        products = partial(_Products.of, factors[:k], feature.factor, basis[:rank], rows)
        yield _Step(basis[:before], basis[before:rank], tested, products)


class _Products(NamedTuple):
    """Products of a feature with those before it, of which enough is left beside the columns of all of them."""

    values: Real
    on_basis: Real  # their products with the basis
    left: Real  # the squared lengths of what is left
    basis: Real

    @classmethod
    def of(cls, factors: Real, factor: Real, basis: Real, rows: _Rows) -> "_Products":
        values = factors * (factor * rows.root)
        squares, on_basis = np.einsum("ij,ij->i", values, values), values @ basis.T
        left = squares - np.einsum("ij,ij->i", on_basis, on_basis)
        squares -= on_basis[:, 0] ** 2  # the first direction is the mean
        kept = left > LEAST_LEFT * np.maximum(squares, INDEPENDENT * rows.total)
        if kept.all():
            return cls(values, on_basis, left, basis)
        return cls(values[kept], on_basis[kept], left[kept], basis)

    def unit_vectors(self, some: NDArray[np.bool_]) -> Real:
        """Return some of them, orthogonal to the basis and of length 1."""
        unit: Real = (self.values[some] - self.on_basis[some] @ self.basis) / np.sqrt(self.left[some])[:, np.newaxis]
        return unit


class _Evidence:
    """What the targets say about one feature, added up over blocks of targets."""

    def __init__(self, n_rows: int, n_candidates: int, alpha: float) -> None:
        self.n_candidates, self.alpha = n_candidates, alpha
        self.n_targets = self.n_columns = self.n_products = 0
        self.column = self.product = 1.0  # smallest tails of (2) and (3)
        self.sum_of_squares = 0.0  # of (1), in units of its variance
        self.of_rows = np.zeros(n_rows)  # squares of the residuals, summed over the targets
        self.squared_cubes = 0.0  # sums of cubes of the residuals of a target, squared and summed over the targets

    def add(self, step: _Step, blocks: list[_Block], dots: list[Real], left: list[Real], n_targets: int, rows: _Rows) -> None:
        """Add the tests of blocks of targets: (1) and (3) only where (2) makes no mark, for ``n_targets`` targets in all.

        ``dots`` are the products of the residuals of every block with the directions of the feature, and ``left`` are the
        residuals without these directions.
        """
        self.n_columns = len(step.tested)
        if not self.n_columns:  # a copy, and so are its products
            return
        columns, of_blocks = step.directions[step.tested], list[tuple[_ColumnTests, Real, Real]]()
        for block, of_block, new in zip(blocks, dots, left, strict=True):
            tests = _block_tests(step, block, rows)
            if tests is None:
                continue
            z, tails = tests.of(columns, of_block[:, step.tested].T)
            of_blocks.append((tests, z[0], new))
            self.n_targets += int(np.count_nonzero(tests.live))
            self.column = min(self.column, float(tails[:, tests.live].min()))
        smallest = self.n_columns * n_targets * self.column
        if 3 * self.n_candidates * smallest <= self.alpha:
            return
        products = step.products()
        self.n_products = len(products.left)
        for tests, of_first, new in of_blocks:
            self.sum_of_squares += float((of_first[tests.live] ** 2).sum())
            self.of_rows += tests.scale @ tests.squares
            self.squared_cubes += float(tests.cubes @ tests.cubes)
            if self.n_products:
                # A tail above this makes no p-value smaller.
                limit = min(smallest, 1 / (3 * self.n_candidates)) / (self.n_products * n_targets)
                self.product = min(self.product, tests.of_products(products, new, limit))

    def p_value(self, column: Real, some: Callable[[], Real], rows: _Rows) -> float:
        """Return the p-value, corrected for the number of candidates.

        ``column`` is the first that is tested, and ``some`` returns the residuals of some targets, of length 1.
        """
        if not self.n_targets:
            return 1.0
        smallest = self.n_columns * self.n_targets * self.column
        if 3 * self.n_candidates * smallest > self.alpha:
            of_products = self.n_products * self.n_targets * self.product if self.n_products else 1.0
            smallest = min(smallest, of_products)
            smallest = min(smallest, _spread_tail(self, column, some(), rows, min(smallest, 1 / (3 * self.n_candidates))))
        return min(1.0, 3 * self.n_candidates * smallest)


class _ColumnTests(NamedTuple):
    """Tests of unit vectors with the residuals of every target of a block; those that are not ``live`` are not tested."""

    live: NDArray[np.bool_]
    squares: Real  # of the residuals
    scale: Real
    cubes: Real
    degrees: Real
    n_rows: Real
    block: _Block
    rows: _Rows

    def of(self, vectors: Real, dots: Real) -> tuple[Real, Real]:
        """Products with the residuals in standard deviations, and their tails; one row for every vector."""
        z = dots * np.sqrt(self.scale * self.degrees)
        of_cells = vectors * vectors
        cubes = of_cells * vectors if self.rows.equal else of_cells * vectors / self.rows.root
        of_vectors = np.repeat(cubes.sum(axis=1)[:, np.newaxis], len(self.scale), axis=1)
        if len(self.block.partial):
            # In the known rows a vector has another length, and other cubes.
            squares = np.maximum(of_cells @ self.block.known.T, np.finfo(float).eps)
            z[:, self.block.partial] /= np.sqrt(squares)
            of_vectors[:, self.block.partial] = (cubes @ self.block.known.T) / squares**1.5
        skewness = product_skewness(self.n_rows, of_vectors, self.cubes)
        tails = two_sided_tail(z, skewness)
        small = np.nonzero((tails <= SMALL) & self.live)
        if len(small[0]):
            # On the side to which it is skewed, Pearson's distribution has a kurtosis already.
            towards = np.maximum(skewness[small] * np.sign(z[small]), 0.0)
            kurtosis = self._kurtosis(of_cells, *small) - 1.5 * towards**2
            tails[small] = np.maximum(tails[small], 2 * heavy_tail(np.abs(z[small]), kurtosis))
        return z, np.asarray(np.minimum(1.0, tails))

    def _kurtosis(self, of_cells: Real, vector: NDArray[np.intp], target: NDArray[np.intp]) -> Real:
        """Excess kurtosis of the products of some vectors, whose squares are given, with the residuals of some targets."""
        is_used = np.zeros(len(self.squares), dtype=bool)
        is_used[target] = True
        used, index = np.flatnonzero(is_used), np.cumsum(is_used)[target] - 1
        squares = self.squares if len(used) == len(self.squares) else self.squares[used]
        weighted, vectors = squares, of_cells
        if not self.rows.equal:
            weighted, vectors = squares / self.rows.root**2, of_cells / self.rows.root**2
        of_targets = (np.einsum("ij,ij->i", squares, weighted) * self.scale[used] ** 2)[index]
        of_vectors = np.einsum("ij,ij->i", of_cells, vectors)[vector]
        if len(self.block.partial):
            position = np.full(len(self.scale), -1)
            position[self.block.partial] = np.arange(len(self.block.partial))
            partial = position[target] >= 0
            known = self.block.known[position[target[partial]]]
            lengths = np.einsum("ij,ij->i", of_cells[vector[partial]], known)
            in_known = np.einsum("ij,ij,ij->i", of_cells[vector[partial]], vectors[vector[partial]], known)
            of_vectors[partial] = in_known / np.maximum(lengths, np.finfo(float).eps) ** 2
        n = self.n_rows[target]
        kurtosis: Real = np.maximum(n * of_vectors - 3, 0) * np.maximum(n * of_targets - 3, 0) / n
        return kurtosis

    def of_products(self, products: _Products, left: Real, limit: float) -> float:
        """Return the smallest tail of products, or 1 if none is below the limit.

        A tail is the larger of that of :meth:`of` and that of a self-normalized sum: after a feature that predicts a rare
        label, residuals are large where the feature is, and so are its products. A sum over such rows varies more than
        permuted residuals do; its own squares tell how much. ``left`` are the residuals without the directions of the feature.
        """
        some = np.ones(len(products.left), dtype=bool)
        if not len(self.block.partial):
            # The normal tail, which costs little, shows that most products are far from the limit.
            z = np.abs(products.values @ left.T) * np.sqrt(self.scale * self.degrees) / np.sqrt(products.left)[:, np.newaxis]
            some = 2 * ndtr(-z.max(axis=1, where=self.live, initial=0.0)) < ABOVE * limit
            if not some.any():
                return 1.0
        vectors = products.unit_vectors(some)
        dots = vectors @ self.block.residuals.T
        _, tails = self.of(vectors, dots)
        tails[:, ~self.live] = 1.0
        weighted = vectors if self.rows.equal else vectors / self.rows.root

        def larger(product: Any, target: Any) -> Real:
            own = np.maximum((weighted[product] ** 2) @ self.squares[target].T, np.finfo(float).tiny)
            normal = 2 * ndtr(-np.abs(dots[product][:, target]) / np.sqrt(own))
            return np.asarray(np.maximum(tails[product][:, target], normal))

        # Targets none of whose tails is smaller than the larger one of the smallest tail need no second tail.
        at = np.unravel_index(int(tails.argmin()), tails.shape)
        least = float(larger([at[0]], [at[1]])[0, 0])
        return min(least, float(larger(slice(None), tails.min(axis=0) <= least).min()))


def _block_tests(step: _Step, block: _Block, rows: _Rows) -> _ColumnTests | None:
    """Prepare the tests of a feature with a block of targets; None if all are explained."""
    residuals = block.residuals
    of_cells = residuals * residuals
    squares = of_cells.sum(axis=1)
    n_rows = np.full(len(squares), rows.total)
    n_rows[block.partial] = block.known @ rows.root**2
    degrees = n_rows - len(step.basis)
    live = (squares > EXPLAINED * n_rows) & (degrees >= FEWEST_DEGREES)
    if not live.any():
        return None
    scale = np.divide(1.0, squares, out=np.zeros(len(squares)), where=live)
    cubes = np.einsum("ij,ij->i", of_cells, residuals if rows.equal else residuals / rows.root) * scale**1.5
    return _ColumnTests(live, of_cells, scale, cubes, np.maximum(degrees, 1.0), n_rows, block, rows)


def product_skewness(n: Any, cubes: Real, of_others: Real) -> Real:
    """Skewness of b'Pr over all permutations P of n rows, for centered vectors of length 1 with these sums of cubes."""
    skewness: Real = cubes * of_others * (n * np.sqrt(np.maximum(n - 1, 0)) / np.maximum(n - 2, 1))
    return skewness


def two_sided_tail(z: Real, skewness: Real) -> Real:
    """Twice the tail beyond z of Pearson's distribution of type III, on the side to which it is skewed; else a normal tail.

    >>> two_sided_tail(np.array([-2.0, 2.0]), np.array([1.0, 1.0])).round(4)
    array([0.0455, 0.0848])
    """
    towards, distance = skewness * np.sign(z), np.abs(z)
    tails = ndtr(-distance)
    skewed = towards > NO_SKEWNESS
    shape = 4 / towards[skewed] ** 2
    tails[skewed] = gammaincc(shape, shape + distance[skewed] * np.sqrt(shape))
    return np.asarray(np.minimum(1.0, 2 * tails))


def heavy_tail(z: Real, kurtosis: Real) -> Real:
    """Tail beyond z > 0 of a normal variable whose variance has a gamma distribution, of variance 1 with this excess kurtosis.

    >>> heavy_tail(np.array([4.0, 4.0, 4.0]), np.array([0.0, 1.0, 6.0])).round(5)
    array([3.00e-05, 5.30e-04, 3.23e-03])
    """
    tails: Real = ndtr(-z)
    heavy = kurtosis > NO_KURTOSIS
    if not heavy.any():
        return tails
    z, scale = z[heavy], kurtosis[heavy] / 3
    # Integrated over the logarithm of the variance, from where the tail vanishes to where the density does.
    low, high = np.log(z * z / 1400), np.log(8 * (z * np.sqrt(scale / 2) + 1 + 10 * scale))
    steps = np.linspace(0, 1, N_NODES)[:, np.newaxis]
    logs = low + (high - low) * steps
    variance = np.exp(logs)
    density = np.exp((logs - np.log(scale)) / scale - variance / scale - gammaln(1 / scale))
    tails[heavy] = (density * ndtr(-z / np.sqrt(variance))).sum(axis=0) * (high - low) / (N_NODES - 1)
    return tails


def _spread_tail(evidence: _Evidence, vector: Real, some: Real, rows: _Rows, limit: float) -> float:
    """Return the tail of the sum of squares over all targets, test (1); above the limit it may be too small."""
    n, level = rows.total, evidence.of_rows / rows.root**2
    products = some @ some.T
    traces = _traces(evidence.n_targets, products)
    plain, squares = vector / rows.root, vector * vector
    third, fourth = float(squares @ plain), float(squares @ (plain * plain))
    sixth = float((squares * plain) @ (plain * plain * plain))
    mean, variance = sum_of_squares_moments(n, fourth, *traces[:2], float(evidence.of_rows @ level))
    if variance <= np.finfo(float).eps * mean**2:
        return 1.0
    deviation = np.sqrt(variance)
    # Real residuals have the variance 1 / (N - rank Q) in every direction, permuted ones 1 / (N - 1).
    z = (evidence.sum_of_squares / (n - 1) - mean) / deviation
    skewness = max(2 * deviation / mean, 8 * traces[2] / (2 * traces[1]) ** 1.5)
    tail = _gamma_tail(z, skewness)
    if tail >= limit:  # more skewness makes it larger
        return tail
    cumulant = third_cumulant(n, third, fourth, sixth, _row_sums(evidence, some, products, traces, level, rows))
    return _gamma_tail(z, max(skewness, cumulant / (variance * deviation)))


def _gamma_tail(z: float, skewness: float) -> float:
    shape = 4 / skewness**2
    return float(gammaincc(shape, max(0.0, shape + z * np.sqrt(shape))))


class RowSums(NamedTuple):
    """What the distribution of test (1) depends on: sums over the products W = RR' of rows of residuals, and G = R'R."""

    trace: float  # of G: the number of targets
    square_trace: float  # of GG
    cube_trace: float  # of GGG
    row_squares: float  # the sum of W_ii^2
    row_cubes: float  # the sum of W_ii^3
    row_forms: float  # the sum of W_ii W_ij^2
    row_means: float  # the sum of W_ii W_ij W_jj
    pair_cubes: float  # the sum of W_ij^3


def _numbers_of(q: int, s: int) -> tuple[float, float, float]:
    """Scales that turn sums over one, two or three different targets of s into those of q."""
    one = q / max(1, s)
    two = one * (q - 1) / max(1, s - 1)
    return one, two, two * (q - 2) / max(1, s - 2)


def _traces(q: int, products: Real) -> tuple[float, float, float]:
    """Traces of G, GG and GGG for q targets, from the products G of some of them; their diagonal becomes 0."""
    _, two, three = _numbers_of(q, len(products))
    np.fill_diagonal(products, 0.0)
    pairs = two * float((products * products).sum())
    triples = three * float(((products @ products) * products).sum())
    return float(q), q + pairs, max(0.0, q + 3 * pairs + triples)


def _row_sums(
    evidence: _Evidence, some: Real, products: Real, traces: tuple[float, float, float], level: Real, rows: _Rows
) -> RowSums:
    """Compute the sums for all targets, of which ``some`` are given where different targets are multiplied with each other.

    Their sums over one, two or three different targets are scaled by the number of these. ``level`` are the squares of the
    residuals of every row.
    """
    q, s, weights = evidence.n_targets, len(some), rows.root**2
    one, two, _ = _numbers_of(q, s)
    forms = (some * level) @ some.T
    row_squares = float(weights @ (level * level))
    few = some[np.linspace(0, s - 1, min(s, MOST_CUBES), dtype=int)]
    plain, c = few if rows.equal else few / rows.root, len(few)
    cubes = np.zeros((c, c, c))  # sums of the products of three targets, the first of which has the lowest number
    for at in range(c):
        np.matmul(few[at:] * plain[at], few[at:].T, out=cubes[at, at:, at:])
    cubes *= cubes
    own, firsts = np.einsum("aaa->", cubes), np.einsum("aab->", cubes)
    lasts = np.einsum("abb->", cubes) - own  # the last two are the same
    of_pairs, of_triples = float(firsts - own + lasts), float(3 * (cubes.sum() - 2 * firsts + own - lasts))
    pair_cubes = evidence.squared_cubes + 3 * of_pairs * q * (q - 1) / max(1, c * (c - 1))
    pair_cubes += of_triples * q * (q - 1) * (q - 2) / max(1, c * (c - 1) * (c - 2))
    return RowSums(
        *traces,
        row_squares=row_squares,
        row_cubes=float(weights @ (level * level * level)),
        row_forms=row_squares + two * float((products * forms).sum()),
        row_means=one * float(((some @ (level * rows.root)) ** 2).sum()),
        pair_cubes=pair_cubes,
    )


def sum_of_squares_moments(
    n: float, fourth: float, trace: float, square_trace: float, row_squares: float
) -> tuple[float, float]:
    """Mean and variance of :math:`|b'PR|^2` over all permutations P of n rows, for a centered vector b of length 1.

    ``fourth`` is the sum of the fourth powers of b. Of the centered columns R, ``trace`` and ``square_trace`` are those of R'R
    and of its square, and ``row_squares`` is the sum over the rows of the squared sums of squares. Kazi-Aoual, Hitier,
    Sabatier and Lebreton (1995), for the trace of the product of bb' and RR'.
    """
    plain = 2 * ((n - 1) * square_trace - trace**2) / ((n - 1) ** 2 * (n + 1))
    of_vector = n * (n + 1) * fourth - 3 * (n - 1)
    of_rows = n * (n + 1) * row_squares - (n - 1) * (trace**2 + 2 * square_trace)
    return trace / (n - 1), plain + of_vector * of_rows / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))


def third_cumulant(n: float, third: float, fourth: float, sixth: float, sums: RowSums) -> float:
    r"""Third cumulant of :math:`|b'PR|^2`, for a vector b of length 1 with these sums of powers.

    For rows that are drawn from those of R with replacement; permutations have a slightly smaller one. With the joint
    cumulants :math:`\kappa` of :math:`t = b'PR`, it is the sum over all ways to connect three squares,

    .. math:: \sum_{abc} 8 \kappa_{ab} \kappa_{bc} \kappa_{ca} + 12 \kappa_{ab} \kappa_{abcc} + 6 \kappa_{aab} \kappa_{bcc}
        + 4 \kappa_{abc}^2 + \kappa_{aabbcc} .
    """
    t1, t2, t3, s2, s3, forms, means, cubes = sums.trace, *sums[1:]
    normal = 8 * t3 / n**3
    with_four = 12 * fourth * (forms / n**2 - (t1 * t2 + 2 * t3) / n**3)
    with_three = third**2 * (6 * means + 4 * cubes) / n**2
    of_six = s3 / n - (3 * t1 * s2 + 12 * forms + 6 * means + 4 * cubes) / n**2 + 2 * (t1**3 + 6 * t1 * t2 + 8 * t3) / n**3
    return normal + with_four + with_three + sixth * of_six


def _p_values(
    features: list[_Feature], n_candidates: list[int], first_only: bool, targets: _Targets, rows: _Rows, alpha: float
) -> list[float]:
    """p-values of the last features, as many as there are numbers of candidates for them."""
    n_targets, n_rows = len(targets.is_numeric), len(rows.root)
    first = len(features) - len(n_candidates)
    evidence = {first + at: _Evidence(n_rows, m, alpha) for at, m in enumerate(n_candidates)}
    of_features = list[tuple[Real, Real]]()  # directions of every feature, and the column of its first test
    at_once, in_cache = max(1, MOST_CELLS // n_rows), max(1, CELLS_IN_CACHE // n_rows)
    p_values = list[float]()
    for start in range(0, n_targets, at_once):
        end = min(start + at_once, n_targets)
        blocks = [_block(targets, range(at, min(at + in_cache, end)), rows) for at in range(start, end, in_cache)]
        # Where a few targets are all, test (1) needs no others.
        at_hand = n_targets <= min(in_cache, MOST_PAIRED) and not len(blocks[0].partial)
        for k, step in enumerate(_steps(features, rows, first_only)):
            if k in evidence:
                for block in blocks:
                    _fill(block, step.basis)
            dots = [block.residuals @ step.directions.T for block in blocks]
            left = [block.residuals - of_block @ step.directions for block, of_block in zip(blocks, dots, strict=True)]
            column = step.directions[step.tested[0]] if step.tested else step.directions[:0]
            if k in evidence:
                evidence[k].add(step, blocks, dots, left, n_targets, rows)
                if at_hand:
                    p_values.append(evidence[k].p_value(column, partial(_unit_residuals, blocks[0], rows), rows))
            for block, new in zip(blocks, left, strict=True):
                block.residuals[:] = new
            if start == 0:
                of_features.append((step.directions, column))
    if p_values:
        return p_values
    n_some = min(n_targets, MOST_PAIRED, max(MOST_CUBES, CELLS_IN_CACHE // n_rows))
    block = _block(targets, np.linspace(0, n_targets - 1, n_some, dtype=int).tolist(), rows)
    for k, (directions, column) in enumerate(of_features):
        if k in evidence:
            p_values.append(evidence[k].p_value(column, partial(_unit_residuals, block, rows), rows))
        block.residuals[:] -= (block.residuals @ directions.T) @ directions
    return p_values


def _unit_residuals(block: _Block, rows: _Rows) -> Real:
    """Return the residuals of a block with length 1, of targets that are not explained."""
    lengths = np.sqrt(np.einsum("ij,ij->i", block.residuals, block.residuals))
    live = lengths**2 > EXPLAINED * rows.total
    unit: Real = block.residuals[live] / lengths[live, np.newaxis]
    return unit


def _fill(block: _Block, basis: Real) -> None:
    """Make residuals those of the known cells, in place: unknown ones are filled with what the basis predicts for them."""
    if not len(block.partial):
        return
    residuals = block.residuals[block.partial]
    for _ in range(MOST_FILLS):
        unknown = residuals * (1 - block.known)
        residuals -= unknown
        if (unknown * unknown).sum() <= FILLED**2 * (residuals * residuals).sum():
            break
        residuals -= (residuals @ basis.T) @ basis
    block.residuals[block.partial] = residuals * block.known
