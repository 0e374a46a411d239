"""How certain the information of the selected features is: confidence limits, and confidence sets of their ranks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelsieve.discoveries import information_intervals, information_ranks
from labelsieve.discretize import one_table
from labelsieve.errors import InputError, share
from labelsieve.labelspace.base import RandomState
from labelsieve.plotting import Axes, figure_function
from labelsieve.registry import DEFAULT_DISCRETIZER, DISCRETIZERS
from labelsieve.selectors.column_frames import Names, column_names, frame_of_columns
from labelsieve.selectors.feature_information import FeatureInformation
from labelsieve.tables.codes import Codes
from labelsieve.tables.types import TableLike, TargetsLike


def of_any_label(confidence: float, n_labels: int) -> float:
    """The level of an interval for each label with which that of a label chosen among all has ``confidence`` (Bonferroni)."""
    return 1 - (1 - share(confidence, "confidence")) / n_labels


class FeatureConfidence(FeatureInformation):
    """The methods of fitted selectors that show how certain the information of selected features is."""

    def information_confidence(
        self,
        X: TableLike,
        y: TargetsLike,
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
        X, y : array-like, frame or sparse matrix
            The data of ``fit``, without missing cells.
        confidence : float, default=0.95
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
            ``feature``, ``label``, ``information`` (nats, corrected for bias), ``lower``, ``upper``, ``first_rank``,
            ``last_rank`` and, of selectors and stopping rules with a false discovery rate, ``q``. Cost: counting the listed
            columns for every bootstrap sample.

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
        table = self._confidence_table(X, y, confidence, method, n_resamples, random_state, n_shown)
        given = getattr(self, "feature_names_in_", None) if names is None else names
        features = column_names(X, given, self.n_features_in_, "feature")
        label_names = getattr(self, "label_names_", None) if label_names is None else label_names
        labels = column_names(y, label_names, self._targets(y).n_columns, "label")
        table["feature"] = [features[column] for column in table["feature"]]
        table["label"] = [labels[column] for column in table["label"]]
        return frame_of_columns(table, backend, X)

    def _confidence_table(
        self,
        X: TableLike,
        y: TargetsLike,
        confidence: float,
        method: str,
        n_resamples: int,
        random_state: RandomState,
        n_shown: int | None,
    ) -> dict[str, list[Any]]:
        check_is_fitted(self)
        columns = self._listed_columns()[:n_shown]
        if not columns:
            raise InputError(f"{type(self).__name__} selected nothing, so there is no information to be certain about.")
        codes, targets = self._selected_codes(X, y, columns)
        options: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "random_state": random_state}
        options["n_jobs"] = getattr(self, "n_jobs", None)
        ranks = information_ranks(codes, targets, **options)
        options["confidence"] = of_any_label(confidence, targets.n_columns)
        found = information_intervals(codes, targets, method=method, **options)
        top = found.estimate.argmax(axis=1)
        at = np.arange(len(columns)), top
        table: dict[str, list[Any]] = {"feature": columns, "label": top.tolist(), "information": found.estimate[at].tolist()}
        table |= {"lower": found.lower[at].tolist(), "upper": found.upper[at].tolist()}
        table |= {"first_rank": ranks[:, 0].tolist(), "last_rank": ranks[:, 1].tolist()}
        q_values = self._feature_q_values()
        return table if q_values is None else {**table, "q": q_values[columns].tolist()}

    def _feature_q_values(self) -> NDArray[np.float64] | None:
        """Of the selector, or of its stopping rule, if they control the false discovery rate."""
        for fitted in (self, getattr(self, "stopping_", None)):
            found = getattr(fitted, "q_values_", None)
            if isinstance(found, np.ndarray) and found.ndim == 1:
                return found
        return None

    def _selected_codes(self, X: TableLike, y: TargetsLike, columns: list[int]) -> tuple[Codes, Codes]:
        """Codes of these columns and of the targets, in the rows in which all targets are known."""
        targets = self._targets(y).codes
        discretizer: Any = getattr(self, "discretizer_", DISCRETIZERS[DEFAULT_DISCRETIZER]())
        rule = discretizer.for_columns(columns, getattr(self, "feature_names_in_", None))
        codes = one_table(rule.encode(self._check_selected(X, columns), targets), "information_confidence")
        return codes, targets

    def plot_confidence(
        self, X: TableLike, y: TargetsLike, *, n_shown: int = 30, ax: Axes | None = None, **options: Any
    ) -> Axes:
        """Draw :meth:`information_confidence`: see :func:`labelsieve.report.figures.information_confidence`."""
        table = self.information_confidence(X, y, n_shown=n_shown, backend="dict", **options)
        return figure_function("information_confidence")(table, confidence=options.get("confidence", 0.95), ax=ax)
