"""What a cell costs: a ranking of the features from training rows, and its measures on test rows."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from labelsieve.classifiers import KNNRegressor, nested_predictions
from labelsieve.classifiers.brknn import NeighborClassifier
from labelsieve.discretize import Discretizer
from labelsieve.errors import InputError
from labelsieve.metrics import MEASURES, options
from labelsieve.metrics.estimator_scores import for_one_label, label_scores
from labelsieve.metrics.measure_arrays import SyntheticData
from labelsieve.registry import make_discretizer, resolve_method
from labelsieve.selectors.sieve import Sieve
from labelsieve.studies.execution.resources_used import Stopwatch
from labelsieve.studies.protocol.data_sources import Loaded
from labelsieve.studies.protocol.split_rule import Split

Values = list[tuple[int, str, float]]
Answers = Iterator[tuple[int, dict[str, Any]]]


class Remembered(Discretizer):
    """A discretizer that cuts the training rows of a split once, for all methods that use it."""

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
        if data.fills:
            means = train_means(self.X)
            self.X, self.test_X = (filled(rows, means) for rows in (self.X, self.test_X))
        self._numeric = data.is_numeric
        self._nominal = frozenset(data.nominal)
        self._discretizers: dict[tuple[str | None, str], Remembered] = {}

    def select(self, selector: Any, n_wanted: int, seed: int) -> list[int]:
        """The best ``n_wanted`` features by the training rows, best first."""
        own = self._prepared(selector, n_wanted, seed)
        fitted = own.fit(self.X, self.Y)
        if not hasattr(fitted, "selected_"):
            raise InputError(f"{type(own).__name__} has no selected_ when it is fitted: a ranking of the features, best first.")
        return checked_ranking(fitted.selected_, self.X.shape[1], type(own).__name__)

    def _prepared(self, selector: Any, n_wanted: int, seed: int) -> Any:
        own = clone(selector)
        names = own.get_params(deep=False)
        if isinstance(own, Sieve):
            used = resolve_method(own.criterion, own.targets, own.discretizer)
            space = copy.deepcopy(used.space)
            if self._numeric and space.kind == "auto":
                space.kind = "numbers"  # also where all of them are whole and could be taken for classes
            own.set_params(targets=space, discretizer=self._remembered(used.discretizer, space.kind))
        elif names.get("discretizer") is not None and not isinstance(names["discretizer"], type):
            own.set_params(discretizer=self._remembered(make_discretizer(names["discretizer"]), "auto"))
        seeds = [name for name in own.get_params(deep=True) if name.split("__")[-1] == "random_state"]
        # The discretizer is shared: whoever comes first must not seed it for the others.
        own.set_params(**{name: seed for name in seeds if not name.startswith("discretizer__")})
        self._tell_nominal(own, range(self.X.shape[1]))
        return own.set_params(n_features_to_select=n_wanted) if "n_features_to_select" in names else own

    def _tell_nominal(self, estimator: Any, columns: Sequence[int]) -> None:
        """Tell those that ask which of these columns are nominal; an array does not show it."""
        names = [name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "nominal"]
        if names:
            places = [place for place, column in enumerate(columns) if column in self._nominal]
            estimator.set_params(**dict.fromkeys(names, places))

    def _remembered(self, rule: Discretizer, kind: str) -> Remembered:
        key = joblib.hash(rule), kind
        return self._discretizers.setdefault(key, Remembered(rule))

    def evaluate(
        self,
        classifier: Any,
        ranking: Sequence[int],
        sizes: Sequence[int],
        measures: Sequence[str],
        convention: str,
        *,
        seed: int = 0,
        watch: Stopwatch | None = None,
    ) -> Values:
        """Every measure of the classifier with the first features of the ranking, so many as ``sizes`` say.

        A classifier that chooses features itself has ``predictions_by_size(X, Y, queries, sizes)``: it sees all features of the
        ranking and yields each size with the labels that it predicts when it may choose so many. What sizes share is then
        done once. ``seed`` is for what the classifier leaves to chance and has no seed of its own; ``watch`` is told what time
        goes to.
        """
        watch = Stopwatch() if watch is None else watch
        how = {name: options(name, convention) for name in measures}
        if "rrmse" in how:
            how["rrmse"]["baseline"] = np.asarray(self.Y.mean(axis=0))
        needs: set[str] = {MEASURES[name].needs for name in measures}
        if is_nested(classifier):
            answers = self._nested(classifier, ranking, sizes, watch)
        elif hasattr(classifier, "predictions_by_size"):
            answers = self._by_size(_seeded(classifier, seed), ranking, sizes, watch)
        else:
            answers = self._separate(_seeded(classifier, seed), ranking, sizes, needs, watch)
        found = []
        truth = self.test_Y if "numbers" in needs else SyntheticData.of(self.test_Y)
        for size, answer in answers:
            with watch.of("measures"):
                for name in measures:
                    value = MEASURES[name].function(truth, answer[MEASURES[name].needs], **how[name])
                    found.append((size, name, float(value)))
        return found

    def _nested(self, classifier: Any, ranking: Sequence[int], sizes: Sequence[int], watch: Stopwatch) -> Answers:
        """One search for neighbors serves all sizes, so that learning from them and answering are one."""
        how: dict[str, Any] = {"features": list(ranking[: max(sizes)]), "sizes": list(sizes)}
        found = nested_predictions(classifier, self.X, self.Y, self.test_X, **how)
        for _ in sizes:
            with watch.of("both"):
                size, answer = next(found)
            yield size, {"labels": answer > 0.5, "scores": answer, "numbers": answer}

    def _by_size(self, classifier: Any, ranking: Sequence[int], sizes: Sequence[int], watch: Stopwatch) -> Answers:
        """The classifier chooses among all features of the ranking by itself."""
        columns = list(ranking)
        found = iter(classifier.predictions_by_size(self.X[:, columns], self.Y, self.test_X[:, columns], list(sizes)))
        for _ in sizes:
            with watch.of("both"):
                size, predicted = next(found)
            yield size, {"labels": predicted, "scores": None, "numbers": predicted}

    def _separate(
        self, classifier: Any, ranking: Sequence[int], sizes: Sequence[int], needs: set[str], watch: Stopwatch
    ) -> Answers:
        for size in sizes:
            columns = sorted(ranking[:size])  # as ``transform`` of a selector gives them
            learner = clone(classifier)
            self._tell_nominal(learner, columns)
            with watch.of("training"):
                learner.fit(self.X[:, columns], self.Y)
            with watch.of("prediction"):
                queries = self.test_X[:, columns]
                predicted = learner.predict(queries) if needs & {"labels", "numbers"} else None
                scores = for_one_label(label_scores(learner, queries), self.test_Y) if "scores" in needs else None
            yield size, {"labels": predicted, "scores": scores, "numbers": predicted}


def checked_ranking(given: Any, n_features: int, name: str) -> list[int]:
    """Columns, best first; what is something else, such as a truth value for each column, is refused.

    >>> checked_ranking(np.array([3, 1]), 4, "Mine")
    [3, 1]
    >>> checked_ranking([True, False], 2, "Mine")
    Traceback (most recent call last):
    labelsieve.errors.InputError: Mine: selected_ must be a ranking, a list of columns from 0 to 1, best first, none twice.
    """
    ranking = np.asarray(given)
    if ranking.ndim != 1:
        raise InputError(f"{name} has no ranking of the features for all labels together.")
    columns: list[int] = ranking.astype(np.intp).tolist() if ranking.dtype.kind in "iu" or not ranking.size else [-1]
    if len(set(columns)) < len(columns) or not all(0 <= column < n_features for column in columns):
        raise InputError(
            f"{name}: selected_ must be a ranking, a list of columns from 0 to {n_features - 1}, best first, none twice."
        )
    return columns


def _seeded(classifier: Any, seed: int) -> Any:
    """The classifier with a seed wherever it would draw another number every time."""
    own = clone(classifier)
    drawn = [name for name, value in own.get_params().items() if name.split("__")[-1] == "random_state" and value is None]
    return own.set_params(**dict.fromkeys(drawn, seed))


def train_means(X: Any) -> Any:
    """Means of the columns without their missing values; 0 where nothing is known.

    >>> train_means(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([2., 0.])
    """
    known = ~np.isnan(X)
    return np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def filled(X: Any, means: Any) -> Any:
    """A table with these means in place of missing values.

    >>> filled(np.array([[np.nan, 5.0]]), np.array([2.0, 0.0]))
    array([[2., 5.]])
    """
    return np.where(np.isnan(X), means, X)


def is_nested(classifier: Any) -> bool:
    """Whether one search for neighbors serves all numbers of features, with the labels of the likelier half predicted."""
    return isinstance(classifier, NeighborClassifier | KNNRegressor) and getattr(classifier, "extension", None) is None
