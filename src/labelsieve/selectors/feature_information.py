"""Information of the selected features, counted from the data: about every label, at every step, and shared with others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import StepComponents
from labelsieve.discretize import one_table
from labelsieve.errors import InputError
from labelsieve.information import mutual_information
from labelsieve.labelspace import TargetTable, read_targets
from labelsieve.labelspace.base import CountingInput
from labelsieve.registry import DEFAULT_DISCRETIZER, DISCRETIZERS
from labelsieve.selectors.column_frames import column_names, information_frame
from labelsieve.selectors.redundancy import RedundantFeature, redundant_features
from labelsieve.tables.features import check_features
from labelsieve.tables.frames import is_frame
from labelsieve.tables.label_sets import label_matrix
from labelsieve.tables.types import Features, TableLike, TargetsLike, WeightsLike
from labelsieve.tables.weights import RowWeights, TargetWeights

KINDS = "relevance", "redundancy", "complementarity"


class FeatureInformation:
    """The methods of fitted selectors that count the data again."""

    selected_: NDArray[np.intp]
    support_: NDArray[np.bool_]
    n_features_in_: int

    def label_information(
        self,
        X: TableLike,
        y: TargetsLike,
        *,
        names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        backend: str | None = None,
    ) -> Any:
        """Mutual information of every selected feature with every target, in nats.

        Features and targets are counted as in the selection: features in the bins of its discretizer (five bins of equal
        frequency for selectors without one), every target by itself, numeric ones in the bins of its target discretizer. Cost:
        one pass over the selected columns.

        Parameters
        ----------
        X, y : array-like, frame or sparse matrix
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
        columns, table = self._label_information(X, y)
        given = getattr(self, "feature_names_in_", None) if names is None else names
        features = column_names(X, given, self.n_features_in_, "feature")
        label_names = getattr(self, "label_names_", None) if label_names is None else label_names
        labels = column_names(y, label_names, table.shape[1], "label")
        return information_frame([features[column] for column in columns], labels, table, X, backend)

    def _label_information(self, X: TableLike, y: TargetsLike) -> tuple[list[int], NDArray[np.float64]]:
        """The selected columns, in order of selection where there is one, and their information about every target."""
        columns, targets = self._listed_columns(), self._targets(y).codes
        selected = self._check_selected(X, columns)
        if not columns:
            return columns, np.empty((0, targets.n_columns))
        discretizer: Any = getattr(self, "discretizer_", DISCRETIZERS[DEFAULT_DISCRETIZER]())
        codes = discretizer.for_columns(columns, getattr(self, "feature_names_in_", None)).encode(selected, targets)
        tables = codes if isinstance(codes, list) else [codes]
        options = self._counting_options()
        shared = [mutual_information(table, targets, n_jobs=options.n_jobs, estimator=options.estimator) for table in tables]
        if len(shared) == 1:
            return columns, shared[0]
        return columns, np.column_stack([table[:, label] for label, table in enumerate(shared)])

    def _targets(self, y: TargetsLike) -> TargetTable:
        """The targets of ``fit`` again, of the same types and in the same bins."""
        types = getattr(self, "target_types_", None)
        targets = read_targets(y, "auto" if types is None else list(types))
        discretizer = getattr(self, "target_discretizer_", None)
        return targets if discretizer is None else targets.discretized(discretizer)

    def _listed_columns(self) -> list[int]:
        """Selected columns in order of selection, in order of columns where every label has a list."""
        ordered = self.selected_ if np.ndim(self.selected_) == 1 else np.flatnonzero(self.support_)
        return [int(column) for column in ordered]

    def information_components(
        self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None
    ) -> dict[str, NDArray[np.float64]]:
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
        >>> components = Sieve("jmi", n_features_to_select=2, discretizer=None).fit(X, Y).information_components(X, Y)
        >>> {kind: values.round(2).tolist() for kind, values in components.items()}
        {'relevance': [0.0, 0.0], 'redundancy': [0.0, 0.0], 'complementarity': [0.0, 0.69]}
        """
        check_is_fitted(self)
        if not self._has_one_table():
            raise InputError(
                f"{type(self).__name__}: information_components needs one list of features and one table of codes."
            )
        return self._step_components(X, y, sample_weight, len(self.selected_))

    def _has_one_table(self) -> bool:
        """Whether steps and redundant features can be counted: one list of features, and one table of codes for all labels."""
        discretizer = getattr(self, "discretizer_", None)
        return (
            discretizer is not None and not hasattr(self, "label_ranking") and getattr(discretizer, "targets", "") != "single"
        )

    def _step_components(
        self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike, n_steps: int
    ) -> dict[str, NDArray[np.float64]]:
        """The components of the first ``n_steps`` selected features."""
        from labelsieve.selectors.sieve import Sieve  # a selector like this one

        columns = self.selected_[:n_steps].tolist()
        components = np.zeros((len(KINDS), len(columns)))
        if not len(columns):
            return dict(zip(KINDS, components, strict=True))
        reader = Sieve(
            StepComponents(),
            targets=getattr(self, "targets_", "single"),
            discretizer=self.discretizer_.for_columns(  # type: ignore[attr-defined]
                columns, getattr(self, "feature_names_in_", None)
            ),
            target_type=list(self.target_types_),  # type: ignore[attr-defined]
            target_discretizer=self.target_discretizer_,  # type: ignore[attr-defined]
            estimator=getattr(self, "estimator", "plugin"),
        )
        tables, _ = reader._read(self._check_selected(X, columns), label_matrix(y), sample_weight, reader._resolve())
        data = one_table(tables, "information_components")
        options = self._counting_options(data.weights)
        workspace = Workspace(data.X, data.Y, options, row_index=data.row_index, target_weights=self._target_weights(data))
        scorer = StepComponents().plan.bind(workspace)
        for step in range(len(columns)):
            scorer.scores()
            components[:, step] = scorer.summands(step)
            scorer.select(step)
        return dict(zip(KINDS, components + 0.0, strict=True))

    def _target_weights(self, data: CountingInput) -> TargetWeights | None:
        """Weights in sums over the targets, of selectors that have them."""
        return None

    def redundant_features(
        self, X: TableLike, y: TargetsLike | None = None, *, at_least: float = 0.9
    ) -> dict[int, list[RedundantFeature]]:
        """For each selected feature, the features that were not selected and have nearly the same information.

        Parameters
        ----------
        X, y : array-like, frame or sparse matrix
            The data of ``fit``; ``y`` is for discretizers that use the targets.
        at_least : float, default=0.9
            The smallest similarity, see :class:`~labelsieve.selectors.RedundantFeature`.
        """
        X = self._check_features(X)
        name, discretizer = type(self).__name__, getattr(self, "discretizer_", None)
        if discretizer is None or hasattr(self, "label_ranking"):
            lacks = "has no codes to compare" if discretizer is None else "selects features for each label"
            raise InputError(f"{name} {lacks}; redundant features are information for one list of a criterion.")
        codes = one_table(discretizer.encode(X, None if y is None else self._targets(y).codes), "redundant_features")
        codes = replace(codes, missing=None)  # cells that are missing together are alike, however they are counted
        return redundant_features(codes, self.selected_, self._counting_options(), at_least=at_least)

    def _counting_options(self, weights: RowWeights | None = None) -> CountingOptions:
        """The parameters of the selector that counting depends on; defaults for those that it does not have."""
        return CountingOptions(
            weights=weights,
            estimator=getattr(self, "estimator", "plugin"),
            n_jobs=getattr(self, "n_jobs", None),
            backend=getattr(self, "backend", "auto"),
        )

    def _check_features(self, X: TableLike) -> Features:
        """Features like those of ``fit``, checked."""
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _check_selected(self, X: TableLike, columns: Sequence[int]) -> Features:
        """These columns of features like those of ``fit``."""
        X = self._check_features(X)
        return nw.from_native(X, eager_only=True)[:, list(columns)].to_native() if is_frame(X) else X[:, list(columns)]
