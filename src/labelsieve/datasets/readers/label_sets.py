"""Columns whose cells are sets of labels, such as ``rock;loud`` or ``["rock", "loud"]``: one 0/1 label for each word."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.text_columns import TextCells
from labelsieve.errors import DatasetError

SEPARATORS = (";", "|", ",")
_LIST = re.compile(r"\[.*\]|\{.*\}|\(.*\)|set\(\)", re.DOTALL)
DENSE_CELLS = 2**26  # labels of more cells stay sparse


def read_label_sets(column: Column, cells: NDArray[np.float64], separator: str) -> tuple[list[str], Any]:
    """Labels in sorted order, and a csr_array of 0 and 1; a missing cell is an empty set, and so is a blank one.

    >>> names, Y = read_label_sets(Column("tags", ("loud", "rock; loud")), np.array([1.0, 0.0, np.nan]), ";")
    >>> names, Y.toarray().tolist()
    (['loud', 'rock'], [[1, 1], [1, 0], [0, 0]])
    """
    found = spelled_cells(column, cells)
    sets = [set(json.loads(text)) for text in found.texts] if column.lists else _labels(found.texts, separator)
    names = sorted(set().union(*sets)) if sets else []
    position = {name: index for index, name in enumerate(names)}
    where = [sorted(position[label] for label in labels) for labels in sets]
    ends = np.cumsum([0, *(len(labels) for labels in where), 0])  # the last row is for missing cells
    flat = np.array([index for labels in where for index in labels], dtype=np.int32)
    distinct = sparse.csr_array((np.ones(len(flat), np.uint8), flat, ends), shape=(len(sets) + 1, len(names)))
    return names, distinct[found.index]


def find_separator(column: Column, cells: NDArray[np.float64]) -> str | None:
    """The separator of the labels in a text column, if it is plain that the cells are sets of labels.

    At least half of the words between the separators must occur in two or more different cells, or all cells be lists in
    brackets.

    >>> tags, names = ("a;b", "a;c", "b;c"), ("Smith, Jo", "Smith, Al")
    >>> find_separator(Column("tags", tags), np.arange(3.0)), find_separator(Column("by", names), np.arange(2.0))
    (';', None)
    """
    if column.values is None:
        return None
    if column.lists:
        return ","
    texts = spelled_cells(column, cells).texts
    if _are_lists(texts):
        return ","
    for separator in SEPARATORS:
        if sum(separator in text for text in texts) < 1:
            continue
        counts: dict[str, int] = {}
        for labels in _labels(texts, separator):
            for label in labels:
                counts[label] = counts.get(label, 0) + 1
        if 2 * sum(count > 1 for count in counts.values()) >= len(counts):
            return separator
    return None


def spelled_cells(column: Column, cells: NDArray[np.float64]) -> TextCells:
    """The texts of a column that occur, and the index among them of every cell."""
    if column.spelled is not None:
        return column.spelled
    missing = np.isnan(cells)
    numbers, index = np.unique(cells[~missing], return_inverse=True)
    if column.values is not None:
        texts = [column.values[int(code)] for code in numbers]
    else:
        texts = [repr(float(number)).removesuffix(".0") for number in numbers]
    found = np.full(len(cells), -1, dtype=np.int64)
    found[~missing] = index
    return TextCells(texts, found)


def _are_lists(texts: Sequence[str]) -> bool:
    return len(texts) > 0 and all(map(_LIST.fullmatch, texts))


def _labels(texts: Sequence[str], separator: str) -> list[set[str]]:
    """The words of every text; of lists, as Python and JSON write them, without brackets and quotes.

    >>> _labels(["['a', 'b']", "[]"], ",") == [{"a", "b"}, set()], _labels(["a|b"], "|") == [{"a", "b"}]
    (True, True)
    """
    if not _are_lists(texts):
        return [{label.strip() for label in text.split(separator)} - {""} for text in texts]
    word = re.compile(rf"""\"((?:[^"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^{re.escape(separator)}"']+)""", re.DOTALL)
    inner = ["" if text == "set()" else text[1:-1] for text in texts]
    return [{"".join(filter(None, match.groups())).strip() for match in word.finditer(text)} - {""} for text in inner]


def list_cells(rows: Iterable[Any], name: str, file: Path) -> TextCells:
    """Lists of labels, None where one is missing, as cells of text in JSON.

    >>> list_cells([["rock", "loud"], None, []], "tags", Path("songs.parquet")).texts
    ['["loud", "rock"]', '[]']
    """
    known: dict[str, int] = {}
    index = []
    for row, labels in enumerate(rows, 1):
        if labels is None:
            index.append(-1)
            continue
        if any(label is None or label != label for label in labels):
            raise DatasetError(
                f"column {name!r}, row {row}: a label is missing in the list.", "Leave it out of the list.", file
            )
        words = {str(label).removesuffix(".0") if isinstance(label, float) else str(label).strip() for label in labels} - {""}
        index.append(known.setdefault(json.dumps(sorted(words), ensure_ascii=False), len(known)))
    return TextCells(list(known), np.array(index, dtype=np.int64), lists=True)


def refuse_lists(columns: Sequence[Column], file: Path) -> None:
    """Refuse features whose cells are lists."""
    for column in columns:
        if column.lists:
            raise DatasetError(
                f"column {column.name!r} holds lists, which only labels can be.",
                f"Name it as the label column (labels={column.name!r}), or store a column for each element.",
                file,
            )


def label_sets(
    columns: Sequence[Column], cells: Any, separator: str, features: Sequence[str], file: Path
) -> tuple[list[str], Any]:
    """Names and 0/1 labels of columns of label sets; ``column=label`` where a label is not unique among all names.

    The labels are a uint8 ndarray, or a csc_array if there are very many cells.
    """
    if sparse.issparse(cells):
        raise DatasetError("its rows are sparse, so no column holds sets of labels.", "Leave out label_separator=.", file)
    read = [read_label_sets(column, cells[:, position], separator) for position, column in enumerate(columns)]
    names = [label for labels, _ in read for label in labels]
    if not names:
        raise DatasetError("every row has an empty set of labels.", "Are these columns the labels?", file)
    if len(set(names)) < len(names) or set(names) & set(features):
        names = [f"{column.name}={label}" for column, (labels, _) in zip(columns, read, strict=True) for label in labels]
    joined = sparse.hstack([labels for _, labels in read], format="csc", dtype=np.uint8)
    return names, joined.toarray() if joined.shape[0] * joined.shape[1] <= DENSE_CELLS else sparse.csc_array(joined)
