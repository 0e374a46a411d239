"""The result of a fitted selector as one value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError, is_whole
from labelsieve.labelspace import label_space_name
from labelsieve.registry import METHODS, method_of
from labelsieve.selectors.column_frames import Names, column_names, table_print
from labelsieve.selectors.feature_confidence import FeatureConfidence
from labelsieve.selectors.selection import COMPONENTS, SelectedFeature, Selection, StabilitySummary, StoppingDecision
from labelsieve.selectors.selection_views import SelectionViews
from labelsieve.selectors.storage import JsonStorage
from labelsieve.statistics import Stability
from labelsieve.tables.label_sets import label_matrix
from labelsieve.tables.types import TableLike, TargetsLike, as_table

MAX_STEPS = 100  # selected features whose redundancy and complementarity a table shows: their cost grows with the square


class FittedSelector(SelectionViews, FeatureConfidence, JsonStorage):
    """The methods of fitted selectors."""

    scores_: NDArray[np.float64]
    stopping_: Any  # the stopping rule, or one for each target

    def selection(
        self,
        X: TableLike | None = None,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        label_names: Names = None,
        redundant: float | None = None,
        components: bool = False,
        information: bool = False,
        stability: Stability | int | None = None,
    ) -> Selection:
        """The result as a :class:`~labelsieve.selectors.Selection`, which can be stored, printed and compared.

        Parameters
        ----------
        X, y : array-like, frame or sparse matrix, default=None
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
            computed, if any.
        information : bool, default=False
            Add the mutual information of every selected feature with every label, see :meth:`label_information`.
        stability : Stability or int, default=None
            Result of :func:`labelsieve.selectors.selection_stability`, to be stored with the selection; or a number of
            resamples, to compute it.
        """
        check_is_fitted(self)
        if (X is None or y is None) and (information or components or redundant is not None or is_whole(stability)):
            raise InputError("selection: redundant, components, information and resamples need X and y, the data of fit.")
        y = label_matrix(y)
        names = getattr(self, "feature_names_in_", None) if names is None else names
        features = column_names(X, names, self.n_features_in_, "feature")
        if is_whole(stability) and X is not None and y is not None:
            from labelsieve.selectors.selection_stability import selection_stability

            stability = selection_stability(self, X, y, n_repeats=int(stability), kind="auto", random_state=0)
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
            n_rows=None if X is None else int(as_table(X).shape[0]),
            n_features=self.n_features_in_,
            labels=labels,
            target_types=tuple(getattr(self, "target_types_", ())),
            selector=type(self).__name__,
            settings=self._settings(),
            fingerprint={name: table_print(table) for name, table in (("X", X), ("y", y)) if table is not None},
            stopping=tuple(StoppingDecision.of_rule(rule) for rule in (rules if isinstance(rules, list) else [rules])),
            stability=StabilitySummary.of_stability(stability, features) if isinstance(stability, Stability) else None,
            selected=self._selected_features(X, y, features, labels, redundant, components, information),
        )

    def _selected_features(
        self,
        X: TableLike | None,
        y: TargetsLike | None,
        names: tuple[str, ...],
        labels: tuple[str, ...],
        redundant: float | None,
        components: bool,
        information: bool,
    ) -> tuple[SelectedFeature, ...]:
        near = {} if redundant is None or X is None else self.redundant_features(X, y, at_least=redundant)
        about: dict[int, NDArray[np.float64]] = {}
        if X is not None and y is not None and (components or information):
            columns, table = self._label_information(X, y)
            about = dict(zip(columns, table, strict=True))
        steps: dict[str, Any] = {}
        if X is not None and y is not None and components and self._has_one_table():
            steps = self._step_components(X, y, None, MAX_STEPS)
        lists: list[tuple[int | None, Any, Any]] = [(None, self.selected_, self.scores_)]
        if hasattr(self, "label_ranking"):
            lists = [(index, *self.label_ranking(index)) for index in range(len(labels))]
        selected = []
        for label, columns, scores in lists:
            for index, column in enumerate(map(int, columns)):
                known, top = about.get(column), dict[str, Any]()
                if known is not None and components:
                    most = int(known.argmax())
                    top = {"top_label": labels[most], "top_label_information": float(known[most])}
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

    def _components(
        self, column: int, index: int, steps: dict[str, Any], about: NDArray[np.float64] | None, label: int | None
    ) -> dict[str, float]:
        """All components of a step that was counted; else the relevance that is known."""
        if steps and index < len(steps[COMPONENTS[0]]):
            return {kind: float(values[index]) for kind, values in steps.items()}
        known = getattr(self, "relevance_", None)
        if known is not None:
            return {COMPONENTS[0]: float(known[column])}
        return {} if about is None else {COMPONENTS[0]: float(about.sum() if label is None else about[label])}

    def _label_names(self, y: TargetsLike | None, given: Names) -> tuple[str, ...]:
        given = getattr(self, "label_names_", None) if given is None else given
        if y is not None:
            return column_names(y, given, self._targets(y).n_columns, "label")
        support = getattr(self, "label_support_", None)
        count = support.shape[0] if support is not None else 0 if given is None else len(given)
        return column_names(None, given, count, "label")

    def _target_space(self) -> str:
        if hasattr(self, "label_ranking"):
            return "labelwise"
        space = getattr(self, "targets_", None)
        return label_space_name(space) if space is not None else str(getattr(self, "targets", "all together"))
