"""Tables with a header row: CSV, and Parquet."""

import contextlib
import csv
import io
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.datasets.arff_cells import number
from labelsieve.datasets.errors import DatasetError
from labelsieve.datasets.number_rows import NumberRows, blocks
from labelsieve.datasets.table import Column, Table, check_names
from labelsieve.datasets.tabular import MISSING
from labelsieve.datasets.text import decode

_MISSING = frozenset(MISSING)
# Equal cells take next to no room in Parquet, and a whole one each here: a short file that promises many is a trap.
FREE_CELLS, CELLS_PER_BYTE = 2**24, 2**10


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
    return _table(names, list(zip(*rows, strict=True)), len(rows), file)


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


def parse_parquet(data: bytes, file: Path) -> Table:
    """Read a Parquet file with pyarrow."""
    if find_spec("pyarrow") is None:
        raise DatasetError("reading Parquet needs pyarrow.", file=file, remedy="pip install 'labelsieve[tables]'")
    try:
        source = import_module("pyarrow.parquet").ParquetFile(io.BytesIO(data))
        size = source.metadata.num_rows * source.metadata.num_columns
        most = max(FREE_CELLS, CELLS_PER_BYTE * len(data))
        if not 0 <= size <= most:
            raise DatasetError(
                f"it promises {size:,} cells, and {most:,} is the most for a file of {len(data):,} bytes.",
                file=file,
                remedy="Is it damaged?",
            )
        table = source.read()
        columns = [_cells(column) for column in table.columns]
    except DatasetError:
        raise
    except Exception as error:  # a damaged file brings out errors of every kind, also requests for more memory than there is
        raise DatasetError(f"it cannot be read as Parquet ({error}).", file=file, remedy="Fetch the file again.") from error
    return _table(list(map(str, table.column_names)), columns, table.num_rows, file)


def _cells(column: Any) -> Sequence[str] | NDArray[np.float64]:
    """Numbers and truth values as numbers, all else as text."""
    types = import_module("pyarrow").types
    if types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type):
        numbers: NDArray[np.float64] = column.cast("float64", safe=False).to_numpy()  # missing ones become NaN
        return numbers
    return ["" if cell is None else str(cell) for cell in column.to_pylist()]


def _table(names: list[str], columns: Sequence[Sequence[str] | NDArray[np.float64]], n_rows: int, file: Path) -> Table:
    if not n_rows:
        raise DatasetError("there are no rows under the header.", file=file, remedy="Is the file whole?")
    read = [_column(name, cells) for name, cells in zip(names, columns, strict=True)]
    check_names([column for column, _ in read], file)
    return Table(file, tuple(column for column, _ in read), np.column_stack([cells for _, cells in read]))


def _column(name: str, cells: Sequence[str] | NDArray[np.float64]) -> tuple[Column, NDArray[np.float64]]:
    if isinstance(cells, np.ndarray):
        return Column(name), cells
    stripped = ["?" if cell in _MISSING else cell for cell in map(str.strip, cells)]
    try:
        return Column(name), np.fromiter(map(number, stripped), np.float64, count=len(stripped))
    except ValueError:
        values = tuple(sorted(set(stripped) - {"?"}))
        codes = {value: float(code) for code, value in enumerate(values)}
        codes["?"] = np.nan
        return Column(name, values), np.array([codes[cell] for cell in stripped])
