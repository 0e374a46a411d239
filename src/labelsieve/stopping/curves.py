"""Stopping rules that examine the curve of scores or of cross-validated predictions, also for rankings."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from labelsieve.errors import InputError, is_whole, not_negative, number, one_of, unknown_name
from labelsieve.formula import I, Plan, f, min_s, s, sum_y, y
from labelsieve.labelspace.base import RandomState
from labelsieve.metrics import MEASURES
from labelsieve.plotting import Axes, figure_function
from labelsieve.search import CombinedGain
from labelsieve.stopping.base import MAX_CURVE_LENGTH, MAX_EXPLAINED_SIZE, Evaluator, Floats, SelectionPath, StoppingRule
from labelsieve.tables.types import TableLike, TargetsLike, as_table

# The scale of a criterion's scores may change with every step (that of JMI grows), so rules that compare scores along a
# selection path can use the added information instead, for every criterion.
ADDED = Plan(sum_y(min_s(I(f, y | s))), sum_y(I(f, y)), name="added information")


@dataclass(eq=False, repr=False)
class ScoreThreshold(StoppingRule):
    r"""Keep features until the first whose score is not above a threshold.

    Assumes that the scores of all steps have the same scale. They do for criteria that are an information term or a mean of
    such terms (MIM, CMI, CMIM, MRMR, MDMR). JMI and DISR are sums over the selected features, so their scores grow: use
    ``of="added"``.

    Parameters
    ----------
    threshold : float, default=0.0
        The score that a feature has to exceed, in nats.
    relative : bool, default=False
        Whether ``threshold`` is a fraction of the first score.
    of : {"score", "added"}, default="score"
        The score of the criterion, or the added information :math:`\sum_l \min_j I(X_k; Y_l \mid X_j)` over the features
        :math:`X_j` selected before: the information that no single one of them has. The plug-in estimate for an uninformative
        feature is near :math:`(r_k - 1)(c - 1) / 2N`, not 0.
    max_features : int, default=None
        The largest number of features; None: all.

    Attributes
    ----------
    curve_ : ndarray
        The values compared with the threshold, for each feature after the forced ones; the last one failed, if any did.
    reason_ : str
        Why it stopped.

    Notes
    -----
    Forced features are always kept; the first score is that of the first feature after them. Cost: the search, one step
    further than kept; for ``"added"`` twice.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=ScoreThreshold(0.1)).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant', 'relevant', 'relevant']
    """

    name = "threshold"

    threshold: float = 0.0
    _: KW_ONLY
    relative: bool = False
    of: Literal["score", "added"] = "score"
    max_features: int | None = None

    def decide(self, path: SelectionPath) -> int:
        """Return the number of features before the first one that is not above the threshold."""
        first, threshold = path.n_forced, number(self.threshold, "threshold")
        curve, n_evaluated = Curve(path, self.of), first

        def passes(kept: int) -> bool:
            nonlocal n_evaluated
            n_evaluated = kept + 1
            values = curve.first(n_evaluated)
            value, limit = values[kept], threshold * values[first] if self.relative else threshold
            if value > limit:
                return True
            self.reason_ = f"The next feature has {value:.4g}, which is not above {limit:.4g}."
            return False

        kept = self._extend_while(passes, path)
        self.curve_ = curve.first(n_evaluated)[first:]
        return kept


class Curve:
    r"""The scores, or the added information, of the selected features in the order of selection.

    The k-th feature adds :math:`\sum_l \min_{j < k} I(X_k; Y_l \mid X_j)`, the first :math:`\sum_l I(X_1; Y_l)`, in nats:
    the information that no single feature selected before it has. Cost: one panel of all features and targets for each step.
    """

    def __init__(self, path: SelectionPath, of: str) -> None:
        one_of(of, "of", ("score", "added"))
        self._search, self._scorer = path.search, None
        if of == "score" and isinstance(gain := getattr(path.search, "gain", None), CombinedGain):
            raise InputError(
                f"Scores of {gain.name} are relative to the best candidate of every step and do not decrease; use of='added', "
                "GTest, CrossValidated or a fixed number."
            )
        if of == "added":
            ADDED.require_memory(path.workspace.X, path.workspace.Y.n_columns)
            self._scorer = ADDED.bind(path.workspace, targets=path.targets)
        self._added: list[float] = []

    def first(self, n_selected: int) -> Floats:
        """Return the values of the first ``n_selected`` features, which must be selected already."""
        if self._scorer is None:
            return np.array(self._search.scores[:n_selected])
        for feature in self._search.selected[len(self._added) : n_selected]:
            if self._added:
                self._scorer.select(self._search.selected[len(self._added) - 1])
            self._added.append(float(self._scorer.scores()[feature]))
        return np.array(self._added[:n_selected])


@dataclass(eq=False, repr=False)
class Knee(StoppingRule):
    r"""Keep the features before the knee of the decreasing curve of added information.

    The knee is the point farthest below the straight line from the first point to the last, both axes scaled to 0..1 (Satopää
    et al. 2011, without smoothing):

    .. math:: \arg\max_i \; \left(1 - \frac{i - 1}{K - 1}\right) - \frac{s_i - s_K}{s_1 - s_K}

    Assumes that there is one: a few informative features, then many of about equal, small values. It is a rule of thumb
    without an error rate, and the position of the knee depends on the length of the curve.

    Parameters
    ----------
    of : {"added", "score"}, default="added"
        The values of the curve: the added information :math:`\sum_l \min_j I(X_k; Y_l \mid X_j)`, or the scores of the
        criterion (see :class:`ScoreThreshold`).
    max_features : int, default=None
        Length of the curve; None: all features, 100 at most. The result depends on it.

    Attributes
    ----------
    curve_ : ndarray
        :math:`s_1, s_2, \dots` of the evaluated features, without forced ones.
    reason_ : str
        Why it stopped.

    Notes
    -----
    A curve of fewer than three points has no knee, nor has a curve of added information that does not decrease: all features
    are kept. Scores that do not decrease are refused, because the rule is not defined for such a criterion. Cost: the search up
    to ``max_features``, for ``"added"`` twice.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=Knee()).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant', 'relevant', 'relevant']
    """

    name = "knee"

    of: Literal["added", "score"] = "added"
    _: KW_ONLY
    max_features: int | None = None

    def decide(self, path: SelectionPath) -> int:
        """Return the number of features before the knee of the curve."""
        first, most = path.n_forced, self._max_features(path, path.n_forced + MAX_CURVE_LENGTH)
        path.search.extend(most)
        self.curve_ = Curve(path, self.of).first(most)[first:]
        if len(self.curve_) < 3:
            self.reason_ = f"{len(self.curve_)} points have no knee."
            return most
        if not self.curve_[0] > self.curve_[-1]:
            if self.of == "added":  # the features are uninformative, or there are too few rows
                self.reason_ = "The curve does not decrease, so it has no knee."
                return most
            raise InputError(
                f"Knee: the curve rises from {self.curve_[0]:.4g} to {self.curve_[-1]:.4g}, so it has no knee; use of='added' "
                "or a criterion whose scores decrease (those of JMI and DISR are sums over the selected features)."
            )
        kept = knee(self.curve_)
        self.reason_ = f"The curve has its knee at {self.curve_[kept]:.4g}, feature {kept + 1}."
        return first + kept


def knee(curve: Floats) -> int:
    """Return the number of points before the one farthest below the line from the first point to the last.

    >>> knee(np.array([1.0, 0.9, 0.8, 0.1, 0.05, 0.0]))
    3
    """
    line = np.linspace(1.0, 0.0, len(curve))
    below = line - (curve - curve[-1]) / (curve[0] - curve[-1])
    return max(1, int(below.argmax()))


@dataclass(eq=False, repr=False)
class CrossValidated(StoppingRule):
    r"""Keep the fewest features that predict as well as the best number of them, by cross-validation.

    In every fold features are selected from the training rows alone, and predictions for the test rows are evaluated with the
    first 1, 2, ..., of them. Kept is the smallest number whose mean is within one standard error of the difference to the best:

    .. math:: k^* = \min \{ k : \bar m_{best} - \bar m_k \le \mathrm{se}(m_{best} - m_k) \}

    The difference is that of the same test rows, so that what all sizes have in common does not count. Without an estimator,
    the explained share (:class:`labelsieve.selectors.Explained`) is evaluated; no feature is kept if the best share is
    not clearly above 0. ``n_features_to_select="auto"`` is this rule. With an estimator, it is evaluated by ``measure``, and
    standard errors are those of the folds.

    Assumes that rows are exchangeable, or a ``cv`` that splits them accordingly.

    Parameters
    ----------
    estimator : estimator, default=None
        None: the predictor of the explained share. Nearest-neighbor estimators (BRkNN, MLkNN, IBLR, KNNRegressor) predict for
        all numbers of features at little more than the cost of one; others are fitted for each.
    measure : str or callable, default=None
        A name of :data:`labelsieve.metrics.MEASURES`, or a scorer ``(estimator, X, Y) -> float``, higher is better. None:
        the explained share or, of an estimator, ``"hamming_loss"``, or ``"rrmse"`` if a target is numeric.
    cv : int or splitter, default=None
        Number of shuffled folds, or a scikit-learn splitter such as those of :mod:`labelsieve.datasets.splits`. None: 5, or 7
        folds for the explained share of fewer than 200 rows.
    standard_errors : float, default=1.0
        Tolerance of the choice, in standard errors of the difference; 0 keeps the best number of features.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    max_features : int, default=None
        The largest number of features to evaluate; None: all, 40 at most for the explained share and 100 for an estimator.
    scale : {"standard", "minmax", None}, default="standard"
        Scaling of the features for nearest-neighbor estimators, by the training rows of every fold: mean 0 and variance 1, the
        range from 0 to 1, or none. Missing cells get the means of the training rows, and a nominal feature an indicator for
        each of its 20 most frequent levels. Other estimators get the features as they are; use a pipeline to prepare them.

    Attributes
    ----------
    sizes_ : ndarray of int
        Numbers of features.
    curve_ : ndarray of shape (n_folds, n_sizes)
        The measure in every fold; one row with the explained share.
    standard_error_ : ndarray of shape (n_sizes,)
        Standard error of the mean.
    best_size_, kept_size_ : int
        The number of features with the best mean, and the number that is kept.
    lower_is_better_ : bool
        Whether the measure is a loss.
    explained_ : Explained
        The explained share, where it was evaluated.
    reason_ : str
        Why this number was kept.

    Notes
    -----
    ``forced`` and ``excluded`` apply in every fold. ``sample_weight`` is used in the selection and for the explained share, not
    by other estimators and measures. Cost: a selection and the curve of the predictions for every fold, then the selection on
    all rows.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=300, n_xor_pairs=0)
    >>> sieve = Sieve(n_features_to_select=CrossValidated(max_features=8)).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant', 'relevant', 'relevant', 'noisy copy']
    >>> sieve.stopping_.curve_[0].round(2)
    array([...])
    """

    name = "cross-validation"

    estimator: Any = None
    measure: Any = None
    _: KW_ONLY
    cv: Any = None
    standard_errors: float = 1.0
    random_state: RandomState = 0
    max_features: int | None = None
    scale: str | None = "standard"

    def decide(self, path: SelectionPath) -> int:
        """Return the smallest number of features within ``standard_errors`` of the best mean."""
        self._check()
        kept = self._by_explained_share(path) if self._explains else self._by_measure(path)
        self.kept_size_ = kept = max(kept, path.n_forced)
        path.search.extend(kept)
        return kept

    @property
    def _explains(self) -> bool:
        return self.estimator is None and self.measure is None

    def _by_explained_share(self, path: SelectionPath) -> int:
        most = max(1, self._max_features(path, path.n_forced + MAX_EXPLAINED_SIZE))
        self.explained_ = found = path.evaluator.explained(most, self.cv, self.random_state)
        self.sizes_, self.curve_, self.standard_error_ = found.sizes, found.explained[np.newaxis], found.errors
        self.lower_is_better_, self.best_size_ = False, int(found.best_size)
        kept = int(found.choose(float(self.standard_errors)))
        tried = f"of up to {most} features"
        if kept == 0:
            share = 100 * found.explained[found.at(found.best_size)]
            self.reason_ = f"The best number {tried}, {self.best_size_}, explains {share:.1f} %, which is not clearly above 0."
            return kept
        near = f"; {kept} explain as much within {_errors(self.standard_errors)}"
        self.reason_ = f"The best number {tried} is {self.best_size_}{near if kept < self.best_size_ else ''}."
        return kept

    def _by_measure(self, path: SelectionPath) -> int:
        if path.has_unknown_labels:
            raise InputError(
                "CrossValidated evaluates predictions of all labels by this measure, and some are unknown (NaN); leave out "
                "estimator and measure, or use a number of features."
            )
        most = max(1, self._max_features(path, path.n_forced + MAX_CURVE_LENGTH))
        least = max(1, path.n_forced)
        estimator = None if self.estimator is None else clone(self.estimator)
        from labelsieve.classifiers.prefix_scores import read_scale  # most selections need no learner

        scale = read_scale(self.scale)
        folds = [
            path.evaluator.scores(train, test, estimator, self.measure, most, scale)
            for train, test in self._split(path.X, path.Y)
        ]
        if len(folds) < 2:
            raise InputError("CrossValidated: one fold has no standard error; use a cv of two folds or more.")
        self.sizes_ = np.arange(least, most + 1)
        self.curve_ = np.array(folds)[:, least - 1 :]
        self.standard_error_ = self.curve_.std(axis=0, ddof=1) / np.sqrt(len(folds))
        lower = isinstance(self.measure, str) and MEASURES[self.measure].lower_is_better
        self.lower_is_better_ = lower or self.measure is None  # both defaults are losses
        curves = -self.curve_ if self.lower_is_better_ else self.curve_
        best = int(curves.mean(axis=0).argmax())
        self.best_size_ = int(self.sizes_[best])
        kept = int(self.sizes_[fewest_within(curves, best, float(self.standard_errors))])
        near = f"; {kept} is the smallest within {_errors(self.standard_errors)} of it"
        self.reason_ = (
            f"By cross-validation the best number of features is {self.best_size_}{near if kept < self.best_size_ else ''}."
        )
        return kept

    def plot(self, *, ylabel: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the measure over the number of features: see :func:`labelsieve.report.figures.stopping_curve`."""
        return figure_function("stopping_curve")(self, ylabel=ylabel, ax=ax)

    def _check(self) -> None:
        if isinstance(self.measure, str) and self.measure not in MEASURES:
            raise unknown_name("measure", self.measure, MEASURES, more=", or a scorer (estimator, X, Y) -> float")
        if self.measure is not None and not isinstance(self.measure, str) and not callable(self.measure):
            raise InputError(f"measure must be a name or a scorer (estimator, X, Y) -> float, not {self.measure!r}.")
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            raise InputError(f"estimator must have fit and predict, and {self.estimator!r} has not; pass the estimator itself.")
        not_negative(self.standard_errors, "standard_errors")

    def _split(self, X: TableLike, Y: TargetsLike | None) -> Any:
        from sklearn.model_selection import KFold, check_cv  # loaded late: no other rule needs it

        if self.cv is None or is_whole(self.cv):
            n_folds = 5 if self.cv is None else int(self.cv)
            if (n_rows := int(as_table(X).shape[0])) < n_folds:
                raise InputError(
                    f"CrossValidated: {n_folds} folds need {n_folds} rows, and there are n_samples = {n_rows}; use fewer "
                    "folds, or give a number of features."
                )
            random = check_random_state(self.random_state)
            return KFold(n_folds, shuffle=True, random_state=random).split(X)
        return check_cv(self.cv, Y, classifier=is_classifier(self.estimator)).split(X, Y)


def fewest_within(curves: Floats, best: int, standard_errors: float) -> int:
    """Return the first size whose mean over the folds is within some standard errors of the difference to the best size.

    >>> fewest_within(np.array([[0.1, 0.5, 0.6], [0.2, 0.7, 0.7], [0.1, 0.5, 0.5]]), 2, 1.0)
    1
    """
    differences = curves[:, [best]] - curves
    errors = differences.std(axis=0, ddof=1) / np.sqrt(len(curves))
    return int(np.argmax(differences.mean(axis=0) <= standard_errors * errors + 1e-15))


@dataclass(frozen=True)
class Ranked:
    """A complete ranking with the interface of a search: features in order, with their scores."""

    selected: list[int]
    scores: list[float]
    forced: list[int]
    excluded: list[int]
    n_features: int

    @property
    def n_available(self) -> int:
        """Number of features that can be selected."""
        return len(self.selected)

    def extend(self, n_selected: int) -> None:
        """Do nothing: all features are ranked already."""


def _errors(number: float) -> str:
    """Write a number of standard errors in words."""
    return "one standard error" if number == 1 else f"{number:g} standard errors"


def stop_ranking(
    rule: StoppingRule,
    order: NDArray[np.intp],
    scores: NDArray[np.float64],
    *,
    n_forced: int = 0,
    evaluator: Evaluator,
    X: TableLike,
    Y: TargetsLike,
) -> tuple[int, StoppingRule]:
    """Find the number of features of a ranking to keep; return it with the fitted rule.

    Thresholds and knees use the scores in order, cross-validation the predictions. Significance tests of the information that a
    feature adds need a selection path, so they are refused.

    >>> from labelsieve.stopping.base import CannotEvaluate
    >>> rule = ScoreThreshold(0.5, relative=True)
    >>> stop_ranking(rule, np.array([2, 0, 1]), np.array([0.9, 0.8, 0.1]), evaluator=CannotEvaluate(), X=None, Y=None)[0]
    2
    """
    ranking = [int(column) for column in order]
    search: Any = Ranked(ranking, [float(value) for value in scores], ranking[:n_forced], [], len(ranking))
    return stop_search(rule, search, evaluator=evaluator, X=X, Y=Y)


def stop_search(
    rule: StoppingRule, search: Any, *, evaluator: Evaluator, X: TableLike, Y: TargetsLike
) -> tuple[int, StoppingRule]:
    """Return the number of features of a search without counts to keep, and the fitted rule; its scores are not information."""
    name = type(rule).__name__
    if not isinstance(rule, ScoreThreshold | Knee | CrossValidated):
        raise InputError(
            f"{name} tests what a feature adds to those selected before it, by counts that this method has not; use "
            "ScoreThreshold, Knee, CrossValidated or a number."
        )
    if getattr(rule, "of", "score") != "score":
        raise InputError(f"{name}: the added information is not available for this method; use {name}(of='score').")
    fitted: StoppingRule = clone(rule)
    workspace: Any = None  # such a method has no counts
    return fitted.decide(SelectionPath(search, workspace, None, X, Y, evaluator)), fitted
