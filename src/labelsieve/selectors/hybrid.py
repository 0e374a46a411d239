"""HybridSieve: greedy selection by information and least squares together."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from labelsieve.criteria import Criterion
from labelsieve.discretize.kept_values import AsGiven
from labelsieve.labelspace import LabelSpace
from labelsieve.parameters import NOT_NEGATIVE, parameter
from labelsieve.registry import ResolvedMethod
from labelsieve.search import CombinedGain, Gain, LeastSquaresGain
from labelsieve.search.gains import Combine
from labelsieve.search.least_squares import Basis
from labelsieve.selectors.pursuit import NOMINAL, read_columns
from labelsieve.selectors.sieve import Sieve
from labelsieve.tables.types import ColumnsLike
from labelsieve.tables.weights import Estimator


@dataclass(eq=False, repr=False)
class HybridSieve(Sieve):
    r"""Select features by their gains in information and in a least-squares fit of all targets.

    .. math:: J(f) = w_1 \frac{I(f)}{\max_g I(g)} + w_2 \frac{O(f)}{\max(\max_g O(g), \text{noise})}, \quad
              I(f) = \sum_y \max\big(0, \min_{s \in S} I(f; y \mid s)\big)

    with information corrected for bias (Miller and Madow) on bins of equal frequency, :math:`O(f)` the drop of the squared
    residuals of :class:`labelsieve.selectors.OrthogonalPursuit`, and maxima over the features that can still be selected. Both
    gains are updated with every selected feature. Information sees any relation of a feature with a target, but given one
    selected feature at a time; least squares accounts for all selected features together, but sees straight lines only.

    Parameters
    ----------
    information : str or Criterion, default="cmim-positive"
        The formula of the first gain, as the criterion of :class:`labelsieve.Sieve`. Gains below 0 count as 0.
    targets : str or LabelSpace, default="cumulative"
        The label space of the information: labels and classes as they are, and indicators of the cut points of numeric targets.
        The least-squares fit has labels as 0/1, classes as indicators and standardized numbers.
    estimator : {"plugin", "miller-madow", "shrinkage"}, default="miller-madow"
        Entropy estimator (docs/entropy_estimators.md).
    weights : sequence of two float, default=(1.0, 1.0)
        :math:`w_1` of the information and :math:`w_2` of the least-squares fit; exponents for ``combine="product"``.
    combine : {"sum", "product"}, default="sum"
        Whether the two gains, each relative to its largest, are added or multiplied.
    alpha : float, default=0.01
        Defines the noise in the formula: the level that the largest gain of the least-squares fit exceeds with this probability
        if no feature is linearly related to the residuals. 1: no noise level.
    penalty, basis, nominal
        Of the least-squares fit, as for :class:`labelsieve.selectors.OrthogonalPursuit`. Columns that the discretizer declares
        nominal need not be repeated; without a discretizer all columns are nominal.
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        A number (all, if there are fewer), a fraction of all, ``"all"`` or None for a ranking of all, or a rule of
        :mod:`labelsieve.stopping`. Rules that compare scores of different steps, or that permute targets, are refused: scores
        are relative to the best candidate of their step.

    Attributes
    ----------
    scores_ : ndarray of float
        :math:`J` of each feature when it was selected, at most :math:`w_1 + w_2`.
    score_components_ : dict of ndarray
        The two summands, ``"information"`` and ``"least squares"``.
    criterion_, targets_ : Criterion, LabelSpace
        Those of the information, with their settings.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    labelsieve.Sieve : by information alone; ``Sieve("cmim-positive", estimator="miller-madow")`` is the first gain.
    labelsieve.selectors.OrthogonalPursuit : by least squares alone.

    Notes
    -----
    Missing values are a level for the information and the mean of their feature for the least-squares fit. The page
    docs/hybrid.md has the derivation and comparisons.

    Cost: that of both. Each step counts the tables of all features and targets given the newest feature, as ``"cmim"`` does,
    and adds one pass over the stored values of X and Y and N multiplications for every feature selected before: time grows
    linearly in rows, features and targets, and its second part with the square of the number of selected features.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 5))
    >>> Y = np.column_stack([abs(X[:, 3]) > 1, X[:, 1] > 0.5])  # the first label depends on the size of column 3
    >>> HybridSieve(n_features_to_select=2).fit(X, Y).selected_
    array([1, 3])
    """

    # No parameters here. In studies and on the command line `criterion` is the name of the method.
    criterion: ClassVar[Any]  # type: ignore[misc]
    parents: ClassVar[Any] = None  # type: ignore[misc]
    target_weight: ClassVar[Any] = None  # type: ignore[misc]

    information: str | Criterion = parameter("cmim-positive", str, Criterion, type)
    _: KW_ONLY
    targets: str | LabelSpace = "cumulative"
    estimator: Estimator = "miller-madow"
    weights: Sequence[float] = parameter((1.0, 1.0), "array-like")
    combine: Combine = "sum"
    alpha: float = parameter(0.01, Interval(Real, 0, 1, closed="right"))
    penalty: float = parameter(2.0, NOT_NEGATIVE)
    basis: Basis = "linear"
    nominal: ColumnsLike | None = parameter(None, *NOMINAL)

    @property  # type: ignore[no-redef]
    def criterion(self) -> str | Criterion:  # type: ignore[override]
        """The formula of the information."""
        return self.information

    def explain(self, n_rows: int, n_features: int, n_targets: int, levels: int = 5) -> str:
        """The tables that would be counted for data of this size, the products of the least-squares fit, and the memory."""
        products = n_features * n_targets
        memory = 8e-6 * (n_rows * n_features + products)
        return (
            f"{super().explain(n_rows, n_features, n_targets, levels)}\n"
            f"{'each step:':<11} {'least squares: products of columns and targets':<44} {products:>10,} products\n"
            f"{'memory:':<11} numbers {memory:.1f} MB, less for sparse features"
        )

    def _start(self, *given: Any) -> Any:
        try:
            return super()._start(*given)
        except MemoryError as error:
            remedy = "or select by information alone, Sieve('cmim') or --criterion cmim, which takes sparse tables of any size"
            raise MemoryError(f"{str(error).rstrip('.')}, {remedy}.") from None

    def _combined(
        self, information: Gain, method: ResolvedMethod, data: tuple[Any, Any, Any], unavailable: tuple[int, ...]
    ) -> Gain:
        """Information, and least squares of the same rows."""
        X, targets, weights = self._rows(*data, method.target_discretizer)
        nominal = self.nominal
        if nominal is None:  # codes are levels, whatever their numbers
            nominal = "all" if isinstance(method.discretizer, AsGiven) else getattr(method.discretizer, "nominal", None)
        columns = read_columns(X, nominal, self.basis, weights, self.n_jobs)
        linear = LeastSquaresGain(columns, targets, penalty=self.penalty, n_jobs=self.n_jobs)
        gains = {"information": information, "least squares": linear}
        return CombinedGain(
            gains, self.n_features_in_, self.weights, combine=self.combine, unavailable=unavailable, alpha=self.alpha
        )
