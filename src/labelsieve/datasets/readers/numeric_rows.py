"""Rows that hold nothing but numbers, read many at a time: numpy parses the text as a whole.

What is unusual (quotes, blanks around values, names) raises a ValueError, and is left to slower readers.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.libsvm_blocks import PAD, whole_numbers

BLOCK = 2**18  # characters that are read at a time: enough to make it worth it, few enough to keep their cells out of the way
BLANK, COMMA, ZERO, NINE, MISSING, BRACKET = b" ,09?("
EXACT = 15  # digits that every number of that length can have in float64

Lines = list[tuple[int, str]]


@dataclass(frozen=True)
class Cells:
    """Numbers of a text, how many characters each has, if those are all digits, and what stands between them."""

    values: NDArray[np.float64]
    lengths: NDArray[np.int64]
    plain: NDArray[np.bool_]
    between: NDArray[np.uint8]


def read_cells(text: str) -> Cells:
    """Numbers, or question marks for missing ones, with one comma or one blank between them.

    >>> cells = read_cells("0 1,12 0.5,?")
    >>> cells.values, cells.lengths, cells.plain
    (array([ 0. ,  1. , 12. ,  0.5,  nan]), array([1, 1, 2, 3, 1]), array([ True,  True,  True, False, False]))
    """
    padded = np.frombuffer(b"," * PAD + text.encode("ascii") + b",", np.uint8)
    raw = padded[PAD:]
    ends = np.flatnonzero((raw == COMMA) | (raw == BLANK))
    lengths = np.diff(ends, prepend=-1) - 1
    if not lengths.all():
        raise ValueError("something is missing")
    others = np.cumsum((raw < ZERO) | (raw > NINE), dtype=np.int32)[ends]  # up to each end; one of them is the end itself
    plain = (np.diff(others, prepend=0) == 1) & (lengths <= EXACT)
    values = np.full(len(ends), np.nan)
    values[plain] = whole_numbers(padded, ends[plain] + PAD, lengths[plain])
    rest = ~plain
    rest[rest] = (lengths[rest] > 1) | (raw[ends[rest] - 1] != MISSING)
    if rest.any():
        values[rest] = _any_numbers(raw[np.repeat(rest, lengths + 1)], int(np.count_nonzero(rest)))
    return Cells(values, lengths, plain, raw[ends[:-1]])


def _any_numbers(raw: NDArray[np.uint8], count: int) -> NDArray[np.float64]:
    """Numbers of any form, each with its end, as ``float`` reads them."""
    if (raw == BRACKET).any():  # numpy takes nan(1) for a number
        raise ValueError("brackets")
    raw[raw == BLANK] = COMMA
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what numpy says of text that is no number
        try:
            values = np.fromstring(raw[:-1].tobytes(), np.float64, sep=",")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None
    if len(values) != count:
        raise ValueError("something is not a number")
    return values


def blocks(lines: Iterator[tuple[int, str]]) -> Iterator[Lines]:
    """Numbered lines, as many at a time as have about ``BLOCK`` characters together."""
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


class NumberRows:
    """Reads rows of numbers with these columns; nominal ones must have whole numbers as their values.

    >>> rows = NumberRows([Column("tempo"), Column("calm", ("0", "1"))])
    >>> rows.dense(["98.5,1", "?,0"])
    array([[98.5,  1. ],
           [ nan,  0. ]])
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        kinds: dict[tuple[str, ...], int] = {}  # the different lists of nominal values; most files have one
        for column in columns:
            if column.values is not None:
                kinds.setdefault(column.values, len(kinds))
        self.kinds = list(kinds)
        self.kind_of = np.array([-1 if column.values is None else kinds[column.values] for column in columns])
        self.nominal = self.kind_of >= 0
        self.has_texts = any(column.texts is not None for column in columns)

    def dense(self, rows: Sequence[str]) -> NDArray[np.float64]:
        """Rows with commas between their cells."""
        width = len(self.nominal)
        if self.has_texts:
            raise ValueError("texts may look like numbers")
        if any(row.count(",") != width - 1 for row in rows):
            raise ValueError("a row has another length")
        cells = read_cells(",".join(rows))
        if (cells.between == BLANK).any():
            raise ValueError("blanks within a row")
        if self.nominal.any():
            where = np.flatnonzero(np.tile(self.nominal, len(rows)))
            cells.values[where] = self._codes(cells, where, where % width)
        return cells.values.reshape(len(rows), width)

    def sparse(self, rows: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Rows ``{index value,index value}``: how many pairs each has, the indices, and the values."""
        if not all(row[0] == "{" and row[-1] == "}" for row in rows):
            raise ValueError("a row without braces")
        inner = [row[1:-1].replace(", ", ",") for row in rows]
        pairs = np.array([row.count(",") + 1 if row else 0 for row in inner], np.int64)
        total = int(pairs.sum())
        if not total:
            return pairs, np.zeros(0, np.int32), np.zeros(0)
        cells = read_cells(",".join(filter(None, inner)))
        indices = cells.values[0::2]
        if len(cells.values) != 2 * total or not cells.plain[0::2].all() or indices.max() >= len(self.nominal):
            raise ValueError("some pair is none")
        if not ((cells.between[0::2] == BLANK).all() and (cells.between[1::2] == COMMA).all()):
            raise ValueError("some pair is none")
        positions = indices.astype(np.int32)
        last = np.cumsum(pairs)
        rising = np.diff(positions) > 0
        rising[last[(last > 0) & (last < total)] - 1] = True  # from one row to the next it may fall
        if not rising.all():
            raise ValueError("indices do not rise")
        nominal = np.flatnonzero(self.nominal[positions])
        if len(nominal):
            cells.values[2 * nominal + 1] = self._codes(cells, 2 * nominal + 1, positions[nominal])
        return pairs, positions, cells.values[1::2].copy()

    def _codes(self, cells: Cells, where: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
        """Codes of the cells of nominal columns: a cell must be written as its declared value is."""
        values, lengths, kind_of = cells.values[where], cells.lengths[where], self.kind_of[columns]
        if not cells.plain[where].all():
            raise ValueError("a nominal value is no whole number")
        codes = np.empty(len(values))
        for kind in np.unique(kind_of):
            of_kind = slice(None) if len(self.kinds) == 1 else kind_of == kind
            known, spelled = _whole_values(self.kinds[kind])
            order = np.argsort(known)
            found = order[np.minimum(np.searchsorted(known, values[of_kind], sorter=order), len(known) - 1)]
            if (known[found] != values[of_kind]).any() or (spelled[found] != lengths[of_kind]).any():
                raise ValueError("a nominal value is not declared")
            codes[of_kind] = found
        return codes


def _whole_values(declared: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Declared values as numbers, and how many digits each has."""
    if not all(value.isascii() and value.isdigit() and str(int(value[:EXACT])) == value for value in declared):
        raise ValueError("a nominal value is a name")
    return np.array([float(value) for value in declared]), np.array([len(value) for value in declared])
