"""Columns of data frames as numbers: measurements as they are, categories as ranks of their levels, dates as seconds."""

import warnings
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.text_levels import Levels, Ranks, arrow_ranks, enumerations, level_ranks, pandas_ranks
from labelsieve.errors import DateColumnWarning, InputError

_NOMINAL = (nw.String, nw.Categorical, nw.Enum)
_WIDE = (nw.Int128, nw.UInt128)
_TEMPORAL = (nw.Datetime, nw.Date, nw.Duration, nw.Time)

Wide = TypeVar("Wide", nw.DataFrame[Any], nw.Series[Any])
LABEL_SETS = "Sets of labels become 0/1 columns with sklearn.preprocessing.MultiLabelBinarizer."


class FrameColumn(NamedTuple):
    """A column as numbers, NaN where a cell is missing. The numbers of text are the ranks of its ``levels``."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    nominal: bool = False
    levels: Levels | None = None


def read_columns(frame: nw.DataFrame[Any], what: str) -> Iterator[FrameColumn]:
    """The columns of a frame, each by its type."""
    # Categories and text are read without wrapping their columns, which costs more than reading small ones.
    if frame.implementation.is_pandas():
        for _, native in frame.to_native().items():
            ranks = pandas_ranks(native)
            yield read_column(nw.from_native(native, series_only=True), what) if ranks is None else nominal(ranks)
    elif frame.implementation.is_polars():
        ranks_of = enumerations(frame.to_native())
        for native in frame.to_native().get_columns():
            ranks = ranks_of.get(native.name)
            yield read_column(nw.from_native(native, series_only=True), what) if ranks is None else nominal(ranks)
    elif frame.implementation.is_pyarrow():
        for name, native in zip(frame.columns, frame.to_native().columns, strict=True):
            ranks = arrow_ranks(native)
            yield nominal(ranks) if ranks else read_column(nw.from_native(native, series_only=True).alias(name), what)
    else:
        yield from (read_column(frame[name], what) for name in frame.columns)


def nominal(ranks: Ranks) -> FrameColumn:
    """A column of categories."""
    return FrameColumn(ranks.values, ranks.missing, True, ranks.levels)


def read_column(series: nw.Series[Any], what: str) -> FrameColumn:
    """A column of a frame by its type."""
    series = without_wide_integers(series)
    dtype = series.dtype
    if dtype in _NOMINAL:
        return nominal(level_ranks(series))
    if dtype == nw.Boolean:
        return _booleans(series)
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    present = series.filter(~series.is_null()) if missing.any() else series
    values: NDArray[Any]
    if missing.all():
        values = np.empty(0)
    elif dtype in _TEMPORAL:
        values = _seconds(present, what)
    elif dtype == nw.Object:
        objects = list(present.to_numpy())
        if objects and all(isinstance(value, bool | np.bool_) for value in objects):
            return _booleans(series)
        values = _objects(objects, series, what)
    elif dtype.is_numeric():
        values = _numbers(present, what)
    elif hasattr(present.to_native(), "sparse"):  # a sparse column of pandas
        values = np.asarray(present.to_native().sparse.to_dense())
    else:
        raise _unreadable(series, what)
    return _spread(values, missing)


def without_wide_integers(frame: Wide) -> Wide:
    """A frame, or series, of narwhals without integers of 128 bits, which numpy does not have; others stay as they are."""
    if isinstance(frame, nw.Series):
        return _narrowed(frame) if frame.dtype in _WIDE else frame
    types = frame.to_native().schema if frame.implementation.is_polars() else {}
    wide = [name for name, dtype in types.items() if dtype.base_type().__name__ in ("Int128", "UInt128")]
    return frame.with_columns(*(_narrowed(frame[name]) for name in wide)) if wide else frame


def _narrowed(series: nw.Series[Any]) -> nw.Series[Any]:
    """64 bits if all values fit, else floating point."""
    low, high = (int(value) if value is not None else 0 for value in (series.min(), series.max()))
    return series.cast(nw.Int64 if low >= -(2**63) and high < 2**63 else nw.Float64)


def _spread(present: NDArray[Any], missing: NDArray[np.bool_]) -> FrameColumn:
    if not missing.any():
        return FrameColumn(present, None)
    values = np.full(len(missing), np.nan)
    values[~missing] = present
    return FrameColumn(values, missing)


def _booleans(series: nw.Series[Any]) -> FrameColumn:
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    present = series.filter(~series.is_null()) if missing.any() else series
    return _spread(np.asarray(present.to_numpy()).astype(np.bool_), missing)._replace(nominal=True)


def _numbers(present: nw.Series[Any], what: str) -> NDArray[Any]:
    try:
        values: NDArray[Any] = np.asarray(present.to_numpy())
        return values if values.dtype.kind in "biuf" else values.astype(np.float64)
    except Exception:  # types that numpy does not have, such as integers of 128 bits: each library has its own error
        try:
            return np.asarray(present.cast(nw.Float64).to_numpy())
        except MemoryError:
            raise
        except Exception as error:
            raise _unreadable(present, what) from error


def _seconds(present: nw.Series[Any], what: str) -> NDArray[np.float64]:
    """Dates as seconds since 1970 in UTC, durations and times of day as seconds."""
    _note_dates(f"column {present.name!r} holds {present.dtype}", what)
    try:
        if present.dtype == nw.Time:
            return _of_day(present.to_list())
        if present.dtype == nw.Duration:
            units = present.dt.total_microseconds()
        else:
            units = (present.cast(nw.Datetime) if present.dtype == nw.Date else present).dt.timestamp("us")
        values = np.asarray(units.to_numpy(), dtype=np.float64) / 1e6
    except MemoryError:
        raise
    except Exception as error:  # of a date outside the range of its library: each has its own error
        raise _unreadable(present, what) from error
    return values


def _of_day(times: list[time]) -> NDArray[np.float64]:
    """Times of day as seconds."""
    return np.array([t.hour * 3600 + t.minute * 60 + t.second + t.microsecond / 1e6 for t in times])


def _objects(present: list[Any], series: nw.Series[Any], what: str) -> NDArray[np.float64]:
    if present and all(isinstance(value, time) for value in present):
        _note_dates(f"column {series.name!r} holds times", what)
        return _of_day(present)
    if present and all(isinstance(value, date | timedelta | np.datetime64 | np.timedelta64) for value in present):
        _note_dates(f"column {series.name!r} holds dates", what)
        return seconds(np.array([_plain_time(value) for value in present]))
    try:
        if any(isinstance(value, str | bytes) for value in present):
            raise TypeError
        return np.array(present, dtype=np.float64)
    except (TypeError, ValueError):
        if any(isinstance(value, set | frozenset | list | tuple | np.ndarray) for value in present):
            raise InputError(f"{what}: column {series.name!r} holds sets or lists. {LABEL_SETS}") from None
        names = _type_names(present)
        found = f"mixes types, such as {' and '.join(names)}" if len(names) > 1 else f"holds objects of type {names[0]}"
        raise InputError(
            f"{what}: column {series.name!r} {found}; convert it to text (astype(str)), to a category, or to numbers."
        ) from None


def _type_names(values: list[Any]) -> list[str]:
    return list(dict.fromkeys(type(value).__name__ for value in values))[:3]


def _plain_time(value: Any) -> np.datetime64 | np.timedelta64:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return np.datetime64(round(value.timestamp() * 1e6), "us")
    return np.timedelta64(value) if isinstance(value, timedelta) else np.datetime64(value).astype("datetime64[us]")


def seconds(times: NDArray[Any]) -> NDArray[np.float64]:
    """Dates and durations of numpy as seconds, since 1970 for dates; NaN for NaT.

    >>> seconds(np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"))
    array([86400.,    nan])
    """
    unit = times.dtype.kind + "8[us]"
    values = times.astype(unit).astype(np.int64) / 1e6
    return np.where(np.isnat(times), np.nan, values)


def note_date_array(what: str) -> None:
    """Warn that an array of dates is taken as numbers."""
    _note_dates("the array holds dates or durations", what)


def _note_dates(found: str, what: str) -> None:
    warnings.warn(
        f"{what}: {found}: counted as numbers, in seconds. Derive columns such as the weekday if these are what matters.",
        DateColumnWarning,
        stacklevel=2,
    )


def _unreadable(series: nw.Series[Any], what: str) -> InputError:
    if series.dtype in (nw.List, nw.Array):
        return InputError(f"{what}: column {series.name!r} holds lists. {LABEL_SETS}")
    native: Any = series.to_native()
    kind = series.dtype if series.dtype != nw.Unknown else getattr(native, "dtype", getattr(native, "type", "values"))
    return InputError(
        f"{what}: column {series.name!r} holds {kind}, which is not numbers, text, categories or dates; "
        "convert it or leave it out."
    )
