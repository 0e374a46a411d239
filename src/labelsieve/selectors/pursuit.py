"""OrthogonalPursuit: forward least squares for all targets at once."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from labelsieve.discretize.base import positions
from labelsieve.parameters import NOT_NEGATIVE, parameter
from labelsieve.progress import progress_bar
from labelsieve.registry.presets import make_target_discretizer
from labelsieve.search import GreedySearch, LeastSquaresGain
from labelsieve.search.least_squares import Basis, LinearColumns, feature_columns
from labelsieve.selectors.base import N_FEATURES, TARGET_TYPE, BaseSieve, Count
from labelsieve.selectors.selector_input import named_labels
from labelsieve.stopping import StoppingRule
from labelsieve.stopping.curves import stop_search
from labelsieve.tables.frames import read_table
from labelsieve.tables.nominal import declare_nominal
from labelsieve.tables.targets import TargetTypes
from labelsieve.tables.types import ColumnsLike, FloatArray, TableLike, TargetsLike, WeightsLike

BASIS = [StrOptions({"linear", "clipped", "ranks", "quadratic-ranks"})]
NOMINAL: list[Any] = ["array-like", StrOptions({"all"}), None]


def read_columns(
    X: TableLike, nominal: ColumnsLike | None, basis: Basis, weights: FloatArray | None, n_jobs: int | None
) -> LinearColumns:
    """The columns of a linear model; ``nominal`` are columns of numbers that are categories, by number or name."""
    table = read_table(X, allow_missing=True)
    if nominal is not None:
        named = nominal if isinstance(nominal, str) else positions(nominal, table.names, table.shape[1])
        table = declare_nominal(table, named)
    return feature_columns(table, basis=basis, weights=weights, n_jobs=n_jobs)


@dataclass(eq=False, repr=False, kw_only=True)
class OrthogonalPursuit(BaseSieve):
    r"""Select features by orthogonal matching pursuit: each step reduces the squared residuals of all targets most.

    .. math:: O(f) = \frac{1}{N} \sum_y \max\Big(0, \frac{(z_f' R_y)^2}{z_f' z_f} - c \, \frac{|R_y|^2}{N}\Big)

    where the centered columns :math:`z_f` and residuals :math:`R_y` are orthogonal to all features selected before: the first
    term is the drop of the sum of squares of the least-squares fit of target y when f is added. A feature of noise lowers it by
    :math:`|R_y|^2 / N` on average; c times that is subtracted, and what is left counts if it is positive. Forward
    selection by least squares is orthogonal least squares (Chen, Billings and Luo 1989), for one target also known as
    orthogonal matching pursuit with renormalized columns (Rebollo-Neira and Lowe 2002); for several targets their drops are
    added up (Tropp, Gilbert and Strauss 2006). The penalty is ours.

    Labels are 0/1 columns, centered and not scaled, so that a label counts by its variance; a target of more classes has a
    column for each. Numeric targets are standardized.

    Parameters
    ----------
    penalty : float, default=2.0
        The factor :math:`c`: 0 counts every drop; 2 is the penalty of Akaike's criterion.
    basis : {"linear", "clipped", "ranks", "quadratic-ranks"}, default="linear"
        Columns of a numeric feature: its values, values cut at 2.5 standard deviations, its ranks, or its ranks and their
        squares, whose gain is that of both with twice the penalty.
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        A number (all, if there are fewer), a fraction of all, ``"all"`` or None for all in order, or a rule that uses
        scores (:class:`labelsieve.stopping.ScoreThreshold`, ``Knee(of="score")``) or predictions (``CrossValidated``).
    nominal : "all" or sequence of int or str, default=None
        Columns of numbers that are categories. Text, categories and booleans of a frame are always nominal. A
        nominal feature has a column for each level; its gain is that of all with as many times the penalty. Levels of fewer
        than ten rows are pooled where there are more than 20.

    Attributes
    ----------
    scores_ : ndarray of float
        The gain of each when it was selected: the drop of the mean squared residuals less its penalty, added over the targets.
    feature_scores_ : ndarray of float, shape (n_features,)
        Gains of all features: of selected ones when they were selected, of others at the last step.
    target_types_, label_names_, stopping_
        As for :class:`labelsieve.Sieve`.

    See Also
    --------
    labelsieve.HybridSieve : adds the information of features that relate to the targets in other than linear ways.

    Notes
    -----
    Missing values of a numeric feature count as its mean, those of a nominal one are a level; unknown targets have the mean of
    the known ones. A feature with less than one per cent of its variance left, given the selected ones, scores 0; constant
    features are selected when no other is left. ``sample_weight`` repeats rows.

    Cost of each step: one pass over the stored values of X and Y, N multiplications for every feature selected before, and one
    for every feature and target. X'X is never formed, sparse X stays sparse, a dense X is copied as numbers of 8 bytes. No
    choice is random, and sums have a fixed order.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 3] + X[:, 1] > 0.5])
    >>> OrthogonalPursuit(n_features_to_select=2).fit(X, Y).selected_
    array([3, 1])
    """

    penalty: float = parameter(2.0, NOT_NEGATIVE)
    basis: Basis = "linear"
    n_features_to_select: Count | str | StoppingRule = parameter(10, *N_FEATURES, StoppingRule)
    nominal: ColumnsLike | None = parameter(None, *NOMINAL)
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    forced: ColumnsLike = parameter((), "array-like")
    excluded: ColumnsLike = parameter((), "array-like")
    n_jobs: int | None = None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Select features of ``X`` for the targets ``y``: one column or many, classes or numbers, dense or sparse."""
        y = named_labels(self, y)
        rows, targets, weights = self._rows(X, y, sample_weight, make_target_discretizer())
        forced, excluded = self._checked_columns()
        columns = read_columns(rows, self.nominal, self.basis, weights, self.n_jobs)
        gain = LeastSquaresGain(columns, targets, penalty=self.penalty, n_jobs=self.n_jobs)
        search = GreedySearch(gain, self.n_features_in_, forced, excluded, columns.constant_features)
        self.__dict__.pop("stopping_", None)
        if isinstance(rule := self._count, StoppingRule):
            evaluator = self._evaluator(X, y, sample_weight)
            kept, self.stopping_ = stop_search(rule, search, evaluator=evaluator, X=X, Y=y)
        else:
            kept = max(self._n_wanted(search.n_available), len(forced))
            with progress_bar("OrthogonalPursuit: selecting features") as progress:
                search.extend(kept, progress)
        selected, scores = np.array(search.selected, dtype=np.intp), np.array(search.scores)
        self._set_selected(selected[:kept], scores[:kept])
        self.feature_scores_ = np.full(self.n_features_in_, np.nan) if search.last_scores is None else search.last_scores.copy()
        self.feature_scores_[selected] = scores
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
