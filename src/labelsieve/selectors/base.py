"""The base class of the selectors: parameters, reading data, the mask."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, overload

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.discretize import Discretizer, allows_missing
from labelsieve.errors import InputError, require_same_rows
from labelsieve.labelspace import read_targets
from labelsieve.parameters import AT_LEAST_ONE, BETWEEN_0_AND_1, CheckedParameters, parameter
from labelsieve.registry import make_count
from labelsieve.selectors.chunked_input import check_chunked, read_chunked_targets
from labelsieve.selectors.column_frames import set_feature_names
from labelsieve.selectors.fitted import FittedSelector
from labelsieve.selectors.selector_input import ColumnChoice
from labelsieve.stopping import StoppingRule, stop_ranking
from labelsieve.stopping.base import Evaluator
from labelsieve.tables.features import check_features, required
from labelsieve.tables.frames import is_frame, is_integer_array
from labelsieve.tables.sparse import check_sparse
from labelsieve.tables.targets import TARGET_TYPES, TargetTable, constant_targets, warn_of_constant_targets
from labelsieve.tables.types import Features, FloatArray, TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import positive_weights

Count = int | float | None

COUNT = (AT_LEAST_ONE, BETWEEN_0_AND_1, None)
N_FEATURES = (*COUNT, str)
TARGET_TYPE: tuple[Any, ...] = (StrOptions(set(TARGET_TYPES)), dict, list, tuple, np.ndarray)


class BaseSieve(CheckedParameters, ColumnChoice, FittedSelector, SelectorMixin, BaseEstimator):
    """Reading data and the mask, for all selectors.

    Selectors are dataclasses: the constructor stores every parameter under its name, as scikit-learn requires. Those that have
    a parameter of this list inherit its description.

    Parameters
    ----------
    discretizer : str, Discretizer, dict or None, default="auto"
        How numeric columns become codes: ``"equal-width"``, ``"equal-frequency"``, ``"k-means"``, ``"mean-std"``, ``"mdl"``, an
        object of :mod:`labelsieve.discretize`, or None when the values are codes. ``"auto"`` is that of the published method,
        equal frequency for a criterion. A dict has one for some columns, ``{"age": "mdl", "zip": "levels"}``, see
        :class:`labelsieve.discretize.ByColumn`. Every value of a text, categorical or boolean column is a level. Codes are
        used only for the selection: ``transform`` returns the columns unchanged.
    missing : {"level", "error", "drop-pairwise"} or None, default=None
        Missing values of ``X`` (NaN): a separate level, an error, or pairwise deletion. None: as set in the discretizer,
        ``"level"`` by default.
    target_type : {"auto", "class", "numeric"}, dict or sequence, default="auto"
        Whether targets are classes or numeric: one word for all, a dict for some by name or column number, or a sequence with a
        word for each. ``"auto"``: text, categories and booleans are classes, numbers with fractions numeric, and whole
        numbers classes if there are at most two distinct ones, or at most 20 with two rows for each on average.
    target_discretizer : str or Discretizer, default="auto"
        How numeric targets become codes: as ``discretizer``, but not one that is supervised. ``"auto"`` is that of the
        published method, equal frequency for a criterion.
    forced, excluded : sequence of int or str, default=()
        Columns, by number or name, that are always selected (first), and that are never selected.
    n_jobs : int, default=None
        Threads; None is one, -1 is all. The selection does not depend on it.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns in order of selection.
    scores_ : ndarray of float
        Score of every selected feature.
    ranking_ : ndarray of int, shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of bool
        Mask of the selected columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    def _validate_params(self) -> None:
        super()._validate_params()
        if isinstance(getattr(self, "n_features_to_select", None), str):
            allowed = self._parameter_constraints["n_features_to_select"]
            if str in allowed and StoppingRule not in allowed and isinstance(self._count, StoppingRule):
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
        require_same_rows(n_rows, targets.n_rows)
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
        set_feature_names(self, X.shape[1], None)
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
    """A selector that keeps the features of largest score; ties go to the lowest column.

    Parameters
    ----------
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        A number (all, if there are fewer), a fraction of all, None for a ranking of all, or a rule of
        :mod:`labelsieve.stopping` that uses the scores (``ScoreThreshold``, ``Knee(of="score")``) or predictions
        (``CrossValidated``).

    Attributes
    ----------
    feature_scores_ : ndarray of float, shape (n_features,)
        Scores of all features.
    """

    n_features_to_select: Count | str | StoppingRule = parameter(10, *N_FEATURES, StoppingRule)

    def _keep_best(self, scores: NDArray[np.float64], X: TableLike, Y: TargetsLike, sample_weight: WeightsLike = None) -> None:
        """Select the features of largest score."""
        order = np.argsort(-scores, kind="stable")
        self.feature_scores_ = scores
        self._keep_first(order, scores[order], 0, X, Y, sample_weight)


def _take_rows(X: Features | ChunkedTable, rows: NDArray[np.bool_]) -> Features | ChunkedTable:
    if isinstance(X, ChunkedTable):
        return X.take_rows(rows)
    kept = np.flatnonzero(rows)
    return nw.from_native(X, eager_only=True)[kept].to_native() if is_frame(X) else X[kept]
