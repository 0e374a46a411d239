"""What a fitted selector answers: its selection, information per label, redundant features, figures."""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.checked_features import check_features
from labelsieve.counting.number_table import is_frame
from labelsieve.counting.row_weights import RowWeights
from labelsieve.discretize import one_table
from labelsieve.errors import InputError
from labelsieve.fingerprint import array_print
from labelsieve.information import mutual_information
from labelsieve.labelspace import label_space_name, read_targets
from labelsieve.plotting import figure_function
from labelsieve.registry import DISCRETIZERS, METHODS, method_of
from labelsieve.selectors.redundancy import RedundantFeature, redundant_features
from labelsieve.selectors.selection import SelectedFeature, Selection, StabilitySummary, StoppingDecision
from labelsieve.selectors.storage import JsonStorage
from labelsieve.statistics import Stability


class FittedSelector(JsonStorage):
    """The methods of fitted selectors."""

    selected_: NDArray[np.intp]
    scores_: NDArray[np.float64]
    support_: NDArray[np.bool_]
    n_features_in_: int
    stopping_: Any  # the stopping rule, or one for each target

    def selection(
        self,
        X: Any = None,
        y: Any = None,
        *,
        names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        redundant: float | None = None,
        information: bool = False,
        stability: Stability | None = None,
    ) -> Selection:
        """The result as one frozen value that can be stored, printed and compared.

        Parameters
        ----------
        X, y : array-like, frame or sparse matrix, optional
            The data of ``fit``, for their fingerprints and for ``redundant`` and ``information``.
        names, label_names : sequence of str, optional
            Names of features and labels; by default those of frames, or numbers.
        redundant : float, optional
            List features that were not selected and are at least this similar to a selected one, see
            :meth:`redundant_features`.
        information : bool, default=False
            Add the mutual information of every selected feature with every label, see :meth:`label_information`.
        stability : Stability, optional
            Result of :func:`labelsieve.selectors.selection_stability`, to be stored with the selection.
        """
        check_is_fitted(self)
        if (X is None or y is None) and (information or redundant is not None):
            raise InputError("selection: redundant and information need X and y, the data of fit.")
        names = getattr(self, "feature_names_in_", None) if names is None else names
        features = column_names(X, names, self.n_features_in_, "feature")
        method = method_of(self)
        criterion, info = getattr(self, "criterion_", None), METHODS.get(method)
        discretizer = getattr(self, "discretizer_", None)
        rules = getattr(self, "stopping_", [])
        labels = self._label_names(y, label_names)
        return Selection(
            method=method,
            formula=info.formula
            if info is not None
            else ""
            if criterion is None
            else str(getattr(criterion, "score", criterion)),
            targets=self._target_space(),
            unit="nats" if info is None else info.scores,
            n_bins=getattr(discretizer, "n_bins", None),
            n_rows=None if X is None else int(X.shape[0] if hasattr(X, "shape") else len(X)),
            n_features=self.n_features_in_,
            labels=labels,
            selector=type(self).__name__,
            settings=self._settings(),
            fingerprint={name: table_print(table) for name, table in (("X", X), ("y", y)) if table is not None},
            stopping=tuple(StoppingDecision.of_rule(rule) for rule in (rules if isinstance(rules, list) else [rules])),
            stability=None if stability is None else StabilitySummary.of_stability(stability, features),
            selected=self._selected_features(X, y, features, labels, redundant, information),
        )

    def _selected_features(
        self, X: Any, y: Any, names: tuple[str, ...], labels: tuple[str, ...], redundant: float | None, information: bool
    ) -> tuple[SelectedFeature, ...]:
        near = {} if redundant is None else self.redundant_features(X, y, at_least=redundant)
        table = self.label_information(X, y).tolist() if information else []
        about = dict(zip(np.flatnonzero(self.support_).tolist(), map(tuple, table), strict=False))
        components: dict[str, Any] = getattr(self, "score_components_", {})
        lists: list[tuple[str | None, Any, Any]] = [(None, self.selected_, self.scores_)]
        if hasattr(self, "label_ranking"):
            lists = [(label, *self.label_ranking(index)) for index, label in enumerate(labels)]
        return tuple(
            SelectedFeature(
                rank=index + 1,
                feature=names[column],
                column=column,
                score=float(scores[index]),
                components={kind: float(values[index]) for kind, values in components.items()},
                redundant={names[feature.feature]: feature.similarity for feature in near.get(column, [])},
                information=about.get(column, ()),
                label=label,
            )
            for label, columns, scores in lists
            for index, column in enumerate(map(int, columns))
        )

    def _label_names(self, y: Any, given: Sequence[str] | None) -> tuple[str, ...]:
        if y is not None:
            return column_names(y, given, read_targets(y).n_columns, "label")
        count = len(getattr(self, "label_support_", given or ()))
        return column_names(None, given, count, "label")

    def _target_space(self) -> str:
        if hasattr(self, "label_ranking"):
            return "labelwise"
        space = getattr(self, "targets_", None)
        return label_space_name(space) if space is not None else str(getattr(self, "targets", "all together"))

    def label_information(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Mutual information of every selected feature, in order of columns, with every target, in nats.

        Features and targets are counted as in the selection: features in the bins of its discretizer (five bins of equal
        width for selectors without one), every target by itself, real ones in five bins. Cost: one pass over the selected
        columns.

        Returns
        -------
        ndarray of shape (n_selected, n_targets)
        """
        X, targets = self._check_features(X), read_targets(y).codes()
        columns = np.flatnonzero(self.support_)
        selected = nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native() if is_frame(X) else X[:, columns]
        if not len(columns):
            return np.empty((0, targets.n_columns))
        discretizer: Any = getattr(self, "discretizer_", DISCRETIZERS["equal-width"]())
        codes = discretizer.for_columns(columns.tolist()).encode(selected, targets)
        tables = codes if isinstance(codes, list) else [codes]
        options = self._counting_options()
        shared = [mutual_information(table, targets, n_jobs=options.n_jobs, estimator=options.estimator) for table in tables]
        return shared[0] if codes is not tables else np.column_stack([table[:, label] for label, table in enumerate(shared)])

    def redundant_features(self, X: Any, y: Any = None, *, at_least: float = 0.9) -> dict[int, list[RedundantFeature]]:
        """For each selected feature, the features that were not selected and have nearly the same information.

        Parameters
        ----------
        X, y : array-like, frame or sparse matrix
            The data of ``fit``; ``y`` is for discretizers that use the targets.
        at_least : float, default=0.9
            The smallest similarity, see :class:`labelsieve.selectors.redundancy.RedundantFeature`.
        """
        X = self._check_features(X)
        name, discretizer = type(self).__name__, getattr(self, "discretizer_", None)
        if discretizer is None or hasattr(self, "label_ranking"):
            lacks = "has no codes to compare" if discretizer is None else "has a list for every label"
            raise InputError(f"{name} {lacks}; redundant features are information for one list of a criterion.")
        codes = one_table(discretizer.encode(X, None if y is None else read_targets(y).codes()), "redundant_features")
        return redundant_features(codes, self.selected_, self._counting_options(), at_least=at_least)

    def _counting_options(self, weights: RowWeights | None = None) -> CountingOptions:
        """The parameters of the selector that counting depends on; defaults for those that it does not have."""
        return CountingOptions(
            weights=weights,
            estimator=getattr(self, "estimator", "plugin"),
            n_jobs=getattr(self, "n_jobs", None),
            backend=getattr(self, "backend", "auto"),
        )

    def _check_features(self, X: Any) -> Any:
        """Features like those of ``fit``, checked."""
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def plot(self, *, names: Any = None, n_shown: int = 30, ax: Any = None) -> Any:
        """Draw the selected features and their scores: see :func:`labelsieve.report.figures.score_chart`."""
        check_is_fitted(self)
        return figure_function("ranking")(self, names=names, n_shown=n_shown, ax=ax)

    def plot_information(self, X: Any, y: Any, *, names: Any = None, label_names: Any = None, ax: Any = None) -> Any:
        """Draw the information per label: see :func:`labelsieve.report.figures.information_map`."""
        table = self.label_information(X, y)
        names = getattr(self, "feature_names_in_", None) if names is None else names
        features = [str(column if names is None else names[column]) for column in np.flatnonzero(self.support_)]
        if label_names is None and is_frame(y):
            label_names = nw.from_native(y, eager_only=True).columns
        return figure_function("information_map")(table, features=features, labels=label_names, ax=ax)


def column_names(table: Any, given: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    """Names of ``count`` columns: those given, those of a frame, or numbers behind ``what``.

    >>> column_names(None, None, 2, "feature")
    ('feature 0', 'feature 1')
    """
    if given is None and is_frame(table):
        given = nw.from_native(table, eager_only=True).columns
    if given is None:
        return tuple(f"{what} {index}" for index in range(count))
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} {what}s.")
    return tuple(str(name) for name in given)


def table_print(table: Any) -> str:
    """A hash of the values of a table; of a frame, of its columns in order, whatever library made it.

    >>> table_print([[1.0, 0.0], [0.0, 1.0]]) == table_print([[1.0, 0.0], [0.0, 1.0]]) != table_print([[1.0, 0.0], [0.0, 2.0]])
    True
    """
    if not is_frame(table):
        return array_print(table)
    columns = [nw.from_native(table, eager_only=True)[name].to_numpy() for name in nw.from_native(table).columns]
    return array_print(*(column.astype(str) if column.dtype.kind == "O" else column for column in columns))
