"""QuadraticSieve: all features weighted at once by a quadratic program."""

import math
import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from labelsieve.counting.backends.factory import CountingOptions
from labelsieve.counting.checked_features import from_device
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, parameter
from labelsieve.counting.codes import Codes
from labelsieve.counting.workspace import Workspace
from labelsieve.discretize import Discretizer, one_table
from labelsieve.errors import InputError, is_whole
from labelsieve.labelspace.base_space import CountingInput, RandomState
from labelsieve.progress import progress_bar
from labelsieve.registry import methods_of, resolve_method
from labelsieve.search import QuadraticProgram
from labelsieve.search.redundancy_matrix import Nystrom, Redundancy
from labelsieve.search.simplex import one_blas_thread
from labelsieve.selectors.base import COUNT, Count
from labelsieve.selectors.base_counting import BaseCountingSieve
from labelsieve.selectors.selector_input import named_labels
from labelsieve.table_types import TableLike, TargetsLike, WeightsLike


@dataclass(eq=False, repr=False)
class QuadraticSieve(BaseCountingSieve):
    r"""Select features by weights that balance the relevance and redundancy of all features jointly.

    .. math:: \min_w \; \tfrac12 (1 - a) \, w' H w - a \, F' w \quad \text{with } w \ge 0, \; \sum_i w_i = 1

    where :math:`H_{ij} = I(x_i; x_j)`, :math:`H_{ii} = H(x_i)`, :math:`F_i = \frac1q \sum_y I(x_i; y)`, in bits, and
    :math:`a = \bar H / (\bar H + \bar F)` with means over all :math:`d^2` and :math:`d` entries. For many labels this is
    MLQPFS (Soheili and Eftekhari Moghadam, eq. 5 and 8 to 12); for one target it is QPFS (Rodriguez-Lujan, Huerta, Elkan and
    Cruz 2010).

    Parameters
    ----------
    criterion : {"mlqpfs", "qpfs"}, default="mlqpfs"
        For any number of targets, or for exactly one: with one target they are the same.
    discretizer : str, Discretizer, dict or None, default="equal-width"
        As for :class:`Sieve`; five bins of equal width are the default of the published method.
    forced : sequence of int or str, default=()
        Columns, by number or name, that are always selected. They are first in ``selected_``; their weights are not changed.
    n_features_to_select : int, float, str, StoppingRule or None, default=10
        A number, a fraction of all, None for a ranking of all, or a rule that uses the weights (``ScoreThreshold``, in shares
        of the largest with ``relative=True``, or ``Knee(of="score")``) or predictions (``CrossValidated``).
    excluded : sequence of int or str, default=()
        Columns, by number or name, that the program leaves out: their weights are 0 and the means leave them out.
    alpha : float between 0 and 1, default=None
        :math:`a`; by default from the means as above (eq. 12). 1 is relevance alone, 0 redundancy alone. It is 1 when no
        feature is informative, and 0 when all are constant.
    mean : "exact" or int, default="exact"
        ``"exact"``: the mean of :math:`H` over all columns, which are counted block by block and not kept; or the number of
        columns, drawn at random, that estimate it.
    shift : float or "auto", default=0.0
        Added to the diagonal of :math:`H`. Mutual information need not make a positive semi-definite matrix. With 0 the weights
        fulfill the Karush-Kuhn-Tucker conditions of the program as published; if ``curvature_`` is negative, other points do
        so, too, and the weights may not be a minimum. With "auto" the shift is raised until the matrix is positive
        semi-definite among the features that have weight. **A shifted program is another one**: its solution spreads the weight
        over more features and is not a solution of the original.
    nystrom : int or float, default=None
        Replace :math:`H` by its Nyström approximation from this many columns, or from this fraction of them, drawn at random.
        The mean is then that of the approximation, and ``mean`` is not used.
    tol : float, default=1e-8
        Stop when ``optimality_`` is not larger.
    max_iter : int, default=10_000_000
        The largest number of steps; a warning is issued when they were not enough.
    memory_limit : int, default=2**30
        Bytes of columns of :math:`H` to keep; others are counted again when they are needed.
    random_state : int or RandomState, default=0
        Seed of the columns that are drawn at random.

    Attributes
    ----------
    weights_ : ndarray of float, shape (n_features,)
        The weights :math:`w`.
    selected_ : ndarray of int
        Columns by decreasing weight; features without weight follow by increasing reduced cost, the difference of their
        gradient to that of features with weight.
    scores_, feature_scores_ : ndarray of float
        The weight, or the negative reduced cost in bits, of selected features and of all.
    alpha_ : float
        The :math:`a` that was used.
    objective_ : float
        The minimized objective, with the shift, in bits.
    optimality_ : float
        The largest difference between the gradient of a feature with weight and the lowest gradient, as a fraction of
        :math:`\frac12 (1-a) w'Hw + a F'w`, or of :math:`10^{-4} ((1-a) \max H_{ii} + a \max F_i)` if that is more. If the
        matrix is positive semi-definite, the objective exceeds the minimum by at most this fraction.
    shift_ : float
        What was added to the diagonal, in bits.
    curvature_ : float
        The smallest eigenvalue of :math:`H` with its shift among the features that have weight, in bits, or the smallest
        curvature of the iterations if that is lower. For more than 128 such features it is an upper bound by Lanczos' method.
    n_iter_ : int
        Number of steps; each changes two weights.

    Notes
    -----
    Cost: the mean counts all pairs of features once, in blocks; the solver counts the columns of features that have or nearly
    have weight, and a step costs twice as many multiplications as there are such features. :math:`H` is never in memory as a
    whole. The result does not depend on ``n_jobs``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 1] > 0.5])
    >>> sieve = QuadraticSieve(n_features_to_select=2).fit(X, Y)
    >>> sieve.selected_
    array([3, 1])
    >>> sieve.optimality_ <= 1e-8, round(float(sieve.weights_.sum()), 12)
    (True, 1.0)
    """

    criterion: Literal["mlqpfs", "qpfs"] = parameter("mlqpfs", StrOptions(methods_of("QuadraticSieve")))
    _: KW_ONLY
    discretizer: str | Discretizer | dict[Any, Any] | None = "equal-width"
    alpha: float | None = parameter(None, Interval(Real, 0, 1, closed="both"))
    mean: Literal["exact"] | int = parameter("exact", StrOptions({"exact"}), AT_LEAST_ONE)
    shift: float | Literal["auto"] = parameter(0.0, StrOptions({"auto"}), NOT_NEGATIVE)
    nystrom: Count = parameter(None, *COUNT)
    tol: float = parameter(1e-8, POSITIVE)
    max_iter: int = parameter(10_000_000, AT_LEAST_ONE)
    memory_limit: int = parameter(2**30, Interval(Integral, 0, None, closed="left"))
    random_state: RandomState = 0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Weigh the features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        X, y = from_device(X), from_device(y)
        if self.estimator == "shrinkage":
            raise InputError("QuadraticSieve: estimator='shrinkage' needs whole tables of all pairs; use 'plugin', or Sieve.")
        y = named_labels(self, y)
        method = resolve_method(
            "mim", discretizer=self.discretizer, target_discretizer=self.target_discretizer, missing=self.missing
        )
        tables, _ = self._read(X, y, sample_weight, method)
        data: CountingInput = one_table(tables, "QuadraticSieve")
        features, targets, options = data.X, data.Y, self._counting_options(data.weights)
        if self.criterion == "qpfs" and targets.n_columns != 1:
            raise InputError(
                f"QuadraticSieve('qpfs') is for one target and Y has {targets.n_columns} columns; use criterion='mlqpfs'."
            )
        forced, excluded = self._checked_columns()
        free = np.setdiff1d(np.arange(features.n_columns), excluded)
        workspace = Workspace(features, targets, options)
        relevance = self._relevance(workspace)[free]
        # Its threads would change last bits, and wait for each other most of the time.
        with one_blas_thread():
            program = self._program(features, options, free, relevance)
            if self.shift == "auto":
                program.solve_shifted()
            else:
                program.solve()
            self.curvature_ = program.curvature()
        self.optimality_, self.objective_ = program.optimality, program.objective
        self.shift_, self.n_iter_ = float(program.shift), program.n_steps
        if self.optimality_ > self.tol:
            warnings.warn(
                f"QuadraticSieve stopped after {self.n_iter_} steps with optimality {self.optimality_:.1e}, above "
                f"tol={self.tol}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        everywhere = np.zeros((2, self.n_features_in_))
        everywhere[:, free] = program.weights, program.scores()
        self.weights_ = everywhere[0]
        ranked = free[np.lexsort((program.gradient, -program.weights))]  # stable: ties to the lowest column
        ranked = ranked[np.argsort(np.isin(ranked, self._last(workspace)), kind="stable")]
        order = np.concatenate([np.array(forced, dtype=np.intp), ranked[~np.isin(ranked, forced)]])
        self.feature_scores_ = everywhere[1]
        self._keep_first(order, everywhere[1][order], len(forced), X, y, sample_weight)
        return self

    def _relevance(self, space: Workspace) -> NDArray[np.float64]:
        """Mean information about the targets, in bits; sums of integers until the last step."""
        q, fixed = space.Y.n_columns, space.fixed
        shared = space.backend.pairs(reduce="sum") - q * space.feature_sums - (int(space.target_sums.sum()) - q * fixed.top)
        relevance = fixed.information(shared) / (q * math.log(2))
        return np.maximum(relevance, 0.0) if self.estimator == "plugin" else relevance

    def _program(
        self, X: Codes, options: CountingOptions, free: NDArray[np.intp], relevance: NDArray[np.float64]
    ) -> QuadraticProgram:
        redundancy = Redundancy(X, options, columns=free, memory_limit=self.memory_limit)
        matrix = redundancy if self.nystrom is None else Nystrom(redundancy, self._draw(self.nystrom, len(free)))
        if self.alpha is not None:
            self.alpha_ = float(self.alpha)
        else:
            with progress_bar(f"{self.criterion}: mean redundancy") as progress:
                if isinstance(matrix, Nystrom):
                    mean = matrix.mean()
                elif self.mean == "exact" or int(self.mean) >= len(free):
                    mean = matrix.mean(progress)
                else:
                    mean = matrix.sampled_mean(self._draw(self.mean, len(free)), progress)
            total = mean + float(relevance.mean())
            self.alpha_ = min(max(mean / total, 0.0), 1.0) if total > 0 else 0.0
        shift = 0.0 if self.shift == "auto" else float(self.shift)
        return QuadraticProgram(
            matrix, relevance, self.alpha_, shift, tolerance=self.tol, max_steps=self.max_iter, n_jobs=self.n_jobs
        )

    def _draw(self, size: int | float, n_features: int) -> NDArray[np.intp]:
        """Features at random, in rising order."""
        wanted = int(size) if is_whole(size) else max(1, round(size * n_features))
        drawn = check_random_state(self.random_state).choice(n_features, size=min(wanted, n_features), replace=False)
        return np.sort(drawn).astype(np.intp)
