"""The work of the cells of a study in one process: load, split, select, fit, predict, evaluate."""

import copy
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

from labelsieve.classifiers import KNNRegressor, nested_predictions
from labelsieve.classifiers.neighbors import BaseNeighborClassifier
from labelsieve.classifiers.prefix_scores import Scale, scaled
from labelsieve.errors import InputError, StudyError
from labelsieve.fingerprint import code_print
from labelsieve.metrics import MEASURES, convention_options
from labelsieve.metrics.arrays import TrueLabels
from labelsieve.metrics.evaluation import Convention, for_one_label, label_scores
from labelsieve.registry import make_discretizer, resolve_method
from labelsieve.selectors.base import BaseSieve
from labelsieve.selectors.sieve import Sieve
from labelsieve.studies.data import LoadedData
from labelsieve.studies.estimators import Split
from labelsieve.studies.plan import Batch, Step
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.store import MeasuredValue, ResourcesUsed
from labelsieve.tables.problem import Problem, read
from labelsieve.tables.targets import part_of_the_rows
from labelsieve.tables.types import CompressedMatrix, FloatArray, SparseMatrix, dense_array

MAX_ERROR_LENGTH = 500  # stored characters of an error
AUTO = "auto"  # a selector with this discretizer or type of targets chooses by itself


@dataclass(frozen=True)
class StepResult:
    """The outcome of the step at ``index`` in its batch: a ranking, values, or an error."""

    index: int
    ranking: list[int] | None
    values: list[MeasuredValue] | None
    used: ResourcesUsed
    error: str | None = None


class BatchRunner:
    """Run batches of a protocol in this process.

    The last data set stays in memory, and those before it as long as all together take at most ``kept_bytes``.
    """

    def __init__(self, protocol: Protocol, kept_bytes: float = 0) -> None:
        self._protocol, self._kept_bytes = protocol, kept_bytes
        self._sources = {source.name: source for source in protocol.datasets}
        self._loaded: dict[str, tuple[LoadedData, list[Split]]] = {}

    def load(self, name: str) -> tuple[LoadedData, list[Split]]:
        """Return a data set that suits the protocol, and its splits."""
        if name not in self._loaded:
            data = LoadedData.of(self._sources[name])
            self._protocol.check_data(data)
            while self._loaded and data.nbytes + sum(other.nbytes for other, _ in self._loaded.values()) > self._kept_bytes:
                del self._loaded[next(iter(self._loaded))]  # the one that was loaded first
            self._loaded[name] = data, self._protocol.splits.splits(data.X, data.Y, name)
        return self._loaded[name]

    def run(self, batch: Batch) -> Iterator[StepResult]:
        """Run the steps of a batch, with one thread for linear algebra."""
        with threadpool_limits(1):
            yield from self.steps(batch, self.prepare(batch))

    def prepare(self, batch: Batch) -> "SplitWork":
        """Load the rows of a split; data, rows and code must be those of the plan, wherever this process runs."""
        if any(step.fingerprints.code != code_print() for step in batch.steps):
            raise StudyError("the code of labelsieve differs between processes, or changed while the study ran. Run it again.")
        data, splits = self.load(batch.dataset)
        if data.fingerprint != batch.data:
            raise StudyError(f"data set {batch.dataset!r}: the data changed while the study ran. Run it again.")
        split = splits[batch.split]
        if split.fingerprint != batch.rows:
            raise StudyError(f"data set {batch.dataset!r}: the rows of split {batch.split} changed; is the splitter seeded?")
        return SplitWork(data, split, self._protocol.scale)

    def steps(self, batch: Batch, work: "SplitWork") -> Iterator[StepResult]:
        """Run the steps. One that fails yields its error; the others continue, except those that need its ranking."""
        rankings = dict(batch.rankings)
        for index, step in enumerate(batch.steps):
            watch = Stopwatch()
            try:
                if step.classifier is None:
                    ranking = work.select(step.method.estimator, step.n_wanted, step.seed)
                    rankings[step.method.name] = ranking
                    yield StepResult(index, ranking, None, watch.used())
                elif step.method.name in rankings:
                    values = work.evaluate(self._evaluation(step, rankings[step.method.name]))
                    yield StepResult(index, None, values, watch.used())
            except Exception as error:
                yield StepResult(index, None, None, watch.used(), error_text(error))

    def _evaluation(self, step: Step, ranking: list[int]) -> "Evaluation":
        assert step.classifier is not None
        if len(ranking) < max(step.sizes):
            raise StudyError(f"{step.method.name} selected {len(ranking)} features, and {max(step.sizes)} were wanted.")
        convention = self._protocol.convention
        return Evaluation(step.classifier.estimator, ranking, step.sizes, step.measures, convention, step.seed)


def error_text(error: BaseException) -> str:
    """Return an error in one line.

    >>> error_text(ValueError("too  few"))
    'ValueError: too few'
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MAX_ERROR_LENGTH]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A classifier to evaluate with the first features of a ranking, for each number of features in ``sizes``.

    ``seed`` sets every ``random_state`` that the classifier leaves open.
    """

    classifier: BaseEstimator
    ranking: Sequence[int]
    sizes: Sequence[int]
    measures: Sequence[str]
    convention: Convention = "labelsieve"
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions with ``n_features`` features: labels (or numbers), and scores where a measure needs them."""

    n_features: int
    predicted: NDArray[Any] | CompressedMatrix | None
    scores: NDArray[Any] | SparseMatrix | None = None


class SplitWork:
    """The rows of one split, and what its methods share. No method of this class passes test rows to a selector."""

    def __init__(self, data: LoadedData, split: Split, scale: Scale | None = None) -> None:
        self.X, self.Y = data.X[split.train], data.Y[split.train]
        self.test_X, self.test_Y = data.X[split.test], data.Y[split.test]
        if data.fills:
            train, test = dense_array(self.X), dense_array(self.test_X)
            means = train_means(train)
            self.X, self.test_X = filled(train, means), filled(test, means)
        self._scale: Scale | None = scale
        self._target_type: Literal["numeric", "auto"] = "numeric" if data.is_numeric else "auto"
        self._nominal = frozenset(data.nominal)

    @cached_property
    def _learning_rows(self) -> tuple[Any, Any]:
        """Features of the training and test rows as classifiers get them: scaled by the training rows."""
        X, test_X = scaled(self._scale, self.X, self.test_X)
        return X, test_X

    @cached_property
    def _problem(self) -> Problem:
        """The training rows, read once for all selectors of this library; it keeps their codes for every discretizer."""
        # Targets of numeric data sets are numbers also where all values of a split are whole.
        return read(self.X, self.Y, target_type=self._target_type)

    def select(self, selector: BaseEstimator, n_wanted: int, seed: int) -> list[int]:
        """Rank the best ``n_wanted`` features by the training rows, best first."""
        prepared = self._prepared(selector, n_wanted, seed)
        name = type(prepared).__name__
        with part_of_the_rows(told=False):  # all rows are never read
            if isinstance(prepared, BaseSieve) and prepared.target_type == self._target_type:
                prepared.fit(self._problem, None)  # it has the targets
            else:
                prepared.fit(self.X, self.Y)
        if not hasattr(prepared, "selected_"):
            raise InputError(f"{name} has no selected_ after fit: a ranking of the features, best first.")
        return checked_ranking(prepared.selected_, self.X.shape[1], name)

    def _prepared(self, selector: BaseEstimator, n_wanted: int, seed: int) -> Any:
        """Return a copy of a selector with the number of features, the seed, and the kinds of features and targets."""
        prepared = clone(selector)
        parameters = prepared.get_params(deep=False)
        if isinstance(prepared, Sieve):
            # Names become objects, so that their random states and nominal columns can be set.
            used = resolve_method(prepared.criterion, prepared.targets, prepared.discretizer, missing=prepared.missing)
            prepared.set_params(targets=copy.deepcopy(used.space), discretizer=clone(used.discretizer))
        elif parameters.get("discretizer", AUTO) not in (None, AUTO) and not isinstance(parameters["discretizer"], type):
            rule = make_discretizer(parameters["discretizer"], missing=parameters.get("missing"))
            prepared.set_params(discretizer=clone(rule))
        if parameters.get("target_type") == AUTO:
            prepared.set_params(target_type=self._target_type)
        seeds = [name for name in prepared.get_params(deep=True) if name.split("__")[-1] == "random_state"]
        # Discretizers keep their seeds: methods with equal ones share their codes.
        prepared.set_params(**{name: seed for name in seeds if not name.startswith("discretizer__")})
        self._set_nominal(prepared, range(self.X.shape[1]))
        return prepared.set_params(n_features_to_select=n_wanted) if "n_features_to_select" in parameters else prepared

    def _set_nominal(self, estimator: BaseEstimator, columns: Sequence[int]) -> None:
        """Set every parameter ``nominal`` to the positions of the nominal columns, which an array does not show."""
        names = [name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "nominal"]
        if names:
            positions = [position for position, column in enumerate(columns) if column in self._nominal]
            estimator.set_params(**dict.fromkeys(names, positions))

    def evaluate(self, task: Evaluation) -> list[MeasuredValue]:
        """Return every measure for every number of features.

        A classifier that selects features by itself has ``predictions_by_size(X, Y, queries, sizes)``: it receives all features
        of the ranking and yields each size with the labels predicted from so many. Sizes then share their common work.
        """
        keywords = {name: convention_options(name, task.convention) for name in task.measures}
        if "rrmse" in keywords:
            keywords["rrmse"]["baseline"] = np.asarray(self.Y.mean(axis=0))
        needs: set[str] = {MEASURES[name].needs for name in task.measures}
        if is_nested(task.classifier):
            predictions = self._nested(task, needs)
        elif hasattr(task.classifier, "predictions_by_size"):
            predictions = self._by_size(task)
        else:
            predictions = self._separate(task, needs)
        measured = []
        truth = self.test_Y if "numbers" in needs else TrueLabels.of(self.test_Y)
        for prediction in predictions:
            for name in task.measures:
                measure = MEASURES[name]
                answers = prediction.scores if measure.needs == "scores" else prediction.predicted
                value = measure.function(truth, answers, **keywords[name])
                measured.append(MeasuredValue(prediction.n_features, name, float(value)))
        return measured

    def _nested(self, task: Evaluation, needs: set[str]) -> Iterator[Predictions]:
        """Evaluate all sizes with one neighbor search."""
        features, (X, test_X) = list(task.ranking[: max(task.sizes)]), self._learning_rows
        predictions = nested_predictions(task.classifier, X, self.Y, test_X, features=features, sizes=list(task.sizes))
        for size, scores in predictions:
            yield Predictions(size, scores if "numbers" in needs else scores > 0.5, scores)

    def _by_size(self, task: Evaluation) -> Iterator[Predictions]:
        """Evaluate a classifier that selects by itself, on all features of the ranking, unscaled, as it may discretize them."""
        classifier, columns = _seeded(task.classifier, task.seed), list(task.ranking)
        queries = self.test_X[:, columns]
        for size, predicted in classifier.predictions_by_size(self.X[:, columns], self.Y, queries, list(task.sizes)):
            yield Predictions(size, predicted)

    def _separate(self, task: Evaluation, needs: set[str]) -> Iterator[Predictions]:
        seeded, (X, test_X) = _seeded(task.classifier, task.seed), self._learning_rows
        Y = dense_array(self.Y) if type(seeded).__module__.startswith("sklearn.") else self.Y  # few of them take sparse labels
        for size in task.sizes:
            columns = sorted(task.ranking[:size])  # the order of a selector's ``transform``
            classifier = clone(seeded)
            self._set_nominal(classifier, columns)
            classifier.fit(X[:, columns], Y)
            queries = test_X[:, columns]
            predicted = classifier.predict(queries) if needs & {"labels", "numbers"} else None
            scores = for_one_label(label_scores(classifier, queries), self.test_Y) if "scores" in needs else None
            yield Predictions(size, predicted, scores)


def checked_ranking(ranking: ArrayLike, n_features: int, name: str) -> list[int]:
    """Return a ranking of columns, best first; refuse anything else, such as a boolean mask.

    >>> checked_ranking(np.array([3, 1]), 4, "Mine")
    [3, 1]
    >>> checked_ranking([True, False], 2, "Mine")
    Traceback (most recent call last):
    labelsieve.errors.InputError: Mine: selected_ must be a ranking, a list of columns from 0 to 1, best first, none twice.
    """
    ranking = np.asarray(ranking)
    if ranking.ndim != 1:
        raise InputError(f"{name} has no ranking of the features for all labels together.")
    columns: list[int] = ranking.astype(np.intp).tolist() if ranking.dtype.kind in "iu" or not ranking.size else [-1]
    if len(set(columns)) < len(columns) or not all(0 <= column < n_features for column in columns):
        raise InputError(
            f"{name}: selected_ must be a ranking, a list of columns from 0 to {n_features - 1}, best first, none twice."
        )
    return columns


def _seeded(classifier: BaseEstimator, seed: int) -> Any:
    """Return a clone in which every open ``random_state`` is the seed."""
    seeded = clone(classifier)
    is_open = [name for name, value in seeded.get_params().items() if name.split("__")[-1] == "random_state" and value is None]
    return seeded.set_params(**dict.fromkeys(is_open, seed))


def train_means(X: FloatArray) -> FloatArray:
    """Return the column means without missing values; 0 for a column without any value.

    >>> train_means(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([2., 0.])
    """
    known = ~np.isnan(X)
    means: FloatArray = np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return means


def filled(X: FloatArray, means: FloatArray) -> FloatArray:
    """Return a table with missing values replaced by these means.

    >>> filled(np.array([[np.nan, 5.0]]), np.array([2.0, 0.0]))
    array([[2., 5.]])
    """
    return np.where(np.isnan(X), means, X)


def is_nested(classifier: BaseEstimator) -> bool:
    """Whether one neighbor search serves all numbers of features, with the labels above one half predicted."""
    return isinstance(classifier, BaseNeighborClassifier | KNNRegressor) and getattr(classifier, "extension", None) is None


CLEAR, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class Stopwatch:
    """Measure the seconds since construction, and the peak memory."""

    def __init__(self) -> None:
        reset_peak()
        self._cpu = time.process_time()
        self._started = time.perf_counter()

    def used(self) -> ResourcesUsed:
        """Return the resources used so far."""
        cpu = time.process_time() - self._cpu
        return ResourcesUsed(time.perf_counter() - self._started, peak_mb(), cpu)


def reset_peak() -> None:
    """Make the peak memory of this process its present memory, where the system can (Linux)."""
    with suppress(OSError):
        CLEAR.write_text("5", encoding="ascii")


def peak_mb() -> float | None:
    """Return the peak memory of this process in MB since :func:`reset_peak`; None where the system does not report it."""
    if sys.platform == "win32":
        return None
    with suppress(OSError):
        for line in STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
