"""String and date attributes of ARFF files: refused, left out, or taken as nominal."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.column_table import Column

Strings = Literal["error", "drop", "nominal"]


class Texts:
    """Numbers the texts of one attribute in order of appearance; ``keep=False`` discards them.

    >>> texts = Texts()
    >>> texts("b"), texts("a"), texts("b"), texts("?")
    (0.0, 1.0, 0.0, nan)
    """

    def __init__(self, keep: bool = True) -> None:
        self.keep = keep
        self.codes: dict[str, float] = {}

    def __call__(self, text: str) -> float:
        """The number of a text without quotes; one with quotes or a comment is left to the careful reader."""
        if text[:1] in ("'", '"') or "%" in text:
            raise KeyError(text)
        return self.add(text)

    def add(self, text: str) -> float:
        """The number of a text whose quotes are undone."""
        if text == "?":
            return float("nan")
        return self.codes.setdefault(text, float(len(self.codes))) if self.keep else 0.0


def settle_texts(columns: tuple[Column, ...], cells: Any, file: Path) -> tuple[tuple[Column, ...], Any]:
    """Leave out the columns of texts, or number their values in sorted order, and say which values there are."""
    kept = [position for position, column in enumerate(columns) if column.texts is None or column.texts.keep]
    if len(kept) < len(columns):
        if not kept:
            raise DatasetError("all its attributes are strings or dates.", file=file, remedy='Pass strings="nominal".')
        columns, cells = tuple(columns[position] for position in kept), cells[:, kept]
        cells = sparse.csr_array(cells) if sparse.issparse(cells) else np.ascontiguousarray(cells)
    settled = list(columns)
    for position, column in enumerate(columns):
        if column.texts is None:
            continue
        found = cells[:, position]  # a view: sparse rows were refused
        used = ~np.isnan(found)
        numbers = found[used].astype(np.int64)
        occurring = np.zeros(len(column.texts.codes), dtype=bool)  # a sweep that stumbled may have met what is no text
        occurring[numbers] = True
        values = tuple(sorted(text for text, code in column.texts.codes.items() if occurring[int(code)]))
        if not values:
            raise DatasetError(f"attribute {column.name!r} is missing in every row.", file=file, remedy='Pass strings="drop".')
        order = np.zeros(len(occurring))
        order[[int(column.texts.codes[value]) for value in values]] = np.arange(len(values))
        found[used] = order[numbers]
        settled[position] = replace(column, values=values, texts=None)
    return tuple(settled), cells
