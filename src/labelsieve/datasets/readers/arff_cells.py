"""The careful reader of ARFF rows: knows quotes, and says which cell is wrong."""

import re
from pathlib import Path

from labelsieve.datasets.dataset_error import DatasetError, some_of
from labelsieve.datasets.readers.arff_header import QUOTED, split_values, unquote
from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.text_columns import parse_number

_PAIR = re.compile(rf"\s*+([+-]?\d{{1,18}})\s++({QUOTED}|[^,\s{{}}]++)\s*+(,|$)")


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
