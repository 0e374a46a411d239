"""LabelwiseSieve: one list of features for every target."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import Criterion, Hybrid
from labelsieve.discretize import AsGiven, one_table
from labelsieve.errors import InputError
from labelsieve.formula.plan import Plan
from labelsieve.labelspace import LabelNetwork, Single, label_space_name
from labelsieve.parameters import AT_LEAST_ONE, checked_fit, parameter
from labelsieve.plotting import Axes, figure_function
from labelsieve.progress import progress_bar
from labelsieve.registry import DEFAULT_FORMULA, ResolvedMethod, make_criterion, resolve_method
from labelsieve.search import (
    CombinedGain,
    Gain,
    GreedySearch,
    LeastSquaresGain,
    Lists,
    search_each,
    targets_per_block,
    together,
)
from labelsieve.selection import Names
from labelsieve.selectors.base import Result
from labelsieve.selectors.counting import PARENTS, BaseCountingSieve, Parents
from labelsieve.selectors.sieve import Request, require_supported
from labelsieve.stopping import CrossValidated, SelectionPath, StoppingRule
from labelsieve.stopping.base import CannotEvaluate
from labelsieve.stopping.curves import stop_search
from labelsieve.tables.frames import is_frame
from labelsieve.tables.nominal import warn_of_bias, warn_of_single_levels
from labelsieve.tables.problem import Problem, check_features, read
from labelsieve.tables.types import StoredTable, TableLike, TargetsLike, WeightsLike

DENSE_SUPPORT = 2**28  # cells of the largest dense mask of labels and features


@dataclass(eq=False, repr=False)
class LabelwiseSieve(BaseCountingSieve):
    """Select features for each target separately.

    Parameters
    ----------
    criterion, parents
        As for :class:`Sieve`, also ``"hybrid"`` and ``"omp"``. Sums over the targets have one target; ``parents`` may be any
        other targets.
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        For each target: a number, a fraction of all, None for a ranking of all, or a rule of :mod:`labelsieve.stopping`, which
        finds a number for every target: the level of a test is that of each target by itself. ``CrossValidated`` is refused,
        since it evaluates predictions of all targets together.
    n_candidates : int, default=None
        Every target selects among this many features, those with the most information about it alone; None is all. When as
        many or more are wanted, all are selected in order of relevance. The authors' program of Sun and Kudo (2017) does so
        with 100.

    Attributes
    ----------
    selected_ : ndarray of int, shape (n_targets, n_selected)
        For each target, columns in order of selection; -1 after the end of a list that a rule made shorter than others.
    scores_ : ndarray of float, shape (n_targets, n_selected)
        Score of every feature when it was selected; NaN after the end of a list.
    ranking_ : ndarray of int, shape (n_targets, n_features)
        For each target, the rank of every feature, 1 for the best.
    n_selected_ : ndarray of int, shape (n_targets,)
        The length of each list.
    stopping_ : list of StoppingRule
        When a rule found the numbers: the fitted rule of every target, with its reason and results.
    support_ : ndarray of bool, shape (n_features,)
        Columns that at least one target selected: what ``transform`` keeps.
    label_support_ : ndarray or sparse array of bool, shape (n_targets, n_features)
        Columns that each target selected; a SciPy CSR array where a dense one would exceed 256 MB.
    criterion_, discretizer_, target_discretizer_ : Criterion, Discretizer, Discretizer
        The objects that were used, with their settings.
    network_ : LabelNetwork
        The network, if ``parents`` is one or a rule that learns one.

    Notes
    -----
    Cost: X is packed once (for each target if the discretizer has cuts for each, as ``MDL(targets="single")``); then each step
    counts the tables of every feature that some target has just selected; targets that select the same feature share them.
    Memory: 8 bytes for each feature, target and sum over the selected features, in blocks of targets of 64 MB. With a rule the
    targets are searched one after the other, without sharing, and the rule has its own cost. For sparse features and targets of
    two levels, a step costs the non-empty tables (feature, target) and (feature, selected feature): see
    ``docs/scale/extreme_labels.md``. ``"hybrid"`` and ``"omp"`` search target after target and share products of columns.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 1] > 0.5])
    >>> LabelwiseSieve("mim", n_features_to_select=1).fit(X, Y).selected_
    array([[3],
           [1]])
    """

    criterion: str | Criterion = parameter(DEFAULT_FORMULA, str, Criterion, type)
    _: KW_ONLY
    parents: Parents = parameter(None, *PARENTS)
    n_candidates: int | None = parameter(None, AT_LEAST_ONE)

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Select features of ``X`` for every column of ``y``."""
        method = self._resolve()
        self._forget()
        problem = read(X, y, sample_weight, target_type=self.target_type, estimator=self)
        if isinstance(problem.X, StoredTable):
            raise InputError("LabelwiseSieve needs the table in memory; Sieve takes a ChunkedTable.")
        return self._keep(problem, self._search(method, problem))

    def _resolve(self) -> ResolvedMethod:
        """Resolve names to objects, and refuse methods and rules that are not for each target separately."""
        method = resolve_method(
            self.criterion,
            discretizer=self.discretizer,
            target_discretizer=self.target_discretizer,
            missing=self.missing,
            estimator=self.estimator,
        )
        if method.linear is None and not isinstance(method.space, Single):
            raise InputError(
                f"LabelwiseSieve({self.criterion!r}): this method is for {label_space_name(method.space)!r} targets, here "
                "every target is by itself; use Sieve, or the criterion alone."
            )
        if method.linear is not None:
            rule = self._count
            require_supported(Request(method, rule=rule if isinstance(rule, StoppingRule) else None))
        rule = self._count
        if isinstance(rule, CrossValidated):
            raise InputError(
                "LabelwiseSieve: CrossValidated evaluates predictions of all targets together, and here each has a list; "
                "use GTest, PermutationTest, ScoreThreshold or Knee, or a Sieve for each target."
            )
        if isinstance(rule, StoppingRule) and rule.is_test:
            method.discretizer.require_unsupervised(type(rule).__name__)
            if not rule.leaves_out and self.n_candidates:
                raise InputError(
                    f"{type(rule).__name__} tests the best of all features, and n_candidates leaves out most of them by "
                    "their information about the same target, so that p-values are too small; use n_candidates=None, or FDR."
                )
        return method

    def _select(self, problem: Problem) -> Result:
        return self._search(self._resolve(), problem)

    def _search(self, method: ResolvedMethod, problem: Problem) -> Result:
        """Search features for each target, and collect the lists."""
        if method.linear is not None:
            return self._collect(method, problem, *self._search_linear(method, problem), network=None)
        assert method.formula is not None
        plan, n_features = method.formula.plan, problem.n_features
        tables = method.encode(problem, self.n_jobs)
        if not isinstance(method.discretizer, AsGiven):
            warn_of_bias(tables[0].X, method.estimator, list(self.excluded))
        if tables[0].X.levels.max() == 1 and problem.feature_names is not None:
            warn_of_single_levels(tables[0].X)
        given = method.parents if self.parents is None else self.parents
        parents, network = (None, None) if given is None else self._find_parents(method, problem, tables, given)
        targets, (forced, excluded) = tables[0].Y, self._limits(problem)
        plan.require_memory(tables[0].X, min(targets.n_columns, targets_per_block(tables[0].X.n_columns)))
        length = len(forced)
        if not isinstance(self._count, StoppingRule):
            length = max(self._n_wanted(n_features - len(excluded), n_features), length)
        lists: list[Lists] = []
        rules: list[StoppingRule] = []
        with progress_bar(f"{plan.name}: selecting features, target by target") as progress:
            for index, table in enumerate(tables):  # one for all targets, or one for each
                workspace = Workspace(table.X, targets, self._options(method, table))
                block = slice(None) if len(tables) == 1 else slice(index, index + 1)
                candidates, block_plan = self._candidates(plan, workspace, block, forced, excluded, length)
                if not isinstance(given := self._count, StoppingRule):
                    lists.append(
                        search_each(
                            block_plan,
                            workspace,
                            length,
                            targets=block,
                            parents=parents,
                            forced=forced,
                            excluded=excluded,
                            candidates=candidates,
                            last=self._last(workspace),
                            progress=progress,
                        )
                    )
                    continue
                for number, target in enumerate(range(*block.indices(targets.n_columns))):
                    only, rule = slice(target, target + 1), clone(given)
                    unavailable = {*excluded, *rule.leave_out(workspace, only, [*forced, *excluded])}
                    if candidates is not None:
                        unavailable |= set(range(n_features)) - set(candidates[number].tolist())
                    scorer = block_plan.bind(workspace, targets=only, parents=parents)
                    search = GreedySearch(scorer, n_features, forced, sorted(unavailable), self._last(workspace))
                    source = problem.source
                    path = SelectionPath(search, workspace, parents, source.X, source.y, CannotEvaluate(), only)
                    kept = rule.decide(path)
                    lists.append((np.array([search.selected[:kept]], dtype=np.intp), np.array([search.scores[:kept]])))
                    rules.append(rule)
                    progress(target + 1, targets.n_columns)
        return self._collect(method, problem, lists, rules, network=network)

    def _search_linear(self, method: ResolvedMethod, problem: Problem) -> tuple[list[Lists], list[StoppingRule]]:
        """Search by least squares, alone or with information, target after target."""
        linear, n_features = method.linear, problem.n_features
        assert linear is not None
        forced, excluded = self._limits(problem)
        data = one_table(method.encode(problem, self.n_jobs), "LabelwiseSieve")
        workspace, target_of = Workspace(data.X, data.Y, self._options(method, data)), np.arange(data.Y.n_columns)
        if data.encoded is not None and data.encoded.target_of is not None:
            target_of = data.encoded.target_of
        last, source, given = self._last(workspace), problem.source, self._count
        length = len(forced)
        if not isinstance(given, StoppingRule):
            length = max(self._n_wanted(n_features - len(excluded), n_features), length)
        lists: list[Lists] = []
        rules: list[StoppingRule] = []
        with progress_bar(f"{method.criterion.name}: selecting features, target by target") as progress:
            for target, of_target in enumerate(self._linear_data(method, problem, workspace.backend).by_target()):
                only = slice(*np.searchsorted(target_of, (target, target + 1)).tolist())
                unavailable = set(excluded)
                if self.n_candidates is not None:
                    unavailable |= self._not_candidates(workspace, only, forced, excluded, length)
                fitted = given
                if isinstance(given, StoppingRule):
                    fitted = clone(given)
                    if method.formula is not None:
                        unavailable |= {*fitted.leave_out(workspace, only, [*forced, *excluded])}
                gain: Gain = LeastSquaresGain(of_target, penalty=linear.penalty, n_jobs=self.n_jobs)
                if isinstance(method.criterion, Hybrid):
                    assert method.formula is not None
                    gain = CombinedGain(
                        {"information": method.formula.plan.bind(workspace, targets=only), "least squares": gain},
                        n_features,
                        method.criterion.weights,
                        combine=method.criterion.combine,
                        unavailable=sorted({*unavailable, *last.tolist()}),
                        alpha=method.criterion.alpha,
                    )
                search = GreedySearch(gain, n_features, forced, sorted(unavailable), last)
                kept = length
                if isinstance(fitted, StoppingRule) and method.formula is not None:
                    path = SelectionPath(search, workspace, None, source.X, source.y, CannotEvaluate(), only)
                    kept = fitted.decide(path)
                    rules.append(fitted)
                elif isinstance(fitted, StoppingRule):
                    kept, fitted = stop_search(fitted, search, evaluator=CannotEvaluate(), X=source.X, Y=source.y)
                    rules.append(fitted)
                else:
                    search.extend(length)
                lists.append((np.array([search.selected[:kept]], dtype=np.intp), np.array([search.scores[:kept]])))
                progress(target + 1, problem.targets.n_columns)
        return lists, rules

    def _not_candidates(
        self, workspace: Workspace, only: slice, forced: list[int], excluded: list[int], length: int
    ) -> set[int]:
        """Return the features other than the ``n_candidates`` with the most information about a target alone."""
        assert self.n_candidates is not None
        n_features = workspace.X.n_columns
        relevance = make_criterion("mim").plan.bind(workspace, targets=only)
        search = GreedySearch(relevance, n_features, forced, excluded)
        search.extend(max(min(self.n_candidates, n_features - len(excluded)), length))
        return set(range(n_features)) - set(search.selected)

    def _collect(
        self,
        method: ResolvedMethod,
        problem: Problem,
        lists: list[Lists],
        rules: list[StoppingRule],
        *,
        network: LabelNetwork | None,
    ) -> Result:
        """Put the lists of all targets together."""
        n_targets, n_features = problem.targets.n_columns, problem.n_features
        selected, scores = together([row for block_lists in lists for row in zip(*block_lists, strict=True)])
        rows, ranks = np.nonzero(selected >= 0)
        columns, shape = selected[rows, ranks], (n_targets, n_features)
        support: Any
        if shape[0] * shape[1] > DENSE_SUPPORT:
            support = sp.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
        else:
            support = np.zeros(shape, dtype=bool)
            support[rows, columns] = True
        return Result(
            selected,
            scores,
            {
                "criterion": method.criterion,
                "discretizer": method.discretizer,
                "target_discretizer": method.target_discretizer,
                "estimator": method.estimator,
                "n_selected": (selected >= 0).sum(axis=1),
                "stopping": rules or None,
                "label_support": support,
                "network": network,
            },
        )

    def _candidates(
        self, plan: Plan, workspace: Workspace, block: slice, forced: list[int], excluded: list[int], length: int
    ) -> tuple[NDArray[np.intp] | None, Plan]:
        """Return the candidates of each target, and the plan: relevance alone where all candidates are selected."""
        if self.n_candidates is None:
            return None, plan
        relevance, stops = make_criterion("mim").plan, isinstance(self._count, StoppingRule)
        n_candidates = max(min(self.n_candidates, workspace.X.n_columns - len(excluded)), length)
        candidates, _ = search_each(relevance, workspace, n_candidates, targets=block, forced=forced, excluded=excluded)
        return candidates, relevance if not stops and length >= self.n_candidates else plan

    def _lists(self, n_labels: int) -> list[tuple[int | None, Any, Any]]:
        return [(label, *self.label_ranking(label)) for label in range(n_labels)]

    def _n_labels(self) -> int | None:
        return int(self.label_support_.shape[0])

    def _target_space(self) -> str:
        return "labelwise"

    def plot(  # type: ignore[override]
        self, *, names: Names = None, label_names: Names = None, n_shown: int = 40, ax: Axes | None = None
    ) -> Axes:
        """Draw which labels share features: see :func:`labelsieve.report.figures.shared_features`.

        The names of labels are by default those that ``fit`` saw.
        """
        check_is_fitted(self)
        label_names = self.label_names_ if label_names is None else label_names
        return figure_function("shared_features")(self, names=names, label_names=label_names, n_shown=n_shown, ax=ax)

    def label_ranking(self, label: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the columns of a target in order of selection, and their scores."""
        check_is_fitted(self)
        listed = self.selected_[label] >= 0
        return self.selected_[label][listed], self.scores_[label][listed]

    def transform_label(self, X: TableLike, label: int) -> Any:
        """Return the columns of ``X`` that a target selected, in order of selection; a frame stays a frame."""
        X, (columns, _) = check_features(self, X, reset=False), self.label_ranking(label)
        return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native() if is_frame(X) else X[:, columns]
