r"""Files of libsvm with many labels: ``1,3 5:0.2 7:1`` is a row with labels 1 and 3."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.column_table import Column, Table, check_width
from labelsieve.datasets.readers.file_bytes import decode
from labelsieve.datasets.readers.memory_budget import DEFAULT_LIMIT, PYTHON_CELL, require_text

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
    start = data[: 2**16].decode("latin-1")
    if len(data) > 2**16:
        start = start.rpartition(" ")[0]  # whole words only
    lines = [line for line in start.splitlines()[:3] if line.strip()]
    rows = lines[1:] if lines and _SIZES.fullmatch(lines[0]) else lines
    return bool(rows) and all(_ROW.fullmatch(line) for line in rows) and any(":" in line.partition("#")[0] for line in rows)


def parse_libsvm(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read rows of labels and ``index:value`` pairs; a first line of three numbers gives rows, features and labels.

    Features count from 1, unless an index 0 occurs or the first line gives the sizes: then from 0.

    >>> parse_libsvm(b"1,3 1:0.5\n 2:1\n", Path("a.svm")).cells.toarray()
    array([[0.5, 0. , 1. , 1. ],
           [0. , 1. , 0. , 0. ]])
    """
    require_text(data, b":,\r\n", file, max_bytes, cell=PYTHON_CELL, copies=5)
    lines = decode(data, file).split("\n")
    sizes = _SIZES.fullmatch(lines[0])
    labels: list[tuple[int, ...]] = []
    positions: list[int] = []
    cells: list[float] = []
    ends = [0]
    for number, line in enumerate(lines[1 if sizes else 0 :], 2 if sizes else 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            row_labels = () if ":" in words[0] else tuple(map(int, words.pop(0).split(",")))
            pairs = [word.split(":") for word in words]
            positions.extend(int(position) for position, _ in pairs)
            cells.extend(float(cell) for _, cell in pairs)
        except ValueError:
            raise DatasetError(
                f"{line.strip()[:40]!r} is not of the form 1,3 5:0.2 7:1 (labels, then index:value).", file=file, line=number
            ) from None
        row = positions[ends[-1] :]
        if any(second <= first for first, second in pairwise(row)) or (row and row[0] < 0):
            raise DatasetError("its indices do not rise.", "Sort them; none may be twice.", file, number)
        labels.append(row_labels)
        ends.append(len(positions))
    if not labels:
        raise DatasetError("there are no rows.", "Is the file whole?", file)
    base = 0 if sizes or (positions and min(positions) == 0) else 1
    d = max(positions, default=0) + 1 - base
    known = sorted({label for row_labels in labels for label in row_labels})
    if sizes:
        n, wide, many = map(int, sizes.groups())
        if n != len(labels) or d > wide or (known and not 0 <= known[0] <= known[-1] < many):
            raise DatasetError(
                f"its first line promises {n} rows, {wide} features and {many} labels, and that is not what follows.",
                file=file,
                line=1,
            )
        check_width(wide + many, len(data), file)
        d, known = wide, list(range(many))
    check_width(d + len(known), len(data), file)
    X = sparse.csr_array((cells, np.array(positions, np.int64) - base, ends), shape=(len(labels), d))
    X.eliminate_zeros()
    column = {label: position for position, label in enumerate(known)}
    marks = [column[label] for row_labels in labels for label in sorted(set(row_labels))]
    stops = np.concatenate([[0], np.cumsum([len(set(row_labels)) for row_labels in labels])])
    Y = sparse.csr_array((np.ones(len(marks)), np.array(marks, np.int64), stops), shape=(len(labels), len(known)))
    names = [Column(f"feature{i + base}") for i in range(d)] + [Column(f"label{label}") for label in known]
    return Table(file, tuple(names), sparse.hstack([X, Y], format="csr"), n_labels=len(known))
