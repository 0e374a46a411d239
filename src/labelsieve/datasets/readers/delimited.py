"""Tables with a header row."""

import contextlib
import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.arff_cells import number
from labelsieve.datasets.readers.decode import decode
from labelsieve.datasets.readers.numeric_rows import NumberRows, blocks
from labelsieve.datasets.readers.read_table import Column, Table, check_names
from labelsieve.datasets.readers.tabular import MISSING

_MISSING = frozenset(MISSING)


def parse_csv(data: bytes, file: Path) -> Table:
    r"""Read a header row and rows of values. A column with a value that is no number is nominal, its values sorted.

    Commas, semicolons or tabs part the values, whichever the header has most of.

    >>> parse_csv(b"tempo,mood\n98,calm\n,happy\n", Path("a.csv")).cells
    array([[98.,  0.],
           [nan,  1.]])
    """
    text = decode(data, file)
    first = text.partition("\n")[0]
    comma = max(",;\t", key=first.count)
    with contextlib.suppress(ValueError):  # it holds other things than numbers
        return _numbers(text, comma, file)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=comma, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        if not any(names):
            raise DatasetError("the first line is empty.", file=file, line=1, remedy="It must name the columns.")
        if not all(names):
            raise DatasetError(
                f"column {names.index('') + 1} has no name.", file=file, line=1, remedy="Name it, or leave it out."
            )
        rows = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(names):
                raise DatasetError(f"there are {len(row)} values and {len(names)} columns.", file=file, line=reader.line_num)
            rows.append(row)
    except csv.Error as error:
        raise DatasetError(f"it cannot be read as CSV ({error}).", file=file, line=reader.line_num) from error
    if not rows:
        raise DatasetError("there are no rows under the header.", file=file, remedy="Is the file whole?")
    read = [text_column(name, cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)]
    check_names([column for column, _ in read], file)
    return Table(file, tuple(column for column, _ in read), np.column_stack([cells for _, cells in read]))


def _numbers(text: str, comma: str, file: Path) -> Table:
    """A table of numbers without quotes, empty cells or doubtful names."""
    first, _, body = text.partition("\n")
    names = [name.strip() for name in first.split(comma)]
    if '"' in text or not all(names) or len(set(names)) < len(names) or (comma != "," and "," in body):
        raise ValueError
    columns = tuple(map(Column, names))
    lines = ((0, line.replace(comma, ",")) for line in body.split("\n") if line)
    numbers = NumberRows(columns)
    cells = np.vstack([numbers.dense([row for _, row in block]) for block in blocks(lines)])
    return Table(file, columns, cells)


def text_column(name: str, cells: Sequence[str]) -> tuple[Column, NDArray[np.float64]]:
    """A column of texts as numbers, or as nominal if some are no numbers."""
    stripped = ["?" if cell in _MISSING else cell for cell in map(str.strip, cells)]
    try:
        return Column(name), np.fromiter(map(number, stripped), np.float64, count=len(stripped))
    except ValueError:
        values = tuple(sorted(set(stripped) - {"?"}))
        codes = {value: float(code) for code, value in enumerate(values)}
        codes["?"] = np.nan
        return Column(name, values), np.array([codes[cell] for cell in stripped])
