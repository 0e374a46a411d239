"""ARFF files of Mulan and MEKA, dense and sparse."""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import Column, Table
from labelsieve.datasets.readers.csv import Lines, NumberRows, blocks
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, decode, require_text
from labelsieve.datasets.readers.text_columns import date_note, parse_number, read_dates
from labelsieve.errors import DatasetError, some_of

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


Converter = Callable[[str], float]
_PAIR = re.compile(rf"\s*+([+-]?\d{{1,18}})\s++({QUOTED}|[^,\s{{}}]++)\s*+(,|$)")


def parse_arff(data: bytes, file: Path, strings: Strings = "error", max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read the content of an ARFF file; ``strings`` as in :func:`labelsieve.datasets.load`.

    Examples
    --------
    >>> table = parse_arff(b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n0.5,y\n?,x\n", Path("r.arff"))
    >>> table.cells
    array([[0.5, 1. ],
           [nan, 0. ]])
    """
    # A comma ends a cell also in sparse rows; characters of other alphabets take up to four bytes.
    require_text(data, b",\r\n", file, max_bytes, copies=2 if data.isascii() else 5)
    text = decode(data, file)
    header = read_header(text, file, strings)
    # float() does not know a question mark, and takes what is no number: 1_000
    careful = text.find("?", header.end) >= 0 or text.find("_", header.end) >= 0
    converters = [_converter(column, careful) for column in header.columns]
    lines = _rows(text, header.end, header.line)
    first = next(lines, None)
    if first is None:
        raise DatasetError("there are no rows below @data.", "Is the file whole?", file, header.line - 1)
    scattered = first[1].startswith("{")
    for column in header.columns:
        if scattered and column.texts is not None and column.texts.keep:
            raise DatasetError(
                f"attribute {column.name!r} is text in sparse rows, which leave out its first value and do not say what it is.",
                'Pass strings="drop".',
                file,
            )
    read = _read_sparse if scattered else _read_dense
    columns, cells = settle_texts(header.columns, read(chain([first], lines), header.columns, converters, file), file)
    dates = [column.name for column in header.columns if column.texts is not None and column.texts.dates]
    notes = (date_note(dates),) if dates else ()
    return Table(file, columns, cells, header.relation, header.comment, notes=notes)


def read_rows(text: str, line: int, columns: tuple[Column, ...], file: Path, is_sparse: bool | None) -> Any:
    """The cells of whole lines below ``@data``: an array, or a csr_array; None if there are no rows.

    ``line`` is the number of the first line; ``is_sparse`` None: the first row decides.
    """
    lines = _rows(text, 0, line)
    first = next(lines, None)
    if first is None:
        return None
    read = _read_sparse if (first[1].startswith("{") if is_sparse is None else is_sparse) else _read_dense
    return read(chain([first], lines), columns, [_converter(column, True) for column in columns], file)


def _rows(text: str, start: int, number: int) -> Iterator[tuple[int, str]]:
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        row = text[start:end].strip()
        if row and row[0] != "%":
            yield number, row
        start, number = end + 1, number + 1


def _converter(column: Column, careful: bool) -> Converter:
    if column.texts is not None:
        return column.texts
    if column.values is not None:
        codes = dict(column.codes)
        for value in column.values:
            if value[:1] in ("'", '"') or "%" in value:  # in a row these are quoted, and left to the careful reader
                del codes[value]
        codes.setdefault("?", np.nan)
        return codes.__getitem__
    return parse_number if careful else float


def _read_dense(
    lines: Iterator[tuple[int, str]], columns: tuple[Column, ...], converters: list[Converter], file: Path
) -> NDArray[np.float64]:
    width, numbers, read = len(columns), NumberRows(columns), []
    for block in blocks(lines):
        try:
            read.append(_sweep_dense(block, numbers, converters))
        except (ValueError, KeyError):
            rows = [dense_row(strip_comment(row), columns, file, line) for line, row in block]
            read.append(np.array(rows, dtype=np.float64).reshape(len(rows), width))
    return np.vstack(read)


def _sweep_dense(block: Lines, numbers: NumberRows, converters: list[Converter]) -> NDArray[np.float64]:
    with contextlib.suppress(ValueError):
        return numbers.dense([row for _, row in block])
    width = len(converters)
    rows = [row.split(",") for _, row in block]
    if any(len(row) != width for row in rows):
        raise ValueError
    cells = np.empty((len(rows), width))
    for position, (column, converter) in enumerate(zip(zip(*rows, strict=True), converters, strict=True)):
        cells[:, position] = np.fromiter(map(converter, map(str.strip, column)), np.float64, count=len(rows))
    return cells


def _read_sparse(lines: Iterator[tuple[int, str]], columns: tuple[Column, ...], converters: list[Converter], file: Path) -> Any:
    numbers, pairs, positions, cells = NumberRows(columns), [], [], []
    for block in blocks(lines):
        try:
            lengths, where, what = _sweep_sparse(block, numbers, converters)
        except (ValueError, KeyError, IndexError, OverflowError):
            found = [sparse_row(strip_comment(row).strip(), columns, file, line) for line, row in block]
            lengths = np.array([len(row) for row in found], np.int64)
            where = np.array([position for row in found for position in row], np.int32)
            what = np.array([cell for row in found for cell in row.values()], np.float64)
        pairs.append(lengths)
        positions.append(where)
        cells.append(what)
    pointers = np.cumsum(np.concatenate([[0], *pairs]))
    if pointers[-1] < 2**31:  # scipy takes indices of one width only, and makes its own if they are wider than they must be
        pointers = pointers.astype(np.int32)
    shape = (len(pointers) - 1, len(columns))
    table = sparse.csr_array((np.concatenate(cells), np.concatenate(positions), pointers), shape=shape)
    table.eliminate_zeros()
    return table


def _sweep_sparse(
    block: Lines, numbers: NumberRows, converters: list[Converter]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    with contextlib.suppress(ValueError):
        return numbers.sparse([row for _, row in block])
    inner = []
    for _, row in block:
        if row[0] != "{" or row[-1] != "}":
            raise ValueError
        inner.append(row[1:-1].strip())
    lengths = np.fromiter((row.count(",") + 1 if row else 0 for row in inner), np.int64, count=len(inner))
    # index value , index value , ...: every third word is a comma, or some pair is not a pair.
    words = ",".join(filter(None, inner)).replace(",", " , ").split()
    total = int(lengths.sum())
    if len(words) != max(0, 3 * total - 1) or words[2::3].count(",") != max(0, total - 1):
        raise ValueError
    where = np.fromiter(map(int, words[0::3]), np.int64, count=total)
    ends = np.cumsum(lengths)
    rising = np.diff(where) > 0
    rising[ends[(ends > 0) & (ends < total)] - 1] = True  # from one row to the next it may fall
    if total and (where.min() < 0 or where.max() >= len(converters) or not rising.all()):
        raise ValueError
    pairs = zip(where.tolist(), words[1::3], strict=True)
    return (
        lengths,
        where.astype(np.int32),
        np.fromiter((converters[position](cell) for position, cell in pairs), np.float64, count=total),
    )


def cell(text: str, column: Column, file: Path, line: int) -> float:
    """A cell as it is stored: a number, the position of a nominal value, or NaN."""
    if column.texts is not None:
        return column.texts.add(text)
    if column.values is None:
        try:
            return parse_number(text)
        except ValueError:
            raise DatasetError(
                f"value {text!r} of attribute {column.name!r} is not a number.", "Write ? for a missing value.", file, line
            ) from None
    if text in column.codes:
        return column.codes[text]
    if text == "?":
        return float("nan")
    raise DatasetError(
        f"value {text!r} is not one of the declared values of attribute {column.name!r}.",
        f"Known values: {some_of(column.values)}.",
        file,
        line,
    )


def dense_row(row: str, columns: tuple[Column, ...], file: Path, line: int) -> list[float]:
    """The cells of a row of values with commas between them."""
    if row.startswith("{"):
        raise DatasetError("a sparse row in a file of dense ones.", "Write all rows in one way.", file, line)
    values = split_values(row.strip())
    if values is None:
        raise DatasetError("something follows a closing quote.", r"Write \' for a quote in a value.", file, line)
    if len(values) != len(columns):
        raise DatasetError(
            f"there are {len(values)} values and {len(columns)} attributes.",
            "A value with a comma in it needs quotes.",
            file,
            line,
        )
    return [cell(value, column, file, line) for value, column in zip(values, columns, strict=True)]


def sparse_row(row: str, columns: tuple[Column, ...], file: Path, line: int) -> dict[int, float]:
    """The cells of a row ``{index value, ...}`` by their index."""
    if not (row.startswith("{") and row.endswith("}") and len(row) > 1):
        raise DatasetError(
            "this row is not of the form {index value, ...}, as the first one is.",
            "Write all rows in one way, without weights.",
            file,
            line,
        )
    cells: dict[int, float] = {}
    inner, position, last = row[1:-1].strip(), 0, -1
    while inner:
        found = _PAIR.match(inner, position)
        if not found:
            near = inner[position:].strip()[:30]
            raise DatasetError(f"{near!r} is not an index, a blank and a value.", file=file, line=line)
        index = int(found[1])
        if not 0 <= index < len(columns):
            raise DatasetError(
                f"index {index} is out of range for {len(columns)} attributes.", "The first attribute has index 0.", file, line
            )
        if index <= last:
            problem = f"index {index} is there twice." if index in cells else f"index {index} comes after {last}."
            raise DatasetError(problem, "Indices of a row must rise.", file, line)
        cells[index] = cell(unquote(found[2]), columns[index], file, line)
        last = index
        if not found[3]:
            break
        position = found.end()
    return cells
