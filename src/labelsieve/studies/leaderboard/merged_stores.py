"""Joining the results of shards, which were run into folders of their own."""

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from labelsieve.errors import StudyError
from labelsieve.studies.store.damage_checks import check_types
from labelsieve.studies.store.schema import FILE, connect, plain_errors

_SAME = "old.data = new.data AND old.rows = new.rows AND old.settings = new.settings"
_SELECTION = "old.dataset = new.dataset AND old.split = new.split AND old.method = new.method"
_CELL = f"{_SELECTION} AND old.classifier = new.classifier"
# A result is better than an error, and a longer one than a shorter one.
_BETTER_SELECTION = "new.selected NOT NULL AND (old.selected IS NULL OR new.n_wanted > old.n_wanted)"
_VALUES = "(SELECT count(*) FROM {0}.results WHERE cell = {1}.id)"
_BETTER_CELL = f"{_VALUES.format('other', 'new')} > {_VALUES.format('main', 'old')}"


def merge(folder: str | os.PathLike[str], others: Iterable[str | os.PathLike[str]]) -> int:
    """Add the results of other folders to a study; return the number of cells that were added or replaced.

    A selection or cell that both have is kept, unless that of the other folder has more numbers of features or measures, or a
    result instead of an error. Both must be of the same data, splits and settings; their code may differ.
    """
    from labelsieve.studies.store.study_store import StudyStore

    with StudyStore(folder):  # no other process may run it
        path, n_added = Path(folder) / FILE, 0
        db = connect(path)
        try:
            for other in others:
                with plain_errors(path):
                    n_added += _add(db, path, Path(other) / FILE)
        finally:
            db.close()
    return n_added


def _add(db: sqlite3.Connection, path: Path, other: Path) -> int:
    if not other.exists():
        raise StudyError(f"{other.parent}: this folder has no study; there is no {FILE} in it.")
    connect(other).close()  # brings an earlier version of the format up to date, and refuses other files
    db.execute("ATTACH ? AS other", (str(other),))
    try:
        check_types(db, path)
        for table, match in (("selections", _SELECTION), ("cells", _CELL)):
            differs = f"SELECT new.dataset, new.split, new.method FROM other.{table} new JOIN main.{table} old ON {match}"
            found = db.execute(f"{differs} WHERE NOT ({_SAME}) LIMIT 1").fetchone()
            if found is not None:
                raise StudyError(
                    f"{other.parent}: {', '.join(map(str, found))} has other data, splits or settings than {path}."
                )
        db.execute("BEGIN IMMEDIATE")
        try:
            n_added = _copy(db)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
    finally:
        db.execute("DETACH other")
    return n_added


def _copy(db: sqlite3.Connection) -> int:
    db.execute("INSERT OR IGNORE INTO main.facts SELECT * FROM other.facts")
    db.execute("INSERT OR IGNORE INTO main.datasets SELECT * FROM other.datasets")
    first_run = db.execute("SELECT coalesce(max(id), 0) FROM main.runs").fetchone()[0]
    runs = [row[1] for row in db.execute("PRAGMA main.table_info(runs)")][1:]
    names = ", ".join(runs)
    db.execute(f"INSERT INTO main.runs (id, {names}) SELECT id + {first_run}, {names} FROM other.runs")
    db.execute(
        f"DELETE FROM main.selections AS old WHERE EXISTS "
        f"(SELECT 1 FROM other.selections new WHERE {_SELECTION} AND {_BETTER_SELECTION})"
    )
    db.execute(f"DELETE FROM main.cells AS old WHERE EXISTS (SELECT 1 FROM other.cells new WHERE {_CELL} AND {_BETTER_CELL})")
    db.execute("INSERT OR IGNORE INTO main.selections SELECT * FROM other.selections")
    first = db.execute("SELECT coalesce(max(id), 0) FROM main.cells").fetchone()[0]
    columns = [row[1] for row in db.execute("PRAGMA main.table_info(cells)")][1:]
    names = ", ".join(columns)
    added = db.execute(f"INSERT OR IGNORE INTO main.cells (id, {names}) SELECT id + {first}, {names} FROM other.cells").rowcount
    db.execute(
        f"INSERT INTO main.results SELECT cell + {first}, k, measure, value FROM other.results "
        f"WHERE cell + {first} IN (SELECT id FROM main.cells)"
    )
    return added
