"""Sieve: the scikit-learn selector."""

from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import joblib
import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsieve.criteria import Criterion, criterion_named
from labelsieve.discretize import Discretizer
from labelsieve.discretize.discretizer import discretizer_named
from labelsieve.errors import InputError, is_whole
from labelsieve.information import Codes
from labelsieve.information.formula.workspace import Workspace
from labelsieve.information.tables import is_frame, is_integer_array
from labelsieve.information.weights import Estimator, weigh
from labelsieve.labelspace import LABEL_SPACES, check_parents, encode_targets, target_space
from labelsieve.progress import progress_bar
from labelsieve.search import GreedySearch
from labelsieve.storage import StoredSelection
from labelsieve.twins import Twin, redundant_twins

Count = int | float | None


class BaseSieve(StoredSelection, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What the selectors share: parameters, reading data, the mask."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [str, Criterion, type],
        "discretizer": [StrOptions({"equal-width"}), Discretizer, None],
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither"), None],
        "estimator": [StrOptions({"plugin", "miller-madow"})],
        "forced": ["array-like"],
        "excluded": ["array-like"],
        "n_jobs": [Integral, None],
    }

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """As scikit-learn finds them, but once: the names are asked for at every fit."""
        names: list[str] = super()._get_param_names()
        return names

    def _read(self, X: Any, Y: Any, sample_weight: Any) -> tuple[Codes, Codes, Any]:
        """Codes of features and targets, and weights, for the rows that count."""
        if is_frame(X):  # columns of a frame may be text: codes, not scikit-learn, decide
            validate_data(self, X, skip_check_array=True)
            if Y is None:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        elif is_integer_array(X, (2,)) and is_integer_array(Y, (1, 2)) and len(X) == len(Y):
            validate_data(self, X, skip_check_array=True)  # nothing is left to check that reading the codes does not
        else:
            X, Y = validate_data(self, X, Y, accept_sparse=("csr", "csc"), multi_output=True)
        targets = encode_targets(Y)
        n_rows = X.shape[0]
        if targets.n_rows != n_rows:
            raise InputError(f"X has {n_rows} rows and Y has {targets.n_rows}; they must be the same rows.")
        rows, weights = self._weigh(sample_weight, n_rows)
        if rows is not None:  # before binning: rows without weight must not move the cut points
            targets = targets.take_rows(rows)
            kept = np.flatnonzero(rows)
            X = nw.from_native(X, eager_only=True)[kept].to_native() if is_frame(X) else X[kept]
        return discretizer_named(self.discretizer).encode(X), targets, weights

    def _weigh(self, sample_weight: Any, n_rows: int) -> tuple[NDArray[np.bool_] | None, Any]:
        """Which rows count (None: all), and their weights."""
        return weigh(sample_weight, n_rows, self.estimator)

    def _wanted(self, n_features: int, n_available: int) -> int:
        """How many features to choose; more than there are means all."""
        if self.n_features_to_select is None:
            return n_available
        if isinstance(self.n_features_to_select, Integral):
            return min(int(self.n_features_to_select), n_available)
        return min(max(1, round(float(self.n_features_to_select) * n_features)), n_available)

    def _columns(self, columns: Any, what: str) -> list[int]:
        """Column numbers from numbers or names, without repetition."""
        names = getattr(self, "feature_names_in_", None)
        found: list[int] = []
        for column in columns:
            if isinstance(column, str):
                if names is None or column not in names:
                    raise InputError(f"{what}: there is no feature named {column!r}.")
                found.append(int(np.flatnonzero(names == column)[0]))
            elif is_whole(column) and 0 <= int(column) < self.n_features_in_:
                found.append(int(column))
            else:
                raise InputError(f"{what}: {column!r} is not a column from 0 to {self.n_features_in_ - 1} or a name.")
        return list(dict.fromkeys(found))

    def _checked_columns(self) -> tuple[list[int], list[int]]:
        forced, excluded = self._columns(self.forced, "forced"), self._columns(self.excluded, "excluded")
        both = sorted(set(forced) & set(excluded))
        if both:
            raise InputError(f"Column {both[0]} is both forced and excluded.")
        if len(excluded) == self.n_features_in_:
            raise InputError("Every column is excluded; leave at least one to choose.")
        return forced, excluded

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask: NDArray[np.bool_] = self.support_
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = True
        return tags


class Sieve(BaseSieve):
    """Choose the features that tell most about all targets together.

    Parameters
    ----------
    criterion : str or Criterion
        What makes a feature good: a name of the catalogue (``labelsieve methods`` lists it) or a criterion of your own.
    targets : {"single", "joint"}
        The label space: every target by itself, scores added; or all targets as one variable, the label powerset.
    discretizer : {"equal-width"}, Discretizer or None
        How columns become codes to count: five bins of equal width, a discretiser, or None when the values are codes
        already. Only for
        estimating information: ``transform`` returns the columns as they were.
    n_features_to_select : int, float or None
        How many; a fraction of all; None ranks them all. More than there are means all.
    estimator : {"plugin", "miller-madow"}
        Of entropies.
    forced, excluded : sequences of columns
        Features (numbers or names) that come first, and that never come.
    parents : list of lists of int, optional
        For criteria over a label network (``"mlfs"``): the parents of every target.
    warm_start : bool
        Keep what was counted, so that fitting again with a larger ``n_features_to_select`` goes on instead of starting
        anew. The data must
        be the same.
    n_jobs : int, optional
        Threads; None is one, -1 is all. The selection does not depend on it.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns in order of choice.
    scores_ : ndarray of float
        The score of each when it was chosen, in nats.
    score_parts_ : dict of ndarray
        The summands of those scores by what they tell (relevance, redundancy, interaction, label pairs), where the formula
        has them.
    support_ : ndarray of bool
        Mask of the chosen columns.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    LabelwiseSieve : one list for every target.

    Notes
    -----
    Cost: packing, one pass over X; then for each pick the tables that the formula mentions, for all features and targets,
    whatever the
    number already chosen. ``Sieve(...).explain(n_rows, n_features, n_targets)`` lists them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 1] > 0.5])
    >>> Sieve("jmi", n_features_to_select=2).fit(X, Y).selected_
    array([3, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSieve._parameter_constraints,
        "targets": [StrOptions(set(LABEL_SPACES))],
        "parents": ["array-like", None],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        criterion: str | Criterion = "jmi",
        *,
        targets: str = "single",
        discretizer: str | Discretizer | None = "equal-width",
        n_features_to_select: Count = 10,
        estimator: Estimator = "plugin",
        forced: Any = (),
        excluded: Any = (),
        parents: list[list[int]] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.targets = targets
        self.discretizer = discretizer
        self.n_features_to_select = n_features_to_select
        self.estimator = estimator
        self.forced = forced
        self.excluded = excluded
        self.parents = parents
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        # Everything but the number of features must be as it was; the data are the caller's word.
        setting = self._setting() if self.warm_start else None
        known, search = self.__dict__.get("_search", (None, None))
        if search is None or not self.warm_start or known != setting:
            search = self._begin(X, y, sample_weight)
        wanted = max(self._wanted(self.n_features_in_, search.n_available), len(search.forced), len(search.selected))
        with progress_bar(f"{search.plan.name}: choosing features") as progress:
            search.extend(wanted, progress)
        self.selected_ = np.array(search.selected, dtype=np.intp)
        self.scores_ = np.array(search.scores)
        kinds = {kind: None for part in search.parts for kind in part}
        self.score_parts_ = {kind: np.array([part.get(kind, 0.0) for part in search.parts]) for kind in kinds}
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.selected_] = True
        if self.warm_start:
            self._search = setting, search
        return self

    def _setting(self) -> dict[str, Any]:
        """The parameters that a search depends on, to be compared."""
        parameters = self.get_params(deep=False)
        criterion = criterion_named(parameters.pop("criterion"))
        del parameters["n_features_to_select"]
        formulas = str(criterion.plan.score), str(criterion.plan.first)
        return {"criterion": formulas, **{name: joblib.hash(value) for name, value in parameters.items()}}

    def _begin(self, X: Any, Y: Any, sample_weight: Any) -> GreedySearch:
        criterion = criterion_named(self.criterion)
        plan = criterion.plan
        if plan.uses_pairs_of_targets and self.targets != "single":
            raise InputError(
                f'Sieve({plan.name!r}): label pairs need targets="single" (got {self.targets!r}, which is a single variable).'
            )
        features, targets, weights = self._read(X, Y, sample_weight)
        parents = check_parents(self.parents, targets.n_columns)
        forced, excluded = self._checked_columns()
        space = target_space(targets, self.targets)
        plan.require_memory(features, space)
        workspace = Workspace(features, space, weights=weights, estimator=self.estimator, n_jobs=self.n_jobs)
        return GreedySearch(plan, plan.bind(workspace, parents=parents), features.n_columns, forced, excluded)

    def explain(self, n_rows: int, n_features: int, n_targets: int, levels: int = 5) -> str:
        """What would be counted for data of this size, and the memory it takes."""
        n_targets = 1 if self.targets == "joint" else n_targets
        return criterion_named(self.criterion).plan.explain(n_rows, n_features, n_targets, levels)

    def redundant_twins(self, X: Any, *, at_least: float = 0.9) -> dict[int, list[Twin]]:
        """For each chosen feature, the unchosen ones that tell nearly the same, and how nearly: see :class:`Twin`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse=("csr", "csc"), skip_check_array=is_frame(X))
        codes = discretizer_named(self.discretizer).encode(X)
        return redundant_twins(codes, self.selected_, at_least=at_least, n_jobs=self.n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_search"}  # packed tables stay in this process
