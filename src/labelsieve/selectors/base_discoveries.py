"""The base class of selectors with an error rate: features and labels that are associated, and how sure that is."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.counting.checked_parameters import BETWEEN_0_AND_1, parameter
from labelsieve.counting.codes import Codes
from labelsieve.counting.resources import thread_context
from labelsieve.counting.target_types import TargetTypes
from labelsieve.discretize import Discretizer, one_table
from labelsieve.discretize.base_discretizer import Missing
from labelsieve.plotting import Axes, figure_function, report_function
from labelsieve.registry import make_discretizer, make_target_discretizer
from labelsieve.selectors.base import TARGET_TYPE, BaseSieve
from labelsieve.selectors.column_frames import Names, column_names, frame_of_columns
from labelsieve.selectors.selection_views import Summary
from labelsieve.selectors.selector_input import named_labels
from labelsieve.table_types import TableLike, TargetsLike

Table = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class DiscoverySummary(Summary):
    """The discoveries as text; in a notebook, the table of the selected features."""

    selector: "BaseDiscoveries | None" = None
    names: Names = None
    label_names: Names = None

    def __str__(self) -> str:
        text = report_function("discovery_text")
        return str(text(self.selector, names=self.names, label_names=self.label_names, confidence=self.confidence))

    __repr__ = __str__


@dataclass(eq=False, repr=False, kw_only=True)
class BaseDiscoveries(BaseSieve):
    """Parameters, reading and fitted attributes of selectors that control the false discovery rate.

    A subclass calls :meth:`_encode` for codes and :meth:`_set_discoveries` with its results.

    Parameters
    ----------
    discretizer : str, Discretizer, dict or None, default="auto"
        How numeric columns become codes, as for :class:`labelsieve.Sieve`; supervised discretizers are refused, because the
        codes must not depend on the targets. :class:`ConditionalDiscoveries` uses the codes for ``sampler="tree"`` and
        ``information_``.

    Attributes
    ----------
    label_names_ : ndarray of str, shape (n_targets,)
        Names of the targets, where ``y`` has them.
    n_rows_left_out_ : int
        Rows in which no target is known.
    feature_scores_ : ndarray of float, shape (n_features,)
        Information of every feature, summed over the targets, in nats.
    discretizer_, target_discretizer_, target_types_
        As for :class:`labelsieve.Sieve`.
    """

    alpha: float = parameter(0.05, BETWEEN_0_AND_1)
    discretizer: str | Discretizer | dict[Any, Any] | None = "auto"
    missing: Missing | None = None
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    target_discretizer: str | Discretizer = "auto"
    n_jobs: int | None = None

    finds_pairs: ClassVar[bool] = True  # of a feature and a label, not features alone

    def _encode(self, X: TableLike, y: TargetsLike) -> tuple[Codes, Codes]:
        """Codes of the features and of the targets, in the rows in which some target is known."""
        name, rule = type(self).__name__, "equal-frequency" if self.discretizer == "auto" else self.discretizer
        self.discretizer_ = make_discretizer(rule, missing=self.missing)
        self.discretizer_.require_unsupervised(name)
        X, table, _ = self._rows(X, named_labels(self, y), None, make_target_discretizer(self.target_discretizer))
        self.n_rows_left_out_, targets = table.n_left_out, table.codes
        with thread_context(self.n_jobs):
            return one_table(self.discretizer_.encode(X, targets), name), targets

    def _set_discoveries(
        self, information: Table, p_values: Table | None, q_values: Table, label_q_values: Table, reason: str = ""
    ) -> None:
        """Set the fitted attributes: features with a q-value of at most ``alpha`` are selected, the smallest first.

        ``information`` (nats), ``p_values`` and ``label_q_values`` have features in rows and labels in columns, NaN where there
        is no value; ``q_values`` has one for each feature.
        """
        self.information_, self.q_values_, self.label_q_values_ = information, q_values, label_q_values
        self.__dict__.pop("p_values_", None)
        if p_values is not None:
            self.p_values_ = p_values
        self.feature_scores_ = np.nansum(information, axis=1)
        order = np.lexsort((-self.feature_scores_, q_values))
        selected = order[q_values[order] <= self.alpha].astype(np.intp)
        self._set_selected(selected, self.feature_scores_[selected])
        self.reason_ = reason

    @property
    def pair_support_(self) -> NDArray[np.bool_]:
        """Mask of the discovered pairs of a feature (rows) and a label (columns)."""
        check_is_fitted(self)
        with np.errstate(invalid="ignore"):
            pairs: NDArray[np.bool_] = (self.label_q_values_ <= self.alpha) & self.support_[:, np.newaxis]
        return pairs

    @property
    def discoveries_(self) -> Any:
        """A data frame of the discovered pairs, the smallest q-values first: feature, label, information (nats), p, q.

        It is of the first of pandas, polars and pyarrow that is installed, or a dict of lists.
        """
        return frame_of_columns(self.discovery_table(), None)

    def discovery_table(self, names: Names = None, label_names: Names = None) -> dict[str, list[Any]]:
        """The columns of ``discoveries_`` as lists; names are those of frames by default, or numbers."""
        pairs = np.argwhere(self.pair_support_)
        names = getattr(self, "feature_names_in_", None) if names is None else names
        label_names = getattr(self, "label_names_", None) if label_names is None else label_names
        features = column_names(None, names, self.n_features_in_, "feature")
        labels = column_names(None, label_names, self.label_q_values_.shape[1], "label")
        at = pairs[:, 0], pairs[:, 1]
        q, information = self.label_q_values_[at], self.information_[at]
        p = self.p_values_[at] if hasattr(self, "p_values_") else None
        order = np.lexsort((-information, q if p is None else p, q))
        columns: dict[str, list[Any]] = {
            "feature": [features[feature] for feature in at[0][order]],
            "label": [labels[label] for label in at[1][order]],
            "information": information[order].tolist(),
        }
        if p is not None:
            columns["p"] = p[order].tolist()
        return {**columns, "q": q[order].tolist()}

    def summary(self, *arguments: Any, **options: Any) -> DiscoverySummary:
        """The discoveries as text, and the reason where there are none; parameters as for :meth:`labelsieve.Sieve.summary`."""
        plain = super().summary(*arguments, **options)
        names = options.get("names"), options.get("label_names")
        return DiscoverySummary(plain.selection, plain.redundant, plain.confidence, self, *names)

    def plot_discoveries(self, *, names: Names = None, label_names: Names = None, ax: Axes | None = None) -> Axes:
        """Draw information against q-values: see :func:`labelsieve.report.figures.discovery_volcano`."""
        return figure_function("discovery_volcano")(self, names=names, label_names=label_names, ax=ax)

    def plot_discovery_map(self, *, names: Names = None, label_names: Names = None, ax: Axes | None = None) -> Axes:
        """Draw the discovered pairs of features and labels: see :func:`labelsieve.report.figures.discovery_map`."""
        return figure_function("discovery_map")(self, names=names, label_names=label_names, ax=ax)
