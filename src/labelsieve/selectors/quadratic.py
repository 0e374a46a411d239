"""QuadraticSieve: weights of all features jointly by a quadratic program (MLQPFS)."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from labelsieve import core
from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions, make_backend
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.workspace import Workspace
from labelsieve.discretize import AsGiven, Discretizer, one_table
from labelsieve.errors import InputError, is_whole, warn
from labelsieve.labelspace.base import CountingInput, RandomState
from labelsieve.parameters import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, Interval, StrOptions, checked_fit, parameter
from labelsieve.progress import progress_bar
from labelsieve.registry import methods_of, resolve_method
from labelsieve.resources import n_threads, one_blas_thread
from labelsieve.search import QuadraticProgram
from labelsieve.selectors.base import COUNT, Count, Result
from labelsieve.selectors.counting import BaseCountingSieve
from labelsieve.tables.codes import Codes
from labelsieve.tables.nominal import warn_of_bias, warn_of_single_levels
from labelsieve.tables.problem import Problem
from labelsieve.tables.types import TableLike, TargetsLike, WeightsLike

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]

LARGEST_WHOLE = 4096  # features whose matrix may be stored as a whole: 128 MB
BLOCK = 64  # columns counted together for the mean: larger blocks are hardly faster, and each doubling costs a bit
_LOW = 20  # bits
_ROUNDING = 1e-12  # smaller eigenvalues, relative to the largest


class Redundancy:
    """:math:`H_{ij} = I(x_i; x_j)` with :math:`H_{ii} = H(x_i)`, in bits, for some columns in ascending order.

    At most ``memory_limit`` bytes of columns are kept; the least recently used one is dropped first. Every entry is an integer
    of fixed point before it becomes a number, so columns and the mean do not depend on threads. Cost: a column takes one pass
    over pairs; the mean all columns, counted in blocks, a fourth of that or less.

    >>> matrix = Redundancy(Codes.from_values([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    >>> matrix.column(0)
    array([1., 1., 0.])
    >>> round(matrix.mean() * 9, 9)
    5.0
    """

    def __init__(
        self,
        X: Codes,
        options: CountingOptions = DEFAULT_OPTIONS,
        *,
        columns: NDArray[np.intp] | None = None,
        memory_limit: int = 2**30,
    ) -> None:
        self._columns = np.arange(X.n_columns) if columns is None else columns
        self._all = len(self._columns) == X.n_columns
        self._fixed = FixedPoint.for_data(X.n_rows, options.weights, n_targets=BLOCK, estimator=options.estimator)
        self._backend = make_backend(X, X, self._fixed, options)
        self._threads = core.Threads(n_threads(options.n_jobs))
        self._sums = self._of_columns(self._backend.singles()[0])
        self._whole: Array | None = None
        self._total: int | None = None  # of all entries, in fixed point
        self._kept: OrderedDict[int, Array] = OrderedDict()
        self._may_store = len(self._columns) <= LARGEST_WHOLE and 8 * len(self._columns) ** 2 <= memory_limit
        self._most_kept = max(2, memory_limit // (8 * len(self._columns)))

    def __len__(self) -> int:
        return len(self._columns)

    @cached_property
    def diagonal(self) -> Array:
        """Return the diagonal of the matrix: the entropies of the features."""
        return self._bits(self._fixed.top - self._sums)

    def column(self, j: int) -> Array:
        """Return column ``j``, which must not be modified."""
        if self._whole is not None:
            row: Array = self._whole[j]  # it is symmetric
            return row
        if j in self._kept:
            self._kept.move_to_end(j)
            return self._kept[j]
        feature = int(self._columns[j])
        pairs = self._backend.pairs(targets=slice(feature, feature + 1))[:, 0]
        column = self._bits(self._of_columns(pairs) - self._sums - (int(self._sums[j]) - self._fixed.top))
        self._kept[j] = column
        if len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)
        return column

    def whole(self, *, counted: bool = False) -> Array | None:
        """All columns, which must not be modified; None if they exceed the memory limit or 4,096 features.

        With ``counted``, only if they are stored already, as after :meth:`mean`.
        """
        if self._may_store and self._whole is None and not counted:
            self._count_all(None)
        return self._whole

    def _count_all(self, progress: Progress | None) -> None:
        """Count all columns in blocks, for their sum and, if they may be stored, to keep them; a pair is counted once."""
        matrix = np.empty((len(self), len(self))) if self._may_store else None
        total = 0
        for block in self._blocks():
            first, after = int(block[0]), int(block[-1]) + 1
            margins = self._sums[block] - self._fixed.top
            if matrix is None:
                shared = self._of_columns(self._pairs_of(block, "sum")) - len(block) * self._sums - int(margins.sum())
            else:
                pairs = self._of_columns(self._pairs_of(block))
                shared = core.information_of_pairs(
                    pairs, self._sums, margins, self._fixed.divisor, self._is_plugin, matrix, first, self._threads
                )
            total += _exact_sum(shared[first:after]) + 2 * _exact_sum(shared[after:])
            if progress is not None:
                progress(after, len(self))
        self._whole, self._total = matrix, total

    def _pairs_of(self, block: NDArray[np.intp], reduce: Literal["sum"] | None = None) -> NDArray[np.int64]:
        """Count the columns of a block with all features from its first one on."""
        features = slice(int(self._columns[block[0]]), int(self._columns[block[-1]]) + 1)
        return self._backend.pairs(targets=features, reduce=reduce, first_feature=features.start)

    def mean(self, progress: Progress | None = None) -> float:
        """Return the exact mean of all entries; memory is one block of sums, or the whole matrix if it may be stored."""
        if self._total is None:
            self._count_all(progress)
        assert self._total is not None
        return self._total / (self._fixed.scale * self._fixed.total * math.log(2)) / len(self) ** 2

    def sampled_mean(self, sample: NDArray[np.intp], progress: Progress | None = None) -> float:
        """Estimate the mean from the columns ``sample``; the diagonal is exact, the other entries are estimated."""
        d, diagonal, off_diagonal = len(self), self.diagonal, 0.0
        for done, j in enumerate(map(int, sample)):
            off_diagonal += math.fsum(self.column(j)) - float(diagonal[j])
            if progress is not None:
                progress(done + 1, len(sample))
        return (math.fsum(diagonal) + off_diagonal * d / len(sample)) / d**2

    def _of_columns(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        return values if self._all else values[self._columns]

    def _bits(self, fixed: NDArray[np.int64]) -> Array:
        information = self._fixed.information(fixed)
        information /= math.log(2)
        # A plug-in estimate is never negative; the last bit of the fixed point may be.
        return np.maximum(information, 0.0, out=information) if self._is_plugin else information

    @property
    def _is_plugin(self) -> bool:
        return self._fixed.estimator == "plugin"

    def _blocks(self) -> Iterator[NDArray[np.intp]]:
        """Split the columns into runs without gaps, none longer than a block."""
        gaps = np.flatnonzero(np.diff(self._columns) != 1) + 1
        for run in np.split(np.arange(len(self)), gaps):
            yield from np.split(run, range(BLOCK, len(run), BLOCK))


class Nystrom:
    r""":math:`\tilde H = C A^+ C'` with :math:`C` the sampled columns of :math:`H` and :math:`A` their rows in it.

    Rodriguez-Lujan, Huerta, Elkan and Cruz (2010). :math:`\tilde H` is positive semi-definite: eigenvalues of :math:`A` that
    are not positive are left out. Up to those it agrees with :math:`H` in the sampled rows and columns. Cost: one pass over
    pairs for each sampled column, :math:`r^3` for their eigenvalues, and :math:`8 d r` bytes. The products are numpy's: their
    last bits may depend on its threads (the selector allows it one), never on ours.

    >>> matrix = Redundancy(Codes.from_values([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    >>> Nystrom(matrix, np.array([0, 2])).column(1).round(12)
    array([1., 1., 0.])
    """

    def __init__(self, matrix: Redundancy, sample: NDArray[np.intp]) -> None:
        columns = np.column_stack([matrix.column(int(j)) for j in sample])
        values, vectors = np.linalg.eigh(columns[sample])
        positive = values > _ROUNDING * max(values[-1], np.finfo(float).tiny)
        self._factor = columns @ (vectors[:, positive] / np.sqrt(values[positive]))
        self.diagonal: Array = np.einsum("ij,ij->i", self._factor, self._factor)

    def __len__(self) -> int:
        return len(self._factor)

    def column(self, j: int) -> Array:
        """Return column ``j`` of the approximation."""
        column: Array = self._factor @ self._factor[j]
        return column

    def whole(self, *, counted: bool = False) -> Array | None:
        """Return None: the whole matrix is never formed, columns are products with the factor."""
        return None

    def mean(self) -> float:
        """Return the mean of all entries of the approximation."""
        sums = self._factor.sum(axis=0)
        return float(sums @ sums) / len(self) ** 2


def _exact_sum(values: NDArray[np.int64]) -> int:
    """Add up many large integers, whose sum may exceed 64 bits."""
    high, low = values >> _LOW, values & (2**_LOW - 1)
    return (int(high.sum()) << _LOW) + int(low.sum())


@dataclass(eq=False, repr=False)
class QuadraticSieve(BaseCountingSieve):
    r"""Select features by weights that balance the relevance and redundancy of all features jointly.

    .. math:: \min_w \; \tfrac12 (1 - a) \, w' H w - a \, F' w \quad \text{with } w \ge 0, \; \sum_i w_i = 1

    where :math:`H_{ij} = I(x_i; x_j)`, :math:`H_{ii} = H(x_i)`, :math:`F_i = \frac{1}{q} \sum_y I(x_i; y)`, in bits, and
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
        :math:`\frac{1}{2} (1-a) w'Hw + a F'w`, or of :math:`10^{-4} ((1-a) \max H_{ii} + a \max F_i)` if that is more. If the
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

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Weigh the features of ``X`` for the targets ``y``: one column or many, classes or 0/1, dense or sparse."""
        if self.estimator == "shrinkage":
            raise InputError("QuadraticSieve: estimator='shrinkage' needs whole tables of all pairs; use 'plugin', or Sieve.")
        return self._fit(X, y, sample_weight)

    def _select(self, problem: Problem) -> Result:
        method = resolve_method(
            "mim",
            discretizer=self.discretizer,
            target_discretizer=self.target_discretizer,
            missing=self.missing,
            estimator=self.estimator,
        )
        data: CountingInput = one_table(method.encode(problem, self.n_jobs), "QuadraticSieve")
        features, targets, options = data.X, data.Y, self._options(method, data)
        if not isinstance(method.discretizer, AsGiven):
            warn_of_bias(features, method.estimator, list(self.excluded))
        if features.levels.max() == 1 and problem.feature_names is not None:
            warn_of_single_levels(features)
        if self.criterion == "qpfs" and targets.n_columns != 1:
            raise InputError(
                f"QuadraticSieve('qpfs') is for one target and Y has {targets.n_columns} columns; use criterion='mlqpfs'."
            )
        forced, excluded = self._limits(problem)
        free = np.setdiff1d(np.arange(features.n_columns), excluded)
        workspace = Workspace(features, targets, options)
        relevance = _relevance(workspace, method.estimator)[free]
        # Its threads would change last bits, and wait for each other most of the time.
        with one_blas_thread():
            program, alpha = self._program(features, options, free, relevance)
            if self.shift == "auto":
                program.solve_shifted()
            else:
                program.solve()
            curvature = program.curvature()
        if program.optimality > self.tol:
            warn(
                f"QuadraticSieve stopped after {program.n_steps} steps with optimality {program.optimality:.1e}, above "
                f"tol={self.tol}; raise max_iter or tol.",
                ConvergenceWarning,
            )
        everywhere = np.zeros((2, problem.n_features))
        everywhere[:, free] = program.weights, program.scores()
        ranked = free[np.lexsort((program.gradient, -program.weights))]  # stable: ties to the lowest column
        ranked = ranked[np.argsort(np.isin(ranked, self._last(workspace)), kind="stable")]
        order = np.concatenate([np.array(forced, dtype=np.intp), ranked[~np.isin(ranked, forced)]])
        return self._first(
            problem,
            order,
            everywhere[1][order],
            len(forced),
            discretizer=method.discretizer,
            target_discretizer=method.target_discretizer,
            estimator=method.estimator,
            feature_scores=everywhere[1],
            weights=everywhere[0],
            alpha=alpha,
            curvature=curvature,
            optimality=program.optimality,
            objective=program.objective,
            shift=float(program.shift),
            n_iter=program.n_steps,
        )

    def _program(
        self, X: Codes, options: CountingOptions, free: NDArray[np.intp], relevance: NDArray[np.float64]
    ) -> tuple[QuadraticProgram, float]:
        """Make the quadratic program, and find the weight alpha that balances relevance with redundancy."""
        redundancy = Redundancy(X, options, columns=free, memory_limit=self.memory_limit)
        matrix = redundancy if self.nystrom is None else Nystrom(redundancy, self._draw(self.nystrom, len(free)))
        if self.alpha is not None:
            alpha = float(self.alpha)
        else:
            with progress_bar(f"{self.criterion}: mean redundancy") as progress:
                if isinstance(matrix, Nystrom):
                    mean = matrix.mean()
                elif self.mean == "exact" or int(self.mean) >= len(free):
                    mean = matrix.mean(progress)
                else:
                    mean = matrix.sampled_mean(self._draw(self.mean, len(free)), progress)
            total = mean + float(relevance.mean())
            alpha = min(max(mean / total, 0.0), 1.0) if total > 0 else 0.0
        shift = 0.0 if self.shift == "auto" else float(self.shift)
        program = QuadraticProgram(matrix, relevance, alpha, shift, tolerance=self.tol, max_steps=self.max_iter)
        return program, alpha

    def _draw(self, size: int | float, n_features: int) -> NDArray[np.intp]:
        """Draw features at random, and return them in ascending order."""
        wanted = int(size) if is_whole(size) else max(1, round(size * n_features))
        drawn = check_random_state(self.random_state).choice(n_features, size=min(wanted, n_features), replace=False)
        return np.sort(drawn).astype(np.intp)


def _relevance(space: Workspace, estimator: str) -> NDArray[np.float64]:
    """Return the mean information of every feature about the targets, in bits; integers are added until the last step."""
    q, fixed = space.Y.n_columns, space.fixed
    shared = space.backend.pairs(reduce="sum") - q * space.feature_sums - (int(space.target_sums.sum()) - q * fixed.top)
    relevance = fixed.information(shared) / (q * math.log(2))
    return np.maximum(relevance, 0.0) if estimator == "plugin" else relevance
