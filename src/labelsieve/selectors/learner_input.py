"""Selectors that calculate with features, for tables that have nominal columns or missing cells."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from labelsieve.classifiers.learner_features import LearnerFeatures, scaled_rows
from labelsieve.table_types import TableLike, TargetsLike


@dataclass(eq=False, repr=False)
class _OnIndicators(BaseEstimator):  # type: ignore[misc]
    """A selector that calculates with the features, for a table with nominal columns or missing cells.

    It ranks indicators of levels and numbers with their means in the gaps; a feature has the rank of its best column.
    """

    selector: BaseEstimator
    n_features_to_select: int | None = None

    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Rank the columns, and the features by them."""
        features = LearnerFeatures(X)
        matrix, ends = features.columns(range(features.n_features))
        filled, _ = scaled_rows(None, matrix, matrix[:1])
        ranking = clone(self.selector).set_params(n_features_to_select=None).fit(filled, y)
        owners = np.searchsorted(ends, ranking.selected_, side="right")
        first = np.sort(np.unique(owners, return_index=True)[1])[: self.n_features_to_select]
        self.selected_, self.scores_ = owners[first].astype(np.intp), ranking.scores_[first]
        return self


def for_table(selector: BaseEstimator, features: LearnerFeatures) -> Any:
    """The selector, or one on indicators if it calculates and the features have gaps."""
    if not features.has_gaps or get_tags(selector).input_tags.allow_nan:
        return selector
    return _OnIndicators(selector)
