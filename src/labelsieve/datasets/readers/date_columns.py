"""Columns of dates and times as numbers: seconds since 1970-01-01 in UTC, or of the day."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_TIME = r"(?:[T ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(?:\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d))?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/])(?P<month>\d\d)(?P=mark)(?P<day>\d\d){_TIME}", re.ASCII)
_DOTS = re.compile(rf"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{{4}}){_TIME}", re.ASCII)
_SLASHES = re.compile(rf"(?P<one>\d\d?)/(?P<two>\d\d?)/(?P<year>\d{{4}}){_TIME}", re.ASCII)
_CLOCK = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?", re.ASCII)


def read_dates(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Seconds of every text, or None if they are not all dates, or all times, of one form.

    Forms are 2020-01-31 and 2020/01/31, 31.1.2020, and 1/31/2020 or 31/1/2020 where some day above 12 decides which; each with
    12:30, 12:30:00 or 12:30:00.5 after a blank or T, and then Z, UTC or an offset such as +01:00. Or 12:30 alone.

    >>> read_dates(["1970-01-01", "1970-01-01 00:01:00Z"]), read_dates(["00:30"]), read_dates(["1/2/2020"])
    (array([ 0., 60.]), array([1800.]), None)
    """
    for form, calendar_date in ((_YEAR_FIRST, _named), (_DOTS, _named), (_SLASHES, _with_slashes)):
        if not texts or not form.fullmatch(texts[0]):
            continue
        found = [form.fullmatch(text) for text in texts]
        matches = [match for match in found if match is not None]
        if len(matches) < len(texts):
            return None
        dates = calendar_date(matches)
        return None if dates is None else _seconds(matches, dates)
    if texts and all(map(_CLOCK.fullmatch, texts)):
        return _parsed([f"1970-01-01T{text}" for text in texts])
    return None


Matches = Sequence[re.Match[str]]


def _named(matches: Matches) -> list[str]:
    return [f"{match['year']}-{match['month']:0>2}-{match['day']:0>2}" for match in matches]


def _with_slashes(matches: Matches) -> list[str] | None:
    """Day or month first: whichever a number above 12 shows."""
    first, second = (max(int(match[name]) for match in matches) for name in ("one", "two"))
    if (first > 12) == (second > 12):
        return None
    day, month = ("one", "two") if first > 12 else ("two", "one")
    return [f"{match['year']}-{match[month]:0>2}-{match[day]:0>2}" for match in matches]


def _seconds(matches: Matches, dates: Sequence[str]) -> NDArray[np.float64] | None:
    seconds = _parsed([f"{date}T{match['time'] or '00:00'}" for date, match in zip(dates, matches, strict=True)])
    zones = [match["zone"] for match in matches]
    return seconds if seconds is None or not any(zones) else seconds - np.array([_offset(zone) for zone in zones])


def _offset(zone: str | None) -> float:
    """Seconds ahead of UTC."""
    if zone is None or zone in ("Z", "UTC"):
        return 0.0
    digits = zone.replace(":", "")
    return float(f"{digits[0]}1") * (3600 * int(digits[1:3]) + 60 * int(digits[3:]))


def _parsed(texts: Sequence[str]) -> NDArray[np.float64] | None:
    try:
        return np.array(texts, dtype="datetime64[us]").astype(np.int64) / 1e6
    except ValueError:  # the 31st of February
        return None


_PLAIN = r"[+-]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d{1,4})?"
_GROUPED = r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?"
_DECIMAL_COMMA = re.compile(rf"{_PLAIN}|{_GROUPED}", re.ASCII)


def read_decimal_commas(texts: Sequence[str]) -> list[float] | None:
    """Numbers with a decimal comma, and maybe with dots between thousands; None if some text is none, or none has a comma.

    >>> read_decimal_commas(["1,5", "-2"]), read_decimal_commas(["1.234,5"]), read_decimal_commas(["1", "2"])
    ([1.5, -2.0], [1234.5], None)
    """
    if not any("," in text for text in texts) or not all(map(_DECIMAL_COMMA.fullmatch, texts)):
        return None
    return [float(text.replace(".", "").replace(",", ".")) for text in texts]
