"""Results of a study as tables."""

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any, Literal

import numpy as np

from labelsieve.errors import InputError, unknown_name
from labelsieve.metrics import MEASURES
from labelsieve.plotting import Axes, figure_function
from labelsieve.statistics import Comparison, Stability, compare, confidence_band, ranks, stability_index
from labelsieve.statistics.comparison import Test
from labelsieve.studies.protocol import ALL, AVERAGE, BASELINES, Protocol
from labelsieve.studies.records import (
    COLUMNS,
    Backend,
    Grid,
    Profile,
    ResultRow,
    frame_of,
    mixed_kinds,
    read_records,
    rounded_mean,
)

Values = dict[tuple[int, int], float | None]  # by split and number of features


class ValueIndex:
    """Values of the rows of a study.

    >>> cells = [("songs", 0, "jmi", classifier, 5, "macro_f1") for classifier in ("mlknn", "trees")]
    >>> index = ValueIndex([ResultRow(*cells[0], 0.25, 1.0, "", "", ""), ResultRow(*cells[1], 0.75, 1.0, "", "", "")])
    >>> index.classifiers, index.of("songs", "jmi", "macro_f1", "average")
    (['mlknn', 'trees'], {(0, 5): 0.5})
    """

    def __init__(self, rows: Sequence[ResultRow]) -> None:
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
        records = read_records(folder)
        self._records = records if protocol is None else records.of(protocol)
        self._rows = self._records.rows
        self.failures, self.methods, self.protocol = self._records.failures, self._records.methods, self._records.protocol
        self.shapes, self.runs = self._records.shapes, self._records.runs
        self.mixed = mixed_kinds(self._rows)
        self.datasets = sorted({row.dataset for row in self._rows})
        self._values = ValueIndex(self._rows)
        self.classifiers, self.measures = self._values.classifiers, self._values.measures

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each value: its cell, number of features, measure, and the seconds of the cell."""
        columns = {name: [getattr(row, name) for row in self._rows] for name in COLUMNS}
        return frame_of(columns, {"split": int, "k": int, "value": float, "seconds": float}, backend)

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
        models, spent = self.classifiers if name == AVERAGE else [name], self._records.evaluation_seconds
        evaluation = sum(spent.get((dataset, method, model), 0.0) for model in models)
        return self._records.selection_seconds.get((dataset, method), 0.0), evaluation

    def stability(self, dataset: str, method: str, n_features: int) -> Stability | None:
        """Return the agreement of the first features over the splits; None where fewer than two splits have so many."""
        stored = self._records.rankings(dataset, method)
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
        share = self._records.test_shares.get(dataset) if corrected else None
        label = measure.replace("_", " ")
        return figure_function("curves")(sizes, values, ylabel=label, title=dataset, test_share=share, legend=legend, ax=ax)

    def means(self, measure: str, classifier: str | None = None, *, confidence: float = 0.95, corrected: bool = False) -> Grid:
        """Mean over the numbers of features, with an interval over the splits; ``corrected`` as of Nadeau and Bengio.

        The numbers are those that all methods have on a data set. A method with fewer splits than another has a note, and is
        never the best.
        """
        grid = Grid(self.datasets, self.methods, MEASURES[self._values.measure(measure)].lower_is_better)
        for dataset in self.datasets:
            tables = self._tables(dataset, measure, classifier, self.methods)
            most = max(map(len, tables.values()), default=0)
            share = self._records.test_shares.get(dataset) if corrected else None
            for method, table in tables.items():
                values, half = table.mean(axis=1), None
                if len(values) >= 2 and np.isfinite(values).all():
                    band = confidence_band(values, confidence=confidence, test_share=share)
                    half = float(band.high - band.mean)
                note = f"{len(table)} of {most} splits" if len(table) < most else ""
                grid.put(dataset, method, rounded_mean(values.mean()), half, note)
        return grid

    def _sizes(self, dataset: str, measure: str, classifier: str | None, methods: Sequence[str]) -> list[int]:
        """Return numbers of features that all methods with results have in all their splits."""
        by_method = []
        for method in methods:
            sizes, table = self.curve(dataset, method, measure, classifier)
            if method != ALL and table.size:
                values = self._values.of(dataset, method, measure, classifier)
                splits = {split for split, _ in values}
                by_method.append({int(k) for k in sizes if all((split, k) in values for split in splits)})
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
    ) -> Grid:
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

    def time_profile(self) -> Profile:
        """Return the seconds of selection, training, prediction, measures and storage by method, failed cells included."""
        return self._records.profile
