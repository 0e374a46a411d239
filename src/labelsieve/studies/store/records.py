"""What a study's file says, read in one go, and the part of it that a protocol asks for."""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.results.profile import Profile, read_profile
from labelsieve.studies.store.schema import connect_to_read, plain_errors
from labelsieve.studies.store.stored_results import FILE
from labelsieve.studies.study_error import StudyError

COLUMNS = ("dataset", "split", "method", "classifier", "k", "measure", "value", "seconds", "data", "code")


@dataclass(frozen=True, eq=False)
class Records:
    """Rows as in :data:`COLUMNS` with the hash of the split's rows behind them, and all else that there is."""

    rows: list[tuple[Any, ...]]
    methods: list[str]
    failures: list[tuple[Any, ...]]
    selecting: dict[tuple[str, str], float]
    judging: dict[tuple[str, ...], float]
    test_shares: dict[str, float]
    shapes: dict[str, tuple[int, int, int, str]]
    protocol: dict[str, Any]
    runs: list[dict[str, Any]]
    selections: list[tuple[str, int, str, str | None]]
    profile: Profile
    published: str | None = None

    def of(self, protocol: Protocol) -> "Records":
        """What a protocol asks for, of all that was ever run in the folder."""
        methods = {one.name: one for one in protocol.methods}
        sizes = {
            (source.name, name): set(protocol.sizes(self.shapes[source.name][1], one))
            for source in protocol.datasets
            if source.name in self.shapes
            for name, one in methods.items()
        }
        classifiers = {one.name for one in protocol.classifiers}
        n_splits = protocol.splits.count

        def is_asked(dataset: str, split: int, method: str, classifier: str) -> bool:
            wanted = (dataset, method) in sizes and classifier in classifiers
            return wanted and (n_splits is None or split < n_splits)

        return replace(
            self,
            rows=[
                row
                for row in self.rows
                if is_asked(*row[:4]) and row[4] in sizes[row[0], row[2]] and row[5] in protocol.measures
            ],
            methods=[name for name in methods if name in self.methods],
            failures=[row for row in self.failures if is_asked(*row[:4])],
        )


def read_records(folder: str | os.PathLike[str]) -> Records:
    """Read a study's folder, as it is at one moment."""
    path = Path(folder) / FILE
    with plain_errors(path):
        db = connect_to_read(path)
        if db is None:
            raise StudyError(f"{folder}: there is no study in this folder; it would hold {FILE}.")
        try:
            db.execute("BEGIN")  # one moment for all that follows, whoever writes meanwhile
            sql = f"""SELECT {", ".join(COLUMNS)}, rows
                      FROM results JOIN cells ON cell = id ORDER BY dataset, classifier, method, split, k, measure"""
            rows = db.execute(sql).fetchall()
            order = db.execute("SELECT method, min(id) FROM cells GROUP BY method ORDER BY 2").fetchall()
            sql = "SELECT dataset, split, method, classifier, error FROM cells WHERE error NOT NULL"
            failures = db.execute(sql).fetchall()
            sql = "SELECT dataset, method, sum(seconds) FROM selections WHERE error IS NULL GROUP BY 1, 2"
            selecting = {(dataset, method): seconds for dataset, method, seconds in db.execute(sql)}
            sql = "SELECT dataset, method, classifier, sum(seconds) FROM cells WHERE error IS NULL GROUP BY 1, 2, 3"
            judging = {tuple(key): seconds for *key, seconds in db.execute(sql)}
            shares = dict(db.execute("SELECT name, test_share FROM datasets"))
            facts = dict(db.execute("SELECT key, value FROM facts"))
            shapes = db.execute("SELECT name, n_rows, n_features, n_labels, data FROM datasets ORDER BY name").fetchall()
            runs = db.execute("SELECT started, ended, version, environment FROM runs ORDER BY id").fetchall()
            selections = db.execute("SELECT dataset, split, method, selected FROM selections").fetchall()
            profile = read_profile(db)
        finally:
            db.close()
    return Records(
        rows,
        [name for name, _ in order],
        failures,
        selecting,
        judging,
        shares,
        {name: tuple(rest) for name, *rest in shapes},
        json.loads(facts.get("protocol", "{}")),
        [dict(zip(("started", "ended", "version", "environment"), run, strict=True)) for run in runs],
        selections,
        profile,
        facts.get("published"),
    )


def mixed_kinds(rows: list[tuple[Any, ...]]) -> list[str]:
    """What is not the same for all rows: the code, the data of a set, or the rows of one of its splits."""
    kinds = {("code", "", row[9]) for row in rows}
    kinds |= {(f"data of {row[0]}", "", row[8]) for row in rows}
    kinds |= {(f"splits of {row[0]}", str(row[1]), row[10]) for row in rows}
    names = [(name, place) for name, place, _ in kinds]
    return sorted({name for name, place in names if names.count((name, place)) > 1})
