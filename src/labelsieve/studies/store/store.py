"""The one file that a study writes: every selection and every cell, each in a transaction of its own."""

import json
import os
import platform
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

from labelsieve.studies.execution.cell_work import Values
from labelsieve.studies.execution.resources_used import PARTS, Spent
from labelsieve.studies.store.flushing import Flusher
from labelsieve.studies.store.schema import connect, connect_to_read, plain_errors
from labelsieve.studies.store.stored_results import FILE, HAS_VALUES, Prints, Stored, read_stored
from labelsieve.studies.study_error import StudyError

LOCK = "results.lock"
_SAME = "data = ? AND rows = ? AND settings = ? AND code = ?"
_FAILED_SELECTION = f"UPDATE selections SET error = ?, run = ? WHERE dataset = ? AND split = ? AND method = ? AND {_SAME}"
_FAILED_CELL = (
    f"UPDATE cells SET error = ?, run = ? WHERE dataset = ? AND split = ? AND method = ? AND classifier = ? AND {_SAME}"
)


class Store:
    """Open a study for writing; only one process can. Reading is for anyone, at any time.

    >>> import tempfile
    >>> with Store(tempfile.mkdtemp()) as store:
    ...     store.stored().cells
    {}
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(f"{self.folder}: this folder cannot be made ({error.strerror}). Choose another.") from None
        self._lock = self._take_lock()
        try:
            self._db = connect(self.path)
            self._flusher = Flusher(self.path.with_name(f"{FILE}-wal"))
        except BaseException:
            self._lock.close()
            raise
        self.run = 0
        self._unnoted: tuple[str, tuple[Any, ...]] | None = None
        self._since = time.perf_counter()

    def _take_lock(self) -> sqlite3.Connection:
        """A lock that ends with the process, however that ends: an open transaction in a file of its own."""
        path = self.folder / LOCK
        with plain_errors(path):
            lock = sqlite3.connect(path, timeout=0.0, isolation_level=None)
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                lock.close()
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                raise StudyError(f"{self.folder}: this study runs already{self._by()}. Wait until it has ended.") from None
        return lock

    def _by(self) -> str:
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
        """All or nothing. What storing a row took is known when it is stored: it is noted with the next one.

        ``written`` is the statement that notes it, with ``key`` for its last places.
        """
        started = time.perf_counter()
        with plain_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                if self._unnoted is not None:
                    self._db.execute(*self._unnoted)
                yield self._db
                self._db.execute("COMMIT")
                self._flusher.written()
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        self._unnoted = None if written is None else (written, (time.perf_counter() - started, *key))

    def begin(self, protocol: dict[str, Any], preparing: float = 0.0) -> None:
        """Note that a run begins, of what protocol, and how many seconds it took to know what is to do."""
        from importlib.metadata import version

        used = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
        environment = json.dumps({"python": platform.python_version(), "machine": platform.machine(), **used})
        row = (_now(), os.getpid(), socket.gethostname(), version("labelsieve"), environment, preparing)
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES ('protocol', ?)", (json.dumps(protocol),))
            sql = "INSERT INTO runs (started, pid, host, version, environment, preparing) VALUES (?, ?, ?, ?, ?, ?)"
            self.run = int(db.execute(sql, row).lastrowid or 0)

    def note(self, key: str, value: str) -> None:
        """Note something about the study, in place of what was noted before."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    def end(self) -> None:
        """Note that the run has ended."""
        with self._transaction() as db:
            seconds = time.perf_counter() - self._since
            db.execute("UPDATE runs SET ended = ?, seconds = ? WHERE id = ?", (_now(), seconds, self.run))

    def add_dataset(self, name: str, data: str, shape: tuple[int, int, int], test_share: float) -> None:
        """Note the size of a data set."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO datasets VALUES (?, ?, ?, ?, ?, ?)", (name, data, *shape, test_share))

    def stored(self) -> Stored:
        """All selections and cells."""
        with plain_errors(self.path):
            return read_stored(self._db)

    def add_selection(
        self,
        key: tuple[str, int, str],
        prints: Prints,
        n_wanted: int,
        selected: list[int] | None,
        spent: Spent,
        error: str | None,
    ) -> None:
        """Store a ranking, or why there is none; a shorter one that was there is kept."""
        text = None if selected is None else json.dumps(selected)
        row = (*key, *astuple(prints), n_wanted, text, spent.seconds, spent.peak_mb, error, self.run, None)
        noted = "UPDATE selections SET storing = ? WHERE dataset = ? AND split = ? AND method = ?"
        same = (*key, *astuple(prints))
        with self._transaction(noted, key) as db:
            if (
                error is not None
                and db.execute(f"{_FAILED_SELECTION} AND selected NOT NULL", (error, self.run, *same)).rowcount
            ):
                return
            db.execute(f"INSERT OR REPLACE INTO selections VALUES ({', '.join('?' * len(row))})", row)

    def add_cell(
        self,
        key: tuple[str, int, str, str],
        prints: Prints,
        covers: tuple[list[int], list[str]],
        values: Values,
        spent: Spent,
        error: str | None,
    ) -> None:
        """Store all values of a cell at once, or why there are none; fewer that were there are kept."""
        row = (*key, *astuple(prints), *map(json.dumps, covers), spent.seconds, spent.peak_mb, error, self.run)
        row += (*(spent.parts.get(part) for part in PARTS), None)
        noted = "UPDATE cells SET storing = ? WHERE dataset = ? AND split = ? AND method = ? AND classifier = ?"
        same = (*key, *astuple(prints))
        with self._transaction(noted, key) as db:
            if error is not None and db.execute(f"{_FAILED_CELL} AND {HAS_VALUES}", (error, self.run, *same)).rowcount:
                return
            db.execute("DELETE FROM cells WHERE dataset = ? AND split = ? AND method = ? AND classifier = ?", key)
            cell = db.execute(f"INSERT INTO cells VALUES (NULL, {', '.join('?' * len(row))})", row).lastrowid
            rows = ((cell, k, measure, value if np.isfinite(value) else None) for k, measure, value in values)
            db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)

    def forget(self, selections: list[tuple[str, int, str]], cells: list[tuple[str, int, str, str]]) -> None:
        """Take out what is to be run again."""
        with self._transaction() as db:
            db.executemany("DELETE FROM selections WHERE dataset = ? AND split = ? AND method = ?", selections)
            db.executemany("DELETE FROM cells WHERE dataset = ? AND split = ? AND method = ? AND classifier = ?", cells)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
