"""What a cell costs: a ranking of the features from training rows, and its measures on test rows."""

import copy
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from labelsieve.classifiers import KNNRegressor, nested_predictions
from labelsieve.classifiers.knn import NeighbourClassifier
from labelsieve.discretize import Discretizer
from labelsieve.discretize.named import discretizer_named
from labelsieve.errors import InputError
from labelsieve.metrics import MEASURES, options
from labelsieve.metrics.responses import for_one_label, label_scores
from labelsieve.recipes import recipe
from labelsieve.selection import Sieve
from labelsieve.studies.sources import Loaded
from labelsieve.studies.split_rule import Split

Values = list[tuple[int, str, float]]


@dataclass(frozen=True)
class Spent:
    """What something took: seconds, and the most memory that the process has held so far, in MB."""

    seconds: float
    peak_mb: float | None


class Remembered(Discretizer):
    """A discretiser that cuts the training rows of a split once, for all methods that use it."""

    def __init__(self, rule: Discretizer) -> None:
        self.rule = rule
        self.missing = getattr(rule, "missing", None)
        self._codes: Any = None

    def encode(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Codes of ``X``; the first that came, which is the only one there is."""
        if self._codes is None:
            self._codes = self.rule.encode(X, y, sample_weight)
        return self._codes


class SplitWork:
    """The rows of one split, and what its methods share. No method of it shows test rows to a selector."""

    def __init__(self, data: Loaded, split: Split) -> None:
        self.X, self.Y = data.X[split.train], data.Y[split.train]
        self.test_X, self.test_Y = data.X[split.test], data.Y[split.test]
        self._discretizers: dict[tuple[str | None, str], Remembered] = {}

    def select(self, selector: Any, n_wanted: int, seed: int) -> list[int]:
        """The best ``n_wanted`` features by the training rows, best first."""
        own = self._prepared(selector, n_wanted, seed)
        ranking = np.asarray(own.fit(self.X, self.Y).selected_)
        if ranking.ndim != 1:
            raise InputError(f"{type(own).__name__} has no ranking of the features for all labels together.")
        return [int(column) for column in ranking]

    def _prepared(self, selector: Any, n_wanted: int, seed: int) -> Any:
        own = clone(selector)
        names = own.get_params(deep=False)
        if isinstance(own, Sieve):
            used = recipe(own.criterion, own.targets, own.discretizer)
            own.set_params(targets=copy.deepcopy(used.space))
            own.set_params(discretizer=self._remembered(used.discretizer, used.space.kind))
        elif names.get("discretizer") is not None and not isinstance(names["discretizer"], type):
            own.set_params(discretizer=self._remembered(discretizer_named(names["discretizer"]), "auto"))
        seeds = [name for name in own.get_params(deep=True) if name.split("__")[-1] == "random_state"]
        # The discretiser is shared: whoever comes first must not seed it for the others.
        own.set_params(**{name: seed for name in seeds if not name.startswith("discretizer__")})
        return own.set_params(n_features_to_select=n_wanted) if "n_features_to_select" in names else own

    def _remembered(self, rule: Discretizer, kind: str) -> Remembered:
        key = joblib.hash(rule), kind
        return self._discretizers.setdefault(key, Remembered(rule))

    def evaluate(
        self, classifier: Any, ranking: Sequence[int], sizes: Sequence[int], measures: Sequence[str], convention: str
    ) -> Values:
        """Every measure of the classifier with the first features of the ranking, so many as ``sizes`` say.

        A classifier that chooses features itself has ``predictions_by_size(X, Y, queries, sizes)``: it sees all features of the
        ranking and yields each size with the labels that it predicts when it may choose so many. What sizes share is then
        done once.
        """
        how = {name: options(name, convention) for name in measures}
        if "rrmse" in how:
            how["rrmse"]["baseline"] = np.asarray(self.Y.mean(axis=0))
        found = []
        for size, answers in self._answers(classifier, ranking, sizes, {MEASURES[name].needs for name in measures}):
            for name in measures:
                value = MEASURES[name].function(self.test_Y, answers[MEASURES[name].needs], **how[name])
                found.append((size, name, float(value)))
        return found

    def _answers(
        self, classifier: Any, ranking: Sequence[int], sizes: Sequence[int], needs: set[str]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        if is_nested(classifier):  # one search serves all sizes
            columns = list(ranking[: max(sizes)])
            how: dict[str, Any] = {"features": columns, "sizes": list(sizes)}
            for size, answer in nested_predictions(classifier, self.X, self.Y, self.test_X, **how):
                yield size, {"labels": answer > 0.5, "scores": answer, "numbers": answer}
            return
        if hasattr(classifier, "predictions_by_size"):  # it chooses among all features of the ranking by itself
            columns = list(ranking)
            asked = self.X[:, columns], self.Y, self.test_X[:, columns], list(sizes)
            for size, predicted in clone(classifier).predictions_by_size(*asked):
                yield size, {"labels": predicted, "scores": None, "numbers": predicted}
            return
        for size in sizes:
            columns = list(ranking[:size])
            learner = clone(classifier).fit(self.X[:, columns], self.Y)
            queries = self.test_X[:, columns]
            predicted = learner.predict(queries) if needs & {"labels", "numbers"} else None
            scores = for_one_label(label_scores(learner, queries), self.test_Y) if "scores" in needs else None
            yield size, {"labels": predicted, "scores": scores, "numbers": predicted}


def is_nested(classifier: Any) -> bool:
    """Whether one search for neighbours serves all numbers of features, with the labels of the likelier half predicted."""
    return isinstance(classifier, NeighbourClassifier | KNNRegressor) and getattr(classifier, "extension", None) is None


def spent_since(started: float) -> Spent:
    """What was spent since ``time.perf_counter()`` said ``started``."""
    return Spent(time.perf_counter() - started, peak_mb())


def peak_mb() -> float | None:
    """The most memory that this process has held, in MB; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
