"""The counting backend: its arithmetic, and that it answers what the layers above ask."""

import inspect
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.counting.backends import Backend, NativeBackend, Panel
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.row_weights import quantize
from labelsieve.information import Codes
from tests.support import reference_information as twins
from tests.support.random_tables import binary_table, make_table, many_levels_table

# ---------------------------------------------------------------------------------------------------- fixed point


@pytest.mark.parametrize("n_rows", [1, 2, 3, 100, 5000, 300_000])
@pytest.mark.parametrize("n_targets", [1, 40, 100_000])
def test_fixed_point_values_are_n_log_n_to_the_last_unit_of_a_double(n_rows, n_targets):
    fixed = FixedPoint.for_rows(n_rows, n_targets=n_targets)
    assert fixed.values.dtype == np.int64
    assert len(fixed.values) == n_rows + 1
    assert fixed.values[0] == fixed.values[1] == 0
    rng = np.random.default_rng(n_rows)
    with localcontext(prec=50):
        for n in {n_rows, max(2, n_rows - 1), *rng.integers(2, n_rows + 1, size=50 if n_rows > 2 else 0).tolist()}:
            if n > n_rows:
                continue
            exact = Decimal(n) * Decimal(n).ln() * Decimal(2) ** fixed.bits
            within = Decimal("0.5") + exact * Decimal(2) ** -51
            assert abs(int(fixed.values[n]) - exact) <= within


def test_fixed_point_values_rise_and_bend_upwards():
    """What information needs to be never negative: f rises, and merging two cells never lowers their sum."""
    values = FixedPoint.for_rows(20_000).values
    assert np.all(np.diff(values[1:]) > 0)
    a, b = np.random.default_rng(0).integers(1, 10_000, size=(2, 5000))
    assert np.all(values[a + b] >= values[a] + values[b])


@pytest.mark.parametrize("estimator", ["plugin", "miller-madow"])
def test_values_of_counts_are_the_same_with_and_without_a_table(estimator):
    with_table = FixedPoint.for_rows(3000, n_targets=7, estimator=estimator)
    without = FixedPoint.for_weights(3000, unit=1, n_targets=7, estimator=estimator)
    assert with_table.bits == without.bits
    assert without.values is None
    assert np.array_equal(without(np.arange(3001)), with_table.values)
    assert with_table.top == without.top == with_table.values[3000]


def test_miller_and_madow_take_half_a_row_off_every_cell_that_is_not_empty():
    plain = FixedPoint.for_rows(500).values
    corrected = FixedPoint.for_rows(500, estimator="miller-madow").values
    assert corrected[0] == 0
    half = 2 ** (FixedPoint.for_rows(500).bits - 1)
    assert np.array_equal(plain[1:] - corrected[1:], np.full(500, half))


@pytest.mark.parametrize("total", [1, 2, 1000, 10**6, 2**32 - 2, 2**40])
def test_a_sum_over_all_targets_never_overflows(total):
    finest = FixedPoint.for_weights(total, unit=1).bits
    for n_targets in (1, 2, 100, 4096, 10**6):
        fixed = FixedPoint.for_weights(total, unit=1, n_targets=n_targets)
        assert fixed.bits <= finest
        assert 4 * n_targets * fixed.top < 2**63
        assert math.ldexp(1, fixed.bits) == fixed.scale
        finest = fixed.bits


def test_the_scale_depends_on_rows_and_targets_alone():
    parameters = inspect.signature(FixedPoint.for_rows).parameters
    assert set(parameters) == {"n_rows", "n_targets", "estimator"}
    for estimator in ("plugin", "miller-madow"):
        assert FixedPoint.for_rows(777, n_targets=9, estimator=estimator).bits == FixedPoint.for_rows(777, n_targets=9).bits


@pytest.mark.parametrize("weights", [[0, 1, 2], [5], [2**31 - 2, 1, 0], list(range(1000))])
def test_whole_weights_stay_as_they_are(weights):
    quantized = quantize(np.array(weights, dtype=float))
    assert quantized.values.dtype == np.uint64
    assert quantized.values.tolist() == weights
    assert (quantized.unit, quantized.total) == (1, sum(weights))


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1.0, 1e6, 1e15, 1e200])
@pytest.mark.parametrize("n_rows", [2, 17, 4000])
def test_real_weights_are_rounded_to_a_trillionth_of_their_sum(scale, n_rows):
    weights = np.random.default_rng(n_rows).exponential(size=n_rows) * scale
    quantized = quantize(weights)
    assert quantized.total == quantized.values.sum() <= 2**41
    share, exact = quantized.values / quantized.total, weights / weights.sum()
    assert np.all(abs(share - exact) <= 2.0**-40 + exact * n_rows * 2.0**-40)
    if scale == 1.0:
        assert np.all(abs(quantized.values / quantized.unit - weights) <= 2.0**-40 * weights.sum())


# ---------------------------------------------------------------------------------------------------- the backend


def backend_of(X, Y, **how):
    X, Y = Codes.from_values(X), Codes.from_values(Y)
    return NativeBackend(X, Y, FixedPoint.for_rows(X.n_rows, n_targets=Y.n_columns), **how)


def test_the_native_backend_has_the_signatures_of_the_protocol():
    for name, method in inspect.getmembers(Backend, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(NativeBackend, name)) == inspect.signature(method)
            assert inspect.getdoc(method)


def test_the_native_backend_answers_in_the_shapes_of_the_protocol():
    X, Y = make_table(0, 90, ["fair", "5 levels", "34 levels", "constant"]), binary_table(1, 90, 3)
    backend = backend_of(X, Y)
    given = make_table(2, 90, ["3 levels"])[:, 0]
    shapes = {
        (4,): [backend.singles()[0], backend.pairs(reduce="sum"), *backend.triples(given, 3, reduce="sum")],
        (3,): [backend.singles()[1]],
        (4, 3): [backend.pairs(), backend.triples(given, 3).triple],
        (4, 1): [backend.triples(given, 3, targets=slice(1, 2)).triple],
        (4, 0): [backend.triples(given, 3, targets=slice(2, 2)).triple],
    }
    for shape, answers in shapes.items():
        for sums in answers:
            assert isinstance(sums, np.ndarray)
            assert sums.dtype == np.int64
            assert sums.shape == shape
    assert isinstance(backend.triples(given, 3), Panel)
    assert backend.triples(given, 3).pair.shape == (4,)
    assert backend.bytes > 0


@pytest.mark.parametrize("strategy", ["auto", "positional", "tiled", "sparse", "histogram"])
@pytest.mark.parametrize("kinds", [["fair", "rare"] * 5, ["16 levels", "3 levels", "34 levels"]], ids=["labels", "levels"])
def test_label_pairs_streamed_one_label_at_a_time_equal_naive_sums(kinds, strategy):
    X, Y = make_table(3, 120, kinds), binary_table(4, 120, 6)
    Y[:, 5] = make_table(5, 120, ["16 levels"])[:, 0]
    codes = Codes.from_values(Y)
    values = FixedPoint.for_rows(120, n_targets=6).values
    backend = backend_of(X, Y, strategy=strategy)
    for z in range(6):
        panel = backend.triples(codes.column(z), int(codes.levels[z]), targets=slice(z + 1, None), reduce="sum")
        for k, x in enumerate(X.T.tolist()):
            of_z = Y[:, z].tolist()
            assert panel.pair[k] == twins.sum_of_cells(values, x, of_z)
            naive = sum(twins.sum_of_cells(values, x, of_z, Y[:, y].tolist()) for y in range(z + 1, 6))
            assert panel.triple[k] == naive


@pytest.mark.parametrize("part", [slice(None), slice(2, 5), slice(-3, None), slice(4, 2), slice(90, 99), slice(None, -1)])
def test_targets_of_a_panel_follow_the_rules_of_slices(part):
    X, Y = binary_table(6, 80, 30), many_levels_table(7, 80, [2, 2, 3, 9, 70, 2, 2])
    given = many_levels_table(8, 80, [4])[:, 0]
    backend = backend_of(X, Y)
    whole = backend.triples(given, 4)
    ours = backend.triples(given, 4, targets=part)
    assert np.array_equal(ours.triple, whole.triple[:, part])
    assert np.array_equal(ours.pair, whole.pair)
    added = backend.triples(given, 4, targets=part, reduce="sum")
    assert np.array_equal(added.triple, whole.triple[:, part].sum(axis=1))


def test_what_a_backend_cannot_do_is_refused():
    X, Y = binary_table(9, 20, 5), binary_table(10, 20, 4)
    backend = backend_of(X, Y)
    given = np.zeros(20, dtype=np.uint32)
    with pytest.raises(InputError, match="step 1"):
        backend.triples(given, 1, targets=slice(None, None, 2))
    with pytest.raises(InputError, match="X has 20 rows and Y has 19"):
        backend_of(X, Y[1:])
    for wrong in (given[1:], np.append(given, 0)):
        with pytest.raises(ValueError, match="given"):
            backend.triples(wrong, 1)
    with pytest.raises(ValueError, match="given"):
        backend.triples(given + 1, 1)
    with pytest.raises(ValueError, match="table"):
        NativeBackend(Codes.from_values(X), Codes.from_values(Y), FixedPoint.for_rows(19))


def test_codes_given_in_any_number_type_are_the_same():
    X, Y = binary_table(11, 50, 20), binary_table(12, 50, 4)
    given = many_levels_table(13, 50, [5])[:, 0]
    backend = backend_of(X, Y)
    expected = backend.triples(given, 5)
    for dtype in (np.uint8, np.int64, np.uint32, np.float64):
        panel = backend.triples(given.astype(dtype), 5)
        assert np.array_equal(panel.triple, expected.triple)
    assert np.array_equal(backend.triples(np.repeat(given, 2)[::2], 9).triple, expected.triple)
