"""The results of a study as three small Parquet files, from which a run can be continued, and results of shards merged.

``values.parquet`` has one row for every cell (data set, split, method, classifier) and number of features ``k``, with one
column for each measure, float32. ``cells.parquet`` has the seconds, CPU seconds, peak memory, error and fingerprints of
every cell; ``selections.parquet`` those of every selection, with the ranking as a list of columns, best first. Key columns are
dictionary-encoded text. The metadata of ``cells.parquet`` has the protocol, the data sets and the runs as JSON.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from labelsieve.errors import InputError, StudyError
from labelsieve.studies.leaderboard.board_results import study_folders
from labelsieve.studies.store.damage_checks import check_types
from labelsieve.studies.store.schema import FILE, connect, plain_errors, reading_study

KEY = ("dataset", "split", "method", "classifier")
PRINTS = ("data", "rows", "settings", "code")
USED = ("seconds", "cpu", "peak_mb", "error")
TEXTS = frozenset({"dataset", "method", "classifier", "error", *PRINTS, "sizes", "measures"})
CELLS, SELECTIONS, VALUES = "cells.parquet", "selections.parquet", "values.parquet"
META = b"labelsieve"
_SAME = "old.data = new.data AND old.rows = new.rows AND old.settings = new.settings"
_SELECTION = "old.dataset = new.dataset AND old.split = new.split AND old.method = new.method"
_CELL = f"{_SELECTION} AND old.classifier = new.classifier"
# A result is better than an error, and a longer one than a shorter one.
_BETTER_SELECTION = "new.selected NOT NULL AND (old.selected IS NULL OR new.n_wanted > old.n_wanted)"
_VALUES = "(SELECT count(*) FROM {0}.results WHERE cell = {1}.id)"
_BETTER_CELL = f"{_VALUES.format('other', 'new')} > {_VALUES.format('main', 'old')}"


def export_results(study: str | os.PathLike[str], folder: str | os.PathLike[str]) -> list[Path]:
    """Write the results in the folder of a study as Parquet files to another folder; return their paths."""
    arrow, parquet = _pyarrow()
    target = Path(folder)
    with reading_study(study) as db:
        tables = {CELLS: _cells(db, arrow), SELECTIONS: _selections(db, arrow), VALUES: _values(db, arrow)}
    target.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        floats = [field.name for field in table.schema if arrow.types.is_float32(field.type)]
        texts = [field.name for field in table.schema if arrow.types.is_string(field.type)]
        options = {"use_dictionary": texts, "use_byte_stream_split": floats} if floats else {}
        parquet.write_table(table, target / name, compression="zstd", compression_level=19, **options)
    return [target / name for name in tables]


def import_results(folder: str | os.PathLike[str], study: str | os.PathLike[str]) -> int:
    """Write results of :func:`export_results` to the empty folder of a study; return the number of cells.

    Values are those of the files, rounded to float32.
    """
    _, parquet = _pyarrow()
    source, path = Path(folder), Path(study) / FILE
    absent = [name for name in (CELLS, SELECTIONS, VALUES) if not (source / name).exists()]
    if absent:
        raise InputError(f"{source}: there is no {absent[0]}; export writes it.")
    if path.exists():
        raise InputError(f"{study}: there is a study; import into another folder, and merge the two.")
    path.parent.mkdir(parents=True, exist_ok=True)
    cells, selections, values = (parquet.read_table(source / name) for name in (CELLS, SELECTIONS, VALUES))
    facts = json.loads(cells.schema.metadata[META])
    with plain_errors(path):
        db = connect(path)
        try:
            db.execute("BEGIN IMMEDIATE")
            _insert(db, "facts", [{"key": key, "value": value} for key, value in facts["facts"].items()], replace=True)
            _insert(db, "datasets", facts["datasets"])
            _insert(db, "runs", facts["runs"])
            _insert(db, "selections", [{**row, "selected": _text(row["selected"])} for row in selections.to_pylist()])
            rows = cells.to_pylist()
            _insert(db, "cells", rows)
            ids = {row[1:]: row[0] for row in db.execute(f"SELECT id, {', '.join(KEY)} FROM cells")}
            _insert_values(db, values, ids, [json.loads(row["measures"]) for row in rows], [_key(row) for row in rows])
            db.execute("COMMIT")
        finally:
            db.close()
    return len(rows)


def exported_folders(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the folders with exported files, as :func:`study_folders` does those of studies."""
    return study_folders(folder, CELLS, "labelsieve leaderboard export")


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("results as Parquet need pyarrow: pip install 'labelsieve[tables]'.") from None


def _text(ranking: list[int] | None) -> str | None:
    return None if ranking is None else json.dumps(ranking)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def _cells(db: sqlite3.Connection, arrow: ModuleType) -> Any:
    columns = (*KEY, *PRINTS, *USED, "sizes", "measures")
    table = _table(db, arrow, f"SELECT {', '.join(columns)} FROM cells ORDER BY {', '.join(KEY)}", columns)
    facts = {
        "facts": dict(db.execute("SELECT key, value FROM facts")),
        "datasets": _rows(db, "datasets"),
        "runs": [{key: value for key, value in row.items() if key not in ("id", "pid", "host")} for row in _rows(db, "runs")],
    }
    return table.replace_schema_metadata({META: json.dumps(facts)})


def _selections(db: sqlite3.Connection, arrow: ModuleType) -> Any:
    columns = (*KEY[:3], *PRINTS, *USED, "n_wanted")
    order = f"FROM selections ORDER BY {', '.join(KEY[:3])}"
    table = _table(db, arrow, f"SELECT {', '.join(columns)} {order}", columns)
    lists = [text and json.loads(text) for (text,) in db.execute(f"SELECT selected {order}")]
    return table.append_column("selected", arrow.array(lists, type=arrow.list_(arrow.int32())))


def _values(db: sqlite3.Connection, arrow: ModuleType) -> Any:
    measures = sorted(name for (name,) in db.execute("SELECT DISTINCT measure FROM results"))
    wide, key = ", ".join(["max(CASE WHEN measure = ? THEN value END)"] * len(measures)), ", ".join(KEY)
    sql = (
        f"SELECT {key}, k{', ' if wide else ''}{wide} FROM results JOIN cells ON cell = id GROUP BY {key}, k ORDER BY {key}, k"
    )
    return _table(db, arrow, sql, (*KEY, "k", *measures), measures)


def _table(db: sqlite3.Connection, arrow: ModuleType, sql: str, columns: tuple[str, ...], values: Sequence[str] = ()) -> Any:
    def kind(name: str) -> Any:
        if name in TEXTS:
            return arrow.string()
        return arrow.int32() if name in ("split", "k", "n_wanted") else arrow.float32()

    data: list[Any] = list(zip(*db.execute(sql, values), strict=True)) or [()] * len(columns)
    arrays = [arrow.array(column, type=kind(name)) for name, column in zip(columns, data, strict=True)]
    return arrow.table(dict(zip(columns, arrays, strict=True)))


def _rows(db: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    found = db.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def _insert(db: sqlite3.Connection, table: str, rows: list[dict[str, Any]], *, replace: bool = False) -> None:
    if rows:
        names = ", ".join(rows[0])
        sql = f"INSERT {'OR REPLACE ' if replace else ''}INTO {table} ({names}) VALUES ({', '.join('?' * len(rows[0]))})"
        db.executemany(sql, [tuple(row.values()) for row in rows])


def _insert_values(
    db: sqlite3.Connection, values: Any, ids: dict[Any, int], measures: list[list[str]], keys: list[tuple[Any, ...]]
) -> None:
    """Insert the values of the measures that a cell has; one without a value is undefined."""
    asked = dict(zip(keys, measures, strict=True))
    for batch in values.to_batches(max_chunksize=10_000):
        rows = []
        for row in batch.to_pylist():
            key = _key(row)
            rows += [(ids[key], row["k"], measure, row[measure]) for measure in asked[key]]
        db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)


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
