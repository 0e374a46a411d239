"""AutoSieve: the method and the number of features that predict best in cross-validation."""

import html
import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state, get_tags

from labelsieve.classifiers import KNNRegressor, MLkNN
from labelsieve.classifiers.prefix_scores import learner_targets, scaled_rows
from labelsieve.datasets.splits import IterativeStratifiedKFold
from labelsieve.errors import InputError, is_whole, unknown_name
from labelsieve.labelspace.base import RandomState
from labelsieve.metrics import MEASURES
from labelsieve.parameters import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    PREDICTOR,
    HasMethods,
    Interval,
    StrOptions,
    checked_fit,
    parameter,
)
from labelsieve.plotting import Axes, figure_function, report_function
from labelsieve.progress import duration, progress_bar
from labelsieve.registry import for_label_sets, make_classifier
from labelsieve.selection.selection import Summary, frame_of_columns
from labelsieve.selectors.auto.folds import (
    ALL,
    NONE,
    Choice,
    Curves,
    FoldEvaluation,
    comparison_table,
    error_of_mean,
    for_all_rows,
    nested_choice,
    read_selectors,
    size_grid,
    verdict_text,
)
from labelsieve.selectors.base import COUNT, TARGET_TYPE, BaseSieve, Result
from labelsieve.stopping.base import MAX_CURVE_LENGTH
from labelsieve.tables.nominal import LearnerFeatures
from labelsieve.tables.problem import Names, Problem
from labelsieve.tables.targets import TargetTypes
from labelsieve.tables.types import TableLike, TargetsLike, as_table

# A label of which nothing is known may stand between the sure ones and the others at no cost in average precision: with few
# labels one of them can decide the ranking, and the features of the others are left out.
FEW_TARGETS = 4
PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10000.0)  # of ridge regression: without a choice, all features would be overfitted
REFUSALS = (ValueError, MemoryError)  # of data that a candidate does not take


def learners_of(given: Any, numeric: bool, random_state: RandomState) -> list[Any]:
    """Make unfitted learners from names, estimators or a sequence of them; None: nearest neighbors and ridge regression.

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
    """Return the measure that a name or a scorer stands for; the default without one.

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
    """Return the test rows of every fold; together they are all rows, each once."""
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
class _OnIndicators(BaseEstimator):
    """A selector that calculates with the features, for a table with nominal columns or missing cells.

    It ranks indicators of levels and numbers with their means in the gaps; a feature has the rank of its best column.
    """

    selector: BaseEstimator
    n_features_to_select: int | None = None

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Rank the indicator columns, and each feature by the best of its columns."""
        features = LearnerFeatures(X)
        matrix, ends = features.columns(range(features.n_features))
        filled, _ = scaled_rows(None, matrix, matrix[:1])
        ranking = clone(self.selector).set_params(n_features_to_select=None).fit(filled, y)
        owners = np.searchsorted(ends, ranking.selected_, side="right")
        first = np.sort(np.unique(owners, return_index=True)[1])[: self.n_features_to_select]
        self.selected_, self.scores_ = owners[first].astype(np.intp), ranking.scores_[first]
        return self


def for_table(selector: BaseEstimator, features: LearnerFeatures) -> Any:
    """Return the selector, or one on indicators if it calculates with numbers and the features are nominal or missing."""
    if not features.has_gaps or get_tags(selector).input_tags.allow_nan:
        return selector
    return _OnIndicators(selector)


# The best on average first. Complementary kinds of relations: information about bins and linear effects given the others, both
# at once and each alone, information without a correction of its bias, single linear effects, and sparse linear models.
PORTFOLIO = (
    "hybrid",
    "omp",
    {"name": "cmim miller-madow", "criterion": "cmim", "estimator": "miller-madow"},
    "cmim",
    "mean-f",
    "l1",
)


@dataclass(eq=False, repr=False)
class AutoSieve(BaseSieve):
    r"""Choose the selection method and the number of features by nested cross-validation over a portfolio.

    Every candidate of the portfolio ranks the features on training rows, and learners are evaluated on test rows with the first
    1, 2, 3, 4, 6, ... of them. Of all methods and numbers, the fewest features are chosen whose mean measure is within one
    standard error of the best: that of the difference on the same folds, as for ``n_features_to_select="auto"``. Controls are
    all features, which are chosen where fewer are clearly worse, and none (base rates). The choice is repeated on inner folds
    of every outer fold, so ``score_`` is an estimate for rows that took no part in it; ``verdict_`` compares it with the
    controls. Then the chosen method selects from all rows.

    Parameters
    ----------
    portfolio : sequence of str, mappings or selectors, default=PORTFOLIO
        Candidates: names that ``labelsieve methods`` lists, settings such as ``{"criterion": "cmim", "estimator":
        "miller-madow"}``, or selectors. Those that calculate with the features get indicators of nominal levels and means in
        place of missing cells. Candidates that refuse the data are left out, with the reason.
    learner : str, mapping, estimator, sequence of these or None, default=None
        The learners, whose measures are averaged: names of :data:`labelsieve.registry.CLASSIFIERS` or scikit-learn estimators
        for several targets (binary relevance is put around those for one). None: nearest neighbors and ridge regression
        with a penalty chosen by generalized cross-validation, one local and one linear learner that are cheap for many
        targets.
    measure : str, callable or None, default=None
        A name of :data:`labelsieve.metrics.MEASURES`, or a scorer ``(estimator, X, Y) -> float``, higher is better. None:
        ``"average_precision"`` of the ranked labels, which needs no threshold and for which base rates are a fair control;
        ``"hamming_score"`` for two to four targets, as the ranking of few labels can be right without knowing all of them; or
        ``"rrmse"`` if the targets are numeric, for which their means have 1.
    cv : int or splitter, default=5
        Number of folds, at least three: stratified by labels, or random if the targets are numeric. Or a splitter of
        scikit-learn that tests every row once.
    n_features_to_select : "auto", int, float or None, default="auto"
        "auto": by the rule above. A number, a fraction or None (all): only the method is chosen, by its mean measure with this
        number of features.
    max_features : int or None, default=None
        The largest number of features to evaluate, apart from all; None: all, 100 at most.
    min_features : {0, 1}, default=1
        The number of features to keep if the verdict is "nothing predicts".
    standard_errors : float, default=1.0
        Tolerance of the choice, in standard errors; 0 takes the best mean.
    time_budget : float or None, default=None
        Seconds. The controls and the first candidate are always evaluated, the others in order of their cost as long as they
        fit; ``not_tried_`` lists the rest. A step that runs is not interrupted. With a budget, the result depends on the
        speed of the machine.
    random_state : int, RandomState or None, default=0
        Seed of the folds, and of learners without one.
    n_jobs : int, default=None
        Number of threads, which share the folds; the result does not depend on it.

    Attributes
    ----------
    verdict_ : {"select features", "keep all features", "nothing predicts"}
        Whether selecting features improves predictions; see Notes.
    verdict_text_ : str
        The verdict with its numbers.
    method_, n_chosen_ : str, int
        The chosen candidate, or ``"all features"``, and the number of features.
    selector_ : estimator or None
        The chosen candidate, fitted on all rows; None for all features.
    score_, standard_error_ : float
        The measure of the whole procedure on the outer folds: mean and standard error.
    all_features_score_, no_features_score_ : float
        The controls on the same folds.
    comparison_ : dict of lists
        A row for every candidate and control; :meth:`comparison_frame` makes a data frame of it.
    curves_ : dict of dict
        By method, ``"n_features"`` and ``"values"``, the measure on every fold (rows) for every number of features.
    not_tried_ : dict of str to str
        Candidates without a value, and the reason.
    measure_, lower_is_better_ : str, bool
        The name of the measure that was used, and whether it is a loss.
    target_types_ : ndarray of str, shape (n_targets,)
        ``"class"`` or ``"numeric"``: the type of every target.
    scores_, feature_scores_ : ndarray of float
        Scores by the chosen method, of the selected features and of all.

    Notes
    -----
    For learners, features are scaled to mean 0 and variance 1, missing cells get the mean and nominal features indicators, all
    by the training rows; classes are indicator columns. Labels must be known in every row.

    "nothing predicts" means that neither the procedure nor all features are better than the base rates in a corrected
    resampled t test at 5 % (Nadeau and Bengio 2003), "keep all features" that the rule chose all, or that the procedure is
    worse than all features by the same test.

    Cost: with F folds and C candidates, C F (F + 1) / 2 selections, each with one evaluation of the learners: a selection on
    all folds but two serves both as inner folds of each other.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=300, n_xor_pairs=0, n_irrelevant=30)
    >>> auto = AutoSieve(("mim", "cmim"), cv=3).fit(data.X, data.Y)
    >>> auto.verdict_, auto.method_, sorted(auto.selected_.tolist()) == data.columns("relevant")
    ('select features', 'cmim', True)
    """

    portfolio: Any = parameter(PORTFOLIO, str, dict, HasMethods(["fit"]), "array-like")
    _: KW_ONLY
    learner: BaseEstimator | str | Mapping[str, Any] | Sequence[Any] | None = parameter(
        None, str, dict, PREDICTOR, "array-like"
    )
    measure: Any = parameter(None, str, callable)
    cv: Any = parameter(5, Interval(Integral, 3, None, closed="left"), HasMethods(["split"]))
    n_features_to_select: Any = parameter("auto", *COUNT, StrOptions({"auto"}))
    max_features: int | None = parameter(None, AT_LEAST_ONE)
    min_features: int = parameter(1, Interval(Integral, 0, 1, closed="both"))
    standard_errors: float = parameter(1.0, NOT_NEGATIVE)
    time_budget: float | None = parameter(None, POSITIVE)
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    random_state: RandomState = 0
    n_jobs: int | None = None

    selector_ = None  # of a selection that keeps all features

    @property
    def _count(self) -> Any:
        return None if isinstance(self.n_features_to_select, str) else self.n_features_to_select

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Choose a method and a number of features for the targets ``y``, and select from all rows."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        X, y, n_features = problem.X, as_table(problem.source.y), problem.n_features
        table = problem.known_targets("AutoSieve")
        features, given = LearnerFeatures(X), read_selectors(self.portfolio, "portfolio")
        candidates = {name: for_table(for_all_rows(one, y), features) for name, one in given.items()}
        targets, numeric = learner_targets(table)
        measure = measure_of(self.measure, numeric, table.n_columns)
        evaluation = FoldEvaluation(
            X,
            y,
            targets,
            features,
            folds_of(self.cv, X, y, targets, numeric, self.random_state),
            learners_of(self.learner, numeric, self.random_state),
            measure,
            numeric,
            n_jobs=self.n_jobs,
        )
        fixed = self.n_features_to_select != "auto"
        wanted = self._n_wanted(n_features, n_features)  # all, unless a number is given
        most = MAX_CURVE_LENGTH if self.max_features is None else int(self.max_features)
        sizes = size_grid(min(wanted, most))
        curves, not_tried = evaluate_portfolio(evaluation, candidates, sizes, self.time_budget)
        choice = nested_choice(curves, float(self.standard_errors), fixed=fixed)
        found = self._findings(choice, curves, evaluation, not_tried, fixed)
        kept = wanted if fixed else choice.option.n_features
        if found["verdict"] == "nothing predicts" and not self.min_features:
            kept = 0
        if choice.option.method == ALL:
            selected, scores = np.arange(n_features), np.linspace(1.0, 0.0, n_features)
        else:
            selector = clone(candidates[choice.option.method]).set_params(n_features_to_select=max(1, kept)).fit(X, y)
            selected, scores = selector.selected_, selector.scores_
            found |= {"selector": selector, "feature_scores": getattr(selector, "feature_scores_", None)}
        return Result(np.asarray(selected[:kept], dtype=np.intp), np.asarray(scores[:kept], dtype=np.float64), found)

    def _findings(
        self,
        choice: Choice,
        curves: dict[str, Curves],
        evaluation: FoldEvaluation,
        not_tried: dict[str, str],
        fixed: bool,
    ) -> dict[str, Any]:
        """Return the fitted attributes that describe the choice."""
        lower = evaluation.lower_is_better
        sign = -1.0 if lower else 1.0
        name = evaluation.measure if isinstance(evaluation.measure, str) else "score"
        options = {"lower_is_better": lower, "fixed": fixed}
        words = name.replace("_", " ")
        return {
            "measure": name,
            "lower_is_better": lower,
            "method": choice.option.method,
            "n_chosen": choice.option.n_features,
            "verdict": str(choice.verdict),
            "verdict_text": verdict_text(choice, words, lower_is_better=lower, numeric=evaluation.numeric),
            "score": sign * float(choice.chosen.mean()),
            "standard_error": error_of_mean(choice.chosen),
            "all_features_score": sign * float(choice.all.mean()),
            "no_features_score": sign * float(choice.none.mean()),
            "comparison": comparison_table(curves, choice, not_tried, float(self.standard_errors), **options),
            "curves": {method: {"n_features": each.sizes, "values": sign * each.outer} for method, each in curves.items()},
            "not_tried": not_tried,
        }

    def _explained_selector(self) -> BaseSieve:
        chosen: BaseSieve = vars(self).get("selector_", self)
        return chosen

    def _can_explain(self, problem: Problem) -> bool:
        return isinstance(vars(self).get("selector_"), BaseSieve) and super()._can_explain(problem)

    def comparison_frame(self, backend: str | None = None) -> Any:
        """The comparison as a data frame: a row for every candidate and control, best first.

        Columns: ``method``; ``n_features`` and ``score`` that it was or would have been chosen with, and its error;
        ``best_n_features`` and ``best_score`` of its curve; ``seconds``; ``status``, which is ``"selected"``, ``"control"``,
        empty, or the reason why there is no value.
        """
        return frame_of_columns(self.comparison_, backend)

    def summary(self, *arguments: Any, **options: Any) -> "AutoSummary":
        """The verdict, the comparison and the selected features as text; parameters as for :meth:`labelsieve.Sieve.summary`."""
        plain = super().summary(*arguments, **options)
        return AutoSummary(plain.selection, plain.redundant, plain.confidence, self)

    def _plot_without_data(self, names: Names, n_shown: int, ax: Axes | None) -> Axes:
        return self.plot_comparison(ax=ax)

    def plot_comparison(self, *, ax: Axes | None = None) -> Axes:
        """Draw the measure over the number of features: see :func:`labelsieve.report.figures.automatic_choice`."""
        return figure_function("automatic_choice")(self, ax=ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = read_selectors(self.portfolio, "portfolio").values()
        tags.input_tags.allow_nan = any(get_tags(member).input_tags.allow_nan for member in members)
        return tags


@dataclass(frozen=True, repr=False)
class AutoSummary(Summary):
    """The verdict, the comparison and the table of a selection."""

    auto: AutoSieve | None = None

    def __str__(self) -> str:
        return str(report_function("auto_text")(self.auto, super().__str__()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        assert self.auto is not None
        return f"<p>{html.escape(self.auto.verdict_text_)}</p>{super()._repr_html_()}"
