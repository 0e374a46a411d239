"""What a study's file holds, read at once, and the tables that results are shown in: grids of values and profiles of time."""

import json
import math
import os
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeVar

from labelsieve.errors import one_of
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.store import reading_study, stored_protocol

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS = ("pandas", "polars", "pyarrow")


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
    profile: "Profile"

    def rankings(self, dataset: str, method: str) -> list[list[int]]:
        """Return the stored rankings of a method, one for each split in which it had one."""
        stored = [row.selected for row in self.selections if (row.dataset, row.method) == (dataset, method) and row.selected]
        return [json.loads(text) for text in stored]

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
    with reading_study(folder) as db:
        methods = db.execute("SELECT method FROM cells GROUP BY method ORDER BY min(id)")
        selection_seconds = db.execute("SELECT dataset, method, sum(seconds) FROM selections WHERE error IS NULL GROUP BY 1, 2")
        evaluation_seconds = db.execute(
            "SELECT dataset, method, classifier, sum(seconds) FROM cells WHERE error IS NULL GROUP BY 1, 2, 3"
        )
        shapes = db.execute("SELECT name, n_rows, n_features, n_labels, data FROM datasets ORDER BY name")
        return Records(
            rows=_read(
                db, ResultRow, "results JOIN cells ON cell = id ORDER BY dataset, classifier, method, split, k, measure"
            ),
            methods=[name for (name,) in methods],
            failures=_read(db, FailedCell, "cells WHERE error NOT NULL"),
            selection_seconds={(dataset, method): seconds for dataset, method, seconds in selection_seconds},
            evaluation_seconds={(name, method, model): seconds for name, method, model, seconds in evaluation_seconds},
            test_shares=dict(db.execute("SELECT name, test_share FROM datasets")),
            shapes={name: DatasetRecord(*rest) for name, *rest in shapes},
            protocol=stored_protocol(db),
            runs=_read(db, RunRecord, "runs ORDER BY id"),
            selections=_read(db, StoredList, "selections"),
            profile=read_profile(db),
        )


def _read(db: sqlite3.Connection, kind: type[Row], tables: str) -> list[Row]:
    """Read the columns of a named tuple."""
    return [kind(*row) for row in db.execute(f"SELECT {', '.join(kind._fields)} FROM {tables}")]


def read_profile(db: sqlite3.Connection) -> "Profile":
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


def mixed_kinds(rows: list[ResultRow]) -> list[str]:
    """Return what differs between rows: the code, the data of a data set, or the rows of one of its splits."""
    kinds = {("code", -1, row.code) for row in rows}
    kinds |= {(f"data of {row.dataset}", -1, row.data) for row in rows}
    kinds |= {(f"splits of {row.dataset}", row.split, row.rows) for row in rows}
    names = [(name, split) for name, split, _ in kinds]
    return sorted({name for name, split in names if names.count((name, split)) > 1})


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


class Grid:
    """A table of results: data sets in rows, methods in columns, with half widths of confidence intervals.

    >>> grid = Grid(["yeast"], ["jmi", "mim"], lower_is_better=True)
    >>> grid.put("yeast", "jmi", 0.2, 0.01)
    >>> grid.put("yeast", "mim", 0.25)
    >>> print(grid.to_markdown())
    | data set | jmi | mim |
    |---|---:|---:|
    | yeast | **0.200 ± 0.010** | 0.250 |
    """

    def __init__(self, rows: list[str], columns: list[str], lower_is_better: bool) -> None:
        self.rows = rows
        self.columns = columns
        self.lower_is_better = lower_is_better
        self._cells: dict[tuple[str, str], tuple[float, float | None]] = {}
        self._notes: dict[tuple[str, str], str] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Data sets and methods."""
        return len(self.rows), len(self.columns)

    def put(self, row: str, column: str, value: float, half_width: float | None = None, note: str = "") -> None:
        """Set a value; one with a note is not comparable with the others and is never the best."""
        self._cells[row, column] = value, half_width
        self._notes[row, column] = note

    def note(self, row: str, column: str) -> str:
        """Return why a value is not comparable with the others; empty if it is."""
        return self._notes.get((row, column), "")

    def value(self, row: str, column: str) -> float:
        """Return the value of a cell; NaN where there is none."""
        return self._cells.get((row, column), (math.nan, None))[0]

    def half_width(self, row: str, column: str) -> float | None:
        """Return the half width of an interval, if there is one."""
        return self._cells.get((row, column), (math.nan, None))[1]

    def winners(self) -> dict[str, list[str]]:
        """Return the best columns of every row with values."""
        winners = {}
        for row in self.rows:
            values = {
                column: self.value(row, column)
                for column in self.columns
                if not math.isnan(self.value(row, column)) and not self.note(row, column)
            }
            if values:
                best = (min if self.lower_is_better else max)(values.values())
                winners[row] = [column for column, value in values.items() if value == best]
        return winners

    def wins(self) -> dict[str, int]:
        """Count the rows in which each column is best, alone or tied."""
        winners = self.winners().values()
        return {column: sum(column in best for best in winners) for column in self.columns}

    def to_markdown(self, digits: int = 3) -> str:
        """Return a Markdown table; an empty cell is not finished."""
        lines = [
            "| " + " | ".join(["data set", *map(markdown_cell, self.columns)]) + " |",
            "|---" + "|---:" * len(self.columns) + "|",
        ]
        for row, cells in self._texts(digits, " ± ", "**{}**"):
            lines.append("| " + " | ".join([markdown_cell(row), *cells]) + " |")
        return "\n".join(lines)

    def to_latex(self, digits: int = 3) -> str:
        r"""Return a LaTeX tabular with the rules of the package booktabs.

        >>> print(Grid(["a_b"], ["jmi"], True).to_latex())
        \begin{tabular}{lr}
        \toprule
        data set & jmi \\
        \midrule
        a\_b &  \\
        \bottomrule
        \end{tabular}
        """
        head = " & ".join(["data set", *map(_latex_cell, self.columns)])
        body = [" & ".join([_latex_cell(row), *cells]) for row, cells in self._texts(digits, r" $\pm$ ", r"\textbf{{{}}}")]
        lines = [rf"\begin{{tabular}}{{l{'r' * len(self.columns)}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        return "\n".join([*lines, *(rf"{line} \\" for line in body), r"\bottomrule", r"\end{tabular}"])

    def _texts(self, digits: int, sign: str, bold: str) -> list[tuple[str, list[str]]]:
        winners = self.winners()
        texts = []
        for row in self.rows:
            cells = []
            for column in self.columns:
                value, half = self.value(row, column), self.half_width(row, column)
                text = "" if math.isnan(value) else f"{value:.{digits}f}" + ("" if half is None else f"{sign}{half:.{digits}f}")
                text += f" ({note})" if (note := self.note(row, column)) else ""
                cells.append(bold.format(text) if column in winners.get(row, ()) else text)
            texts.append((row, cells))
        return texts


def rounded_mean(mean: float) -> float:
    """Round a mean to 12 digits, as the last ones depend on the order of summation, so that equal means tie.

    >>> first, second = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    >>> first == second, rounded_mean(first) == rounded_mean(second)
    (False, True)
    """
    return float(f"{mean:.12g}")


def markdown_cell(text: str) -> str:
    r"""Escape text for a cell of a Markdown table, except underscores inside words.

    >>> print(markdown_cell("a|b"), markdown_cell("*best* <b>"), markdown_cell("n_rows"), markdown_cell("_x_"))
    a\|b \*best\* \<b> n_rows \_x\_
    """
    return re.sub(r"([\\|*<`\[]|\b_|_\b)", r"\\\1", " ".join(text.split()))


def _latex_cell(text: str) -> str:
    r"""Escape text for a cell of a tabular.

    >>> print(_latex_cell("a_b & 50% ~ x^2 \\"))
    a\_b \& 50\% \textasciitilde{} x\textasciicircum{}2 \textbackslash{}
    """
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    words |= {sign: f"\\{sign}" for sign in "_%&#${}"}
    return "".join(words.get(sign, sign) for sign in " ".join(text.split()))


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
