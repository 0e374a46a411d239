"""The SQLite file of a study: selections, cells and their values, written as soon as they are known.

Tables are strict and have constraints, so SQLite itself refuses values of the wrong kind, and finds them in a damaged file.
"""

import json
import os
import platform
import socket
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from labelsieve.errors import StudyError

FILE, LOCK = "results.sqlite", "results.lock"
FORMAT = "labelsieve study"
VERSION = 4
OLDEST_SQLITE = (3, 37)  # the first with strict tables
WAIT_SECONDS = 10.0  # for a lock of another connection
HAS_VALUES = "EXISTS (SELECT 1 FROM results WHERE cell = cells.id)"

# Conditions of the columns with JSON. They are constraints of the tables, and tested again when a file is read, as SQLite
# ignores the constraints of files that are opened for reading. Its functions raise an error for text that is not JSON.
_IS_LIST = "CASE WHEN json_valid({0}) THEN json_type({0}) = 'array' ELSE {0} IS NULL END"
_IS_TABLE = "CASE WHEN json_valid({0}) THEN json_type({0}) = 'object' ELSE {0} IS NULL END"
_JSON = {
    "facts": f"key <> 'protocol' OR {_IS_TABLE.format('value')}",
    "runs": _IS_TABLE.format("environment"),
    "selections": _IS_LIST.format("selected"),
    "cells": f"{_IS_LIST.format('sizes')} AND {_IS_LIST.format('measures')}",
}
# The hashes of what a result depends on, and what it took.
_PRINTS = "data TEXT NOT NULL, rows TEXT NOT NULL, settings TEXT NOT NULL, code TEXT NOT NULL"
_USED = "seconds REAL NOT NULL, peak_mb REAL, error TEXT, run INTEGER"
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS facts (
    key TEXT PRIMARY KEY, value TEXT NOT NULL,
    CHECK ({_JSON["facts"]})
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, pid INTEGER, host TEXT, version TEXT NOT NULL,
    environment TEXT,
    CHECK ({_JSON["runs"]})
) STRICT;
CREATE TABLE IF NOT EXISTS datasets (
    name TEXT PRIMARY KEY, data TEXT NOT NULL, n_rows INTEGER NOT NULL CHECK (n_rows >= 0),
    n_features INTEGER NOT NULL CHECK (n_features >= 0), n_labels INTEGER NOT NULL CHECK (n_labels >= 0),
    test_share REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selections (
    dataset TEXT REFERENCES datasets (name), split INTEGER CHECK (split >= 0), method TEXT, {_PRINTS},
    n_wanted INTEGER NOT NULL CHECK (n_wanted >= 0), selected TEXT, {_USED},
    cpu REAL,
    PRIMARY KEY (dataset, split, method), CHECK ({_JSON["selections"]})
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    id INTEGER PRIMARY KEY, dataset TEXT NOT NULL REFERENCES datasets (name), split INTEGER NOT NULL CHECK (split >= 0),
    method TEXT NOT NULL, classifier TEXT NOT NULL, {_PRINTS},
    sizes TEXT NOT NULL, measures TEXT NOT NULL, {_USED},
    cpu REAL,
    UNIQUE (dataset, split, method, classifier), CHECK ({_JSON["cells"]})
) STRICT;
CREATE TABLE IF NOT EXISTS results (
    cell INTEGER REFERENCES cells (id) ON DELETE CASCADE, k INTEGER CHECK (k >= 0), measure TEXT,
    value REAL CHECK (abs(value) <= 1e300),
    PRIMARY KEY (cell, k, measure)
) STRICT, WITHOUT ROWID;
"""
_MEANINGS = {
    sqlite3.SQLITE_FULL: "the disk is full. Free some space and run again: finished cells are kept",
    sqlite3.SQLITE_READONLY: "it cannot be written: the file or its folder is read-only. Use another folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: the folder is missing or read-only. Use another folder",
    sqlite3.SQLITE_PERM: "it may not be opened. Use another folder",
    sqlite3.SQLITE_NOTADB: "this file is not a study. Use another folder",
    sqlite3.SQLITE_CORRUPT: "this file is damaged. Restore it from a copy, or use another folder",
    sqlite3.SQLITE_IOERR: "the disk failed while reading or writing",
    sqlite3.SQLITE_BUSY: "another program has locked it. Wait until that program has ended",
}


class SelectionKey(NamedTuple):
    """The primary key of a selection."""

    dataset: str
    split: int
    method: str


class CellKey(NamedTuple):
    """The primary key of a cell."""

    dataset: str
    split: int
    method: str
    classifier: str


class MeasuredValue(NamedTuple):
    """The value of a measure with the first ``n_features`` features of a ranking."""

    n_features: int
    measure: str
    value: float


@dataclass(frozen=True)
class Fingerprints:
    """Hashes of everything that a result depends on."""

    data: str
    rows: str
    settings: str
    code: str


@dataclass(frozen=True)
class ResourcesUsed:
    """Seconds, the peak memory of the process in MB, and CPU seconds.

    On Linux the peak is that of the step; elsewhere that of the process since its start.
    """

    seconds: float
    peak_mb: float | None
    cpu: float | None = None


@dataclass(frozen=True)
class StoredRanking:
    """A stored ranking, or the error that occurred instead."""

    fingerprints: Fingerprints
    n_wanted: int
    selected: list[int] | None
    error: str | None


@dataclass(frozen=True)
class StoredCell:
    """The coverage of a stored cell and the error of its last run.

    A run that asked for more than the stored values and failed leaves both values and an error.
    """

    fingerprints: Fingerprints
    sizes: list[int]
    measures: list[str]
    error: str | None
    has_values: bool = True


@dataclass(frozen=True, eq=False)
class StoredResults:
    """All rankings and cells by key, and the protocol of the last run."""

    rankings: dict[SelectionKey, StoredRanking]
    cells: dict[CellKey, StoredCell]
    protocol: Mapping[str, Any] = field(default_factory=dict)


_SAME = "data = ? AND rows = ? AND settings = ? AND code = ?"
_OF_SELECTION = "dataset = ? AND split = ? AND method = ?"
_OF_CELL = f"{_OF_SELECTION} AND classifier = ?"
# Files of earlier versions have further columns, which stay empty.
_SELECTION_COLUMNS = "dataset, split, method, data, rows, settings, code, n_wanted, selected, seconds, peak_mb, error, run, cpu"
_CELL_COLUMNS = (
    "dataset, split, method, classifier, data, rows, settings, code, sizes, measures, seconds, peak_mb, error, run, cpu"
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
        except BaseException:
            self._lock.close()
            raise
        self.run = 0

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
        self._db.close()
        self._lock.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Store all changes that the block makes in the database, or none of them if it fails."""
        with plain_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def begin(self, protocol: dict[str, Any], datasets: Sequence[tuple[Any, ...]]) -> None:
        """Record the start of a run, its protocol, and the rows of its data sets."""
        from importlib.metadata import version

        used = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
        environment = json.dumps({"python": platform.python_version(), "machine": platform.machine(), **used})
        row = (_now(), os.getpid(), socket.gethostname(), version("labelsieve"), environment)
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES ('protocol', ?)", (json.dumps(protocol),))
            sql = "INSERT INTO runs (started, pid, host, version, environment) VALUES (?, ?, ?, ?, ?)"
            self.run = int(db.execute(sql, row).lastrowid or 0)
            db.executemany("INSERT OR REPLACE INTO datasets VALUES (?, ?, ?, ?, ?, ?)", datasets)

    def end(self) -> None:
        """Record the end of the run."""
        with self._transaction() as db:
            db.execute("UPDATE runs SET ended = ? WHERE id = ?", (_now(), self.run))

    def stored(self) -> StoredResults:
        """Read all rankings and cells."""
        with plain_errors(self.path):
            refuse_damage(self._db, self.path)
            return _read_stored_results(self._db)

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
        row = (*same, n_wanted, text, used.seconds, used.peak_mb, error, self.run, used.cpu)
        keep_old = f"UPDATE selections SET error = ?, run = ? WHERE {_OF_SELECTION} AND {_SAME} AND selected NOT NULL"
        with self._transaction() as db:
            if error is not None and db.execute(keep_old, (error, self.run, *same)).rowcount:
                return
            db.execute(f"INSERT OR REPLACE INTO selections ({_SELECTION_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)

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
        row = (*same, *coverage, used.seconds, used.peak_mb, error, self.run, used.cpu)
        keep_old = f"UPDATE cells SET error = ?, run = ? WHERE {_OF_CELL} AND {_SAME} AND {HAS_VALUES}"
        with self._transaction() as db:
            if error is not None and db.execute(keep_old, (error, self.run, *same)).rowcount:
                return
            db.execute(f"DELETE FROM cells WHERE {_OF_CELL}", key)
            cell = db.execute(f"INSERT INTO cells ({_CELL_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row).lastrowid
            rows = ((cell, k, measure, value if np.isfinite(value) else None) for k, measure, value in values)
            db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)

    def delete(self, selections: list[SelectionKey], cells: list[CellKey]) -> None:
        """Delete rows that are to be run again."""
        with self._transaction() as db:
            db.executemany(f"DELETE FROM selections WHERE {_OF_SELECTION}", selections)
            db.executemany(f"DELETE FROM cells WHERE {_OF_CELL}", cells)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def stored_results(folder: str | os.PathLike[str]) -> StoredResults:
    """Read the results in a folder without writing to it; empty where it has no study."""
    with reading(folder) as db:
        return StoredResults({}, {}) if db is None else _read_stored_results(db)


def _read_stored_results(db: sqlite3.Connection) -> StoredResults:
    sql = "SELECT dataset, split, method, data, rows, settings, code, n_wanted, selected, error FROM selections"
    rankings = {
        SelectionKey(*row[:3]): StoredRanking(Fingerprints(*row[3:7]), row[7], json.loads(row[8] or "null"), row[9])
        for row in db.execute(sql)
    }
    columns = "dataset, split, method, classifier, data, rows, settings, code, sizes, measures, error"
    cells = {
        CellKey(*row[:4]): StoredCell(
            Fingerprints(*row[4:8]), json.loads(row[8]), json.loads(row[9]), error=row[10], has_values=bool(row[11])
        )
        for row in db.execute(f"SELECT {columns}, {HAS_VALUES} FROM cells")
    }
    return StoredResults(rankings, cells, stored_protocol(db))


def stored_protocol(db: sqlite3.Connection) -> dict[str, Any]:
    """Return the protocol of the last run; empty before the first."""
    last = db.execute("SELECT value FROM facts WHERE key = 'protocol'").fetchone()
    protocol: dict[str, Any] = json.loads(last[0]) if last else {}
    return protocol


@contextmanager
def reading_study(folder: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Read the file of a study, which must exist: see :func:`reading`."""
    with reading(folder) as db:
        if db is None:
            raise StudyError(f"{folder}: this folder has no study; there is no {FILE} in it.")
        yield db


@contextmanager
def reading(folder: str | os.PathLike[str]) -> Iterator[sqlite3.Connection | None]:
    """Read the file of a study in one consistent state, even while another process writes; None where there is no study."""
    path = Path(folder) / FILE
    with plain_errors(path):
        db = connect_to_read(path)
        if db is None:
            yield None
            return
        try:
            db.execute("BEGIN")
            refuse_damage(db, path)
            yield db
        finally:
            db.close()


def refuse_damage(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with a value that its table does not allow, or with a result of an unknown data set.

    Cost: reads the whole file once.
    """
    reason = " ".join(db.execute("PRAGMA quick_check(1)").fetchone()[0].split())
    if reason == "ok":
        broken = [table for table, good in _JSON.items() if db.execute(f"SELECT 1 FROM {table} WHERE NOT ({good})").fetchone()]
        # Of foreign keys only those of the short tables: values without a cell are read by no query.
        orphans = [table for table in ("selections", "cells") if db.execute(f"PRAGMA foreign_key_check({table})").fetchone()]
        if not broken and not orphans:
            return
        reason = f"the table {broken[0]} has a value that is not JSON" if broken else f"{orphans[0]} of an unknown data set"
    raise StudyError(f"{path}: {_MEANINGS[sqlite3.SQLITE_CORRUPT]} ({reason}).")


def connect(path: Path) -> sqlite3.Connection:
    """Open a study's file for writing, and create its tables if it is new."""
    _refuse_folder(path)
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StudyError(f"studies need SQLite 3.37 or later, and this Python has {sqlite3.sqlite_version}.")
    with plain_errors(path):
        connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A killed process loses nothing that was committed, a power failure at most what the system had not yet written.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            if _has_tables(connection):
                _check_version(connection, path)  # before anything is written to the file of another program
            for statement in SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute("INSERT OR IGNORE INTO facts VALUES ('format', ?), ('version', ?)", (FORMAT, str(VERSION)))
            connection.execute("COMMIT")
        except (sqlite3.Error, StudyError):
            connection.close()
            raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection | None:
    """Open a study's file for reading, also while another process writes it, or in a read-only folder.

    Return None if there is no file, or if a run ended before it created the tables.
    """
    if not path.exists():
        return None
    _refuse_folder(path)
    address = path.absolute().as_uri()
    with plain_errors(path):
        connection = sqlite3.connect(f"{address}?mode=ro", uri=True)
        try:
            has_tables = _has_tables(connection)
        except sqlite3.OperationalError:
            connection.close()
            if path.with_name(f"{path.name}-wal").exists():
                raise
            # No process writes. SQLite would create auxiliary files even for reading unless the file is declared immutable.
            connection = sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)
            has_tables = _has_tables(connection)
        try:
            if has_tables:
                _check_version(connection, path)
                return connection
        except StudyError:
            connection.close()
            raise
    connection.close()
    return None


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise StudyError(f"{path}: this is a folder, and the study's file would have this name. Use another folder.")


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    try:
        facts = dict(connection.execute("SELECT key, value FROM facts WHERE key IN ('format', 'version')"))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_ERROR:  # no such table or column
            raise
        facts = {}
    if facts.get("format") != FORMAT:
        raise StudyError(f"{path}: {_MEANINGS[sqlite3.SQLITE_NOTADB]}.")
    if facts.get("version") != str(VERSION):
        raise StudyError(
            f"{path}: version {facts.get('version')} of the format, and this release reads version {VERSION}. "
            "Use the release that wrote it, or run the study in another folder."
        )


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into a StudyError with a remedy."""
    try:
        yield
    except UnicodeDecodeError as error:  # of a name in the file
        raise StudyError(f"{path}: {_MEANINGS[sqlite3.SQLITE_CORRUPT]}.") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary result code
        raise StudyError(f"{path}: {_MEANINGS.get(code, f'SQLite reports: {error}')}.") from error
