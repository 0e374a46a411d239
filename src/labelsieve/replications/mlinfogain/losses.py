"""What the studies of Pereira et al. (2015) share: methods, Mulan's way to run them, losses as in its tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.replications.mulan import MulanFolds, MulanRanking
from labelsieve.studies.results.study_results import StudyResults

# As the paper's columns go, with the names that results carry.
METHODS = {
    "BR+InfoGain": "br-infogain",
    "Copy+InfoGain": "copy-infogain",
    "LP+InfoGain": "lp-infogain",
    "MLInfoGain": "mlinfogain",
}
# All are losses: example-based accuracy is 1 minus it, as in the paper.
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
NEAR = 1e-4  # how close a cell must come to count as the same; the paper prints four decimals

MULAN: dict[str, str] = {
    "program": "Mulan on Weka, as the paper says. What its programs do and the paper does not say is imitated by "
    "labelsieve.replications.mulan: these are readings that fit the printed numbers, not defaults of this library.",
    "folds": "Ten, drawn by Java's generator with Mulan's seed 1; values are means of the folds' values.",
    "selection": "Inside every fold, on its training rows. K is the percentage of all features, a half rounded up.",
    "bins": "MLInfoGain: ten bins of equal width, closed on the right, for every numeric column. The others: MDL with Weka's "
    "better encoding. Nominal features are never cut.",
    "BR + InfoGain": "The paper does not say how labels are joined. Here each label's scores are divided by their Euclidean "
    "length, and a feature has the largest of its own: an option of Mulan, and the one that fits.",
    "ties of scores": "In the order of Weka's old quicksort, backwards.",
    "BR-kNN": "k = 10, Mulan's default, on features scaled to [0, 1] by the training rows. All rows as near as the tenth "
    "count. Features stay in the order of the file, which decides the last bits of distances and so the ties.",
    "measures": "Mulan's: a tie of two labels goes to the later one, and a row without labels has ranking loss 0.",
}


def common_settings(methods: Iterable[str]) -> dict[str, Any]:
    """What all protocols of the paper have in common."""
    return {
        "methods": [(name, MulanRanking(name)) for name in methods],
        "measures": list(MEASURES),
        "splits": MulanFolds(FOLDS),
        "baselines": [ALL],
        "convention": "mulan",
    }


@dataclass(frozen=True)
class Best:
    """The least loss over the percentages, and the smallest percentage that has it in four decimals."""

    value: float
    percent: int

    def __str__(self) -> str:
        return f"{self.value:.4f} ({self.percent}%)"


class Losses:
    """Losses of a study; example-based accuracy is turned round, as in the paper."""

    def __init__(self, results: StudyResults, classifier: str | None = None) -> None:
        self._results = results
        self._classifier = classifier

    def folds(self, dataset: str, method: str, measure: str) -> NDArray[np.float64]:
        """A row for each fold, a column for each percentage; one column for all features."""
        _, table = self._results.curve(dataset, method, measure, self._classifier)
        return 1 - table if measure == "example_accuracy" else np.asarray(table)

    def means(self, dataset: str, method: str, measure: str) -> NDArray[np.float64]:
        """Over the folds, for each percentage."""
        means: NDArray[np.float64] = self.folds(dataset, method, measure).mean(axis=0)
        return means

    def all_features(self, dataset: str, measure: str) -> float:
        """Without selection."""
        return float(self.means(dataset, ALL, measure)[0])

    def best(self, dataset: str, method: str, measure: str) -> Best:
        """Over the percentages."""
        return best_of(self.means(dataset, method, measure))

    def chosen_elsewhere(self, dataset: str, method: str, measure: str) -> float:
        """The loss when the percentage for each fold is the best one of the other folds."""
        folds = self.folds(dataset, method, measure)
        others = folds.sum(axis=0) - folds
        return float(folds[np.arange(len(folds)), others.argmin(axis=1)].mean())

    def complete(self, sets: Iterable[str], methods: Iterable[str]) -> list[str]:
        """Those data sets of which all folds are there, for every method and all features."""
        counted = [*methods, ALL]
        found = []
        for name in sets:
            tables = [self._results.curve(name, method, MEASURES[0], self._classifier)[1] for method in counted]
            if all(len(table) == FOLDS and not np.isnan(table).any() for table in tables):
                found.append(name)
        return found


def best_of(means: NDArray[np.float64]) -> Best:
    """The least mean, at the smallest percentage where it shows.

    >>> print(best_of(np.array([0.3, 0.21996, 0.22001])))
    0.2200 (20%)
    """
    shown = np.round(means, 4)
    place = int(shown.argmin())
    return Best(float(means.min()), PERCENTAGES[place])


def same(ours: float, printed: float) -> bool:
    """Whether a cell is reproduced.

    >>> same(0.18895, 0.1890), same(0.1887, 0.1890)
    (True, False)
    """
    return abs(ours - printed) <= NEAR + 1e-12


def marked(ours: float, printed: float) -> str:
    """A number with a star where it is not the printed one.

    >>> marked(0.18895, 0.1890), marked(0.1887, 0.1890)
    ('0.1890', '0.1887*')
    """
    return f"{ours:.4f}" if same(ours, printed) else f"{ours:.4f}*"


def share(found: Mapping[str, bool] | Iterable[bool]) -> str:
    """How many of how many.

    >>> share([True, False, True])
    '2 of 3'
    """
    flags = list(found.values() if isinstance(found, Mapping) else found)
    return f"{sum(flags)} of {len(flags)}"
