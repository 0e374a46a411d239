"""LabelwiseSieve: one list of features for every target."""

from typing import Any, ClassVar, Self

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsieve.criteria import Criterion
from labelsieve.discretize import Discretizer
from labelsieve.errors import InputError
from labelsieve.information.formula.workspace import Workspace
from labelsieve.information.tables import is_frame
from labelsieve.information.weights import Estimator
from labelsieve.labelspace import Single, name_of
from labelsieve.progress import progress_bar
from labelsieve.recipes import recipe
from labelsieve.search import GreedySearch
from labelsieve.selector import BaseSieve, Count


class LabelwiseSieve(BaseSieve):
    """Choose features for every target by itself.

    Parameters
    ----------
    criterion, discretizer, n_features_to_select, estimator, forced, excluded, parents, n_jobs
        As for :class:`Sieve`. Sums over the targets are over the one at hand; ``parents`` may be any other targets.

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

    Notes
    -----
    Cost: X is packed once; then every target pays for its own panels, with one target in each.

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
        "parents": ["array-like", None],
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
        parents: list[list[int]] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.discretizer = discretizer
        self.n_features_to_select = n_features_to_select
        self.estimator = estimator
        self.forced = forced
        self.excluded = excluded
        self.parents = parents
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
        data, parents = self._read(X, y, sample_weight, used)
        features, targets, weights = data.X, data.Y, data.weights
        forced, excluded = self._checked_columns()
        plan.require_memory(features, targets)
        workspace = Workspace(features, targets, weights=weights, estimator=self.estimator, n_jobs=self.n_jobs)
        selected, scores = [], []
        with progress_bar(f"{plan.name}: choosing features, target by target") as progress:
            for target in range(targets.n_columns):
                scorer = plan.bind(workspace, targets=slice(target, target + 1), parents=parents)
                search = GreedySearch(plan, scorer, features.n_columns, forced, excluded)
                search.extend(max(self._wanted(features.n_columns, search.n_available), len(forced)))
                selected.append(search.selected)
                scores.append(search.scores)
                progress(target + 1, targets.n_columns)
        self.selected_ = np.array(selected, dtype=np.intp)
        self.scores_ = np.array(scores)
        self.label_support_ = np.zeros((targets.n_columns, features.n_columns), dtype=bool)
        np.put_along_axis(self.label_support_, self.selected_, True, axis=1)
        self.support_ = self.label_support_.any(axis=0)
        return self

    def transform_label(self, X: Any, label: int) -> Any:
        """The columns that target ``label`` chose, in order of choice; a frame stays a frame."""
        check_is_fitted(self)
        columns = self.selected_[label]
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native()
        return validate_data(self, X, reset=False, accept_sparse=("csr", "csc"))[:, columns]
