"""The base class of all selectors: it reads the problem once, calls one method, and stores one result.

A selector defines ``fit``, whose signature and documentation users see, and ``_select``, which gets a
:class:`~labelsieve.tables.problem.Problem` and returns a :class:`Result`. Whatever a fitted selector can show (a table, text,
information per label, a file) is computed by functions of :mod:`labelsieve.selection` and offered here as methods.
"""

import os
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions
from labelsieve.discretize import Discretizer, allows_missing, one_table
from labelsieve.errors import InputError, is_whole
from labelsieve.labelspace import LabelSpace, Single, label_space_name
from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import AT_LEAST_ONE, BETWEEN_0_AND_1, CheckedParameters, StrOptions, parameter
from labelsieve.plotting import Axes, figure_function
from labelsieve.registry import DEFAULT_DISCRETIZER, METHODS, make_count, make_discretizer, make_target_discretizer, method_of
from labelsieve.selection.information import (
    Coding,
    RedundantFeature,
    confidence_table,
    label_information,
    redundant_features,
    step_components,
)
from labelsieve.selection.selection import (
    COMPONENTS,
    ExplainedSummary,
    SelectedFeature,
    Selection,
    StabilitySummary,
    StoppingDecision,
    Summary,
    column_names,
    frame_of_columns,
    information_frame,
    table_print,
)
from labelsieve.selection.storage import read_selector, settings_of, write_selector
from labelsieve.statistics import Stability
from labelsieve.stopping import StoppingRule, stop_ranking
from labelsieve.stopping.base import Evaluator
from labelsieve.tables.frames import check_sparse, is_frame
from labelsieve.tables.mistakes import warn_of_leaks
from labelsieve.tables.problem import Names, NumberProblem, Problem, Source, check_features, column_numbers, read
from labelsieve.tables.targets import TARGET_TYPES, read_target_columns
from labelsieve.tables.types import (
    LAZY_PACKAGES,
    ColumnsLike,
    FloatArray,
    StoredTable,
    TableLike,
    TargetsLike,
    WeightsLike,
    as_table,
)
from labelsieve.tables.weights import Estimator

if TYPE_CHECKING:
    from labelsieve.selection.explained import Explained

Count = int | float | None
TableOrProblem = TableLike | StoredTable | Problem

COUNT = (AT_LEAST_ONE, BETWEEN_0_AND_1, None)
N_FEATURES = (*COUNT, str)
TARGET_TYPE: tuple[Any, ...] = (StrOptions(set(TARGET_TYPES)), dict, list, tuple, np.ndarray)
ANSI = re.compile(r"\x1b\[[0-9;]*m")  # colors and bold text of terminals
NAMED = 8  # features that the representation in one line names
MAX_STEPS = 100  # selected features whose redundancy and complementarity a table shows: their cost grows with the square


@dataclass(frozen=True, eq=False)
class Result:
    """The result of ``_select``, from which the fitted attributes are set.

    Where every target has a list, ``selected`` and ``scores`` have a row for each target, padded with -1.
    """

    selected: NDArray[np.intp]  # columns in order of selection
    scores: FloatArray  # of the selected features
    # further fitted attributes, by name without the final underscore; None for those that do not apply
    attributes: Mapping[str, Any] = field(default_factory=dict)


class BaseSieve(CheckedParameters, SelectorMixin, BaseEstimator):
    """Read the problem, call ``_select`` of the subclass, and keep its result: the base class of all selectors.

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

    # Parameters and fitted attributes that not every selector has, and their values for those that do not. They are declared
    # for the type checker alone, because an annotation would make them fields of the dataclasses below.
    if TYPE_CHECKING:
        n_features_to_select: Any
        target_type: Any
        forced: ColumnsLike
        excluded: ColumnsLike
        selected_: NDArray[np.intp]
        scores_: FloatArray
        support_: NDArray[np.bool_]
        n_features_in_: int
        feature_names_in_: NDArray[np.object_]
        label_names_: Any
        target_types_: Any
        discretizer_: Discretizer | None
        target_discretizer_: Discretizer | None
        targets_: LabelSpace | None
        criterion_: Any
        stopping_: Any
        feature_scores_: FloatArray | None
        relevance_: FloatArray | None
        q_values_: Any
        p_values_: Any
        estimator_: Estimator
        label_support_: Any
        comparison_: dict[str, Any]
        selector_: Any
    else:
        n_features_to_select, target_type, forced, excluded = None, "auto", (), ()
        label_names_ = target_types_ = discretizer_ = target_discretizer_ = targets_ = criterion_ = None
        stopping_ = feature_scores_ = relevance_ = q_values_ = p_values_ = None
        estimator_ = "plugin"

    @abstractmethod
    def _select(self, problem: Problem) -> Result:
        """Select features of a problem: what every selector implements."""

    def _fit(self, X: Any, y: TargetsLike | None, sample_weight: WeightsLike = None) -> Self:
        """Read the problem, select features, and set the fitted attributes."""
        self._forget()
        problem = read(X, y, sample_weight, target_type=self.target_type, estimator=self)
        if isinstance(problem.X, StoredTable):
            raise InputError(f"{type(self).__name__} needs the table in memory; Sieve takes a ChunkedTable.")
        return self._keep(problem, self._select(problem))

    def _forget(self) -> None:
        """Remove the fitted attributes of an earlier fit."""
        for name in list(vars(self)):
            if name.endswith("_") and not name.startswith("_"):
                delattr(self, name)

    def _keep(self, problem: Problem | NumberProblem, result: Result) -> Self:
        """Set the fitted attributes from a result."""
        self.n_features_in_ = n_features = int(problem.X.shape[1])
        if problem.feature_names is not None:
            self.feature_names_in_ = np.array(problem.feature_names, dtype=object)
        if problem.target_names is not None:
            self.label_names_ = np.array(problem.target_names, dtype=object)
        if isinstance(problem, Problem) and (problem.source.y is not None or isinstance(problem.X, StoredTable)):
            self.target_types_ = problem.targets.types
        self.selected_, self.scores_ = result.selected, result.scores
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[result.selected[result.selected >= 0]] = True
        for name, value in result.attributes.items():
            setattr(self, f"{name}_", value)
        if isinstance(problem, Problem) and problem.feature_names is not None and not isinstance(problem.X, StoredTable):
            warn_of_leaks(problem.features, problem.targets, result.selected.ravel().tolist(), problem.target_names)
        return self

    # ------------------------------------------------------------------------- helpers for subclasses

    def _validate_params(self) -> None:
        super()._validate_params()
        if isinstance(self.n_features_to_select, str):
            allowed = self._parameter_constraints["n_features_to_select"]
            if str in allowed and StoppingRule not in allowed and isinstance(self._count, StoppingRule):
                raise InputError(
                    f"{type(self).__name__} does not support stopping rules; give a number of features, a fraction, or 'all'."
                )

    @property
    def _count(self) -> Any:
        """The number of features to select, or the stopping rule that finds it."""
        count = self.n_features_to_select
        return make_count(count) if isinstance(count, str) else count

    def _n_wanted(self, n_available: int, n_features: int) -> int:
        """Return the number of features to select among those available; more than there are means all."""
        count = self._count
        if count is None:
            return n_available
        if isinstance(count, Integral):
            return min(int(count), n_available)
        return min(max(1, round(float(count) * n_features)), n_available)

    def _limits(self, problem: Problem) -> tuple[list[int], list[int]]:
        """Return the numbers of the forced and of the excluded columns."""
        if not len(self.forced) and not len(self.excluded):  # type: ignore[arg-type]
            return [], []
        forced, excluded = problem.column_numbers(self.forced, "forced"), problem.column_numbers(self.excluded, "excluded")
        both = sorted(set(forced) & set(excluded))
        if both:
            raise InputError(f"Column {both[0]} is both forced and excluded.")
        if len(excluded) == problem.n_features:
            raise InputError("Every column is excluded; leave at least one to select.")
        return forced, excluded

    def _first(
        self, problem: Problem | NumberProblem, order: NDArray[np.intp], scores: FloatArray, n_forced: int = 0, **more: Any
    ) -> Result:
        """Keep the first features of a complete order: the number that was asked for, or that of a stopping rule."""
        rule, fitted = self._count, None
        if isinstance(rule, StoppingRule):
            source = problem.source
            kept, fitted = stop_ranking(
                rule, order, scores, n_forced=n_forced, evaluator=self._evaluator(problem), X=source.X, Y=source.y
            )
        else:
            kept = max(self._n_wanted(len(order), problem.n_features), n_forced)
        return Result(order[:kept].astype(np.intp), scores[:kept], {**more, "stopping": fitted})

    def _evaluator(self, problem: Problem | NumberProblem) -> Evaluator:
        """Make the object by which stopping rules evaluate predictions from features that were selected in part of the rows."""
        return _Evaluation(self, problem)

    # ------------------------------------------------------------------------- scikit-learn

    def transform(self, X: TableLike) -> Any:
        """Return ``X`` with the selected features only, in the order of its columns.

        A collection of Dask or Spark stays one: columns are taken from it, and nothing is computed.
        """
        check_sparse(X, "X")
        lazy = type(X).__module__.partition(".")[0] in LAZY_PACKAGES
        return self._lazy_columns(X) if lazy else super().transform(X)

    def _lazy_columns(self, X: Any) -> Any:
        """Take the selected columns of an array or frame of Dask, or a frame of Spark, without computing it."""
        columns, names = np.flatnonzero(self._get_support_mask()).tolist(), getattr(X, "columns", None)
        n_columns = X.shape[1] if names is None else len(names)
        if n_columns != self.n_features_in_:
            raise InputError(f"X has {n_columns} features, but {type(self).__name__} is expecting {self.n_features_in_}.")
        if names is None:
            return X[:, columns]
        fitted = list(vars(self).get("feature_names_in_", map(str, names)))
        if list(map(str, names)) != fitted:
            raise InputError("X has other columns than in fit, or in another order; pass X[sieve.feature_names_in_].")
        return X[[names[column] for column in columns]]

    def inverse_transform(self, X: TableLike) -> Any:
        """Return ``X``, which has the selected features, with columns of zeros for the others."""
        check_sparse(X, "X")
        return super().inverse_transform(X)

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

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        unfitted: str = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        if not self._is_fitted():
            return unfitted
        columns, names = self._listed_columns(), self._feature_names(None, None)
        first = ", ".join(names[column] for column in columns[:NAMED]) + (", ..." if len(columns) > NAMED else "")
        return f"{unfitted}  # {len(columns)} of {self.n_features_in_} features{': ' if first else ''}{first}"

    def __str__(self) -> str:
        return f"{super().__repr__()}\n{self.summary()}" if self._is_fitted() else repr(self)

    def _html_repr(self) -> str:
        """The diagram of scikit-learn and, of a fitted selector, the table and the scores."""
        diagram: str = estimator_html_repr(self)
        return diagram + self.summary()._repr_html_() if self._is_fitted() else diagram

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/plain": ANSI.sub("", str(self))}  # a notebook's output may call itself a terminal

    def _is_fitted(self) -> bool:
        return "support_" in vars(self)

    # ------------------------------------------------------------------------- what a fitted selector shows

    @property
    def ranking_(self) -> NDArray[np.intp]:
        """Rank of every feature: 1 for the first selected one. As in scikit-learn's ``RFE``, low ranks are the best.

        Selected features are ranked in order of selection (``RFE`` gives all of them rank 1), the others behind them by
        ``feature_scores_``, ties by column; where there are no such scores, and for excluded features, they share the rank
        behind all others. Where every label has a list, shape (n_targets, n_features).
        """
        check_is_fitted(self)
        if self.selected_.ndim == 2:
            return np.array([_ranks(row[row >= 0], self.n_features_in_) for row in self.selected_])
        if self.feature_scores_ is None:
            return _ranks(self.selected_, self.n_features_in_)
        names = vars(self).get("feature_names_in_")
        left_out = {*column_numbers(self.excluded, names, self.n_features_in_, "excluded"), *self.selected_.tolist()}
        rest = [column for column in np.argsort(-self.feature_scores_, kind="stable").tolist() if column not in left_out]
        return _ranks(np.array([*self.selected_, *rest], dtype=np.intp), self.n_features_in_)

    def summary(
        self,
        X: TableOrProblem | None = None,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        label_names: Names = None,
        redundant: float | None = None,
        stability: Stability | int | None = None,
        confidence: float | None = None,
    ) -> Summary:
        """The selection as a table of text, which fits the width of the terminal, and of HTML in a notebook.

        With ``X`` and ``y``, the data of ``fit``, it has the share of the targets that the features explain
        (:meth:`explained_share`), what each gains, whether that is more than noise, and the label that a feature is most
        informative about; ``redundant`` and ``stability`` add more. A fitted selector keeps no rows: without the data the
        table has ranks, names and what a feature is by itself, if ``fit`` computed it: the score of a method that rates every
        feature alone, or the relevance. Parameters are those of :meth:`selection`; ``confidence``, such as 0.95, adds
        confidence limits of the information and confidence sets of the ranks: see :meth:`information_confidence`.

        Examples
        --------
        >>> from labelsieve import Sieve
        >>> from labelsieve.datasets import make_feature_roles
        >>> data = make_feature_roles(n_rows=300)
        >>> Sieve("jmi", n_features_to_select=2).fit(data.X, data.Y).summary(names=data.feature_names)
        jmi: 2 of 28 features, in order of selection.
        <BLANKLINE>
        rank   feature       relevance
        ──────────────────────────────
           1   relevant-22      0.6536
           2   relevant-12      0.3480
        <BLANKLINE>
        relevance: information of the feature alone about the labels, in nats.
        <BLANKLINE>
        ...
        """
        if X is None and (redundant is not None or is_whole(stability)):
            raise InputError("summary: redundant and resamples need X and y, the data of fit.")
        problem = None if X is None else self.read_again(X, y)
        if confidence is not None and (problem is None or (y is None and not isinstance(X, Problem))):
            raise InputError("summary: confidence needs X and y, the data of fit.")
        given: dict[str, Any] = {"names": names, "label_names": label_names}
        counted = isinstance(X, Problem) or y is not None
        explained = counted and problem is not None and self._can_explain(problem)
        selection = self.selection(
            problem, redundant=redundant, components=counted, explained=explained, stability=stability, **given
        )
        if confidence is None:
            return Summary(selection, redundant)
        table = self.information_confidence(problem, confidence=confidence, backend="dict", **given)
        return Summary(selection, redundant, {**table, "confidence": confidence})

    def to_frame(
        self,
        X: TableOrProblem | None = None,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        label_names: Names = None,
        redundant: float | None = None,
        stability: Stability | int | None = None,
        backend: str | None = None,
    ) -> Any:
        """The table of :meth:`summary` as a data frame, a row for every selected feature.

        Columns: see :meth:`labelsieve.selectors.Selection.table`.

        Parameters
        ----------
        X, y, names, label_names, redundant, stability
            As for :meth:`summary`.
        backend : {"pandas", "polars", "pyarrow", "dict"}, default=None
            The library of the frame; by default that of ``X``, or the first of them that is installed, or a dict of lists.
        """
        given: dict[str, Any] = {"names": names, "label_names": label_names, "redundant": redundant, "stability": stability}
        return frame_of_columns(self.summary(X, y, **given).selection.table(), backend, X)

    def selection(
        self,
        X: TableOrProblem | None = None,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        label_names: Names = None,
        redundant: float | None = None,
        components: bool = False,
        information: bool = False,
        explained: "bool | Explained" = False,
        stability: Stability | int | None = None,
    ) -> Selection:
        """The result as a :class:`~labelsieve.selectors.Selection`, which can be stored, printed and compared.

        Parameters
        ----------
        X, y : array-like, frame, sparse matrix or Problem, default=None
            The data of ``fit``: needed for ``redundant``, ``components``, ``information`` and a number of resamples; their
            fingerprints are stored.
        names, label_names : sequence of str, default=None
            Names of features and labels; by default those of frames, or numbers.
        redundant : float, default=None
            List features that were not selected and are at least this similar to a selected one, see
            :meth:`redundant_features`.
        components : bool, default=False
            Add relevance, redundancy and complementarity of the first 100 features, see :meth:`information_components`, and
            the label that every feature has the most information about. Without it, features have the relevance that ``fit``
            or ``explained`` computed, if any.
        information : bool, default=False
            Add the mutual information of every selected feature with every label, see :meth:`label_information`.
        explained : bool or Explained, default=False
            Add the explained share of every number of features, or this one; see :meth:`explained_share`. Also the mark of the
            features that are distinguishable from noise, and the label that every feature has the most information about. A
            selection with ``n_features_to_select="auto"`` has the share anyway.
        stability : Stability or int, default=None
            Result of :func:`labelsieve.selectors.selection_stability`, to be stored with the selection; or a number of
            resamples, to compute it.
        """
        check_is_fitted(self)
        counted = isinstance(X, Problem) or (X is not None and y is not None)
        if not counted and (information or components or explained or redundant is not None or is_whole(stability)):
            raise InputError(
                "selection: redundant, components, information, explained and resamples need X and y, the data of fit."
            )
        problem = None if X is None else self.read_again(X, y)
        features, labels = self._feature_names(problem, names), self._label_names(problem, label_names)
        if is_whole(stability) and problem is not None:
            from labelsieve.selectors.stability import selection_stability  # a function of selectors

            source = problem.source
            stability = selection_stability(self, source.X, source.y, n_repeats=int(stability), kind="auto", random_state=0)
        method = method_of(self)
        info, (unit, comparable) = METHODS.get(method), self.score_unit()
        rules = [] if self.stopping_ is None else self.stopping_
        # A stopping rule by the explained share has computed it already; otherwise it is computed if it was asked for.
        share = self._known_share() if isinstance(explained, bool) else explained
        if share is None and explained and problem is not None and len(self.selected_):
            share = self.explained_share(problem)
        return Selection(
            method=method,
            formula=self._formula() if info is None else info.formula,
            targets=self._target_space(),
            unit=unit,
            comparable=comparable,
            n_bins=getattr(self.discretizer_, "n_bins", None),
            n_rows=None if problem is None else int(as_table(problem.source.X).shape[0]),
            n_features=self.n_features_in_,
            labels=labels,
            target_types=() if self.target_types_ is None else tuple(self.target_types_),
            selector=type(self).__name__,
            settings=settings_of(self),
            fingerprint={} if problem is None else _fingerprints(problem),
            stopping=tuple(StoppingDecision.of_rule(rule) for rule in (rules if isinstance(rules, list) else [rules])),
            stability=StabilitySummary.of_stability(stability, features) if isinstance(stability, Stability) else None,
            explained=None if share is None else ExplainedSummary.of_explained(share, len(self.selected_)),
            selected=self._selected_features(
                problem, features, labels, redundant, components, information, bool(explained), share
            ),
        )

    def _selected_features(
        self,
        problem: Problem | None,
        names: tuple[str, ...],
        labels: tuple[str, ...],
        redundant: float | None,
        components: bool,
        information: bool,
        explained: bool,
        share: "Explained | None",
    ) -> tuple[SelectedFeature, ...]:
        near: dict[int, list[RedundantFeature]] = {}
        about: dict[int, FloatArray] = {}
        steps: dict[str, Any] = {}
        if problem is not None:
            near = {} if redundant is None else self.redundant_features(problem, at_least=redundant)
            if components or information or explained:
                columns = self._listed_columns()
                about = dict(zip(columns, label_information(problem, self.coding(), columns), strict=True))
            if components and self._has_one_table():
                steps = step_components(problem, self.coding(), self.selected_[:MAX_STEPS].tolist())
        tests = self._row_tests(problem) if explained and problem is not None else None
        selected = []
        # One list for all labels, or one for each: a feature of several lists is described once in each of them.
        for label, columns_, scores in self._lists(len(labels)):
            for index, column in enumerate(map(int, columns_)):
                known, top = about.get(column), dict[str, Any]()
                if known is not None and (components or explained):
                    most = int(known.argmax())
                    top = {"top_label": labels[most], "top_label_information": float(known[most])}
                if share is not None and index + 1 in share.sizes:
                    at = share.at(index + 1)
                    top |= {"explained": float(share.explained[at]), "explained_error": float(share.errors[at])}
                    top |= {"gain": float(share.gains[at]), "folds": share.share_of_folds(column, index + 1)}
                if tests is not None:
                    top |= {"signal": bool(tests.signal[index]), "p_value": float(tests.p_values[index])}
                selected.append(
                    SelectedFeature(
                        rank=index + 1,
                        feature=names[column],
                        column=column,
                        score=float(scores[index]),
                        components=self._components(column, index, steps, known, label),
                        redundant={names[feature.feature]: feature.similarity for feature in near.get(column, [])},
                        information=tuple(known.tolist()) if information and known is not None else (),
                        label=None if label is None else labels[label],
                        **top,
                    )
                )
        return tuple(selected)

    def _row_tests(self, problem: Problem) -> Any:
        """Test which of the selected features are distinguishable from noise; None where every label has a list."""
        if self.selected_.ndim == 2 or isinstance(problem.X, StoredTable):
            return None
        from labelsieve.discoveries.row_test import row_tests_of

        return row_tests_of(problem, self.selected_, n_candidates=self.n_features_in_ - len(self.excluded))  # type: ignore[arg-type]

    def explained_share(
        self,
        X: TableOrProblem,
        y: TargetsLike | None = None,
        *,
        n_features: int | None = None,
        cv: Any = None,
        random_state: RandomState = 0,
    ) -> "Explained":
        """The share of the variation of the targets that the selected features predict, in rows that were not used.

        Selection and prediction are repeated in every fold: see :class:`labelsieve.selectors.Explained` for the result, which
        has the share of 1, 2, ..., features and of all features, over all targets and for each.

        Parameters
        ----------
        X, y : array-like, frame, sparse matrix or Problem
            The data of ``fit``.
        n_features : int, default=None
            The largest number of features; None: as many as were selected, or as a stopping rule by this share tried, so that
            the result is the one by which it chose.
        cv : int or splitter, default=None
            Number of folds, or a splitter of scikit-learn. None: 5, or 7 for fewer than 200 rows.
        random_state : int, RandomState instance or None, default=0
            Seed of the folds.

        Examples
        --------
        >>> from labelsieve import Sieve
        >>> from labelsieve.datasets import make_feature_roles
        >>> data = make_feature_roles(n_rows=300, n_xor_pairs=0)
        >>> sieve = Sieve(n_features_to_select=4).fit(data.X, data.Y)
        >>> print(sieve.explained_share(data.X, data.Y).verdict(4))
        4 of 26 features explain ... % (± ...) of the labels, as much as all 26 (... %).
        """
        problem = self.read_again(X, y)
        known = self._known_share()
        tried = len(self.selected_) if known is None else int(known.sizes[-1])
        most = max(1, tried) if n_features is None else n_features
        return _Evaluation(self._explained_selector(), problem).explained(most, cv, random_state)

    def _explained_selector(self) -> "BaseSieve":
        """Return the selector whose selections are repeated in the folds."""
        return self

    def _known_share(self) -> "Explained | None":
        """Return the explained share that the stopping rule computed, if it did."""
        return vars(self.stopping_).get("explained_") if isinstance(self.stopping_, StoppingRule) else None

    def _can_explain(self, problem: Problem) -> bool:
        """Tell whether the explained share is defined: one list of features, a table in memory, enough rows."""
        from labelsieve.selection.explained import LEAST_ROWS

        in_memory = problem.source.y is not None and not isinstance(problem.X, StoredTable)
        return in_memory and self.selected_.ndim == 1 and len(self.selected_) > 0 and problem.targets.n_rows >= LEAST_ROWS

    def _components(
        self, column: int, index: int, steps: dict[str, Any], about: FloatArray | None, label: int | None
    ) -> dict[str, float]:
        """Return all components of a step that was counted; otherwise the relevance, where it is known."""
        if steps and index < len(steps[COMPONENTS[0]]):
            return {kind: float(values[index]) for kind, values in steps.items()}
        if self.relevance_ is not None:
            return {COMPONENTS[0]: float(self.relevance_[column])}
        return {} if about is None else {COMPONENTS[0]: float(about.sum() if label is None else about[label])}

    def _lists(self, n_labels: int) -> list[tuple[int | None, Any, Any]]:
        """Return the lists of selected columns with their scores: one for all labels, or one for each."""
        return [(None, self.selected_, self.scores_)]

    def _listed_columns(self) -> list[int]:
        """Return the selected columns in order of selection; in order of columns where every label has a list."""
        ordered = self.selected_ if self.selected_.ndim == 1 else np.flatnonzero(self.support_)
        return [int(column) for column in ordered]

    def _feature_names(self, problem: Problem | None, given: Names) -> tuple[str, ...]:
        given = vars(self).get("feature_names_in_") if given is None else given
        return column_names(None if problem is None else problem.source.X, given, self.n_features_in_, "feature")

    def _label_names(self, problem: Problem | None, given: Names) -> tuple[str, ...]:
        given = self.label_names_ if given is None else given
        count = self._n_labels() if problem is None else problem.targets.n_columns
        if problem is None and count is None:
            count = 0 if given is None else len(given)
        return column_names(None if problem is None else problem.source.y, given, int(count or 0), "label")

    def _formula(self) -> str:
        """Return the formula of a criterion; a custom one that was stored in a file is known by its text."""
        return "" if self.criterion_ is None else str(getattr(self.criterion_, "score", self.criterion_))

    def score_unit(self) -> tuple[str, bool]:
        """Return the unit of the scores, and whether a score rates its feature alone, as in ``Selection``."""
        info = METHODS.get(method_of(self))
        if info is None and self.criterion_ is not None:  # a formula; one that was read from a file is known by its text
            plan = getattr(self.criterion_, "plan", None)
            return "nats", plan is not None and plan.is_ranking
        if info is None:  # other parameters than those of the methods of this class
            info = next((METHODS[name] for name in METHODS if METHODS[name].selector.endswith(type(self).__name__)), None)
        return ("scores", False) if info is None else (info.scores, info.comparable)

    def _n_labels(self) -> int | None:
        """Return the number of labels, where a fitted selector knows it without the data."""
        return None

    def _target_space(self) -> str:
        return "all together" if self.targets_ is None else label_space_name(self.targets_)

    # ------------------------------------------------------------------------- information, counted from the data again

    def read_again(self, X: Any, y: TargetsLike | None) -> Problem:
        """Read the data of ``fit`` again: the same columns, and targets of the same types."""
        check_is_fitted(self)
        if isinstance(X, Problem):
            return X
        if y is None:  # a table of features alone, for what needs no targets
            checked = check_features(self, X, reset=False)
            constant = read_target_columns(np.zeros(checked.shape[0], dtype=np.uint8))
            return Problem(checked, constant, source=Source(X, None))
        types = "auto" if self.target_types_ is None else list(self.target_types_)
        return read(X, y, target_type=types, estimator=self, reset=False)

    def _counting_options(self) -> CountingOptions:
        """Return the parameters of the selector that counting depends on."""
        return DEFAULT_OPTIONS

    def coding(self) -> Coding:
        """Return how features and targets were encoded; five bins of equal frequency for selectors without codes."""
        return Coding(
            make_discretizer(DEFAULT_DISCRETIZER) if self.discretizer_ is None else self.discretizer_,
            make_target_discretizer() if self.target_discretizer_ is None else self.target_discretizer_,
            Single() if self.targets_ is None else self.targets_,
            self._counting_options(),
        )

    def _has_one_table(self) -> bool:
        """Tell whether steps and redundant features can be counted: there is one list of features and one table of codes."""
        rule = self.discretizer_
        return rule is not None and self.selected_.ndim == 1 and getattr(rule, "targets", "") != "single"

    def label_information(
        self,
        X: TableOrProblem,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        label_names: Names = None,
        backend: str | None = None,
    ) -> Any:
        """Mutual information of every selected feature with every target, in nats.

        Features and targets are counted as in the selection: features in the bins of its discretizer (five bins of equal
        frequency for selectors without one), every target by itself, numeric ones in the bins of its target discretizer. Cost:
        one pass over the selected columns.

        Parameters
        ----------
        X, y : array-like, frame, sparse matrix or Problem
            The data of ``fit``.
        names, label_names : sequence of str, default=None
            Names of all features and of the labels; by default those of frames, or numbers.
        backend : {"pandas", "polars", "pyarrow", "dict"}, default=None
            See :meth:`to_frame`.

        Returns
        -------
        frame of shape (n_selected, n_targets)
            A row for every selected feature in order of selection, where every label has a list in order of columns; a column
            for every target. Names of features are the index of a pandas frame, and the first column, ``feature``, of others.

        Examples
        --------
        >>> from labelsieve import Sieve
        >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0], [0, 1], [1, 1], [1, 1]]
        >>> sieve = Sieve("mim", n_features_to_select=1).fit(X, Y)
        >>> print(sieve.label_information(X, Y, names=["tempo", "loudness"], label_names=["calm", "happy"]).round(2))
                 calm  happy
        feature
        tempo    0.69   0.22
        """
        problem, columns = self.read_again(X, y), self._listed_columns()
        table = label_information(problem, self.coding(), columns)
        features, labels = self._feature_names(problem, names), self._label_names(problem, label_names)
        return information_frame([features[column] for column in columns], labels, table, problem.source.X, backend)

    def information_components(
        self, X: TableOrProblem, y: TargetsLike | None = None, sample_weight: WeightsLike = None
    ) -> dict[str, FloatArray]:
        r"""Relevance, redundancy and complementarity of every selected feature: the same components for any criterion.

        .. math:: \sum_y I(f; y) - \frac{1}{|S|} \sum_{s \in S} \sum_y \max(0, c_{fsy})
                  + \frac{1}{|S|} \sum_{s \in S} \sum_y \max(0, -c_{fsy})
                  = \frac{1}{|S|} \sum_{s \in S} \sum_y I(f; y \mid s), \quad c_{fsy} = I(f; s) - I(f; s \mid y)

        in nats, with S the features selected before f (Brown et al. 2012, section 4). The co-information :math:`c_{fsy}` of
        a feature, another one and a label is redundancy where it is positive, and complementarity where it is negative. The
        sum of the three components is the information that f adds, averaged over the features selected before it.

        ``X``, ``y`` and ``sample_weight`` are those of ``fit``; labels are counted in the label space of the selection. A label
        space that draws at random without a seed draws again.

        Cost: tables of two selected features and a target, for every pair of them.

        Examples
        --------
        >>> from labelsieve import Sieve
        >>> X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]  # exclusive or
        >>> sieve = Sieve("jmi", n_features_to_select=2, discretizer=None).fit(X, Y)
        >>> components = sieve.information_components(X, Y)
        >>> {kind: values.round(2).tolist() for kind, values in components.items()}
        {'relevance': [0.0, 0.0], 'redundancy': [0.0, 0.0], 'complementarity': [0.0, 0.69]}
        """
        check_is_fitted(self)
        if not self._has_one_table():
            raise InputError(
                f"{type(self).__name__}: information_components needs one list of features and one table of codes."
            )
        if isinstance(X, Problem):
            problem = X
        else:
            types = list(self.target_types_)
            problem = read(X, y, sample_weight, target_type=types, estimator=self, reset=False)
        return step_components(problem, self.coding(), self.selected_.tolist())

    def redundant_features(
        self, X: TableOrProblem, y: TargetsLike | None = None, *, at_least: float = 0.9
    ) -> dict[int, list[RedundantFeature]]:
        """For each selected feature, the features that were not selected and have nearly the same information.

        Parameters
        ----------
        X, y : array-like, frame, sparse matrix or Problem
            The data of ``fit``; ``y`` is for discretizers that use the targets.
        at_least : float, default=0.9
            The smallest similarity, see :class:`~labelsieve.selectors.RedundantFeature`.
        """
        problem, rule = self.read_again(X, y), self.discretizer_
        if rule is None or self.selected_.ndim == 2:
            lacks = "has no codes to compare" if rule is None else "selects features for each label"
            raise InputError(f"{type(self).__name__} {lacks}; redundant features are information for one list of a criterion.")
        if rule.uses_targets and y is None and not isinstance(X, Problem):
            raise InputError(f"redundant_features: {rule!r} is supervised; pass the targets as y.")
        codes = problem.codes(rule, self.coding().target_codes(problem))
        return redundant_features(
            one_table(codes, "redundant_features"), self.selected_, self._counting_options(), at_least=at_least
        )

    def information_confidence(
        self,
        X: TableOrProblem | None,
        y: TargetsLike | None = None,
        *,
        confidence: float = 0.95,
        method: str = "asymptotic",
        n_resamples: int = 200,
        random_state: RandomState = 0,
        names: Names = None,
        label_names: Names = None,
        n_shown: int | None = None,
        backend: str | None = None,
    ) -> Any:
        """Confidence limits of the information of the selected features, and confidence sets of their ranks by information.

        Limits are those of the information about the label that a feature is most informative about, for each feature by
        itself: see :func:`labelsieve.discoveries.information_intervals`. They account for the choice of that label among all
        (Bonferroni: the level of a label is ``1 - (1 - confidence) / n_labels``), not for the choice of features because of
        their information. Ranks are those of the information about all labels, among the listed features, for all of them
        together: see :func:`labelsieve.discoveries.information_ranks`.

        Parameters
        ----------
        X, y : array-like, frame, sparse matrix or Problem
            The data of ``fit``, without missing cells.
        confidence : float, default=0.95
            Confidence level of limits and ranks.
        method : {"asymptotic", "bootstrap"}, default="asymptotic"
            Of the limits; ranks are always from bootstrap samples of the rows.
        n_resamples, random_state : int, default=200 and 0
            Bootstrap samples.
        names, label_names : sequence of str, default=None
            Names of all features and of the labels; by default those of frames, or numbers.
        n_shown : int, default=None
            List the first selected features only; None: all.
        backend : {"pandas", "polars", "pyarrow", "dict"}, default=None
            See :meth:`to_frame`.

        Returns
        -------
        frame
            ``feature``, ``label``, ``information`` (in nats, as in :meth:`label_information`), ``lower``, ``upper``,
            ``first_rank``, ``last_rank`` and, of selectors and stopping rules with a false discovery rate, ``q``. Cost:
            counting the listed columns for every bootstrap sample.

        Examples
        --------
        >>> from labelsieve import Sieve
        >>> from labelsieve.datasets import make_feature_roles
        >>> data = make_feature_roles(n_rows=300)
        >>> sieve = Sieve("jmi", n_features_to_select=3).fit(data.X, data.Y)
        >>> print(sieve.information_confidence(data.X, data.Y, backend="pandas").round(2).drop(columns="label"))
              feature  information  lower  upper  first_rank  last_rank
        0  feature 22         0.42   0.33   0.51           1          1
        1  feature 12         0.17   0.10   0.26           2          3
        2  feature 27         0.23   0.15   0.31           2          3
        """
        problem, columns = self.read_again(X, y), self._listed_columns()[:n_shown]
        if not columns:
            raise InputError(f"{type(self).__name__} selected nothing, so there is no information to be certain about.")
        options: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "random_state": random_state}
        table = confidence_table(problem, self.coding(), columns, method=method, **options)
        features, labels = self._feature_names(problem, names), self._label_names(problem, label_names)
        table["feature"] = [features[column] for column in columns]
        table["label"] = [labels[label] for label in table["label"]]
        # Of the selector or of its stopping rule, if they control the false discovery rate.
        for q_values in (self.q_values_, getattr(self.stopping_, "q_values_", None)):
            if isinstance(q_values, np.ndarray) and q_values.ndim == 1:
                table["q"] = q_values[columns].tolist()
                break
        return frame_of_columns(table, backend, problem.source.X)

    # ------------------------------------------------------------------------- figures

    def plot(
        self,
        X: TableOrProblem | None = None,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        n_shown: int = 30,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw what the selected features explain or, without data, what each is by itself.

        With the data of ``fit`` the figure shows the explained share and what every feature adds to it, see
        :func:`labelsieve.report.figures.explained_share`. Where that is not defined, such as for a table that is not in
        memory, the bars are those of :meth:`information_components`.

        Without data, bars are the scores of a method that rates every feature alone, such as chi-square statistics, or else
        the relevance, if ``fit`` computed it. The default computes neither, and an error asks for the data, unless the number
        of features was found by the explained share; ``AutoSieve`` draws its comparison of methods.
        :func:`labelsieve.report.figures.ranking` draws the scores of any method.
        """
        check_is_fitted(self)
        if X is None:
            return self._plot_without_data(names, n_shown, ax)
        problem = self.read_again(X, y)
        if self._can_explain(problem):
            selection = self.selection(problem, names=names, explained=True)
            return figure_function("explained_share")(selection, n_shown=n_shown, ax=ax)
        components = self.information_components(problem)
        return figure_function("ranking")(self, names=names, components=components, n_shown=n_shown, ax=ax)

    def _plot_without_data(self, names: Names, n_shown: int, ax: Axes | None) -> Axes:
        if self._known_share() is not None:
            return figure_function("explained_share")(self.selection(names=names), n_shown=n_shown, ax=ax)
        components = None
        if not self.score_unit()[1]:
            if self.relevance_ is None:
                raise InputError(
                    f"plot: the scores of {method_of(self)} are ranks or compare the candidates of one step, so bars of them "
                    f"would say nothing. Pass the data of fit: plot(X, Y) draws what every feature adds to the explained share."
                )
            components = {COMPONENTS[0]: self.relevance_[self.selected_]}
        return figure_function("ranking")(self, names=names, components=components, n_shown=n_shown, ax=ax)

    def plot_information(
        self,
        X: TableOrProblem,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        label_names: Names = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the information per label: see :func:`labelsieve.report.figures.information_map`."""
        problem, columns = self.read_again(X, y), self._listed_columns()
        table, features = label_information(problem, self.coding(), columns), self._feature_names(problem, names)
        named = label_names is not None or self.label_names_ is not None or is_frame(problem.source.y)
        labels = self._label_names(problem, label_names) if named else None
        return figure_function("information_map")(
            table, features=[features[column] for column in columns], labels=labels, ax=ax
        )

    def plot_confidence(
        self, X: TableOrProblem, y: TargetsLike | None = None, *, n_shown: int = 30, ax: Axes | None = None, **options: Any
    ) -> Axes:
        """Draw :meth:`information_confidence`: see :func:`labelsieve.report.figures.information_confidence`."""
        table = self.information_confidence(X, y, n_shown=n_shown, backend="dict", **options)
        return figure_function("information_confidence")(table, confidence=options.get("confidence", 0.95), ax=ax)

    # ------------------------------------------------------------------------- files

    def to_json(self, path: str | os.PathLike[str], selection: Selection | None = None) -> None:
        """Write the fitted selector to ``path``: all of it or, if something fails, nothing.

        ``selection`` is stored in place of ``self.selection()``: one made with the data has their fingerprints.
        """
        check_is_fitted(self)
        write_selector(self, self.selection() if selection is None else selection, path)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted selector: it transforms as the one that was saved."""
        return read_selector(cls, path)


class _Evaluation:
    """Evaluates predictions from the features that a selector selects in some of the rows, for stopping rules.

    The learners are loaded when they are used, because most selections need none.
    """

    def __init__(self, selector: BaseSieve, problem: Problem | NumberProblem) -> None:
        self._selector, self._problem = selector, problem

    def scores(self, *arguments: Any) -> Any:
        """Return the measure of an estimator for every number of features."""
        from labelsieve.classifiers.prefix_scores import evaluate_selector

        return evaluate_selector(self._selector, *self._problem.source, *arguments)

    def explained(self, n_features: int, cv: Any = None, random_state: Any = 0) -> "Explained":
        """Return the share that every number of features explains."""
        from labelsieve.selection.explained import explained_share

        problem = self._problem
        if isinstance(problem, NumberProblem):
            problem = read(*problem.source, target_type=self._selector.target_type)
        return explained_share(self._selector, problem, n_features=n_features, cv=cv, random_state=random_state)


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

    def _best(self, problem: Problem | NumberProblem, scores: FloatArray, **more: Any) -> Result:
        """Return the result with the features of largest score."""
        order = np.argsort(-scores, kind="stable")
        return self._first(problem, order, scores[order], feature_scores=scores, **more)


def _ranks(order: NDArray[np.intp], n_features: int) -> NDArray[np.intp]:
    """Rank the columns of a list in order, from 1; all other columns share the rank behind them."""
    ranks = np.full(n_features, len(order) + 1, dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _fingerprints(problem: Problem) -> dict[str, str]:
    """Return hashes of the data that the user passed."""
    source = {"X": problem.source.X, "y": problem.source.y}
    return {name: table_print(table) for name, table in source.items() if table is not None}
