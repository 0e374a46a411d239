"""Tests of independence of every feature and every target, with the p-value that their counts allow."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from labelsieve.counting.codes import Codes
from labelsieve.counting.resources import require_memory
from labelsieve.counting.row_permutations import BlockPermutations, permutation_within
from labelsieve.errors import InputError
from labelsieve.information import conditional_mutual_information, mutual_information
from labelsieve.statistics.exact_tables import fourfold_p_values, two_column_p_values
from labelsieve.statistics.permutation_p_values import permutation_p_values
from labelsieve.statistics.table_margins import TableMargins, occurring_counts

Real = NDArray[np.float64]

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
    :class:`labelsieve.counting.row_permutations.BlockPermutations`. Missing cells are left out pair by pair. A feature or a
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
