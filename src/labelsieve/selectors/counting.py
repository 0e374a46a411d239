"""Selectors that count codes: their parameters, and what their searches share."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.counting.backends.factory import BackendSetting, CountingOptions
from labelsieve.counting.backends.protocol import Backend
from labelsieve.counting.workspace import Workspace
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.discretize import AsGiven, Discretizer, one_table
from labelsieve.discretize.base import Missing
from labelsieve.errors import InputError
from labelsieve.labelspace import NETWORKS, LabelNetwork, NetworkRule, find_parents
from labelsieve.labelspace.base import CountingInput
from labelsieve.parameters import StrOptions, parameter
from labelsieve.registry import ResolvedMethod, make_discretizer, make_target_discretizer
from labelsieve.resources import thread_context
from labelsieve.search import sampling_error
from labelsieve.search.least_squares import LinearData, StoredColumns, linear_data
from labelsieve.selectors.base import N_FEATURES, TARGET_TYPE, BaseRanking, BaseSieve, Count
from labelsieve.stopping import StoppingRule
from labelsieve.tables.codes import Codes
from labelsieve.tables.problem import Problem
from labelsieve.tables.targets import TargetTypes
from labelsieve.tables.types import ColumnsLike, StoredTable

ParentLists = list[list[int]] | None
Parents = list[list[int]] | LabelNetwork | NetworkRule | str | None
PARENTS = ["array-like", StrOptions(set(NETWORKS)), LabelNetwork, NetworkRule, None]


@dataclass(eq=False, repr=False, kw_only=True)
class BaseCountingSieve(BaseSieve):
    """Parameters of selectors that estimate information from counts.

    Parameters
    ----------
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        A number (all, if there are fewer), a fraction of all, ``"all"`` or None for a ranking of all, or a rule of
        :mod:`labelsieve.stopping` that finds the number, which may be 0: ``"permutation"``, ``"cv"`` and others by name, or, to
        change settings, an object such as ``PermutationTest(alpha=0.01)``.
    estimator : {"auto", "plugin", "miller-madow", "shrinkage"}, default="auto"
        Entropy estimator (docs/choose/entropy_estimators.md). ``"auto"`` is that of the method: ``"miller-madow"`` for the
        hybrid, ``"plugin"`` for all others. Shrinkage is for few rows and many cells, and slower.
    constant_features : {"last", "score"}, default="last"
        ``"last"``: features with one level (after binning) are selected when no other is left. Their score of 0 would otherwise
        be higher than that of redundant features under criteria that subtract redundancy. ``"score"``: by the formula as
        published.
    backend : {"auto", "native", "chunked", "dask", "spark", "gpu", "gpu:0", ...} or callable, default="auto"
        Where rows are counted: in the compiled core, there in chunks of rows that need not fit into memory, the workers of the
        current Dask client or Spark session (docs/scale/large_data.md), a GPU (docs/scale/gpu.md), or a factory of backends
        (:class:`labelsieve.counting.backends.BackendFactory`). ``"auto"`` is the core, chunks or workers for tables that are
        not in memory, and a GPU, if there is one, for large tables. The selection does not depend on it.

    Attributes
    ----------
    discretizer_, target_discretizer_, estimator_ : Discretizer, Discretizer, str
        The objects that were used, with their settings, and the entropy estimator.
    target_types_ : ndarray of str, shape (n_targets,)
        ``"class"`` or ``"numeric"``: the type of every target.
    label_names_ : ndarray of str, shape (n_targets,)
        Names of the targets, where ``y`` has them: columns of a frame, or the labels of label sets.
    """

    discretizer: str | Discretizer | dict[Any, Any] | None = "auto"
    missing: Missing | None = None
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    target_discretizer: str | Discretizer = "auto"
    n_features_to_select: Count | str | StoppingRule = parameter(10, *N_FEATURES, StoppingRule)
    estimator: Literal["auto", "plugin", "miller-madow", "shrinkage"] = "auto"
    forced: ColumnsLike = parameter((), "array-like")
    excluded: ColumnsLike = parameter((), "array-like")
    constant_features: Literal["last", "score"] = "last"
    n_jobs: int | None = None
    backend: BackendSetting = parameter("auto", str, callable)

    def _counting_options(self) -> CountingOptions:
        return CountingOptions(estimator=self.estimator_, n_jobs=self.n_jobs, backend=self.backend)

    def _options(self, method: ResolvedMethod, data: CountingInput) -> CountingOptions:
        """Return the settings by which the rows of a fit are counted."""
        return CountingOptions(weights=data.weights, estimator=method.estimator, n_jobs=self.n_jobs, backend=self.backend)

    def _linear_data(self, method: ResolvedMethod, problem: Problem, backend: Backend | None) -> LinearData:
        """Read columns and targets of a table in memory for a linear model; ``backend`` counts the rows of the same table."""
        return linear_data(problem.features, problem.targets, backend=backend, **self._linear_options(method, problem))

    def _stored_columns(self, method: ResolvedMethod, problem: Problem) -> StoredColumns | None:
        """Return what scales the columns of a ChunkedTable for a linear model; None for other data."""
        if not isinstance(problem.X, ChunkedTable):
            return None
        return StoredColumns(problem.X, problem.targets, **self._linear_options(method, problem))

    def _linear_options(self, method: ResolvedMethod, problem: Problem) -> dict[str, Any]:
        """Return settings of a linear model: columns that the discretizer declares nominal are nominal there, too."""
        linear = method.linear
        assert linear is not None
        nominal = linear.nominal
        if nominal is None:  # codes are levels, whatever their numbers
            is_given = isinstance(method.discretizer, AsGiven)
            nominal = "all" if is_given else vars(method.discretizer).get("nominal")
        return {
            "nominal": nominal,
            "weights": problem.weights,
            "n_jobs": self.n_jobs,
            "allow_missing": vars(method.discretizer).get("missing") != "error",
        }

    def _find_parents(
        self, method: ResolvedMethod, problem: Problem, tables: list[CountingInput], given: Parents
    ) -> tuple[ParentLists, LabelNetwork | None]:
        """Find the parents of every target, for formulas that mention them, and the network, if there is one."""
        if method.formula is None:
            return None, None
        data, codes = tables[0], problem.binned_targets(method.target_discretizer)
        stored = isinstance(problem.X, StoredTable)
        if isinstance(given, str | NetworkRule):
            if "pa" not in method.formula.plan.needs:
                return None, None
            # The same data give the same selection: random roots and orders have a seed.
            rule = NetworkRule(given) if isinstance(given, str) else given
            given = rule if rule.random_state is not None else clone(rule).set_params(random_state=0)
            if stored:
                raise InputError(
                    "A label network is learned from a table in memory; pass parents= as lists or as a LabelNetwork."
                )
            data, codes = one_table(tables, "A network"), codes.require_known("a label network")
        X = None if stored else problem.X
        return find_parents(given, X, data.X, codes.codes, options=self._options(method, data))

    def _errors(self, data: CountingInput, workspace: Workspace) -> dict[str, Any]:
        """Return the fitted attributes in which a label space that leaves labels out bounds its error."""
        encoded = data.encoded
        if encoded is None or encoded.sampled_from is None:
            return {"omitted_entropy": None if encoded is None else encoded.omitted_entropy}
        return {"relevance_error": sampling_error(workspace, encoded.sampled_from)}

    def _last(self, workspace: Workspace) -> NDArray[np.intp]:
        """Return the features that are selected when no other is left: constant ones, unless ``constant_features="score"``."""
        return workspace.constant_features if self.constant_features == "last" else np.empty(0, dtype=np.intp)


@dataclass(eq=False, repr=False, kw_only=True)
class BaseCodeRanking(BaseRanking):
    """A ranking by the codes of the features and targets, all of which are known."""

    discretizer: str | Discretizer | dict[Any, Any] | None = "equal-width"
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    target_discretizer: str | Discretizer = "auto"

    def _encode(self, problem: Problem, n_jobs: int | None = None) -> tuple[Codes, Codes, dict[str, Any]]:
        """Return codes of the features and of the targets, and the discretizers as fitted attributes."""
        name, rule = type(self).__name__, make_discretizer(self.discretizer)
        of_targets = make_target_discretizer(self.target_discretizer)
        targets = problem.binned_targets(of_targets).require_known(name).codes
        with thread_context(n_jobs):
            features = one_table(problem.codes(rule, targets), name)
        if features.has_missing:
            raise InputError(f'{name} counts all rows of a table: use missing="level" or "error", or fill missing values.')
        return features, targets, {"discretizer": rule, "target_discretizer": of_targets}
