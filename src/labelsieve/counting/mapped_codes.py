"""Codes in a file, column after column, for tables that do not fit into memory."""

import json
import os
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes
from labelsieve.errors import InputError

DATA, MANIFEST = "codes.bin", "codes.json"
VERSION = 1


class OpenFile:
    """A file that is closed when nothing refers to it any more."""

    def __init__(self, file: IO[bytes]) -> None:
        self.raw = file
        weakref.finalize(self, file.close)


@dataclass(frozen=True, eq=False)
class MappedCodes(Codes):
    """Codes in a mapped file. Dense columns and rows are read from the file, so that they do not stay in memory.

    Attributes
    ----------
    memory_limit : int or None
        Bytes for everything that counts these codes.
    folder : path or None
        Of further temporary files.
    on_cluster : bool
        True when the table came from a Dask cluster, which then counts it by default.
    """

    memory_limit: int | None = None
    folder: Path | None = None
    file: OpenFile | None = None
    on_cluster: bool = False

    def column(self, j: int) -> NDArray[np.uint16]:
        """Codes of column ``j``, one for each row."""
        if self.dense is None:
            return super().column(j)
        if not -self.n_columns <= j < self.n_columns:
            raise IndexError(f"column {j} of {self.n_columns}")
        return self._read(j % self.n_columns, 0, self.n_rows).astype(np.uint16)

    def read_rows(self, start: int, n_rows: int) -> NDArray[Any]:
        """Some rows of all columns."""
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
    """Some rows of a dense table; those of mapped codes are read from their file."""
    if isinstance(codes, MappedCodes):
        return codes.read_rows(start, n_rows)
    assert codes.dense is not None
    return codes.dense[start : start + n_rows]


class CodesFile:
    """Writes the columns of a table of codes to a file.

    Parameters
    ----------
    n_rows : int
    names : sequence of str
        Of all columns.
    folder : path, optional
        Where finished columns stay, so that a run that was stopped continues; default: a file without a name, of which nothing
        stays.
    key : str
        What the codes depend on. Columns that were written for another key are not used.
    """

    def __init__(self, n_rows: int, names: tuple[str, ...], *, folder: Path | None = None, key: str = "") -> None:
        self._n_rows, self._names, self._folder, self._key = n_rows, names, folder, f"{VERSION} {key}"
        self._levels: dict[int, int] = {}
        self._missing: set[int] = set()
        self._dtype: np.dtype[Any] = np.dtype(np.uint8)
        if folder is None:
            self._open = OpenFile(tempfile.TemporaryFile())  # noqa: SIM115  the codes live as long as the object
        else:
            folder.mkdir(parents=True, exist_ok=True)
            self._resume(folder)
            self._open = OpenFile((folder / DATA).open("r+b" if self._levels else "w+b"))
        self._file = self._open.raw

    @property
    def unfinished(self) -> list[int]:
        """Columns that are still to be written."""
        return [j for j in range(len(self._names)) if j not in self._levels]

    def write(self, columns: list[int], codes: Codes) -> None:
        """Add columns; they are finished when this returns."""
        dense = codes.to_dense()
        if dense.dtype.itemsize > self._dtype.itemsize:
            self._widen()
        for position, j in enumerate(columns):
            self._write(j, dense[:, position])
            self._levels[j] = int(codes.levels[position])
            if codes.missing is not None and codes.missing[position]:
                self._missing.add(j)
        self._file.flush()
        if self._folder is not None:
            os.fsync(self._file.fileno())
            self._write_manifest(self._folder)

    def codes(self, memory_limit: int | None, *, on_cluster: bool = False) -> MappedCodes:
        """All columns."""
        assert not self.unfinished
        n_columns = len(self._names)
        dense = np.memmap(self._file, dtype=self._dtype, mode="r", shape=(self._n_rows, n_columns), order="F")
        missing = np.zeros(n_columns, dtype=bool)
        missing[sorted(self._missing)] = True
        return MappedCodes(
            self._n_rows,
            np.array([self._levels[j] for j in range(n_columns)], dtype=np.uint32),
            self._names,
            dense=dense,
            missing=missing if missing.any() else None,
            memory_limit=memory_limit,
            folder=self._folder,
            file=self._open,
            on_cluster=on_cluster,
        )

    def _write(self, j: int, column: NDArray[Any]) -> None:
        self._file.seek(j * self._n_rows * self._dtype.itemsize)
        self._file.write(np.ascontiguousarray(column, dtype=self._dtype).data)

    def _widen(self) -> None:
        """Two bytes for a code instead of one: a column has more than 256 levels. The last columns first, as they move up."""
        self._dtype = np.dtype(np.uint16)
        for j in sorted(self._levels, reverse=True):
            self._file.seek(j * self._n_rows)
            column = np.frombuffer(self._file.read(self._n_rows), dtype=np.uint8)
            if self._folder is not None and j == max(self._levels):
                (self._folder / MANIFEST).unlink(missing_ok=True)  # until all have moved, nothing can be continued
            self._write(j, column)

    def _write_manifest(self, folder: Path) -> None:
        levels = {self._names[j]: levels for j, levels in self._levels.items()}
        missing = [self._names[j] for j in sorted(self._missing)]
        content = {
            "key": self._key,
            "n_rows": self._n_rows,
            "itemsize": self._dtype.itemsize,
            "levels": levels,
            "missing": missing,
        }
        part = folder / f"{MANIFEST}.part"
        part.write_text(json.dumps(content), encoding="utf-8")
        part.replace(folder / MANIFEST)

    def _resume(self, folder: Path) -> None:
        try:
            found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            matches = found["key"] == self._key and found["n_rows"] == self._n_rows
            position = {name: j for j, name in enumerate(self._names)}
            levels = {position[name]: int(n) for name, n in found["levels"].items()}
            missing = {position[name] for name in found["missing"]}
            dtype = np.dtype(np.uint8 if found["itemsize"] == 1 else np.uint16)
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{folder / MANIFEST} is damaged ({error}); delete the folder.") from error
        if matches:
            self._levels, self._missing, self._dtype = levels, missing, dtype
