"""Attribute-relation files (ARFF), dense and sparse.

Rows are read block by block in one sweep that trusts them. Where that stumbles, the block is read again, cell by cell, by a
reader that knows quotes and comments and can say which line is wrong.
"""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.arff_cells import dense_row, number, sparse_row
from labelsieve.datasets.arff_header import read_header, strip_comment
from labelsieve.datasets.errors import DatasetError
from labelsieve.datasets.table import Column, Table
from labelsieve.datasets.text import decode

BLOCK = 2**20  # cells of a block: enough to make the sweep worth it, few enough to keep its strings out of the way

Converter = Callable[[str], float]
Lines = list[tuple[int, str]]


def parse_arff(data: bytes, file: Path) -> Table:
    r"""Read the content of an ARFF file.

    Examples
    --------
    >>> table = parse_arff(b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n0.5,y\n?,x\n", Path("r.arff"))
    >>> table.cells
    array([[0.5, 1. ],
           [nan, 0. ]])
    """
    text = decode(data, file)
    header = read_header(text, file)
    body = text[header.end :]
    careful = "?" in body or "_" in body  # float() does not know the one, and takes the other: 1_000
    converters = [_converter(column, careful) for column in header.columns]
    lines = _rows(body, header.line)
    first = next(lines, None)
    if first is None:
        raise DatasetError("there are no rows below @data.", file=file, line=header.line - 1, remedy="Is the file whole?")
    read = _read_sparse if first[1].startswith("{") else _read_dense
    cells = read(chain([first], lines), header.columns, converters, file)
    return Table(file, header.columns, cells, header.relation, header.comment)


def _rows(body: str, number: int) -> Iterator[tuple[int, str]]:
    for place, line in enumerate(body.split("\n"), number):
        row = line.strip()
        if row and row[0] != "%":
            yield place, row


def _converter(column: Column, careful: bool) -> Converter:
    if column.values is not None:
        codes = dict(column.codes)
        for value in column.values:
            if value[:1] in ("'", '"') or "%" in value:  # in a row these are quoted, and left to the careful reader
                del codes[value]
        codes.setdefault("?", np.nan)
        return codes.__getitem__
    return number if careful else float


def _blocks(lines: Iterator[tuple[int, str]], per_block: int) -> Iterator[Lines]:
    while block := list(islice(lines, per_block)):
        yield block


def _read_dense(
    lines: Iterator[tuple[int, str]], columns: tuple[Column, ...], converters: list[Converter], file: Path
) -> NDArray[np.float64]:
    width, blocks = len(columns), []
    for block in _blocks(lines, max(1, BLOCK // width)):
        try:
            blocks.append(_sweep_dense(block, converters))
        except (ValueError, KeyError):
            rows = [dense_row(strip_comment(row), columns, file, line) for line, row in block]
            blocks.append(np.array(rows, dtype=np.float64).reshape(len(rows), width))
    return np.vstack(blocks)


def _sweep_dense(block: Lines, converters: list[Converter]) -> NDArray[np.float64]:
    width = len(converters)
    rows = [row.split(",") for _, row in block]
    if any(len(row) != width for row in rows):
        raise ValueError
    if all(converter is float for converter in converters):
        flat = np.fromiter(map(float, chain.from_iterable(rows)), np.float64, count=len(rows) * width)
        return flat.reshape(len(rows), width)
    cells = np.empty((len(rows), width))
    for place, (column, converter) in enumerate(zip(zip(*rows, strict=True), converters, strict=True)):
        cells[:, place] = np.fromiter(map(converter, map(str.strip, column)), np.float64, count=len(rows))
    return cells


def _read_sparse(lines: Iterator[tuple[int, str]], columns: tuple[Column, ...], converters: list[Converter], file: Path) -> Any:
    starts, places, cells = [np.zeros(1, np.int64)], [], []
    for block in _blocks(lines, BLOCK // 64):
        try:
            lengths, where, what = _sweep_sparse(block, converters)
        except (ValueError, KeyError, IndexError, OverflowError):
            found = [sparse_row(strip_comment(row).strip(), columns, file, line) for line, row in block]
            lengths = np.array([len(row) for row in found], np.int64)
            where = np.array([place for row in found for place in row], np.int64)
            what = np.array([cell for row in found for cell in row.values()], np.float64)
        starts.append(starts[-1][-1] + np.cumsum(lengths))
        places.append(where)
        cells.append(what)
    pointers = np.concatenate(starts)
    shape = (len(pointers) - 1, len(columns))
    table = sparse.csr_array((np.concatenate(cells), np.concatenate(places), pointers), shape=shape)
    table.eliminate_zeros()
    return table


def _sweep_sparse(
    block: Lines, converters: list[Converter]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
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
    return lengths, where, np.fromiter((converters[place](cell) for place, cell in pairs), np.float64, count=total)
