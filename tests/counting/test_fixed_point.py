"""Fixed-point arithmetic and quantized weights: what every backend counts in."""

import inspect
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.tables.weights import quantize


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
