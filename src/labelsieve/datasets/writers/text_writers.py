"""ARFF and CSV, written so that load() and other programs read the same data."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.text_columns import MISSING
from labelsieve.datasets.writers.save_check import CheckedDataset
from labelsieve.errors import DatasetError
from labelsieve.table_types import dense_array, is_sparse

BLOCK = 2**18  # cells that are text at the same time

_BARE = re.compile(r"""[^\s,'"{}%\\?@\x00-\x20\x7f]+""")
_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LABEL = ("0", "1")


def quoted(text: str) -> str:
    r"""A name or value as ARFF wants it: with quotes and escapes where it needs them.

    >>> print(quoted("tempo"), quoted("Swainson's Thrush"), quoted("50%"))
    tempo 'Swainson\'s Thrush' '50%'
    """
    return text if _BARE.fullmatch(text) else f"'{text.translate(_ESCAPES)}'"


def number_texts(cells: NDArray[np.float64], missing: str) -> list[str]:
    """The shortest text of each number that is read as the very same number.

    >>> number_texts(np.array([0.1, 3.0, -0.0, np.nan]), "?")
    ['0.1', '3', '-0', '?']
    """
    texts = [text.removesuffix(".0") for text in map(repr, cells.tolist())]
    for position in np.flatnonzero(np.isnan(cells)).tolist():
        texts[position] = missing
    return texts


def write_arff(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write dense rows if X is dense and sparse rows if it is; labels come last, as the relation says for MEKA."""
    columns = data.columns
    if data.binary:
        columns = data.features + tuple(Column(column.name, _LABEL) for column in data.labels)
    for column in columns:
        if column.values is not None and "?" in column.values and np.isnan(_column(data, column)).any():
            raise DatasetError(
                f"{column.name!r} has the value '?' and missing cells, which ARFF writes in the same way.",
                "Rename the value.",
                data.file,
            )
    raw.write(_header(data, columns).encode())
    if is_sparse(data.X):
        raw.writelines(lines.encode() for lines in _sparse_rows(data, columns))
        return
    for rows in _dense_rows(data, columns, "?", quoted):
        raw.write("".join(",".join(row) + "\n" for row in rows).encode())


def write_label_header(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write a Mulan header: the names of the labels, in XML."""
    for column in data.labels:
        if _NOT_XML.search(column.name):
            raise DatasetError(
                f"label {column.name!r} holds a character that XML cannot.", "Rename it, or save as Parquet.", data.file
            )
    names = "".join(f"<label name={quoteattr(column.name)}></label>\n" for column in data.labels)
    head = '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'
    raw.write(f"{head}{names}</labels>\n".encode())


def _header(data: CheckedDataset, columns: tuple[Column, ...]) -> str:
    about = data.dataset.description.encode(errors="replace").decode().replace("\0", "")
    lines = [f"% {line}".rstrip() for line in re.split(r"\r\n|\r|\n", about)] if about.strip() else []
    name = data.dataset.name.encode(errors="replace").decode().replace("\0", "") or "data"
    lines.append(f"@relation {quoted(f'{name}: -C -{len(data.labels)}')}\n")
    for column in columns:
        kind = "numeric" if column.values is None else "{" + ",".join(map(quoted, column.values)) + "}"
        lines.append(f"@attribute {quoted(column.name)} {kind}")
    return "\n".join([*lines, "\n@data\n"])


def _column(data: CheckedDataset, column: Column) -> NDArray[np.float64]:
    position = data.columns.index(column)
    cells = data.X[:, [position]] if position < len(data.features) else data.Y[:, [position - len(data.features)]]
    return dense_array(cells)


def _texts(cells: NDArray[np.float64], column: Column, missing: str, spell: Callable[[str], str]) -> list[str]:
    if column.values is None:
        return number_texts(cells, missing)
    words = [*map(spell, column.values), missing]
    return [words[code] for code in np.where(np.isnan(cells), -1, cells).astype(np.int64).tolist()]


def _dense_rows(
    data: CheckedDataset, columns: tuple[Column, ...], missing: str, spell: Callable[[str], str]
) -> Iterator[list[tuple[str, ...]]]:
    """Blocks of rows as texts; ``spell`` gives that of a nominal value."""
    step = max(1, BLOCK // len(columns))
    for start in range(0, data.X.shape[0], step):
        blocks = [cells[start : start + step] for cells in (data.X, data.Y)]
        cells = np.hstack(list(map(dense_array, blocks)))
        texts = [_texts(cells[:, position], column, missing, spell) for position, column in enumerate(columns)]
        yield list(zip(*texts, strict=True))


def _sparse_rows(data: CheckedDataset, columns: tuple[Column, ...]) -> Iterator[str]:
    cells: Any = sparse.hstack([data.X, sparse.csr_array(data.Y)], format="csr")
    cells.sort_indices()
    values, positions = cells.data, cells.indices
    texts = np.array(number_texts(values, "?"), dtype=object)
    order = np.argsort(positions, kind="stable")
    ends = np.searchsorted(positions[order], np.arange(len(columns) + 1))
    for position, column in enumerate(columns):
        if column.values is not None:
            stored = order[ends[position] : ends[position + 1]]
            texts[stored] = _texts(values[stored], column, "?", quoted)
    pairs = [f"{position} {text}" for position, text in zip(positions.tolist(), texts.tolist(), strict=True)]
    starts = cells.indptr.tolist()
    for start in range(0, len(starts) - 1, 1024):
        rows = zip(starts[start : start + 1024], starts[start + 1 : start + 1025], strict=False)
        yield "".join("{" + ",".join(pairs[first:last]) + "}\n" for first, last in rows)


def write_csv(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write all cells; those of nominal columns by their values. What would be read as something else is refused."""
    _refuse_what_reads_otherwise(data)
    text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
    try:
        # Quotes at the start: whatever the first name is, the file looks like CSV and like no other format.
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow([column.name for column in data.columns])
        writer = csv.writer(text, lineterminator="\n")
        for rows in _dense_rows(data, data.columns, "", str):
            writer.writerows(rows)
    finally:
        text.detach()


def _refuse_what_reads_otherwise(data: CheckedDataset) -> None:
    names = [column.name for column in data.columns]
    for name in names:
        if not name or name != name.strip() or any(mark in name for mark in "\r\n"):
            raise _refusal(f"the name {name!r} is empty, has blanks at an end or a line break", data)
    if len(names) - 1 < max("".join(names).count(mark) for mark in ";\t"):
        raise _refusal("the names have more semicolons or tabs than there are commas between them", data)
    for column in data.columns:
        for value in column.values or ():
            if value in MISSING or value != value.strip() or any(mark in value for mark in "\r\n"):
                raise _refusal(f"{column.name!r} has the value {value!r}, a word for missing or with blanks at an end", data)


def _refusal(problem: str, data: CheckedDataset) -> DatasetError:
    return DatasetError(f"{problem}, which CSV cannot keep.", "Rename it, or save as ARFF or Parquet.", data.file)
