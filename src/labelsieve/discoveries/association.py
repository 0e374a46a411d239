"""Tests of association between a feature and a label: chi-square and G, exact, and by permutation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, gammaln, xlogy

from labelsieve.errors import InputError
from labelsieve.information import conditional_mutual_information, mutual_information
from labelsieve.progress import progress_bar
from labelsieve.resources import require_memory
from labelsieve.tables.codes import Codes, SparseCodes

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

TIES = 1e-9  # tables whose information differs by less, relative to the largest term, are ties
CELLS = 2048  # of the grid of conditional entropies


def fourfold_p_values(n_rows: Whole, of_x: Whole, of_y: Whole, information: Real) -> Real:
    r"""Exact p-values of tables of two by two levels, as arrays of any shape.

    The count of the first cell has a hypergeometric distribution; :math:`I` is convex in it, so the tables with at least the
    observed information are two tails. Cost: a bisection, and the terms of both tails, for all tables at once.

    Parameters
    ----------
    n_rows, of_x, of_y : ndarray of int
        Rows of a table, and rows with the first level of either variable.
    information : ndarray of float
        Observed mutual information, in nats.

    >>> fourfold_p_values(np.array([8]), np.array([4]), np.array([4]), np.array([np.log(2)]))  # 2 of 70 tables
    array([0.02857143])
    """
    n, a, b, nats = (np.asarray(values, dtype=np.float64) for values in np.broadcast_arrays(n_rows, of_x, of_y, information))
    shape = n.shape
    n, a, b, nats = (values.ravel() for values in (n, a, b, nats))
    lowest, highest, center = np.maximum(0.0, a + b - n), np.minimum(a, b), a * b / n
    margins = xlogy(a, a) + xlogy(n - a, n - a) + xlogy(b, b) + xlogy(n - b, n - b) - xlogy(n, n)
    wanted = n * nats - TIES * (1.0 + np.abs(margins))

    def reaches(k: Real) -> NDArray[np.bool_]:
        cells = (k, a - k, b - k, n - a - b + k)
        reached: NDArray[np.bool_] = sum(xlogy(cell, cell) for cell in cells) - margins >= wanted
        return reached

    upper = _first_true(reaches, np.ceil(center), highest, 1.0)
    lower = _first_true(reaches, np.minimum(np.floor(center), upper - 1), lowest, -1.0)
    total = _tail(upper, n, a, b, highest, 1.0) + _tail(lower, n, a, b, lowest, -1.0)
    return np.minimum(total, 1.0).reshape(shape)


def _first_true(reaches: Callable[[Real], NDArray[np.bool_]], start: Real, end: Real, step: float) -> Real:
    """The count nearest to the center, from ``start`` to ``end``, that reaches; one step behind the end if none does."""
    near, far = start.copy(), end + step  # far: reaches, or is behind the end
    while True:
        open_ = (far - near) * step > 0
        if not open_.any():
            return far
        middle = np.where(open_, near + step * np.floor(np.abs(far - near) / 2), near)
        inside = (end - middle) * step >= 0
        yes = reaches(np.where(inside, middle, end)) & inside
        yes |= ~inside
        far = np.where(open_ & yes, middle, far)
        near = np.where(open_ & ~yes, middle + step, near)


def _tail(k: Real, n: Real, a: Real, b: Real, end: Real, step: float) -> Real:
    """Hypergeometric probability of ``k`` and all counts behind it, away from the center."""
    exists = (end - k) * step >= 0
    at = np.where(exists, k, end)
    log_p = _log_choose(a, at) + _log_choose(n - a, b - at) - _log_choose(n, b)
    total, term, active = np.ones_like(at), np.ones_like(at), np.flatnonzero(exists)
    current = at.copy()
    while len(active):
        j, m, x, y = current[active], n[active], a[active], b[active]
        up = (x - j) * (y - j) / ((j + 1) * (m - x - y + j + 1)) if step > 0 else None
        ratio = up if up is not None else j * (m - x - y + j) / ((x - j + 1) * (y - j + 1))
        term[active] *= ratio
        total[active] += term[active]
        current[active] += step
        active = active[term[active] > 1e-17 * total[active]]
    result: Real = np.where(exists, np.exp(log_p) * total, 0.0)
    return result


def _log_choose(n: Real, k: Real) -> Real:
    result: Real = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result


def two_column_p_values(margin: Whole, of_second: Whole, information: Real) -> Real:
    r"""Exact p-values of tables with these counts of levels, and a variable of two levels.

    With :math:`k_a` rows of the second level among the :math:`n_a` of level :math:`a`, :math:`n H(y \mid x) = \sum_a h_a(k_a)`
    is a sum over the levels, and the probability of the counts is :math:`\prod_a \binom{n_a}{k_a} / \binom{n}{m}`. One
    recursion over the levels therefore has the distribution for all :math:`m`. Values of :math:`h_a` are rounded down to a
    grid, so the p-value is an upper bound and never too small: equal to the exact value where few tables are possible, and up
    to half larger for some tables with dozens of rows of the second level.

    Cost: ``(levels - 2) * m^2 / 2 * 2048`` additions for the largest :math:`m`.

    Parameters
    ----------
    margin : ndarray of int
        Rows of every level of the first variable, all positive.
    of_second : ndarray of int
        Rows :math:`m` of the rarer level of the second variable, for every test.
    information : ndarray of float
        Observed mutual information of every test, in nats.

    >>> two_column_p_values(np.array([2, 2, 2]), np.array([2]), np.array([np.log(3) - 2 * np.log(2) / 3]))
    array([0.2])
    """
    levels, n, largest = np.sort(margin), int(margin.sum()), int(of_second.max())
    entropy = n * np.log(n) - xlogy(of_second, of_second) - xlogy(n - of_second, n - of_second)
    observed = np.maximum(0.0, entropy - n * information) + TIES * n * np.log(n)
    width = max(float(observed.max()), 1e-300) / CELLS
    limit = np.minimum(np.floor(observed / width), CELLS).astype(np.intp)
    share = float(of_second.mean()) / n
    state = np.zeros((largest + 1, CELLS + 1))
    for step, size in enumerate(levels[:-1]):
        weights, cells = _level(int(size), largest, share, width)
        if not step:
            inside = np.flatnonzero(cells <= CELLS)
            state[inside, cells[inside]] = weights[inside]
            continue
        before, state = state, np.zeros_like(state)
        for k in np.flatnonzero(cells <= CELLS).tolist():
            cell = int(cells[k])
            state[k:, cell:] += weights[k] * before[: largest + 1 - k, : CELLS + 1 - cell]
    below = np.cumsum(state, axis=1)
    weights, cells = _level(int(levels[-1]), largest, share, width)
    p_values = np.empty(len(of_second))
    for m in np.unique(of_second).tolist():
        tests = np.flatnonzero(of_second == m)
        others = np.arange(max(0, m - len(weights) + 1), m + 1)  # rows of the second level among all levels but the last
        left = limit[tests] - cells[m - others][:, np.newaxis]
        terms = np.where(left >= 0, below[others[:, np.newaxis], np.maximum(left, 0)], 0.0)
        log_all = _log_choose(np.float64(n), np.float64(m)) + m * np.log(share) + (n - m) * np.log1p(-share)  # type: ignore[arg-type]
        p_values[tests] = weights[m - others] @ terms / np.exp(log_all)
    return np.minimum(p_values, 1.0)


def _level(size: int, largest: int, share: float, width: float) -> tuple[Real, NDArray[np.intp]]:
    """Binomial weights of 0, 1, ... rows of the second level among ``size``, and their cells of the grid."""
    k = np.arange(min(size, largest) + 1, dtype=np.float64)
    weights = np.exp(_log_choose(np.float64(size), k) + k * np.log(share) + (size - k) * np.log1p(-share))  # type: ignore[arg-type]
    costs = xlogy(size, size) - xlogy(k, k) - xlogy(size - k, size - k)
    return weights, np.floor(np.maximum(costs, 0.0) / width).astype(np.intp)


Draw = Callable[[np.random.RandomState], NDArray[np.intp]]

ENOUGH = 20  # permutations at least as informative after which a pair needs no more
CODES_AT_ONCE = 2**24  # rows times columns of the permuted targets that are counted together
VALUES_AT_ONCE = 2**22  # of their information
TIES_PERMUTATION_P_VALUES = (
    1e-11  # nats: tables that differ in the order of their levels only have the same information up to rounding
)


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
    r"""p-values of the pairs ``wanted`` of a feature (rows) and a target (columns); NaN for the others.

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
        """Leave out features and targets without a pair that is left."""
        features, targets = np.flatnonzero(left.any(axis=1)), np.flatnonzero(left.any(axis=0))
        if (len(features), len(targets)) == self._shape:
            return
        self._shape, self.pairs = (len(features), len(targets)), np.ix_(features, targets)
        self._features, self._targets = self._X.take_columns(features), self._Y.take_columns(targets)
        self._observed = self._information(self._targets)

    def fitting(self, size: int) -> int:
        """As many permutations as can be counted together, up to ``size``."""
        d, q = self._shape
        return max(1, min(size, CODES_AT_ONCE // (self._X.n_rows * q), VALUES_AT_ONCE // (d * q)))

    def reached(self, orders: list[NDArray[np.intp]]) -> NDArray[np.int64]:
        """Of shape (features, permutations, targets): how many of the permutations so far reach the observed information."""
        dense, levels = np.asarray(self._targets.dense), self._targets.levels
        permuted = np.concatenate([dense[order] for order in orders], axis=1)
        values = self._information(Codes(len(dense), np.tile(levels, len(orders)), dense=permuted))
        values = values.reshape(len(values), len(orders), -1)
        return np.cumsum(values >= self._observed[:, np.newaxis] - TIES_PERMUTATION_P_VALUES, axis=1)

    def _information(self, targets: Codes) -> Real:
        if self._strata is None:
            return mutual_information(self._features, targets, n_jobs=self._n_jobs)
        return conditional_mutual_information(self._features, targets, self._strata, n_jobs=self._n_jobs)


CODES_AT_ONCE_TABLE_MARGINS = 2**22


@dataclass(frozen=True)
class TableMargins:
    """Degrees of freedom, the smallest expected count, and Williams' correction of every pair, over all strata."""

    degrees: NDArray[np.int64]
    expected: Real
    correction: Real

    @classmethod
    def of_tables(cls, X: Codes, Y: Codes, strata: NDArray[np.integer] | None) -> "TableMargins":
        """Of every feature with every target."""
        shape = X.n_columns, Y.n_columns
        degrees, expected, excess = np.zeros(shape, dtype=np.int64), np.full(shape, np.inf), np.zeros(shape)
        masks = [None] if strata is None else [strata == stratum for stratum in np.unique(strata)]
        for rows in masks:
            x, y = (LevelCounts.of_columns(codes if rows is None else codes.take_rows(rows)) for codes in (X, Y))
            n = X.n_rows if rows is None else int(np.count_nonzero(rows))
            own = np.outer(x.occurring - 1, y.occurring - 1)
            degrees += own
            expected = np.where(own > 0, np.minimum(expected, np.outer(x.smallest, y.smallest) / n), expected)
            excess += np.outer(n * x.reciprocals - 1, n * y.reciprocals - 1) / (6 * n)
        return cls(degrees, expected, 1 + excess / np.maximum(degrees, 1))


class LevelCounts(NamedTuple):
    """Of every column: the number of levels that occur, the count of the rarest, and the sum of reciprocal counts."""

    occurring: NDArray[np.int64]
    smallest: NDArray[np.int64]
    reciprocals: Real

    @classmethod
    def of_columns(cls, codes: Codes) -> "LevelCounts":
        """Count the levels of every column."""
        counts, starts = level_counts(codes)
        occurs = counts > 0
        first = starts[:-1]
        smallest = np.minimum.reduceat(np.where(occurs, counts, np.iinfo(np.int64).max), first)
        reciprocals = np.add.reduceat(np.divide(1.0, counts, out=np.zeros(len(counts)), where=occurs), first)
        return cls(np.add.reduceat(occurs.astype(np.int64), first), smallest, reciprocals)


def occurring_counts(codes: Codes) -> list[NDArray[np.int64]]:
    """Of every column, the counts of the levels that occur."""
    counts, starts = level_counts(codes)
    return [part[part > 0] for part in np.split(counts, starts[1:-1])]


def level_counts(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of the levels of all columns, one column after the other, and where each column begins.

    >>> level_counts(Codes.from_values([[0, 2], [1, 2], [1, 0]]))
    (array([1, 2, 1, 0, 2]), array([0, 2, 5]))
    """
    levels = codes.levels.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    counts = np.zeros(starts[-1], dtype=np.int64)
    if codes.dense is not None:
        step = max(1, CODES_AT_ONCE_TABLE_MARGINS // max(1, codes.n_rows))
        for first in range(0, codes.n_columns, step):
            some = slice(first, first + step)
            cells = codes.dense[:, some] + starts[:-1][some] - starts[first]
            size = int(starts[min(first + step, codes.n_columns)] - starts[first])
            counts[starts[first] : starts[first] + size] = np.bincount(cells.ravel(order="K"), minlength=size)
        return counts, starts
    assert codes.sparse is not None
    sizes = np.diff(codes.sparse.starts)
    counts += np.bincount(np.repeat(starts[:-1], sizes) + codes.sparse.codes, minlength=len(counts))
    counts[starts[:-1] + codes.sparse.implicit] += codes.n_rows - sizes
    return counts, starts


def largest_entropy(codes: Codes) -> float:
    """The largest entropy of a column, in nats: no column has more information about anything.

    >>> round(largest_entropy(Codes.from_values([[0, 0], [0, 1], [0, 0], [1, 1]])), 4)
    0.6931
    """
    counts, starts = level_counts(codes)
    known, weighted = (np.add.reduceat(values, starts[:-1]) for values in (counts.astype(np.float64), xlogy(counts, counts)))
    return float((np.log(np.maximum(known, 1)) - weighted / np.maximum(known, 1)).max(initial=0.0))


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


TESTS = ("none", "exact", "g-test", "permutation")
NONE, EXACT, G_TEST, PERMUTATION = range(len(TESTS))
MIN_EXPECTED = 5.0  # rows expected in every cell, for the chi-square distribution
EXACT_WORK = 3 * 60**2  # (levels - 2) * m^2 up to which a table with two columns is tested exactly: about 10 ms for all targets
SMALLEST = float(np.finfo(np.float64).tiny)  # p-values are positive: a smaller one is rounded up to this
BYTES = 24  # for each pair: information, p-value and test, and intermediate arrays


class AssociationTests(NamedTuple):
    """Information in nats, p-values, and the kind of each test (an index of ``TESTS``): features by targets."""

    information: Real
    p_values: Real
    tests: NDArray[np.uint8]


@dataclass(frozen=True)
class TestSettings:
    """How rows may be permuted, and how often.

    Attributes
    ----------
    strata, groups : ndarray of int, optional
        For every row, from 0.
    n_permutations, seed, n_jobs : int
    """

    __test__ = False  # not for pytest

    strata: NDArray[np.intp] | None = None
    groups: NDArray[np.intp] | None = None
    n_permutations: int = 9999
    seed: int = 0
    n_jobs: int | None = None

    def take_rows(self, rows: NDArray[np.bool_]) -> "TestSettings":
        """The same for some rows."""
        strata, groups = (None if codes is None else codes[rows] for codes in (self.strata, self.groups))
        return TestSettings(strata, groups, self.n_permutations, self.seed, self.n_jobs)


def association_tests(X: Codes, Y: Codes, settings: TestSettings | None = None) -> AssociationTests:
    r"""Test every feature for independence of every target, given the strata.

    The statistic is the mutual information, :math:`G = 2n \, I(x; y)`, or given strata :math:`2n \, I(x; y \mid s)`. Its
    p-value is, in this order:

    - exact, :math:`P(I \ge I_{obs})` over all permutations, for a table of two by two levels, and for one with two levels of
      one variable if :math:`(r - 2) m^2 \le 10{,}800` for :math:`r` levels of the other and :math:`m` rows of the rarer of
      the two;
    - that of the chi-square distribution with :math:`(r - 1)(c - 1)` degrees of freedom, of :math:`G` divided by Williams'
      (1976) correction, if every cell of every stratum has five expected rows or more;
    - from random permutations within strata, see :func:`permutation_p_values`, in all other cases.

    Exact tests do not know of strata. With groups all p-values are from permutations, of whole groups of rows: see
    :class:`labelsieve.discoveries.association.BlockPermutations`. Missing cells are left out pair by pair. A feature or a
    target with one level has p = 1.
    """
    settings = TestSettings() if settings is None else settings
    shape = X.n_columns, Y.n_columns
    require_memory(BYTES * shape[0] * shape[1], "Tests of", *shape)
    result = AssociationTests(np.zeros(shape), np.ones(shape), np.zeros(shape, dtype=np.uint8))
    for targets, rows in _known_rows(Y):
        for features, known in _known_rows(X if rows is None else X.take_rows(rows)):
            pairs = np.ix_(features, targets)
            part: tuple[Any, ...] = X.take_columns(features), Y.take_columns(targets), settings
            for mask in (rows, known):
                part = part if mask is None else tuple(table.take_rows(mask) for table in part)
            tested = _complete_tests(_without_missing(part[0]), _without_missing(part[1]), part[2])
            result.information[pairs], result.p_values[pairs] = tested.information, np.maximum(tested.p_values, SMALLEST)
            result.tests[pairs] = tested.tests
    return result


def _known_rows(codes: Codes) -> list[tuple[NDArray[np.intp], NDArray[np.bool_] | None]]:
    """Columns without missing cells, and then every other column with the rows in which it is known."""
    n_missing = codes.n_missing
    complete, others = np.flatnonzero(n_missing == 0), np.flatnonzero(n_missing)
    parts: list[tuple[NDArray[np.intp], NDArray[np.bool_] | None]] = [(complete, None)] if len(complete) else []
    return parts + [(np.array([column]), codes.is_known(int(column))) for column in others]


def _without_missing(codes: Codes) -> Codes:
    """The same codes, none of which is missing; the level for missing cells does not occur."""
    return Codes(codes.n_rows, codes.levels, codes.names, codes.dense, codes.sparse)


def _complete_tests(X: Codes, Y: Codes, settings: TestSettings) -> AssociationTests:
    shape = X.n_columns, Y.n_columns
    if not X.n_rows:
        return AssociationTests(np.zeros(shape), np.ones(shape), np.zeros(shape, dtype=np.uint8))
    strata = None if settings.strata is None else Codes.from_values(_numbered(settings.strata)[:, np.newaxis])
    if strata is None:
        information = mutual_information(X, Y, n_jobs=settings.n_jobs)
    else:
        information = conditional_mutual_information(X, Y, strata, n_jobs=settings.n_jobs)
    margins = TableMargins.of_tables(X, Y, None if strata is None else strata.column(0))
    result = AssociationTests(information, np.ones(shape), np.full(shape, PERMUTATION, dtype=np.uint8))
    result.tests[margins.degrees == 0] = NONE
    if settings.groups is None:
        if strata is None:
            _set_exact(result, X, Y)
        asymptotic = (result.tests == PERMUTATION) & (margins.expected >= MIN_EXPECTED)
        corrected = 2 * X.n_rows * information[asymptotic] / margins.correction[asymptotic]
        result.p_values[asymptotic] = chdtrc(margins.degrees[asymptotic], corrected)
        result.tests[asymptotic] = G_TEST
    wanted = result.tests == PERMUTATION
    if wanted.any():
        of_rows = np.zeros(X.n_rows, dtype=np.intp) if settings.strata is None else settings.strata
        draw: Any = partial(permutation_within, of_rows)
        if settings.groups is not None:
            draw = BlockPermutations.of_groups(settings.groups, of_rows, Y).draw
        counts = settings.n_permutations, settings.seed
        drawn = permutation_p_values(
            X, Y, wanted, draw=draw, n_permutations=counts[0], seed=counts[1], strata=strata, n_jobs=settings.n_jobs
        )
        result.p_values[wanted] = drawn[wanted]
    return result


def _numbered(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def _set_exact(result: AssociationTests, X: Codes, Y: Codes) -> None:
    """Set the p-values of all pairs that are tested exactly."""
    of_x, of_y = (occurring_counts(codes) for codes in (X, Y))
    binary_x, binary_y = (
        np.array([j for j, counts in enumerate(of) if len(counts) == 2], dtype=np.intp) for of in (of_x, of_y)
    )
    if len(binary_x) and len(binary_y):
        pairs = np.ix_(binary_x, binary_y)
        rare_x, rare_y = np.array([of_x[j].min() for j in binary_x]), np.array([of_y[j].min() for j in binary_y])
        n = np.array(X.n_rows)
        result.p_values[pairs] = fourfold_p_values(n, rare_x[:, np.newaxis], rare_y, result.information[pairs])
        result.tests[pairs] = EXACT
    _set_two_columns(result, of_x, of_y, binary_y)
    _set_two_columns(AssociationTests(result.information.T, result.p_values.T, result.tests.T), of_y, of_x, binary_x)


def _set_two_columns(
    result: AssociationTests, rows: list[NDArray[np.int64]], columns: list[NDArray[np.int64]], binary: NDArray[np.intp]
) -> None:
    """The same for variables with three levels or more (``rows``) and those with two (``binary`` of ``columns``)."""
    rarer = np.array([columns[column].min() for column in binary], dtype=np.int64)
    by_margin: dict[tuple[int, ...], list[int]] = {}
    for row, counts in enumerate(rows):
        if len(counts) > 2:
            by_margin.setdefault(tuple(np.sort(counts).tolist()), []).append(row)
    for margin, members in by_margin.items():
        few = (len(margin) - 2) * rarer**2 <= EXACT_WORK
        if few.any():
            pairs = np.ix_(np.array(members), binary[few])
            of_second = np.broadcast_to(rarer[few], (len(members), int(few.sum())))
            values = two_column_p_values(np.array(margin), of_second.ravel(), result.information[pairs].ravel())
            result.p_values[pairs] = values.reshape(of_second.shape)
            result.tests[pairs] = EXACT


def row_codes(values: ArrayLike | None, n_rows: int, what: str) -> NDArray[np.intp] | None:
    """Strata or groups of rows, of any values, numbered from 0."""
    if values is None:
        return None
    column = np.asarray(values)
    if column.ndim != 1 or len(column) != n_rows:
        raise InputError(f"{what} must have one value for each of the {n_rows} rows; it has shape {column.shape}.")
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise InputError(f"{what}: the value of row {int(np.argmax(np.isnan(column)))} is missing; fill it or drop the row.")
    try:
        return _numbered(column)
    except TypeError:
        raise InputError(f"{what}: values of different types cannot be compared; make all of them text.") from None
