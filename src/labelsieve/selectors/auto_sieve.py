"""AutoSieve: the method and the number of features by nested cross-validation."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from labelsieve.classifiers.learner_features import LearnerFeatures, learner_targets
from labelsieve.counting.binary_labels import label_matrix
from labelsieve.counting.checked_features import check_features, required
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, PREDICTOR, parameter
from labelsieve.counting.number_table import is_frame
from labelsieve.counting.target_types import TargetTypes
from labelsieve.errors import require_same_rows
from labelsieve.labelspace import read_targets
from labelsieve.labelspace.base_space import RandomState
from labelsieve.plotting import Axes, figure_function, report_function
from labelsieve.selectors.auto_search import evaluate_portfolio, folds_of, for_table, learners_of, measure_of
from labelsieve.selectors.base import COUNT, TARGET_TYPE, BaseSieve
from labelsieve.selectors.column_frames import frame_of_columns
from labelsieve.selectors.fold_evaluation import Curves, FoldEvaluation, size_grid
from labelsieve.selectors.nested_choice import ALL, Choice, comparison_table, nested_choice, verdict_text
from labelsieve.selectors.selection_views import Summary
from labelsieve.selectors.selector_input import named_labels
from labelsieve.selectors.selector_list import for_all_rows, read_selectors
from labelsieve.stopping.base_rule import MAX_CURVE_LENGTH
from labelsieve.table_types import TableLike, TargetsLike

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
    standard error of the best (Breiman et al. 1984). Controls are all features, which are chosen where fewer are clearly
    worse, and none (base rates). The choice is repeated on inner folds of every outer fold, so ``score_`` is an estimate for
    rows that took no part in it; ``verdict_`` compares it with the controls. Then the chosen method selects from all rows.

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
        "auto": by the rule above. A number, a fraction or None (all): only the method is chosen, by the mean measure over all
        evaluated numbers of features up to this one.
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

    @property
    def _count(self) -> Any:
        return None if isinstance(self.n_features_to_select, str) else self.n_features_to_select

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Choose a method and a number of features for the targets ``y``, and select from all rows."""
        required(self, y)
        X, y = check_features(self, X), label_matrix(named_labels(self, y))
        y = y if is_frame(y) or hasattr(y, "shape") else np.asarray(y)
        table = read_targets(y, self.target_type).require_known("AutoSieve")
        require_same_rows(X.shape[0], table.n_rows)
        self.target_types_ = table.types
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
        wanted = self._n_wanted(self.n_features_in_)  # all, unless a number is given
        most = MAX_CURVE_LENGTH if self.max_features is None else int(self.max_features)
        sizes = size_grid(min(wanted, most))
        curves, self.not_tried_ = evaluate_portfolio(evaluation, candidates, sizes, self.time_budget)
        choice = nested_choice(curves, float(self.standard_errors), fixed=fixed)
        self._describe(choice, curves, evaluation, fixed)
        self._refit(candidates, X, y, choice.option.method, wanted if fixed else choice.option.n_features)
        return self

    def _describe(self, choice: Choice, curves: dict[str, Curves], evaluation: FoldEvaluation, fixed: bool) -> None:
        lower = evaluation.lower_is_better
        sign = -1.0 if lower else 1.0
        name = evaluation.measure if isinstance(evaluation.measure, str) else "score"
        self.measure_, self.lower_is_better_ = name, lower
        self.method_, self.n_chosen_, self.verdict_ = choice.option.method, choice.option.n_features, str(choice.verdict)
        self.score_, self.standard_error_ = sign * float(choice.chosen.mean()), _standard_error(choice.chosen)
        self.all_features_score_, self.no_features_score_ = sign * float(choice.all.mean()), sign * float(choice.none.mean())
        words = name.replace("_", " ")
        self.verdict_text_ = verdict_text(choice, words, lower_is_better=lower, numeric=evaluation.numeric)
        options = {"lower_is_better": lower, "fixed": fixed}
        self.comparison_ = comparison_table(curves, choice, self.not_tried_, float(self.standard_errors), **options)
        self.curves_ = {name: {"n_features": found.sizes, "values": sign * found.outer} for name, found in curves.items()}

    def _refit(self, candidates: dict[str, Any], X: TableLike, y: TargetsLike, method: str, n_features: int) -> None:
        if self.verdict_ == "nothing predicts" and not self.min_features:
            n_features = 0
        self.selector_ = None
        self.__dict__.pop("feature_scores_", None)
        if method == ALL:
            selected, scores = np.arange(self.n_features_in_), np.linspace(1.0, 0.0, self.n_features_in_)
        else:
            self.selector_ = clone(candidates[method]).set_params(n_features_to_select=max(1, n_features)).fit(X, y)
            selected, scores = self.selector_.selected_, self.selector_.scores_
            if hasattr(self.selector_, "feature_scores_"):
                self.feature_scores_ = self.selector_.feature_scores_
        self._set_selected(np.asarray(selected[:n_features], dtype=np.intp), np.asarray(scores[:n_features], dtype=np.float64))

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


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
