"""LabelwiseSieve: one list of features for every target."""

from numbers import Integral
from typing import Any, ClassVar, Self

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsieve.criteria import Criterion, criterion_named
from labelsieve.discretize import Discretizer
from labelsieve.discretize.named import allows_missing
from labelsieve.drawing import picture
from labelsieve.errors import InputError
from labelsieve.information.formula.plan import Plan
from labelsieve.information.formula.workspace import Workspace
from labelsieve.information.tables import is_frame
from labelsieve.information.weights import Estimator
from labelsieve.labelspace import Single, name_of
from labelsieve.progress import progress_bar
from labelsieve.recipes import recipe
from labelsieve.search import Lists, search_each
from labelsieve.selector import PARENTS, BaseSieve, Count, Parents


class LabelwiseSieve(BaseSieve):
    """Choose features for every target by itself.

    Parameters
    ----------
    criterion, discretizer, n_features_to_select, estimator, forced, excluded, parents, n_jobs
        As for :class:`Sieve`. Sums over the targets are over the one at hand; ``parents`` may be any other targets.
    n_candidates : int, optional
        Every target chooses among this many features, those that tell most about it by themselves; None is all. When as many
        or more are wanted, there is nothing to choose: they come in order of relevance. The authors' program of Sun and Kudo
        (2017) does so with 100.

    Attributes
    ----------
    selected_ : ndarray of int, shape (n_targets, n_selected)
        For each target, columns in order of choice.
    scores_ : ndarray of float, shape (n_targets, n_selected)
    support_ : ndarray of bool, shape (n_features,)
        Columns that some target chose: what ``transform`` keeps.
    label_support_ : ndarray of bool, shape (n_targets, n_features)
        Columns that each target chose.
    criterion_, discretizer_ : Criterion, Discretizer
        What was used, with its settings.
    network_ : LabelNetwork
        When ``parents`` is a network, or was learned as one.

    Notes
    -----
    Cost: X is packed once (for each target if the discretiser has cuts for each, as ``MDL(targets="single")``); then a pick
    costs a panel for every feature that some target has just chosen: targets that choose the same feature share it. Memory: 8
    bytes for each feature, target and sum over the chosen, in blocks of targets of 64 MB.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSieve._parameter_constraints,
        "parents": PARENTS,
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        criterion: str | Criterion = "jmi",
        *,
        discretizer: str | Discretizer | None = "auto",
        n_features_to_select: Count = 10,
        estimator: Estimator = "plugin",
        forced: Any = (),
        excluded: Any = (),
        parents: Parents = None,
        n_candidates: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.discretizer = discretizer
        self.n_features_to_select = n_features_to_select
        self.estimator = estimator
        self.forced = forced
        self.excluded = excluded
        self.parents = parents
        self.n_candidates = n_candidates
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose features of ``X`` for every column of ``y``."""
        used = recipe(self.criterion, discretizer=self.discretizer)
        if not isinstance(used.space, Single):
            raise InputError(
                f"LabelwiseSieve({self.criterion!r}): this method is for {name_of(used.space)!r} targets, and here every "
                "target is by itself; use Sieve, or the criterion alone."
            )
        plan = used.criterion.plan
        tables, parents = self._read(X, y, sample_weight, used)
        targets, self.criterion_ = tables[0].Y, used.criterion
        forced, excluded = self._checked_columns()
        plan.require_memory(tables[0].X, targets)
        selected, scores = [], []
        with progress_bar(f"{plan.name}: choosing features, target by target") as progress:
            for place, table in enumerate(tables):  # one for all targets, or one for each
                how: dict[str, Any] = {"weights": table.weights, "estimator": self.estimator, "n_jobs": self.n_jobs}
                workspace = Workspace(table.X, targets, **how)
                block = slice(None) if len(tables) == 1 else slice(place, place + 1)
                lists = self._search(plan, workspace, block, parents, forced, excluded, progress)
                selected.append(lists[0])
                scores.append(lists[1])
        self.selected_, self.scores_ = np.concatenate(selected), np.concatenate(scores)
        self.label_support_ = np.zeros((targets.n_columns, self.n_features_in_), dtype=bool)
        np.put_along_axis(self.label_support_, self.selected_, True, axis=1)
        self.support_ = self.label_support_.any(axis=0)
        return self

    def _search(
        self,
        plan: Plan,
        workspace: Workspace,
        block: slice,
        parents: list[list[int]] | None,
        forced: list[int],
        excluded: list[int],
        progress: Any,
    ) -> Lists:
        """Lists and scores for the targets of a block."""
        n_features, n_open = self.n_features_in_, self.n_features_in_ - len(excluded)
        closed = np.zeros((n_features, workspace.Y.n_columns), dtype=bool)
        closed[excluded] = True
        wanted = max(self._wanted(n_features, n_open), len(forced))
        if self.n_candidates is not None:
            relevance = criterion_named("mim").plan
            n_candidates = max(min(self.n_candidates, n_open), wanted)
            candidates, _ = search_each(relevance, workspace, n_candidates, targets=block, forced=forced, closed=closed)
            closed[:, block] = True
            np.put_along_axis(closed[:, block], candidates.T, False, axis=0)
            plan = relevance if wanted >= self.n_candidates else plan
        how = {"targets": block, "parents": parents, "forced": forced, "closed": closed, "progress": progress}
        return search_each(plan, workspace, wanted, **how)

    def plot(self, *, names: Any = None, label_names: Any = None, n_shown: int = 40, ax: Any = None) -> Any:
        """Draw which labels share features: see :func:`labelsieve.report.figures.shared_features`."""
        check_is_fitted(self)
        return picture("shared_features")(self, names=names, label_names=label_names, n_shown=n_shown, ax=ax)

    def transform_label(self, X: Any, label: int) -> Any:
        """The columns that target ``label`` chose, in order of choice; a frame stays a frame."""
        check_is_fitted(self)
        columns = self.selected_[label]
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native()
        finite = "allow-nan" if allows_missing(self.discretizer) else True
        return validate_data(self, X, reset=False, accept_sparse=("csr", "csc"), ensure_all_finite=finite)[:, columns]
