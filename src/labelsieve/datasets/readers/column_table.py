"""A table of columns, as all readers return it before features and labels are separated."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.errors import DatasetError

if TYPE_CHECKING:
    from labelsieve.datasets.readers.text_columns import TextCells

# Each column gets a name, so one damaged number could fill the memory: beyond this, a file must have a byte for each.
FREE_COLUMNS = 2**18
BLOCK_CELLS = 2**16
SHOWN = 4  # names of columns in a message


@dataclass(frozen=True)
class Column:
    """The name of a column and, if it is nominal, its values.

    ``spelled`` are the cells of a numeric column whose text is more than its numbers, such as ``1,3``. The values of ``lists``
    are lists of labels in JSON.
    """

    name: str
    values: tuple[str, ...] | None = None
    spelled: "TextCells | None" = field(default=None, compare=False)
    lists: bool = False

    @cached_property
    def codes(self) -> dict[str, float]:
        """The position of each value, as it is stored in a cell."""
        return {value: float(code) for code, value in enumerate(self.values or ())}


@dataclass(frozen=True, eq=False)
class SeparateCells:
    """Cells as one array per column, so that features and labels are assembled without a copy of the whole table."""

    arrays: Sequence[NDArray[np.float64]]
    signed_zeros: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.arrays[0]), len(self.arrays)

    def take(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Return some columns as an array in C order, written in blocks of rows that fit into a processor's cache.

        Without ``signed_zeros``, -0.0 becomes 0.0: parsers of text may lose the sign.
        """
        cells = np.empty((self.shape[0], len(columns)))
        step = max(256, BLOCK_CELLS // len(columns))
        for start in range(0, len(cells), step):
            block = cells[start : start + step]
            for position, column in enumerate(columns):
                block[:, position] = self.arrays[column][start : start + step]
            if not self.signed_zeros:
                block += 0.0
        return cells


@dataclass(frozen=True, eq=False)
class AdjacentCells:
    """Cells as sparse blocks of columns, one of features and one of labels, which are taken without a copy."""

    blocks: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    def take(self, columns: Sequence[int]) -> Any:
        """Return some columns as a csr_array."""
        first = 0
        for block in self.blocks:
            if len(columns) == block.shape[1] and list(columns) == list(range(first, first + block.shape[1])):
                return block
            first += block.shape[1]
        joined = sparse.hstack(self.blocks, format="csr")
        return joined if list(columns) == list(range(first)) else sparse.csr_array(joined[:, list(columns)])


@dataclass(frozen=True, eq=False)
class Table:
    """All columns of a file, before they are split into features and labels.

    ``content`` are cells in float64: an ndarray, a csr_array, separate columns or adjacent blocks. Nominal cells are codes,
    missing ones NaN. ``n_labels`` is for formats that declare how many columns at the end are labels, ``label_names`` for those
    that name them. ``notes`` are decisions of the reader that a user should know.
    """

    file: Path
    columns: tuple[Column, ...]
    content: Any
    relation: str = ""
    description: str = ""
    n_labels: int | None = None
    label_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def cells(self) -> Any:
        """All cells as an ndarray or a csr_array."""
        separate = isinstance(self.content, SeparateCells | AdjacentCells)
        return self.take(range(len(self.columns))) if separate else self.content

    def take(self, columns: Sequence[int]) -> Any:
        """Return some columns, sparse where the cells are."""
        if isinstance(self.content, SeparateCells | AdjacentCells):
            return self.content.take(columns)
        first, last = columns[0], columns[-1]
        if list(columns) == list(range(first, last + 1)):  # many times faster than a list of columns when sparse
            return self.content[:, first : last + 1].copy()
        taken = self.content[:, list(columns)]
        return sparse.csr_array(taken) if sparse.issparse(taken) else np.ascontiguousarray(taken)


def join(tables: Sequence[Table]) -> Table:
    """Join the rows of several tables with the same columns."""
    first = tables[0]
    for other in tables[1:]:
        if len(other.columns) != len(first.columns):
            raise DatasetError(
                f"it has {len(other.columns)} columns and {first.file.name} has {len(first.columns)}.",
                "Join only parts of one data set.",
                other.file,
            )
        for position, (column, expected) in enumerate(zip(other.columns, first.columns, strict=True), 1):
            if column != expected:
                ours = "declared otherwise" if column.name == expected.name else f"named {expected.name!r}"
                raise DatasetError(
                    f"column {position}, {column.name!r}, is {ours} in {first.file.name}.",
                    "Join only parts of one data set.",
                    other.file,
                )
    if len(tables) == 1:
        return first
    if all(isinstance(table.content, AdjacentCells) for table in tables):
        sides = zip(*(table.content.blocks for table in tables), strict=True)
        return replace(first, content=AdjacentCells(tuple(sparse.vstack(side, format="csr") for side in sides)))
    cells = [table.cells for table in tables]
    stacked = sparse.vstack(cells, format="csr") if any(map(sparse.issparse, cells)) else np.vstack(cells)
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    columns = tuple(replace(column, spelled=None) for column in first.columns)
    return replace(first, columns=columns, content=stacked, notes=notes)


def refuse_unnamed(names: Sequence[str], remedy: str, file: Path) -> None:
    """Refuse a first row that does not name every column; one with a single cell is likely to be a title."""
    if all(names):
        return
    if sum(map(bool, names)) == 1 and names[0]:
        remedy = f"The first row must name the columns; if {names[0]!r} is a title, remove it and empty rows under it."
    raise DatasetError(f"column {names.index('') + 1} has no name.", remedy, file, 1)


def check_names(columns: Sequence[Column], file: Path) -> None:
    """Refuse two columns of one name."""
    first: dict[str, int] = {}
    twice = []
    for position, column in enumerate(columns, 1):
        if first.setdefault(column.name, position) != position:
            twice.append(f"{column.name!r} (columns {first[column.name]} and {position})")
    if twice:
        more = f", ... ({len(twice)})" if len(twice) > SHOWN else ""
        raise DatasetError(
            f"two columns have the same name: {', '.join(twice[:SHOWN])}{more}.",
            "Rename one of them; is the first row of a table its header?",
            file,
        )


def check_width(n_columns: int, n_bytes: int, file: Path) -> None:
    """Refuse more columns than a file of ``n_bytes`` can be about."""
    most = max(FREE_COLUMNS, n_bytes)
    if n_columns > most:
        raise DatasetError(
            f"it asks for {n_columns:,} columns, and {most:,} is the most for a file of {n_bytes:,} bytes.",
            "Is a number in it damaged?",
            file,
        )
