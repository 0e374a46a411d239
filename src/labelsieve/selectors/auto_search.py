"""The parts of an automatic selection: learners, measure, folds, and the candidates that a time budget and the table allow."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state, get_tags

from labelsieve.classifiers import KNNRegressor, MLkNN
from labelsieve.classifiers.learner_features import LearnerFeatures, scaled_rows
from labelsieve.datasets.splits import IterativeStratifiedKFold
from labelsieve.errors import InputError, is_whole, unknown_name
from labelsieve.labelspace.base_space import RandomState
from labelsieve.metrics import MEASURES
from labelsieve.progress import duration, progress_bar
from labelsieve.registry import for_label_sets, make_classifier
from labelsieve.selectors.fold_evaluation import Curves, FoldEvaluation
from labelsieve.selectors.nested_choice import ALL, NONE
from labelsieve.table_types import TableLike, TargetsLike

# A label of which nothing is known may stand between the sure ones and the others at no cost in average precision: with few
# labels one of them can decide the ranking, and the features of the others are left out.
FEW_TARGETS = 4
PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10000.0)  # of ridge regression: without a choice, all features would be overfitted
REFUSALS = (ValueError, MemoryError)  # of data that a candidate does not take


def learners_of(given: Any, numeric: bool, random_state: RandomState) -> list[Any]:
    """Unfitted learners from names, estimators or a sequence of them; None: nearest neighbors and ridge regression.

    >>> learners_of("mlknn", False, 0), learners_of({"name": "knn", "k": 3}, True, 0)
    ([MLkNN()], [KNNRegressor(k=3)])
    """
    if given is None:
        return [KNNRegressor(), RidgeCV(PENALTIES)] if numeric else [MLkNN(), RidgeClassifierCV(PENALTIES)]
    several = isinstance(given, Sequence) and not isinstance(given, str)
    learners = []
    for one in given if several else [given]:
        if isinstance(one, str | Mapping):
            settings = {"name": one} if isinstance(one, str) else dict(one)
            learner = make_classifier(settings.pop("name", ""), numeric=numeric, **settings)
        elif hasattr(one, "fit") and hasattr(one, "predict") and not isinstance(one, type):
            learner = for_label_sets(clone(one), numeric=numeric)
        else:
            raise InputError(f"learner: {one!r} is neither the name of a learner nor an estimator with fit and predict.")
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        parameters = learner.get_params().items()
        learner.set_params(**{key: seed for key, value in parameters if key.endswith("random_state") and value is None})
        learners.append(learner)
    if not learners:
        raise InputError("learner is an empty list; give at least one learner, or None for the default.")
    return learners


def measure_of(given: object, numeric: bool, n_targets: int) -> Any:
    """The measure: a name, a scorer, or the default.

    >>> measure_of(None, False, 2), measure_of(None, False, 20), measure_of(None, True, 2)
    ('hamming_score', 'average_precision', 'rrmse')
    """
    if given is None and numeric:
        return "rrmse"
    if given is None:
        return "hamming_score" if 1 < n_targets <= FEW_TARGETS else "average_precision"
    if not isinstance(given, str):
        return given
    if given not in MEASURES:
        raise unknown_name("measure", given, MEASURES, more=", or a scorer (estimator, X, Y) -> float")
    if (MEASURES[given].needs == "numbers") != numeric:
        kind, other = ("numeric targets", "labels") if numeric else ("labels", "numeric targets")
        known = [name for name, measure in MEASURES.items() if (measure.needs == "numbers") == numeric]
        raise InputError(f"measure={given!r} is for {other}, and these are {kind}; use {', '.join(known)}.")
    return given


def folds_of(
    cv: Any, X: TableLike, Y: TargetsLike, targets: NDArray[Any], numeric: bool, random_state: RandomState
) -> list[NDArray[np.intp]]:
    """The test rows of every fold; together they are all rows, each once."""
    n_rows = len(targets)
    if is_whole(cv):
        if n_rows < 2 * int(cv):
            raise InputError(f"AutoSieve: {cv} folds need at least {2 * int(cv)} rows, and there are n_samples = {n_rows}.")
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        if numeric:
            splits = KFold(int(cv), shuffle=True, random_state=seed).split(targets)
        else:
            splits = IterativeStratifiedKFold(int(cv), random_state=seed).split(targets, targets)
    else:
        splits = cv.split(X, Y)
    folds = [np.sort(np.asarray(test, dtype=np.intp)) for _, test in splits]
    if len(folds) < 3 or not np.array_equal(np.sort(np.concatenate(folds)), np.arange(n_rows)):
        raise InputError("AutoSieve: cv must have three folds or more and test every row once; use KFold or GroupKFold.")
    return folds


def evaluate_portfolio(
    evaluation: FoldEvaluation, candidates: Mapping[str, Any], sizes: Sequence[int], time_budget: float | None
) -> tuple[dict[str, Curves], dict[str, str]]:
    """Curves of the controls and of the candidates, in order, and the reasons of those that have none.

    With a budget, one step of every candidate but the first is timed, and the rest of the steps run in order of their cost.
    """
    started, n_folds = time.perf_counter(), len(evaluation.folds)
    first_step, steps = evaluation.tasks[:1], evaluation.tasks[1:]
    n_threads = effective_n_jobs(evaluation.n_jobs)
    curves = {name: Curves.empty(sizes, n_folds) for name in candidates}
    curves |= {ALL: Curves.empty([evaluation.features.n_features], n_folds), NONE: Curves.empty([0], n_folds)}
    not_tried: dict[str, str] = {}

    def left() -> float:
        return float("inf") if time_budget is None else time_budget - (time.perf_counter() - started)

    with progress_bar("auto: evaluating candidates") as progress:
        n_done, n_all = 0, len(evaluation.tasks) * len(candidates)

        def step_done() -> None:
            nonlocal n_done
            n_done += 1
            progress(n_done, n_all)

        def run(name: str, tasks: Sequence[Any]) -> bool:
            try:
                evaluation.run(curves[name], name, candidates[name], tasks, step_done)
            except REFUSALS as error:
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                not_tried[name] = f"refused the data: {reason.rstrip('.')}"
                return False
            return True

        for name, control in ((NONE, "none"), (ALL, "all")):
            evaluation.run(curves[name], name, control, evaluation.tasks)
        open_names = list(candidates)
        while open_names and not run(open_names.pop(0), evaluation.tasks):
            continue  # the first that takes the data is always evaluated
        if time_budget is None:
            for name in open_names:
                run(name, evaluation.tasks)
        else:
            timed = []
            for name in open_names:
                if left() <= 0:
                    not_tried[name] = "no time was left"
                elif run(name, first_step):
                    timed.append((curves[name].seconds * len(steps) / n_threads, name))
            for cost, name in sorted(timed):
                if cost <= left():
                    run(name, steps)
                else:
                    had = duration(left()) if left() > 1 else "none"
                    not_tried[name] = f"needs about {duration(cost)} more, and of the time budget {had} was left"
    tried = [name for name in candidates if name not in not_tried]
    if not tried:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in not_tried.items())
        raise InputError(f"AutoSieve: no candidate of the portfolio takes these data. {reasons}")
    return {name: curves[name] for name in [*tried, ALL, NONE]}, not_tried


@dataclass(eq=False, repr=False)
class _OnIndicators(BaseEstimator):  # type: ignore[misc]
    """A selector that calculates with the features, for a table with nominal columns or missing cells.

    It ranks indicators of levels and numbers with their means in the gaps; a feature has the rank of its best column.
    """

    selector: BaseEstimator
    n_features_to_select: int | None = None

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Rank the columns, and the features by them."""
        features = LearnerFeatures(X)
        matrix, ends = features.columns(range(features.n_features))
        filled, _ = scaled_rows(None, matrix, matrix[:1])
        ranking = clone(self.selector).set_params(n_features_to_select=None).fit(filled, y)
        owners = np.searchsorted(ends, ranking.selected_, side="right")
        first = np.sort(np.unique(owners, return_index=True)[1])[: self.n_features_to_select]
        self.selected_, self.scores_ = owners[first].astype(np.intp), ranking.scores_[first]
        return self


def for_table(selector: BaseEstimator, features: LearnerFeatures) -> Any:
    """The selector, or one on indicators if it calculates and the features have gaps."""
    if not features.has_gaps or get_tags(selector).input_tags.allow_nan:
        return selector
    return _OnIndicators(selector)
