"""LabelwiseSieve: one list of features for every target."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import Criterion
from labelsieve.errors import InputError
from labelsieve.formula.plan import Plan
from labelsieve.labelspace import Single, label_space_name
from labelsieve.parameters import AT_LEAST_ONE, parameter
from labelsieve.plotting import Axes, figure_function
from labelsieve.progress import progress_bar
from labelsieve.registry import DEFAULT_CRITERION, make_criterion, resolve_method
from labelsieve.search import GreedySearch, Lists, search_each, targets_per_block, together
from labelsieve.selectors.base_counting import PARENTS, BaseCountingSieve, Parents
from labelsieve.selectors.column_frames import Names
from labelsieve.selectors.selector_input import named_labels
from labelsieve.stopping import CrossValidated, SelectionPath, StoppingRule
from labelsieve.stopping.base import cannot_evaluate
from labelsieve.tables.features import from_device
from labelsieve.tables.frames import is_frame
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike

DENSE_SUPPORT = 2**28  # cells of the largest dense mask of labels and features


@dataclass(eq=False, repr=False)
class LabelwiseSieve(BaseCountingSieve):
    """Select features for each target separately.

    Parameters
    ----------
    criterion, parents
        As for :class:`Sieve`. Sums over the targets have one target; ``parents`` may be any other targets.
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
    ``docs/extreme_labels.md``.

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

    criterion: str | Criterion = parameter(DEFAULT_CRITERION, str, Criterion, type)
    _: KW_ONLY
    parents: Parents = parameter(None, *PARENTS)
    n_candidates: int | None = parameter(None, AT_LEAST_ONE)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Select features of ``X`` for every column of ``y``."""
        X, y = from_device(X), from_device(y)
        method = resolve_method(
            self.criterion, discretizer=self.discretizer, target_discretizer=self.target_discretizer, missing=self.missing
        )
        if not isinstance(method.space, Single):
            raise InputError(
                f"LabelwiseSieve({self.criterion!r}): this method is for {label_space_name(method.space)!r} targets, here "
                "every target is by itself; use Sieve, or the criterion alone."
            )
        plan, y = method.criterion.plan, named_labels(self, y)
        tables, parents = self._read(X, y, sample_weight, method)
        targets, self.criterion_ = tables[0].Y, method.criterion
        forced, excluded = self._checked_columns()
        plan.require_memory(tables[0].X, min(targets.n_columns, targets_per_block(tables[0].X.n_columns)))
        if isinstance(self._count, CrossValidated):
            raise InputError(
                "LabelwiseSieve: CrossValidated evaluates predictions of all targets together, and here each has a list; "
                "use GTest, PermutationTest, ScoreThreshold or Knee, or a Sieve for each target."
            )
        if isinstance(self._count, StoppingRule) and self._count.is_test and not self._count.leaves_out and self.n_candidates:
            raise InputError(
                f"{type(self._count).__name__} tests the best of all features, and n_candidates leaves out most of them by "
                "their information about the same target, so that p-values are too small; use n_candidates=None, or FDR."
            )
        lists: list[Lists] = []
        rules: list[StoppingRule] = []
        with progress_bar(f"{plan.name}: selecting features, target by target") as progress:
            for index, table in enumerate(tables):  # one for all targets, or one for each
                workspace = Workspace(table.X, targets, self._counting_options(table.weights))
                block = slice(None) if len(tables) == 1 else slice(index, index + 1)
                candidates, block_plan = self._candidates(plan, workspace, block, forced, excluded)
                if isinstance(given := self._count, StoppingRule):
                    for number, target in enumerate(range(*block.indices(targets.n_columns))):
                        only, rule = slice(target, target + 1), clone(given)
                        unavailable = {*excluded, *rule.leave_out(workspace, only, [*forced, *excluded])}
                        if candidates is not None:
                            unavailable |= set(range(self.n_features_in_)) - set(candidates[number].tolist())
                        scorer = block_plan.bind(workspace, targets=only, parents=parents)
                        constant = self._last(workspace)
                        search = GreedySearch(scorer, self.n_features_in_, forced, sorted(unavailable), constant)
                        kept = rule.decide(SelectionPath(search, workspace, parents, X, y, cannot_evaluate, only))
                        lists.append((np.array([search.selected[:kept]], dtype=np.intp), np.array([search.scores[:kept]])))
                        rules.append(rule)
                        progress(target + 1, targets.n_columns)
                    continue
                length = self._list_length(forced, excluded)
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
        self.selected_, self.scores_ = together([row for block_lists in lists for row in zip(*block_lists, strict=True)])
        self.n_selected_ = (self.selected_ >= 0).sum(axis=1)
        self.__dict__.pop("stopping_", None)
        if rules:
            self.stopping_ = rules
        rows, ranks = np.nonzero(self.selected_ >= 0)
        columns, shape = self.selected_[rows, ranks], (targets.n_columns, self.n_features_in_)
        if shape[0] * shape[1] > DENSE_SUPPORT:
            self.label_support_ = sp.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
        else:
            self.label_support_ = np.zeros(shape, dtype=bool)
            self.label_support_[rows, columns] = True
        self.support_ = np.bincount(columns, minlength=shape[1]) > 0
        return self

    def _list_length(self, forced: list[int], excluded: list[int]) -> int:
        """The length of every list, where it is a given number."""
        return max(self._n_wanted(self.n_features_in_ - len(excluded)), len(forced))

    def _candidates(
        self, plan: Plan, workspace: Workspace, block: slice, forced: list[int], excluded: list[int]
    ) -> tuple[NDArray[np.intp] | None, Plan]:
        """The candidates of each target, and the plan: relevance alone where all candidates are selected."""
        if self.n_candidates is None:
            return None, plan
        relevance, stops = make_criterion("mim").plan, isinstance(self._count, StoppingRule)
        wanted = len(forced) if stops else self._list_length(forced, excluded)
        n_candidates = max(min(self.n_candidates, self.n_features_in_ - len(excluded)), wanted)
        candidates, _ = search_each(relevance, workspace, n_candidates, targets=block, forced=forced, excluded=excluded)
        return candidates, relevance if not stops and wanted >= self.n_candidates else plan

    def plot(  # type: ignore[override]
        self, *, names: Names = None, label_names: Names = None, n_shown: int = 40, ax: Axes | None = None
    ) -> Axes:
        """Draw which labels share features: see :func:`labelsieve.report.figures.shared_features`."""
        check_is_fitted(self)
        return figure_function("shared_features")(self, names=names, label_names=label_names, n_shown=n_shown, ax=ax)

    def label_ranking(self, label: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The columns of target ``label`` in order of selection, and their scores."""
        check_is_fitted(self)
        listed = self.selected_[label] >= 0
        return self.selected_[label][listed], self.scores_[label][listed]

    def transform_label(self, X: TableLike, label: int) -> Any:
        """The columns of target ``label``, in order of selection; a frame stays a frame."""
        X, (columns, _) = self._check_features(X), self.label_ranking(label)
        return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native() if is_frame(X) else X[:, columns]
