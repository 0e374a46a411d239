"""The header of an ARFF file: the name of the relation, and the names and types of the attributes."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.arff_strings import Strings, Texts
from labelsieve.datasets.readers.column_table import Column

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
                    f"there are two attributes named {column.name!r}.", file=file, line=number, remedy="Rename one of them."
                )
            columns[column.name] = column
        else:
            raise DatasetError(
                f"{line[:40]!r} is neither @relation, @attribute, @data nor a comment.",
                file=file,
                line=number,
                remedy="Is @data missing before the rows?",
            )
    raise DatasetError("there is no @data.", file=file, line=max(number, 1), remedy="Is the file whole?")


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
    if word in ("string", "date"):
        if strings != "error":
            return Column(name, texts=Texts(keep=strings == "nominal"))
        raise DatasetError(
            f"attribute {name!r} is a {word}, which is neither a number nor one of a list of values.",
            file=file,
            line=line,
            remedy='Pass strings="drop" to leave such attributes out, or strings="nominal" to take each text as a value.',
        )
    if word == "relational":
        raise DatasetError(
            f"attribute {name!r} is relational: each of its cells is a table.", file=file, line=line, remedy="Remove it."
        )
    raise DatasetError(
        f"attribute {name!r} has {'the unknown type ' + repr(word) if word else 'no type'}.",
        file=file,
        line=line,
        remedy="Known are numeric, real, integer and values in braces; a name with blanks needs quotes.",
    )


def _nominal(name: str, text: str, file: Path, line: int) -> tuple[str, ...]:
    inner = text[1:-1].strip()
    values = split_values(inner) if text.endswith("}") and len(text) > 1 else None
    if values is None:
        raise DatasetError(
            f"the values of attribute {name!r} cannot be read.",
            file=file,
            line=line,
            remedy="They need braces, and closed quotes.",
        )
    if not inner:
        raise DatasetError(f"attribute {name!r} has no values.", file=file, line=line, remedy="Remove it.")
    if len(set(values)) < len(values):
        twice = Counter(values).most_common(1)[0][0]
        raise DatasetError(f"attribute {name!r} lists the value {twice!r} twice.", file=file, line=line)
    return tuple(values)
