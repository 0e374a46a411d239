"""Tests of independence between every feature and every target: exact, by the G statistic, or by permutations."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, gammaln, xlogy

from labelsieve.discoveries.permutations import BlockPermutations, permutation_p_values, permutation_within
from labelsieve.errors import InputError
from labelsieve.information import conditional_mutual_information, mutual_information
from labelsieve.resources import require_memory
from labelsieve.tables.codes import Codes

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
TESTS = ("none", "exact", "g-test", "permutation")
NONE, EXACT, G_TEST, PERMUTATION = range(len(TESTS))
MIN_EXPECTED = 5.0  # rows expected in every cell, for the chi-square distribution
EXACT_WORK = 3 * 60**2  # (levels - 2) * m^2 up to which a table with two columns is tested exactly: about 10 ms for all targets
SMALLEST = float(np.finfo(np.float64).tiny)  # p-values are positive: a smaller one is rounded up to this
BYTES = 24  # for each pair: information, p-value and test, and intermediate arrays
TIES = 1e-9  # tables whose information differs by less, relative to the largest term, are ties
CELLS = 2048  # cells of the grid of conditional entropies
CODES_AT_ONCE = 2**22  # codes whose levels are counted together


class AssociationTests(NamedTuple):
    """Information in nats, p-values, and the kind of each test (an index of ``TESTS``): features by targets."""

    information: Real
    p_values: Real
    tests: NDArray[np.uint8]


@dataclass(frozen=True)
class TestSettings:
    """Settings of permutation tests: which rows may be exchanged, those of the same stratum and whole groups, and how often."""

    __test__ = False  # not for pytest

    strata: NDArray[np.intp] | None = None
    groups: NDArray[np.intp] | None = None
    n_permutations: int = 9999
    seed: int = 0
    n_jobs: int | None = None

    def take_rows(self, rows: NDArray[np.bool_]) -> "TestSettings":
        """Return the settings of a subset of the rows."""
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
    :class:`labelsieve.discoveries.permutations.BlockPermutations`. Missing cells are left out pair by pair. A feature or a
    target with one level has p = 1.
    """
    settings = TestSettings() if settings is None else settings
    shape = X.n_columns, Y.n_columns
    require_memory(BYTES * shape[0] * shape[1], "Tests of", *shape)
    result = AssociationTests(np.zeros(shape), np.ones(shape), np.zeros(shape, dtype=np.uint8))
    # Columns with missing cells are tested one by one, in the rows in which both columns of a pair are known.
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
    """Return the columns without missing cells, and then every other column with the rows in which it is known."""
    n_missing = codes.n_missing
    complete, others = np.flatnonzero(n_missing == 0), np.flatnonzero(n_missing)
    parts: list[tuple[NDArray[np.intp], NDArray[np.bool_] | None]] = [(complete, None)] if len(complete) else []
    return parts + [(np.array([column]), codes.is_known(int(column))) for column in others]


def _without_missing(codes: Codes) -> Codes:
    """Declare that no code is missing, after the rows with missing cells were removed."""
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
        n_permutations, seed, n_jobs = settings.n_permutations, settings.seed, settings.n_jobs
        options: dict[str, Any] = {"n_permutations": n_permutations, "seed": seed, "strata": strata, "n_jobs": n_jobs}
        result.p_values[wanted] = permutation_p_values(X, Y, wanted, draw=draw, **options)[wanted]
    return result


def _numbered(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def _set_exact(result: AssociationTests, X: Codes, Y: Codes) -> None:
    """Set the p-values of all pairs whose table is small enough for an exact test."""
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
    """Set exact p-values of pairs of a variable with three levels or more (``rows``) and one with two (``binary``)."""
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
    """Number strata or groups of rows, given by any values, from 0."""
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


def fourfold_p_values(n_rows: Whole, of_x: Whole, of_y: Whole, information: Real) -> Real:
    """Compute exact p-values of tables of two by two levels, as arrays of any shape.

    ``of_x`` and ``of_y`` of the rows have the first level of either variable. The count of the first cell has a hypergeometric
    distribution; the information, in nats, is convex in it, so the tables with at least the observed one are two tails. Cost: a
    bisection, and the terms of both tails, for all tables at once.

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

    # Information is convex in the count and 0 at the center: tables at least as informative are the ends on both sides.
    upper = _first_true(reaches, np.ceil(center), highest, 1.0)
    lower = _first_true(reaches, np.minimum(np.floor(center), upper - 1), lowest, -1.0)
    total = _tail(upper, n, a, b, highest, 1.0) + _tail(lower, n, a, b, lowest, -1.0)
    return np.minimum(total, 1.0).reshape(shape)


def _first_true(reaches: Callable[[Real], NDArray[np.bool_]], start: Real, end: Real, step: float) -> Real:
    """Find the count nearest to the center, from ``start`` to ``end``, that reaches; one step behind the end if none does."""
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
    """Sum the hypergeometric probabilities of ``k`` and all counts behind it, away from the center."""
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
    r"""Compute exact p-values of tables with these counts of levels, and a variable of two levels.

    ``margin`` has the rows of every level of the first variable; ``of_second`` those of the rarer level of the second one,
    :math:`m`, and ``information`` the observed one, in nats, for every test.

    With :math:`k_a` rows of the second level among the :math:`n_a` of level :math:`a`, :math:`n H(y \mid x) = \sum_a h_a(k_a)`
    is a sum over the levels, and the probability of the counts is :math:`\prod_a \binom{n_a}{k_a} / \binom{n}{m}`. One
    recursion over the levels therefore has the distribution for all :math:`m`. Values of :math:`h_a` are rounded down to a
    grid, so the p-value is an upper bound and never too small: equal to the exact value where few tables are possible, and up
    to half larger for some tables with dozens of rows of the second level. Cost: ``(levels - 2) * m^2 / 2 * 2048`` additions
    for the largest :math:`m`.

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
        # state[k, cell]: weight of all counts so far with k rows of the second level and their entropy in this cell.
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
    """Return binomial weights of 0, 1, ... rows of the second level among ``size``, and their cells of the grid."""
    k = np.arange(min(size, largest) + 1, dtype=np.float64)
    weights = np.exp(_log_choose(np.float64(size), k) + k * np.log(share) + (size - k) * np.log1p(-share))  # type: ignore[arg-type]
    costs = xlogy(size, size) - xlogy(k, k) - xlogy(size - k, size - k)
    return weights, np.floor(np.maximum(costs, 0.0) / width).astype(np.intp)


@dataclass(frozen=True)
class TableMargins:
    """Degrees of freedom, the smallest expected count, and Williams' correction of every pair, over all strata."""

    degrees: NDArray[np.int64]
    expected: Real
    correction: Real

    @classmethod
    def of_tables(cls, X: Codes, Y: Codes, strata: NDArray[np.integer] | None) -> "TableMargins":
        """Compute the margins of the table of every feature with every target."""
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
    """Level counts of every column: how many levels occur, the count of the rarest, and the sum of reciprocal counts."""

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
    """Return for every column the counts of the levels that occur."""
    counts, starts = level_counts(codes)
    return [part[part > 0] for part in np.split(counts, starts[1:-1])]


def level_counts(codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the levels of all columns, one column after the other; also return where each column begins.

    >>> level_counts(Codes.from_values([[0, 2], [1, 2], [1, 0]]))
    (array([1, 2, 1, 0, 2]), array([0, 2, 5]))
    """
    levels = codes.levels.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    counts = np.zeros(starts[-1], dtype=np.int64)
    if codes.dense is not None:
        step = max(1, CODES_AT_ONCE // max(1, codes.n_rows))
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
    """Return the largest entropy of a column, in nats: no column has more information about anything.

    >>> round(largest_entropy(Codes.from_values([[0, 0], [0, 1], [0, 0], [1, 1]])), 4)
    0.6931
    """
    counts, starts = level_counts(codes)
    known, weighted = (np.add.reduceat(values, starts[:-1]) for values in (counts.astype(np.float64), xlogy(counts, counts)))
    return float((np.log(np.maximum(known, 1)) - weighted / np.maximum(known, 1)).max(initial=0.0))
