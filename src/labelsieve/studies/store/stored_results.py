"""What a study's file has: selections and cells with the hashes of all that they depend on."""

import json
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelsieve.studies.store.schema import connect_to_read, plain_errors

FILE = "results.sqlite"
HAS_VALUES = "EXISTS (SELECT 1 FROM results WHERE cell = cells.id)"


@dataclass(frozen=True)
class Prints:
    """Hashes of all that a result depends on."""

    data: str
    rows: str
    settings: str
    code: str


@dataclass(frozen=True)
class StoredRanking:
    """A ranking as it was stored, or the error in its place."""

    prints: Prints
    n_wanted: int
    selected: list[int] | None
    error: str | None


@dataclass(frozen=True)
class StoredCell:
    """What a stored cell covers, and the error of the last try; after one that wanted more it may have values, too."""

    prints: Prints
    sizes: list[int]
    measures: list[str]
    error: str | None
    has_values: bool = True


@dataclass(frozen=True, eq=False)
class Stored:
    """Selections by data set, split and method; cells by those and the classifier; the settings of the last run."""

    selections: dict[tuple[str, int, str], StoredRanking]
    cells: dict[tuple[str, int, str, str], StoredCell]
    protocol: Mapping[str, Any] = field(default_factory=dict)

    def without(self, selections: list[tuple[str, int, str]], cells: list[tuple[str, int, str, str]]) -> "Stored":
        """The rest, as :meth:`Store.forget` would leave it."""
        return Stored(
            {key: self.selections[key] for key in self.selections.keys() - set(selections)},
            {key: self.cells[key] for key in self.cells.keys() - set(cells)},
            self.protocol,
        )


def read_stored(db: sqlite3.Connection) -> Stored:
    """All selections and cells of an open file."""
    sql = "SELECT dataset, split, method, data, rows, settings, code, n_wanted, selected, error FROM selections"
    selections = {
        row[:3]: StoredRanking(Prints(*row[3:7]), row[7], None if row[8] is None else json.loads(row[8]), row[9])
        for row in db.execute(sql)
    }
    columns = "dataset, split, method, classifier, data, rows, settings, code, sizes, measures, error"
    cells = {
        row[:4]: StoredCell(Prints(*row[4:8]), json.loads(row[8]), json.loads(row[9]), row[10], bool(row[11]))
        for row in db.execute(f"SELECT {columns}, {HAS_VALUES} FROM cells")
    }
    last = db.execute("SELECT value FROM facts WHERE key = 'protocol'").fetchone()
    return Stored(selections, cells, json.loads(last[0]) if last else {})


def look(folder: str | os.PathLike[str]) -> Stored:
    """What is stored in a folder, without writing anything there; nothing where there is no study."""
    path = Path(folder) / FILE
    with plain_errors(path):
        db = connect_to_read(path)
        if db is None:
            return Stored({}, {})
        try:
            return read_stored(db)
        finally:
            db.close()
