"""What a fitted selector shows: a table, text, a page in a notebook, a ranking of all features, and figures."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError
from labelsieve.plotting import Axes, figure_function, report_function
from labelsieve.selectors.column_frames import Names, column_names, frame_of_columns
from labelsieve.selectors.selection import Selection
from labelsieve.statistics import Stability
from labelsieve.tables.frames import is_frame
from labelsieve.tables.types import TableLike, TargetsLike

NAMED = 8  # features that the representation in one line names


@dataclass(frozen=True, repr=False)
class Summary:
    """The table of a selection: text where it is printed, HTML in a notebook.

    Attributes
    ----------
    selection : Selection
    redundant : float, optional
        The smallest similarity of the redundant features.
    confidence : dict of str to list, optional
        The table of :meth:`labelsieve.Sieve.information_confidence`.
    """

    selection: Selection
    redundant: float | None = None
    confidence: dict[str, Any] | None = None

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a data frame: see :meth:`labelsieve.Sieve.to_frame`."""
        return frame_of_columns(self.selection.table(), backend)

    def __str__(self) -> str:
        text = report_function("selection_text")
        return str(text(self.selection, redundant=self.redundant, confidence=self.confidence))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(report_function("notebook_view")(self.selection))


class SelectionViews:
    """The methods of fitted selectors that show the selection."""

    selected_: NDArray[np.intp]
    support_: NDArray[np.bool_]
    n_features_in_: int

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        unfitted: str = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)  # type: ignore[call-arg]
        if not _is_fitted(self):
            return unfitted
        columns = self._listed_columns()  # type: ignore[attr-defined]
        names = column_names(None, getattr(self, "feature_names_in_", None), self.n_features_in_, "feature")
        first = ", ".join(names[column] for column in columns[:NAMED]) + (", ..." if len(columns) > NAMED else "")
        return f"{unfitted}  # {len(columns)} of {self.n_features_in_} features{': ' if first else ''}{first}"

    def __str__(self) -> str:
        return f"{super().__repr__()}\n{self.summary()}" if _is_fitted(self) else repr(self)

    def _html_repr(self) -> str:
        """The diagram of scikit-learn and, of a fitted selector, the table and the scores."""
        diagram: str = estimator_html_repr(self)
        return diagram + self.summary()._repr_html_() if _is_fitted(self) else diagram

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        return {**bundle, "text/plain": str(self)}

    @property
    def ranking_(self) -> NDArray[np.intp]:
        """Rank of every feature: 1 for the first selected one. As in scikit-learn's ``RFE``, low ranks are the best.

        Selected features are ranked in order of selection (``RFE`` gives all of them rank 1), the others behind them by
        ``feature_scores_``, ties by column; where there are no such scores, and for excluded features, they share the rank
        behind all others. Where every label has a list, shape (n_targets, n_features).
        """
        check_is_fitted(self)
        if np.ndim(self.selected_) == 2:
            return np.array([_ranks(row[row >= 0], self.n_features_in_) for row in self.selected_])
        scores = getattr(self, "feature_scores_", None)
        if scores is None:
            return _ranks(self.selected_, self.n_features_in_)
        order = np.argsort(-scores, kind="stable")
        left_out = set(self._columns(getattr(self, "excluded", ()), "excluded"))  # type: ignore[attr-defined]
        rest = [int(column) for column in order if not self.support_[column] and int(column) not in left_out]
        return _ranks(np.array([*self.selected_, *rest], dtype=np.intp), self.n_features_in_)

    def summary(
        self,
        X: TableLike | None = None,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        label_names: Names = None,
        redundant: float | None = None,
        stability: Stability | int | None = None,
        confidence: float | None = None,
    ) -> Summary:
        """The selection as a table of text, which fits the width of the terminal, and of HTML in a notebook.

        A fitted selector keeps no rows: without the data the table has ranks, names, scores and, where the criterion computes
        it anyway, the relevance of every feature alone. With ``X`` and ``y``, the data of ``fit``, also redundancy,
        complementarity, the information added, and the label that a feature is most informative about; ``redundant`` and
        ``stability`` add more. Parameters are those of :meth:`selection`; ``confidence``, such as 0.95, adds confidence limits
        of the information and confidence sets of the ranks: see :meth:`information_confidence`.

        Examples
        --------
        >>> from labelsieve import Sieve
        >>> from labelsieve.datasets import make_feature_roles
        >>> data = make_feature_roles(n_rows=300)
        >>> Sieve("jmi", n_features_to_select=2).fit(data.X, data.Y).summary(names=data.feature_names)
        jmi: 2 of 28 features (single); scores in nats.
        <BLANKLINE>
        rank   feature        score   relevance
        ───────────────────────────────────────
           1   relevant-22   0.6536      0.6536
           2   relevant-12   1.2737      0.3480
        """
        selection = self._shown(X, y, names, label_names, redundant, stability)
        if confidence is None:
            return Summary(selection, redundant)
        if X is None or y is None:
            raise InputError("summary: confidence needs X and y, the data of fit.")
        table = self.information_confidence(  # type: ignore[attr-defined]
            X, y, confidence=confidence, names=names, label_names=label_names, backend="dict"
        )
        return Summary(selection, redundant, {**table, "confidence": confidence})

    def to_frame(
        self,
        X: TableLike | None = None,
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
        table = self._shown(X, y, names, label_names, redundant, stability).table()
        return frame_of_columns(table, backend, X)

    def _shown(
        self,
        X: TableLike | None,
        y: TargetsLike | None,
        names: Names,
        label_names: Names,
        redundant: float | None,
        stability: Stability | int | None,
    ) -> Selection:
        counted = X is not None and y is not None
        options = {"names": names, "label_names": label_names, "redundant": redundant, "stability": stability}
        selection: Selection = self.selection(X, y, components=counted, **options)  # type: ignore[attr-defined]
        return selection

    def plot(
        self,
        X: TableLike | None = None,
        y: TargetsLike | None = None,
        *,
        names: Names = None,
        n_shown: int = 30,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the selected features and their scores: see :func:`labelsieve.report.figures.ranking`.

        With the data of ``fit`` the bars are the components of :meth:`information_components`, which mean the same for every
        criterion.
        """
        check_is_fitted(self)
        components = None if X is None else self.information_components(X, y)  # type: ignore[attr-defined]
        return figure_function("ranking")(self, names=names, components=components, n_shown=n_shown, ax=ax)

    def plot_information(
        self,
        X: TableLike,
        y: TargetsLike,
        *,
        names: Names = None,
        label_names: Names = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the information per label: see :func:`labelsieve.report.figures.information_map`."""
        columns, table = self._label_information(X, y)  # type: ignore[attr-defined]
        given = getattr(self, "feature_names_in_", None) if names is None else names
        features = column_names(X, given, self.n_features_in_, "feature")
        label_names = getattr(self, "label_names_", None) if label_names is None else label_names
        named = label_names is not None or is_frame(y)
        labels = column_names(y, label_names, table.shape[1], "label") if named else None
        return figure_function("information_map")(
            table, features=[features[column] for column in columns], labels=labels, ax=ax
        )


def _is_fitted(selector: object) -> bool:
    return hasattr(selector, "support_") and hasattr(selector, "selected_")


def _ranks(order: NDArray[np.intp], n_features: int) -> NDArray[np.intp]:
    """Ranks from 1 of the columns in order; all others share the rank behind them."""
    ranks = np.full(n_features, len(order) + 1, dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks
