"""Results of the leaderboard: read from the folders of studies as arrays, merged, and stored as Parquet files."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, StudyError
from labelsieve.metrics import MEASURES
from labelsieve.studies.protocol import ALL
from labelsieve.studies.store import FILE, StudyStore, connect, plain_errors, reading_study, stored_protocol

Floats = NDArray[np.float64]
SIZES = (1, 2, 5, 10, 20, 40, 70, 100)  # numbers of features that are read


@dataclass(frozen=True)
class BoardData:
    """A data set: its study, tags and size."""

    name: str
    study: str
    tags: tuple[str, ...]
    n_rows: int
    n_features: int
    n_labels: int
    measures: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class BoardResults:
    """Results of all studies of a leaderboard.

    Attributes
    ----------
    datasets : list of BoardData
    methods, learners, measures : list of str
    sizes : tuple of int
        Numbers of features.
    values : array of shape (n_datasets, n_methods, n_learners, n_measures, n_sizes)
        Means over the splits; NaN where there are none. The method ``all`` has the value of all features for every size.
    n_splits, n_failed : array of shape (n_datasets, n_methods, n_learners)
        Numbers of splits with results, and of splits that failed.
    cpu, memory : array of shape (n_datasets, n_methods)
        Medians over the splits of the CPU seconds of a selection, and of its peak memory in MB above that of the method
        ``random`` on the same rows.
    errors : list of (str, str, str, int)
        Data set, method, error and number of its cells.
    n_cells : int
        Cells that were run, failed ones included.
    hours : float
        CPU hours of all selections and evaluations.
    """

    datasets: list[BoardData]
    methods: list[str]
    learners: list[str]
    measures: list[str]
    sizes: tuple[int, ...]
    values: Floats
    n_splits: NDArray[np.intp]
    n_failed: NDArray[np.intp]
    cpu: Floats
    memory: Floats
    errors: list[tuple[str, str, str, int]]
    n_cells: int
    hours: float

    @property
    def lower_is_better(self) -> list[bool]:
        """Whether lower values are better, for each measure."""
        return [MEASURES[name].lower_is_better for name in self.measures]


def study_folders(folder: str | os.PathLike[str], file: str = FILE, writer: str = "labelsieve compare") -> dict[str, Path]:
    """Return the folders with a file of a study, by name of the study, which is empty if it is in ``folder`` itself."""
    root = Path(folder)
    if (root / file).exists():
        return {"": root}
    found = {path.parent.name: path.parent for path in sorted(root.glob(f"*/{file}"))}
    if not found:
        raise StudyError(f"{root}: there is no study: no {file} in this folder or in one below it; {writer} writes it.")
    return found


def read_board(folder: str | os.PathLike[str], *, sizes: Sequence[int] = SIZES, repeats: int | None = None) -> BoardResults:
    """Read the studies of a leaderboard, also while they run; ``repeats`` are the first splits to read (default: all)."""
    rows = [_read(name, path, repeats) for name, path in study_folders(folder).items()]
    datasets = [data for study in rows for data in study["datasets"]]
    methods = list(dict.fromkeys(name for study in rows for name in study["methods"]))
    learners = list(dict.fromkeys(name for study in rows for name in study["learners"]))
    measures = list(dict.fromkeys(name for study in rows for data in study["datasets"] for name in data.measures))
    places: list[dict[Any, int]] = [
        {name: place for place, name in enumerate(names)}
        for names in ([data.name for data in datasets], methods, learners, measures, sizes)
    ]
    shape = tuple(map(len, places))
    values = np.full(shape, np.nan)
    n_splits, n_failed = np.zeros(shape[:3], dtype=np.intp), np.zeros(shape[:3], dtype=np.intp)
    cpu, memory = np.full(shape[:2], np.nan), np.full(shape[:2], np.nan)
    for study in rows:
        for *names, k, value in study["values"]:
            place = tuple(table[name] for table, name in zip(places, names, strict=False))
            if names[1] == ALL:
                values[place] = value
            elif k in places[4]:
                values[(*place, places[4][k])] = value
        for *names, good, bad in study["cells"]:
            place = tuple(table[name] for table, name in zip(places, names, strict=False))
            n_splits[place], n_failed[place] = good, bad
        for dataset, method, seconds, megabytes in study["selections"]:
            place = places[0][dataset], places[1][method]
            cpu[place], memory[place] = seconds, megabytes
    errors = [error for study in rows for error in study["errors"]]
    n_cells, hours = (sum(study[key] for study in rows) for key in ("n_cells", "hours"))
    counts = n_splits, n_failed, cpu, memory
    return BoardResults(datasets, methods, learners, measures, tuple(sizes), values, *counts, errors, n_cells, hours)


@contextmanager
def stored_board(folder: Path) -> Iterator[Path]:
    """Yield the folder of a leaderboard; files that were exported are imported into a temporary one."""
    if not any(folder.glob("**/cells.parquet")):
        study_folders(folder)  # refuses a folder without results
        yield folder
        return
    with TemporaryDirectory() as temporary:
        for name, path in exported_folders(folder).items():
            import_results(path, Path(temporary) / name)
        yield Path(temporary)


def _read(name: str, folder: Path, repeats: int | None) -> dict[str, Any]:
    with reading_study(folder) as db:
        if repeats is not None:
            for table in ("cells", "selections"):
                db.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM main.{table} WHERE split < ?", (repeats,))
        return _tables(db, name)


def _tables(db: sqlite3.Connection, name: str) -> dict[str, Any]:
    protocol = stored_protocol(db)
    settings = {table["name"]: table for table in protocol.get("datasets", [])}
    order = {dataset: place for place, dataset in enumerate(settings)}
    measures = tuple(protocol.get("measures", ()))
    sql = "SELECT name, n_rows, n_features, n_labels FROM datasets WHERE name IN (SELECT dataset FROM cells)"
    found = sorted(db.execute(sql), key=lambda row: order.get(row[0], len(order)))
    key = "dataset, method, classifier"
    means = f"SELECT {key}, measure, k, avg(value) FROM results JOIN cells ON cell = id GROUP BY 1, 2, 3, 4, 5"
    seconds = "SELECT (SELECT total(cpu) FROM cells) + (SELECT total(cpu) FROM selections)"
    errors = "SELECT dataset, method, error, count(*) FROM cells WHERE error NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2"
    methods = [*(table["name"] for table in protocol.get("methods", [])), *protocol.get("baselines", [])]
    return {
        "datasets": [
            BoardData(row[0], name, tuple(settings.get(row[0], {}).get("tags", ())), row[1], row[2], row[3], measures)
            for row in found
        ],
        "methods": _ordered(db, "method", methods),
        "learners": _ordered(db, "classifier", [table["name"] for table in protocol.get("classifiers", [])]),
        "values": [row for row in db.execute(means) if row[3] in measures and row[5] is not None],
        "cells": db.execute(f"SELECT {key}, sum(error IS NULL), sum(error NOT NULL) FROM cells GROUP BY 1, 2, 3").fetchall(),
        "selections": _selections(db),
        "errors": db.execute(errors).fetchall(),
        "n_cells": db.execute("SELECT count(*) FROM cells").fetchone()[0],
        "hours": db.execute(seconds).fetchone()[0] / 3600,
    }


def _ordered(db: sqlite3.Connection, column: str, known: list[str]) -> list[str]:
    found = [row[0] for row in db.execute(f"SELECT DISTINCT {column} FROM cells")]
    return sorted(found, key=lambda name: (known.index(name) if name in known else len(known), name))


def _selections(db: sqlite3.Connection) -> list[tuple[str, str, float, float]]:
    sql = "SELECT dataset, split, method, cpu, peak_mb FROM selections WHERE error IS NULL"
    rows = db.execute(sql).fetchall()
    base = {row[:2]: row[4] for row in rows if row[2] == "random"}
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for dataset, split, method, cpu, peak in rows:
        above = np.nan if peak is None or base.get((dataset, split)) is None else max(0.0, peak - base[dataset, split])
        found.setdefault((dataset, method), []).append((np.nan if cpu is None else cpu, above))
    return [(*key, *np.median(np.array(values), axis=0).tolist()) for key, values in found.items()]


KEY = ("dataset", "split", "method", "classifier")
PRINTS = ("data", "rows", "settings", "code")
USED = ("seconds", "cpu", "peak_mb", "error")
NO_MORE = ("preparing", "seconds")  # of a run: columns of files that earlier versions exported
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
        tables = {CELLS: _cell_table(db, arrow), SELECTIONS: _selection_table(db, arrow), VALUES: _value_table(db, arrow)}
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
            # The version of the format is that of the file that is written, not of the one that was exported.
            own = {key: value for key, value in facts["facts"].items() if key not in ("format", "version")}
            _insert(db, "facts", [{"key": key, "value": value} for key, value in own.items()])
            _insert(db, "datasets", facts["datasets"])
            runs = [{name: value for name, value in run.items() if name not in NO_MORE} for run in facts["runs"]]
            _insert(db, "runs", runs)
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
    return study_folders(folder, CELLS, "python -m leaderboard export")


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("results as Parquet need pyarrow: pip install 'labelsieve[tables]'.") from None


def _text(ranking: list[int] | None) -> str | None:
    return None if ranking is None else json.dumps(ranking)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def _cell_table(db: sqlite3.Connection, arrow: ModuleType) -> Any:
    columns = (*KEY, *PRINTS, *USED, "sizes", "measures")
    table = _table(db, arrow, f"SELECT {', '.join(columns)} FROM cells ORDER BY {', '.join(KEY)}", columns)
    facts = {
        "facts": dict(db.execute("SELECT key, value FROM facts")),
        "datasets": _rows(db, "datasets"),
        "runs": [{key: value for key, value in row.items() if key not in ("id", "pid", "host")} for row in _rows(db, "runs")],
    }
    return table.replace_schema_metadata({META: json.dumps(facts)})


def _selection_table(db: sqlite3.Connection, arrow: ModuleType) -> Any:
    columns = (*KEY[:3], *PRINTS, *USED, "n_wanted")
    order = f"FROM selections ORDER BY {', '.join(KEY[:3])}"
    table = _table(db, arrow, f"SELECT {', '.join(columns)} {order}", columns)
    lists = [text and json.loads(text) for (text,) in db.execute(f"SELECT selected {order}")]
    return table.append_column("selected", arrow.array(lists, type=arrow.list_(arrow.int32())))


def _value_table(db: sqlite3.Connection, arrow: ModuleType) -> Any:
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


def _insert(db: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        names = ", ".join(rows[0])
        sql = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(rows[0]))})"
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


def merge_results(folder: str | os.PathLike[str], others: Iterable[str | os.PathLike[str]]) -> int:
    """Add the results of other folders to a study; return the number of cells that were added or replaced.

    A selection or cell that both have is kept, unless that of the other folder has more numbers of features or measures, or a
    result instead of an error. Both must be of the same data, splits and settings; their code may differ.
    """
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
    with reading_study(other.parent):  # refuses damaged files, and files of other programs
        pass
    db.execute("ATTACH ? AS other", (str(other),))
    try:
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


def _shared_columns(db: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table that both files have; files of earlier versions have more."""
    ours, theirs = ([row[1] for row in db.execute(f"PRAGMA {name}.table_info({table})")] for name in ("main", "other"))
    return [column for column in ours if column in theirs]


def _copy(db: sqlite3.Connection) -> int:
    db.execute("INSERT OR IGNORE INTO main.facts SELECT * FROM other.facts")
    db.execute("INSERT OR IGNORE INTO main.datasets SELECT * FROM other.datasets")
    first_run = db.execute("SELECT coalesce(max(id), 0) FROM main.runs").fetchone()[0]
    names = ", ".join(_shared_columns(db, "runs")[1:])
    db.execute(f"INSERT INTO main.runs (id, {names}) SELECT id + {first_run}, {names} FROM other.runs")
    db.execute(
        f"DELETE FROM main.selections AS old WHERE EXISTS "
        f"(SELECT 1 FROM other.selections new WHERE {_SELECTION} AND {_BETTER_SELECTION})"
    )
    db.execute(f"DELETE FROM main.cells AS old WHERE EXISTS (SELECT 1 FROM other.cells new WHERE {_CELL} AND {_BETTER_CELL})")
    names = ", ".join(_shared_columns(db, "selections"))
    db.execute(f"INSERT OR IGNORE INTO main.selections ({names}) SELECT {names} FROM other.selections")
    first = db.execute("SELECT coalesce(max(id), 0) FROM main.cells").fetchone()[0]
    names = ", ".join(_shared_columns(db, "cells")[1:])
    added = db.execute(f"INSERT OR IGNORE INTO main.cells (id, {names}) SELECT id + {first}, {names} FROM other.cells").rowcount
    db.execute(
        f"INSERT INTO main.results SELECT cell + {first}, k, measure, value FROM other.results "
        f"WHERE cell + {first} IN (SELECT id FROM main.cells)"
    )
    return added
