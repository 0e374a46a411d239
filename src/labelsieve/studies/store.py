"""The SQLite file of a study."""

import json
import os
import platform
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from labelsieve.errors import InputError, StudyError
from labelsieve.selectors.json_document import check_kind, read_json

FILE = "results.sqlite"
FORMAT = "labelsieve study"
VERSION = 3
WAIT_SECONDS = 10.0  # for a lock of another connection
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, pid INTEGER, host TEXT, version TEXT, environment TEXT,
    preparing REAL, seconds REAL
);
CREATE TABLE IF NOT EXISTS datasets (
    name TEXT PRIMARY KEY, data TEXT NOT NULL, n_rows INTEGER, n_features INTEGER, n_labels INTEGER, test_share REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selections (
    dataset TEXT, split INTEGER, method TEXT, data TEXT, rows TEXT, settings TEXT, code TEXT,
    n_wanted INTEGER, selected TEXT, seconds REAL, peak_mb REAL, error TEXT, run INTEGER,
    storing REAL, cpu REAL,
    PRIMARY KEY (dataset, split, method)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    id INTEGER PRIMARY KEY, dataset TEXT, split INTEGER, method TEXT, classifier TEXT,
    data TEXT, rows TEXT, settings TEXT, code TEXT, sizes TEXT, measures TEXT,
    seconds REAL, peak_mb REAL, error TEXT, run INTEGER,
    training REAL, prediction REAL, both REAL, measuring REAL, storing REAL, cpu REAL,
    UNIQUE (dataset, split, method, classifier)
);
CREATE TABLE IF NOT EXISTS results (
    cell INTEGER REFERENCES cells (id) ON DELETE CASCADE, k INTEGER, measure TEXT, value REAL, PRIMARY KEY (cell, k, measure)
) WITHOUT ROWID;
"""
# Columns that a version added: seconds by phase, then CPU seconds.
ADDED: dict[int, dict[str, tuple[str, ...]]] = {
    2: {
        "runs": ("preparing", "seconds"),
        "selections": ("storing",),
        "cells": ("training", "prediction", "both", "measuring", "storing"),
    },
    3: {"selections": ("cpu",), "cells": ("cpu",)},
}
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


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into a StudyError with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary result code
        raise StudyError(f"{path}: {_MEANINGS.get(code, f'SQLite reports: {error}')}.") from error


def connect(path: Path) -> sqlite3.Connection:
    """Open a study's file for writing; create its tables if it is new, upgrade them if it has an earlier version."""
    _refuse_folder(path)
    with plain_errors(path):
        connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A killed process loses nothing that was committed; the Flusher protects against power failures.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            _create_tables(connection, path)
            connection.execute("COMMIT")
        except (sqlite3.Error, StudyError):
            connection.close()
            raise
    return connection


def added_since(version: int) -> dict[str, list[str]]:
    """Return the columns that later versions added, by table.

    >>> added_since(2), added_since(VERSION)
    ({'selections': ['cpu'], 'cells': ['cpu']}, {})
    """
    found: dict[str, list[str]] = {}
    for later in range(version + 1, VERSION + 1):
        for table, columns in ADDED[later].items():
            found.setdefault(table, []).extend(columns)
    return found


def _create_tables(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table'").fetchone():
        _version(connection, path)  # refuse the file of another program before writing
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute("INSERT OR IGNORE INTO facts VALUES ('format', ?), ('version', ?)", (FORMAT, str(VERSION)))
    version = _version(connection, path)
    for table, columns in added_since(version).items():
        for column in columns:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} REAL")
    if version < VERSION:
        connection.execute("UPDATE facts SET value = ? WHERE key = 'version'", (str(VERSION),))


def _version(connection: sqlite3.Connection, path: Path) -> int:
    try:
        facts = dict(connection.execute("SELECT key, value FROM facts WHERE key IN ('format', 'version')"))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_ERROR:  # no such table or column
            raise
        facts = {}
    version = str(facts.get("version", ""))
    if facts.get("format") != FORMAT:
        raise StudyError(f"{path}: {_MEANINGS[sqlite3.SQLITE_NOTADB]}.")
    if version not in map(str, range(1, VERSION + 1)):
        raise StudyError(f"{path}: version {version} of the format; this release reads versions up to {VERSION}.")
    return int(version)


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
            added = added_since(_version(connection, path)) if has_tables else {}
        except StudyError:
            connection.close()
            raise
        if not has_tables:
            connection.close()
            return None
        for table, columns in added.items():
            more = ", ".join(f"NULL AS {column}" for column in columns)
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {more} FROM main.{table}")
    return connection


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
            yield db
        finally:
            db.close()


@contextmanager
def reading_study(folder: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Read the file of a study, which must exist: see :func:`reading`."""
    with reading(folder) as db:
        if db is None:
            raise StudyError(f"{folder}: this folder has no study; there is no {FILE} in it.")
        yield db


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise StudyError(f"{path}: this is a folder, and the study's file would have this name. Use another folder.")


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


REMEDY = "Restore the file from a copy, or use another folder"
# Types of columns; a question mark allows NULL.
_TYPES = {
    "facts": {"key": "text", "value": "text"},
    "runs": {
        **{"started": "text", "ended": "text?", "version": "text", "environment": "text?"},
        **{"preparing": "number?", "seconds": "number?"},
    },
    "datasets": {
        **{"name": "text", "data": "text", "n_rows": "count", "n_features": "count", "n_labels": "count"},
        "test_share": "number",
    },
    "selections": {
        **{"dataset": "text", "split": "count", "method": "text", "data": "text", "rows": "text", "settings": "text"},
        **{
            "code": "text",
            "n_wanted": "count",
            "selected": "text?",
            "seconds": "number",
            "error": "text?",
            "storing": "number?",
            "cpu": "number?",
        },
    },
    "cells": {
        **{"dataset": "text", "split": "count", "method": "text", "classifier": "text", "data": "text", "rows": "text"},
        **{"settings": "text", "code": "text", "sizes": "text", "measures": "text", "seconds": "number", "error": "text?"},
        **dict.fromkeys(("training", "prediction", "both", "measuring", "storing", "cpu"), "number?"),
    },
    "results": {"cell": "count", "k": "count", "measure": "text", "value": "number?"},
}
_KEYS = {
    "facts": 1,
    "runs": 1,
    "datasets": 1,
    "selections": 3,
    "cells": 4,
    "results": 3,
}  # columns that name a row, for messages
_LARGEST = 2**53  # of counts: a larger one is not exact in JSON and arrays of floats
_CONDITIONS = {
    "text": "typeof({0}) = 'text'",
    "count": f"typeof({{0}}) = 'integer' AND {{0}} BETWEEN 0 AND {_LARGEST}",
    "number": "typeof({0}) IN ('integer', 'real') AND abs({0}) <= 1e300",
}
_WORDS = {"text": "text", "count": "a whole number from 0", "number": "a finite number"}

# The protocol of the last run, as far as reports read it.
_PROTOCOL: dict[str, Any] = {
    **{"measures": list[str], "baselines": list[str], "n_features": list[float], "splits": str, "seed": int, "scale": str},
    **{"convention": str | dict[str, Any], "datasets": list[dict[str, Any]]},
    **{"methods": list[dict[str, Any]], "classifiers": list[dict[str, Any]]},
}


def check_types(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file in which a value does not have the type of its column."""
    for table, columns in _TYPES.items():
        conditions = {}
        for column, kind in columns.items():
            condition = _CONDITIONS[kind.removesuffix("?")].format(f'"{column}"')
            conditions[column] = f"({column} IS NULL OR ({condition}))" if kind.endswith("?") else f"({condition})"
        names, good = ", ".join(f'"{column}"' for column in columns), " AND ".join(conditions.values())
        wrong = db.execute(f"SELECT {names} FROM {table} WHERE NOT ({good}) OR ({good}) IS NULL LIMIT 1").fetchone()
        if wrong is None:
            continue
        tests = ", ".join(f"coalesce({condition}, 0)" for condition in conditions.values())
        right = db.execute(f"SELECT {tests} FROM {table} WHERE NOT ({good}) OR ({good}) IS NULL LIMIT 1").fetchone()
        column = list(columns)[right.index(0)]
        value, kind = repr(dict(zip(columns, wrong, strict=True))[column]), columns[column].removesuffix("?")
        shown = value if len(value) <= 60 else f"{value[:60]}..."
        row = ", ".join(str(key)[:60] for key in wrong[: _KEYS[table]])
        raise StudyError(f"{path}: damaged: {table}.{column} is {shown}, and {_WORDS[kind]} is needed, in row {row}. {REMEDY}.")


def stored_json(text: str, kind: object, path: Path, place: str) -> Any:
    """Parse JSON in a cell of the file, which must have a type, such as ``list[int]``."""
    try:
        value = read_json(text)
        check_kind(value, kind, place)
    except InputError as error:
        reason = str(error)
        raise StudyError(
            f"{path}: damaged: {reason if reason.startswith(place) else f'{place}: {reason}'}. {REMEDY}."
        ) from None
    return value


def stored_numbers(text: str, path: Path, place: str, *, low: int = 0, high: int = _LARGEST) -> list[int]:
    """Parse a list of whole numbers in a range, none of them twice."""
    numbers: list[int] = stored_json(text, list[int], path, place)
    if any(not low <= number <= high for number in numbers) or len(set(numbers)) < len(numbers):
        raise StudyError(f"{path}: damaged: {place} has a number twice, or one outside {low} to {high:,}. {REMEDY}.")
    return numbers


def stored_protocol(text: str, path: Path) -> dict[str, Any]:
    """Parse the protocol of the last run."""
    protocol: dict[str, Any] = stored_json(text, dict[str, Any], path, "facts.protocol")
    for key, kind in _PROTOCOL.items():
        if key in protocol:
            try:
                check_kind(protocol[key], kind, f"facts.protocol.{key}")
            except InputError as error:
                raise StudyError(f"{path}: damaged: {error}. {REMEDY}.") from None
    for key in ("methods", "classifiers", "datasets"):
        _refuse_nameless(protocol.get(key, []), path, f"facts.protocol.{key}")
    return protocol


def _refuse_nameless(tables: Sequence[Any], path: Path, place: str) -> None:
    for index, table in enumerate(tables):
        if not isinstance(table.get("name"), str):
            raise StudyError(f"{path}: damaged: {place}[{index}] has no name. {REMEDY}.")


HAS_VALUES = "EXISTS (SELECT 1 FROM results WHERE cell = cells.id)"
# "both" is training and prediction in one phase: one neighbor search serves all numbers of features.
PHASES = ("training", "prediction", "both", "measures")


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
    """Seconds, the peak memory of the process in MB, the seconds of an evaluation by :data:`PHASES`, and CPU seconds.

    On Linux the peak is that of the step; elsewhere that of the process since its start.
    """

    seconds: float
    peak_mb: float | None
    by_phase: dict[str, float] = field(default_factory=dict)
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

    def without(self, selections: list[SelectionKey], cells: list[CellKey]) -> "StoredResults":
        """Return the results that :meth:`StudyStore.delete` would keep."""
        return StoredResults(
            {key: self.rankings[key] for key in self.rankings.keys() - set(selections)},
            {key: self.cells[key] for key in self.cells.keys() - set(cells)},
            self.protocol,
        )


def read_stored_results(db: sqlite3.Connection, path: Path) -> StoredResults:
    """Read all rankings and cells of an open file; ``path`` is its name, for errors."""
    check_types(db, path)
    widths = dict(db.execute("SELECT name, n_features FROM datasets"))

    def ranking(text: str | None, *key: object) -> list[int] | None:
        place, width = f"selections.selected of {', '.join(map(str, key))}", widths.get(key[0])
        return None if text is None else stored_numbers(text, path, place, **({} if width is None else {"high": width - 1}))

    sql = "SELECT dataset, split, method, data, rows, settings, code, n_wanted, selected, error FROM selections"
    rankings = {
        SelectionKey(*row[:3]): StoredRanking(Fingerprints(*row[3:7]), row[7], ranking(row[8], *row[:3]), row[9])
        for row in db.execute(sql)
    }
    columns = "dataset, split, method, classifier, data, rows, settings, code, sizes, measures, error"
    cells = {
        CellKey(*row[:4]): StoredCell(
            Fingerprints(*row[4:8]),
            stored_numbers(row[8], path, f"cells.sizes of {', '.join(map(str, row[:4]))}", low=1),
            stored_json(row[9], list[str], path, f"cells.measures of {', '.join(map(str, row[:4]))}"),
            row[10],
            bool(row[11]),
        )
        for row in db.execute(f"SELECT {columns}, {HAS_VALUES} FROM cells")
    }
    last = db.execute("SELECT value FROM facts WHERE key = 'protocol'").fetchone()
    return StoredResults(rankings, cells, stored_protocol(last[0], path) if last else {})


def stored_results(folder: str | os.PathLike[str]) -> StoredResults:
    """Read the results in a folder without writing to it; empty where it has no study."""
    with reading(folder) as db:
        return StoredResults({}, {}) if db is None else read_stored_results(db, Path(folder) / FILE)


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
