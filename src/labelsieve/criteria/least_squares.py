"""Criteria that are not information alone: forward least squares, and its combination with information."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from labelsieve.criteria.criterion import Criterion
from labelsieve.errors import not_negative, one_of, share
from labelsieve.tables.types import ColumnsLike

Combine = Literal["sum", "product"]


class LeastSquares(Criterion):
    r"""Forward least squares: each step reduces the squared residuals of a linear model of all targets most.

    .. math:: O(f) = \frac{1}{N} \sum_y \max\Big(0, \frac{(z_f' R_y)^2}{z_f' z_f} - c \, \frac{|R_y|^2}{N}\Big)

    where the centered columns :math:`z_f` and residuals :math:`R_y` are orthogonal to all features selected before: the first
    term is the drop of the sum of squares of the least-squares fit of target y when f is added. A feature of noise lowers it by
    :math:`|R_y|^2 / N` on average; c times that is subtracted, and what is left counts if it is positive. Forward
    selection by least squares is orthogonal least squares (Chen, Billings and Luo 1989), for one target also known as
    orthogonal matching pursuit with renormalized columns (Rebollo-Neira and Lowe 2002); for several targets their drops are
    added up (Tropp, Gilbert and Strauss 2006). The penalty is ours.

    Labels are 0/1 columns, centered and not scaled, so that a label counts by its variance; a target of more classes has a
    column for each. Numeric targets are standardized. Missing values of a numeric feature count as its mean, those of a nominal
    one are a level; unknown targets have the mean of the known ones. A feature with less than 1e-8 of its variance left, given
    the selected ones, scores 0; with less than one per cent left, as in spectra, the drop for a target counts where it is ten
    times that of noise.

    ``Sieve("omp")`` selects by it.

    Parameters
    ----------
    penalty : float, default=2.0
        The factor :math:`c`: 0 counts every drop; 2 is the penalty of Akaike's criterion.
    nominal : "all" or sequence of int or str, default=None
        Columns of numbers that are categories. Text, categories and booleans of a frame are always nominal. None: those that
        the discretizer declares nominal; without a discretizer, all. A nominal feature has a column for each level; its gain is
        that of all with as many times the penalty. Levels of fewer than ten rows are pooled where there are more than 20.

    Notes
    -----
    Cost of each step: one pass over the stored values of X, and one multiplication for every feature and target and for every
    feature and selected feature. X'X is never formed, sparse X stays sparse, a dense X is copied as whole numbers of 24 bits.
    Sums of their products are exact, so that the result does not depend on the order of the rows, threads or chunks.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsieve import Sieve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 3] + X[:, 1] > 0.5])
    >>> Sieve(LeastSquares(penalty=1.0), n_features_to_select=2).fit(X, Y).selected_
    array([3, 1])
    """

    name = "omp"
    paper: ClassVar[str] = "Chen, Billings and Luo 1989; Tropp, Gilbert and Strauss 2006; the penalty c is ours"
    listed = False

    def __init__(self, *, penalty: float = 2.0, nominal: ColumnsLike | None = None) -> None:
        self.penalty, self.nominal = not_negative(penalty, "penalty"), nominal

    def __repr__(self) -> str:
        return f"LeastSquares(penalty={self.penalty!r}, nominal={self.nominal!r})"


class Hybrid(Criterion):
    r"""The sum of two gains, information and least squares, each relative to the best candidate of the step.

    .. math:: J(f) = w_1 \frac{I(f)}{\max_g I(g)} + w_2 \frac{O(f)}{\max(\max_g O(g), \text{noise})}, \quad
              I(f) = \sum_y \max\big(0, \min_{s \in S} I(f; y \mid s)\big)

    with information corrected for bias (Miller and Madow) on bins of equal frequency, :math:`O(f)` the gain of
    :class:`LeastSquares`, and maxima over the features that can still be selected. Both gains are updated with every selected
    feature. Information sees any relation of a feature with a target, but given one selected feature at a time; least squares
    accounts for all selected features together, but sees straight lines only. It is the default of :class:`labelsieve.Sieve`,
    ``Sieve("hybrid")``, with the label space ``"cumulative"`` and the estimator ``"miller-madow"``. The page
    docs/theory/index.md has the derivation.

    Parameters
    ----------
    information : str or Criterion, default="cmim-positive"
        The formula of the first gain. Gains below 0 count as 0.
    linear : LeastSquares, default=None
        The second gain; None: ``LeastSquares()``.
    weights : sequence of two float, default=(1.0, 1.0)
        :math:`w_1` of the information and :math:`w_2` of the least-squares fit; exponents for ``combine="product"``.
    combine : {"sum", "product"}, default="sum"
        Whether the two gains, each relative to its largest, are added or multiplied.
    alpha : float, default=0.01
        Defines the noise in the formula: the level that the largest gain of the least-squares fit exceeds with this probability
        if no feature is linearly related to the residuals. 1: no noise level.

    Notes
    -----
    Missing values are a level for the information and the mean of their feature for the least-squares fit. Cost: that of both
    gains. Scores are relative to the best candidate of their step, so they cannot be compared between steps.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsieve import Sieve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 5))
    >>> Y = np.column_stack([abs(X[:, 3]) > 1, X[:, 1] > 0.5])  # the first label depends on the size of column 3
    >>> Sieve(Hybrid(weights=(2, 1)), n_features_to_select=2).fit(X, Y).selected_
    array([1, 3])
    """

    name = "hybrid"
    paper: ClassVar[str] = "ours; CMIM of Fleuret 2004 corrected for bias, and forward least squares"
    listed = False

    def __init__(
        self,
        information: str | Criterion = "cmim-positive",
        *,
        linear: LeastSquares | None = None,
        weights: Sequence[float] = (1.0, 1.0),
        combine: Combine = "sum",
        alpha: float = 0.01,
    ) -> None:
        one_of(combine, "combine", ("sum", "product"))
        self.information, self.linear, self.weights, self.combine = information, linear, weights, combine
        self.alpha = 1.0 if alpha == 1 else share(alpha, "alpha")

    def __repr__(self) -> str:
        return (
            f"Hybrid({self.information!r}, linear={self.linear!r}, weights={tuple(self.weights)!r}, combine={self.combine!r}, "
            f"alpha={self.alpha!r})"
        )
