"""The time that a study took, by method and phase."""

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labelsieve.studies.results.grid import markdown_cell
from labelsieve.studies.store.damage_checks import check_types
from labelsieve.studies.store.schema import FILE, reading

KINDS = ("selection", "training", "prediction", "training and prediction", "measures", "other", "storage")


@dataclass(frozen=True)
class Profile:
    """The time of a study: seconds by method and kind of work.

    Neighbor classifiers predict for all numbers of features from one search, in which training and prediction cannot be
    separated: their seconds are under "training and prediction". "other" is the rest of an evaluation; all of it if it failed,
    or was stored by a release that did not measure phases. "storage" is the time to write a cell or a selection, one
    transaction each; the last one of a killed run is unknown.

    Attributes
    ----------
    methods : dict
        Seconds by method and kind.
    preparing : float
        Seconds of all runs to load and hash data, split their rows and plan the missing cells.
    running : float
        Seconds of all finished runs after that; with several processes less than the sum over methods.

    Examples
    --------
    >>> found = Profile({"jmi": dict.fromkeys(KINDS, 0.0) | {"selection": 3.0, "storage": 1.0}}, 0.5, 4.0)
    >>> found.total["selection"], found.share("storage")
    (3.0, 0.25)
    >>> print(found.to_markdown())
    | method | selection | storage | seconds |
    |---|---:|---:|---:|
    | jmi | 3.00 | 1.00 | 4.00 |
    | total | 75.0 % | 25.0 % | 4.00 |
    """

    methods: Mapping[str, Mapping[str, float]]
    preparing: float
    running: float

    @property
    def total(self) -> dict[str, float]:
        """Seconds of all methods by kind."""
        return {kind: sum(seconds[kind] for seconds in self.methods.values()) for kind in KINDS}

    def share(self, kind: str) -> float:
        """Return the fraction of a kind in all seconds; 0 where nothing ran."""
        return self.total[kind] / (sum(self.total.values()) or 1.0)

    def rows(self, digits: int = 2) -> list[list[str]]:
        """Return a table as text: head, seconds of each method, shares. Kinds without any seconds are left out."""
        kinds = [kind for kind in KINDS if self.total[kind] > 0]
        head = ["method", *kinds, "seconds"]
        body = [
            [name, *(f"{seconds[kind]:.{digits}f}" for kind in kinds), f"{sum(seconds.values()):.{digits}f}"]
            for name, seconds in self.methods.items()
        ]
        shares = [f"{100 * self.share(kind):.1f} %" for kind in kinds]
        return [head, *body, ["total", *shares, f"{sum(self.total.values()):.{digits}f}"]]

    def to_markdown(self, digits: int = 2) -> str:
        """Return the table in Markdown."""
        head, *body = ["| " + " | ".join(map(markdown_cell, row)) + " |" for row in self.rows(digits)]
        return "\n".join([head, "|---" + "|---:" * (len(self.rows()[0]) - 1) + "|", *body])


def read_profile(db: sqlite3.Connection) -> Profile:
    """Sum the seconds of an open file."""
    seconds_by_method: dict[str, dict[str, float]] = {}
    cells = "sum(seconds), sum(training), sum(prediction), sum(both), sum(measuring), sum(storing)"
    for method, seconds, *phases, storing in db.execute(f"SELECT method, {cells} FROM cells GROUP BY method ORDER BY min(id)"):
        by_kind = dict.fromkeys(KINDS, 0.0)
        by_kind |= {kind: value or 0.0 for kind, value in zip(KINDS[1:5], phases, strict=True)}
        by_kind["other"] = max(0.0, (seconds or 0.0) - sum(by_kind.values()))
        seconds_by_method[method] = by_kind | {"storage": storing or 0.0}
    for method, seconds, storing in db.execute("SELECT method, sum(seconds), sum(storing) FROM selections GROUP BY method"):
        by_kind = seconds_by_method.setdefault(method, dict.fromkeys(KINDS, 0.0))
        by_kind["selection"] += seconds or 0.0
        by_kind["storage"] += storing or 0.0
    preparing, running = db.execute("SELECT sum(preparing), sum(seconds) FROM runs").fetchone()
    return Profile(seconds_by_method, preparing or 0.0, running or 0.0)


def profile_of(folder: str | os.PathLike[str]) -> Profile:
    """Read the profile of a study's folder, without its results."""
    with reading(folder) as db:
        if db is None:
            return Profile({}, 0.0, 0.0)
        check_types(db, Path(folder) / FILE)
        return read_profile(db)
