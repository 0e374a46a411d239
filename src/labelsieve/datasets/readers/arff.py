"""ARFF files of Mulan and MEKA, with dense or sparse rows.

:func:`parse_arff` reads the header, then the rows in blocks of lines: a whole block at once where it is plain, and otherwise
row by row, with quotes, comments and messages that name the line.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.columns import Column, Table, date_note, parse_number
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, decode, require_text
from labelsieve.errors import DatasetError, some_of
from labelsieve.tables.text import read_dates

Strings = Literal["error", "drop", "nominal"]
BLOCK = 2**18  # characters that are read at a time: enough to make it worth it, few enough to keep their cells out of the way
QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_QUOTED = re.compile(QUOTED)
_KEYWORD = re.compile(r"@(\w+)\s*(.*)", re.DOTALL)
# A name without quotes is taken as it is: neither a backslash nor an apostrophe in it has a meaning.
_NAME = re.compile(rf"({QUOTED})|([^\s{{]+)")
# Possessive (*+), here and below: a long value or a run of blanks is read once, not again from each of its characters.
_VALUE = re.compile(rf"""\s*+(?:({QUOTED})|((?:[^,'"\s][^,]*+)?))\s*+(,|$)""")
_PAIR = re.compile(rf"\s*+([+-]?\d{{1,18}})\s++({QUOTED}|[^,\s{{}}]++)\s*+(,|$)")
_STOP = re.compile("[%'\"]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NUMERIC = frozenset({"numeric", "real", "integer"})
_NO_MARK = bytes(set(range(256)) - set(b" ,"))


def parse_arff(data: bytes, file: Path, strings: Strings = "error", max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read the content of an ARFF file; ``strings`` as in :func:`labelsieve.datasets.load`.

    >>> table = parse_arff(b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n0.5,y\n?,x\n", Path("r.arff"))
    >>> table.cells
    array([[0.5, 1. ],
           [nan, 0. ]])
    """
    # A comma ends a cell also in sparse rows; characters of other alphabets take up to four bytes.
    require_text(data, b",\r\n", file, max_bytes, copies=2 if data.isascii() else 5)
    text = decode(data, file)
    header = read_header(text, file, strings)
    cells = read_rows(text, header, file)
    if cells is None:
        raise DatasetError("there are no rows below @data.", "Is the file whole?", file, header.line - 1)
    columns, cells = _settle_texts(header, cells, file)
    dates = [header.columns[position].name for position, texts in header.texts.items() if texts.use == "date"]
    notes = (date_note(dates),) if dates else ()
    return Table(file, columns, cells, header.relation, header.comment, notes=notes)


class Texts(dict[str, float]):
    """Numbers the texts of a string or date attribute in order of appearance; ``use`` says what becomes of them.

    >>> texts = Texts("nominal")
    >>> texts["b"], texts["a"], texts["b"], texts["?"]
    (0.0, 1.0, 0.0, nan)
    """

    def __init__(self, use: Literal["drop", "nominal", "date"]) -> None:
        super().__init__()
        self.use = use

    def __missing__(self, text: str) -> float:
        if text == "?":
            return float("nan")
        return 0.0 if self.use == "drop" else self.setdefault(text, float(len(self)))


@dataclass(frozen=True)
class Header:
    """The declarations before the rows.

    ``texts`` are the string and date attributes by their position, ``end`` is the position of the first character of the rows
    and ``line`` the line it is in.
    """

    relation: str
    columns: tuple[Column, ...]
    texts: Mapping[int, Texts]
    comment: str
    end: int
    line: int


def read_header(text: str, file: Path, strings: Strings = "error") -> Header:
    """Read the declarations up to and with the line ``@data``."""
    relation, comments = "", []
    columns: dict[str, Column] = {}
    texts: dict[int, Texts] = {}
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
            about, start = "\n".join(comments).strip(), min(position, len(text))
            return Header(relation, tuple(columns.values()), texts, about, start, number + 1)
        if found and keyword == "relation":
            quoted = _QUOTED.match(found[2])
            relation = unquote(quoted[0]) if quoted else strip_comment(found[2]).strip()
        elif found and keyword == "attribute":
            column, of_text = _read_attribute(found[2], file, number, strings)
            if column.name in columns:
                raise DatasetError(
                    f"attributes {list(columns).index(column.name) + 1} and {len(columns) + 1} are both named {column.name!r}.",
                    "Rename one.",
                    file,
                    number,
                )
            if of_text is not None:
                texts[len(columns)] = of_text
            columns[column.name] = column
        else:
            raise DatasetError(
                f"{line[:40]!r} is neither @relation, @attribute, @data nor a comment.",
                "Is @data missing before the rows?",
                file,
                number,
            )
    raise DatasetError("there is no @data.", "Is the file whole?", file, max(number, 1))


def _read_attribute(rest: str, file: Path, line: int, strings: Strings) -> tuple[Column, Texts | None]:
    """Read what follows ``@attribute``: a column, and its texts if it is a string or a date."""
    found = _NAME.match(rest)
    if not found:
        raise DatasetError("this attribute has no name.", file=file, line=line)
    name, kind = unquote(found[0]) if found[1] else found[0], strip_comment(rest[found.end() :]).strip()
    if kind.startswith("{"):
        return Column(name, _declared_values(name, kind, file, line)), None
    word = kind.split()[0].lower() if kind else ""
    if word in _NUMERIC:
        return Column(name), None
    if word in ("string", "date") and strings != "error":
        return Column(name), Texts(strings)
    if word == "date":
        return Column(name), Texts("date")
    if word == "string":
        raise DatasetError(
            f"attribute {name!r} is a string, which is neither a number nor one of a list of values.",
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


def _declared_values(name: str, text: str, file: Path, line: int) -> tuple[str, ...]:
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


def unquote(text: str) -> str:
    r"""Remove the quotes of a value, and then undo its escapes; one without quotes stays as it is.

    >>> unquote(r"'Swainson\'s Thrush'"), unquote(r"TAG_m\'usica")
    ("Swainson's Thrush", "TAG_m\\'usica")
    """
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text[1:-1])
    return text


def split_values(text: str) -> list[str] | None:
    """Split values at their commas and undo their quotes; None if something follows a closing quote.

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
    """Cut a line at a ``%`` that is not within quotes.

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


def read_rows(text: str, header: Header, file: Path) -> Any:
    """Read the rows as an array, or as a csr_array if the first is sparse; None if there are no rows."""
    lines = _numbered_rows(text, header.end, header.line)
    first = next(lines, None)
    if first is None:
        return None
    if not first[1].startswith("{"):
        codes = _cell_codes(header)
        return np.vstack([_read_dense(block, codes, header, file) for block in _blocks(chain([first], lines))])
    for position, texts in header.texts.items():
        if texts.use != "drop":
            raise DatasetError(
                f"attribute {header.columns[position].name!r} is text in sparse rows, which leave out its first value and do "
                "not say what it is.",
                'Pass strings="drop".',
                file,
            )
    limits = _code_limits(header.columns)
    lengths, indices, values = zip(
        *(_read_sparse(block, limits, header, file) for block in _blocks(chain([first], lines))), strict=True
    )
    ends = np.cumsum(np.concatenate([[0], *lengths]))
    if ends[-1] < 2**31:  # scipy takes indices of one width only, and makes its own if they are wider than they must be
        ends = ends.astype(np.int32)
    shape = (len(ends) - 1, len(header.columns))
    table = sparse.csr_array((np.concatenate(values), np.concatenate(indices), ends), shape=shape)
    table.eliminate_zeros()
    return table


Lines = list[tuple[int, str]]


def _numbered_rows(text: str, start: int, number: int) -> Iterator[tuple[int, str]]:
    """Iterate over rows and the numbers of their lines, without empty lines and comments."""
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        row = text[start:end].strip()
        if row and row[0] != "%":
            yield number, row
        start, number = end + 1, number + 1


def _blocks(lines: Iterator[tuple[int, str]]) -> Iterator[Lines]:
    """Group numbered rows, as many at a time as have about ``BLOCK`` characters together."""
    block: Lines = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line[1]) + 1
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _cell_codes(header: Header) -> list[Mapping[str, float] | None]:
    """Return the codes of the values of each attribute; None for numbers."""
    texts, missing = header.texts, {"?": np.nan}
    return [
        texts.get(position, None if column.values is None else missing | column.codes)
        for position, column in enumerate(header.columns)
    ]


def _read_dense(block: Lines, codes: Sequence[Mapping[str, float] | None], header: Header, file: Path) -> NDArray[np.float64]:
    """Read dense rows column by column if nothing is quoted and every cell is as declared, else row by row."""
    try:
        return _read_dense_columns([row for _, row in block], codes)
    except (ValueError, KeyError):
        rows = [_read_dense_row(strip_comment(row), header, file, line) for line, row in block]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(header.columns))


def _read_dense_columns(rows: Sequence[str], codes: Sequence[Mapping[str, float] | None]) -> NDArray[np.float64]:
    if any(mark in row for row in rows for mark in "'\"%"):
        raise ValueError("quotes or a comment")
    split = [row.split(",") for row in rows]
    if any(len(row) != len(codes) for row in split):
        raise ValueError("a row has another length")
    # float() does not know a question mark, and takes what is no number: 1_000
    read_number = parse_number if any("?" in row or "_" in row for row in rows) else float
    cells = np.empty((len(rows), len(codes)))
    for position, (code_of, texts) in enumerate(zip(codes, zip(*split, strict=True), strict=True)):
        convert = read_number if code_of is None else code_of.__getitem__
        cells[:, position] = np.fromiter(map(convert, map(str.strip, texts)), np.float64, count=len(rows))
    return cells


def _read_dense_row(row: str, header: Header, file: Path, line: int) -> list[float]:
    """Read a row of values with commas between them."""
    if row.startswith("{"):
        raise DatasetError("a sparse row in a file of dense ones.", "Write all rows in one way.", file, line)
    values = split_values(row.strip())
    if values is None:
        raise DatasetError("something follows a closing quote.", r"Write \' for a quote in a value.", file, line)
    if len(values) != len(header.columns):
        raise DatasetError(
            f"there are {len(values)} values and {len(header.columns)} attributes.",
            "A value with a comma in it needs quotes.",
            file,
            line,
        )
    return [_read_cell(value, position, header, file, line) for position, value in enumerate(values)]


Pairs = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]
NUMBERS, WORDS = -1, -2


def _code_limits(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return how many values each column has if they are 0, 1, 2, ..., and so their own codes; else NUMBERS or WORDS."""
    kinds: dict[tuple[str, ...] | None, int] = {None: NUMBERS}  # most files have one list of values
    for column in columns:
        if column.values not in kinds:
            in_order = all(value == str(code) for code, value in enumerate(column.values or ()))
            kinds[column.values] = len(column.values or ()) if in_order else WORDS
    return np.array([kinds[column.values] for column in columns])


def _read_sparse(block: Lines, limits: NDArray[np.int64], header: Header, file: Path) -> Pairs:
    """Read sparse rows: how many cells each has, their columns and their values."""
    try:
        return _read_sparse_numbers([row for _, row in block], limits)
    except ValueError:
        rows = [_read_sparse_row(strip_comment(row).strip(), header, file, line) for line, row in block]
    lengths = np.array([len(row) for row in rows], np.int64)
    indices = np.array([position for row in rows for position in row], np.int32)
    return lengths, indices, np.array([value for row in rows for value in row.values()], np.float64)


def _read_sparse_numbers(rows: Sequence[str], limits: NDArray[np.int64]) -> Pairs:
    """Read sparse rows of numbers with numpy; anything else is a ValueError. An index ``1.0`` passes for 1."""
    if not all(row[0] == "{" and row[-1] == "}" for row in rows):
        raise ValueError("a row without braces")
    inner = [row[1:-1].strip().replace(", ", ",") for row in rows]
    lengths = np.array([row.count(",") + 1 if row else 0 for row in inner], np.int64)
    total = int(lengths.sum())
    text = ",".join(filter(None, inner)).encode("ascii")
    # A blank and a comma in turn: otherwise some pair is none. numpy takes nan(1) for a number.
    if text.translate(None, _NO_MARK) != (b" ," * total)[:-1] or b"(" in text:
        raise ValueError("some pair is none")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what older versions of numpy say of text that is no number
        try:
            numbers = np.fromstring(text.replace(b",", b" "), np.float64, sep=" ")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None
    positions, values = numbers[0::2], numbers[1::2].copy()
    if len(numbers) != 2 * total or not ((positions >= 0) & (positions < len(limits))).all():
        raise ValueError("an index is out of range")
    indices = positions.astype(np.int32)
    rises = np.diff(indices) > 0
    last = np.cumsum(lengths)
    rises[last[(last > 0) & (last < total)] - 1] = True  # from one row to the next it may fall
    if (indices != positions).any() or not rises.all():
        raise ValueError("an index is no whole number, or does not rise")
    limit = limits[indices]
    is_code = (values >= 0) & (values < limit) & (values == np.rint(values))
    if not ((limit == NUMBERS) | is_code).all():
        raise ValueError("a value is not declared")
    return lengths, indices, values


def _read_sparse_row(row: str, header: Header, file: Path, line: int) -> dict[int, float]:
    """Read a row ``{index value, ...}`` as cells by their index."""
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
        if not 0 <= index < len(header.columns):
            message = f"index {index} is out of range for {len(header.columns)} attributes."
            raise DatasetError(message, "The first attribute has index 0.", file, line)
        if index <= last:
            problem = f"index {index} is there twice." if index in cells else f"index {index} comes after {last}."
            raise DatasetError(problem, "Indices of a row must rise.", file, line)
        cells[index] = _read_cell(unquote(found[2]), index, header, file, line)
        last = index
        if not found[3]:
            break
        position = found.end()
    return cells


def _read_cell(text: str, position: int, header: Header, file: Path, line: int) -> float:
    """Read a cell as a number, as the position of a nominal value, or as NaN. ``1.0`` stands for a declared value ``1``."""
    column = header.columns[position]
    if position in header.texts:
        return header.texts[position][text]
    if column.values is not None and text in column.codes:
        return column.codes[text]
    try:
        number = parse_number(text)
    except ValueError:
        number = None
    if column.values is None and number is not None:
        return number
    if text == "?":
        return float("nan")
    if column.values is None:
        problem = f"value {text!r} of attribute {column.name!r} is not a number."
        raise DatasetError(problem, "Write ? for a missing value.", file, line)
    if number is not None and number.is_integer() and str(int(number)) in column.codes:
        return column.codes[str(int(number))]
    raise DatasetError(
        f"value {text!r} is not one of the declared values of attribute {column.name!r}.",
        f"Known values: {some_of(column.values)}.",
        file,
        line,
    )


def _settle_texts(header: Header, cells: Any, file: Path) -> tuple[tuple[Column, ...], Any]:
    """Leave out the columns of texts, or number their values in sorted order, and say which values there are."""
    columns = list(header.columns)
    for position, texts in header.texts.items():
        if texts.use == "drop":
            continue
        column, found = columns[position], cells[:, position]  # a view: sparse rows were refused
        used = ~np.isnan(found)
        numbers = found[used].astype(np.int64)
        occurring = np.zeros(len(texts), dtype=bool)  # a block that was given up may have numbered what is no text
        occurring[numbers] = True
        values = tuple(sorted(text for text, number in texts.items() if occurring[int(number)]))
        if not values:
            raise DatasetError(f"attribute {column.name!r} is missing in every row.", 'Pass strings="drop".', file)
        read: NDArray[np.float64] | None = np.arange(len(values), dtype=np.float64)
        if texts.use == "nominal":
            columns[position] = replace(column, values=values)
        else:
            read = read_dates(values)
        if read is None:
            raise DatasetError(
                f"attribute {column.name!r} is a date, and {values[0]!r} or another value has no known form, such as "
                "2020-01-31.",
                'Pass strings="drop" to leave it out, or strings="nominal" to take each text as a value.',
                file,
            )
        by_number = np.zeros(len(texts))
        by_number[[int(texts[value]) for value in values]] = read
        found[used] = by_number[numbers]
    kept = [
        position for position in range(len(columns)) if position not in header.texts or header.texts[position].use != "drop"
    ]
    if not kept:
        raise DatasetError("all its attributes are strings or dates.", 'Pass strings="nominal".', file)
    if len(kept) < len(columns):
        cells = cells[:, kept]
        cells = sparse.csr_array(cells) if sparse.issparse(cells) else np.ascontiguousarray(cells)
    return tuple(columns[position] for position in kept), cells
