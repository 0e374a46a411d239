"""The header of an ARFF file: the name of the relation, and the names and types of the attributes."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.date_columns import read_dates
from labelsieve.errors import DatasetError

Strings = Literal["error", "drop", "nominal"]
QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_QUOTED = re.compile(QUOTED)
_KEYWORD = re.compile(r"@(\w+)\s*(.*)", re.DOTALL)
# A name without quotes is taken as it is: neither a backslash nor an apostrophe in it has a meaning.
_NAME = re.compile(rf"({QUOTED})|([^\s{{]+)")
# Possessive (*+), here and below: a long value or a run of blanks is read once, not again from each of its characters.
_VALUE = re.compile(rf"""\s*+(?:({QUOTED})|((?:[^,'"\s][^,]*+)?))\s*+(,|$)""")
_STOP = re.compile("[%'\"]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NUMERIC = frozenset({"numeric", "real", "integer"})


class Texts:
    """Numbers the texts of one attribute in order of appearance; ``keep=False`` discards them, ``dates=True`` are dates.

    >>> texts = Texts()
    >>> texts("b"), texts("a"), texts("b"), texts("?")
    (0.0, 1.0, 0.0, nan)
    """

    def __init__(self, keep: bool = True, dates: bool = False) -> None:
        self.keep = keep
        self.dates = dates
        self.codes: dict[str, float] = {}

    def __call__(self, text: str) -> float:
        """The number of a text without quotes; one with quotes or a comment is left to the careful reader."""
        if text[:1] in ("'", '"') or "%" in text:
            raise KeyError(text)
        return self.add(text)

    def add(self, text: str) -> float:
        """The number of a text whose quotes are undone."""
        if text == "?":
            return float("nan")
        return self.codes.setdefault(text, float(len(self.codes))) if self.keep else 0.0


def settle_texts(columns: tuple[Column, ...], cells: Any, file: Path) -> tuple[tuple[Column, ...], Any]:
    """Leave out the columns of texts, or number their values in sorted order, and say which values there are."""
    kept = [position for position, column in enumerate(columns) if column.texts is None or column.texts.keep]
    if len(kept) < len(columns):
        if not kept:
            raise DatasetError("all its attributes are strings or dates.", 'Pass strings="nominal".', file)
        columns, cells = tuple(columns[position] for position in kept), cells[:, kept]
        cells = sparse.csr_array(cells) if sparse.issparse(cells) else np.ascontiguousarray(cells)
    settled = list(columns)
    for position, column in enumerate(columns):
        if column.texts is None:
            continue
        found = cells[:, position]  # a view: sparse rows were refused
        used = ~np.isnan(found)
        numbers = found[used].astype(np.int64)
        occurring = np.zeros(len(column.texts.codes), dtype=bool)  # a sweep that stumbled may have met what is no text
        occurring[numbers] = True
        values = tuple(sorted(text for text, code in column.texts.codes.items() if occurring[int(code)]))
        if not values:
            raise DatasetError(f"attribute {column.name!r} is missing in every row.", 'Pass strings="drop".', file)
        if column.texts.dates:
            found[used] = _dates(values, column, file)[numbers]
            settled[position] = replace(column, texts=None)
            continue
        order = np.zeros(len(occurring))
        order[[int(column.texts.codes[value]) for value in values]] = np.arange(len(values))
        found[used] = order[numbers]
        settled[position] = replace(column, values=values, texts=None)
    return tuple(settled), cells


def _dates(values: tuple[str, ...], column: Column, file: Path) -> NDArray[np.float64]:
    """Seconds of every text, by its number."""
    seconds = read_dates(values)
    if seconds is None:
        raise DatasetError(
            f"attribute {column.name!r} is a date, and {values[0]!r} or another value has no known form, such as 2020-01-31.",
            'Pass strings="drop" to leave it out, or strings="nominal" to take each text as a value.',
            file,
        )
    codes = column.texts.codes if column.texts is not None else {}
    by_number = np.full(len(codes), np.nan)
    by_number[[int(codes[value]) for value in values]] = seconds
    return by_number


@dataclass(frozen=True)
class Header:
    """What stands before the rows; ``end`` is the first character of the rows and ``line`` the line it is in."""

    relation: str
    columns: tuple[Column, ...]
    comment: str
    end: int
    line: int


def unquote(text: str) -> str:
    r"""A value without its quotes, and then with its escapes undone; one without quotes stays as it is.

    >>> unquote(r"'Swainson\'s Thrush'"), unquote(r"TAG_m\'usica")
    ("Swainson's Thrush", "TAG_m\\'usica")
    """
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text[1:-1])
    return text


def split_values(text: str) -> list[str] | None:
    """Values with commas between them, quotes undone; None if something follows a closing quote.

    >>> split_values("a, 'b, c' ,d")
    ['a', 'b, c', 'd']
    """
    values, position = [], 0
    while found := _VALUE.match(text, position):
        values.append(unquote(found[1]) if found[1] else found[2].rstrip())
        if not found[3]:
            return values
        position = found.end()
    return None


def strip_comment(line: str) -> str:
    """The line up to a ``%`` that is not within quotes.

    >>> strip_comment("'5 %', don't % a quote without its other half is none"), strip_comment("100 % of 'it'")
    ("'5 %', don't ", '100 ')
    """
    position, unclosed = 0, ""
    while "%" in line and (stop := _STOP.search(line, position)):
        if stop[0] == "%":
            return line[: stop.start()]
        quoted = None if stop[0] in unclosed else _QUOTED.match(line, stop.start())
        if not quoted:
            unclosed += stop[0]  # nor will a later one of its kind be closed
        position = quoted.end() if quoted else stop.end()
    return line


def read_header(text: str, file: Path, strings: Strings = "error") -> Header:
    """Read up to and with the line ``@data``."""
    relation, comments = "", []
    columns: dict[str, Column] = {}
    position = number = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line, position, number = text[position:end].strip(), end + 1, number + 1
        if not line:
            continue
        if line.startswith("%"):
            comments.append(line.lstrip("%").strip())
            continue
        found = _KEYWORD.match(line)
        keyword = found[1].lower() if found else ""
        if keyword == "data":
            if not columns:
                raise DatasetError("there is no @attribute before @data.", file=file, line=number)
            return Header(relation, tuple(columns.values()), "\n".join(comments).strip(), min(position, len(text)), number + 1)
        if found and keyword == "relation":
            relation = _relation(found[2])
        elif found and keyword == "attribute":
            column = _attribute(found[2], file, number, strings)
            if column.name in columns:
                raise DatasetError(
                    f"attributes {list(columns).index(column.name) + 1} and {len(columns) + 1} are both named {column.name!r}.",
                    "Rename one.",
                    file,
                    number,
                )
            columns[column.name] = column
        else:
            raise DatasetError(
                f"{line[:40]!r} is neither @relation, @attribute, @data nor a comment.",
                "Is @data missing before the rows?",
                file,
                number,
            )
    raise DatasetError("there is no @data.", "Is the file whole?", file, max(number, 1))


def _relation(rest: str) -> str:
    quoted = _QUOTED.match(rest)
    return unquote(quoted[0]) if quoted else strip_comment(rest).strip()


def _attribute(rest: str, file: Path, line: int, strings: Strings) -> Column:
    found = _NAME.match(rest)
    if not found:
        raise DatasetError("this attribute has no name.", file=file, line=line)
    name, kind = unquote(found[0]) if found[1] else found[0], rest[found.end() :].strip()
    if kind.startswith("{"):
        return Column(name, _nominal(name, strip_comment(kind).strip(), file, line))
    word = strip_comment(kind).split()[0].lower() if strip_comment(kind).split() else ""
    if word in _NUMERIC:
        return Column(name)
    if word == "date" and strings == "error":
        return Column(name, texts=Texts(dates=True))
    if word in ("string", "date"):
        if strings != "error":
            return Column(name, texts=Texts(keep=strings == "nominal"))
        raise DatasetError(
            f"attribute {name!r} is a {word}, which is neither a number nor one of a list of values.",
            'Pass strings="drop" to leave such attributes out, or strings="nominal" to take each text as a value.',
            file,
            line,
        )
    if word == "relational":
        raise DatasetError(f"attribute {name!r} is relational: each of its cells is a table.", "Remove it.", file, line)
    raise DatasetError(
        f"attribute {name!r} has {'the unknown type ' + repr(word) if word else 'no type'}.",
        "Known are numeric, real, integer and values in braces; a name with blanks needs quotes.",
        file,
        line,
    )


def _nominal(name: str, text: str, file: Path, line: int) -> tuple[str, ...]:
    inner = text[1:-1].strip()
    values = split_values(inner) if text.endswith("}") and len(text) > 1 else None
    if values is None:
        raise DatasetError(
            f"the values of attribute {name!r} cannot be read.", "They need braces, and closed quotes.", file, line
        )
    if not inner:
        raise DatasetError(f"attribute {name!r} has no values.", "Remove it.", file, line)
    if len(set(values)) < len(values):
        twice = Counter(values).most_common(1)[0][0]
        raise DatasetError(f"attribute {name!r} lists the value {twice!r} twice.", file=file, line=line)
    return tuple(values)
