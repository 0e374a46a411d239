"""Workbooks of Excel (.xlsx), through pandas and openpyxl: the first sheet is a table with a header row."""

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from importlib import import_module
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.datasets.readers.columns import (
    Column,
    ParsedColumn,
    Table,
    TextCells,
    check_names,
    make_table,
    refuse_unnamed,
    repeated_note,
    without_index,
    without_second_header,
)
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, PYTHON_CELL, require_cells, require_memory
from labelsieve.errors import DatasetError, some_of
from labelsieve.tables.frames import EXACT

OLD_EXCEL = b"\xd0\xcf\x11\xe0"  # the first bytes of workbooks before 2007
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_CELL = re.compile(rb'<c[^>]{0,200}? r="([A-Z]{1,3})(\d{1,7})"')
_FORMULA = re.compile(rb"<f[ >/]")
COPIES = 4  # of the XML of a sheet, while it is parsed


def parse_spreadsheet(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    """Read the first sheet of a workbook. Text is read by the rule for CSV; numbers, booleans and dates as they are stored."""
    if data.startswith(OLD_EXCEL):
        raise DatasetError("this is a workbook of Excel before 2007.", "Save it as .xlsx or CSV.", file)
    _require_memory(data, file, max_bytes)
    if find_spec("pandas") is None or find_spec("openpyxl") is None:
        raise DatasetError("reading .xlsx needs pandas and openpyxl.", "pip install 'labelsieve[excel]'", file)
    pandas = import_module("pandas")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of openpyxl, about styles and validation that it does not know
            with pandas.ExcelFile(io.BytesIO(data), engine="openpyxl") as book:
                sheets = list(map(str, book.sheet_names))
                frame = book.parse(0, header=None, dtype=object, keep_default_na=False, na_filter=False)
    except ImportError as error:  # pandas refuses old releases of openpyxl
        needed = f"reading .xlsx needs pandas and openpyxl ({str(error).rstrip('.')})."
        raise DatasetError(needed, "pip install 'labelsieve[excel]'", file) from error
    except Exception as error:  # a damaged file brings out errors of every kind
        raise DatasetError(f"it cannot be read as a workbook ({error}).", "Save it again, or as CSV.", file) from error
    if len(frame) < 2:
        raise DatasetError(f"sheet {sheets[0]!r} has no rows under its header.", "The first sheet must be the table.", file)
    names = [_text(name).strip() for name in frame.iloc[0].tolist()]
    refuse_unnamed(names, "Name it in the first row, or leave it out.", file)
    check_names([Column(name) for name in names], file)
    _refuse_formulas(data, frame, names, file)
    repeated = [number for number, row in enumerate(frame.itertuples(index=False)) if list(map(_text, row)) == names]
    columns: Sequence[ParsedColumn]
    columns = [read_objects(frame.iloc[:, position].drop(index=repeated).tolist()) for position in range(len(names))]
    columns, second = without_second_header(names, columns)
    names, columns, index = without_index(names, columns)
    table = make_table(names, columns, file)
    notes = [*index, *repeated_note(len(repeated) - 1), *second, *table.notes]
    if len(sheets) > 1:
        notes.append(f"only the first of its {len(sheets)} sheets is read, {sheets[0]!r}; there are {some_of(sheets)}.")
    return replace(table, notes=tuple(notes))


def _refuse_formulas(data: bytes, frame: Any, names: list[str], file: Path) -> None:
    """Refuse formulas whose results are not stored: programs other than spreadsheets write formulas alone."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheets = [archive.read(member) for member in archive.namelist() if _SHEET.fullmatch(member)]
    if not any(_FORMULA.search(sheet) for sheet in sheets):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = import_module("openpyxl").load_workbook(io.BytesIO(data), data_only=False).worksheets[0]
    for position, name in enumerate(names):
        empty = [row for row in range(len(frame)) if frame.iat[row, position] is None or frame.iat[row, position] == ""]
        rows = [row for row in empty if cells.cell(row + 1, position + 1).data_type == "f"]
        if rows:
            raise DatasetError(
                f"column {name!r} has {len(rows)} formulas without a result, the first in row {rows[0] + 1} of the sheet.",
                "Open the file in a spreadsheet program and save it, or write values in place of formulas.",
                file,
            )


def _require_memory(data: bytes, file: Path, max_bytes: int) -> None:
    """Refuse what takes too much memory: cells far away make a large table of a short sheet."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            sheets = [member for member in members if _SHEET.fullmatch(member.filename)]
            if not sheets:
                raise DatasetError("this is a ZIP archive without sheets of Excel.", "Unpack it, and pass the table.", file)
            content = sum(member.file_size for member in members)
            require_memory(COPIES * content, f"an archive with {content:,} bytes of content", file, max_bytes)
            for sheet in sheets:
                cells = [(letters, int(row)) for letters, row in _CELL.findall(archive.read(sheet))]
                width = max((_column_number(letters) for letters, _ in cells), default=0)
                rows = max((row for _, row in cells), default=0)
                require_cells(rows, width, file, max_bytes, cell=PYTHON_CELL, content=COPIES * content)
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, zlib.error) as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"it cannot be read as a workbook ({error}).", "Save it again, or as CSV.", file) from error


def _column_number(letters: bytes) -> int:
    """Convert the letters of a column to its number.

    >>> _column_number(b"A"), _column_number(b"AB")
    (1, 28)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def read_objects(cells: Sequence[Any]) -> ParsedColumn:
    """Read cells of any type as numbers if all are numbers or missing, else as text; dates become text in ISO form.

    >>> read_objects([1, None, 2.5]), read_objects([1, "a"]).texts
    (array([1. , nan, 2.5]), ['1', 'a'])
    """
    if all(cell is None or (isinstance(cell, Real) and not _is_large(cell)) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    return TextCells.of([_text(cell) for cell in cells])


def _is_large(cell: object) -> bool:
    """Tell whether floating point may merge a whole number with another one, so that its digits are read as text."""
    return isinstance(cell, int) and abs(cell) >= EXACT


def _text(cell: object) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
