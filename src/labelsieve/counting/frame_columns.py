"""Columns of data frames as numbers: measurements as they are, categories as ranks of their levels, dates as seconds."""

import warnings
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import DateColumnWarning, InputError

Levels = NDArray[np.object_]  # words in order
_NOMINAL = (nw.String, nw.Categorical, nw.Enum)
_WIDE = (nw.Int128, nw.UInt128)
_TEMPORAL = (nw.Datetime, nw.Date, nw.Duration, nw.Time)

LABEL_SETS = "Sets of labels become 0/1 columns with sklearn.preprocessing.MultiLabelBinarizer."


class FrameColumn(NamedTuple):
    """A column as numbers, NaN where a cell is missing. The numbers of text are the ranks of its ``levels``."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    nominal: bool = False
    levels: Levels | None = None


def read_columns(frame: Any, what: str) -> Iterator[FrameColumn]:
    """The columns of a frame, each by its type."""
    # Categories are read without wrapping their columns, which costs more than reading small ones.
    if frame.implementation.is_pandas():
        for _, native in frame.to_native().items():
            if type(native.array).__name__ == "Categorical":
                yield _ranks(np.asarray(native.array.codes), native.array.categories)
            else:
                yield read_column(nw.from_native(native, series_only=True), what)
    elif frame.implementation.is_polars():
        for native in frame.to_native().get_columns():
            if type(native.dtype).__name__ == "Enum":
                yield _ranks(*_enumeration(native))
            else:
                yield read_column(nw.from_native(native, series_only=True), what)
    else:
        yield from (read_column(series, what) for series in frame.iter_columns())


def read_column(series: Any, what: str) -> FrameColumn:
    """A column of a frame by its type."""
    if series.dtype in _NOMINAL:
        return _ranks(*_level_codes(series))
    if series.dtype == nw.Boolean:
        return _booleans(series)
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    present = series.filter(~series.is_null()) if missing.any() else series
    values: NDArray[Any]
    if missing.all():
        values = np.empty(0)
    elif series.dtype in _TEMPORAL:
        values = _seconds(present, what)
    elif series.dtype == nw.Object:
        objects = list(present.to_numpy())
        if objects and all(isinstance(value, bool | np.bool_) for value in objects):
            return _booleans(series)
        values = _objects(objects, series, what)
    elif series.dtype.is_numeric():
        values = _numbers(present, what)
    elif hasattr(present.to_native(), "sparse"):  # a sparse column of pandas
        values = np.asarray(present.to_native().sparse.to_dense())
    else:
        raise _unreadable(series, what)
    return _spread(values, missing)


def without_wide_integers(frame: Any) -> Any:
    """A frame, or series, of narwhals without integers of 128 bits, which numpy does not have; others stay as they are."""
    if isinstance(frame, nw.Series):
        return _narrowed(frame) if frame.dtype in _WIDE else frame
    wide = [name for name, dtype in frame.schema.items() if dtype in _WIDE]
    return frame.with_columns(*(_narrowed(frame[name]) for name in wide)) if wide else frame


def _narrowed(series: Any) -> Any:
    """64 bits if all values fit, else floating point."""
    low, high = (int(value) if value is not None else 0 for value in (series.min(), series.max()))
    return series.cast(nw.Int64 if low >= -(2**63) and high < 2**63 else nw.Float64)


def _spread(present: NDArray[Any], missing: NDArray[np.bool_]) -> FrameColumn:
    if not missing.any():
        return FrameColumn(present, None)
    values = np.full(len(missing), np.nan)
    values[~missing] = present
    return FrameColumn(values, missing)


def _booleans(series: Any) -> FrameColumn:
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    present = series.filter(~series.is_null()) if missing.any() else series
    return _spread(np.asarray(present.to_numpy()).astype(np.bool_), missing)._replace(nominal=True)


def _level_codes(series: Any) -> tuple[NDArray[Any], Iterable[Any]]:
    """The index of every cell's level, -1 for a missing cell, and the levels: by the library's own dictionaries."""
    native: Any = series.to_native()
    if series.implementation.is_pandas():
        if hasattr(native, "cat"):
            return np.asarray(native.array.codes), native.array.categories
        codes, levels = native.factorize()
        return codes, levels
    if series.implementation.is_polars():
        if series.dtype != nw.Enum:
            import polars

            words = native.cast(polars.String)
            native = words.cast(polars.Enum(words.drop_nulls().unique(maintain_order=True)))
        return _enumeration(native)
    if series.implementation.is_pyarrow():
        array = native.combine_chunks() if hasattr(native, "combine_chunks") else native
        if not hasattr(array, "dictionary"):
            array = array.dictionary_encode()
        return array.indices.fill_null(-1).to_numpy(zero_copy_only=False), array.dictionary.to_pylist()
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    words = np.asarray(series.cast(nw.String).to_numpy(), dtype=object)
    codes = np.full(len(words), -1)
    levels, codes[~missing] = np.unique(words[~missing].astype(str), return_inverse=True)
    return codes, levels


def _enumeration(native: Any) -> tuple[NDArray[Any], Any]:
    """An enumeration of polars: its codes, -1 for a missing cell, and its levels."""
    codes = native.to_physical()
    return (codes.cast(int).fill_null(-1) if codes.null_count() else codes).to_numpy(), native.dtype.categories.to_list()


def _ranks(codes: NDArray[Any], levels: Iterable[Any]) -> FrameColumn:
    """Ranks among the levels that occur, sorted as text, in the smallest type."""
    words = list(map(str, levels.tolist() if hasattr(levels, "tolist") else levels))
    missing = None
    try:
        occurs = np.bincount(codes, minlength=len(words)) > 0
    except ValueError:  # codes of -1
        missing = codes < 0
        occurs = np.bincount(codes[~missing], minlength=len(words)) > 0
    if missing is None and occurs.all() and all(low < high for low, high in pairwise(words)):
        return FrameColumn(codes.astype(np.min_scalar_type(len(words) - 1)), None, True, np.array(words, dtype=object))
    kept = sorted({word for word, seen in zip(words, occurs.tolist(), strict=True) if seen})
    ranks = {word: rank for rank, word in enumerate(kept)}
    rank_of = np.array([ranks.get(word, 0) for word in words], dtype=np.min_scalar_type(max(len(kept) - 1, 0)))
    values: NDArray[Any] = rank_of[codes] if len(words) else np.zeros(len(codes))
    if missing is not None:
        values = np.where(missing, np.nan, values)
    return FrameColumn(values, missing, True, np.array(kept, dtype=object))


def _numbers(present: Any, what: str) -> NDArray[Any]:
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


def _seconds(present: Any, what: str) -> NDArray[np.float64]:
    """Dates as seconds since 1970 in UTC, durations and times of day as seconds."""
    _note_dates(f"column {present.name!r} holds {present.dtype}", what)
    try:
        if present.dtype == nw.Time:
            times = present.to_list()
            return np.array([t.hour * 3600 + t.minute * 60 + t.second + t.microsecond / 1e6 for t in times])
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


def _objects(present: list[Any], series: Any, what: str) -> NDArray[np.float64]:
    if present and all(isinstance(value, date | timedelta | np.datetime64 | np.timedelta64) for value in present):
        _note_dates(f"column {series.name!r} holds dates", what)
        return seconds(np.array([_plain_time(value) for value in present]))
    try:
        if any(isinstance(value, str | bytes) for value in present):
            raise TypeError
        return np.array(present, dtype=np.float64)
    except (TypeError, ValueError):
        if any(isinstance(value, set | frozenset | list | tuple) for value in present):
            raise InputError(f"{what}: column {series.name!r} holds sets or lists. {LABEL_SETS}") from None
        raise InputError(
            f"{what}: column {series.name!r} mixes types, such as {' and '.join(_type_names(present))}; convert it to text "
            "(astype(str)), to a category, or to numbers."
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


def _unreadable(series: Any, what: str) -> InputError:
    return InputError(
        f"{what}: column {series.name!r} holds {series.dtype}, which is not numbers, text, categories or dates; "
        "convert it or leave it out."
    )
