"""Text in tables: the levels of text and categorical columns, and text that turns out to hold numbers or dates."""

import math
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import NumberTextWarning, warn

Levels = NDArray[np.object_]  # distinct words, sorted
HEAD = 1024  # rows that mostly have all levels of a column
MANY_LEVELS = 20  # a column of text with fewer levels may well hold classes
LOOKED_AT = 100  # texts of a column that are looked at to see whether they are numbers
LISTED = 3  # columns that a warning names

# Cells that are missing, after blanks around them are removed. The question mark is that of ARFF.
MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null"))
# Words for a missing cell where all other cells of a column are numbers or dates; in a column of words they may be levels.
_MARKS = "-", "--", "---", "–", "—", ".", "..", "*"
_ABSENT = "none", "nil", "na", "n.a.", "nd", "n/d", "nat", "missing", "unknown", "undefined", "(null)", "(blank)"
_SPREADSHEET_ERRORS = "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"
PLACEHOLDERS = frozenset((*_MARKS, *_ABSENT, *_SPREADSHEET_ERRORS))
EXCHANGED = str.maketrans(",.", ".,")  # decimal comma to decimal point, and back
_CODE = re.compile(r"0\d")  # digits that name something, such as a zip code
_CURRENCY = r"[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR)"
_UNIT = "[A-Za-zµμ°Ω][A-Za-zµμ°Ω²³/]{0,7}"
_DIGITS = r"\d+(?:[.]\d*)?|[.]\d+|\d{1,3}(?:(?P<mark>[,'’\u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?:[.]\d*)?"
_NUMBER = re.compile(
    rf"(?P<limit>[<>] ?)?(?P<open>\()?(?P<sign>[-+−])?(?P<before>{_CURRENCY})? ?(?P<inner>[-−])?"
    rf"(?P<digits>{_DIGITS})(?P<power>[eE][-+]?\d{{1,3}})?(?: ?(?:(?P<after>%|{_CURRENCY})|(?P<unit>{_UNIT})))?(?P<close>\))?",
    re.ASCII,
)


class FrameColumn(NamedTuple):
    """A column of a frame as numbers, NaN where a cell is ``missing``; those of text are ranks among its sorted ``levels``."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    nominal: bool = False
    levels: Levels | None = None


def read_levels(frame: nw.DataFrame[Any]) -> list[FrameColumn | None]:
    """Rank the cells of every text or categorical column among its sorted levels; None for each other column.

    Each library numbers the words of its own columns. Columns are not wrapped one by one, which takes longer than reading
    short ones. Columns of libraries other than pandas, polars and pyarrow are left to :func:`level_ranks`.

    Cost: one pass of the library's hash table, and sorting the levels.
    """
    native: Any = frame.to_native()
    if frame.implementation.is_pandas():
        return [_pandas_ranks(column) for _, column in native.items()]
    if frame.implementation.is_polars():
        return _polars_ranks(native)
    if frame.implementation.is_pyarrow():
        return [_arrow_ranks(column) for column in native.columns]
    return [None] * len(frame.columns)


def _pandas_ranks(column: Any) -> FrameColumn | None:
    pandas = import_module("pandas")

    if isinstance(column.dtype, pandas.CategoricalDtype):
        return rank_levels(column.array.codes, column.array.categories.tolist())
    is_text = isinstance(column.dtype, pandas.StringDtype)
    if not is_text and (
        column.dtype != object or pandas.api.types.infer_dtype(column.to_numpy()[:HEAD]) not in ("string", "empty")
    ):
        return None
    codes, levels = column.array.factorize()
    words = levels.tolist()
    # The first cells of a column of objects may be text and others not.
    return rank_levels(codes, words) if is_text or (words and all(isinstance(word, str) for word in words)) else None


def _polars_ranks(frame: Any) -> list[FrameColumn | None]:
    polars = import_module("polars")

    columns = []
    for column in frame.get_columns():
        if column.dtype in (polars.String, polars.Categorical):
            words = column.cast(polars.String)
            columns.append(words.cast(polars.Enum(words.drop_nulls().unique().sort())))
        elif isinstance(column.dtype, polars.Enum):
            columns.append(column)
    # One expression for all columns, because an expression takes longer than reading a short column.
    codes = polars.DataFrame(columns).select(polars.all().to_physical()).get_columns()
    ranks = {}
    for column, of_column in zip(columns, codes, strict=True):
        known = of_column.cast(polars.Int64).fill_null(-1) if of_column.null_count() else of_column
        ranks[column.name] = rank_levels(known.to_numpy(), column.dtype.categories.to_list())
    return [ranks.get(name) for name in frame.columns]


def _arrow_ranks(column: Any) -> FrameColumn | None:
    pyarrow = import_module("pyarrow")

    if column.type == pyarrow.string_view():  # which pyarrow 17 neither encodes nor casts
        column = pyarrow.chunked_array([column.to_pylist()], pyarrow.large_string())
    if not (pyarrow.types.is_dictionary(column.type) or column.type in (pyarrow.string(), pyarrow.large_string())):
        return None
    array = column.dictionary_encode().combine_chunks()
    codes = array.indices.fill_null(-1) if array.indices.null_count else array.indices
    return rank_levels(codes.to_numpy(zero_copy_only=False), array.dictionary.to_pylist())


def level_ranks(series: nw.Series[Any]) -> FrameColumn:
    """Rank the cells of a text or categorical column of any library among its sorted levels."""
    known = ~np.asarray(series.is_null().to_numpy(), dtype=bool)
    words = np.asarray(series.cast(nw.String).to_numpy(), dtype=object)
    codes = np.full(len(words), -1)
    levels, codes[known] = np.unique(words[known].astype(str), return_inverse=True)
    return rank_levels(codes, levels.tolist())


def rank_levels(codes: NDArray[Any], levels: Sequence[Any]) -> FrameColumn:
    """Turn codes of levels in any order, -1 for a missing cell, into ranks among those levels that occur, sorted as text.

    >>> column = rank_levels(np.array([2, 0, -1]), ["red", "blue", "green"])
    >>> column.values, column.levels
    (array([ 0.,  1., nan]), array(['green', 'red'], dtype=object))
    """
    words = list(map(str, levels))
    missing = codes < 0 if codes.dtype.kind == "i" and codes.min(initial=0) < 0 else None
    known = codes if missing is None else codes[~missing]
    # A category of a library need not occur in the column. Mostly the first rows show that all do.
    counts = np.bincount(known[:HEAD], minlength=len(words)).tolist()
    if 0 in counts:
        counts = np.bincount(known, minlength=len(words)).tolist()
    if missing is None and 0 not in counts and words == sorted(set(words)):
        return FrameColumn(codes.astype(np.min_scalar_type(len(words) - 1)), None, True, np.array(words, dtype=object))
    kept = sorted({word for word, count in zip(words, counts, strict=True) if count})
    rank_of_word = {word: rank for rank, word in enumerate(kept)}
    ranks = np.array([rank_of_word.get(word, 0) for word in words], dtype=np.min_scalar_type(max(len(kept) - 1, 0)))
    values: NDArray[Any] = ranks.take(codes, mode="clip") if len(words) else np.zeros(len(codes))
    if missing is not None:
        values = np.where(missing, np.nan, values)
    return FrameColumn(values, missing, True, np.array(kept, dtype=object))


def warn_of_number_texts(frame: nw.DataFrame[Any], text: Mapping[int, Levels], what: str) -> None:
    """Warn of columns of text with many levels that are all numbers; categories are taken as meant.

    Cost: some of the levels of a column are looked at.
    """
    found, marks = [], set()
    for column, levels in text.items():
        if len(levels) <= MANY_LEVELS:
            continue
        some = [str(level).strip() for level in levels[:: max(1, len(levels) // LOOKED_AT)]]
        mark = decimal_mark([word for word in some if word and not is_placeholder(word)])
        if mark is not None and frame[:, column].dtype == nw.String:
            marks.add(mark)
            found.append(f"{frame.columns[column]!r} (such as {some[-1][:20]!r})")
    if found:
        option = ", decimal=','" if marks == {","} else ""
        more = f", ... ({len(found)} columns)" if len(found) > LISTED else ""
        warn(
            f"{what}: text in {', '.join(found[:LISTED])}{more} is numbers, and every text is a level. If these are "
            f"measurements, pass labelsieve.datasets.to_numbers({what}{option}); if not, make them categories.",
            NumberTextWarning,
        )


def date_column(column: FrameColumn) -> FrameColumn | None:
    """Read a column of text as seconds, missing where a text is missing or stands for that; None if it is not all dates.

    Cost: the first level of a column that holds other text; all levels of a column of dates.
    """
    words = [] if column.levels is None else [str(level).strip() for level in column.levels]
    present = [word for word in words if word not in MISSING and not is_placeholder(word)]
    dates = read_dates(present)
    if dates is None:
        return None
    number = dict(zip(present, dates.tolist(), strict=True))
    of_level = np.array([number.get(word, np.nan) for word in words])
    ranks = column.values if column.missing is None else np.where(column.missing, 0, column.values)
    seconds: NDArray[np.float64] = of_level[ranks.astype(np.intp)]
    if column.missing is not None:
        seconds[column.missing] = np.nan
    missing = np.isnan(seconds)
    return FrameColumn(seconds, missing if missing.any() else None)


def read_formatted_numbers(texts: Sequence[str]) -> list[float] | None:
    """Read texts as numbers of one unit; None if some text is no number, or units of letters, such as kg, differ.

    A limit of detection is next to its number: ``<0.5`` is below 0.5 and above every smaller number. Brackets are a minus sign.

    >>> read_formatted_numbers(["$1,234.50", "-$20", "($5)"]), read_formatted_numbers(["12%", "0.5%"])
    ([1234.5, -20.0, -5.0], [12.0, 0.5])
    >>> read_formatted_numbers(["<0.5", "0.5"])[0] < 0.5, read_formatted_numbers(["$1", "€1"]), read_formatted_numbers(["1,23"])
    (True, None, None)
    >>> read_formatted_numbers(["5.1 kg", "12 kg"]), read_formatted_numbers(["12", "12a"])
    ([5.1, 12.0], None)
    """
    matches = [match for match in map(_NUMBER.fullmatch, texts) if match is not None]
    if not matches or len(matches) < len(texts):
        return None
    units = {match["before"] or match["after"] for match in matches}
    if len(units - {None}) > 1 or units == {None, "%"} or all(match["limit"] for match in matches):
        return None
    if len({match["unit"] for match in matches}) > 1:
        return None
    numbers = []
    for match in matches:
        twice = bool(match["before"] and (match["after"] or match["unit"])) or bool(
            match["sign"] and (match["inner"] or match["open"])
        )
        if twice or bool(match["open"]) != bool(match["close"]):
            return None
        digits = match["digits"] if match["mark"] is None else match["digits"].replace(match["mark"], "")
        number = float(f"{digits}{match['power'] or ''}")
        number = -number if match["open"] or (match["sign"] or match["inner"] or "+") != "+" else number
        limit = (match["limit"] or "").strip()
        numbers.append(number if not limit else math.nextafter(number, -math.inf if limit == "<" else math.inf))
    return numbers


def is_placeholder(text: str) -> bool:
    """Tell whether a word stands for a missing number.

    >>> is_placeholder("n.a."), is_placeholder("12")
    (True, False)
    """
    return text.lower() in PLACEHOLDERS


def is_code(text: str) -> bool:
    """Tell whether digits name something, such as a zip code, because they start with zero.

    >>> is_code("01234"), is_code("0.5")
    (True, False)
    """
    return _CODE.match(text) is not None


def decimal_mark(texts: Sequence[str]) -> str | None:
    """Return the decimal mark of texts that are numbers of one unit; None if they are not, or are codes.

    >>> decimal_mark(["$1,234", "$80"]), decimal_mark(["1.234,5", "2,5"]), decimal_mark(["01234", "99999"])
    ('.', ',', None)
    """
    if any(map(is_code, texts)):
        return None
    forms = {".": list(texts), ",": [text.translate(EXCHANGED) for text in texts]}
    return next((mark for mark, form in forms.items() if read_formatted_numbers(form) is not None), None)


_CLOCK = r"(?P<hour>\d\d?):(?P<rest>\d\d(?::\d\d(?:\.\d{1,9})?)?)(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
_TIME = rf"(?:(?:T|,? ){_CLOCK}(?:\s?(?P<zone>Z|UTC|[+-]\d\d(?::?\d\d)?))?)?"
_NAME = r"(?P<name>[A-Za-z]{3,9})"
_SLASHES = re.compile(rf"(?P<one>\d\d?)(?P<mark>[-/])(?P<two>\d\d?)(?P=mark)(?P<year>\d{{4}}|(?<=/)\d\d){_TIME}", re.ASCII)
_FORMS = (
    re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?){_TIME}", re.ASCII),
    re.compile(rf"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{{4}}){_TIME}", re.ASCII),
    _SLASHES,
    re.compile(rf"(?P<day>\d\d?)(?P<mark>[- /]){_NAME}\.?(?P=mark)(?P<year>\d{{4}}|\d\d){_TIME}", re.ASCII),
    re.compile(rf"{_NAME}\.? (?P<day>\d\d?),? (?P<year>\d{{4}}){_TIME}", re.ASCII),
    re.compile(_CLOCK, re.ASCII),
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NUMBER_OF = {name[:letters]: month for month, name in enumerate(_MONTHS, 1) for letters in (3, len(name))} | {"sept": 9}
PIVOT = 69  # of years with two digits: 69 is 1969, 68 is 2068, as in POSIX


def read_dates(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Convert texts to seconds; None if they are not all dates, or all times, of one form.

    Forms are 2020-01-31, 2020/01/31 and 2020.1.31, 31.1.2020, 31-Jan-2020, 31 January 2020 and Jan 31, 2020, and 1/31/2020 or
    31/1/20 where some day above 12 decides which number is the day; each with 12:30, 12:30:00, 12:30:00.5 or 9:30 PM after a
    blank or T, and then Z, UTC or an offset such as +01:00. Or 12:30 alone.

    >>> read_dates(["1970-01-01", "1970-01-01 00:01:00Z"]), read_dates(["12:30 am"]), read_dates(["1/2/2020"])
    (array([ 0., 60.]), array([1800.]), None)
    """
    form = next((form for form in _FORMS if texts and form.fullmatch(texts[0])), None)
    found = [] if form is None else _fields(form, texts)
    if form is _SLASHES and found:
        first, second = (max(int(fields[name]) for fields in found) for name in ("one", "two"))
        if (first > 12) == (second > 12):
            return None
        day, month = ("one", "two") if first > 12 else ("two", "one")
        found = [fields | {"day": fields[day], "month": fields[month]} for fields in found]
    try:
        times = np.array([_iso_time(fields) for fields in found], dtype="datetime64[us]")
    except (ValueError, KeyError):  # the 31st of February, 13 PM, a month of another language
        return None
    offsets = np.array([_seconds_ahead(fields.get("zone", "")) for fields in found])
    return times.astype(np.int64) / 1e6 - offsets if found else None


def are_undecided_dates(texts: Sequence[str]) -> bool:
    """Return True for dates such as 1/2/2020 of which none shows whether the day or the month comes first.

    >>> are_undecided_dates(["1/2/2020", "3/4/2021"]), are_undecided_dates(["1/31/2020"])
    (True, False)
    """
    found = _fields(_SLASHES, texts)
    return bool(found) and all(0 < int(fields[part]) <= 12 for fields in found for part in ("one", "two"))


def _fields(form: re.Pattern[str], texts: Sequence[str]) -> list[dict[str, str]]:
    """Return the named parts of every text, empty where one is left out; an empty list if some text has another form."""
    if not texts or not form.fullmatch(texts[0]):
        return []
    found = [match.groupdict("") for text in texts if (match := form.fullmatch(text)) is not None]
    return found if len(found) == len(texts) else []


def _iso_time(fields: Mapping[str, str]) -> str:
    """Write the parts of a date as numpy reads it."""
    year, hour, half = fields.get("year", "1970"), int(fields["hour"] or 0), fields["half"]
    if len(year) == 2:
        year = str(int(year) + (1900 if int(year) >= PIVOT else 2000))
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(f"{hour} {half}M")
        hour = hour % 12 + 12 * (half in "Pp")
    month = _NUMBER_OF[fields["name"].lower()] if "name" in fields else fields.get("month", "1")
    return f"{year}-{month!s:0>2}-{fields.get('day', '1'):0>2}T{hour:02}:{fields['rest'] or '00'}"


def _seconds_ahead(zone: str) -> float:
    """Return how many seconds a time zone is ahead of UTC."""
    if zone in ("", "Z", "UTC"):
        return 0.0
    digits = zone.replace(":", "")
    return float(f"{digits[0]}1") * (3600 * int(digits[1:3]) + 60 * int(digits[3:] or 0))
