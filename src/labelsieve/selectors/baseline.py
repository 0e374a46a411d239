"""BaselineSieve: baselines that do not use the labels."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from labelsieve.counting.checked_features import check_features
from labelsieve.counting.checked_parameters import parameter
from labelsieve.counting.cut_points import require_finite
from labelsieve.counting.magnitude import check_magnitude
from labelsieve.counting.number_table import NumberTable, read_table
from labelsieve.counting.row_weights import read_weights
from labelsieve.labelspace.base_space import RandomState
from labelsieve.registry import methods_of
from labelsieve.selectors.base import N_FEATURES, BaseSieve, Count
from labelsieve.table_types import ColumnsLike, TableLike, TargetsLike, WeightsLike


@dataclass(eq=False, repr=False)
class BaselineSieve(BaseSieve):
    r"""Select features without using the labels.

    Parameters
    ----------
    criterion : {"random", "variance", "all"}, default="random"
        A random order; the columns of largest variance :math:`\frac1N \sum_i (x_i - \bar x)^2` of their values, unscaled,
        so that units matter; or all columns in order, whatever ``n_features_to_select`` says.
    n_features_to_select : int, float, str or None, default=10
        A number (all, if there are fewer), a fraction of all, ``"all"`` or None for all.
    random_state : int, RandomState or None, default=0
        For the random order.

    Attributes
    ----------
    scores_, feature_scores_ : ndarray of float
        Variances of selected features and of all; otherwise values that decrease from 1 to 0 by rank.

    Notes
    -----
    Cost: one pass over X for the variance; nothing for the others. Columns of text are numbered by their sorted values.

    Examples
    --------
    >>> BaselineSieve("variance", n_features_to_select=1).fit([[0, 5], [1, 9]]).selected_
    array([1])
    """

    criterion: Literal["random", "variance", "all"] = parameter("random", StrOptions(methods_of("BaselineSieve")))
    _: KW_ONLY
    n_features_to_select: Count = parameter(10, *N_FEATURES)
    forced: ColumnsLike = parameter((), "array-like")
    excluded: ColumnsLike = parameter((), "array-like")
    random_state: RandomState = 0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Put the features of ``X`` in order; ``y`` is not used."""
        X = check_features(self, X)
        table = read_table(X)
        require_finite(table, allow_missing=False)
        weights = read_weights(sample_weight, X.shape[0])
        forced, excluded = self._checked_columns()
        d = self.n_features_in_
        falling = np.linspace(1.0, 0.0, d)
        if self.criterion == "variance":
            scores = _variances(table, weights)
        elif self.criterion == "random":
            scores = falling[check_random_state(self.random_state).permutation(d)]
        else:
            scores = falling
        order = np.argsort(-scores, kind="stable")
        order = order[~np.isin(order, [*forced, *excluded])]  # ties go to the lowest column
        available = d - len(excluded)
        wanted = available if self.criterion == "all" else max(self._n_wanted(available), len(forced))
        selected = np.array([*forced, *order][:wanted], dtype=np.intp)
        self.feature_scores_ = scores
        self._set_selected(selected, scores[selected])
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _variances(table: NumberTable, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Of every column, one after the other, so that a sparse table gives the same bits as a dense one."""
    check_magnitude("BaselineSieve('variance')", table.sparse if table.dense is None else table.dense, "X", weights)
    variances = np.empty(table.shape[1])
    for j in range(len(variances)):
        values = table.sparse[:, [j]].toarray()[:, 0] if table.dense is None else table.dense[:, j]
        values = np.ascontiguousarray(values, dtype=np.float64)
        centered = values - values[0]  # a constant column is exactly that
        centered -= np.average(centered, weights=weights)
        variances[j] = np.average(centered * centered, weights=weights)
    return variances
