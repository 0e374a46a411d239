"""The values of a study by data set, method, classifier and measure, and their average over all classifiers."""

from collections.abc import Sequence
from functools import cache

from labelsieve.errors import InputError, unknown_name
from labelsieve.studies.protocol import AVERAGE
from labelsieve.studies.results.records import ResultRow

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
