"""One limit for the memory that reading a file takes, checked before the memory is allocated.

Every reader estimates what it needs from the size of the content and the number of cells, by the figures below.
"""

import os
import re
from pathlib import Path

from labelsieve.counting.resources import available_memory
from labelsieve.errors import DatasetError, InputError, whole_number

DEFAULT_LIMIT = 4 * 2**30
LIMIT_VARIABLE = "LABELSIEVE_MAX_BYTES"
# Bytes of one cell at the peak: as the parser returns it, as float64, and in X or Y.
CELL = 24
PYTHON_CELL = 120  # of a cell that is a Python string or number at first
TEXT = 400  # of a distinct text of a column: as an object, in the values of the column and in the table of its codes
COLUMN = 2**12  # of one column, for its name, buffers and objects

_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,6})?)\s*(?:([kmgt]?)i?b?)?", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def memory_limit(max_bytes: int | None = None) -> int:
    """``max_bytes``, else $LABELSIEVE_MAX_BYTES, else 4 GiB or the available memory, whichever is less."""
    if max_bytes is not None:
        return whole_number(max_bytes, "max_bytes", 1, 2**62)
    if named := os.environ.get(LIMIT_VARIABLE):
        return read_size(named, LIMIT_VARIABLE)
    free = available_memory()
    return DEFAULT_LIMIT if free is None else min(DEFAULT_LIMIT, free)


def read_size(text: str, what: str) -> int:
    """A number of bytes as people write it.

    >>> read_size("8G", "--max-bytes"), read_size("500 MB", "--max-bytes"), read_size("1000", "--max-bytes")
    (8589934592, 524288000, 1000)
    """
    found = _SIZE.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise InputError(f"{what}: {text!r} is not a number of bytes such as 500M or 8G.")
    return int(float(found[1]) * _UNITS[(found[2] or "").lower()])


def in_words(n_bytes: int) -> str:
    """A number of bytes for messages.

    >>> in_words(13_400_000_000), in_words(999)
    ('13.4 GB', '999 bytes')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.1f} {unit}"
    return f"{n_bytes:,} bytes"


def require_memory(n_bytes: int, what: str, file: str | os.PathLike[str], limit: int) -> None:
    """Refuse a file whose reading would take more than ``limit``; ``what`` is the size that says so."""
    if n_bytes > limit:
        raise DatasetError(
            f"{what} takes about {in_words(n_bytes)} of memory to read, and the limit is {in_words(limit)}.",
            f"If the file is right, pass max_bytes={n_bytes} or more, or set the variable {LIMIT_VARIABLE}.",
            Path(file),
        )


def require_cells(n_rows: int, n_columns: int, file: Path, limit: int, *, cell: int = CELL, content: int = 0) -> None:
    """The same for a table of this size and its ``content`` in bytes."""
    needed = content + cell * n_rows * n_columns + COLUMN * n_columns
    require_memory(needed, f"a table of {n_rows:,} rows and {n_columns:,} columns", file, limit)


class TextBudget:
    """Adds up the distinct texts of the columns of a file, whose number shows only when a column has been parsed."""

    def __init__(self, file: Path, limit: int) -> None:
        self.file, self.limit, self.n_texts = file, limit, 0

    def add(self, n_texts: int) -> None:
        """Refuse the file if its texts would take too much memory as objects."""
        self.n_texts += n_texts
        require_memory(TEXT * self.n_texts, f"a table with {self.n_texts:,} or more different texts", self.file, self.limit)


def require_text(data: bytes, marks: bytes, file: Path, limit: int, *, cell: int = CELL, copies: int = 2) -> None:
    """The same for text whose cells end in one of ``marks``, and which is in memory ``copies`` times."""
    if (copies + cell) * len(data) <= limit:  # also if every byte were a cell
        return
    require_content(len(data), count_cells(data, marks), file, limit, cell=cell, copies=copies)


def require_content(
    size: int, n_cells: int, file: str | os.PathLike[str], limit: int, *, cell: int = CELL, copies: int = 2, whole: bool = True
) -> None:
    """The same for text of ``size`` bytes with ``n_cells`` cells; not the ``whole`` text while it is decompressed."""
    what = f"text of {'' if whole else 'at least '}{size:,} bytes with {n_cells:,} cells"
    require_memory(copies * size + cell * n_cells, what, file, limit)


def count_cells(data: bytes, marks: bytes | None = None) -> int:
    r"""How often ``marks`` occur; by default a line end or the most frequent delimiter of tables.

    >>> count_cells(b"a;b\n1,5;2\n")
    4
    """
    if marks is not None:
        return sum(data.count(bytes([mark])) for mark in marks)
    return max(map(data.count, (b",", b";", b"\t"))) + data.count(b"\n")
