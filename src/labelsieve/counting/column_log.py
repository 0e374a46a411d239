"""Which encoded columns are on disk, so that an encoding that was stopped continues with those that are left."""

import json
import os
import sqlite3
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from labelsieve.errors import InputError

LOG, LOCK = "finished.jsonl", "writing.lock"
VERSION = 2
PIECE = 2**24  # bytes that are checked at once

Span = tuple[int, int, Any]  # number of the file, position, bytes


class OpenFile:
    """A file that is closed when nothing refers to it any more."""

    def __init__(self, file: IO[bytes]) -> None:
        self.raw = file
        weakref.finalize(self, file.close)


@contextmanager
def one_writer(folder: Path | None) -> Iterator[None]:
    """Make the folder, and keep other processes and threads from writing there; wait until none does."""
    if folder is None:
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: this folder cannot be created ({error.strerror}); choose another cache_folder.") from None
    lock = sqlite3.connect(folder / LOCK, timeout=0.2, isolation_level=None)
    try:
        while True:
            try:
                lock.execute("BEGIN EXCLUSIVE")  # until the process ends, in whatever way
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise InputError(f"{folder}: {error}; choose another cache_folder.") from None
        yield
    finally:
        lock.close()


class ColumnLog:
    """Files of encoded columns, and the list of the columns that are finished.

    A line of the list is appended when the codes of its columns are on disk, with their checksums. What was written after the
    last whole line does not count.

    Parameters
    ----------
    n_columns : int
    facts : sequence of str
        Names of the integers that are kept for every column.
    files : sequence of str
        Names of the files of codes.
    folder : path, default=None
        Where files and list stay; default: files without names, of which nothing stays.
    key : str, default=""
        What the codes depend on. Columns that were written for another key are not used.

    Attributes
    ----------
    files : list of OpenFile
    facts : dict of str to ndarray of int64
        An integer for each column; those of columns that are not finished are 0.
    """

    def __init__(
        self, n_columns: int, facts: Sequence[str], files: Sequence[str], *, folder: Path | None = None, key: str = ""
    ) -> None:
        self.facts = {name: np.zeros(n_columns, dtype=np.int64) for name in facts}
        self._finished = np.zeros(n_columns, dtype=bool)
        self._key, self._folder = f"{VERSION} {n_columns} {key}", folder
        if folder is None:
            self.files = [OpenFile(tempfile.TemporaryFile()) for _ in files]  # noqa: SIM115  closed by OpenFile
            return
        lines = self._read_lines(folder)
        if lines is None:
            for name in (LOG, *files):
                (folder / name).unlink(missing_ok=True)  # a process that reads them keeps them
        try:
            self.files = [OpenFile((folder / name).open("w+b" if lines is None else "r+b")) for name in files]
        except FileNotFoundError as error:
            raise self._damaged(f"there is no {Path(error.filename).name}") from None
        if lines is None:
            self._start(folder)
        else:
            self._load(lines)

    @property
    def unfinished(self) -> list[int]:
        """Columns that are still to be written."""
        missing: list[int] = np.flatnonzero(~self._finished).tolist()
        return missing

    @property
    def finished(self) -> list[int]:
        """Columns that are written."""
        found: list[int] = np.flatnonzero(self._finished).tolist()
        return found

    def write(self, spans: Iterable[Span], columns: Sequence[int], facts: Mapping[str, Any]) -> None:
        """Write the codes of some columns and what is known of them; they are finished when this returns."""
        written = []
        for number, position, content in spans:
            view = memoryview(content).cast("B")
            self.files[number].raw.seek(position)
            self.files[number].raw.write(view)
            if self._folder is not None:
                written.append((number, position, len(view), zlib.crc32(view)))
        for file in self.files:
            file.raw.flush()
            if self._folder is not None:
                os.fsync(file.raw.fileno())
        self._set(columns, facts)
        if self._folder is not None:
            kept = {name: np.asarray(facts[name]).tolist() for name in self.facts}
            self._append(self._folder, {"columns": list(columns), "facts": kept, "spans": written})

    def restart(self) -> None:
        """No column is finished any more, and the files stay as they are."""
        self._finished[:] = False
        if self._folder is not None:
            self._start(self._folder)

    def _set(self, columns: Sequence[int], facts: Mapping[str, Any]) -> None:
        for name, values in self.facts.items():
            values[list(columns)] = facts[name]
        self._finished[list(columns)] = True

    def _start(self, folder: Path) -> None:
        part = folder / f"{LOG}.part"
        part.write_text(json.dumps({"key": self._key}) + "\n", encoding="utf-8")
        part.replace(folder / LOG)

    def _append(self, folder: Path, line: Mapping[str, Any]) -> None:
        with (folder / LOG).open("ab") as log:
            log.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            log.flush()
            os.fsync(log.fileno())

    def _read_lines(self, folder: Path) -> list[Any] | None:
        """The lines of the list below its first; None if there is no list for this key."""
        path = folder / LOG
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # the line that was being written
            os.truncate(path, whole)
        try:
            first, *lines = map(json.loads, content[:whole].splitlines())
            return lines if first["key"] == self._key else None
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"{LOG}: {error}") from error

    def _load(self, lines: Iterable[Any]) -> None:
        try:
            for line in lines:
                for number, position, size, checksum in line["spans"]:
                    if self._checksum(number, position, size) != checksum:
                        raise ValueError(f"column {min(line['columns'])} is not what was written")
                self._set(line["columns"], line["facts"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._damaged(str(error)) from error

    def _checksum(self, number: int, position: int, size: int) -> int:
        file, checksum = self.files[number].raw, 0
        file.seek(position)
        while size > 0:
            piece = file.read(min(size, PIECE))
            if not piece:
                return -1
            checksum, size = zlib.crc32(piece, checksum), size - len(piece)
        return checksum

    def _damaged(self, reason: str) -> InputError:
        return InputError(f"{self._folder}: these encoded columns are damaged ({reason}); delete the folder.")


def mapped(file: OpenFile, dtype: DTypeLike, size: int) -> NDArray[Any]:
    """The first ``size`` values of a file."""
    return np.memmap(file.raw, dtype=dtype, mode="r", shape=(size,)) if size else np.empty(0, dtype=dtype)
