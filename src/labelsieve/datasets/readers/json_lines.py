"""JSON lines (.jsonl, .ndjson): an object for every row, whose keys name the columns."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.datasets.readers.columns import ParsedColumn, Table, TextCells, make_table
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, PYTHON_CELL, TextBudget, require_cells, require_text, utf8_text
from labelsieve.datasets.readers.labels import list_cells
from labelsieve.errors import DatasetError
from labelsieve.tables.frames import EXACT

MOST_COLUMNS = 2**18  # different keys of all rows


def parse_json_lines(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read an object for every line; blank lines are skipped.

    Columns are the keys of all rows, in the order in which they first occur; a key that a row does not have is missing there.
    Numbers and booleans are numbers, null is missing, lists are label sets, and text is read by the rule for CSV.

    >>> table = parse_json_lines(b'{"tempo": 98, "mood": "calm"}\n{"mood": "sad", "loud": true}\n', Path("a.jsonl"))
    >>> table.names, table.cells.tolist()
    (['tempo', 'mood', 'loud'], [[98.0, 0.0, nan], [nan, 1.0, 1.0]])
    """
    text = utf8_text(data, file)
    require_text(text, b",\n", file, max_bytes, cell=PYTHON_CELL)
    rows: list[dict[str, Any]] = []
    names: dict[str, int] = {}
    for number, line in enumerate(text.split(b"\n"), 1):
        if not line.strip():
            continue
        row = _read_line(line, file, number)
        rows.append(row)
        for name in row:
            names.setdefault(name, len(names))
        if len(names) > MOST_COLUMNS:
            raise DatasetError(f"its rows have more than {MOST_COLUMNS:,} different keys.", "Use libsvm for sparse rows.", file)
    require_cells(len(rows), len(names), file, max_bytes, cell=PYTHON_CELL, content=len(text))
    budget = TextBudget(file, max_bytes)
    columns = [_read_cells(name, [row.get(name) for row in rows], file, budget) for name in names]
    return make_table([name.strip() for name in names], columns, file)


def _read_line(line: bytes, file: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"this line is not JSON ({error}).", "Write one object for every line.", file, number) from None
    if not isinstance(row, dict):
        raise DatasetError("this line is not an object.", 'Write {"name": value, ...} for every row.', file, number)
    if not row or not all(name.strip() for name in row):
        raise DatasetError("this line has no name, or an empty one.", 'Write {"name": value, ...} for every row.', file, number)
    try:
        if b"\\u" in line:
            json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DatasetError("this line has half of a character (a surrogate).", "Write it in UTF-8.", file, number) from None
    return row


def _read_cells(name: str, cells: list[Any], file: Path, budget: TextBudget) -> ParsedColumn:
    """Read the values of a key: numbers and booleans, lists of labels, or text."""
    if any(isinstance(cell, dict) for cell in cells):
        row = next(row for row, cell in enumerate(cells) if isinstance(cell, dict))
        raise DatasetError(f"{name!r} in row {row + 1} is an object.", "Give every part of it a name of its own.", file)
    if any(isinstance(cell, list) for cell in cells):
        if any(isinstance(label, list | dict) for cell in cells if isinstance(cell, list) for label in cell):
            raise DatasetError(f"{name!r} holds lists of lists or objects.", "Lists are sets of labels, text or numbers.", file)
        return list_cells((cell if cell is None or isinstance(cell, list) else [cell] for cell in cells), name, file)
    plain = all(cell is None or isinstance(cell, int | float) for cell in cells)
    if plain and all(not isinstance(cell, int) or abs(cell) < EXACT for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    # Text, or whole numbers that floating point may merge: their digits decide.
    texts = TextCells.of(["" if cell is None else str(int(cell)) if isinstance(cell, bool) else str(cell) for cell in cells])
    budget.add(len(texts.texts))
    return texts
