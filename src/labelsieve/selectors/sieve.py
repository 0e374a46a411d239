"""Sieve: the selector that users start with. It selects features step by step, by any criterion.

The second half of the module is the table of what goes with what: combinations of data, criterion and options that a
:class:`Sieve` refuses before data are read.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.counting.backends.protocol import Backend
from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import Criterion, Hybrid, JoinedMIM
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.discretize import AsGiven, one_table
from labelsieve.errors import InputError
from labelsieve.fingerprint import comparable
from labelsieve.labelspace import LabelSpace, refusal, weights_of_variables
from labelsieve.parameters import checked_fit, parameter
from labelsieve.progress import progress_bar
from labelsieve.registry import DEFAULT_CRITERION, ResolvedMethod, resolve_method
from labelsieve.search import (
    CandidateGain,
    CombinedGain,
    Gain,
    GreedySearch,
    LeastSquaresGain,
    is_batched,
    joined_scores,
    make_lazy_gain,
)
from labelsieve.search.least_squares import StoredColumns
from labelsieve.selection.information import Coding
from labelsieve.selectors.base import Result
from labelsieve.selectors.counting import PARENTS, BaseCountingSieve, ParentLists, Parents
from labelsieve.selectors.pair_counts import PairCounts
from labelsieve.stopping import CrossValidated, Knee, PermutationTest, ScoreThreshold, SelectionPath, StoppingRule
from labelsieve.stopping.curves import stop_search
from labelsieve.tables.nominal import ID_LEVELS, warn_of_bias, warn_of_single_levels
from labelsieve.tables.problem import Problem, read
from labelsieve.tables.types import LAZY_PACKAGES, FloatArray, StoredTable, TargetsLike, WeightsLike
from labelsieve.tables.weights import checked_weights


class _Started(NamedTuple):
    """A search that can be continued, with the data that it counts; kept for a warm start."""

    search: GreedySearch
    problem: Problem
    workspace: Workspace | None  # None: the criterion counts nothing
    parents: ParentLists
    attributes: dict[str, Any]
    lock: Lock


class _ScoresWhenRead:
    """Scores that a lazy search evaluates when they are first read; then, and after other searches, a plain attribute."""

    _lock = Lock()

    def __get__(self, sieve: Any, owner: type) -> Any:
        if sieve is None:
            return None
        with self._lock:
            fitted = sieve.__dict__
            if "feature_scores_" not in fitted and (later := fitted.get("_later_scores_")) is not None:
                fitted |= {"feature_scores_": later(), "_later_scores_": None}
            return fitted.get("feature_scores_")


def _of_all(later: Callable[[], FloatArray], selected: NDArray[np.intp], scores: FloatArray) -> FloatArray:
    """Return the scores of all features: of selected ones those with which they were selected."""
    of_all = later()
    of_all[selected] = scores
    return of_all


@dataclass(eq=False, repr=False)
class Sieve(BaseCountingSieve):
    """Select the features that are most informative about all targets jointly, by greedy forward search.

    Parameters
    ----------
    criterion : str or Criterion, default="hybrid"
        What scores candidates. ``"hybrid"``, the recommended method, combines information with least squares (to change its
        settings, pass :class:`labelsieve.criteria.Hybrid`), and ``"omp"`` is least squares alone
        (:class:`labelsieve.criteria.LeastSquares`). Otherwise the formula of a criterion: a name (``labelsieve methods`` lists
        them), a custom criterion, or the name of a published method such as ``"group-jmi-rand"``, which also sets the label
        space and the discretizer.
    targets : str or LabelSpace, default="auto"
        The label space: ``"single"``, each target separately, scores summed; ``"joint"``, all targets as one variable;
        ``"copy"``, ``"group"`` and others, by name or, to change settings, as an object of :mod:`labelsieve.labelspace`.
        ``"auto"`` is that of the method: ``"cumulative"`` for the hybrid, ``"single"`` for a criterion.
    parents : list of lists of int, LabelNetwork, NetworkRule or {"kcc", "tree", "preceding"}, default=None
        For criteria over a label network: the parents of every target, or the rule that learns them (``"kcc"`` is
        ``NetworkRule("kcc")``; random roots and orders have seed 0 if the rule has none). None is the rule of the published
        method, ``"kcc"`` for ``"mlfs"``, and no parents for a criterion.
    target_weight : sequence of float, default=None
        A weight for every target in sums over single targets; a weight of 2 equals having the target twice. Each step then
        counts the tables of every target separately.
    warm_start : bool, default=False
        Keep the counts, so that fitting again on the same data with a larger ``n_features_to_select`` continues the search.

    Attributes
    ----------
    scores_ : ndarray of float
        Score of every selected feature at the step that selected it: in nats for a formula, relative to the best candidate of
        the step for the hybrid.
    score_components_ : dict of ndarray
        Components of the scores as in the formula (relevance, redundancy, interaction, label pairs), where it has them; the
        gains ``"information"`` and ``"least squares"`` of the hybrid. :meth:`information_components` has components that mean
        the same for every criterion.
    feature_scores_ : ndarray of float, shape (n_features,)
        Scores of all features: of selected ones when they were selected, of the others at the last step, or upper bounds of
        these (docs/scale/extreme_labels.md). Criteria with minima over the selected features, and the default, count most
        candidates only when this is first read, or the selector is pickled; the packed columns are kept until then.
    ranking_ : ndarray of int, shape (n_features,)
        Ranks of all features, from 1: selected ones in order of selection, the others behind them by ``feature_scores_``.
    relevance_ : ndarray of float, shape (n_features,)
        Information of every feature alone, summed over the targets, in nats; for criteria whose first step computes it.
    omitted_entropy_, relevance_error_ : float, ndarray of float
        When the label space leaves labels out: an upper bound of the information about them, or, for a sample of the labels,
        standard errors of ``relevance_`` (docs/scale/extreme_labels.md).
    criterion_, targets_ : Criterion, LabelSpace
        The objects that were used, with their settings.
    n_rows_left_out_ : int
        Rows that are not counted: those in which no target is known (all NaN), and those that the label space leaves out, such
        as rows without labels under ``"copy"``.
    stopping_ : StoppingRule
        The fitted rule that found the number, with ``reason_`` and its results, p-values or a curve.
    network_ : LabelNetwork
        The network, if ``parents`` is one or a rule that learns one.

    See Also
    --------
    LabelwiseSieve : select features for each target separately.

    Notes
    -----
    Cost: packing, one pass over X; then at each step the tables that the formula mentions, for all features and targets,
    whatever the number already selected. ``Sieve(...).explain(n_rows, n_features, n_targets)`` lists them. The least-squares
    gain of the hybrid adds one pass over the values per step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 1] > 0.5])
    >>> Sieve(n_features_to_select=2).fit(X, Y).selected_
    array([3, 1])
    """

    criterion: str | Criterion = parameter(DEFAULT_CRITERION, str, Criterion, type)
    _: KW_ONLY
    targets: str | LabelSpace = parameter("auto", str, LabelSpace)
    parents: Parents = parameter(None, *PARENTS)
    target_weight: WeightsLike = parameter(None, "array-like")
    warm_start: bool = False

    if not TYPE_CHECKING:
        feature_scores_ = _ScoresWhenRead()

    @checked_fit
    def fit(
        self,
        X: Any,
        y: TargetsLike | None = None,
        sample_weight: WeightsLike = None,
    ) -> Self:
        """Select features of ``X`` for the targets ``y``.

        ``y`` has one column or many, of classes or numbers, dense, sparse or in a frame; or it is a list of label sets, such as
        ``[{"rock", "loud"}, {"folk"}]``. A :class:`~labelsieve.datasets.ChunkedTable` (also made from Dask) has features and
        targets and need not fit into memory; :class:`~labelsieve.PairCounts` have counts of both; ``y`` is left out then.
        ``sample_weight`` is the number of times that each row is counted. Of a data frame of Spark, ``y`` are the names of the
        columns that are targets, and ``sample_weight`` is the name of the column of weights.
        """
        library = LAZY_PACKAGES.get(type(X).__module__.partition(".")[0])
        if library == "Dask":
            X, y = ChunkedTable.from_dask(X, y), None
        elif library == "Spark":
            X, y, sample_weight = ChunkedTable.from_spark(X, y, weight=sample_weight), None, None
        method, rule = self._resolve(X), self._count
        # Everything but the number of features must be as it was; that the data are the same is up to the caller.
        settings = self._search_settings(method) if self.warm_start else None
        previous, started = vars(self).get("_search", (None, None))
        n_before = 0
        # A stopping rule looks at all candidates, so that a search which left some out cannot go on with one.
        goes_on = started is not None and not (isinstance(rule, StoppingRule) and started.search.gain.is_lazy)
        if goes_on and self.warm_start and previous == settings:
            n_before = len(self.selected_)
        else:
            problem = read(X, y, sample_weight, target_type=self.target_type, estimator=self)
            try:
                started = self._start(method, problem)
            except MemoryError as error:
                if method.linear is None:
                    raise
                remedy = "select by information alone, Sieve('cmim') or --criterion cmim, which takes sparse tables of any size"
                raise MemoryError(f"{str(error).rstrip('.')}, or {remedy}.") from None
        with started.lock:  # threads that fit the same selector continue one search
            result = self._extend(started, rule, n_before)
            self._forget()
            self._keep(started.problem, result)
        if self.warm_start:
            self._search = settings, started
        return self

    def _resolve(self, X: object = None) -> ResolvedMethod:
        """Resolve names to objects, and refuse combinations that are not supported, before any data are read."""
        method = resolve_method(
            self.criterion, self.targets, self.discretizer, self.target_discretizer, self.missing, self.estimator
        )
        source = X.X if isinstance(X, Problem) else X
        rule, weighted = self._count, self.target_weight is not None
        counted = isinstance(source, PairCounts)
        stored = isinstance(source, StoredTable) and not counted
        require_supported(Request(method, stored, counted, rule if isinstance(rule, StoppingRule) else None, weighted))
        return method

    def _select(self, problem: Problem) -> Result:
        """Select features of a problem that was read before."""
        return self._extend(self._start(self._resolve(problem), problem), self._count, 0)

    def _start(self, method: ResolvedMethod, problem: Problem) -> _Started:
        """Encode and count the data, and make the search with its gain."""
        forced, excluded = self._limits(problem)
        attributes: dict[str, Any] = {
            "criterion": method.criterion,
            "targets": method.space,
            "discretizer": method.discretizer,
            "target_discretizer": method.target_discretizer,
            "estimator": method.estimator,
            "n_rows_left_out": problem.n_left_out,
        }
        scaled = None if method.linear is None else self._stored_columns(method, problem)
        if method.formula is None:
            linear = self._least_squares(method, problem, None, scaled)
            search = GreedySearch(linear, problem.n_features, forced, excluded, linear.constant_features)
            return _Started(search, problem, None, None, attributes, Lock())
        with nullcontext() if scaled is None else problem.X.shown_to(scaled.add):  # every column is read once for both gains
            tables = method.encode(problem, self.n_jobs)
        joined = isinstance(method.criterion, JoinedMIM)
        data = tables[0] if joined or len(tables) == 1 else one_table(tables, "Sieve")
        if data.X.levels.max() > ID_LEVELS and not isinstance(method.discretizer, AsGiven):
            warn_of_bias(data.X, method.estimator, list(self.excluded))
        if data.X.levels.max() == 1 and problem.feature_names is not None:
            warn_of_single_levels(data.X)
        given = method.parents if self.parents is None else self.parents
        parents, network = None, None
        if given is not None and not isinstance(problem.X, PairCounts):  # counts have no rows to learn a network from
            parents, network = self._find_parents(method, problem, tables, given)
        plan, rule, options = method.formula.plan, self._count, self._options(method, data)
        if isinstance(problem.X, PairCounts):
            options = replace(options, backend=problem.X.backend)
        if len(tables) > 1 and isinstance(rule, StoppingRule):
            raise InputError("A stopping rule needs one set of codes for all targets; give a number of features.")
        # A stopping rule looks at tables of all features, which are not packed twice.
        lazy = plan.has_values_of_targets and not joined and not isinstance(rule, StoppingRule) and self.target_weight is None
        if not lazy or method.estimator == "shrinkage" or not is_batched(plan, data.X, data.Y):
            plan.require_memory(data.X, data.Y.n_columns)
        target_weights = None if self.target_weight is None else weights_of_variables(self.target_weight, data)
        workspace = Workspace(data.X, data.Y, options, row_index=data.row_index, target_weights=target_weights)
        found = make_lazy_gain(plan, workspace) if lazy else None
        gain: Gain = plan.bind(workspace, parents=parents) if found is None else found
        last = self._last(workspace) if len(tables) == 1 else np.empty(0, dtype=np.intp)
        if isinstance(method.criterion, JoinedMIM):
            gain = joined_scores(tables, method.criterion, options)
        elif isinstance(method.criterion, Hybrid):
            gain = CombinedGain(
                {"information": gain, "least squares": self._least_squares(method, problem, workspace.backend, scaled)},
                problem.n_features,
                method.criterion.weights,
                combine=method.criterion.combine,
                unavailable=(*excluded, *last),
                alpha=method.criterion.alpha,
            )
        attributes |= {"n_rows_left_out": data.n_left_out, "network": network}
        if data.encoded is not None and (data.encoded.omitted_entropy is not None or data.encoded.sampled_from is not None):
            attributes |= self._errors(data, workspace)
        if isinstance(rule, StoppingRule) and rule.leaves_out:
            attributes["stopping"] = fitted = clone(rule)
            excluded += fitted.leave_out(workspace, slice(None), [*forced, *excluded])
        search = GreedySearch(gain, data.X.n_columns, forced, excluded, last)
        return _Started(search, problem, workspace, parents, attributes, Lock())

    def _least_squares(
        self, method: ResolvedMethod, problem: Problem, backend: Backend | None, scaled: StoredColumns | None
    ) -> LeastSquaresGain:
        """Return the gain of a linear model of all targets.

        ``backend`` counts the same rows, if anything is counted; ``scaled`` are the columns of a ChunkedTable.
        """
        assert method.linear is not None
        of_targets = None
        if self.target_weight is not None:
            of_targets = checked_weights(self.target_weight, "target_weight", problem.targets.n_columns, "target")
        if scaled is None:
            data = self._linear_data(method, problem, backend)
        else:
            data = scaled.linear_data(problem.X.backend if self.backend == "auto" else str(self.backend))
        return LeastSquaresGain(data, penalty=method.linear.penalty, target_weights=of_targets, n_jobs=self.n_jobs)

    def _extend(self, started: _Started, rule: Any, n_before: int) -> Result:
        """Extend the search to the number of features that was asked for, or that the stopping rule finds."""
        search, attributes = started.search, dict(started.attributes)
        with progress_bar(f"{search.gain.name}: selecting features") as progress:
            if not isinstance(rule, StoppingRule):
                n_available = search.n_features - len(set(search.excluded))
                wanted = max(self._n_wanted(n_available, search.n_features), len(search.forced), n_before)
                search.extend(wanted, progress)
            else:
                source, evaluator = started.problem.source, self._evaluator(started.problem)
                if started.workspace is None:
                    wanted, fitted = stop_search(rule, search, evaluator=evaluator, X=source.X, Y=source.y)
                else:
                    fitted = attributes["stopping"] if rule.leaves_out else clone(rule)
                    path = SelectionPath(search, started.workspace, started.parents, source.X, source.y, evaluator)
                    wanted = fitted.decide(path)
                attributes["stopping"] = fitted
        selected, scores = np.array(search.selected, dtype=np.intp), np.array(search.scores)
        components: dict[str, Any] = {}
        for index, step in enumerate(search.components[:wanted]):
            for kind, value in step.items():
                components.setdefault(kind, np.zeros(wanted))[index] = value
        attributes |= {"score_components": components, "relevance": search.relevance, "_later_scores": None}
        if not search.gain.is_lazy:
            of_all = np.full(search.n_features, np.nan) if search.last_scores is None else search.last_scores.copy()
            of_all[selected] = scores
            attributes["feature_scores"] = of_all
        else:
            attributes["_later_scores"] = later = partial(
                _of_all, cast(CandidateGain, search.gain).scores_later(), selected, scores
            )
            if self.warm_start:  # a search that goes on does not know the scores of this step any more
                attributes["feature_scores"] = later()
        return Result(selected[:wanted], scores[:wanted], attributes)

    def _search_settings(self, method: ResolvedMethod) -> dict[str, Any]:
        """Return the parameters that a search depends on, in a form that can be compared."""
        parameters = self.get_params(deep=False)
        parameters = {name: value for name, value in parameters.items() if name not in ("criterion", "n_features_to_select")}
        backend = parameters.pop("backend")  # a factory need not be one that can be hashed
        rule, plan = self._count, None if method.formula is None else method.formula.plan
        parameters["rule"] = rule if isinstance(rule, StoppingRule) and rule.leaves_out else None
        formulas = repr(method.criterion) if plan is None or method.linear else (str(plan.score), str(plan.first))
        bins = method.discretizer, method.target_discretizer
        parameters |= {"targets": method.space, "discretizer": bins[0], "target_discretizer": bins[1]}
        return {"criterion": formulas, "backend": backend, **{name: comparable(value) for name, value in parameters.items()}}

    def coding(self) -> Coding:
        return replace(super().coding(), target_weight=self.target_weight)

    def explain(self, n_rows: int, n_features: int, n_targets: int, levels: int = 5) -> str:
        """List the tables that would be counted for data of this size, and the memory they take."""
        method = self._resolve()
        lines = []
        if method.formula is not None:
            lines.append(method.formula.plan.explain(n_rows, n_features, method.space.n_variables(n_targets), levels))
        if method.linear is not None:
            products = n_features * n_targets
            memory = 4e-6 * n_rows * n_features + 8e-6 * products
            lines += [
                f"{'each step:':<11} {'least squares: products of columns and targets':<44} {products:>10,} products",
                f"{'memory:':<11} numbers {memory:.1f} MB, less for sparse features",
            ]
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        _ = self.feature_scores_  # evaluated now, if it was left for later
        state: dict[str, Any] = super().__getstate__()
        # Packed tables stay in this process.
        return {name: value for name, value in state.items() if name not in ("_search", "_later_scores_")}


# ------------------------------------------------------------------------- what goes with what

KINDS = ("formula", "joined", "least squares", "hybrid")
_OF_KIND = {
    "formula": "a formula",
    "joined": "labels joined after scoring (br-infogain, gmm)",
    "least squares": "least squares (omp)",
    "hybrid": "information and least squares (hybrid, the default)",
}


@dataclass(frozen=True)
class Request:
    """A fit that was asked for: the method, the kind of the data, and the options that not every method supports."""

    method: ResolvedMethod
    stored: bool = False  # a ChunkedTable or a collection of Dask or Spark
    counted: bool = False  # PairCounts
    rule: StoppingRule | None = None
    target_weight: bool = False

    @property
    def kind(self) -> str:
        """The kind of the criterion: one of ``KINDS``."""
        criterion = self.method.criterion
        if isinstance(criterion, JoinedMIM):
            return "joined"
        if isinstance(criterion, Hybrid):
            return "hybrid"
        return "formula" if self.method.linear is None else "least squares"


@dataclass(frozen=True)
class Refusal:
    """An option, the kinds of criteria that do not support it, and the reason with the remedy."""

    option: str
    asked: Callable[[Request], bool]
    kinds: tuple[str, ...]
    reason: str


_LINEAR = ("least squares", "hybrid")
_OF_ADDED = (ScoreThreshold, Knee)


def _of_scores(request: Request) -> bool:
    return isinstance(request.rule, _OF_ADDED) and request.rule.of == "score"


def _of_added(request: Request) -> bool:
    return isinstance(request.rule, _OF_ADDED) and request.rule.of == "added"


def _of_counts(request: Request) -> bool:
    return request.rule is not None and not isinstance(request.rule, (*_OF_ADDED, CrossValidated, PermutationTest))


_NO_COUNTS = (
    "the rule tests what a feature adds to those selected before it, by counts that this method does not have; use "
    "ScoreThreshold, Knee(of='score'), CrossValidated or a number."
)


#: Every combination that is refused because of the kind of its criterion, in the order in which they are checked.
REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "PairCounts",
        lambda request: request.counted,
        (*_LINEAR, "joined"),
        "PairCounts have counts of pairs alone; use a criterion whose formula needs no more, such as Sieve('mrmr').",
    ),
    Refusal(
        "target_weight",
        lambda request: request.target_weight,
        ("joined",),
        "target_weight is for sums over the targets; use a criterion such as Sieve('cmim').",
    ),
    Refusal(
        "stopping rule by scores",
        _of_scores,
        ("hybrid",),
        "its scores are relative to the best candidate of every step and do not decrease; use of='added', GTest, "
        "CrossValidated or a fixed number, or another criterion, such as cmim.",
    ),
    Refusal(
        "permutation test",
        lambda request: isinstance(request.rule, PermutationTest),
        ("hybrid",),
        "its scores are relative to the best candidate of every step, also with permuted targets; use GTest, FDR or "
        "CrossValidated, or another criterion, such as cmim.",
    ),
    Refusal(
        "permutation test",
        lambda request: isinstance(request.rule, PermutationTest),
        ("joined",),
        "the rule permutes the targets of a formula, and these scores are joined after scoring; use GTest, CrossValidated or a "
        "number.",
    ),
    Refusal("permutation test", lambda request: isinstance(request.rule, PermutationTest), ("least squares",), _NO_COUNTS),
    Refusal("other tests (g-test, fdr)", _of_counts, ("least squares",), _NO_COUNTS),
    Refusal(
        "stopping rule by added information",
        _of_added,
        ("least squares",),
        "the added information is not available for this method; use of='score'.",
    ),
)


def require_supported(request: Request) -> None:
    """Raise an error that names the reason and the remedy if the combination is not supported."""
    method, caller = request.method, f"Sieve({request.method.name})"
    for each in REFUSALS:
        if request.kind in each.kinds and each.asked(request):
            raise InputError(f"{caller}: {each.reason}")
    if method.formula is not None:
        plan = method.formula.plan
        needs = [*plan.target_needs, *(("weights of targets",) if request.target_weight else ())]
        # Every label space has sums over targets; a formula that needs no more fits all of them.
        reason = None if needs == ["sums over targets"] else refusal(needs, method.space)
        if request.target_weight and not plan.takes_target_weights:
            reason = "target_weight is for sums over the targets, and this formula pairs or compares them."
        if reason is not None:
            raise InputError(f"{caller}: {reason}")
    if request.counted and method.space.name != "single":
        raise InputError(f"PairCounts are counts of single targets; use targets='single', not {method.space.name!r}.")
    if request.rule is not None and (request.stored or request.counted):
        raise InputError("A stopping rule needs the table in memory; give a number of features, a fraction, or 'all'.")
    if request.rule is not None and request.rule.is_test:
        method.discretizer.require_unsupervised(type(request.rule).__name__)


def support_table() -> str:
    """Return the table in Markdown that the documentation shows: options in rows, kinds of criteria in columns.

    >>> print(support_table().splitlines()[0][:30])
    | option | a formula | labels
    """
    lines = [f"| option | {' | '.join(_OF_KIND[kind] for kind in KINDS)} |", "|---" * (len(KINDS) + 1) + "|"]
    for option in dict.fromkeys(each.option for each in REFUSALS):
        refused = {kind for each in REFUSALS if each.option == option for kind in each.kinds}
        lines.append(f"| {option} | {' | '.join('no' if kind in refused else 'yes' for kind in KINDS)} |")
    return "\n".join(lines)
