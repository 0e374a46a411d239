"""The results of a study as three small Parquet files, from which a run can be continued.

``values.parquet`` has one row for every cell (data set, split, method, classifier) and number of features ``k``, with one
column for each measure, float32. ``cells.parquet`` has the seconds, CPU seconds, peak memory, error and fingerprints of
every cell; ``selections.parquet`` those of every selection, with the ranking as a list of columns, best first. Key columns are
dictionary-encoded text. The metadata of ``cells.parquet`` has the protocol, the data sets and the runs as JSON.
"""

import json
import os
import sqlite3
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from labelsieve.errors import InputError
from labelsieve.studies.leaderboard.board_results import study_folders
from labelsieve.studies.store.schema import FILE, connect, plain_errors, reading_study

KEY = ("dataset", "split", "method", "classifier")
PRINTS = ("data", "rows", "settings", "code")
USED = ("seconds", "cpu", "peak_mb", "error")
TEXTS = frozenset({"dataset", "method", "classifier", "error", *PRINTS, "sizes", "measures"})
CELLS, SELECTIONS, VALUES = "cells.parquet", "selections.parquet", "values.parquet"
META = b"labelsieve"


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
