"""Sieve: greedy forward selection by any criterion, as a scikit-learn selector."""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import _fit_context, clone

from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import Criterion, JoinedMIM
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.discretize import one_table
from labelsieve.errors import InputError
from labelsieve.fingerprint import comparable
from labelsieve.labelspace import LabelSpace, refusal
from labelsieve.labelspace.base import CountingInput
from labelsieve.parameters import parameter
from labelsieve.progress import progress_bar
from labelsieve.registry import DEFAULT_CRITERION, ResolvedMethod, resolve_method
from labelsieve.search import GreedySearch, LazyGain, evaluates_lazily, joined_scores, make_search
from labelsieve.search.gains import Gain
from labelsieve.selectors.base_counting import PARENTS, BaseCountingSieve, ParentLists, Parents
from labelsieve.selectors.chunked_input import from_elsewhere
from labelsieve.selectors.pair_counts import PairBackend, PairCounts, input_of_counts
from labelsieve.selectors.selector_input import TableOrCounts, named_labels
from labelsieve.stopping import SelectionPath, StoppingRule
from labelsieve.tables.types import TargetsLike, WeightsLike
from labelsieve.tables.weights import TargetWeights, read_target_weights


class _Started(NamedTuple):
    """A search with its workspace and parents, kept for a warm start."""

    search: GreedySearch
    workspace: Workspace
    parents: ParentLists
    lock: Lock


@dataclass(eq=False, repr=False)
class Sieve(BaseCountingSieve):
    """Select the features that are most informative about all targets jointly, by greedy forward search.

    Parameters
    ----------
    criterion : str or Criterion, default="cmim"
        The formula that scores candidates: a name (``labelsieve methods`` lists them), a custom criterion, or the name of a
        published method such as ``"group-jmi-rand"``, which also sets the label space and the discretizer.
    targets : str or LabelSpace, default="auto"
        The label space: ``"single"``, each target separately, scores summed; ``"joint"``, all targets as one variable;
        ``"copy"``, ``"group"`` and others, by name or, to change settings, as an object of :mod:`labelsieve.labelspace`.
        ``"auto"`` is that of the published method, ``"single"`` for a criterion.
    parents : list of lists of int, LabelNetwork, NetworkRule or {"kcc", "tree", "preceding"}, default=None
        For criteria over a label network: the parents of every target, or the rule that learns them (``"kcc"`` is
        ``NetworkRule("kcc")``; random roots and orders have seed 0 if the rule has none). None is the rule of the published
        method, ``"kcc"`` for ``"mlfs"``, and no parents for a criterion.
    target_weight : sequence of float, default=None
        A weight for every target in sums over single targets; a weight of 2 equals having the target twice. Each step then
        counts the tables of every target separately.
    search : {"greedy", "floating", "swap"}, default="greedy"
        Greedy forward search; or floating search or swaps for the set with the largest objective, for criteria that are sums or
        means of symmetric terms over the selected features (docs/selecting.md).
    warm_start : bool, default=False
        Keep the counts, so that fitting again on the same data with a larger ``n_features_to_select`` continues the search.

    Attributes
    ----------
    scores_ : ndarray of float
        Score of every selected feature at the step that selected it, in nats.
    score_components_ : dict of ndarray
        Components of the scores as in the formula (relevance, redundancy, interaction, label pairs), where it has them.
        :meth:`information_components` has components that mean the same for every criterion.
    feature_scores_ : ndarray of float, shape (n_features,)
        Scores of all features: of selected ones when they were selected, of the others at the last step, or upper bounds of
        these (docs/extreme_labels.md).
    ranking_ : ndarray of int, shape (n_features,)
        Ranks of all features, from 1: selected ones in order of selection, the others behind them by ``feature_scores_``.
    relevance_ : ndarray of float, shape (n_features,)
        Information of every feature alone, summed over the targets, in nats; for criteria whose first step computes it.
    omitted_entropy_, relevance_error_ : float, ndarray of float
        When the label space leaves labels out: an upper bound of the information about them, or, for a sample of the labels,
        standard errors of ``relevance_`` (docs/extreme_labels.md).
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
    whatever the number already selected. ``Sieve(...).explain(n_rows, n_features, n_targets)`` lists them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 1] > 0.5])
    >>> Sieve("jmi", n_features_to_select=2).fit(X, Y).selected_
    array([3, 1])
    """

    criterion: str | Criterion = parameter(DEFAULT_CRITERION, str, Criterion, type)
    _: KW_ONLY
    targets: str | LabelSpace = parameter("auto", str, LabelSpace)
    parents: Parents = parameter(None, *PARENTS)
    target_weight: WeightsLike = parameter(None, "array-like")
    warm_start: bool = False
    search: Literal["greedy", "floating", "swap"] = "greedy"

    _takes_chunks: ClassVar[bool] = True

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableOrCounts, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Select features of ``X`` for the targets ``y``.

        ``y`` has one column or many, of classes or numbers, dense, sparse or in a frame; or it is a list of label sets, such as
        ``[{"rock", "loud"}, {"folk"}]``. A :class:`~labelsieve.datasets.ChunkedTable` (also made from Dask) has features and
        targets and need not fit into memory; :class:`~labelsieve.PairCounts` have counts of both; ``y`` is left out then.
        ``sample_weight`` is the number of times that each row is counted.
        """
        X, y = from_elsewhere(X, y)
        method, y = self._resolve(), named_labels(self, y, X)
        if isinstance(X, ChunkedTable | PairCounts) and isinstance(self._count, StoppingRule):
            raise InputError("A stopping rule needs the table in memory; give a number of features, a fraction, or 'all'.")
        # Everything but the number of features must be as it was; that the data are the same is up to the caller.
        settings = self._search_settings(method) if self.warm_start else None
        previous, started = self.__dict__.get("_search", (None, None))
        continued = started is not None and self.warm_start and previous == settings
        started = started if continued else self._start(method, X, y, sample_weight)
        with started.lock:  # threads that fit the same selector continue one search
            n_before = len(getattr(self, "selected_", ())) if continued else 0
            self._extend(started, n_before, X, y, sample_weight)
        if self.warm_start:
            self._search = settings, started
        return self

    def _extend(
        self, started: _Started, n_before: int, X: TableOrCounts, y: TargetsLike | None, sample_weight: WeightsLike
    ) -> None:
        """Extend the search to the number of features, and set the fitted attributes."""
        search = started.search
        with progress_bar(f"{search.gain.name}: selecting features") as progress:
            if isinstance(rule := self._count, StoppingRule):
                self.stopping_ = self.stopping_ if rule.leaves_out else clone(rule)
                assert not isinstance(X, ChunkedTable | PairCounts)  # refused by fit
                evaluator = self._evaluator(X, y, sample_weight)
                wanted = self.stopping_.decide(SelectionPath(search, started.workspace, started.parents, X, y, evaluator))
            else:
                self.__dict__.pop("stopping_", None)
                wanted = max(self._n_wanted(search.n_available), len(search.forced), n_before)
                search.extend(wanted, progress)
        selected, scores = np.array(search.selected, dtype=np.intp), np.array(search.scores)
        self._set_selected(selected[:wanted], scores[:wanted])
        steps = search.components[:wanted]
        kinds = {kind: None for step in steps for kind in step}
        self.score_components_ = {kind: np.array([step.get(kind, 0.0) for step in steps]) for kind in kinds}
        self.feature_scores_ = np.full(self.n_features_in_, np.nan) if search.last_scores is None else search.last_scores.copy()
        self.feature_scores_[selected] = scores
        self.__dict__.pop("relevance_", None)
        if search.relevance is not None:
            self.relevance_ = search.relevance

    def _resolve(self) -> ResolvedMethod:
        """The objects behind the parameters, if criterion, label space and weights go together."""
        method = resolve_method(self.criterion, self.targets, self.discretizer, self.target_discretizer, self.missing)
        plan, weighted = method.criterion.plan, () if self.target_weight is None else ("weights of targets",)
        reason = refusal([*plan.target_needs, *weighted], method.space)
        if weighted and not plan.takes_target_weights:
            reason = "target_weight is for sums over the targets, and this formula pairs or compares them."
        if reason is not None:
            raise InputError(f"Sieve({method.criterion.name!r}): {reason}")
        return method

    def _search_settings(self, method: ResolvedMethod) -> dict[str, Any]:
        """The parameters that a search depends on, to be compared."""
        parameters = self.get_params(deep=False)
        parameters = {name: value for name, value in parameters.items() if name not in ("criterion", "n_features_to_select")}
        backend = parameters.pop("backend")  # a factory need not be one that can be hashed
        parameters["rule"] = self._count if getattr(self._count, "leaves_out", False) else None
        formulas = str(method.criterion.plan.score), str(method.criterion.plan.first)
        bins = method.discretizer, method.target_discretizer
        parameters |= {"targets": method.space, "discretizer": bins[0], "target_discretizer": bins[1]}
        return {"criterion": formulas, "backend": backend, **{name: comparable(value) for name, value in parameters.items()}}

    def _start(self, method: ResolvedMethod, X: TableOrCounts, Y: TargetsLike | None, sample_weight: WeightsLike) -> _Started:
        criterion, plan = method.criterion, method.criterion.plan
        given = Y, sample_weight, method
        tables, parents = ([input_of_counts(self, X, *given)], None) if isinstance(X, PairCounts) else self._read(X, *given)
        joined = isinstance(criterion, JoinedMIM)
        data: CountingInput = tables[0] if joined else one_table(tables, "Sieve")
        forced, excluded = self._checked_columns()
        self.criterion_, self.targets_, self.n_rows_left_out_ = criterion, method.space, data.n_left_out
        alone = self.search == "greedy" and type(self)._combined is Sieve._combined and self.target_weight is None
        plain = self.estimator != "shrinkage" and not isinstance(self._count, StoppingRule)
        if not (lazy := alone and plain and evaluates_lazily(plan, data.X, data.Y)):
            plan.require_memory(data.X, data.Y.n_columns)
        if len(tables) > 1 and isinstance(self._count, StoppingRule):
            raise InputError("A stopping rule needs one set of codes for all targets; give a number of features.")
        options = self._counting_options(data.weights)
        options = replace(options, backend=partial(PairBackend, X.tables)) if isinstance(X, PairCounts) else options
        target_weights = self._target_weights(data)
        workspace = Workspace(data.X, data.Y, options, row_index=data.row_index, target_weights=target_weights)
        self._state_errors(data, workspace)
        if joined and self.target_weight is not None:
            raise InputError("target_weight is for sums over the targets, and these are joined in another way.")
        gain: Gain = LazyGain(plan, workspace) if lazy else plan.bind(workspace, parents=parents)
        if isinstance(criterion, JoinedMIM):
            gain = joined_scores(tables, criterion, options)
        constant = self._last(workspace) if len(tables) == 1 else ()
        gain = self._combined(gain, method, (X, Y, sample_weight), (*excluded, *constant))
        if self.search != "greedy" and isinstance(self._count, StoppingRule):
            raise InputError("A stopping rule needs nested selections, which search='greedy' has; give a number of features.")
        excluded += self._left_out(workspace, [*forced, *excluded])
        search = make_search(self.search, plan, gain, data.X.n_columns, forced, excluded, constant)
        return _Started(search, workspace, parents, Lock())

    def _combined(
        self, information: Gain, method: ResolvedMethod, data: tuple[Any, Any, Any], unavailable: tuple[int, ...]
    ) -> Gain:
        """The gain of the search, from that of the formula: itself."""
        return information

    def explain(self, n_rows: int, n_features: int, n_targets: int, levels: int = 5) -> str:
        """List the tables that would be counted for data of this size, and the memory that they take."""
        method = self._resolve()
        return method.criterion.plan.explain(n_rows, n_features, method.space.n_variables(n_targets), levels)

    def _target_weights(self, data: CountingInput) -> TargetWeights | None:
        return read_target_weights(self.target_weight, data.Y.n_columns)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_search"}  # packed tables stay in this process
