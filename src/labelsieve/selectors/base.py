"""The base class of the selectors: parameters, reading data, the mask."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from numbers import Integral
from typing import Any, overload

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.binary_labels import read_label_sets
from labelsieve.counting.checked_features import check_features, check_numbers, required
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, BETWEEN_0_AND_1, CheckedParameters, check_choices, parameter
from labelsieve.counting.codes import Codes
from labelsieve.counting.constant_targets import constant_numbers, constant_targets, warn_of_constant_targets
from labelsieve.counting.cut_points import require_finite
from labelsieve.counting.number_table import is_frame, is_integer_array, read_table, unmask
from labelsieve.counting.row_weights import positive_weights
from labelsieve.counting.sparse_format import check_sparse
from labelsieve.counting.target_table import TargetTable, target_place
from labelsieve.counting.target_types import TARGET_TYPES
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.discretize import Discretizer, allows_missing
from labelsieve.errors import InputError
from labelsieve.labelspace import read_targets, target_names
from labelsieve.registry import make_count
from labelsieve.selectors.chunked_input import check_chunked, read_chunked_targets
from labelsieve.selectors.column_choice import ColumnChoice
from labelsieve.selectors.fitted import FittedSelector
from labelsieve.selectors.pair_counts import PairCounts
from labelsieve.stopping import StoppingRule, stop_ranking
from labelsieve.stopping.base_rule import Evaluator
from labelsieve.table_types import Features, FloatArray, Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

Count = int | float | None
TableOrCounts = TableLike | ChunkedTable | PairCounts

COUNT = (AT_LEAST_ONE, BETWEEN_0_AND_1, None)
N_FEATURES = (*COUNT, str)
TARGET_TYPE: tuple[Any, ...] = (StrOptions(set(TARGET_TYPES)), dict, list, tuple, np.ndarray)


class BaseSieve(CheckedParameters, ColumnChoice, FittedSelector, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Reading data and the mask, for all selectors.

    Selectors are dataclasses: the constructor stores every parameter under its name, as scikit-learn requires.
    """

    @classmethod
    @cache
    def _defaults(cls) -> dict[str, Any]:
        parameters = signature(cls.__init__).parameters
        return {name: parameter.default for name, parameter in parameters.items() if name != "self"}

    def _validate_params(self) -> None:
        """As scikit-learn does, but only what is not at its default: defaults are known to be right."""
        defaults = self._defaults()
        changed = {name: value for name, value in self.get_params(deep=False).items() if value is not defaults[name]}
        if not changed:
            return
        check_choices(self._parameter_constraints, changed, type(self).__name__)
        validate_parameter_constraints(self._parameter_constraints, changed, caller_name=type(self).__name__)
        if isinstance(changed.get("n_features_to_select"), str):
            rule = self._count
            if isinstance(rule, StoppingRule) and StoppingRule not in self._parameter_constraints["n_features_to_select"]:
                raise InputError(
                    f"{type(self).__name__} does not support stopping rules; give a number of features, a fraction, or 'all'."
                )

    @property
    def _count(self) -> Any:
        """The number of features to select, or the rule that finds it."""
        count = getattr(self, "n_features_to_select", None)
        return make_count(count) if isinstance(count, str) else count

    @overload
    def _rows(
        self, X: TableLike, Y: TargetsLike | None, sample_weight: WeightsLike, target_discretizer: Discretizer
    ) -> tuple[Features, TargetTable, FloatArray | None]: ...
    @overload
    def _rows(
        self, X: ChunkedTable | TableLike, Y: TargetsLike | None, sample_weight: WeightsLike, target_discretizer: Discretizer
    ) -> tuple[Features | ChunkedTable, TargetTable, FloatArray | None]: ...
    def _rows(
        self, X: TableLike | ChunkedTable, Y: TargetsLike | None, sample_weight: WeightsLike, target_discretizer: Discretizer
    ) -> tuple[Features | ChunkedTable, TargetTable, NDArray[np.float64] | None]:
        """Features, targets and weights of the rows that have weight, and in which some target is known."""
        table: Features | ChunkedTable
        if isinstance(X, ChunkedTable):
            table, targets = check_chunked(self, X, Y), read_chunked_targets(X, self.target_type)
        else:
            Y = required(self, Y)
            table, targets = self._checked(X), read_targets(Y, self.target_type)
        self.target_types_, self.target_discretizer_ = targets.types, target_discretizer
        n_rows = table.shape[0]
        if targets.n_rows != n_rows:
            raise InputError(f"X has {n_rows} rows and Y has {targets.n_rows}; they must be the same rows.")
        rows, weights = positive_weights(sample_weight, n_rows)
        if rows is not None:  # before binning: rows without weight must not move the cut points
            targets, table = targets.take_rows(rows), _take_rows(table, rows)
        with_targets = targets.rows_with_targets()
        if with_targets is not None:
            n_left_out = int(np.count_nonzero(~with_targets))
            targets, table = replace(targets.take_rows(with_targets), n_left_out=n_left_out), _take_rows(table, with_targets)
            weights = None if weights is None else weights[with_targets]
        self._warn_of_constant(targets)
        return table, targets.discretized(target_discretizer, weights), weights

    def _warn_of_constant(self, targets: TargetTable) -> None:
        """Warn of targets with one value in all of several rows."""
        if targets.n_rows > 1:
            names = targets.classes.names
            warn_of_constant_targets(constant_targets(targets), getattr(self, "label_names_", names))

    def _checked(self, X: TableLike) -> Features:
        """The features with scikit-learn's checks."""
        if not is_integer_array(X, (2,)):
            return check_features(self, X)
        # Nothing is left to check that reading the codes does not, and there are no names.
        self.n_features_in_ = X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        codes: NDArray[Any] = X
        return codes

    def transform(self, X: TableLike) -> Any:
        """``X`` with the selected features only, in the order of its columns."""
        check_sparse(X, "X")
        return super().transform(X)

    def inverse_transform(self, X: TableLike) -> Any:
        """``X``, which has the selected features, with columns of zeros for the others."""
        check_sparse(X, "X")
        return super().inverse_transform(X)

    def _n_wanted(self, n_available: int) -> int:
        """The number of features to select; more than there are means all."""
        count = self._count
        if count is None:
            return n_available
        if isinstance(count, Integral):
            return min(int(count), n_available)
        return min(max(1, round(float(count) * self.n_features_in_)), n_available)

    def _keep_first(
        self,
        order: NDArray[np.intp],
        scores: NDArray[np.float64],
        n_forced: int,
        X: TableLike,
        Y: TargetsLike,
        sample_weight: WeightsLike,
    ) -> None:
        """Select the first of all features in order: the number that was asked for, or that of a stopping rule."""
        self.__dict__.pop("stopping_", None)
        rule = self._count
        if isinstance(rule, StoppingRule):
            evaluator = self._evaluator(X, Y, sample_weight)
            kept, self.stopping_ = stop_ranking(rule, order, scores, n_forced=n_forced, evaluator=evaluator, X=X, Y=Y)
        else:
            kept = max(self._n_wanted(len(order)), n_forced)
        self._set_selected(order[:kept].astype(np.intp), scores[:kept])

    def _evaluator(self, X: TableLike, Y: TargetsLike | None, sample_weight: WeightsLike) -> Evaluator:
        """Evaluates predictions from the first features that the selector selects: see :class:`SelectionPath`."""
        X = X.tocsr() if is_sparse(X) else X  # other formats have no rows to take
        Y = Y.tocsr() if is_sparse(Y) else Y

        def evaluator(*arguments: Any) -> Any:
            from labelsieve.classifiers.prefix_scores import evaluate_selector  # most selections need no learner

            return evaluate_selector(self, X, required(self, Y), sample_weight, *arguments)

        return evaluator

    def _set_selected(self, selected: NDArray[np.intp], scores: NDArray[np.float64]) -> None:
        self.selected_, self.scores_ = selected, scores
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[selected] = True

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
        tags.input_tags.allow_nan = allows_missing(self)
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class BaseRanking(BaseSieve):
    """A selector that keeps the features of largest score; ties go to the lowest column."""

    n_features_to_select: Count | str | StoppingRule = parameter(10, *N_FEATURES, StoppingRule)

    def _keep_best(self, scores: NDArray[np.float64], X: TableLike, Y: TargetsLike, sample_weight: WeightsLike = None) -> None:
        """Select the features of largest score."""
        order = np.argsort(-scores, kind="stable")
        self.feature_scores_ = scores
        self._keep_first(order, scores[order], 0, X, Y, sample_weight)


def read_classes(selector: BaseSieve, X: TableLike, Y: TargetsLike | None) -> tuple[Matrix, Codes]:
    """``X`` as finite numbers, and targets that are classes, all of them known."""
    Y, name = required(selector, Y), type(selector).__name__
    X = check_numbers(selector, X, dtype="numeric")
    targets = read_targets(Y, getattr(selector, "target_type", "class")).require_known(name)
    if targets.n_rows != X.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows and Y has {targets.n_rows}; they must be the same rows.")
    if targets.is_numeric.any():
        place = target_place(int(np.argmax(targets.is_numeric)), targets.classes.names)
        remedy = "use RReliefF, or target_type='class' for whole numbers that are classes"
        raise InputError(f"{name} compares classes, and Y, {place} is numeric; {remedy}.")
    selector.target_types_ = targets.types
    selector._warn_of_constant(targets)
    return X, targets.classes


def _take_rows(X: Features | ChunkedTable, rows: NDArray[np.bool_]) -> Features | ChunkedTable:
    if isinstance(X, ChunkedTable):
        return X.take_rows(rows)
    kept = np.flatnonzero(rows)
    return nw.from_native(X, eager_only=True)[kept].to_native() if is_frame(X) else X[kept]


def read_numbers(selector: BaseSieve, X: TableLike, Y: TargetsLike | None) -> tuple[Matrix, Matrix]:
    """``X`` and ``Y`` as finite numbers, dense or sparse rows, for methods that calculate with them.

    ``Y`` has two dimensions. Both are arrays of float64, or CSR.
    """
    Y, numbers = required(selector, Y), check_numbers(selector, X)
    named: TargetsLike = unmask(named_labels(selector, Y))
    if isinstance(named, np.ndarray) and named.dtype.kind == "O":
        with suppress(TypeError, ValueError):  # numbers that came as objects; anything else is refused below
            named = named.astype(np.float64)
    try:
        table = read_table(named, what="Y")
        require_finite(table, allow_missing=False, what="Y")
    except InputError as error:
        raise InputError(f"{type(selector).__name__} calculates with the targets. {error}") from None
    if table.shape[0] != numbers.shape[0]:
        raise InputError(f"X has {numbers.shape[0]} rows and Y has {table.shape[0]}; they must be the same rows.")
    targets = table.sparse.tocsr() if table.dense is None else table.dense
    if targets.shape[0] > 1:
        warn_of_constant_targets(constant_numbers(targets), getattr(selector, "label_names_", None))
    return numbers.tocsr() if is_sparse(numbers) else numbers, targets.astype(np.float64, copy=False)


def named_labels(selector: BaseSieve, Y: TargetsLike | None, X: TableOrCounts | None = None) -> Any:
    """``Y`` with label sets as labels of 0 and 1; the names of the targets, where ``Y`` has them, become ``label_names_``."""
    selector.__dict__.pop("label_names_", None)
    if isinstance(X, ChunkedTable):
        if X.label_names is not None:
            selector.label_names_ = np.array(X.label_names, dtype=object)
        return Y
    if isinstance(X, PairCounts):
        if X.label_names_ is not None:
            selector.label_names_ = np.array(X.label_names_, dtype=object)
        return Y
    sets = read_label_sets(Y)
    names = target_names(Y) if sets is None else sets.names
    if names is not None:
        selector.label_names_ = np.array(names, dtype=object)
    return Y if sets is None else sets.matrix
