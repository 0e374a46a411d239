"""Evaluation of selectors on nested folds: every selection on all folds but two serves two outer folds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import _safe_indexing

from labelsieve.classifiers.learner_features import LearnerFeatures, Scale, scaled_rows
from labelsieve.classifiers.prefix_scores import Measured, prefix_scores
from labelsieve.errors import InputError
from labelsieve.metrics import MEASURES
from labelsieve.selectors.selector_list import ranked
from labelsieve.table_types import TableLike, TargetsLike

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Folds = tuple[int, ...]  # those that a selection is not fitted on


@dataclass
class Curves:
    """Values of a measure for every number of features, higher is better.

    ``outer[o, k]`` is that on fold ``o`` after fitting on all others, ``inner[o, i, k]`` that on fold ``i`` after fitting on
    all but ``o`` and ``i``: the inner folds of the outer fold ``o``; NaN where ``i`` is ``o``.
    """

    sizes: NDArray[np.intp]
    outer: Floats
    inner: Floats
    seconds: float = 0.0
    tasks_done: int = 0

    @classmethod
    def empty(cls, sizes: Sequence[int], n_folds: int) -> "Curves":
        shape = (n_folds, n_folds, len(sizes))
        return cls(np.array(sizes, dtype=np.intp), np.full(shape[1:], np.nan), np.full(shape, np.nan))

    def store(self, task: Folds, values: Floats) -> None:
        """Keep the values of a task: one row for each of its folds."""
        if len(task) == 1:
            self.outer[task[0]] = values[0]
        else:
            first, second = task
            self.inner[second, first], self.inner[first, second] = values
        self.tasks_done += 1


@dataclass(frozen=True, eq=False)
class FoldEvaluation:
    """Data, folds, learners and measure: what all candidates have in common.

    A selection that is fitted on all folds but ``a`` and ``b`` is tested on both: ``a`` is an inner fold of the outer fold
    ``b``, and ``b`` one of ``a``. With F folds, F (F + 1) / 2 selections serve both levels, instead of F times F.
    """

    X: TableLike
    Y: TargetsLike
    targets: NDArray[Any]
    features: LearnerFeatures
    folds: list[NDArray[np.intp]]
    learners: list[Any]
    measure: Measured
    numeric: bool
    scale: Scale | None = "standard"
    n_jobs: int | None = None
    tasks: list[Folds] = field(init=False)

    def __post_init__(self) -> None:
        n_folds = range(len(self.folds))
        object.__setattr__(self, "tasks", [*((fold,) for fold in n_folds), *combinations(n_folds, 2)])

    @property
    def lower_is_better(self) -> bool:
        return isinstance(self.measure, str) and MEASURES[self.measure].lower_is_better

    def run(
        self,
        curves: Curves,
        name: str,
        selector: BaseEstimator,
        tasks: Sequence[Folds],
        progress: Callable[[], object] | None = None,
    ) -> None:
        """Select on the training rows of every task, evaluate on its folds, and store the values.

        ``selector`` is a selector, or ``"all"`` or ``"none"`` for the controls.
        """
        started = time.perf_counter()

        def one(task: Folds) -> tuple[Folds, Floats]:
            return task, self._values(task, selector, name, curves.sizes)

        done = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(delayed(one)(task) for task in tasks)
        for task, values in done:
            curves.store(task, values)
            if progress is not None:
                progress()
        curves.seconds += time.perf_counter() - started

    def _values(self, task: Folds, selector: BaseEstimator, name: str, sizes: NDArray[np.intp]) -> Floats:
        tests = [self.folds[fold] for fold in task]
        train = np.setdiff1d(np.arange(len(self.targets)), np.concatenate(tests))
        test, ends = np.concatenate(tests), np.cumsum([len(rows) for rows in tests])
        parts = np.split(np.arange(len(test)), ends[:-1])
        if isinstance(selector, str):
            return self._control(selector, train, test, parts)
        ranking = ranked(selector, _safe_indexing(self.X, train), _safe_indexing(self.Y, train), int(sizes[-1]), name)
        if not ranking:
            raise InputError(f"{name} ranks no feature.")
        matrix, widths = self.features.columns(ranking[: sizes[-1]])
        used = np.unique(np.minimum(sizes, len(widths)))
        values = self._learned(matrix, widths[used - 1].tolist(), train, test, parts, self.learners)
        return values[:, np.searchsorted(used, np.minimum(sizes, len(widths)))]  # a shorter list stays as it ends

    def _control(self, which: str, train: Rows, test: Rows, parts: list[Rows]) -> Floats:
        """All features, or the base rates of the training rows."""
        if which == "all":
            matrix = self.features.everything()
            return self._learned(matrix, [matrix.shape[1]], train, test, parts, self.learners)
        constant = DummyRegressor() if self.numeric else DummyClassifier(strategy="prior")
        return self._learned(np.zeros((len(self.targets), 1)), [1], train, test, parts, [constant])

    def _learned(
        self, matrix: NDArray[Any], sizes: list[int], train: Rows, test: Rows, parts: list[Rows], learners: Sequence[Any]
    ) -> Floats:
        """The mean over the learners, for the first columns of a matrix."""
        X_train, X_test = scaled_rows(self.scale, matrix[train], matrix[test])
        Y_train, Y_test = self.targets[train], self.targets[test]
        columns = range(matrix.shape[1])
        curves = [
            prefix_scores(learner, self.measure, X_train, Y_train, X_test, Y_test, features=columns, sizes=sizes, parts=parts)
            for learner in learners
        ]
        mean: Floats = np.mean(curves, axis=0)
        return -mean if self.lower_is_better else mean


def size_grid(most: int) -> list[int]:
    """Numbers of features to evaluate, each about 1.4 times the one before.

    >>> size_grid(30)
    [1, 2, 3, 4, 6, 8, 11, 16, 23, 30]
    """
    sizes = {min(most, round(2 ** (half / 2))) for half in range(2 * int(np.ceil(np.log2(max(2, most)))) + 1)}
    return sorted({*sizes, most})
