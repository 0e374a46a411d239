"""Results of a study, read from its folder: tables of means and ranks, tests and figures."""

import json
import math
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any, Literal, NamedTuple, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
from scipy.stats import t as t_distribution

from labelsieve.errors import InputError, StudyError, one_of, unknown_name
from labelsieve.metrics import MEASURES
from labelsieve.plotting import Axes, figure_function
from labelsieve.statistics import Band, Comparison, Stability, compare, confidence_band, ranks, stability_index
from labelsieve.statistics.comparison import Test
from labelsieve.studies.protocol import ALL, AVERAGE, BASELINES, Protocol
from labelsieve.studies.store import reading_study, stored_protocol

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS = ("pandas", "polars", "pyarrow")
Values = dict[tuple[int, int], float | None]  # by split and number of features


class StudyResults:
    """Read a study's folder, also while the study runs.

    Parameters
    ----------
    folder : path
        Folder of the study.
    protocol : Protocol, default=None
        Read only the results that it covers. Splits of a splitter object are not filtered.

    Attributes
    ----------
    datasets, methods, classifiers, measures : list of str
        Names with results. Methods with a parameter ``classifier`` need one if there are several, or ``"average"``: the average
        over all of them of every value.
    failures : list of FailedCell
        Data set, split, method, classifier and error of every failed cell.
    mixed : list of str
        "code", "data of NAME" or "splits of NAME" where kept results differ from the others in these.
    protocol : dict
        The settings of the last run; empty before the first.
    shapes : dict of str to DatasetRecord
        Numbers of rows, features and labels, and the fingerprint, by data set.
    runs : list of RunRecord
        Start, end, version and environment of each run.

    Examples
    --------
    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_feature_roles
    >>> from labelsieve.studies import Protocol, Study
    >>> data, folder = make_feature_roles(80, random_state=0), tempfile.mkdtemp()
    >>> names = tuple(data.feature_names), tuple(data.label_names), ("numeric",) * len(data.feature_names)
    >>> songs = Dataset(data.X, data.Y, *names, name="songs")
    >>> _ = Study(Protocol([songs], ["jmi", "mim"], n_features="1..3", splits="2x50%"), folder).run()
    >>> results = StudyResults(folder)
    >>> results.methods, results.ranks("hamming_loss").shape
    (['jmi', 'mim', 'random', 'all'], (1, 2))
    """

    def __init__(self, folder: str | os.PathLike[str], *, protocol: Protocol | None = None) -> None:
        with reading_study(folder) as db:
            rows = _read(
                db, ResultRow, "results JOIN cells ON cell = id ORDER BY dataset, classifier, method, split, k, measure"
            )
            failures = _read(db, FailedCell, "cells WHERE error NOT NULL")
            methods = [name for (name,) in db.execute("SELECT method FROM cells GROUP BY method ORDER BY min(id)")]
            self.protocol = stored_protocol(db)
            self.runs = _read(db, RunRecord, "runs ORDER BY id")
            shapes = db.execute("SELECT name, n_rows, n_features, n_labels, data FROM datasets ORDER BY name")
            self.shapes = {name: DatasetRecord(*rest) for name, *rest in shapes}
            self._test_shares: dict[str, float] = dict(db.execute("SELECT name, test_share FROM datasets"))
            selections = db.execute("SELECT dataset, method, selected FROM selections WHERE selected NOT NULL")
            self._rankings: dict[tuple[str, str], list[str]] = {}
            for dataset, method, selected in selections:
                self._rankings.setdefault((dataset, method), []).append(selected)
            seconds = "sum(seconds) FROM {} WHERE error IS NULL GROUP BY"
            selecting = db.execute(f"SELECT dataset, method, {seconds.format('selections')} 1, 2")
            self._selection_seconds: dict[tuple[str, ...], float] = {tuple(key): total for *key, total in selecting}
            evaluating = db.execute(f"SELECT dataset, method, classifier, {seconds.format('cells')} 1, 2, 3")
            self._evaluation_seconds: dict[tuple[str, ...], float] = {tuple(key): total for *key, total in evaluating}
        if protocol is not None:
            sizes = {
                (name, method.name, learner.name): set(protocol.sizes(self.shapes[name].n_features, method, learner))
                for name in [source.name for source in protocol.datasets if source.name in self.shapes]
                for method, learner in product(protocol.methods, protocol.classifiers)
            }
            n_splits = math.inf if protocol.splits.count is None else protocol.splits.count
            failures = [row for row in failures if row.split < n_splits and (row.dataset, row.method, row.classifier) in sizes]
            rows = [row for row in rows if row.split < n_splits and row.measure in protocol.measures]
            rows = [row for row in rows if row.k in sizes.get((row.dataset, row.method, row.classifier), ())]
            methods = [method.name for method in protocol.methods if method.name in methods]
        self._keep(rows, failures, methods)

    def _keep(self, rows: "list[ResultRow]", failures: "list[FailedCell]", methods: list[str]) -> None:
        """Index the rows, which have been read from a file or an archive."""
        self._rows, self.failures, self.methods = rows, failures, methods
        self.mixed = mixed_kinds(rows)
        self.datasets = sorted({row.dataset for row in rows})
        self._values = ValueIndex(rows)
        self.classifiers, self.measures = self._values.classifiers, self._values.measures

    @classmethod
    def from_rows(
        cls,
        rows: "list[ResultRow]",
        *,
        failures: "Sequence[FailedCell]" = (),
        methods: Sequence[str],
        shapes: "Mapping[str, DatasetRecord]",
        test_shares: Mapping[str, float],
        seconds: Mapping[tuple[str, str], float],
    ) -> "StudyResults":
        """Make results from rows that were stored elsewhere, such as in an archive of finished studies.

        ``seconds`` are those of the selections by data set and method; ``methods`` gives the order of the methods. Rankings
        and runs are empty.
        """
        self = cls.__new__(cls)
        self.protocol, self.runs, self.shapes = {}, [], dict(shapes)
        self._test_shares, self._rankings = dict(test_shares), {}
        self._selection_seconds = {tuple(key): spent for key, spent in seconds.items()}
        cells = {(row.dataset, row.method, row.classifier, row.split): row.seconds for row in rows}
        self._evaluation_seconds = {}
        for (*key, _), spent in cells.items():
            self._evaluation_seconds[tuple(key)] = self._evaluation_seconds.get(tuple(key), 0.0) + spent
        self._keep(rows, list(failures), list(methods))
        return self

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each value: its cell, number of features, measure, and the seconds of the cell."""
        one_of(backend, "backend", BACKENDS)
        columns = {name: [getattr(row, name) for row in self._rows] for name in COLUMNS}
        kinds = {"split": nw.Int64, "k": nw.Int64, "value": nw.Float64, "seconds": nw.Float64}
        schema = {name: kinds.get(name, nw.String) for name in COLUMNS}
        return nw.from_dict(columns, schema, backend=backend).to_native()

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the data frame to a Parquet file; needs pyarrow."""
        import_module("pyarrow.parquet").write_table(self.to_frame("pyarrow"), path)

    def curve(self, dataset: str, method: str, measure: str, classifier: str | None = None) -> tuple[Any, Any]:
        """Return numbers of features, and values with a row for each split, as ``report.figures.curves`` draws them."""
        values = self._values.of(dataset, method, measure, classifier)
        splits, sizes = sorted({split for split, _ in values}), sorted({k for _, k in values})
        table = np.array([[values.get((split, k)) for k in sizes] for split in splits], dtype=np.float64)
        return np.array(sizes), table.reshape(len(splits), len(sizes))

    def seconds(self, dataset: str, method: str, classifier: str | None = None) -> tuple[float, float]:
        """Return the seconds of selection and of evaluation, summed over splits (and classifiers); 0 if not run."""
        name = self._values.classifier(classifier)
        models = self.classifiers if name == AVERAGE else [name]
        evaluation = sum(self._evaluation_seconds.get((dataset, method, model), 0.0) for model in models)
        return self._selection_seconds.get((dataset, method), 0.0), evaluation

    def rankings(self, dataset: str, method: str) -> list[list[int]]:
        """Return the stored rankings of a method, best feature first, one for each split in which it had one."""
        return [json.loads(text) for text in self._rankings.get((dataset, method), [])]

    def stability(self, dataset: str, method: str, n_features: int) -> Stability | None:
        """Return the agreement of the first features over the splits; None where fewer than two splits have so many."""
        stored = self.rankings(dataset, method)
        rankings = [ranking[:n_features] for ranking in stored if len(ranking) >= n_features]
        if len(rankings) < 2:
            return None
        masks = np.zeros((len(rankings), self.shapes[dataset].n_features), dtype=bool)
        for mask, ranking in zip(masks, rankings, strict=True):
            mask[ranking] = True
        return stability_index(masks)

    def plot(
        self,
        dataset: str,
        measure: str,
        classifier: str | None = None,
        *,
        corrected: bool = False,
        legend: bool | Literal["below"] = True,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a measure over the number of features, a curve with its band for every method.

        The method ``all`` has no number of features and is a horizontal line. ``corrected`` widens bands as in
        :meth:`means`; see :func:`labelsieve.report.figures.curves`.
        """
        tables = self._tables(dataset, measure, classifier, self.methods)
        sizes = self._sizes(dataset, measure, classifier, self.methods)
        if not sizes:
            raise InputError(f"this study has no results for {dataset!r}; it has {', '.join(self.datasets) or 'none'}.")
        values = {name: np.repeat(table, len(sizes), axis=1) if name == ALL else table for name, table in tables.items()}
        share = self._test_shares.get(dataset) if corrected else None
        label = measure.replace("_", " ")
        return figure_function("curves")(sizes, values, ylabel=label, title=dataset, test_share=share, legend=legend, ax=ax)

    def means(
        self, measure: str, classifier: str | None = None, *, confidence: float = 0.95, corrected: bool = False
    ) -> "Grid":
        """Mean over the numbers of features, with an interval over the splits; ``corrected`` as of Nadeau and Bengio.

        The numbers are those that all methods have on a data set. A method with fewer splits than another has a note, and is
        never the best.
        """
        grid = Grid(self.datasets, self.methods, MEASURES[self._values.measure(measure)].lower_is_better)
        for dataset in self.datasets:
            tables = self._tables(dataset, measure, classifier, self.methods)
            most = max(map(len, tables.values()), default=0)
            share = self._test_shares.get(dataset) if corrected else None
            for method, table in tables.items():
                values, half = table.mean(axis=1), None
                if len(values) >= 2 and np.isfinite(values).all():
                    band = confidence_band(values, confidence=confidence, test_share=share)
                    half = float(band.high - band.mean)
                note = f"{len(table)} of {most} splits" if len(table) < most else ""
                grid.put(dataset, method, rounded_mean(values.mean()), half, note)
        return grid

    def differences(
        self, reference: str, measure: str, classifier: str | None = None, *, confidence: float = 0.95
    ) -> dict[str, Band]:
        """Mean differences of the other methods to a reference over the data sets, with intervals over the splits.

        Differences are those of the same splits and numbers of features. The intervals hold together for all methods
        (Bonferroni) and allow for the rows that splits share (Nadeau and Bengio 2003); they describe these data sets, not
        others. Data sets on which a method lacks results, or has a single split, are left out.
        """
        if reference not in self.methods:
            raise unknown_name("method of this study", reference, self.methods)
        others = [method for method in self.methods if method != reference]
        every = [(dataset, self._tables(dataset, measure, classifier, self.methods)) for dataset in self.datasets]
        complete = [(dataset, tables) for dataset, tables in every if _complete(tables, len(self.methods))]
        found = {}
        for method in others if complete else []:
            means, variances, freedom = [], [], []
            for dataset, tables in complete:
                gaps = tables[method].mean(axis=1) - tables[reference].mean(axis=1)
                tested = self._test_shares.get(dataset) or 0.0
                means.append(gaps.mean())
                variances.append(gaps.var(ddof=1) * (1 / len(gaps) + tested / (1 - tested)))
                freedom.append(len(gaps) - 1)
            mean, variance = np.mean(means), np.sum(variances) / len(means) ** 2
            squares = np.sum(np.square(variances) / freedom)
            degrees = np.sum(variances) ** 2 / squares if squares > 0 else float(np.sum(freedom))  # Welch and Satterthwaite
            half = t_distribution.isf((1 - confidence) / 2 / len(others), degrees) * np.sqrt(variance)
            found[method] = Band(mean, mean - half, mean + half)
        return found

    def _sizes(self, dataset: str, measure: str, classifier: str | None, methods: Sequence[str]) -> list[int]:
        """Return numbers of features that all methods with results have in all their splits."""
        by_method = []
        for method in methods:
            values = self._values.of(dataset, method, measure, classifier)
            if method != ALL and values:
                n_splits = len({split for split, _ in values})
                by_method.append({k for k, count in Counter(k for _, k in values).items() if count == n_splits})
        return sorted(set.intersection(*by_method)) if by_method else []

    def _tables(self, dataset: str, measure: str, classifier: str | None, methods: Sequence[str]) -> dict[str, Any]:
        """Return the values at the numbers of features that all methods share, a row for each split, by method with results."""
        shared, tables = self._sizes(dataset, measure, classifier, methods), {}
        for method in methods:
            sizes, table = self.curve(dataset, method, measure, classifier)
            table = table[:, -1:] if method == ALL else table[:, np.isin(sizes, shared)]
            if table.size:
                tables[method] = table
        return tables

    def ranks(
        self, measure: str, classifier: str | None = None, *, methods: Sequence[str] | None = None, baselines: bool = False
    ) -> "Grid":
        """Ranks over the numbers of features, as Sechidis et al. (2019) define them.

        For each number of features the methods are ranked by their mean over the splits, 1 for the best and with average ranks
        for ties; the ranks are then averaged over the numbers. ``methods`` are those to rank (default: all of the study without
        its baselines). The method ``all`` has no number and is never ranked. Data sets where a method has fewer splits than
        another are left empty.
        """
        if methods is None:
            methods = [name for name in self.methods if name != ALL and (baselines or name not in BASELINES)]
        for name in methods:
            if name not in self.methods:
                raise unknown_name("method of this study", name, self.methods)
        if len(methods) < 2:
            raise InputError(f"ranks need at least two methods; this study has {', '.join(methods) or 'none'}.")
        lower = MEASURES[self._values.measure(measure)].lower_is_better
        grid = Grid(self.datasets, list(methods), True)
        for dataset in self.datasets:
            tables = self._tables(dataset, measure, classifier, methods)
            if len(tables) < len(methods) or len({len(table) for table in tables.values()}) > 1:
                continue  # not finished: ranks need all methods
            means = np.array([[rounded_mean(mean) for mean in tables[method].mean(axis=0)] for method in methods]).T
            if not np.isfinite(means).all():
                continue
            rows = means if len(means) > 1 else np.repeat(means, 2, axis=0)
            for method, rank in zip(methods, ranks(rows, lower_is_better=lower).mean(axis=0), strict=True):
                grid.put(dataset, method, float(rank))
        return grid

    def winners(self, measure: str, classifier: str | None = None) -> dict[str, list[str]]:
        """Return the methods with the best rank, one or several that tie, by data set."""
        return self.ranks(measure, classifier).winners()

    def compare(
        self,
        measure: str,
        classifier: str | None = None,
        *,
        control: str | int | None = None,
        test: Test | None = None,
        alpha: float = 0.05,
    ) -> Comparison:
        """Test differences over the data sets, on means over numbers of features and splits; see ``statistics.compare``."""
        grid = self.means(measure, classifier)
        names = [name for name in grid.columns if name not in BASELINES]
        for dataset, name in product(grid.rows, names):
            missing = "no results" if np.isnan(grid.value(dataset, name)) else grid.note(dataset, name)
            if missing:
                raise InputError(f"a comparison needs the same splits for all methods: {name} has {missing} on {dataset}.")
        table = [[grid.value(dataset, name) for name in names] for dataset in grid.rows]
        lower = grid.lower_is_better
        return compare(np.array(table), lower_is_better=lower, methods=names, control=control, test=test, alpha=alpha)


def _complete(tables: Mapping[str, Any], n_methods: int) -> bool:
    """Whether all methods have values in the same number of splits, two at least."""
    counts = {len(table) if np.isfinite(table).all() else 0 for table in tables.values()}
    return len(tables) == n_methods and len(counts) == 1 and min(counts) > 1


class ValueIndex:
    """Values of the rows of a study.

    >>> cells = [("songs", 0, "jmi", classifier, 5, "macro_f1") for classifier in ("mlknn", "trees")]
    >>> index = ValueIndex([ResultRow(*cells[0], 0.25, 1.0, "", "", ""), ResultRow(*cells[1], 0.75, 1.0, "", "", "")])
    >>> index.classifiers, index.of("songs", "jmi", "macro_f1", "average")
    (['mlknn', 'trees'], {(0, 5): 0.5})
    """

    def __init__(self, rows: "Sequence[ResultRow]") -> None:
        self.classifiers: list[str] = sorted({row.classifier for row in rows})
        self.measures = sorted({row.measure for row in rows})
        self._values: dict[tuple[str, str, str, str], Values] = {}
        for row in rows:
            key = row.dataset, row.method, row.classifier, row.measure
            self._values.setdefault(key, {})[row.split, row.k] = row.value
        self._average = cache(self._average_of)

    def of(self, dataset: str, method: str, measure: str, classifier: str | None) -> Values:
        """Return values by split and number of features; empty if there are none."""
        name, known = self.classifier(classifier), self.measure(measure)
        if name == AVERAGE:
            return self._average(dataset, method, known)
        return self._values.get((dataset, method, name, known), {})

    def _average_of(self, dataset: str, method: str, measure: str) -> Values:
        """Average the values that all classifiers have; an undefined one makes the average undefined."""
        tables = [self._values.get((dataset, method, classifier, measure), {}) for classifier in self.classifiers]
        average: Values = {}
        for key in set.intersection(*(set(table) for table in tables)):
            values = [value for table in tables if (value := table[key]) is not None]
            average[key] = sum(values) / len(values) if len(values) == len(tables) else None
        return average

    def measure(self, name: str) -> str:
        """Return the name of a measure with results."""
        if name not in self.measures:
            raise unknown_name("measure of this study", name, self.measures or ["none, as it has no results yet"])
        if name not in MEASURES:
            raise StudyError(f"The study has results of {name!r}, which this release does not know; the file may be damaged.")
        return name

    def classifier(self, name: str | None) -> str:
        """Return the name of a classifier with results (None: the only one), or ``"average"`` where there are several."""
        if name is None and len(self.classifiers) == 1:
            return self.classifiers[0]
        several = [AVERAGE] if len(self.classifiers) > 1 else []
        if name is None:
            known = f"{', '.join(self.classifiers)}, and their {AVERAGE}" if several else "no results yet"
            raise InputError(f"which classifier? This study has {known}.")
        if name not in [*self.classifiers, *several]:
            raise unknown_name("classifier of this study", name, [*self.classifiers, *several])
        return name


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


class RunRecord(NamedTuple):
    """The start and end of a run, the version of labelsieve, and its environment as JSON."""

    started: str
    ended: str | None
    version: str
    environment: str | None


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
