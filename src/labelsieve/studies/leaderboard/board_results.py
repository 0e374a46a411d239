"""The results of a leaderboard as arrays of means over the splits."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import StudyError
from labelsieve.metrics import MEASURES
from labelsieve.studies.protocol import ALL
from labelsieve.studies.store.damage_checks import check_types, stored_protocol
from labelsieve.studies.store.schema import FILE, reading_study

Floats = NDArray[np.float64]
SIZES = (1, 2, 5, 10, 20, 40, 70, 100)


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


def _read(name: str, folder: Path, repeats: int | None) -> dict[str, Any]:
    with reading_study(folder) as db:
        check_types(db, folder / FILE)
        if repeats is not None:
            for table in ("cells", "selections"):
                db.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM main.{table} WHERE split < ?", (repeats,))
        return _tables(db, name, folder / FILE)


def _tables(db: sqlite3.Connection, name: str, path: Path) -> dict[str, Any]:
    fact = db.execute("SELECT value FROM facts WHERE key = 'protocol'").fetchone()
    protocol = stored_protocol(fact[0] if fact else "{}", path)
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
