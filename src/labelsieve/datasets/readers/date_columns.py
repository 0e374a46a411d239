"""Columns of dates and times as numbers: seconds since 1970-01-01 in UTC, or of the day."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_CLOCK_TEXT = r"(?P<hour>\d\d?):(?P<rest>\d\d(?::\d\d(?:\.\d{1,9})?)?)(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
_TIME = rf"(?:(?:T|,? ){_CLOCK_TEXT}(?:\s?(?P<zone>Z|UTC|[+-]\d\d(?::?\d\d)?))?)?"
_NAME = r"(?P<name>[A-Za-z]{3,9})"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?){_TIME}", re.ASCII)
_DOTS = re.compile(rf"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{{4}}){_TIME}", re.ASCII)
_SLASHES = re.compile(rf"(?P<one>\d\d?)(?P<mark>[-/])(?P<two>\d\d?)(?P=mark)(?P<year>\d{{4}}|(?<=/)\d\d){_TIME}", re.ASCII)
_DAY_NAME = re.compile(rf"(?P<day>\d\d?)(?P<mark>[- /]){_NAME}\.?(?P=mark)(?P<year>\d{{4}}|\d\d){_TIME}", re.ASCII)
_NAME_DAY = re.compile(rf"{_NAME}\.? (?P<day>\d\d?),? (?P<year>\d{{4}}){_TIME}", re.ASCII)
_CLOCK = re.compile(_CLOCK_TEXT, re.ASCII)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NUMBER_OF = {name[:letters]: month for month, name in enumerate(_MONTHS, 1) for letters in (3, len(name))} | {"sept": 9}
PIVOT = 69  # of years with two digits: 69 is 1969, 68 is 2068, as in POSIX


def read_dates(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Seconds of every text, or None if they are not all dates, or all times, of one form.

    Forms are 2020-01-31, 2020/01/31 and 2020.1.31, 31.1.2020, 31-Jan-2020, 31 January 2020 and Jan 31, 2020, and 1/31/2020 or
    31/1/20 where some day above 12 decides which number is the day; each with 12:30, 12:30:00, 12:30:00.5 or 9:30 PM after a
    blank or T, and then Z, UTC or an offset such as +01:00. Or 12:30 alone.

    >>> read_dates(["1970-01-01", "1970-01-01 00:01:00Z"]), read_dates(["12:30 am"]), read_dates(["1/2/2020"])
    (array([ 0., 60.]), array([1800.]), None)
    """
    for form in (_YEAR_FIRST, _DOTS, _SLASHES, _DAY_NAME, _NAME_DAY):
        if not texts or not form.fullmatch(texts[0]):
            continue
        matches = _all_match(form, texts)
        dates = None if matches is None else _with_slashes(matches) if form is _SLASHES else _named(matches)
        return None if matches is None or dates is None else _seconds(matches, dates)
    times = _all_match(_CLOCK, texts)
    return _seconds(times, ["1970-01-01"] * len(times)) if times else None


def are_undecided_dates(texts: Sequence[str]) -> bool:
    """True for dates such as 1/2/2020 of which none shows whether the day or the month comes first.

    >>> are_undecided_dates(["1/2/2020", "3/4/2021"]), are_undecided_dates(["1/31/2020"])
    (True, False)
    """
    matches = _all_match(_SLASHES, texts)
    return bool(matches) and all(0 < int(match[part]) <= 12 for match in matches or () for part in ("one", "two"))


Matches = Sequence[re.Match[str]]


def _all_match(form: re.Pattern[str], texts: Sequence[str]) -> Matches | None:
    if not texts or not form.fullmatch(texts[0]):
        return None
    found = [match for text in texts if (match := form.fullmatch(text)) is not None]
    return found if len(found) == len(texts) else None


def _year(match: re.Match[str]) -> str:
    year = match["year"]
    return year if len(year) == 4 else str(int(year) + (1900 if int(year) >= PIVOT else 2000))


def _named(matches: Matches) -> list[str] | None:
    months = [_NUMBER_OF.get(match["name"].lower()) if "name" in match.groupdict() else match["month"] for match in matches]
    if None in months:
        return None
    return [f"{_year(match)}-{month!s:0>2}-{match['day']:0>2}" for match, month in zip(matches, months, strict=True)]


def _with_slashes(matches: Matches) -> list[str] | None:
    """Day or month first: whichever a number above 12 shows."""
    first, second = (max(int(match[name]) for match in matches) for name in ("one", "two"))
    if (first > 12) == (second > 12):
        return None
    day, month = ("one", "two") if first > 12 else ("two", "one")
    return [f"{_year(match)}-{match[month]:0>2}-{match[day]:0>2}" for match in matches]


def _seconds(matches: Matches, dates: Sequence[str]) -> NDArray[np.float64] | None:
    seconds = _parsed([f"{date}T{_time_of(match)}" for date, match in zip(dates, matches, strict=True)])
    zones = [match.groupdict().get("zone") for match in matches]
    return seconds if seconds is None or not any(zones) else seconds - np.array([_offset(zone) for zone in zones])


def _time_of(match: re.Match[str]) -> str:
    """The time of day on 24 hours; of one on 12 hours that is none, a text that is no time."""
    if match["hour"] is None:
        return "00:00"
    hour, half = int(match["hour"]), match["half"]
    if half is not None:
        hour = hour % 12 + 12 * (half in "Pp") if 1 <= hour <= 12 else 99
    return f"{hour:02}:{match['rest']}"


def _offset(zone: str | None) -> float:
    """Seconds ahead of UTC."""
    if zone is None or zone in ("Z", "UTC"):
        return 0.0
    digits = zone.replace(":", "")
    return float(f"{digits[0]}1") * (3600 * int(digits[1:3]) + 60 * int(digits[3:] or 0))


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
