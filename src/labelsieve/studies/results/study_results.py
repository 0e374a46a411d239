"""Results: what a study found, as tables, ranks and tests."""

import json
import os
from collections.abc import Sequence
from importlib import import_module
from itertools import product
from typing import Any, Literal

import numpy as np

from labelsieve.errors import InputError
from labelsieve.metrics import MEASURES
from labelsieve.plotting import figure_function
from labelsieve.statistics import Comparison, Stability, compare, confidence_band, ranks, stability_index
from labelsieve.studies.protocol.protocol import ALL, Protocol
from labelsieve.studies.results.column_frame import Backend, frame_of
from labelsieve.studies.results.grid import Grid, steady
from labelsieve.studies.results.profile import Profile
from labelsieve.studies.store.records import COLUMNS, mixed_kinds, read_records

BASELINES = ("random", ALL)


class StudyResults:
    """Read a study's folder, also while it runs.

    Parameters
    ----------
    folder : path
        Of the study.
    protocol : Protocol, optional
        Read what it asks for and nothing else that was run in this folder. Splits that came as a splitter are not left out.

    Attributes
    ----------
    datasets, methods, classifiers, measures : list of str
        What there are results of.
    failures : list of tuple
        Data set, split, method, classifier and error of every cell that failed.
    mixed : list of str
        "code", "data of NAME" or "splits of NAME" where results were kept that came about under other conditions than the rest.
    protocol : dict
        The settings of the last run; empty before the first.
    shapes : dict of str to tuple
        Of each data set its rows, features, labels and fingerprint.
    runs : list of dict
        When each run began and ended, with which version and in what environment.
    published : str or None
        The published study that this is a part of.

    Examples
    --------
    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_known_answer
    >>> from labelsieve.studies import Protocol, Study
    >>> data, folder = make_known_answer(80, random_state=0), tempfile.mkdtemp()
    >>> names = tuple(data.feature_names), tuple(data.label_names), ("numeric",) * len(data.feature_names)
    >>> songs = Dataset(data.X, data.Y, *names, name="songs")
    >>> _ = Study(Protocol([songs], ["jmi", "mim"], n_features="1..3", splits="2x50%"), folder).run()
    >>> results = StudyResults(folder)
    >>> results.methods, results.ranks("hamming_loss").shape
    (['jmi', 'mim', 'random', 'all'], (1, 2))
    """

    def __init__(self, folder: str | os.PathLike[str], *, protocol: Protocol | None = None) -> None:
        found = read_records(folder)
        self._records = found if protocol is None else found.of(protocol)
        self._rows = self._records.rows
        self.failures, self.methods, self.protocol = self._records.failures, self._records.methods, self._records.protocol
        self.shapes, self.runs, self.published = self._records.shapes, self._records.runs, self._records.published
        self.mixed = mixed_kinds(self._rows)
        self.datasets = sorted({row[0] for row in self._rows})
        self.classifiers: list[str] = sorted({row[3] for row in self._rows})
        self.measures = sorted({row[5] for row in self._rows})
        self._values: dict[tuple[str, str, str, str], dict[tuple[int, int], float]] = {}
        for dataset, split, method, classifier, k, measure, value, *_ in self._rows:
            self._values.setdefault((dataset, method, classifier, measure), {})[split, k] = value

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """A row for each value: data set, split, method, classifier, number of features, measure; seconds are of the cell."""
        columns = {name: [row[place] for row in self._rows] for place, name in enumerate(COLUMNS)}
        return frame_of(columns, {"split": int, "k": int, "value": float, "seconds": float}, backend)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """The same as a Parquet file; needs pyarrow."""
        import_module("pyarrow.parquet").write_table(self.to_frame("pyarrow"), path)

    def curve(self, dataset: str, method: str, measure: str, classifier: str | None = None) -> tuple[Any, Any]:
        """Numbers of features, and values with a row for each split: what ``report.figures.curves`` draws."""
        values = self._of(dataset, method, measure, classifier)
        splits, sizes = sorted({split for split, _ in values}), sorted({k for _, k in values})
        table = np.array([[values.get((split, k)) for k in sizes] for split in splits], dtype=np.float64)
        return np.array(sizes), table.reshape(len(splits), len(sizes))

    def _of(self, dataset: str, method: str, measure: str, classifier: str | None) -> dict[tuple[int, int], float]:
        """Values by split and number of features."""
        return self._values.get((dataset, method, self._classifier(classifier), self._measure(measure)), {})

    def seconds(self, dataset: str, method: str, classifier: str | None = None) -> tuple[float, float]:
        """What all splits took together: selecting features, and learning and judging with the classifier; 0 if not run."""
        chosen = (dataset, method, self._classifier(classifier))
        return self._records.selecting.get((dataset, method), 0.0), self._records.judging.get(chosen, 0.0)

    def stability(self, dataset: str, method: str, n_features: int) -> Stability | None:
        """How much the first so many features agree over the splits; None where fewer than two splits have as many."""
        lists = [
            json.loads(text) for name, _, own, text in self._records.selections if (name, own) == (dataset, method) and text
        ]
        lists = [chosen[:n_features] for chosen in lists if len(chosen) >= n_features]
        if len(lists) < 2:
            return None
        masks = np.zeros((len(lists), self.shapes[dataset][1]), dtype=bool)
        for mask, chosen in zip(masks, lists, strict=True):
            mask[chosen] = True
        return stability_index(masks)

    def plot(
        self,
        dataset: str,
        measure: str,
        classifier: str | None = None,
        *,
        corrected: bool = False,
        legend: bool | Literal["below"] = True,
        ax: Any = None,
    ) -> Any:
        """Draw a measure over the number of features, a curve with its band for every method.

        All features have no number, so they are a line from the left to the right. ``corrected`` widens bands as in
        :meth:`means`; see :func:`labelsieve.report.figures.curves`.
        """
        found = self._tables(dataset, measure, classifier, self.methods)
        sizes = self._sizes(dataset, measure, classifier, self.methods)
        if not sizes:
            raise InputError(f"this study has no results of {dataset!r} yet; it has {', '.join(self.datasets) or 'none'}.")
        values = {name: np.repeat(table, len(sizes), axis=1) if name == ALL else table for name, table in found.items()}
        share = self._records.test_shares.get(dataset) if corrected else None
        how = {"ylabel": measure.replace("_", " "), "title": dataset, "test_share": share, "legend": legend}
        return figure_function("curves")(sizes, values, **how, ax=ax)

    def means(self, measure: str, classifier: str | None = None, *, confidence: float = 0.95, corrected: bool = False) -> Grid:
        """Mean over the numbers of features, with an interval over the splits; ``corrected`` as Nadeau and Bengio do.

        The numbers are those that all methods have on a data set. A method with fewer splits than another has a note that says
        so, and is not among the best.
        """
        grid = Grid(self.datasets, self.methods, MEASURES[self._measure(measure)].lower_is_better)
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
                grid.put(dataset, method, steady(values.mean()), half, note)
        return grid

    def _sizes(self, dataset: str, measure: str, classifier: str | None, methods: Sequence[str]) -> list[int]:
        """Numbers of features that all these methods have in all their splits; those without results do not count."""
        own = []
        for method in methods:
            sizes, table = self.curve(dataset, method, measure, classifier)
            if method != ALL and table.size:
                has = self._of(dataset, method, measure, classifier)
                splits = {split for split, _ in has}
                own.append({int(k) for k in sizes if all((split, k) in has for split in splits)})
        return sorted(set.intersection(*own)) if own else []

    def _tables(self, dataset: str, measure: str, classifier: str | None, methods: Sequence[str]) -> dict[str, Any]:
        """Of methods with results the values at the numbers of features that they share, a row for each split."""
        shared, found = self._sizes(dataset, measure, classifier, methods), {}
        for method in methods:
            sizes, table = self.curve(dataset, method, measure, classifier)
            table = table[:, -1:] if method == ALL else table[:, np.isin(sizes, shared)]
            if table.size:
                found[method] = table
        return found

    def ranks(
        self,
        measure: str,
        classifier: str | None = None,
        *,
        methods: Sequence[str] | None = None,
        baselines: bool = False,
    ) -> Grid:
        """Ranks over the numbers of features, as Sechidis et al. (2019) define them.

        For each number of features the methods are ranked by their mean over the splits, 1 for the best and ties shared; the
        ranks are then averaged over the numbers. ``methods`` are those to rank among each other; all of the study unless told,
        without its baselines. All features have no number and are never ranked. Data sets where a method has fewer splits than
        another are left empty.
        """
        if methods is None:
            methods = [name for name in self.methods if name != ALL and (baselines or name not in BASELINES)]
        for name in methods:
            if name not in self.methods:
                raise InputError(f"this study has no method {name!r}; it has {', '.join(self.methods) or 'no results yet'}.")
        if len(methods) < 2:
            raise InputError(f"ranks need at least two methods; this study has {', '.join(methods) or 'none'}.")
        lower = MEASURES[self._measure(measure)].lower_is_better
        grid = Grid(self.datasets, list(methods), True)
        for dataset in self.datasets:
            tables = self._tables(dataset, measure, classifier, methods)
            if len(tables) < len(methods) or len({len(table) for table in tables.values()}) > 1:
                continue  # not finished: a rank needs every method
            means = np.array([[steady(mean) for mean in tables[method].mean(axis=0)] for method in methods]).T
            if not np.isfinite(means).all():
                continue
            rows = means if len(means) > 1 else np.repeat(means, 2, axis=0)
            for method, rank in zip(methods, ranks(rows, lower_is_better=lower).mean(axis=0), strict=True):
                grid.put(dataset, method, float(rank))
        return grid

    def winners(self, measure: str, classifier: str | None = None) -> dict[str, list[str]]:
        """Of each data set the method with the best rank, or several that share it."""
        return self.ranks(measure, classifier).winners()

    def compare(self, measure: str, classifier: str | None = None, **how: Any) -> Comparison:
        """Friedman's and Nemenyi's tests over the data sets, on means over numbers of features and splits."""
        grid = self.means(measure, classifier)
        names = [name for name in grid.columns if name not in BASELINES]
        for dataset, name in product(grid.rows, names):
            missing = "no results" if np.isnan(grid.value(dataset, name)) else grid.note(dataset, name)
            if missing:
                raise InputError(f"a comparison needs the same splits of all: {name} has {missing} of {dataset}.")
        table = [[grid.value(dataset, name) for name in names] for dataset in grid.rows]
        return compare(np.array(table), lower_is_better=grid.lower_is_better, methods=names, **how)

    def where_time_goes(self) -> Profile:
        """Seconds of selection, training, prediction, measures and storage, by method: all cells, also those that failed."""
        return self._records.profile

    def _measure(self, measure: str) -> str:
        if measure not in self.measures:
            raise InputError(f"this study has no measure {measure!r}; it has {', '.join(self.measures) or 'no results yet'}.")
        return measure

    def _classifier(self, classifier: str | None) -> str:
        if classifier is None and len(self.classifiers) == 1:
            return self.classifiers[0]
        if classifier not in self.classifiers:
            raise InputError(f"which classifier? This study has {', '.join(self.classifiers)}.")
        return str(classifier)
