"""The file that a study writes: every selection and every cell, each in its own transaction."""

import json
import os
import platform
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

from labelsieve.errors import StudyError
from labelsieve.studies.store.schema import FILE, connect, connect_to_read, plain_errors
from labelsieve.studies.store.stored_results import (
    HAS_VALUES,
    PHASES,
    CellKey,
    Fingerprints,
    MeasuredValue,
    ResourcesUsed,
    SelectionKey,
    StoredResults,
    read_stored_results,
)

LOCK = "results.lock"
_SAME = "data = ? AND rows = ? AND settings = ? AND code = ?"
_FAILED_SELECTION = f"UPDATE selections SET error = ?, run = ? WHERE dataset = ? AND split = ? AND method = ? AND {_SAME}"
_FAILED_CELL = (
    f"UPDATE cells SET error = ?, run = ? WHERE dataset = ? AND split = ? AND method = ? AND classifier = ? AND {_SAME}"
)


class StudyStore:
    """Open a study for writing, which one process at a time can do. Any process can read it at any time.

    >>> import tempfile
    >>> with StudyStore(tempfile.mkdtemp()) as store:
    ...     store.stored().cells
    {}
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(f"{self.folder}: this folder cannot be created ({error.strerror}). Use another.") from None
        self._lock = self._take_lock()
        try:
            self._db = connect(self.path)
            self._flusher = Flusher(self.path.with_name(f"{FILE}-wal"))
        except BaseException:
            self._lock.close()
            raise
        self.run = 0
        self._pending_note: tuple[str, tuple[Any, ...]] | None = None
        self._opened_at = time.perf_counter()

    def _take_lock(self) -> sqlite3.Connection:
        """Lock the folder until the process ends, in whatever way: an open transaction in a separate file."""
        path = self.folder / LOCK
        with plain_errors(path):
            lock = sqlite3.connect(path, timeout=0.0, isolation_level=None)
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                lock.close()
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                raise StudyError(f"{self.folder}: this study is already running{self._owner()}. Wait for its end.") from None
        return lock

    def _owner(self) -> str:
        try:
            reader = connect_to_read(self.path)
            last = reader and reader.execute("SELECT pid, host, started FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        except (sqlite3.Error, StudyError):
            return ""
        if reader is not None:
            reader.close()
        if not last:
            return ""
        pid, host, started = last
        return f" (process {pid} on {host}, since {started})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._flusher.close()
        self._db.close()
        self._lock.close()

    @contextmanager
    def _transaction(self, written: str | None = None, key: tuple[Any, ...] = ()) -> Iterator[sqlite3.Connection]:
        """Commit everything or nothing.

        The seconds that storing a row took are known afterwards, so they are written with the next transaction: ``written`` is
        the statement for them, with ``key`` as its last parameters.
        """
        started = time.perf_counter()
        with plain_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                if self._pending_note is not None:
                    self._db.execute(*self._pending_note)
                yield self._db
                self._db.execute("COMMIT")
                self._flusher.written()
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        self._pending_note = None if written is None else (written, (time.perf_counter() - started, *key))

    def begin(self, protocol: dict[str, Any], preparing: float = 0.0) -> None:
        """Record the start of a run, its protocol, and the seconds of planning."""
        from importlib.metadata import version

        used = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
        environment = json.dumps({"python": platform.python_version(), "machine": platform.machine(), **used})
        row = (_now(), os.getpid(), socket.gethostname(), version("labelsieve"), environment, preparing)
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES ('protocol', ?)", (json.dumps(protocol),))
            sql = "INSERT INTO runs (started, pid, host, version, environment, preparing) VALUES (?, ?, ?, ?, ?, ?)"
            self.run = int(db.execute(sql, row).lastrowid or 0)

    def set_fact(self, key: str, value: str) -> None:
        """Set a fact about the study."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    def end(self) -> None:
        """Record the end of the run."""
        with self._transaction() as db:
            seconds = time.perf_counter() - self._opened_at
            db.execute("UPDATE runs SET ended = ?, seconds = ? WHERE id = ?", (_now(), seconds, self.run))

    def add_dataset(self, name: str, data: str, shape: tuple[int, int, int], test_share: float) -> None:
        """Record the size of a data set."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO datasets VALUES (?, ?, ?, ?, ?, ?)", (name, data, *shape, test_share))

    def stored(self) -> StoredResults:
        """Read all rankings and cells."""
        with plain_errors(self.path):
            return read_stored_results(self._db, self.path)

    def add_selection(
        self,
        key: SelectionKey,
        fingerprints: Fingerprints,
        n_wanted: int,
        selected: list[int] | None,
        used: ResourcesUsed,
        error: str | None,
    ) -> None:
        """Store a ranking, or the error; a shorter ranking that is already stored is kept."""
        text, same = None if selected is None else json.dumps(selected), (*key, *astuple(fingerprints))
        row = (*same, n_wanted, text, used.seconds, used.peak_mb, error, self.run, None, used.cpu)
        storing = "UPDATE selections SET storing = ? WHERE dataset = ? AND split = ? AND method = ?"
        keep_old = f"{_FAILED_SELECTION} AND selected NOT NULL"
        with self._transaction(storing, key) as db:
            if error is not None and db.execute(keep_old, (error, self.run, *same)).rowcount:
                return
            db.execute(f"INSERT OR REPLACE INTO selections VALUES ({', '.join('?' * len(row))})", row)

    def add_cell(
        self,
        key: CellKey,
        fingerprints: Fingerprints,
        sizes: list[int],
        measures: list[str],
        values: list[MeasuredValue],
        used: ResourcesUsed,
        error: str | None,
    ) -> None:
        """Store all values of a cell at once, or the error; values that are already stored are kept."""
        same, coverage = (*key, *astuple(fingerprints)), (json.dumps(sizes), json.dumps(measures))
        row = (*same, *coverage, used.seconds, used.peak_mb, error, self.run)
        row += (*(used.by_phase.get(phase) for phase in PHASES), None, used.cpu)
        storing = "UPDATE cells SET storing = ? WHERE dataset = ? AND split = ? AND method = ? AND classifier = ?"
        with self._transaction(storing, key) as db:
            if error is not None and db.execute(f"{_FAILED_CELL} AND {HAS_VALUES}", (error, self.run, *same)).rowcount:
                return
            db.execute("DELETE FROM cells WHERE dataset = ? AND split = ? AND method = ? AND classifier = ?", key)
            cell = db.execute(f"INSERT INTO cells VALUES (NULL, {', '.join('?' * len(row))})", row).lastrowid
            rows = ((cell, k, measure, value if np.isfinite(value) else None) for k, measure, value in values)
            db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)

    def delete(self, selections: list[SelectionKey], cells: list[CellKey]) -> None:
        """Delete rows that are to be run again."""
        with self._transaction() as db:
            db.executemany("DELETE FROM selections WHERE dataset = ? AND split = ? AND method = ?", selections)
            db.executemany("DELETE FROM cells WHERE dataset = ? AND split = ? AND method = ? AND classifier = ?", cells)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Flusher:
    """Call ``fsync`` on a file in a background thread after every notification of a write.

    A transaction that waits for the disk takes some milliseconds, a few per cent of a study with short cells. With this class
    the writer continues: its data survive its own death at once, and that of the machine some milliseconds later.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR)
        self._written = threading.Event()
        self._closed = False
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._flush, daemon=True)
        self._thread.start()

    def written(self) -> None:
        """Request a flush; raise the error of an earlier one, if any."""
        if self._error is not None:
            raise StudyError(f"{self._path}: the disk failed while writing ({self._error.strerror}).")
        self._written.set()

    def _flush(self) -> None:
        while not self._closed:
            self._written.wait()
            self._written.clear()
            try:
                os.fsync(self._file)
            except OSError as error:
                self._error = error
                return

    def close(self) -> None:
        """Flush once more and stop the thread."""
        self._closed = True
        self._written.set()
        self._thread.join()
        os.close(self._file)
