"""Results: what a study found, as tables, ranks and tests."""

import json
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labelsieve.drawing import picture
from labelsieve.errors import InputError, one_of
from labelsieve.metrics import MEASURES
from labelsieve.statistics import Comparison, Stability, compare, confidence_band, ranks, stability_index
from labelsieve.studies.errors import StudyError
from labelsieve.studies.profile import Profile, read_profile
from labelsieve.studies.protocol import ALL
from labelsieve.studies.schema import connect_to_read, plain_errors
from labelsieve.studies.store import FILE
from labelsieve.studies.tables import Grid

Backend = Literal["pandas", "polars", "pyarrow"]
_FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
COLUMNS = ("dataset", "split", "method", "classifier", "k", "measure", "value", "seconds", "data", "code")
BASELINES = ("random", ALL)


class StudyResults:
    """Read a study's folder, also while it runs.

    Attributes
    ----------
    datasets, methods, classifiers, measures : list of str
        What there are results of.
    failures : list of tuple
        Data set, split, method, classifier and error of every cell that failed.
    mixed : list of str
        "code" or "data of NAME" where results were kept that came about under other conditions than the rest.
    protocol : dict
        The settings of the last run; empty before the first.
    shapes : dict of str to tuple
        Of each data set its rows, features, labels and fingerprint.
    runs : list of dict
        When each run began and ended, with which version and in what environment.

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

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        path = Path(folder) / FILE
        with plain_errors(path):
            db = connect_to_read(path)
            if db is None:
                raise StudyError(f"{folder}: there is no study in this folder; it would hold {FILE}.")
            try:
                sql = """SELECT dataset, split, method, classifier, k, measure, value, seconds, data, code
                         FROM results JOIN cells ON cell = id ORDER BY dataset, classifier, method, split, k, measure"""
                self._rows = db.execute(sql).fetchall()
                order = db.execute("SELECT method, min(id) FROM cells GROUP BY method ORDER BY 2").fetchall()
                self.failures = db.execute(
                    "SELECT dataset, split, method, classifier, error FROM cells WHERE error NOT NULL"
                ).fetchall()
                self._selecting = {
                    (dataset, method): seconds
                    for dataset, method, seconds in db.execute(
                        "SELECT dataset, method, sum(seconds) FROM selections WHERE error IS NULL GROUP BY 1, 2"
                    )
                }
                self._judging = {
                    tuple(key): seconds
                    for *key, seconds in db.execute(
                        "SELECT dataset, method, classifier, sum(seconds) FROM cells WHERE error IS NULL GROUP BY 1, 2, 3"
                    )
                }
                self._shares = dict(db.execute("SELECT name, test_share FROM datasets"))
                facts = dict(db.execute("SELECT key, value FROM facts"))
                shapes = db.execute("SELECT name, n_rows, n_features, n_labels, data FROM datasets ORDER BY name").fetchall()
                runs = db.execute("SELECT started, ended, version, environment FROM runs ORDER BY id").fetchall()
                self._selected = db.execute("SELECT dataset, split, method, selected FROM selections").fetchall()
                self._profile = read_profile(db)
            finally:
                db.close()
        self.protocol: dict[str, Any] = json.loads(facts.get("protocol", "{}"))
        self.shapes: dict[str, tuple[int, int, int, str]] = {name: tuple(rest) for name, *rest in shapes}
        self.runs = [dict(zip(("started", "ended", "version", "environment"), run, strict=True)) for run in runs]
        kinds = {*(("code", row[9]) for row in self._rows), *((f"data of {row[0]}", row[8]) for row in self._rows)}
        names = [name for name, _ in kinds]
        self.mixed = sorted({name for name in names if names.count(name) > 1})
        self.methods = [name for name, _ in order]
        self.datasets = sorted({row[0] for row in self._rows})
        self.classifiers: list[str] = sorted({row[3] for row in self._rows})
        self.measures = sorted({row[5] for row in self._rows})
        self._values: dict[tuple[str, str, str, str], dict[tuple[int, int], float]] = {}
        for dataset, split, method, classifier, k, measure, value, *_ in self._rows:
            self._values.setdefault((dataset, method, classifier, measure), {})[split, k] = value

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """A row for each value: data set, split, method, classifier, number of features, measure; seconds are of the cell."""
        one_of(backend, "backend", tuple(_FRAMES))
        columns = {name: [row[place] for row in self._rows] for place, name in enumerate(COLUMNS)}
        return getattr(import_module(backend), _FRAMES[backend])(columns)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """The same as a Parquet file; needs pyarrow."""
        import_module("pyarrow.parquet").write_table(self.to_frame("pyarrow"), path)

    def curve(self, dataset: str, method: str, measure: str, classifier: str | None = None) -> tuple[Any, Any]:
        """Numbers of features, and values with a row for each split: what ``report.figures.curves`` draws."""
        chosen = (dataset, method, self._classifier(classifier), self._measure(measure))
        values = self._values.get(chosen, {})
        splits, sizes = sorted({split for split, _ in values}), sorted({k for _, k in values})
        table = np.array([[values.get((split, k)) for k in sizes] for split in splits], dtype=np.float64)
        return np.array(sizes), table.reshape(len(splits), len(sizes))

    def seconds(self, dataset: str, method: str, classifier: str | None = None) -> tuple[float, float]:
        """What all splits took together: selecting features, and learning and judging with the classifier; 0 if not run."""
        chosen = (dataset, method, self._classifier(classifier))
        return self._selecting.get((dataset, method), 0.0), self._judging.get(chosen, 0.0)

    def stability(self, dataset: str, method: str, n_features: int) -> Stability | None:
        """How much the first so many features agree over the splits; None where fewer than two splits have as many."""
        lists = [json.loads(text) for name, _, own, text in self._selected if (name, own) == (dataset, method) and text]
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
        found = {method: self.curve(dataset, method, measure, classifier) for method in self.methods}
        sizes = sorted({int(k) for method, (own, _) in found.items() if method != ALL for k in own})
        if not sizes:
            raise InputError(f"this study has no results of {dataset!r} yet; it has {', '.join(self.datasets) or 'none'}.")
        values = {}
        for method, (own, table) in found.items():
            if method == ALL and table.size:
                values[method] = np.repeat(table[:, -1:], len(sizes), axis=1)
            elif own.tolist() == sizes:  # not finished otherwise
                values[method] = table
        share = self._shares.get(dataset) if corrected else None
        how = {"ylabel": measure.replace("_", " "), "title": dataset, "test_share": share, "legend": legend}
        return picture("curves")(sizes, values, **how, ax=ax)

    def means(self, measure: str, classifier: str | None = None, *, confidence: float = 0.95, corrected: bool = False) -> Grid:
        """Mean over all numbers of features, with an interval over the splits; ``corrected`` as Nadeau and Bengio do."""
        grid = Grid(self.datasets, self.methods, MEASURES[self._measure(measure)].lower_is_better)
        for dataset in self.datasets:
            for method in self.methods:
                _, table = self.curve(dataset, method, measure, classifier)
                values = table.mean(axis=1) if table.size else np.array([])
                share = self._shares.get(dataset) if corrected else None
                if len(values) >= 2 and np.isfinite(values).all():
                    band = confidence_band(values, confidence=confidence, test_share=share)
                    grid.put(dataset, method, float(band.mean), float(band.high - band.mean))
                elif len(values):
                    grid.put(dataset, method, float(values.mean()))
        return grid

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
        if len(methods) < 2:
            raise InputError(f"ranks need at least two methods; this study has {', '.join(methods) or 'none'}.")
        lower = MEASURES[self._measure(measure)].lower_is_better
        grid = Grid(self.datasets, list(methods), True)
        for dataset in self.datasets:
            curves = [self.curve(dataset, method, measure, classifier) for method in methods]
            sizes = sorted(set.intersection(*({int(k) for k in k_values} for k_values, _ in curves)))
            if not sizes or len({len(table) for _, table in curves}) > 1:
                continue  # not finished: a rank needs every method
            means = np.array([table.mean(axis=0)[np.isin(k_values, sizes)] for k_values, table in curves]).T
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
        table = [[grid.value(dataset, name) for name in names] for dataset in grid.rows]
        return compare(np.array(table), lower_is_better=grid.lower_is_better, methods=names, **how)

    def where_time_goes(self) -> Profile:
        """Seconds of selection, training, prediction, measures and storage, by method: all cells, also those that failed."""
        return self._profile

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
