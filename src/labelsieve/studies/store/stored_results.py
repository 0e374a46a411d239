"""The contents of a study's file: rankings and cells with fingerprints of everything they depend on."""

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from labelsieve.studies.store.damage_checks import check_types, stored_json, stored_numbers, stored_protocol
from labelsieve.studies.store.schema import FILE, reading

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
