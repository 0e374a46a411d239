"""What the replications of Pereira et al. (2015) share: printed tables, the protocol, losses, and tests of the four methods."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.statistics import Comparison, compare
from labelsieve.studies import Protocol, StudyResults
from replications.mulan import MulanBRkNN, MulanFolds, MulanRanking
from replications.replication import grade, printed_values

_PRINTED = printed_values("mlinfogain")
# Hamming loss of BR-kNN after MLInfoGain, at 10 %, 20 %, ..., 90 % of the features, and without selection.
TABLE_1: dict[str, tuple[float, ...]] = _PRINTED["table 1"]
# The best value over the percentages, and the smallest percentage that has it, after BR, Copy, LP + InfoGain and
# MLInfoGain; and the value without selection. Example-based accuracy is inverted: 1 minus it.
TABLE_2: dict[str, dict[str, tuple[Any, ...]]] = _PRINTED["table 2"]
BEST = (22, 7, 10, 22, 8)  # the row "best values (underlined)" below it
NO_WORSE = (39, 33, 31, 41)  # the row "<= baseline score (bold)"
# How often, of 44 data sets and measures, the best percentage is no worse than no selection, after each of the four.
TABLE_3: dict[str, tuple[int, int, int, int]] = _PRINTED["table 3"]
# At 10 % of the features, with BR-kNN, after BR + InfoGain and after MLInfoGain: Hamming loss, subset 0/1 loss, example-based
# accuracy (inverted), ranking loss, and seconds for selection and classification together.
TABLE_4: dict[str, tuple[tuple[float, float, float, float, int], tuple[float, float, float, float, int]]] = _PRINTED["table 4"]
# Columns of the paper, and names in the results.
METHODS = {
    "BR+InfoGain": "br-infogain",
    "Copy+InfoGain": "copy-infogain",
    "LP+InfoGain": "lp-infogain",
    "MLInfoGain": "mlinfogain",
}
# All are losses: example-based accuracy is inverted (1 - accuracy), as in the paper.
WORDS = {
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset loss",
    "example_accuracy": "accuracy (inverted)",
    "ranking_loss": "ranking loss",
}
MEASURES = tuple(WORDS)
PERCENTAGES = tuple(range(10, 100, 10))
ALL = "all"
FOLDS = 10
NEAR = 1e-4  # tolerance for equal cells; the paper prints four decimals


def mulan_protocol(
    datasets: Sequence[dict[str, object]],
    methods: Iterable[str | tuple[str, MulanRanking]],
    n_features: Sequence[float],
    classifiers: Sequence[tuple[str, Any]] | None = None,
) -> Protocol:
    """Return a protocol with the paper's measures and folds and Mulan's conventions; the default classifier is BR-kNN."""
    return Protocol(
        datasets,
        [(given, MulanRanking(given)) if isinstance(given, str) else given for given in methods],
        n_features=n_features,
        classifiers=[("br-knn", MulanBRkNN())] if classifiers is None else classifiers,
        measures=MEASURES,
        splits=MulanFolds(FOLDS),
        baselines=[ALL],
        convention="mulan",
        scale=None,
    )


class Losses:
    """Losses of a study; example-based accuracy is inverted, as in the paper."""

    def __init__(self, results: StudyResults, classifier: str | None = None) -> None:
        self._results = results
        self._classifier = classifier

    def folds(self, dataset: str, method: str, measure: str) -> NDArray[np.float64]:
        """Return losses with a row for each fold and a column for each percentage, or one column for all features."""
        _, table = self._results.curve(dataset, method, measure, self._classifier)
        return 1 - table if measure == "example_accuracy" else np.asarray(table)

    def means(self, dataset: str, method: str, measure: str) -> NDArray[np.float64]:
        """Return means over the folds, for each percentage."""
        means: NDArray[np.float64] = self.folds(dataset, method, measure).mean(axis=0)
        return means

    def all_features(self, dataset: str, measure: str) -> float:
        """Return the loss without selection."""
        return float(self.means(dataset, ALL, measure)[0])

    def best(self, dataset: str, method: str, measure: str) -> "Best":
        """Return the best loss over the percentages."""
        return best_of(self.means(dataset, method, measure))

    def tuned_on_other_folds(self, dataset: str, method: str, measure: str) -> float:
        """Return the loss when each fold has the percentage that is best on the other folds."""
        folds = self.folds(dataset, method, measure)
        others = folds.sum(axis=0) - folds
        return float(folds[np.arange(len(folds)), others.argmin(axis=1)].mean())

    def complete(self, sets: Iterable[str], methods: Iterable[str]) -> list[str]:
        """Return the data sets with results of all folds, for every method and all features."""
        methods = list(methods)
        return [name for name in sets if self.n_folds(name, methods) == FOLDS]

    def n_folds(self, dataset: str, methods: Iterable[str]) -> int:
        """Return how many of the first folds have results for every method and all features."""
        tables = [self._results.curve(dataset, method, MEASURES[0], self._classifier)[1] for method in (*methods, ALL)]
        return 0 if any(np.isnan(table).any() for table in tables) else min(map(len, tables))


@dataclass(frozen=True)
class Best:
    """The least loss over the percentages, and the smallest percentage with that loss in four decimals."""

    value: float
    percent: int

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.percent}%)"


def best_of(means: NDArray[np.float64]) -> Best:
    """Return the least mean, with the smallest percentage that has it in four decimals.

    >>> print(best_of(np.array([0.3, 0.21996, 0.22001])))
    0.2200 (20%)
    """
    shown = np.round(means, 4)
    return Best(float(means.min()), PERCENTAGES[int(shown.argmin())])


def compared_methods(table: object) -> Comparison:
    """Compare the four methods by losses in the order of ``METHODS``, a row for each data set."""
    return compare(np.asarray(table), lower_is_better=True, methods=list(METHODS), test="nemenyi")


def cells_of_test(compared: Comparison) -> list[str]:
    """Return average ranks, Friedman's p-value, the critical difference, and the significant differences, as text."""
    pairs = [f"{compared.methods[a]} < {compared.methods[b]}" for a, b in compared.pairs() if compared.different[a, b]]
    ranked = [f"{rank:.2f}" for rank in compared.average_ranks]
    return [*ranked, f"{compared.friedman.p_value:.2g}", f"{compared.critical_difference:.2f}", ", ".join(pairs) or "none"]


def same(ours: float, printed: float) -> bool:
    """Whether a cell is reproduced within the tolerance.

    >>> same(0.18895, 0.1890), same(0.1887, 0.1890)
    (True, False)
    """
    return abs(ours - printed) <= NEAR + 1e-12


def marked(ours: float, printed: float) -> str:
    """Return a number, with a star where it differs from the printed one.

    >>> marked(0.18895, 0.1890), marked(0.1887, 0.1890)
    ('0.1890', '0.1887*')
    """
    return f"{ours:.4f}" if same(ours, printed) else f"{ours:.4f}*"


def graded(row: int, ours: Iterable[float], printed: Iterable[float]) -> dict[tuple[int, int], str]:
    """Return the grades of the values in a row of a table, from the third column on, by the printed four decimals.

    >>> graded(1, [0.18895, 0.1887], [0.1890, 0.1890])
    {(1, 2): 'within', (1, 3): 'beyond'}
    """
    pairs = enumerate(zip(ours, printed, strict=True), start=2)
    return {(row, column): grade(value, theirs, NEAR) for column, (value, theirs) in pairs}


def share(flags: Iterable[bool]) -> str:
    """Count true values.

    >>> share([True, False, True])
    '2 of 3'
    """
    flags = list(flags)
    return f"{sum(flags)} of {len(flags)}"
