"""The rule for columns of text: which cells are missing, which columns are numeric and which nominal.

Every reader of tables hands its columns to :func:`make_table`, so the result does not depend on the library that parsed them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.datasets.readers.column_table import Column, SeparateCells, Table, check_names

# Cells that are missing, after blanks around them are removed. The question mark is that of ARFF.
MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null"))


@dataclass(frozen=True, eq=False)
class TextCells:
    """A column of text: its distinct texts, and the index among them of every cell, -1 where the cell is missing.

    ``declared`` are the values of a nominal column, in order, where the file declares them.
    """

    texts: Sequence[str]
    index: NDArray[Any]
    declared: tuple[str, ...] | None = None

    @classmethod
    def of(cls, cells: Sequence[str]) -> "TextCells":
        """Cells as they are.

        >>> TextCells.of(["b", "a", "b"]).index
        array([0, 1, 0])
        """
        known: dict[str, int] = {}
        index = np.fromiter((known.setdefault(cell, len(known)) for cell in cells), np.int64, count=len(cells))
        return cls(list(known), index)


ParsedColumn = NDArray[np.float64] | TextCells


def parse_number(text: str) -> float:
    """A number as ``float`` reads it, without underscores; NaN for a question mark.

    >>> parse_number("-1.5e3"), parse_number("?")
    (-1500.0, nan)
    """
    if text == "?":
        return float("nan")
    if "_" in text:
        raise ValueError(text)
    return float(text)


def text_column(name: str, cells: TextCells) -> tuple[Column, NDArray[np.float64]]:
    """Numeric if every text is a number or missing; else nominal, with its values in sorted order.

    >>> column, codes = text_column("mood", TextCells.of(["sad", " calm", "NA", "sad"]))
    >>> column.values, codes
    (('calm', 'sad'), array([ 1.,  0., nan,  1.]))
    """
    values: tuple[str, ...] | None = cells.declared
    texts = cells.texts if values is not None else [text.strip() for text in cells.texts]
    if values is None:
        used = np.zeros(len(texts) + 1, dtype=bool)  # the last one stands for missing cells
        used[cells.index] = True
        present = {text for text, occurs in zip(texts, used[:-1], strict=True) if occurs and text not in MISSING}
        try:
            codes = {text: parse_number(text) for text in present}
        except ValueError:
            values = tuple(sorted(present))
    elif unknown := set(texts) - set(values):
        raise ValueError(f"value {min(unknown)!r} is not one of the declared values of {name!r}")
    if values is not None:
        codes = {text: float(code) for code, text in enumerate(values)}
    numbers: NDArray[np.float64] = np.array([*(codes.get(text, np.nan) for text in texts), np.nan])
    return Column(name, values), np.take(numbers, cells.index)


def make_table(
    names: Sequence[str],
    parsed: Sequence[ParsedColumn],
    file: Path,
    *,
    description: str = "",
    label_names: tuple[str, ...] | None = None,
    signed_zeros: bool = True,
) -> Table:
    """A table of columns: text by :func:`text_column`, numbers as they are, NaN where they are missing.

    ``signed_zeros=False`` makes -0.0 to 0.0, for a format in which parsers may lose the sign.
    """
    read = [
        text_column(name, column) if isinstance(column, TextCells) else (Column(name), column)
        for name, column in zip(names, parsed, strict=True)
    ]
    columns = tuple(column for column, _ in read)
    check_names(columns, file)
    cells = SeparateCells([numbers for _, numbers in read], signed_zeros)
    return Table(file, columns, cells, description=description, label_names=label_names)
