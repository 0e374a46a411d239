"""The base class of selectors that count codes: their parameters, and reading data for the counts."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from labelsieve.counting.backends.factory import BackendSetting
from labelsieve.counting.workspace import Workspace
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.discretize import Discretizer, one_table
from labelsieve.discretize.base import Missing
from labelsieve.discretize.kept_values import AsGiven
from labelsieve.errors import InputError
from labelsieve.labelspace import NETWORKS, LabelNetwork, NetworkRule, find_parents, label_space_name, to_count
from labelsieve.labelspace.base import CountingInput
from labelsieve.parameters import parameter
from labelsieve.registry import ResolvedMethod, make_discretizer, make_target_discretizer
from labelsieve.resources import thread_context
from labelsieve.search import sampling_error
from labelsieve.selectors.base import N_FEATURES, TARGET_TYPE, BaseRanking, BaseSieve, Count
from labelsieve.selectors.chunked_input import encode_chunked
from labelsieve.stopping import StoppingRule
from labelsieve.tables.codes import Codes
from labelsieve.tables.nominal import warn_of_bias
from labelsieve.tables.targets import TargetTable, TargetTypes
from labelsieve.tables.types import ColumnsLike, Features, FloatArray, TableLike, TargetsLike, WeightsLike
from labelsieve.tables.weights import Estimator

ParentLists = list[list[int]] | None
Parents = list[list[int]] | LabelNetwork | NetworkRule | str | None
PARENTS = ["array-like", StrOptions(set(NETWORKS)), LabelNetwork, NetworkRule, None]


@dataclass(eq=False, repr=False, kw_only=True)
class BaseCountingSieve(BaseSieve):
    """Parameters and reading of selectors that estimate information from counts.

    Parameters
    ----------
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        A number (all, if there are fewer), a fraction of all, ``"all"`` or None for a ranking of all, or a rule of
        :mod:`labelsieve.stopping` that finds the number, which may be 0: ``"permutation"``, ``"cv"`` and others by name, or, to
        change settings, an object such as ``PermutationTest(alpha=0.01)``.
    estimator : {"plugin", "miller-madow", "shrinkage"}, default="plugin"
        Entropy estimator (docs/entropy_estimators.md). Shrinkage is for few rows and many cells, and slower.
    constant_features : {"last", "score"}, default="last"
        ``"last"``: features with one level (after binning) are selected when no other is left. Their score of 0 would otherwise
        be higher than that of redundant features under criteria that subtract redundancy. ``"score"``: by the formula as
        published.
    backend : {"auto", "native", "chunked", "dask", "gpu", "gpu:0", "gpu:1", ...} or callable, default="auto"
        Where rows are counted: in the compiled core, there in chunks of rows that need not fit into memory, the workers of the
        current Dask client (docs/large_data.md), a GPU (docs/gpu.md), or a factory of backends
        (:class:`labelsieve.counting.backends.BackendFactory`). ``"auto"`` is the core, chunks or workers for tables that are
        not in memory, and a GPU, if there is one, for large tables. The selection does not depend on it.

    Attributes
    ----------
    discretizer_, target_discretizer_ : Discretizer
        The objects that were used, with their settings.
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
    estimator: Estimator = "plugin"
    forced: ColumnsLike = parameter((), "array-like")
    excluded: ColumnsLike = parameter((), "array-like")
    constant_features: Literal["last", "score"] = "last"
    n_jobs: int | None = None
    backend: BackendSetting = parameter("auto", str, callable)

    def _read(
        self, X: TableLike | ChunkedTable, Y: TargetsLike | None, sample_weight: WeightsLike, method: ResolvedMethod
    ) -> tuple[list[CountingInput], ParentLists]:
        """Features and variables of the label space, ready to be counted, and the parents of the targets.

        One table of features for all targets, or one for each where the discretizer has cuts for each.
        """
        table, targets, weights = self._rows(X, Y, sample_weight, method.target_discretizer)
        if method.space.produces not in ("targets", "indicators", "some targets"):
            targets.require_known(label_space_name(method.space))
        self.discretizer_ = method.discretizer
        if isinstance(rule := self._count, StoppingRule) and rule.is_test:
            self.discretizer_.require_unsupervised(type(rule).__name__)
        with thread_context(self.n_jobs):
            encoded = method.space.encode(targets, weights)
            if isinstance(table, ChunkedTable):
                codes: Codes | list[Codes] = encode_chunked(method.discretizer, table, targets.codes, weights)
            else:
                codes = method.discretizer.encode(table, targets.codes, weights)
        if targets.n_left_out:
            encoded = replace(encoded, n_left_out=encoded.n_left_out + targets.n_left_out)
        code_tables = codes if isinstance(codes, list) else [codes]
        if not isinstance(method.discretizer, AsGiven):
            warn_of_bias(code_tables[0], self.estimator, list(self.excluded))
        tables = [to_count(each, encoded, weights, self.estimator) for each in code_tables]
        return tables, self._find_parents(method, table, tables, targets)

    def _find_parents(
        self, method: ResolvedMethod, X: Features | ChunkedTable, tables: list[CountingInput], targets: TargetTable
    ) -> ParentLists:
        """Lists for formulas that mention parents; the network, where there is one, is kept."""
        self.__dict__.pop("network_", None)
        given: Parents = getattr(self, "parents", None)
        given = method.parents if given is None else given
        learned = isinstance(given, str | NetworkRule)
        if learned and "pa" not in method.criterion.plan.needs:
            return None
        if learned:  # the same data give the same selection: random roots and orders have a seed
            rule: NetworkRule = NetworkRule(given) if isinstance(given, str) else given  # type: ignore[assignment]
            given = rule if rule.random_state is not None else clone(rule).set_params(random_state=0)
        if learned and isinstance(X, ChunkedTable):
            raise InputError("A label network is learned from a table in memory; pass parents= as lists or as a LabelNetwork.")
        data: CountingInput = one_table(tables, "A network") if learned else tables[0]
        codes = targets.require_known("a label network").codes if learned else targets.codes
        parents, network = find_parents(
            given, None if isinstance(X, ChunkedTable) else X, data.X, codes, options=self._counting_options(data.weights)
        )
        if network is not None:
            self.network_ = network
        return parents

    def _state_errors(self, data: CountingInput, workspace: Workspace) -> None:
        """What a label space that leaves labels out states about its error."""
        for name in ("omitted_entropy_", "relevance_error_"):
            self.__dict__.pop(name, None)
        if data.encoded is not None and data.encoded.omitted_entropy is not None:
            self.omitted_entropy_ = data.encoded.omitted_entropy
        if data.encoded is not None and data.encoded.sampled_from is not None:
            self.relevance_error_ = sampling_error(workspace, data.encoded.sampled_from)

    def _last(self, workspace: Workspace) -> NDArray[np.intp]:
        """Features that are selected when no other is left: those with one level, unless their score decides."""
        return workspace.constant_features if self.constant_features == "last" else np.empty(0, dtype=np.intp)

    def _left_out(self, workspace: Workspace, unavailable: list[int]) -> list[int]:
        """Features that the stopping rule leaves out before the search, if it is such a rule; it is ``stopping_`` then."""
        if not isinstance(rule := self._count, StoppingRule) or not rule.leaves_out:
            return []
        self.stopping_ = clone(rule)
        return list(self.stopping_.leave_out(workspace, slice(None), unavailable))


@dataclass(eq=False, repr=False, kw_only=True)
class BaseCodeRanking(BaseRanking):
    """A ranking by the codes of the features and targets, all of which are known."""

    discretizer: str | Discretizer | dict[Any, Any] | None = "equal-width"
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    target_discretizer: str | Discretizer = "auto"

    def _encode(
        self, X: TableLike, Y: TargetsLike, sample_weight: WeightsLike = None
    ) -> tuple[Codes, Codes, FloatArray | None]:
        """Codes of the features and of the targets, and weights, in the rows that have weight."""
        name, self.discretizer_ = type(self).__name__, make_discretizer(self.discretizer)
        rows, table, weights = self._rows(X, Y, sample_weight, make_target_discretizer(self.target_discretizer))
        targets = table.require_known(name).codes
        with thread_context(getattr(self, "n_jobs", None)):
            features = one_table(self.discretizer_.encode(rows, targets, weights), name)
        if features.has_missing:
            raise InputError(f'{name} counts all rows of a table: use missing="level" or "error", or fill missing values.')
        return features, targets, weights
