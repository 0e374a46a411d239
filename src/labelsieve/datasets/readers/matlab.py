"""MATLAB files of version 5, in which the toolboxes of the field keep their data.

scipy's reader trusts sizes and types, and a damaged file can bring the whole process down, so :func:`check_elements` looks at
the elements of a file first.
"""

import io
import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets.readers.columns import Column, Table, check_width
from labelsieve.datasets.readers.files import CELL, DEFAULT_LIMIT, LIMIT_VARIABLE, require_cells
from labelsieve.errors import DatasetError, some_of
from labelsieve.tables.types import Matrix, dense_array, is_sparse

HEADER = 128
MATRIX, PACKED = 14, 15
WIDTHS = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}  # bytes of each type of number
SPARSE, NUMBERS = 5, range(6, 16)  # classes of arrays; cells, structures, objects and text come before and after

FREE_ROWS = 2**20  # of a sparse matrix. Memory is taken for each, so beyond this the file must have a byte for each
# Names of features and labels of the parts of the data, and whether the labels are q x n by custom (it matters when q = n).
_PARTS = (
    (("train_data", "train_target", True), ("test_data", "test_target", True)),
    (("data", "target", True),),
    (("x", "y", False),),
    (("features", "labels", False),),
)
_NOT_NUMBERS = frozenset({"cell", "struct", "object", "char", "function", "opaque", "unknown"})


def parse_matlab(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    """Read ``data`` and ``target`` (or ``X`` and ``Y``, or parts ``train_data``, ..., joined) of a MATLAB file.

    Labels may lie in rows or in columns, as 0 and 1 or as -1 and 1. No variable may take more than ``max_bytes``.
    """
    if not data.startswith(b"MATLAB 5.0"):
        raise DatasetError("this is a MATLAB file of version 7.3.", "Save it with save(..., '-v7').", file)
    blocks = []
    for variables, transposed in _read_variables(data, file, max_bytes):
        (features, X), (labels, Y) = ((name, _matrix(value, name, file)) for name, value in variables.items())
        n_rows = X.shape[0]
        if n_rows not in Y.shape:
            raise DatasetError(f"{features} is {X.shape} and {labels} is {Y.shape}: no common side.", file=file)
        if Y.shape[1] == n_rows and (transposed or Y.shape[0] != n_rows):
            Y = Y.T
        if not n_rows:
            raise DatasetError(f"{features} has no rows.", "Is the file whole?", file)
        check_width(X.shape[1] + Y.shape[1], _memory(X) + _memory(Y), file)
        blocks.append((X, _zero_one(Y)))
    d, q = blocks[0][0].shape[1], blocks[0][1].shape[1]
    if any((X.shape[1], Y.shape[1]) != (d, q) for X, Y in blocks):
        raise DatasetError("its train and test parts have different columns.", file=file)
    if any(is_sparse(X) for X, _ in blocks):
        cells = sparse.csr_array(sparse.vstack([sparse.hstack(block, format="csr") for block in blocks]))
    else:
        require_cells(sum(len(X) for X, _ in blocks), d + q, file, max_bytes)
        cells = np.vstack([np.hstack([X, dense_array(Y)]) for X, Y in blocks])
    columns = [Column(f"feature{i + 1}") for i in range(d)] + [Column(f"label{i + 1}") for i in range(q)]
    return Table(file, tuple(columns), cells, n_labels=q)


def _read_variables(data: bytes, file: Path, max_bytes: int) -> list[tuple[dict[str, Any], bool]]:
    """Read features and labels, by their names, of each part of the data, and whether labels are q x n by custom."""
    from scipy import io as scipy_io

    try:
        check_elements(data, max_bytes)
        listed = scipy_io.whosmat(io.BytesIO(data))
        known = {name.lower(): name for name, _, _ in listed}
        parts = next((parts for parts in _PARTS if all(name in known for part in parts for name in part[:2])), None)
        if parts is None:
            raise DatasetError(
                f"there are no variables 'data' and 'target'; there are {some_of(list(known.values()))}.",
                "Rename them: data is n x d, target is q x n.",
                file,
            )
        wanted = [known[name] for part in parts for name in part[:2]]
        for name, _, kind in listed:
            if name in wanted and kind in _NOT_NUMBERS:  # nor is it sure that these can be read safely
                raise _no_matrix(name, file)
        found = scipy_io.loadmat(io.BytesIO(data), struct_as_record=True, variable_names=wanted)
        return [({known[name]: found[known[name]] for name in part[:2]}, part[2]) for part in parts]
    except (MemoryError, DatasetError):
        raise
    except TooLong as error:
        raise DatasetError(
            f"{error}, and {max_bytes:,} is the most.",
            f"If that is right, pass max_bytes= with a larger number, or set the variable {LIMIT_VARIABLE}.",
            file,
        ) from error
    except Exception as error:  # a damaged file brings out errors of every kind
        raise DatasetError(f"it cannot be read as MATLAB 5 ({error}).", "Fetch the file again.", file) from error


def _no_matrix(name: str, file: Path) -> DatasetError:
    return DatasetError(f"variable {name!r} is not a matrix of numbers.", "Save it as a plain matrix.", file)


def _matrix(value: Any, name: str, file: Path) -> Any:
    kind = getattr(value, "dtype", np.dtype(object)).kind
    if kind not in "biuf" or value.ndim != 2:
        raise _no_matrix(name, file)
    if not sparse.issparse(value):
        return value.astype(np.float64)
    try:
        value.check_format(full_check=True)  # indices out of range would be written to
    except ValueError as error:
        raise DatasetError(f"variable {name!r} is damaged ({error}).", "Fetch the file again.", file) from error
    return sparse.csr_array(value, dtype=np.float64)


def _memory(values: Matrix) -> int:
    """Return the bytes of an unpacked matrix, because a packed file may have fewer bytes than columns."""
    if isinstance(values, np.ndarray):
        return int(values.nbytes)
    return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)


def _zero_one(Y: Matrix) -> Matrix:
    """Convert labels of -1 and 1 to 0 and 1; others stay as they are."""
    if is_sparse(Y) and Y.nnz < Y.shape[0] * Y.shape[1]:
        return Y  # has zeros
    cells = dense_array(Y)
    return (cells > 0).astype(np.float64) if (cells == -1).any() and np.isin(cells, (-1, 1)).all() else Y


class TooLong(ValueError):
    """A variable that would take more memory than is allowed."""


def check_elements(data: bytes, max_bytes: int = DEFAULT_LIMIT) -> None:
    """Raise a ValueError that says what is wrong with the elements of the file, if anything is.

    It is a :class:`TooLong` when a variable would take more than ``max_bytes``, unpacked or as a table of numbers. A packed
    one is never unpacked further than the length that it declares.
    """
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ValueError("its header is damaged")
    position = HEADER
    while position < len(data):
        kind, size = struct.unpack(order + "II", _slice(data, position, 8))
        content = _slice(data, position + 8, size)
        if kind == PACKED:
            kind, content = _unpacked(content, order, max_bytes)
        if kind != MATRIX:
            raise ValueError(f"an element is of the unknown type {kind}")
        _check_matrix(content, order, max_bytes)
        position += 8 + size


def _unpacked(packed: bytes, order: str, max_bytes: int) -> tuple[int, bytes]:
    """Unpack an element: its type and its content."""
    unpacker = zlib.decompressobj()
    try:
        head = unpacker.decompress(packed, 8)
        kind, size = struct.unpack(order + "II", _slice(head, 0, 8))
        if size > max_bytes:
            raise TooLong(f"a variable unpacks to {size:,} bytes")
        content = unpacker.decompress(unpacker.unconsumed_tail, size) if size else b""
        if len(content) < size:
            raise ValueError("a variable is cut short")
        # The checksum follows, and nothing else may.
        if unpacker.decompress(unpacker.unconsumed_tail, 1) or not unpacker.eof:
            raise ValueError("a variable is cut short, or longer than it says")
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return kind, content


def _slice(data: bytes, start: int, size: int) -> bytes:
    if start + size > len(data):
        raise ValueError("it is cut short")
    return data[start : start + size]


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Iterate over types and contents of the elements of a matrix; short ones have both in their first eight bytes."""
    position = 0
    while position < len(data):
        kind, size = struct.unpack(order + "II", _slice(data, position, 8))
        if kind >> 16:
            if kind >> 16 > 4:
                raise ValueError("a short element is longer than four bytes")
            yield kind & 0xFFFF, _slice(data, position + 4, kind >> 16)
            position += 8
        else:
            yield kind, _slice(data, position + 8, size)
            position += 8 + size + -size % 8


def _check_matrix(data: bytes, order: str, max_bytes: int) -> None:
    elements = list(_elements(data, order))
    kinds = [kind for kind, _ in elements]
    if kinds[:3] != [6, 5, 1] or len(elements[0][1]) != 8 or len(elements[1][1]) % 4:
        raise ValueError("a variable does not start with its class, size and name")
    flags = struct.unpack(order + "II", elements[0][1])[0]
    sizes = struct.unpack(f"{order}{len(elements[1][1]) // 4}i", elements[1][1])
    if len(sizes) < 2 or min(sizes) < 0:
        raise ValueError(f"a variable has the size {sizes}")
    array = flags & 0xFF
    if array == SPARSE and max(sizes) > max(FREE_ROWS, len(data)):
        raise ValueError(f"a sparse variable has the size {sizes}")
    if array not in NUMBERS and array != SPARSE:
        return  # never loaded
    if array != SPARSE and CELL * math.prod(sizes) > max_bytes:
        raise TooLong(f"a variable of the size {sizes} takes {CELL * math.prod(sizes):,} bytes")
    values = elements[3:]
    if any(kind not in WIDTHS or len(content) % WIDTHS[kind] for kind, content in values):
        raise ValueError("a variable holds numbers of an unknown type")
    expected = (3 if array == SPARSE else 1) + bool(flags & 0x800)
    if len(values) != expected:
        raise ValueError("a variable has too many parts, or too few")
    if array != SPARSE and any(len(content) // WIDTHS[kind] != math.prod(sizes) for kind, content in values):
        raise ValueError(f"a variable of size {sizes} has another number of values")
