"""Numbers as people write them: with a currency, a percent sign or a unit, thousands apart, or as a limit of detection."""

import math
import re
from collections.abc import Sequence

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
