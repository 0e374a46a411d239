"""Sums of products of scaled columns equal naive ones in integers of any size, for any parts of the rows and any threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import core
from labelsieve.counting.backends.gpu.kernels import CudaKernels
from labelsieve.counting.backends.gpu.sums import DeviceLevels, DeviceNumbers, held_columns
from labelsieve.counting.sums import (
    BLOCK,
    Digits,
    LevelColumns,
    Lists,
    RowSums,
    Vectors,
    Wanted,
    WholeColumns,
    WholeTargets,
    Wide,
    level_columns,
    pieces_of,
    scales,
    whole_columns,
)
from labelsieve.errors import InputError
from labelsieve.labelspace import read_targets
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.weights import RowWeights, quantize
from tests.support.numpy_kernels import NumpyKernels
from tests.support.reference_sums import level_columns as naive_levels
from tests.support.reference_sums import product, whole_numbers

# What adds up the products: the core, or kernels that hold the columns.
PLACES = {"core": None, "gpu, numpy": NumpyKernels, "gpu": pytest.param(CudaKernels, marks=pytest.mark.gpu)}
everywhere = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
ONE = core.Threads(1)


def placed(place, columns):
    return columns if place is None else held_columns(place(), columns, 2**40)


@given(st.lists(NUMBERS | st.just(float("nan")), min_size=1, max_size=40), st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_column_becomes_whole_numbers_of_24_bits(values, as_list, weighted):
    column = np.array(values)[:, np.newaxis]
    given_weights = [1 + i % 3 for i in range(len(values))] if weighted else [1] * len(values)
    weights = RowWeights(np.array(given_weights, dtype=np.uint64), 1.0, sum(given_weights)) if weighted else None
    table = read_table(sp.csc_array(column) if as_list else column, allow_missing=True)
    (part,) = whole_columns(table, weights, ONE).parts
    found = part.column(0)
    assert found.tolist() == whole_numbers(values, given_weights)
    assert np.abs(found).max() < 2**23
    known = column[~np.isnan(column)]
    if len(known) and known.min() < known.max():
        assert np.ptp(found) >= 2**21  # no bits are wasted


def test_zeros_stay_zeros_and_small_whole_numbers_are_exact():
    column = np.array([[0.0], [3.0], [1.0], [7.0], [0.0]])
    (part,) = whole_columns(read_table(column), None, ONE).parts
    assert part.column(0).tolist() == [0, 3 * 2**20, 2**20, 7 * 2**20, 0]
    assert scales(np.array([5e-324]), np.array([1e-323]))[0].tolist() == [1096]


def test_infinite_numbers_are_named():
    with pytest.raises(InputError, match="row 1, column 0: inf"):
        whole_columns(read_table(np.array([[1.0], [np.inf]])), None, ONE)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_pieces_make_up_the_numbers(numbers):
    pieces = pieces_of(np.array(numbers))
    assert [sum(int(piece[i]) << 24 * k for k, piece in enumerate(pieces)) for i in range(len(numbers))] == numbers
    assert all(np.abs(piece.astype(np.int64)).max() <= 2**23 for piece in pieces)


@given(st.lists(st.integers(-(2**90), 2**90), min_size=1, max_size=5))
def test_wide_numbers_add_as_integers(numbers):
    wide = Wide.of(numbers)
    assert wide.to_ints() == numbers
    assert (wide + wide).to_ints() == [2 * number for number in numbers]


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5), st.sampled_from([0, 1, 24, 31, 48]))
def test_wide_numbers_shift_as_integers(numbers, bits):
    assert (Wide.of(numbers) << bits).to_ints() == [number << bits for number in numbers]


def make_table(seed, n_rows, share_of_zeros=0.0):
    """A table of numbers of any scale with gaps, outliers, levels and zeros; and targets of every kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8)) * 10.0 ** rng.integers(-200, 200, 8)
    X[:, 1] = 1e9 + rng.normal(size=n_rows)
    X[rng.random(n_rows) < 0.2, 2] = np.nan
    X[:, 3] = rng.choice([1.0, 2.0, 5.0, np.nan], n_rows)
    X[:, 4] = rng.integers(0, 40, n_rows)
    X[rng.integers(0, n_rows), 5] *= 1e6
    X[:, 6] = 4.5
    X[rng.random(X.shape) < share_of_zeros] = 0.0
    Y = np.column_stack(
        [rng.random(n_rows) > 0.7, rng.integers(0, 3, n_rows), rng.random(n_rows) > 0.5, rng.normal(size=n_rows)]
    )
    Y[rng.random(n_rows) < 0.2, 2] = np.nan
    Y[rng.random(n_rows) < 0.1, 3] = np.nan
    Y[:6, 1:3] = [[0, 0], [1, 1], [2, 0], [0, 1], [1, 0], [2, 1]]  # all classes occur
    Y[:2, 0] = [0, 1]
    return X, Y


def make_weights(kind, n_rows):
    rng = np.random.default_rng(7)
    if kind == "none":
        return None
    return quantize({"whole": rng.integers(1, 5, n_rows).astype(float), "any": rng.random(n_rows) ** 4 + 1e-9}[kind])


def naive_columns(X, nominal, every, unit):
    columns = []
    for column, values in enumerate(X.T):
        columns += naive_levels(values, every, unit) if column in nominal else [whole_numbers(values, every)]
    return columns


def naive_targets(Y, every):
    unknown = np.isnan(Y[:, 2])
    ones = sum(w for w, y in zip(every, Y[:, 2], strict=True) if y == 1)
    known = sum(w for w, u in zip(every, unknown, strict=True) if not u)
    mean = (2 * ones * 2**22 + known) // (2 * known)
    return [
        (Y[:, 0] == 1).astype(int).tolist(),
        *((Y[:, 1] == level).astype(int).tolist() for level in range(3)),
        [mean if u else int(y) << 22 for u, y in zip(unknown, np.nan_to_num(Y[:, 2]), strict=True)]
        if unknown.any()
        else Y[:, 2].astype(int).tolist(),
        whole_numbers(Y[:, 3], every),
    ]


def check_sums(total, columns, of_targets, every, wanted):
    ones = [1] * len(every)
    assert total.sums.to_ints() == [product(column, ones, every) for column in columns]
    assert total.squares.to_ints() == [product(column, column, every) for column in columns]
    assert total.with_targets.to_ints() == [[product(column, y, every) for y in of_targets] for column in columns]
    assert total.with_columns.to_ints() == [[product(c, columns[s], every) for s in wanted.columns] for c in columns]


@everywhere
@given(
    st.integers(0, 2**32),
    st.integers(8, 90),
    st.sampled_from(["none", "whole", "any"]),
    st.sampled_from([0.0, 0.5, 0.95]),
    st.sampled_from([(), (3, 4), (3, 4, 0, 1, 2, 5, 6, 7)]),
    st.booleans(),
    st.sampled_from([1, 2]),
)
@settings(max_examples=60, deadline=None)
def test_sums_equal_naive_ones(place, seed, n_rows, kind, share_of_zeros, nominal, as_list, n_threads):
    X, Y = make_table(seed, n_rows, share_of_zeros)
    weights, threads = make_weights(kind, n_rows), core.Threads(n_threads)
    every = [1] * n_rows if weights is None else weights.values.tolist()
    values = sp.csc_array(np.where(np.isnan(X), np.nan, X)) if as_list else X
    table = NumberTable(values, None, nominal=frozenset(nominal))
    columns = placed(place, whole_columns(table, weights, threads))
    targets = WholeTargets.of(read_targets(Y, ["class"] * 3 + ["numeric"]), weights)
    naive = naive_columns(X, nominal, every, 1 if weights is None else weights.unit)
    assert columns.n_columns == len(naive)
    asked = (0, columns.n_columns - 1) if columns.n_columns else ()  # nominal features of one level have no columns
    wanted = Wanted(True, (0, targets.n_columns), asked)
    of_rows = None if weights is None else weights.values.astype(np.int64)
    found = RowSums([columns], targets, of_rows, threads).sums(wanted)
    check_sums(found, naive, naive_targets(Y, every), every, wanted)
    sums, squares = targets.margins(weights, threads)
    assert sums.to_ints() == [product(y, [1] * n_rows, every) for y in naive_targets(Y, every)]
    assert squares.to_ints() == [product(y, y, every) for y in naive_targets(Y, every)]


@everywhere
@pytest.mark.parametrize("kind", ["none", "any"])
@pytest.mark.parametrize("as_list", [False, True])
def test_parts_of_the_rows_and_groups_of_the_features_add_up(place, kind, as_list):
    n_rows = 2 * BLOCK + 77
    X, Y = make_table(5, n_rows, 0.9 if as_list else 0.1)
    weights = make_weights(kind, n_rows)
    of_rows = None if weights is None else weights.values.astype(np.int64)
    groups = []
    for some, nominal in ((slice(0, 3), ()), (slice(3, 8), (0, 1))):
        table = NumberTable(sp.csc_array(X[:, some]) if as_list else X[:, some], None, nominal=frozenset(nominal))
        groups.append(placed(place, whole_columns(table, weights, ONE)))
    targets = WholeTargets.of(read_targets(Y, ["class"] * 3 + ["numeric"]), weights)
    wanted = Wanted(True, (1, 5), (0, 3, 4))
    total = None
    for start, stop in ((BLOCK, n_rows), (0, BLOCK)):
        parts = [
            WholeColumns([part.take_rows(start, stop) for part in group.parts], group.places, group.widths) for group in groups
        ]
        some_weights = None if of_rows is None else of_rows[start:stop]
        found = RowSums(parts, targets.take_rows(start, stop), some_weights, core.Threads(2)).sums(wanted)
        total = found if total is None else total + found
    every = [1] * n_rows if weights is None else weights.values.tolist()
    unit = 1 if weights is None else weights.unit
    check_sums(total, naive_columns(X, (3, 4), every, unit), naive_targets(Y, every)[1:5], every, wanted)


def test_rows_of_weight_three_are_three_rows():
    X, Y = make_table(4, 70)
    weights = RowWeights(np.full(70, 3, dtype=np.uint64), 1.0, 210)
    found = []
    for repeat, of_rows in ((1, weights), (3, None)):
        table = NumberTable(np.repeat(X, repeat, axis=0), None, nominal=frozenset([3, 4]))
        targets = WholeTargets.of(read_targets(np.repeat(Y, repeat, axis=0), ["class"] * 3 + ["numeric"]), of_rows)
        columns = whole_columns(table, of_rows, ONE)
        given_weights = None if of_rows is None else of_rows.values.astype(np.int64)
        if repeat == 1:  # levels of fewer than ten rows are pooled by weight
            found.append(RowSums([columns], targets, given_weights, ONE).sums(Wanted(True, (0, 6), (1,))))
        else:
            found.append(RowSums([columns], targets, None, ONE).sums(Wanted(True, (0, 6), (1,))))
    for name in ("sums", "squares", "with_targets", "with_columns"):
        assert getattr(found[0], name).to_ints() == getattr(found[1], name).to_ints()


@everywhere
@pytest.mark.parametrize("n_rows", [2, 3000, 2**17 + 5])
def test_largest_numbers_and_weights_do_not_overflow(place, n_rows):
    """Columns of the largest numbers, in slabs as long as a GPU adds up at once, with weights of 40 bits."""
    X = np.full((n_rows, 11), 2.0**23 - 1)
    X[: n_rows // 2, ::2] *= -1
    X[:, 9] = np.arange(n_rows) % 30  # levels, in more than one tile
    weights = RowWeights(np.full(n_rows, 2**40 // n_rows - 1, dtype=np.uint64), 1.0, n_rows * (2**40 // n_rows - 1))
    targets = WholeTargets.of(read_targets(np.arange(n_rows)[:, np.newaxis] % 2, ["class"]), weights)
    columns = whole_columns(NumberTable(X, None, nominal=frozenset([9])), weights, ONE)
    wanted = Wanted(True, (0, targets.n_columns), (0, 2, columns.n_columns - 1))
    for of_rows in (None, weights.values.astype(np.int64)):
        expected = RowSums([columns], targets, of_rows, ONE).sums(wanted)
        found = RowSums([placed(place, columns)], targets, of_rows, ONE).sums(wanted)
        for name in ("sums", "squares", "with_targets", "with_columns"):
            assert getattr(found, name).to_ints() == getattr(expected, name).to_ints()
    assert max(expected.squares.to_ints()) > 2**60


def test_columns_that_do_not_fit_on_a_gpu_stay_where_they_are():
    X, _ = make_table(5, 100)
    X[:, 4] %= 5
    columns = whole_columns(NumberTable(X, None, nominal=frozenset([3, 4])), None, ONE)
    kinds = {
        limit: [type(part) for part in held_columns(NumpyKernels(), columns, limit).parts]
        for limit in (0, 2399, 2400, 2799, 2800)
    }
    assert kinds[0] == [Digits, LevelColumns, LevelColumns]
    assert kinds[2399] == [Digits, DeviceLevels]
    assert kinds[2400] == kinds[2799] == [DeviceNumbers, LevelColumns, LevelColumns]
    assert kinds[2800] == [DeviceNumbers, DeviceLevels]


def test_arrays_of_any_type_and_order_have_the_same_digits():
    rng = np.random.default_rng(0)
    whole = rng.integers(-100, 100, size=(5000, 70))
    expected = None
    for form in (np.ascontiguousarray, np.asfortranarray, lambda X: X[::-1][::-1], lambda X: np.repeat(X, 2, axis=1)[:, ::2]):
        for dtype in (np.int8, np.int64, np.float32, np.float64):
            (part,) = whole_columns(read_table(form(whole.astype(dtype))), None, core.Threads(2)).parts
            assert isinstance(part, Digits)
            expected = part.cells if expected is None else expected
            np.testing.assert_array_equal(part.cells, expected)


@pytest.mark.parametrize("n_rows", [1, 40, BLOCK, 2 * BLOCK + 33])
def test_columns_that_are_put_side_by_side_keep_their_numbers(n_rows):
    values = np.random.default_rng(n_rows).normal(size=(n_rows, 6))
    (all_columns,) = whole_columns(read_table(values), None, ONE).parts
    joined = Digits.empty(n_rows, 6)
    for first, last in ((0, 1), (1, 5), (5, 6)):
        (some,) = whole_columns(read_table(values[:, first:last]), None, ONE).parts
        joined.put(first, some)
    np.testing.assert_array_equal(joined.cells, all_columns.cells)


@pytest.mark.parametrize("n_targets", [3, 300])  # few and many
def test_rows_of_targets(n_targets):
    Y = np.random.default_rng(0).integers(0, 2, (50, n_targets))
    targets = WholeTargets.of(read_targets(Y), None)
    np.testing.assert_array_equal(targets.take_rows(11, 37).columns.toarray(), Y[11:37])
    np.testing.assert_array_equal(targets.common_rows(ONE), Y.T @ Y)


def test_few_cells_other_than_zero_are_listed():
    X = np.zeros((100, 3))
    X[::9, 1] = 2.0
    (part,) = whole_columns(read_table(X), None, ONE).parts
    assert isinstance(part, Lists)
    assert part.column(1)[0] == 2**22


def test_the_most_frequent_level_has_no_column():
    made = level_columns(np.array([3.0, 1.0, 1.0, np.nan, 7.0]), None)
    assert (made.levels.tolist(), made.n_columns) == ([1, 0, 0, 3, 2], 3)
    assert Vectors.of(np.ones((1, 5), dtype=np.int32), np.full(5, 2**30)).pieces.shape == (2, 5)
