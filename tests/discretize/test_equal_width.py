"""Bins of equal width: the rule, both closed sides, and edge cases."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.discretize import equal_width
from labelsieve.information import Codes
from tests.support import reference_discretizers as references

sides = pytest.mark.parametrize("closed", ["left", "right"])
hundreds = settings(max_examples=300, deadline=None)
bins = st.integers(1, 12)
closed_sides = st.sampled_from(["left", "right"])


def assert_equals_reference(values, n_bins, closed, *, exact):
    """The codes of one column are those of the reference, except where rounding decides; ``exact``: it never does."""
    codes = equal_width(np.asarray(values), n_bins, closed=closed)
    expected, levels = references.equal_width(values, n_bins, closed)
    assert codes.levels.tolist() == [levels]
    clear = np.full(len(values), True)
    if not exact and levels == n_bins:
        clear = ~np.array(references.lies_on_a_cut(values, n_bins))
    ours = codes.column(0).astype(int)
    assert np.array_equal(ours[clear], np.array(expected)[clear])
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(ours[order]) >= 0), "a larger value in a lower bin"


@hundreds
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), bins, closed_sides)
def test_codes_equal_the_reference(values, n_bins, closed):
    assert_equals_reference(values, n_bins, closed, exact=False)


@hundreds
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False), min_size=1), bins, closed_sides)
def test_codes_of_numbers_of_any_size_equal_the_reference(values, n_bins, closed):
    assert_equals_reference(values, n_bins, closed, exact=False)


@hundreds
@given(st.lists(st.integers(-40, 40), min_size=1, max_size=60), bins, closed_sides)
def test_codes_of_whole_numbers_equal_the_reference(values, n_bins, closed):
    assert_equals_reference(values, n_bins, closed, exact=False)


@sides
@pytest.mark.parametrize("n_bins", [2, 3, 4, 5, 7, 10])
def test_whole_numbers_on_whole_cut_points_fall_on_the_right_side(n_bins, closed):
    """Cut points that are whole numbers are exact: no rounding moves a value to its neighbor's bin."""
    for width in (1, 3, 8, 14, 15, 16):
        for low in range(-60, 60, 7):
            values = list(range(low, low + n_bins * width + 1))
            assert_equals_reference(values, n_bins, closed, exact=True)


@sides
@pytest.mark.parametrize("quarter", [0.25, 0.5, 2.0**-20, 2.0**30])
def test_cut_points_that_are_exact_stay_exact(quarter, closed):
    values = [quarter * k for k in range(-17, 24)]
    assert_equals_reference(values, 5, closed, exact=True)
    assert_equals_reference(values, 10, closed, exact=True)


@sides
def test_bins_are_closed_on_the_requested_side(closed):
    values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    expected = {"left": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4], "right": [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]}
    assert equal_width(values, 5, closed=closed).column(0).tolist() == expected[closed]


def test_five_bins_closed_on_the_left_are_the_default():
    values = np.random.default_rng(0).normal(size=(200, 3))
    assert np.array_equal(equal_width(values).to_dense(), equal_width(values, 5, closed="left").to_dense())
    assert equal_width(values).levels.tolist() == [5, 5, 5]


@sides
@pytest.mark.parametrize("n_bins", [1, 2, 5, 16, 17, 300])
def test_few_distinct_values_are_kept_in_ascending_order(n_bins, closed):
    rng = np.random.default_rng(n_bins)
    distinct = np.sort(rng.choice(10**6, size=n_bins, replace=False)) / 7 - 5e4
    codes = np.concatenate([np.arange(n_bins), rng.integers(n_bins, size=100)])
    binned = equal_width(distinct[codes], n_bins, closed=closed)
    assert binned.levels.tolist() == [n_bins]
    assert np.array_equal(binned.column(0), codes)
    if n_bins > 1:
        fewer = equal_width(distinct[codes], n_bins - 1, closed=closed)
        assert fewer.levels.tolist() == [n_bins - 1]
        assert not np.array_equal(fewer.column(0), codes)


@sides
@pytest.mark.parametrize("n_bins", [1, 2, 5, 200])
def test_the_widest_range_is_cut_like_any_other(n_bins, closed):
    largest = np.finfo(float).max
    values = np.concatenate([[-largest, largest, -1e308, 1e308, 0], np.random.default_rng(1).normal(size=300) * 5e307])
    assert_equals_reference(values.tolist(), n_bins, closed, exact=False)


@sides
@pytest.mark.parametrize("n_bins", [2, 5, 10])
def test_the_narrowest_range_is_cut_into_bins_in_order(n_bins, closed):
    steps = np.random.default_rng(2).permutation(97)
    codes = equal_width(steps * 5e-324, n_bins, closed=closed)
    ours = codes.column(0)[np.argsort(steps)].astype(int)
    assert codes.levels.tolist() == [n_bins]
    assert ours[0] == 0
    assert ours[-1] == n_bins - 1
    assert set(np.diff(ours)) == {0, 1}


def test_zero_and_minus_zero_are_the_same_value():
    assert equal_width([0.0, -0.0, 1.0], 2).column(0).tolist() == [0, 0, 1]
    assert equal_width([0.0, -0.0, 1.0], 2).levels.tolist() == [2]


@sides
@pytest.mark.parametrize("n_bins", [256, 257, 65_535])
def test_many_bins_need_wide_codes(n_bins, closed):
    values = np.random.default_rng(3).permutation(70_000)
    codes = equal_width(values, n_bins, closed=closed)
    assert codes.levels.tolist() == [n_bins]
    assert codes.dense.dtype == (np.uint8 if n_bins <= 256 else np.uint16)
    assert codes.column(0)[np.argmin(values)] == 0
    assert codes.column(0)[np.argmax(values)] == n_bins - 1
    assert len(np.unique(codes.column(0))) == n_bins


def test_every_column_has_separate_cut_points():
    rng = np.random.default_rng(4)
    table = rng.normal(size=(300, 50)) * rng.uniform(0.1, 1e5, size=50) + rng.normal(size=50)
    codes = equal_width(table, 7)
    assert isinstance(codes, Codes)
    for j in range(50):
        assert codes.column(j).tolist() == references.equal_width(table[:, j].tolist(), 7)[0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_names_of_a_frame_are_kept(make):
    frame = make({"width": [0.1, 0.2, 0.9], "height": [3, 1, 2], "color": ["red", "blue", "red"]})
    codes = equal_width(frame, 2)
    assert codes.names == ("width", "height", "color")
    assert codes.to_dense().tolist() == [[0, 1, 1], [0, 0, 0], [1, 1, 1]]


def test_the_number_of_bins_may_be_any_kind_of_whole_number():
    values = np.arange(30)
    assert np.array_equal(equal_width(values, np.int64(7)).dense, equal_width(values, 7).dense)
