"""Codes as columns of bits, in the layouts that the kernels of the GPU backend read.

Everything here is written for an array module ``xp``, CuPy or numpy: the same packing runs on a GPU and in tests without one.
A stage is 1,024 rows, 32 words of 32 bits. Of a variable with ``r`` levels, level 0 is left out: it has ``r - 1`` columns.
"""

from types import ModuleType
from typing import Any

from labelsieve.table_types import DeviceArray

BIT_LEVELS = 16  # variables with more are counted as codes
STAGE = 1024  # rows
WORDS = STAGE // 32
BLOCK = 64  # columns of features that lie together
AT_ONCE = 2**30  # bits that are packed at once; CuPy packs fewer than 2^31
MOST_COLUMNS = 112  # of the targets in one block of counts; the last one is 1 in every row


def n_stages(n_rows: int) -> int:
    """Stages of ``n_rows`` rows.

    >>> n_stages(1024), n_stages(1025)
    (1, 2)
    """
    return -(-n_rows // STAGE)


def pad_rows(xp: ModuleType, codes: DeviceArray) -> Any:
    """Codes of whole stages: rows of level 0 behind the last one, which no column counts."""
    n_columns, n_rows = codes.shape
    width = n_stages(n_rows) * STAGE
    if n_rows == width:
        return codes
    padded = xp.zeros((n_columns, width), dtype=codes.dtype)
    padded[:, :n_rows] = codes
    return padded


def pack_plain(xp: ModuleType, codes: DeviceArray, n_levels: int) -> Any:
    """Bits of codes of shape (columns, rows) with the same number of levels: ``[column, level - 1][stage][word]``."""
    codes = pad_rows(xp, codes)
    n_columns, n_rows = len(codes) * (n_levels - 1), codes.shape[1]
    levels = xp.arange(1, n_levels, dtype=codes.dtype)
    step = max(1, AT_ONCE // (n_columns * STAGE)) * STAGE
    parts = []
    for start in range(0, n_rows, step):
        is_level = codes[:, None, start : start + step] == levels[None, :, None]
        words = xp.packbits(is_level.reshape(-1), bitorder="little").view(xp.uint32)
        parts.append(words.reshape(n_columns, -1, WORDS))
    return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=1)


def to_fragments(xp: ModuleType, plain: DeviceArray) -> Any:
    """Blocks of 64 plain columns in the order in which the threads of a warp group hold them: ``[block][stage][2048]``."""
    n_columns, stages, _ = plain.shape
    n_blocks = -(-n_columns // BLOCK)
    if n_columns < n_blocks * BLOCK:
        plain = xp.concatenate([plain, xp.zeros((n_blocks * BLOCK - n_columns, stages, WORDS), dtype=xp.uint32)])
    split = plain.reshape(n_blocks, 4, 8, 2, stages, 4, 2, 4)
    return split.transpose(0, 4, 1, 5, 2, 7, 6, 3).reshape(n_blocks, stages, BLOCK * WORDS)


def from_fragments(xp: ModuleType, blocks: DeviceArray) -> Any:
    """Plain columns of blocks: the inverse of :func:`to_fragments`."""
    n_blocks, stages, _ = blocks.shape
    split = blocks.reshape(n_blocks, stages, 4, 4, 8, 4, 2, 2)
    return xp.ascontiguousarray(split.transpose(0, 2, 4, 7, 1, 3, 6, 5)).reshape(n_blocks * BLOCK, stages, WORDS)


def unpack_codes(xp: ModuleType, plain: DeviceArray, n_levels: int, n_rows: int) -> Any:
    """Codes, as uint16, of plain columns: the inverse of :func:`pack_plain`."""
    n_variables = len(plain) // (n_levels - 1)
    bits = xp.unpackbits(plain.reshape(-1).view(xp.uint8), bitorder="little")
    bits = bits.reshape(n_variables, n_levels - 1, -1)[:, :, :n_rows]
    codes = xp.zeros((n_variables, n_rows), dtype=xp.uint16)
    for level in range(1, n_levels):
        codes += bits[:, level - 1] * xp.uint16(level)
    return codes


def all_rows(xp: ModuleType, n_rows: int) -> Any:
    """A plain column that is 1 in every row."""
    return pack_plain(xp, xp.ones((1, n_rows), dtype=xp.uint8), 2)


def to_swizzled(xp: ModuleType, plain: DeviceArray) -> Any:
    """Up to 112 plain columns as the tensor cores read them from shared memory: ``[stage][112][128 bytes]``, swizzled."""
    n_columns, stages, _ = plain.shape
    chunks = xp.zeros((MOST_COLUMNS, stages, 8, 4), dtype=xp.uint32)  # of 16 bytes
    chunks[:n_columns] = plain.reshape(n_columns, stages, 8, 4)
    line, chunk = xp.arange(MOST_COLUMNS)[:, None], xp.arange(8)
    return xp.ascontiguousarray(chunks.transpose(1, 0, 2, 3)[:, line, chunk ^ line % 8])


def rows_of_fragments(xp: ModuleType, fragments: DeviceArray, stages: slice) -> Any:
    """Some stages of the fragments of a condition, in the same order: passes of four levels, stages, levels."""
    padded, n_all, _ = fragments.shape
    flat, parts = fragments.reshape(-1), []
    for first in range(0, padded, 4):
        width = min(4, padded - first)
        of_pass = flat[first * n_all * WORDS :][: width * n_all * WORDS].reshape(n_all, width * WORDS)
        parts.append(of_pass[stages].reshape(-1))
    return xp.concatenate(parts).reshape(padded, -1, WORDS)


def padded_levels(n_levels: int) -> int:
    """Columns of a condition in passes of 4, 4, ..., and 1, 2 or 4 in the last one.

    >>> [padded_levels(n) for n in (2, 3, 4, 5, 6)]
    [1, 2, 4, 4, 5]
    """
    columns = n_levels - 1
    return columns + (columns % 4 == 3)
