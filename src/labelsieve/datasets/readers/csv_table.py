"""CSV, TSV and other text tables with a header row."""

import contextlib
import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np

from labelsieve.datasets.readers.column_table import Column, Table, check_names, refuse_unnamed
from labelsieve.datasets.readers.csv_engines import CsvRows, parse_with_pandas, parse_with_polars, parse_with_pyarrow
from labelsieve.datasets.readers.file_bytes import utf8_text
from labelsieve.datasets.readers.memory_budget import (
    COLUMN,
    DEFAULT_LIMIT,
    PYTHON_CELL,
    TextBudget,
    require_memory,
    require_text,
)
from labelsieve.datasets.readers.numeric_rows import NumberRows, blocks
from labelsieve.datasets.readers.text_columns import ParsedColumn, TextCells, make_table, parse_number
from labelsieve.errors import DatasetError, some_of

Engine = Callable[[CsvRows], list[ParsedColumn] | None]
# In order of preference. Results are the same with each and with none; only the time differs.
ENGINES: dict[str, Engine] = {"pyarrow": parse_with_pyarrow, "pandas": parse_with_pandas, "polars": parse_with_polars}
DELIMITERS = ",;\t|"
SAMPLE = 2**16  # bytes that are looked at to find the delimiter
# Engines have a cost for every column: wide tables of few rows are parsed faster by numpy, if they are all numbers.
WIDE, FEW_ROWS = 2_000, 1_000
_NOT_BLANK = re.compile(rb"[^\n]")
_CODE = re.compile(rb'(?:^|[,;\t|\n"])0\d{3}')  # digits with a leading zero, such as a zip code


def parse_csv(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read a header row and rows of cells, by the rule of :mod:`labelsieve.datasets.readers.text_columns`.

    The delimiter is found by :func:`find_delimiter`; where it is not the comma, commas may be decimal marks. pyarrow, pandas
    or polars parses the rows, whichever is installed; what they do not agree about, such as rows of different lengths, stray
    quotes and hexadecimal numbers, is left to the module ``csv``, which also says which line is wrong.

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
    if not _NOT_BLANK.search(text, start):
        raise DatasetError("there are no rows under the header.", "Is the file complete?", file)
    table = _parse_rows(CsvRows(text, start, delimiter, len(names), TextBudget(file, max_bytes)), names, file, max_bytes)
    codes = _code_note(text[start : start + SAMPLE], delimiter, [column.values is None for column in table.columns], names)
    return replace(table, notes=(*_header_notes(names), *table.notes, *codes))


def _parse_rows(rows: CsvRows, names: list[str], file: Path, max_bytes: int) -> Table:
    text, delimiter = rows.text, rows.delimiter
    engine = next((engine for package, engine in ENGINES.items() if find_spec(package) is not None), None)
    if len(names) >= WIDE and text.count(b"\n", rows.start) <= FEW_ROWS and b'"' not in text:
        with contextlib.suppress(ValueError):  # it holds other things than numbers
            return _parse_numbers(rows, names, file)
    if engine is not None and rows.is_regular:
        parsed = engine(rows)
        if parsed is not None and len(parsed) == len(names):
            return make_table(names, parsed, file, signed_zeros=False, decimal_comma=delimiter != ",")
    require_text(text, f"{delimiter}\n".encode(), file, max_bytes, cell=PYTHON_CELL, copies=5)
    return parse_without_engine(rows, names, file)


def _code_note(start: bytes, delimiter: str, numeric: Sequence[bool], names: Sequence[str]) -> list[str]:
    r"""What a user should know about columns of digits with leading zeros, which are read as numbers.

    >>> _code_note(b"02134,1\n10001,2\n", ",", [True, True], ["zip", "n"])[0][:59]
    "digits with leading zeros, such as '02134', are read as num"
    """
    if not _CODE.search(start):
        return []
    found: dict[str, str] = {}
    for row in csv.reader(start.decode("utf-8", errors="replace").splitlines(), delimiter=delimiter):
        for cell, is_number, name in zip(row, numeric, names, strict=False):
            if is_number and len(cell) > 3 and cell[0] == "0" and cell.isdigit():
                found.setdefault(name, cell)
    if not found:
        return []
    name, cell = next(iter(found.items()))
    return [
        f"digits with leading zeros, such as {cell!r}, are read as numbers: {some_of(list(found), 4)}. If they are "
        f"codes, count each as a level: discretizer={{{name!r}: 'levels'}} (--discretizer-of {name}=levels)."
    ]


def find_delimiter(text: bytes) -> str:
    r"""The mark among comma, semicolon, tab and bar that splits the first rows into as many cells as the header.

    Of several, the one with the most cells; the comma where none splits the header.

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
    """Names of the columns, and the position where the first row starts."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise DatasetError(f"it cannot be read as CSV ({error}).", file=file, line=1) from error
    if not any(names):
        raise DatasetError("the first line is empty.", "It must name the columns.", file, 1)
    refuse_unnamed(names, "Name it, or leave it out (pandas: index=False).", file)
    check_names([Column(name) for name in names], file)
    start = 0
    for _ in range(reader.line_num):
        start = text.find(b"\n", start) + 1 or len(text)
    return names, start


def parse_without_engine(rows: CsvRows, names: list[str], file: Path) -> Table:
    """The reference that the engines agree with: numbers by numpy, everything else by the module ``csv``."""
    if b'"' not in rows.text:
        with contextlib.suppress(ValueError):  # it holds other things than numbers
            return _parse_numbers(rows, names, file)
    lines = io.TextIOWrapper(io.BytesIO(rows.text), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=rows.delimiter, strict=True)
    table = []
    try:
        next(reader)
        for row in filter(None, reader):
            if len(row) != len(names):
                raise _wrong_length(len(row), names, file, reader.line_num)
            table.append(row)
    except csv.Error as error:
        raise DatasetError(f"it cannot be read as CSV ({error}).", file=file, line=reader.line_num) from error
    columns = []
    for column in zip(*table, strict=True):
        columns.append(TextCells.of(column))
        if rows.texts is not None:
            rows.texts.add(len(columns[-1].texts))
    return make_table(names, columns, file, signed_zeros=False, decimal_comma=rows.delimiter != ",")


def _wrong_length(n_values: int, names: list[str], file: Path, line: int) -> DatasetError:
    above = f"The first line must name the columns; if {names[0]!r} is a comment or a title, remove it."
    remedy = above if n_values > len(names) == 1 else ""
    return DatasetError(f"there are {n_values} values and {len(names)} columns.", remedy, file, line)


def _header_notes(names: list[str]) -> tuple[str, ...]:
    """A note about a header of numbers, which may be the first row of the table; none for 0, 1, 2, ..."""
    try:
        numbers = [parse_number(name) for name in names]
    except ValueError:
        return ()
    if all(number >= 0 and number.is_integer() for number in numbers if np.isfinite(number)):  # years, or a frame without names
        return ()
    shown = some_of(names, 3)
    return (f"the first line names the columns, and all names are numbers: {shown}. If it is data, add a line with names.",)


def _parse_numbers(rows: CsvRows, names: list[str], file: Path) -> Table:
    """Numbers without quotes or empty cells."""
    body, delimiter = rows.text[rows.start :].decode("utf-8"), rows.delimiter
    if delimiter != "," and "," in body:
        raise ValueError
    columns = tuple(map(Column, names))
    lines = ((0, line.replace(delimiter, ",")) for line in body.split("\n") if line)
    numbers = NumberRows(columns)
    cells = np.vstack([numbers.dense([row for _, row in block]) for block in blocks(lines)])
    return Table(file, columns, cells + 0.0)
