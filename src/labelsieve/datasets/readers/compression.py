"""The bytes of a file, whether it is compressed or not; the first bytes tell, not the name."""

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from labelsieve.datasets.dataset_error import DatasetError

MAX_BYTES = 8 * 2**30  # a small archive can unpack to more than any machine holds
CHUNK = 2**20

_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a file, unpacked if it is gzip, bzip2, xz or (with the package ``zstandard``) zstd.

    Parameters
    ----------
    path : path
    max_bytes : int
        Refuse content that is longer than this, before it fills the memory.
    """
    path = Path(path)
    with path.open("rb") as raw:
        magic = raw.read(6)
        raw.seek(0)
        chunks = _chunks(raw, magic, path)
        parts, size = [], 0
        try:
            for chunk in chunks:
                size += len(chunk)
                if size > max_bytes:
                    raise DatasetError(
                        f"its content is longer than {max_bytes:,} bytes.",
                        file=path,
                        remedy="If that is right, pass a larger max_bytes=.",
                    )
                parts.append(chunk)
        except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
            raise _broken(path, error) from error
        except OSError as error:  # bz2 has no error of its own
            if error.errno is not None:
                raise
            raise _broken(path, error) from error
    return b"".join(parts)


def _broken(path: Path, error: Exception) -> DatasetError:
    return DatasetError(f"the archive is cut short or damaged ({error}).", file=path, remedy="Fetch the file again.")


def _chunks(raw: BinaryIO, magic: bytes, path: Path) -> Iterator[bytes]:
    if magic.startswith(_ZSTANDARD):
        yield from _unpack_zstandard(raw, path)
        return
    opener = next((opener for start, opener in _OPENERS.items() if magic.startswith(start)), None)
    stream = raw if opener is None else opener(raw)
    while chunk := stream.read(CHUNK):
        yield chunk


def _unpack_zstandard(raw: BinaryIO, path: Path) -> Iterator[bytes]:
    if find_spec("zstandard") is None:
        raise DatasetError("reading zstd needs the package zstandard.", file=path, remedy="pip install 'labelsieve[zstd]'")
    zstandard = import_module("zstandard")
    unpacker = zstandard.ZstdDecompressor().decompressobj()
    # A small step, as nothing bounds how much one step unpacks to.
    while packed := raw.read(CHUNK // 64):
        while packed:
            if unpacker.eof:  # the next frame
                unpacker = zstandard.ZstdDecompressor().decompressobj()
            try:
                yield unpacker.decompress(packed)
            except zstandard.ZstdError as error:
                raise _broken(path, error) from error
            packed = unpacker.unused_data if unpacker.eof else b""
    if not unpacker.eof:
        raise _broken(path, EOFError("the last frame has no end"))
