"""Data files as bytes and text: decompression, encodings, and the memory that reading may take.

:func:`open_content` opens a file once; its content is read whole or in pieces. The functions ``require_...`` refuse a file
before the memory for it is allocated.
"""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from labelsieve.errors import DatasetError, InputError, whole_number
from labelsieve.resources import available_memory

PIECE = 2**20  # bytes of content that are read at a time
LOOK = 2**16  # bytes at the start of a file by which its format is recognized
SAMPLED = 16  # of so many pieces the cells of one are counted while a file is decompressed
LONGEST_LINE = 2**24  # bytes; a row of text takes many times its length while it is read

_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_NO_FILES: dict[str, Callable[[int], bool]] = {
    "a folder": stat.S_ISDIR,
    "a named pipe": stat.S_ISFIFO,
    "a socket": stat.S_ISSOCK,
    "a device": lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode),
}


@contextmanager
def open_content(path: str | os.PathLike[str]) -> Iterator["Content"]:
    """Open a regular file for reading; a pipe or a device, which could go on forever, is refused before it is opened."""
    path = Path(path)
    mode = path.stat().st_mode
    kind = next((kind for kind, applies in _NO_FILES.items() if applies(mode)), None)
    if kind is not None:
        link = f", a link to {path.resolve()}," if path.is_symlink() else ""
        raise DatasetError(f"this{link} is {kind}, not a file.", "Write its content to a file and pass that.", path)
    with path.open("rb", buffering=0) as raw:  # a buffer would copy the whole content once more
        yield Content(raw, path)


def read_bytes(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Read the whole content of a file; see :meth:`Content.read`."""
    with open_content(path) as content:
        return content.read(max_bytes)


def read_pieces(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Read the content of a file in pieces of about a megabyte."""
    with open_content(path) as content:
        yield from content.pieces()


class Content:
    """The content of an open file, decompressed if it is gzip, bzip2, xz or (with the package ``zstandard``) zstd.

    ``start`` are at least the first :data:`LOOK` bytes, by which the format is recognized. After that the content is read once,
    whole or in pieces.
    """

    def __init__(self, raw: BinaryIO, path: Path) -> None:
        self._raw, self._path = raw, path
        magic = raw.read(6)
        raw.seek(0)
        self._is_packed = magic.startswith((*_OPENERS, _ZSTANDARD))
        self._rest = self._decompressed(magic) if self._is_packed else iter(lambda: raw.read(PIECE), b"")
        self.start = b""
        while len(self.start) < LOOK and (piece := next(self._rest, None)) is not None:
            self.start += piece

    def pieces(self) -> Iterator[bytes]:
        """Read the content in pieces of about a megabyte."""
        return chain([self.start], self._rest)

    def read(self, max_bytes: int) -> bytes:
        """Read the whole content.

        Content of more than half of ``max_bytes`` is refused, and text whose cells would take more than that, before it is
        decompressed further.
        """
        size = os.fstat(self._raw.fileno()).st_size
        if size and not self._is_packed:
            self._require(size, max_bytes)
            self._raw.seek(0)
            return self._raw.read(size)
        content, size = io.BytesIO(), 0  # getvalue() returns its memory; a join of pieces would copy them once more
        n_cells = sampled = 0
        for number, piece in enumerate(self.pieces()):
            size += len(piece)
            self._require(size, max_bytes)
            if number % SAMPLED == 0:
                n_cells += max(map(piece.count, (b",", b";", b"\t"))) + piece.count(b"\n")
                sampled += len(piece)
                _require_content(size, n_cells * size // max(sampled, 1), self._path, max_bytes, at_least="at least ")
            content.write(piece)
        return content.getvalue()

    def _require(self, size: int, max_bytes: int) -> None:
        if 2 * size <= max_bytes:
            return
        packed = os.fstat(self._raw.fileno()).st_size
        unpacked = f" ({packed:,} bytes decompress to at least {size:,})" if packed < size else f" ({size:,})"
        raise DatasetError(
            f"its content is longer than {max_bytes // 2:,} bytes{unpacked}, and reading takes at least twice as much memory.",
            f"If that is right, pass max_bytes= with a larger number, or set the variable {LIMIT_VARIABLE}.",
            self._path,
        )

    def _decompressed(self, magic: bytes) -> Iterator[bytes]:
        try:
            if magic.startswith(_ZSTANDARD):
                yield from self._unpack_zstandard()
                return
            stream = next(opener for start, opener in _OPENERS.items() if magic.startswith(start))(self._raw)
            while piece := stream.read(PIECE):
                yield piece
        except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
            raise self._broken(error) from error
        except OSError as error:  # bz2 has no error class of its own
            if error.errno is not None:
                raise
            raise self._broken(error) from error

    def _unpack_zstandard(self) -> Iterator[bytes]:
        if find_spec("zstandard") is None:
            raise DatasetError("reading zstd needs the package zstandard.", "pip install 'labelsieve[zstd]'", self._path)
        zstandard = import_module("zstandard")
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        # A small step, as nothing bounds how much one step unpacks to.
        while packed := self._raw.read(PIECE // 64):
            while packed:
                if unpacker.eof:  # the next frame
                    unpacker = zstandard.ZstdDecompressor().decompressobj()
                try:
                    yield unpacker.decompress(packed)
                except zstandard.ZstdError as error:
                    raise self._broken(error) from error
                packed = unpacker.unused_data if unpacker.eof else b""
        if not unpacker.eof:
            raise EOFError("the last frame has no end")

    def _broken(self, error: Exception) -> DatasetError:
        return DatasetError(f"the archive is cut short or damaged ({error}).", "Fetch the file again.", self._path)


def utf8_text(data: bytes, file: Path) -> bytes:
    r"""Convert text to UTF-8 with ``\n`` line ends and without a byte order mark.

    UTF-16 is known by its byte order mark. What is not UTF-8 otherwise is taken as Latin-1, the encoding of older files of the
    field.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            data = data.decode("utf-16").encode("utf-8")
        except UnicodeError as error:
            raise DatasetError(f"it begins as UTF-16 and is not ({error}).", "Save it as UTF-8.", file) from error
    _refuse_nul(data, file, 1)
    # Lines that are too long are found by looking at one byte in many.
    start = 0
    while len(data) - start > LONGEST_LINE:
        end = data.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            end = data.rfind(b"\r", start, start + LONGEST_LINE + 1)
        if end < 0:
            raise _too_long_line(file, data.count(b"\n", 0, start) + 1)
        start = end + 1
    if not data.isascii():
        data = data.removeprefix(codecs.BOM_UTF8)
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            data = data.decode("latin-1").encode("utf-8")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def decode(data: bytes, file: Path) -> str:
    """Convert text to a string, by the rules of :func:`utf8_text`."""
    return utf8_text(data, file).decode("utf-8")


def whole_lines(pieces: Iterable[bytes], file: Path, size: int) -> Iterator[bytes]:
    r"""Rearrange pieces of text into blocks of whole lines, which end in ``\n``; about ``size`` bytes, or the longest line."""
    rest, line = b"", 1
    for text in _plain_line_ends(pieces):
        for start in range(0, len(text), size):
            rest += text[start : start + size]
            if rest.find(b"\n", 0, LONGEST_LINE + 1) < 0 and len(rest) > LONGEST_LINE:
                raise _too_long_line(file, line)
            end = rest.rfind(b"\n") + 1
            if end:
                block, rest = rest[:end], rest[end:]
                _refuse_nul(block, file, line)
                yield block
                line += block.count(b"\n")
    if rest:
        _refuse_nul(rest, file, line)
        yield rest + b"\n"


def _plain_line_ends(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Remove a byte order mark from the pieces, and write ``\n`` for ``\r\n`` and ``\r``."""
    held = b""
    for number, piece in enumerate(pieces):
        text = held + piece if number else piece.removeprefix(codecs.BOM_UTF8)
        held = b"\r" if text.endswith(b"\r") else b""  # the next piece may begin with the other half
        text = text[: len(text) - len(held)]
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    yield held.replace(b"\r", b"\n")


def _refuse_nul(data: bytes, file: Path, first_line: int) -> None:
    nul = data.find(b"\0")
    if nul >= 0:
        raise DatasetError(
            "there is a NUL byte, so this is not text in UTF-8 or Latin-1.",
            "Is the file damaged, or in UTF-16? Save it as UTF-8.",
            file,
            data.count(b"\n", 0, nul) + first_line,
        )


def _too_long_line(file: Path, line: int) -> DatasetError:
    remedy = "Are its line ends lost? Rows of millions of values are for Parquet or MATLAB files."
    return DatasetError(f"it is longer than {LONGEST_LINE:,} bytes.", remedy, file, line)


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
    """Return ``max_bytes``, else $LABELSIEVE_MAX_BYTES, else 4 GiB or the available memory, whichever is less."""
    if max_bytes is not None:
        return whole_number(max_bytes, "max_bytes", 1, 2**62)
    if named := os.environ.get(LIMIT_VARIABLE):
        return read_size(named, LIMIT_VARIABLE)
    free = available_memory()
    return DEFAULT_LIMIT if free is None else min(DEFAULT_LIMIT, free)


def read_size(text: str, what: str) -> int:
    """Read a number of bytes as people write it; ``what`` is named in the error.

    >>> read_size("8G", "--max-bytes"), read_size("500 MB", "--max-bytes"), read_size("1000", "--max-bytes")
    (8589934592, 524288000, 1000)
    """
    found = _SIZE.fullmatch(text.strip())
    if not found or not float(found[1]):
        raise InputError(f"{what}: {text!r} is not a number of bytes such as 500M or 8G.")
    return int(float(found[1]) * _UNITS[(found[2] or "").lower()])


def in_words(n_bytes: int) -> str:
    """Write a number of bytes for messages.

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
    """Refuse a table of so many cells of ``cell`` bytes each, with ``content`` bytes of the file in memory."""
    needed = content + cell * n_rows * n_columns + COLUMN * n_columns
    require_memory(needed, f"a table of {n_rows:,} rows and {n_columns:,} columns", file, limit)


def require_text(data: bytes, marks: bytes, file: Path, limit: int, *, cell: int = CELL, copies: int = 2) -> None:
    """Refuse text that is in memory ``copies`` times, and whose cells, which end in one of ``marks``, take ``cell`` bytes."""
    if (copies + cell) * len(data) > limit:  # else it fits even if every byte is a cell
        n_cells = sum(data.count(bytes([mark])) for mark in marks)
        _require_content(len(data), n_cells, file, limit, cell=cell, copies=copies)


def _require_content(
    size: int, n_cells: int, file: Path, limit: int, *, cell: int = CELL, copies: int = 2, at_least: str = ""
) -> None:
    what = f"text of {at_least}{size:,} bytes with {n_cells:,} cells"
    require_memory(copies * size + cell * n_cells, what, file, limit)


class TextBudget:
    """Adds up the distinct texts of the columns of a file, whose number shows only when a column has been parsed."""

    def __init__(self, file: Path, limit: int) -> None:
        self.file, self.limit, self.n_texts = file, limit, 0

    def add(self, n_texts: int) -> None:
        """Refuse the file if its texts would take too much memory as objects."""
        self.n_texts += n_texts
        require_memory(TEXT * self.n_texts, f"a table with {self.n_texts:,} or more different texts", self.file, self.limit)
