"""Where the time of a study goes."""

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labelsieve.studies.results.grid import escaped
from labelsieve.studies.store.schema import connect_to_read, plain_errors
from labelsieve.studies.store.stored_results import FILE

KINDS = ("selection", "training", "prediction", "training and prediction", "measures", "other", "storage")


@dataclass(frozen=True)
class Profile:
    """Seconds by method and kind of work.

    Classifiers of neighbors answer for all numbers of features from one search, in which learning and answering cannot be told
    apart: theirs are under "training and prediction". "other" is what an evaluation took beside its parts; all of it where it
    failed, or was stored by a release that did not measure parts. "storage" is what it took to write a cell or a selection, one
    transaction each; of a run that was killed the last is not known.

    Attributes
    ----------
    methods : dict
        Of each method the seconds by kind, in the order of :data:`KINDS`.
    preparing : float
        Seconds of all runs to load data, hash them, part their rows and find what is missing.
    running : float
        Seconds of all runs that ended, from then on; with several processes at a time less than the methods took together.

    Examples
    --------
    >>> found = Profile({"jmi": dict.fromkeys(KINDS, 0.0) | {"selection": 3.0, "storage": 1.0}}, 0.5, 4.0)
    >>> found.total["selection"], found.share("storage")
    (3.0, 0.25)
    >>> print(found.to_markdown())
    | method | selection | storage | seconds |
    |---|---:|---:|---:|
    | jmi | 3.00 | 1.00 | 4.00 |
    | together | 75.0 % | 25.0 % | 4.00 |
    """

    methods: Mapping[str, Mapping[str, float]]
    preparing: float
    running: float

    @property
    def total(self) -> dict[str, float]:
        """Seconds of all methods by kind."""
        return {kind: sum(spent[kind] for spent in self.methods.values()) for kind in KINDS}

    def share(self, kind: str) -> float:
        """What part of all seconds a kind took; 0 where nothing ran."""
        return self.total[kind] / (sum(self.total.values()) or 1.0)

    def rows(self, digits: int = 2) -> list[list[str]]:
        """A table as text: head, seconds of each method, shares of all. Kinds that took nothing are left out."""
        kinds = [kind for kind in KINDS if self.total[kind] > 0]
        head = ["method", *kinds, "seconds"]
        body = [
            [name, *(f"{spent[kind]:.{digits}f}" for kind in kinds), f"{sum(spent.values()):.{digits}f}"]
            for name, spent in self.methods.items()
        ]
        shares = [f"{100 * self.share(kind):.1f} %" for kind in kinds]
        return [head, *body, ["together", *shares, f"{sum(self.total.values()):.{digits}f}"]]

    def to_markdown(self, digits: int = 2) -> str:
        """The same for Markdown."""
        head, *body = ["| " + " | ".join(map(escaped, row)) + " |" for row in self.rows(digits)]
        return "\n".join([head, "|---" + "|---:" * (len(self.rows()[0]) - 1) + "|", *body])


def read_profile(db: sqlite3.Connection) -> Profile:
    """Add up what an open file says."""
    found: dict[str, dict[str, float]] = {}
    cells = "sum(seconds), sum(training), sum(prediction), sum(both), sum(measuring), sum(storing)"
    for method, seconds, *parts, storing in db.execute(f"SELECT method, {cells} FROM cells GROUP BY method ORDER BY min(id)"):
        spent = dict.fromkeys(KINDS, 0.0)
        spent |= {kind: value or 0.0 for kind, value in zip(KINDS[1:5], parts, strict=True)}
        spent["other"] = max(0.0, (seconds or 0.0) - sum(spent.values()))
        found[method] = spent | {"storage": storing or 0.0}
    for method, seconds, storing in db.execute("SELECT method, sum(seconds), sum(storing) FROM selections GROUP BY method"):
        spent = found.setdefault(method, dict.fromkeys(KINDS, 0.0))
        spent["selection"] += seconds or 0.0
        spent["storage"] += storing or 0.0
    preparing, running = db.execute("SELECT sum(preparing), sum(seconds) FROM runs").fetchone()
    return Profile(found, preparing or 0.0, running or 0.0)


def profile_of(folder: str | os.PathLike[str]) -> Profile:
    """The same of a study's folder, without its results."""
    path = Path(folder) / FILE
    with plain_errors(path):
        db = connect_to_read(path)
        if db is None:
            return Profile({}, 0.0, 0.0)
        try:
            return read_profile(db)
        finally:
            db.close()
