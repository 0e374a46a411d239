"""Text columns: their distinct values as levels, and text that holds numbers."""

import ctypes
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.errors import NumberTextWarning

Levels = NDArray[np.object_]  # words in order
HEAD = 1024  # rows that mostly have all levels of a column
FEW_OBJECTS = 4  # cells for each object of a column, from which on the objects are looked at instead of the cells


class Ranks(NamedTuple):
    """The rank of every cell among the ``levels``, NaN where it is missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    levels: Levels


def pandas_ranks(native: Any) -> Ranks | None:
    """A series of pandas by its categories, or by its words if Arrow or few objects hold them; None if it has neither.

    Wrapping a series costs more than reading a short one.
    """
    array = native.array
    kind = type(array).__name__
    if kind == "Categorical":
        return rank_levels(array.codes, _category_words(array.categories))
    if kind.startswith("ArrowString"):
        return _words_of_arrow(import_module("pyarrow").array(array))
    return _few_objects(native.to_numpy()) if native.dtype == object else None


def level_ranks(series: nw.Series[Any]) -> Ranks:
    """A column of text or categories, by the library's own dictionaries."""
    native: Any = series.to_native()
    if series.implementation.is_pandas():
        return rank_levels(*native.factorize())
    if series.implementation.is_polars():
        if series.dtype != nw.Enum:
            import polars

            words = native.cast(polars.String)
            native = words.cast(polars.Enum(words.drop_nulls().unique(maintain_order=True)))
        (ranks,) = enumerations(native.to_frame()).values()
        return ranks
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    words = np.asarray(series.cast(nw.String).to_numpy(), dtype=object)
    codes = np.full(len(words), -1)
    levels, codes[~missing] = np.unique(words[~missing].astype(str), return_inverse=True)
    return rank_levels(codes, levels)


def arrow_ranks(column: Any) -> Ranks | None:
    """A column of Arrow by its dictionary or its words; None if it has neither."""
    pyarrow = import_module("pyarrow")
    kind = column.type
    if not (pyarrow.types.is_dictionary(kind) or kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())):
        return None
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if not pyarrow.types.is_dictionary(kind):
        return _words_of_arrow(array)
    indices = array.indices.fill_null(-1) if array.indices.null_count else array.indices
    return rank_levels(indices.to_numpy(zero_copy_only=False), array.dictionary.to_pylist())


def enumerations(frame: Any) -> dict[str, Ranks]:
    """The enumerations of a frame of polars, by column.

    One expression converts all of them to codes, because an expression costs more than reading a short column.
    """
    polars = import_module("polars")
    types = {name: dtype for name, dtype in frame.schema.items() if isinstance(dtype, polars.Enum)}
    ranks = {}
    for codes in frame.select(polars.col(list(types)).to_physical()).get_columns():
        known = codes.cast(int).fill_null(-1) if codes.null_count() else codes
        ranks[codes.name] = rank_levels(known.to_numpy(), types[codes.name].categories.to_list())
    return ranks


def _category_words(categories: Any) -> Any:
    """Categories of pandas: strings of Arrow without its checks of every word."""
    words = categories.array
    return import_module("pyarrow").array(words).to_pylist() if type(words).__name__.startswith("ArrowString") else categories


def rank_levels(codes: NDArray[Any], levels: Iterable[Any]) -> Ranks:
    """Ranks of codes, -1 for a missing cell, among the levels that occur, sorted as text, in the smallest type."""
    words = list(map(str, levels.tolist() if hasattr(levels, "tolist") else levels))
    missing = codes < 0 if codes.dtype.kind == "i" and codes.min(initial=0) < 0 else None
    known = codes if missing is None else codes[~missing]
    counts = np.bincount(known[:HEAD], minlength=len(words)).tolist()
    if 0 in counts:
        counts = np.bincount(known, minlength=len(words)).tolist()
    if missing is None and 0 not in counts and words == sorted(set(words)):
        return Ranks(codes.astype(np.min_scalar_type(len(words) - 1)), None, np.array(words, dtype=object))
    found = [word if count else None for word, count in zip(words, counts, strict=True)]
    return _rank_words(codes, found, missing)


def _rank_words(codes: NDArray[Any], words: Sequence[str | None], missing: NDArray[np.bool_] | None) -> Ranks:
    """Ranks of words, of which some may be equal; None is none."""
    kept = sorted({word for word in words if word is not None})
    ranks = {word: rank for rank, word in enumerate(kept)}
    rank_of = np.array([0 if word is None else ranks[word] for word in words], dtype=np.min_scalar_type(max(len(kept) - 1, 0)))
    values: NDArray[Any] = rank_of.take(codes, mode="clip") if len(words) else np.zeros(len(codes))  # missing: any rank
    if missing is not None:
        values = np.where(missing, np.nan, values)
    return Ranks(values, missing, np.array(kept, dtype=object))


def _words_of_arrow(column: Any) -> Ranks:
    """A column of Arrow strings: their bytes are hashed where they lie."""
    pyarrow = import_module("pyarrow")
    array = column
    if isinstance(column, pyarrow.ChunkedArray):
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if array.type not in (pyarrow.string(), pyarrow.large_string()):  # views, which pyarrow 17 does not cast
        try:
            array = array.cast(pyarrow.large_string())
        except pyarrow.ArrowNotImplementedError:
            array = pyarrow.array(array.to_pylist(), pyarrow.large_string())
    if not len(array):
        return _rank_words(np.empty(0, dtype=np.int32), [], None)
    _, starts, data = array.buffers()
    start_type: Any = np.int32 if array.type == pyarrow.string() else np.int64
    starts = np.frombuffer(starts, start_type)[array.offset : array.offset + len(array) + 1]
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    codes = np.empty(len(array), dtype=np.int32)
    content = memoryview(b"" if data is None else data)
    text = np.frombuffer(content, np.uint8) if len(content) else np.empty(0, np.uint8)
    known = None if missing is None else (~missing).view(np.uint8)
    rows = core.distinct_words(text, starts, known, 2**31 - 2, codes)
    ends = zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True)
    return _rank_words(codes, [str(content[start:end], "utf-8") for start, end in ends], missing)


def _few_objects(cells: NDArray[np.object_]) -> Ranks | None:
    """A column in which few string objects occur many times each; None for any other.

    Equal words of a column are mostly one object: those that a reader made, or that come from a list of levels. Only the
    addresses of the cells are hashed, and each object is looked at once.
    """
    if not len(cells) or not (isinstance(cells[0], str) or _is_missing(cells[0])):
        return None
    cells = np.ascontiguousarray(cells)
    memory: Any = (ctypes.c_uint8 * cells.nbytes).from_address(cells.ctypes.data)
    addresses = np.frombuffer(memory, np.uint8)
    starts = np.arange(0, cells.nbytes + 1, cells.itemsize)
    codes = np.empty(len(cells), dtype=np.int32)
    most = len(cells) // FEW_OBJECTS
    rows = core.distinct_words(addresses, starts, None, most, codes)
    words = cells[rows].tolist()
    found = [word if isinstance(word, str) else None for word in words]
    others = [word for word in words if not isinstance(word, str)]
    if len(rows) > most or len(others) == len(words) or not all(map(_is_missing, others)):
        return None
    absent = np.array([word is None for word in found])
    return _rank_words(codes, found, absent[codes] if absent.any() else None)


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


_CURRENCY = r"[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR)"
_UNIT = "[A-Za-zµμ°Ω][A-Za-zµμ°Ω²³/]{0,7}"
_DIGITS = r"\d+(?:[.]\d*)?|[.]\d+|\d{1,3}(?:(?P<mark>[,'’\u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?:[.]\d*)?"
_NUMBER = re.compile(
    rf"(?P<limit>[<>] ?)?(?P<open>\()?(?P<sign>[-+−])?(?P<before>{_CURRENCY})? ?(?P<inner>[-−])?"
    rf"(?P<digits>{_DIGITS})(?P<power>[eE][-+]?\d{{1,3}})?(?: ?(?:(?P<after>%|{_CURRENCY})|(?P<unit>{_UNIT})))?(?P<close>\))?",
    re.ASCII,
)
_CODE = re.compile(r"0\d")  # digits that name something, such as a zip code
EXCHANGED = str.maketrans(",.", ".,")
# Words for a missing cell where all other cells of a column are numbers or dates; in a column of words they may be levels.
PLACEHOLDERS = frozenset(
    [
        "-",
        "--",
        "---",
        "–",
        "—",
        ".",
        "..",
        "*",
        "none",
        "nil",
        "na",
        "n.a.",
        "nd",
        "n/d",
        "nat",
        "missing",
        "unknown",
        "undefined",
        "(null)",
        "(blank)",
        "#div/0!",
        "#value!",
        "#ref!",
        "#num!",
        "#name?",
        "#null!",
    ]
)


def read_formatted_numbers(texts: Sequence[str]) -> list[float] | None:
    """Numbers of one unit, or None if some text is none. Units of letters, such as kg, are the same in all texts.

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
    """True for a word that stands for a missing number.

    >>> is_placeholder("n.a."), is_placeholder("12")
    (True, False)
    """
    return text.lower() in PLACEHOLDERS


def is_code(text: str) -> bool:
    """True for digits that name something, such as a zip code.

    >>> is_code("01234"), is_code("0.5")
    (True, False)
    """
    return _CODE.match(text) is not None


def decimal_mark(texts: Sequence[str]) -> str | None:
    """The decimal mark of texts that are numbers of one unit; None if they are not, or are codes.

    >>> decimal_mark(["$1,234", "$80"]), decimal_mark(["1.234,5", "2,5"]), decimal_mark(["01234", "99999"])
    ('.', ',', None)
    """
    if any(map(is_code, texts)):
        return None
    forms = {".": list(texts), ",": [text.translate(EXCHANGED) for text in texts]}
    return next((mark for mark, form in forms.items() if read_formatted_numbers(form) is not None), None)


MANY_LEVELS = 20  # fewer texts may well be classes
LOOKED_AT = 100  # texts of a column
LISTED = 3  # columns that a warning names


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
        warnings.warn(
            f"{what}: text in {', '.join(found[:LISTED])}{more} is numbers, and every text is a level. If these are "
            f"measurements, pass labelsieve.datasets.to_numbers({what}{option}); if not, make them categories.",
            NumberTextWarning,
            stacklevel=3,
        )
