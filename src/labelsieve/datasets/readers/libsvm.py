r"""Files of libsvm with many labels, and of the extreme classification repository: ``1,3 5:0.2 7:1`` has labels 1 and 3."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import AdjacentCells, Column, Table, check_width
from labelsieve.datasets.readers.file_bytes import LONGEST_LINE, refuse_nul, too_long_line
from labelsieve.datasets.readers.libsvm_blocks import WORKING_BYTES, Rows, parse_rows
from labelsieve.datasets.readers.memory_budget import CELL, DEFAULT_LIMIT, require_memory
from labelsieve.errors import DatasetError

LOOK = 2**16  # bytes at the start of a file by which it is recognized
BLOCK = 2**19  # bytes of text that are parsed at a time: their arrays fit into the cache of a processor
COLUMN_BYTES = 400  # of a column: its name, and what describes it
# Possessive (++, *+): a long number is read once, and not again from each of its digits.
_LABELS = r"[+-]?\d++(?:,[+-]?\d++)*+(?=[\s#]|\Z)"
_PAIR = r"\d++:[^\s:,]++(?:\s++|\Z)"
_ROW = re.compile(rf"(?:{_LABELS})?\s*+(?:{_PAIR})*+(?:#.*)?")
_SIZES = re.compile(r"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")


def is_libsvm(data: bytes) -> bool:
    r"""True if the first rows look like libsvm's.

    >>> is_libsvm(b"1,3 5:0.2\n"), is_libsvm(b"a,b\n1,2\n")
    (True, False)
    """
    start = data[:LOOK].removeprefix(codecs.BOM_UTF8).decode("latin-1")
    if len(data) >= LOOK:
        start = start.rpartition(" ")[0]  # whole words only
    lines = [line for line in start.splitlines()[:3] if line.strip()]
    rows = lines[1:] if lines and _SIZES.fullmatch(lines[0]) else lines
    return bool(rows) and all(_ROW.fullmatch(line) for line in rows) and any(":" in line.partition("#")[0] for line in rows)


def parse_libsvm(data: bytes | Iterable[bytes], file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read rows of labels and ``index:value`` pairs; a first line of three numbers gives rows, features and labels.

    Features count from 1, unless an index 0 occurs or the first line gives the sizes: then from 0. Where the sizes are given,
    empty lines are rows if the number of rows is right with them only.

    ``data`` may be the content in pieces of any size: at no time more than :data:`BLOCK` bytes of text are held in memory, or
    the longest line, and what is read takes 12 bytes for each pair and each label, and as much again while it is joined.

    >>> parse_libsvm(b"1,3 1:0.5\n 2:1\n", Path("a.svm")).cells.toarray()
    array([[0.5, 0. , 1. , 1. ],
           [0. , 1. , 0. , 0. ]])
    """
    stored = _Stored(file, max_bytes)
    sizes, line = None, 1
    for block in whole_lines([data] if isinstance(data, bytes) else data, file, max_bytes):
        if line == 1:
            sizes, block = read_sizes(block)
            line = 1 if sizes is None else 2
        stored.require(len(block))
        stored.add(parse_rows(block, file, line))
        line += block.count(b"\n")
    return stored.table(sizes)


def read_sizes(block: bytes) -> tuple[tuple[int, int, int] | None, bytes]:
    r"""The numbers of rows, features and labels in the first line, if it has them, and the lines that follow.

    >>> read_sizes(b"2 5 3\n1 0:1\n"), read_sizes(b"1 2:1\n")
    (((2, 5, 3), b'1 0:1\n'), (None, b'1 2:1\n'))
    """
    first, _, rest = block.partition(b"\n")
    found = _SIZES.fullmatch(first.decode("latin-1"))
    return (None, block) if found is None else ((int(found[1]), int(found[2]), int(found[3])), rest)


class _Stored:
    """Rows of the blocks that have been read."""

    def __init__(self, file: Path, max_bytes: int) -> None:
        self.file, self.max_bytes = file, max_bytes
        self.parts: dict[str, list[NDArray[Any]]] = {field.name: [] for field in fields(Rows)}
        self.n_cells = self.n_bytes = 0

    def require(self, n_bytes: int) -> None:
        """Refuse a block whose text and numbers, with all before, would take more memory than the limit."""
        self.n_bytes += n_bytes
        what = f"text of at least {self.n_bytes:,} bytes with {self.n_cells:,} cells"
        require_memory(WORKING_BYTES * n_bytes + CELL * self.n_cells, what, self.file, self.max_bytes)

    def add(self, rows: Rows) -> None:
        for name, kept in self.parts.items():
            numbers = getattr(rows, name)
            kept.append(numbers.astype(np.int32) if numbers.dtype != np.float64 and _fits(numbers) else numbers)
        self.n_cells += len(rows.labels) + len(rows.indices)

    def table(self, sizes: tuple[int, ...] | None) -> Table:
        """All rows; ``sizes`` are the numbers of rows, features and labels in the first line."""
        n_labels, n_pairs = self._joined("n_labels"), self._joined("n_pairs")
        filled = (n_labels > 0) | (n_pairs > 0)
        if not filled.any():
            raise DatasetError("there are no rows.", "Is the file whole?", self.file)
        lines = np.arange(len(filled)) + 2  # of the rows, after the sizes
        if sizes is None or sizes[0] != len(filled):
            n_labels, n_pairs, lines = n_labels[filled], n_pairs[filled], lines[filled]
        labels, indices, values = self._joined("labels"), self._joined("indices"), self._joined("values")
        base = 0 if sizes or (len(indices) and not indices.min()) else 1
        d = int(indices.max(initial=base - 1)) + 1 - base
        known: Sequence[int]
        if sizes:
            n, wide, many = sizes
            if n != len(n_labels):
                raise DatasetError(f"its first line promises {n} rows, but {len(n_labels)} follow.", file=self.file, line=1)
            for name, numbers, counts, limit in (("feature", indices, n_pairs, wide), ("label", labels, n_labels, many)):
                if len(wrong := np.flatnonzero((numbers < 0) | (numbers >= limit))):
                    line = int(lines[np.searchsorted(np.cumsum(counts), wrong[0], side="right")])
                    message = f"{name} {numbers[wrong[0]]}: the first line promises {limit} {name}s, numbered from 0."
                    raise DatasetError(message, file=self.file, line=line)
            d, known = wide, range(many)
        else:
            distinct, labels = np.unique(labels, return_inverse=True)
            known = distinct.tolist()
            indices -= np.asarray(base, indices.dtype)
        self._require_columns(d + len(known))
        X = sparse.csr_array((values, indices, _pointers(n_pairs)), shape=(len(n_pairs), d))
        if not values.all():
            X.eliminate_zeros()
        Y = sparse.csr_array((np.ones(len(labels)), labels, _pointers(n_labels)), shape=(len(n_labels), len(known)))
        Y.sum_duplicates()
        Y.data[:] = 1  # where a row names a label twice
        columns = [Column(f"feature{i + base}") for i in range(d)] + [Column(f"label{label}") for label in known]
        return Table(self.file, tuple(columns), AdjacentCells((X, Y)), n_labels=len(known))

    def _require_columns(self, n_columns: int) -> None:
        check_width(n_columns, self.n_bytes, self.file)
        require_memory(COLUMN_BYTES * n_columns, f"a table of {n_columns:,} columns", self.file, self.max_bytes)

    def _joined(self, name: str) -> NDArray[Any]:
        parts = self.parts.pop(name)  # so that the parts are given up when they are joined
        return np.concatenate(parts) if parts else np.empty(0, np.int32)


def _fits(numbers: NDArray[np.int64]) -> bool:
    return len(numbers) == 0 or -(2**31) < int(numbers.min()) <= int(numbers.max()) < 2**31


def _pointers(counts: NDArray[Any]) -> NDArray[Any]:
    ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return ends.astype(np.int32) if ends[-1] < 2**31 else ends


def whole_lines(pieces: Iterable[bytes], file: Path, max_bytes: int) -> Iterator[bytes]:
    r"""The text of the pieces in blocks of whole lines, which end in ``\n``."""
    size = max(2**14, min(BLOCK, max_bytes // (4 * WORKING_BYTES)))
    rest, line = b"", 1
    for text in _plain_text(pieces):
        for start in range(0, len(text), size):
            rest += text[start : start + size]
            if rest.find(b"\n", 0, LONGEST_LINE + 1) < 0 and len(rest) > LONGEST_LINE:
                raise too_long_line(file, line)
            end = rest.rfind(b"\n") + 1
            if end:
                block, rest = rest[:end], rest[end:]
                refuse_nul(block, file, line)
                yield block
                line += block.count(b"\n")
    if rest:
        refuse_nul(rest, file, line)
        yield rest + b"\n"


def _plain_text(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""The pieces without a byte order mark, and with ``\n`` for ``\r\n`` and ``\r``."""
    held = b""
    for number, piece in enumerate(pieces):
        text = held + piece if number else piece.removeprefix(codecs.BOM_UTF8)
        held = b"\r" if text.endswith(b"\r") else b""  # the next piece may begin with the other half
        text = text[: len(text) - len(held)]
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    yield held.replace(b"\r", b"\n")
