"""All records of a study's file, read in one transaction, and the part of them that a protocol covers."""

import os
import sqlite3
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from labelsieve.errors import StudyError, one_of, unknown_name
from labelsieve.metrics import MEASURES
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.results.profile import Profile, read_profile
from labelsieve.studies.store.damage_checks import REMEDY, check_types, stored_json, stored_numbers, stored_protocol
from labelsieve.studies.store.schema import FILE, reading_study

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS = ("pandas", "polars", "pyarrow")
REPLICATION_FACT = "published"  # the key, in the table of facts, of the replication that a study is a part of


class ResultRow(NamedTuple):
    """A value with its cell; ``rows`` is the fingerprint of the split."""

    dataset: str
    split: int
    method: str
    classifier: str
    k: int
    measure: str
    value: float | None
    seconds: float
    data: str
    code: str
    rows: str


Row = TypeVar("Row", bound=NamedTuple)
COLUMNS = ResultRow._fields[:-1]  # of a data frame


class FailedCell(NamedTuple):
    """A cell that failed, and its error."""

    dataset: str
    split: int
    method: str
    classifier: str
    error: str


class DatasetRecord(NamedTuple):
    """The size of a data set and the fingerprint of its data."""

    n_rows: int
    n_features: int
    n_labels: int
    fingerprint: str


class StoredList(NamedTuple):
    """The ranking of a method in a split as JSON; None where the selection failed."""

    dataset: str
    split: int
    method: str
    selected: str | None


class RunRecord(NamedTuple):
    """The start and end of a run, the version of labelsieve, and its environment as JSON."""

    started: str
    ended: str | None
    version: str
    environment: str | None


@dataclass(frozen=True, eq=False)
class Records:
    """All records of a study."""

    path: Path
    rows: list[ResultRow]
    methods: list[str]
    failures: list[FailedCell]
    selection_seconds: dict[tuple[str, str], float]
    evaluation_seconds: dict[tuple[str, str, str], float]
    test_shares: dict[str, float]
    shapes: dict[str, DatasetRecord]
    protocol: dict[str, Any]
    runs: list[RunRecord]
    selections: list[StoredList]
    profile: Profile
    replication: str | None = None

    def rankings(self, dataset: str, method: str) -> list[list[int]]:
        """Return the stored rankings of a method, one for each split in which it had one."""
        place, high = f"selections.selected of {dataset}, {method}", self.shapes[dataset].n_features - 1
        stored = [row.selected for row in self.selections if (row.dataset, row.method) == (dataset, method) and row.selected]
        return [stored_numbers(text, self.path, place, high=high) for text in stored]

    def of(self, protocol: Protocol) -> "Records":
        """Return the records that a protocol covers, of everything that was run in the folder."""
        methods = {method.name: method for method in protocol.methods}
        sizes = {
            (source.name, name): set(protocol.sizes(self.shapes[source.name].n_features, method))
            for source in protocol.datasets
            if source.name in self.shapes
            for name, method in methods.items()
        }
        classifiers = {classifier.name for classifier in protocol.classifiers}
        n_splits = protocol.splits.count

        def covers(row: ResultRow | FailedCell) -> bool:
            known = (row.dataset, row.method) in sizes and row.classifier in classifiers
            return known and (n_splits is None or row.split < n_splits)

        return replace(
            self,
            rows=[
                row
                for row in self.rows
                if covers(row) and row.k in sizes[row.dataset, row.method] and row.measure in protocol.measures
            ],
            methods=[name for name in methods if name in self.methods],
            failures=[row for row in self.failures if covers(row)],
        )


def read_records(folder: str | os.PathLike[str]) -> Records:
    """Read a study's folder, in one consistent state."""
    path = Path(folder) / FILE
    with reading_study(folder) as db:
        check_types(db, path)
        joined = "results JOIN cells ON cell = id ORDER BY dataset, classifier, method, split, k, measure"
        rows = _read(db, ResultRow, joined)
        order = db.execute("SELECT method, min(id) FROM cells GROUP BY method ORDER BY 2").fetchall()
        failures = _read(db, FailedCell, "cells WHERE error NOT NULL")
        sql = "SELECT dataset, method, sum(seconds) FROM selections WHERE error IS NULL GROUP BY 1, 2"
        selection_seconds = {(dataset, method): seconds for dataset, method, seconds in db.execute(sql)}
        sql = "SELECT dataset, method, classifier, sum(seconds) FROM cells WHERE error IS NULL GROUP BY 1, 2, 3"
        evaluation_seconds = {(name, method, model): seconds for name, method, model, seconds in db.execute(sql)}
        shares = dict(db.execute("SELECT name, test_share FROM datasets"))
        facts = dict(db.execute("SELECT key, value FROM facts"))
        sql = "SELECT name, n_rows, n_features, n_labels, data FROM datasets ORDER BY name"
        shapes = {name: DatasetRecord(*rest) for name, *rest in db.execute(sql)}
        runs, selections = _read(db, RunRecord, "runs ORDER BY id"), _read(db, StoredList, "selections")
        profile = read_profile(db)
    _check_names(rows, shapes, path)
    methods, protocol, seconds = (
        [name for name, _ in order],
        stored_protocol(facts.get("protocol", "{}"), path),
        selection_seconds,
    )
    for run in runs:
        stored_json(run.environment or "{}", dict[str, Any], path, "runs.environment")
    replication, stored = facts.get(REPLICATION_FACT), (runs, selections, profile)
    return Records(path, rows, methods, failures, seconds, evaluation_seconds, shares, shapes, protocol, *stored, replication)


def _check_names(rows: list[ResultRow], shapes: dict[str, DatasetRecord], path: Path) -> None:
    """Refuse results of data sets and measures that are not known."""
    for dataset in sorted({row.dataset for row in rows} - set(shapes)):
        raise StudyError(f"{path}: damaged: results of {dataset!r}, which the table of data sets does not have. {REMEDY}.")
    for measure in sorted({row.measure for row in rows} - set(MEASURES)):
        raise StudyError(f"{path}: damaged: results.measure: {unknown_name('measure', measure, MEASURES)}")


def _read(db: sqlite3.Connection, kind: type[Row], tables: str) -> list[Row]:
    """Read the columns of a named tuple."""
    return [kind(*row) for row in db.execute(f"SELECT {', '.join(kind._fields)} FROM {tables}")]


def mixed_kinds(rows: list[ResultRow]) -> list[str]:
    """Return what differs between rows: the code, the data of a data set, or the rows of one of its splits."""
    kinds = {("code", -1, row.code) for row in rows}
    kinds |= {(f"data of {row.dataset}", -1, row.data) for row in rows}
    kinds |= {(f"splits of {row.dataset}", row.split, row.rows) for row in rows}
    names = [(name, split) for name, split, _ in kinds]
    return sorted({name for name, split in names if names.count((name, split)) > 1})


def frame_of(columns: dict[str, list[Any]], types: dict[str, type], backend: Backend) -> Any:
    """Make a data frame with the same column types whether it has rows or none; columns without a type are text.

    >>> frame_of({"method": [], "k": []}, {"k": int}, "pandas").dtypes["k"]
    dtype('int64')
    """
    one_of(backend, "backend", BACKENDS)
    library, kinds = import_module(backend), {name: types.get(name, str) for name in columns}
    if backend == "polars":
        return library.DataFrame(columns, schema=kinds)
    if backend == "pandas":
        return library.DataFrame({name: library.Series(values, dtype=kinds[name]) for name, values in columns.items()})
    arrow = {int: library.int64(), float: library.float64(), str: library.string()}
    return library.table(columns, schema=library.schema([(name, arrow[kind]) for name, kind in kinds.items()]))
