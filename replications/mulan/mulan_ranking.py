"""A selector that ranks features as Mulan's programs do."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import StrOptions

from labelsieve.discretize import EqualWidth
from labelsieve.parameters import parameter
from labelsieve.registry import PRESETS, resolve_method
from labelsieve.selectors.base import N_FEATURES, BaseSieve, Count
from labelsieve.selectors.sieve import Sieve
from labelsieve.tables.types import TableLike, TargetsLike
from replications.mulan.weka_filters import WekaBins


@dataclass(eq=False, repr=False)
class MulanRanking(BaseSieve):
    """A published method with one score per feature, and Weka's conventions for bins and ties.

    The scores are those of ``Sieve(method)``, except that nominal columns are not discretized, and that bins of equal width
    are :class:`~replications.mulan.WekaBins`. Ties are in :func:`weka_order`, not lowest column first.

    Parameters
    ----------
    method : str, default="mlinfogain"
        The name of a method, such as ``"mlinfogain"`` or ``"br-infogain"``.
    nominal : sequence of int, default=()
        Nominal columns; a study sets them from the data set.
    ties : {"weka", "lowest"}, default="weka"
        The first of equal scores: as Weka sorts, or the lowest column, as elsewhere in this library.
    n_features_to_select : int, float or None, default=None
        As for :class:`labelsieve.Sieve`; None ranks all features.

    Attributes
    ----------
    selected_ : ndarray of int
        Columns, best first.
    feature_scores_ : ndarray of float
        Information gain of every column in nats, combined over the labels where the method does so.

    Notes
    -----
    Cost: that of the method.

    Examples
    --------
    >>> X = [[0, 1, 0, 5], [0, 1, 1, 5], [1, 0, 0, 5], [1, 0, 1, 5]]
    >>> MulanRanking("mlinfogain").fit(X, [[0, 0], [0, 1], [1, 1], [1, 1]]).selected_
    array([1, 0, 2, 3])
    """

    method: str = parameter("mlinfogain", StrOptions(set(PRESETS)))
    _: KW_ONLY
    nominal: Sequence[int] = parameter((), "array-like")
    ties: Literal["weka", "lowest"] = "weka"
    n_features_to_select: Count = parameter(None, *N_FEATURES)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Rank the columns of ``X``."""
        rule = resolve_method(self.method).discretizer
        rule = WekaBins(rule.n_bins) if isinstance(rule, EqualWidth) else rule
        rule = clone(rule).set_params(nominal=list(self.nominal), missing="error")
        sieve = Sieve(self.method, discretizer=rule, n_features_to_select=None, constant_features="score").fit(X, y)
        self.n_features_in_ = sieve.n_features_in_
        self.feature_scores_ = np.empty(self.n_features_in_)
        self.feature_scores_[sieve.selected_] = sieve.scores_
        order = weka_order(self.feature_scores_) if self.ties == "weka" else sieve.selected_
        selected = order[: self._n_wanted(len(order))]
        self._set_selected(selected, self.feature_scores_[selected])
        return self


def weka_order(scores: Sequence[float] | NDArray[np.float64]) -> NDArray[np.intp]:
    """Sort columns from the largest score to the smallest, with ties in the order of Weka's rankers until 2013.

    Those sort in ascending order by Hoare's quicksort, with the middle element as the pivot, and reverse the result. It is
    not stable: ties are neither in ascending nor in descending order of columns. Where many features have no information,
    this order alone determines which of them are selected. It is needed to reproduce old results and is not a good rule:
    elsewhere in this library ties go to the lowest column.

    Cost: about a microsecond for each comparison, ``n log n`` of them.

    Examples
    --------
    >>> weka_order([0.0, 0.0, 0.5, 0.0])
    array([2, 0, 3, 1])
    """
    values = np.asarray(scores, dtype=np.float64).tolist()
    order = list(range(len(values)))
    waiting = [(0, len(values) - 1)]
    while waiting:
        first, last = waiting.pop()
        if first < last:
            middle = _partition(values, order, first, last)
            waiting += [(first, middle), (middle + 1, last)]
    return np.array(order[::-1], dtype=np.intp)


def _partition(values: list[float], order: list[int], low: int, high: int) -> int:
    """Move values below the pivot before those above it; return the end of the lower part."""
    pivot = values[order[(low + high) // 2]]
    while low < high:
        while values[order[low]] < pivot and low < high:
            low += 1
        while values[order[high]] > pivot and low < high:
            high -= 1
        if low < high:
            order[low], order[high] = order[high], order[low]
            low, high = low + 1, high - 1
    return high - 1 if low == high and values[order[high]] > pivot else high
