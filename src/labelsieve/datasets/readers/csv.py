"""Text tables: CSV and similar files with a header row.

:func:`parse_csv` finds the delimiter and the names, lets pyarrow parse the rows, and falls back to the standard library where
pyarrow is not installed or the text is irregular. All ways give the same table.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np

from labelsieve.datasets.readers.columns import (
    Column,
    ParsedColumn,
    Table,
    TextCells,
    are_codes,
    arrow_column,
    check_names,
    has_fractions,
    make_table,
    merged_numbers,
    parse_number,
    refuse_unnamed,
    repeated_note,
    without_index,
    without_second_header,
)
from labelsieve.datasets.readers.files import (
    COLUMN,
    DEFAULT_LIMIT,
    PYTHON_CELL,
    TextBudget,
    require_memory,
    require_text,
    utf8_text,
)
from labelsieve.errors import DatasetError, some_of
from labelsieve.tables.frames import EXACT
from labelsieve.tables.text import MISSING

DELIMITERS = ",;\t|"
SAMPLE = 2**16  # bytes that are looked at to find the delimiter
# pyarrow has a cost for every column: numpy parses wide tables of few rows faster, if they are all numbers.
WIDE, FEW_ROWS = 2_000, 1_000
BLOCK_SIZE = 2**22  # bytes for one task of pyarrow: with the default of 1 MiB, wide tables take a quarter longer ...
COLUMN_SIZE = 2**10  # ... and bytes for each of its columns: with fewer, 50,000 columns take three times as long
FEW_TEXTS = 256  # different texts of a column that pyarrow encodes while it parses
QUOTE, NEWLINE = b'"\n'
_NOT_BLANK = re.compile(rb"[^\n]")
_CODE = re.compile(rb'(?:^|[,;\t|\n"])0\d{3}')  # digits with a leading zero, such as a zip code


def parse_csv(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read a header row and rows of cells, by the rule of :mod:`labelsieve.datasets.readers.columns`.

    The delimiter is found by :func:`find_delimiter`; where it is not the comma, commas may be decimal marks. pyarrow parses the
    rows. What it reads more leniently than the module ``csv``, such as stray quotes and hexadecimal numbers, is left to that
    module, and so are rows of different lengths, because it knows which line is wrong.

    >>> parse_csv(b"tempo,mood\n98,calm\n,happy\n", Path("a.csv")).cells
    array([[98.,  0.],
           [nan,  1.]])
    """
    text = utf8_text(data, file)
    end = text.find(b"\n")
    first_line = text if end < 0 else text[:end]
    n_columns = max(first_line.count(mark.encode()) for mark in DELIMITERS) + 1
    require_memory(COLUMN * n_columns, f"a table of {n_columns:,} columns", file, max_bytes)
    delimiter = find_delimiter(text)
    require_text(text, f"{delimiter}\n".encode(), file, max_bytes)
    names, start = _read_header(text, delimiter, file)
    no_rows = DatasetError("there are no rows under the header.", "Is the file complete?", file)
    whole, (text, n_repeated) = text, _without_repeated_headers(text, start)
    if not _NOT_BLANK.search(text, start):
        raise no_rows
    budget = TextBudget(file, max_bytes)
    has_arrow = find_spec("pyarrow") is not None
    columns: Sequence[ParsedColumn] | None = None
    codes = code_columns(text[start : start + SAMPLE], delimiter)
    if not codes and (not has_arrow or (len(names) >= WIDE and text.count(b"\n", start) <= FEW_ROWS)):
        columns = _read_with_numpy(text, start, delimiter, len(names))
    if columns is None and has_arrow and _is_regular(text, start, delimiter):
        columns = _read_with_pyarrow(text, start, delimiter, len(names), codes, budget)
    if columns is None:
        require_text(text, f"{delimiter}\n".encode(), file, max_bytes, cell=PYTHON_CELL, copies=5)
        columns = _read_with_csv(whole, delimiter, names, codes, file, budget)
        if not columns:
            raise no_rows
    columns, second = without_second_header(names, columns)
    names, columns, index = without_index(names, columns)
    table = make_table(names, columns, file, signed_zeros=False, decimal_comma=delimiter != ",")
    return replace(table, notes=(*_header_notes(names), *index, *repeated_note(n_repeated), *second, *table.notes))


def _without_repeated_headers(text: bytes, start: int) -> tuple[bytes, int]:
    r"""Remove lines that repeat the header, as in files that were joined; return the text and how many there were.

    Cost: one search for the header in the text.

    >>> _without_repeated_headers(b"a,b\n1,2\na,b\n3,4\na,b", 4)
    (b'a,b\n1,2\n3,4', 2)
    """
    header = text[:start].rstrip(b"\n")
    line = b"\n" + header
    if not header or text.find(line, max(start - 1, 0)) < 0:
        return text, 0
    rows = text[start:].split(b"\n")
    if b"\n" in header:  # a name of several lines: too rare to be looked for
        return text, 0
    kept = [row for row in rows if row != header]
    return text[:start] + b"\n".join(kept), len(rows) - len(kept)


def find_delimiter(text: bytes) -> str:
    r"""Find the mark among comma, semicolon, tab and bar that splits the first rows into as many cells as the header.

    Of several, the one with the most cells is taken, and the comma where none splits the header.

    >>> find_delimiter(b"x (a,b);y (c,d,e);z\n1,5;2;3\n"), find_delimiter(b'"a;b;c",d\n1,2\n')
    (';', ',')
    """
    end = text.find(b"\n", text.find(b"\n") + 1)
    start = text[: max(end, SAMPLE)].decode("utf-8", errors="replace")
    if len(text) > len(start):
        start = start[: start.rfind("\n") + 1] or start  # whole lines
    best, score = DELIMITERS[0], (0.0, 1)
    for mark in DELIMITERS:
        if mark not in start:
            continue
        header, *rows = [len(row) for row in islice(csv.reader(start.splitlines(), delimiter=mark), 50) if row]
        share = sum(row == header for row in rows) / len(rows) if rows else 0.0
        if header > 1 and (share, header) > score:
            best, score = mark, (share, header)
    return best


def _read_header(text: bytes, delimiter: str, file: Path) -> tuple[list[str], int]:
    """Read the names of the columns, and find the position where the first row starts."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise DatasetError(f"it cannot be read as CSV ({error}).", file=file, line=1) from error
    if not any(names):
        raise DatasetError("the first line is empty.", "It must name the columns.", file, 1)
    refuse_unnamed(names, "Name it, or leave it out.", file)
    check_names([Column(name) for name in names], file)
    start = 0
    for _ in range(reader.line_num):
        start = text.find(b"\n", start) + 1 or len(text)
    return names, start


def _is_regular(text: bytes, start: int, delimiter: str) -> bool:
    """Return whether pyarrow parses the text as the module ``csv`` does: quotes enclose cells, no number is hexadecimal."""
    if any(text.find(mark, start) >= 0 and b"0" + mark in text for mark in (b"x", b"X")):
        return False
    if b'"' not in text:
        return True
    raw = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(raw == QUOTE)
    # Quotes open and close in turn; two of them within a cell stand for one, so that a quote may follow another.
    opening, closing = quotes[0::2], quotes[1::2]
    is_edge = np.zeros(256, dtype=bool)
    is_edge[[QUOTE, NEWLINE, ord(delimiter)]] = True
    before, after = raw[opening[opening > 0] - 1], raw[closing[closing < len(raw) - 1] + 1]
    return len(opening) == len(closing) and bool(is_edge[before].all() and is_edge[after].all())


def _read_with_pyarrow(
    text: bytes, start: int, delimiter: str, n_columns: int, codes: set[int], budget: TextBudget
) -> list[ParsedColumn] | None:
    """Parse the rows with pyarrow; None if some row has another number of cells. Columns of ``codes`` stay text."""
    pyarrow, arrow_csv = import_module("pyarrow"), import_module("pyarrow.csv")
    block_size = max(BLOCK_SIZE, COLUMN_SIZE * n_columns)  # threads would have nothing to share of a single block
    try:
        table = arrow_csv.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(text).slice(start)),
            read_options=arrow_csv.ReadOptions(
                column_names=[str(position) for position in range(n_columns)],
                block_size=block_size,
                use_threads=len(text) > block_size,
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in text),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False,  # it is UTF-8
                auto_dict_encode=True,  # one pass less over text of few values
                auto_dict_max_cardinality=FEW_TEXTS,
                column_types={str(position): pyarrow.string() for position in codes},
                null_values=sorted(MISSING),
                true_values=[],
                false_values=[],
            ),
        )
    except pyarrow.ArrowException:
        return None
    # Whole numbers beyond 64 bits are read as floating point, which may merge them: they are read again as text.
    large = set()
    for position, column in enumerate(table.columns):
        if column.type == pyarrow.float64() and not has_fractions(column.slice(0, FEW_ROWS).to_numpy()):
            numbers = column.to_numpy()
            if np.nanmax(np.abs(numbers), initial=0) >= 2**63:
                large.add(position)
    if large - codes:
        return _read_with_pyarrow(text, start, delimiter, n_columns, codes | large, budget)
    return [arrow_column(column, budget) for column in table.columns]


def _read_with_numpy(text: bytes, start: int, delimiter: str, n_columns: int) -> Sequence[ParsedColumn] | None:
    """Parse rows that hold nothing but numbers; None if they hold anything else."""
    try:
        cells = np.loadtxt(io.BytesIO(memoryview(text)[start:]), delimiter=delimiter, comments=None, encoding="utf-8", ndmin=2)
    except ValueError:
        return None
    exact = cells.size == 0 or np.nanmax(np.abs(cells), initial=0) < EXACT  # larger ones could be merged
    return list(cells.T) if cells.shape[1] == n_columns and exact else None


def _read_with_csv(
    text: bytes, delimiter: str, names: list[str], codes: set[int], file: Path, budget: TextBudget
) -> list[ParsedColumn]:
    """Parse the rows with the module ``csv``; a DatasetError says which line is wrong. Columns of ``codes`` stay text."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    line = ""

    def remembered() -> Iterator[str]:
        nonlocal line
        for line in lines:  # noqa: UP028, the last line is read below
            yield line

    reader = csv.reader(remembered(), delimiter=delimiter, strict=True)
    rows = []
    try:
        next(reader)
        header = line.rstrip("\n") if reader.line_num == 1 else None  # names of several lines are not looked for
        for row in filter(None, reader):
            if len(row) != len(names):
                above = f"The first line must name the columns; if {names[0]!r} is a comment or a title, remove it."
                remedy = above if len(row) > len(names) == 1 else ""
                raise DatasetError(f"there are {len(row)} values and {len(names)} columns.", remedy, file, reader.line_num)
            if line.rstrip("\n") != header:  # a repeated header, as in files that were joined
                rows.append(row)
    except csv.Error as error:
        raise DatasetError(f"it cannot be read as CSV ({error}).", file=file, line=reader.line_num) from error
    columns: list[ParsedColumn] = []
    for position, cells in enumerate(zip(*rows, strict=True)):
        try:
            if position in codes:
                raise ValueError("text")
            numbers = np.fromiter(map(parse_number, cells), np.float64, count=len(rows))
            large = np.flatnonzero(np.abs(numbers) >= EXACT).tolist()
            if merged_numbers({cells[row].strip(): float(numbers[row]) for row in large}):
                raise ValueError("text")
            columns.append(numbers)
        except ValueError:
            columns.append(texts := TextCells.of(cells))
            budget.add(len(texts.texts))
    return columns


def _header_notes(names: list[str]) -> list[str]:
    """Return a note about a header of numbers, which may be the first row of the table; none for 0, 1, 2, ..."""
    try:
        numbers = [parse_number(name) for name in names]
    except ValueError:
        return []
    if all(number >= 0 and number.is_integer() for number in numbers if np.isfinite(number)):  # years, or a frame without names
        return []
    shown = some_of(names, 3)
    return [f"the first line names the columns, and all names are numbers: {shown}. If it is data, add a line with names."]


def code_columns(start: bytes, delimiter: str) -> set[int]:
    r"""Find the columns of digits with leading zeros in the first rows, such as zip codes, which stay text.

    >>> code_columns(b"02134,1\n10001,2\n", ",")
    {0}
    """
    if not _CODE.search(start):
        return set()
    # The last row may be cut off: whether all texts of a column are codes is decided when all of them are read.
    rows = csv.reader(start.decode("utf-8", errors="replace").splitlines(), delimiter=delimiter)
    return {position for position, cells in enumerate(zip_longest(*rows, fillvalue="")) if are_codes(map(str.strip, cells))}
