"""The tables of a study's file, and error messages for what SQLite raises."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labelsieve.errors import StudyError

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
