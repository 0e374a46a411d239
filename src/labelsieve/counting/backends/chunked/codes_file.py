"""Files of codes, which are written column by column and read when they are counted."""

import json
import os
import sqlite3
import tempfile
import weakref
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from labelsieve.errors import InputError
from labelsieve.tables.codes import Codes, SparseCodes

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
    """Make the folder, wait until nobody else writes there, and keep others from writing while the context lasts."""
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
    last whole line does not count. ``facts`` are names of integers that are kept for every column, 0 for one that is not
    finished. Without a ``folder`` the files have no names, and nothing of them stays; with one, columns that were written for
    another ``key`` are not used.
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
        """Return the numbers of the columns whose codes are in the file already."""
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
        """Mark all columns as unfinished; the files stay as they are."""
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
        """Return the lines of the list below its first; None if there is no list for this key."""
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
    """Map the first ``size`` values of a file into memory."""
    return np.memmap(file.raw, dtype=dtype, mode="r", shape=(size,)) if size else np.empty(0, dtype=dtype)


@dataclass(frozen=True, eq=False)
class MappedCodes(Codes):
    """Codes in a mapped file. Dense columns and rows are read from the file, so that they do not stay in memory."""

    in_file: ClassVar[bool] = True
    memory_limit: int | None = None  # bytes for everything that counts these codes
    folder: Path | None = None  # of further temporary files
    file: OpenFile | None = None
    backend: str = "chunked"  # that counts these codes by default: that of the cluster which the table came from

    def column(self, j: int) -> NDArray[np.uint16]:
        """Read the codes of column ``j``, one for each row."""
        if self.dense is None:
            return super().column(j)
        if not -self.n_columns <= j < self.n_columns:
            raise IndexError(f"column {j} of {self.n_columns}")
        return self._read(j % self.n_columns, 0, self.n_rows).astype(np.uint16)

    def read_rows(self, start: int, n_rows: int) -> NDArray[Any]:
        """Read some rows of all columns."""
        out = np.empty((n_rows, self.n_columns), dtype=self._dtype, order="F")
        for j in range(self.n_columns):
            out[:, j] = self._read(j, start, n_rows)
        return out

    @property
    def _dtype(self) -> np.dtype[Any]:
        assert self.dense is not None
        return self.dense.dtype

    def _read(self, j: int, start: int, n_rows: int) -> NDArray[Any]:
        assert self.file is not None
        self.file.raw.seek((j * self.n_rows + start) * self._dtype.itemsize)
        return np.fromfile(self.file.raw, dtype=self._dtype, count=n_rows)


def dense_rows(codes: Codes, start: int, n_rows: int) -> NDArray[Any]:
    """Return some rows of a dense table; those of mapped codes are read from their file."""
    if isinstance(codes, MappedCodes):
        return codes.read_rows(start, n_rows)
    assert codes.dense is not None
    return codes.dense[start : start + n_rows]


class ColumnsFile(ABC):
    """Writes the columns of a table of codes to files; ``folder`` and ``key`` are those of :class:`ColumnLog`."""

    _kind: ClassVar[str]
    _facts: ClassVar[tuple[str, ...]]
    _files: ClassVar[tuple[str, ...]]

    def __init__(self, n_rows: int, names: tuple[str, ...], *, folder: Path | None = None, key: str = "") -> None:
        self._n_rows, self._names, self._folder = n_rows, names, folder
        facts, key = ("levels", "missing", *self._facts), f"{self._kind} {n_rows} {key}"
        self._log = ColumnLog(len(names), facts, self._files, folder=folder, key=key)

    @property
    def unfinished(self) -> list[int]:
        """Columns that are still to be written."""
        return self._log.unfinished

    @abstractmethod
    def write(self, columns: list[int], codes: Codes) -> None:
        """Add columns; they are finished when this returns."""

    def codes(self, memory_limit: int | None, *, backend: str = "chunked") -> MappedCodes:
        """Return the codes of all columns."""
        assert not self.unfinished
        levels, missing = self._log.facts["levels"].astype(np.uint32), self._log.facts["missing"].astype(bool)
        place: dict[str, Any] = {"memory_limit": memory_limit, "folder": self._folder, "backend": backend}
        marked = missing if missing.any() else None
        return MappedCodes(self._n_rows, levels, self._names, missing=marked, **self._content(), **place)

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return the codes as parameters of :class:`MappedCodes`."""


def _facts_of(codes: Codes) -> dict[str, Any]:
    missing = np.zeros(codes.n_columns, dtype=bool) if codes.missing is None else codes.missing
    return {"levels": codes.levels, "missing": missing.astype(int)}


class CodesFile(ColumnsFile):
    """Writes the columns of a dense table, in any order."""

    _kind, _facts, _files = "dense", ("itemsize",), ("codes.bin",)

    def __init__(self, n_rows: int, names: tuple[str, ...], *, folder: Path | None = None, key: str = "") -> None:
        super().__init__(n_rows, names, folder=folder, key=key)
        self._dtype: np.dtype[Any] = np.dtype(np.uint16 if self._log.facts["itemsize"].max() == 2 else np.uint8)

    def write(self, columns: list[int], codes: Codes) -> None:
        dense = codes.to_dense()
        if dense.dtype.itemsize > self._dtype.itemsize:
            self._widen()
        self._write(columns, dense, _facts_of(codes))

    def _content(self) -> dict[str, Any]:
        (file,), shape = self._log.files, (self._n_rows, len(self._names))
        return {"dense": np.memmap(file.raw, dtype=self._dtype, mode="r", shape=shape, order="F"), "file": file}

    def _write(self, columns: list[int], dense: NDArray[Any], facts: dict[str, Any]) -> None:
        width = self._n_rows * self._dtype.itemsize
        spans = (
            (0, j * width, np.ascontiguousarray(dense[:, position], dtype=self._dtype)) for position, j in enumerate(columns)
        )
        self._log.write(spans, columns, {**facts, "itemsize": [self._dtype.itemsize] * len(columns)})

    def _widen(self) -> None:
        """Store codes in two bytes instead of one, because a column has more than 256 levels.

        The last columns are moved first, because all move towards the end of the file.
        """
        self._dtype = np.dtype(np.uint16)
        finished, file = self._log.finished, self._log.files[0].raw
        self._log.restart()  # until a column has moved, it is not finished
        for j in reversed(finished):
            file.seek(j * self._n_rows)
            column = np.frombuffer(file.read(self._n_rows), dtype=np.uint8)
            self._write([j], column[:, np.newaxis], {name: values[[j]] for name, values in self._log.facts.items()})


class SparseCodesFile(ColumnsFile):
    """Writes the columns of a sparse table, in their order."""

    _kind, _facts, _files = "sparse", ("sizes", "implicit"), ("rows.bin", "codes.bin")

    def write(self, columns: list[int], codes: Codes) -> None:
        assert columns == self.unfinished[: len(columns)]
        sparse = codes.sparse if codes.sparse is not None else _listed(codes)
        start = int(self._log.facts["sizes"].sum())
        rows = 0, 4 * start, np.ascontiguousarray(sparse.rows, np.uint32)
        listed = 1, 2 * start, np.ascontiguousarray(sparse.codes, np.uint16)
        facts = {**_facts_of(codes), "sizes": np.diff(sparse.starts), "implicit": sparse.implicit}
        self._log.write((rows, listed), columns, facts)

    def _content(self) -> dict[str, Any]:
        facts, types = self._log.facts, (np.uint32, np.uint16)
        starts = np.concatenate([[0], np.cumsum(facts["sizes"])])
        rows, codes = (mapped(file, dtype, int(starts[-1])) for file, dtype in zip(self._log.files, types, strict=True))
        return {"sparse": SparseCodes(starts, rows, codes, facts["implicit"].astype(np.uint16))}


def _listed(codes: Codes) -> SparseCodes:
    """List the codes other than 0 of dense columns."""
    columns = [codes.column(j) for j in range(codes.n_columns)]
    rows = [np.flatnonzero(column) for column in columns]
    starts = np.concatenate([[0], np.cumsum([len(of_column) for of_column in rows])]).astype(np.int64)
    listed = np.concatenate([column[of_column] for column, of_column in zip(columns, rows, strict=True)])
    return SparseCodes(starts, np.concatenate(rows).astype(np.uint32), listed, np.zeros(len(columns), dtype=np.uint16))
