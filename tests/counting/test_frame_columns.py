"""Columns of frames by type: dates and durations, numbers of unusual types, mixed objects, names that occur twice."""

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from labelsieve import InputError, Sieve
from labelsieve.discretize import EqualFrequency, EqualWidth
from labelsieve.errors import DateColumnWarning

N_ROWS = 120
DAYS = np.random.default_rng(0).permutation(N_ROWS)
START = datetime.datetime(2020, 1, 1)
TIMES = [START + datetime.timedelta(days=int(day)) for day in DAYS]
UTC = [time.replace(tzinfo=datetime.UTC) for time in TIMES]
Y = (DAYS > 60).astype(int)
DATES = {
    "pandas": pd.DataFrame({"t": pd.to_datetime(TIMES)}),
    "pandas with zone": pd.DataFrame({"t": pd.to_datetime(TIMES).tz_localize("Europe/Berlin")}),
    "pandas durations": pd.DataFrame({"t": pd.to_timedelta(DAYS, unit="D")}),
    "pandas objects": pd.DataFrame({"t": pd.Series([time.date() for time in TIMES], dtype=object)}),
    "pandas objects with zone": pd.DataFrame({"t": pd.Series(UTC, dtype=object)}),
    "polars": pl.DataFrame({"t": TIMES}),
    "polars with zone": pl.DataFrame({"t": UTC}),
    "polars days": pl.DataFrame({"t": [time.date() for time in TIMES]}),
    "polars durations": pl.DataFrame({"t": [time - START for time in TIMES]}),
    "polars times": pl.DataFrame({"t": [(START + datetime.timedelta(minutes=int(day))).time() for day in DAYS]}),
    "pyarrow": pa.table({"t": TIMES}),
    "numpy": np.array(TIMES, dtype="M8[s]")[:, None],
    "numpy durations": DAYS.astype("m8[D]")[:, None],
}


@pytest.mark.parametrize("kind", DATES)
def test_dates_and_durations_are_numbers_with_a_note(kind):
    with pytest.warns(DateColumnWarning, match="counted as numbers, in seconds"):
        codes = EqualWidth(4).encode(DATES[kind])
    same_hour = "zone" in kind and "objects" not in kind and "polars" not in kind  # summer time moves days by an hour
    expected = EqualWidth(4).encode(DAYS[:, None]).column(0)
    assert np.mean(codes.column(0) == expected) > (0.97 if same_hour else 0.999)
    with pytest.warns(DateColumnWarning):
        assert Sieve("mim", n_features_to_select=1).fit(DATES[kind], Y).scores_[0] > 0.4


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_missing_dates_are_missing_values(library):
    frame = library({"t": [None if day % 10 == 0 else time for day, time in zip(DAYS, TIMES, strict=True)]})
    with pytest.warns(DateColumnWarning):
        codes = EqualWidth(4).encode(frame)
    assert (codes.column(0) == 4).tolist() == (DAYS % 10 == 0).tolist()


NUMBERS = {
    "polars 128 bits": pl.DataFrame({"n": pl.Series(DAYS.tolist(), dtype=pl.Int128)}),
    "polars decimals": pl.DataFrame({"n": [Decimal(int(day)) / 4 for day in DAYS]}),
    "pyarrow decimals": pa.table({"n": pa.array([Decimal(int(day)) for day in DAYS])}),
    "pandas objects": pd.DataFrame({"n": pd.Series(DAYS.tolist(), dtype=object)}),
    "pandas decimals": pd.DataFrame({"n": pd.Series([Decimal(int(day)) for day in DAYS], dtype=object)}),
    "pandas nullable": pd.DataFrame({"n": pd.array(DAYS, dtype="Int32")}),
    "pandas of pyarrow": pd.DataFrame({"n": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.int16()))}),
    "pandas sparse": pd.DataFrame({"n": pd.arrays.SparseArray(DAYS.astype(float))}),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_unusual_types_are_numbers(kind):
    expected = EqualFrequency(4).encode(DAYS[:, None]).column(0)
    assert np.array_equal(EqualFrequency(4).encode(NUMBERS[kind]).column(0), expected)


def test_a_column_without_a_value_has_one_level():
    for frame in (pd.DataFrame({"n": [None] * 9}), pl.DataFrame({"n": [None] * 9}), pa.table({"n": [None] * 9})):
        assert set(EqualWidth().encode(frame).column(0)) == {1}


@pytest.mark.parametrize("discretizer", ["auto", None])
def test_columns_of_mixed_types_and_of_lists_are_refused_by_name(discretizer):
    sieve = Sieve(discretizer=discretizer)
    with pytest.raises(InputError, match=r"column 'c' mixes types, such as str and int; convert it to text"):
        sieve.fit(pd.DataFrame({"c": pd.Series(["a", 1] * 5, dtype=object)}), [0, 1] * 5)
    with pytest.raises(InputError, match=r"column 'c' holds lists.*become 0/1 columns"):
        sieve.fit(pl.DataFrame({"c": [[1, 2]] * 10}), [0, 1] * 5)
    with pytest.raises(InputError, match=r"column 'c' holds objects of type \w*Path; convert it to text"):
        sieve.fit(pd.DataFrame({"c": [Path("a")] * 10}), [0, 1] * 5)
    with pytest.raises(InputError, match=r"column 'c' holds period\[M\], which is not numbers"):
        sieve.fit(pd.DataFrame({"c": pd.period_range("2020-01", periods=10, freq="M")}), [0, 1] * 5)


def test_a_lazy_frame_is_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"X is a LazyFrame, which has no rows yet; pass X\.collect\(\)"):
        Sieve().fit(pl.LazyFrame({"c": [1, 2]}), [0, 1])


def test_times_of_day_are_seconds_also_as_objects():
    times = [datetime.time(int(day) // 6, int(day) % 6) for day in DAYS]
    for column in (pd.Series(times, dtype=object), pd.Series(times, dtype=pd.ArrowDtype(pa.time64("us")))):
        with pytest.warns(DateColumnWarning, match=r"column 't' holds [tT]ime"):
            codes = EqualFrequency(4).encode(pd.DataFrame({"t": column})).column(0)
        assert np.array_equal(codes, EqualFrequency(4).encode(DAYS[:, None]).column(0))


def test_names_that_occur_twice_are_refused_with_both_positions():
    table = np.zeros((10, 3))
    for frame in (
        pd.DataFrame(table, columns=["a", "b", "a"]),
        pa.Table.from_arrays([pa.array(table[:, 0])] * 3, ["a", "b", "a"]),
    ):
        with pytest.raises(InputError, match=r"X: columns 0 and 2 are both named 'a'; rename one"):
            Sieve().fit(frame, [0, 1] * 5)
        with pytest.raises(InputError, match=r"X: columns 0 and 2 are both named 'a'; rename one"):
            EqualWidth().encode(frame)


@pytest.mark.parametrize("constant", [None, True, False])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_booleans_are_counted_like_words(library, constant):
    rng = np.random.default_rng(1)
    cells = {f"c{column}": (20 * column < DAYS) ^ (rng.random(N_ROWS) < 0.2) for column in range(4)}
    if constant is not None:
        cells["constant"] = np.full(N_ROWS, constant)
    words = pd.DataFrame({name: np.where(column, "yes", "no") for name, column in cells.items()})
    found, expected = (Sieve("jmi", n_features_to_select=4).fit(X, Y) for X in (library(cells), words))
    assert np.array_equal(found.selected_, expected.selected_)
    assert np.array_equal(found.scores_, expected.scores_)
    fitted = EqualFrequency().fit(pd.DataFrame(cells), Y)
    only = pd.DataFrame({name: np.ones(3, dtype=bool) for name in cells})
    assert np.array_equal(fitted.transform(only)[:, :4], np.ones((3, 4)))


def test_a_nominal_column_of_a_boolean_array_leaves_the_others_as_they_are():
    X = np.column_stack([DAYS > 20, DAYS > 60, DAYS > 100])
    codes = [EqualFrequency(nominal=nominal).fit(X, Y).transform(X) for nominal in ([0], None)]
    assert np.array_equal(*codes)
