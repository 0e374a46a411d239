"""The tables of a study's file, and what SQLite's complaints mean for users."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labelsieve.studies.errors import StudyError

FORMAT = "labelsieve study"
VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, pid INTEGER, host TEXT, version TEXT, environment TEXT
);
CREATE TABLE IF NOT EXISTS datasets (
    name TEXT PRIMARY KEY, data TEXT NOT NULL, n_rows INTEGER, n_features INTEGER, n_labels INTEGER, test_share REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selections (
    dataset TEXT, split INTEGER, method TEXT, data TEXT, rows TEXT, settings TEXT, code TEXT,
    n_wanted INTEGER, selected TEXT, seconds REAL, peak_mb REAL, error TEXT, run INTEGER,
    PRIMARY KEY (dataset, split, method)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    id INTEGER PRIMARY KEY, dataset TEXT, split INTEGER, method TEXT, classifier TEXT,
    data TEXT, rows TEXT, settings TEXT, code TEXT, sizes TEXT, measures TEXT,
    seconds REAL, peak_mb REAL, error TEXT, run INTEGER,
    UNIQUE (dataset, split, method, classifier)
);
CREATE TABLE IF NOT EXISTS results (
    cell INTEGER REFERENCES cells (id) ON DELETE CASCADE, k INTEGER, measure TEXT, value REAL, PRIMARY KEY (cell, k, measure)
) WITHOUT ROWID;
"""
_MEANINGS = {
    sqlite3.SQLITE_FULL: "the disk is full. Make room and run again: what was finished is kept",
    sqlite3.SQLITE_READONLY: "it cannot be written: the file or its folder is read-only. Choose another folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: the folder is missing or read-only. Choose another folder",
    sqlite3.SQLITE_PERM: "it may not be opened. Choose another folder",
    sqlite3.SQLITE_NOTADB: "this file is no study. Choose another folder",
    sqlite3.SQLITE_CORRUPT: "this file is damaged. Restore it from a copy, or choose another folder",
    sqlite3.SQLITE_IOERR: "the disk failed while reading or writing",
    sqlite3.SQLITE_BUSY: "another program holds it. Wait until that has ended",
}


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an error that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code, without its shades
        raise StudyError(f"{path}: {_MEANINGS.get(code, f'SQLite says {error}')}.") from error


def connect(path: Path, *, wait: float = 10.0) -> sqlite3.Connection:
    """Open a study's file for writing; its tables are made if it is new."""
    with plain_errors(path):
        connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A killed process loses nothing that was committed; a failing power supply may lose the last moments.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute("INSERT OR IGNORE INTO facts VALUES ('format', ?), ('version', ?)", (FORMAT, str(VERSION)))
            connection.execute("COMMIT")
            found = dict(connection.execute("SELECT key, value FROM facts WHERE key IN ('format', 'version')"))
        except sqlite3.Error:
            connection.close()
            raise
    if found != {"format": FORMAT, "version": str(VERSION)}:
        connection.close()
        raise StudyError(f"{path}: version {found.get('version')} of the format; this release reads version {VERSION}.")
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a study's file for reading, while it is written or in a folder that cannot be written."""
    address = path.absolute().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True)
    try:
        connection.execute("SELECT key FROM facts LIMIT 1").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if path.with_name(f"{path.name}-wal").exists():
            raise
        # Nobody writes, and SQLite would like to make files beside it even to read: tell it that there is no need.
        connection = sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)
    return connection
