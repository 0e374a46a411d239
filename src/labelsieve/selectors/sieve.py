"""Sieve: the scikit-learn selector."""

from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.backends.factory import BackendSetting
from labelsieve.counting.row_weights import Estimator
from labelsieve.counting.target_weights import read_target_weights
from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import Criterion, JoinedMIM, StepComponents
from labelsieve.discretize import Discretizer, one_table
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelSpace, refusal
from labelsieve.labelspace.base_space import CountingInput
from labelsieve.plotting import figure_function
from labelsieve.progress import progress_bar
from labelsieve.registry import LABEL_SPACES, ResolvedMethod, resolve_method
from labelsieve.search import GreedySearch, joined_scores
from labelsieve.search.greedy import StepScorer
from labelsieve.selectors.base import PARENTS, BaseSieve, Count, ParentLists, Parents, evaluator_of
from labelsieve.stopping import SelectionPath, StoppingRule


class _Begun(NamedTuple):
    """A search and what it is over, kept for a warm start."""

    search: GreedySearch
    workspace: Workspace
    parents: ParentLists


class Sieve(BaseSieve):
    """Choose the features that tell most about all targets together.

    Parameters
    ----------
    criterion : str or Criterion
        What makes a feature good: a name of the catalog (``labelsieve methods`` lists it) or a criterion of your own; or the
        name of a published method such as ``"group-jmi-rand"``, which brings its label space and its discretizer along.
    targets : str or LabelSpace
        The label space: ``"single"``, every target by itself, scores added; ``"joint"``, all targets as one variable;
        ``"copy"``, ``"group"`` and others, by name or, to change settings, as an object of :mod:`labelsieve.labelspace`. The
        default, ``"auto"``, is that of the published method, ``"single"`` for a criterion.
    discretizer : {"auto", "equal-width", "equal-frequency", "k-means", "mean-std", "mdl"}, Discretizer or None
        How columns become codes to count: by a rule of :mod:`labelsieve.discretize`, named or as an object, or None when the
        values are codes already. ``"auto"`` is that of the published method, equal width for a criterion. Only for estimating
        information: ``transform`` returns the columns as they were. Missing values (NaN) are taken where the discretizer has
        ``missing="level"``.
    n_features_to_select : int, float, StoppingRule or None
        How many; a fraction of all; None ranks them all. More than there are means all. A rule of :mod:`labelsieve.stopping`,
        such as ``PermutationTest(alpha=0.05)``, finds the number itself, which may be 0.
    estimator : {"plugin", "miller-madow", "shrinkage"}
        Of entropies. Shrinkage takes every information term of a formula from a shrunk table of its own: for few rows and many
        cells, and slow (docs/entropy_estimators.md).
    forced, excluded : sequences of columns
        Features (numbers or names) that come first, and that never come.
    parents : list of lists of int, LabelNetwork, NetworkRule or {"kcc", "tree", "preceding"}, optional
        For criteria over a label network: the parents of every target, or how to learn them from the data. None is what the
        published method does, ``"kcc"`` for ``"mlfs"``, and no parents for a criterion.
        ``"kcc"`` is ``NetworkRule("kcc")``, which see.
    target_weight : sequence of float, optional
        A weight for every target in sums over single targets; a weight of 2 is as good as having the target twice. Costs a
        panel of every target by itself at each pick.
    warm_start : bool
        Keep what was counted, so that fitting again with a larger ``n_features_to_select`` goes on instead of starting
        anew. The data must be the same.
    n_jobs : int, optional
        Threads; None is one, -1 is all. The selection does not depend on it.
    backend : {"auto", "native"} or callable, default="auto"
        What counts: the compiled core, or a factory of backends
        (:class:`labelsieve.counting.backends.BackendFactory`). The selection does not depend on it.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns in order of choice.
    scores_ : ndarray of float
        The score of each when it was chosen, in nats.
    score_components_ : dict of ndarray
        The summands of those scores by what they tell (relevance, redundancy, interaction, label pairs), where the formula
        has them.
    criterion_, targets_, discretizer_ : Criterion, LabelSpace, Discretizer
        What was used, with its settings.
    n_rows_left_out_ : int
        Rows that the label space does not count: those without labels under ``"copy"``, for example.
    support_ : ndarray of bool
        Mask of the chosen columns.
    stopping_ : StoppingRule
        When the number was found by a rule: the rule, with ``reason_`` and what else it found, p-values or a curve.
    network_ : LabelNetwork
        When ``parents`` is a network, or was learned as one.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    LabelwiseSieve : one list for every target.

    Notes
    -----
    Cost: packing, one pass over X; then for each pick the tables that the formula mentions, for all features and targets,
    whatever the number already chosen. ``Sieve(...).explain(n_rows, n_features, n_targets)`` lists them.

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
        "n_features_to_select": [*BaseSieve._parameter_constraints["n_features_to_select"], StoppingRule],
        "targets": [StrOptions({"auto", *LABEL_SPACES}), LabelSpace],
        "parents": PARENTS,
        "target_weight": ["array-like", None],
        "warm_start": ["boolean"],
        "backend": [str, callable],
    }

    def __init__(
        self,
        criterion: str | Criterion = "jmi",
        *,
        targets: str | LabelSpace = "auto",
        discretizer: str | Discretizer | None = "auto",
        n_features_to_select: Count | StoppingRule = 10,
        estimator: Estimator = "plugin",
        forced: Any = (),
        excluded: Any = (),
        parents: Parents = None,
        target_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        backend: BackendSetting = "auto",
    ) -> None:
        self.criterion = criterion
        self.targets = targets
        self.discretizer = discretizer
        self.n_features_to_select = n_features_to_select
        self.estimator = estimator
        self.forced = forced
        self.excluded = excluded
        self.parents = parents
        self.target_weight = target_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.backend = backend

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        # Everything but the number of features must be as it was; the data are the caller's word.
        setting = self._setting() if self.warm_start else None
        known, begun = self.__dict__.get("_search", (None, None))
        n_before = len(getattr(self, "selected_", ()))
        if begun is None or not self.warm_start or known != setting:
            begun, n_before = self._begin(X, y, sample_weight), 0
        search = begun.search
        self.__dict__.pop("stopping_", None)
        with progress_bar(f"{search.plan.name}: choosing features") as progress:
            if isinstance(self.n_features_to_select, StoppingRule):
                rule: StoppingRule = clone(self.n_features_to_select)
                wanted = rule.decide(
                    SelectionPath(search, begun.workspace, begun.parents, X, y, evaluator_of(self, X, y, sample_weight))
                )
                self.stopping_ = rule
            else:
                wanted = max(self._wanted(self.n_features_in_, search.n_available), len(search.forced), n_before)
                search.extend(wanted, progress)
        self.selected_ = np.array(search.selected[:wanted], dtype=np.intp)
        self.scores_ = np.array(search.scores[:wanted])
        parts = search.components[:wanted]
        kinds = {kind: None for part in parts for kind in part}
        self.score_components_ = {kind: np.array([part.get(kind, 0.0) for part in parts]) for kind in kinds}
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.selected_] = True
        if self.warm_start:
            self._search = setting, begun
        return self

    def _setting(self) -> dict[str, Any]:
        """The parameters that a search depends on, to be compared."""
        parameters = self.get_params(deep=False)
        used = self._recipe()
        del parameters["criterion"], parameters["n_features_to_select"]
        backend = parameters.pop("backend")  # a factory need not be one that can be hashed
        formulas = str(used.criterion.plan.score), str(used.criterion.plan.first)
        parameters |= {"targets": used.space, "discretizer": used.discretizer}
        return {"criterion": formulas, "backend": backend, **{name: joblib.hash(value) for name, value in parameters.items()}}

    def _recipe(self) -> ResolvedMethod:
        used = resolve_method(self.criterion, self.targets, self.discretizer)
        weighted = () if self.target_weight is None else ("weights of targets",)
        reason = refusal([*used.criterion.plan.target_needs, *weighted], used.space)
        if weighted and not used.criterion.plan.takes_target_weights:
            reason = "target_weight is for sums over the targets, and this formula pairs or compares them."
        if reason is not None:
            raise InputError(f"Sieve({used.criterion.name!r}): {reason}")
        return used

    def _begin(self, X: Any, Y: Any, sample_weight: Any) -> _Begun:
        used = self._recipe()
        plan = used.criterion.plan
        tables, parents = self._read(X, Y, sample_weight, used)
        joined = isinstance(used.criterion, JoinedMIM)
        data: CountingInput = tables[0] if joined else one_table(tables, "Sieve")
        forced, excluded = self._checked_columns()
        self.criterion_, self.targets_, self.n_rows_left_out_ = used.criterion, used.space, data.n_left_out
        plan.require_memory(data.X, data.Y)
        if len(tables) > 1 and isinstance(self.n_features_to_select, StoppingRule):
            raise InputError("A stopping rule needs one set of codes for all targets; give a number of features.")
        options = self._counting_options(data.weights)
        target_weights = read_target_weights(self.target_weight, data.Y.n_columns)
        workspace = Workspace(data.X, data.Y, options, row_index=data.row_index, target_weights=target_weights)
        if joined and self.target_weight is not None:
            raise InputError("target_weight is for sums over the targets, and these are joined in another way.")
        scorer: StepScorer = plan.bind(workspace, parents=parents)
        if isinstance(used.criterion, JoinedMIM):
            scorer = joined_scores(tables, used.criterion, options)
        search = GreedySearch(plan, scorer, data.X.n_columns, forced, excluded)
        return _Begun(search, workspace, parents)

    def explain(self, n_rows: int, n_features: int, n_targets: int, levels: int = 5) -> str:
        """What would be counted for data of this size, and the memory it takes."""
        used = self._recipe()
        return used.criterion.plan.explain(n_rows, n_features, used.space.n_variables(n_targets), levels)

    def information_components(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, NDArray[np.float64]]:
        r"""What every pick told by itself, repeated, and added beside those before it: the same split for any criterion.

        .. math:: \sum_y I(f; y) - \frac{q}{|S|} \sum_{s \in S} I(f; s) + \frac{1}{|S|} \sum_{s \in S} \sum_y I(f; s \mid y)
                  = \frac{1}{|S|} \sum_{s \in S} \sum_y I(f; y \mid s)

        relevance, redundancy and complementarity, in nats, with S the features chosen before f (Brown et al. 2012, section 4).
        ``X``, ``y`` and ``sample_weight`` are those of ``fit``. A label space that draws at random without a seed draws again.

        Cost: tables of a candidate, a chosen feature and a target for every pick, whatever the criterion.

        Examples
        --------
        >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # either or
        >>> parts = Sieve("jmi", n_features_to_select=2, discretizer=None).fit(X, Y).information_components(X, Y)
        >>> {kind: values.round(2).tolist() for kind, values in parts.items()}
        {'relevance': [0.0, 0.0], 'redundancy': [0.0, 0.0], 'complementarity': [0.0, 0.69]}
        """
        check_is_fitted(self)
        kinds = {"relevance": "relevance", "redundancy": "redundancy", "interaction": "complementarity"}
        if not len(self.selected_):
            return {name: np.empty(0) for name in kinds.values()}
        used: dict[str, Any] = {"targets": self.targets_, "discretizer": self.discretizer_, "parents": None, "excluded": ()}
        order = {"forced": self.selected_.tolist(), "n_features_to_select": len(self.selected_), "warm_start": False}
        again = clone(self).set_params(criterion=StepComponents(), **used, **order).fit(X, y, sample_weight)
        return {name: again.score_components_[kind] for kind, name in kinds.items()}

    def plot(self, X: Any = None, y: Any = None, *, names: Any = None, n_shown: int = 30, ax: Any = None) -> Any:
        """Draw the chosen features and the parts of their scores: see :func:`labelsieve.report.figures.score_chart`.

        With the data of ``fit`` the parts are those of :meth:`information_components` instead, which every criterion has.
        """
        check_is_fitted(self)
        parts = None if X is None else self.information_components(X, y)
        return figure_function("ranking")(self, names=names, parts=parts, n_shown=n_shown, ax=ax)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_search"}  # packed tables stay in this process
