"""Is a MATLAB 5 file sound? scipy's reader trusts sizes and types, and a damaged file can bring the whole process down."""

import math
import struct
import zlib
from collections.abc import Iterator

from labelsieve.datasets.readers.file_bytes import MAX_BYTES

HEADER = 128
MATRIX, PACKED = 14, 15
WIDTHS = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}  # bytes of each type of number
SPARSE, NUMBERS = 5, range(6, 16)  # classes of arrays; cells, structures, objects and text come before and after

CELL = 8  # bytes of a number once it is read, however few the file spends on it
FREE_ROWS = 2**20  # of a sparse matrix. Memory is taken for each, so beyond this the file must have a byte for each


class TooLong(ValueError):
    """A variable that would take more memory than is allowed."""


def check_elements(data: bytes, max_bytes: int = MAX_BYTES) -> None:
    """Raise a ValueError that says what is wrong with the elements of the file, if anything is.

    It is a :class:`TooLong` when a variable would take more than ``max_bytes``, unpacked or as numbers of eight bytes. A packed
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
    """Type and content of a packed element."""
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
    """Types and contents of the elements of a matrix; short ones have both in their first eight bytes."""
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
        raise TooLong(f"a variable has the size {sizes}, {CELL * math.prod(sizes):,} bytes")
    values = elements[3:]
    if any(kind not in WIDTHS or len(content) % WIDTHS[kind] for kind, content in values):
        raise ValueError("a variable holds numbers of an unknown type")
    expected = (3 if array == SPARSE else 1) + bool(flags & 0x800)
    if len(values) != expected:
        raise ValueError("a variable has too many parts, or too few")
    if array != SPARSE and any(len(content) // WIDTHS[kind] != math.prod(sizes) for kind, content in values):
        raise ValueError(f"a variable of size {sizes} has another number of values")
