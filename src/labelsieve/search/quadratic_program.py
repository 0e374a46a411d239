"""Quadratic programs over the simplex."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.linalg.blas import dsymv

from labelsieve import core

Array = NDArray[np.float64]

_CALL = 2e7  # multiplications of one call, some hundredths of a second: an interrupt waits for one at the most
_LARGEST_EXACT = 128  # rows up to which all eigenvalues are computed
_STEPS = 60  # of Lanczos' method for larger matrices, at the most
_CHECKED = 6  # steps after which the estimate is tested
_SETTLED = 3e-3  # of the estimate is its residual: its error is smaller, as the square
_NOTHING = 1e-9  # of the residual, when the steps span the whole space


class PairSteps(NamedTuple):
    """The number of steps, the violation of optimality after them, and the smallest curvature met."""

    steps: int
    violation: float
    curvature: float


def pair_steps(matrix: Array, weights: Array, gradient: Array, *, tolerance: float, max_steps: int) -> PairSteps:
    r"""Lower :math:`\frac{1}{2} w'Qw + c'w` over weights that are not negative and keep their sum, two at a time, in place.

    ``gradient`` is :math:`Qw + c`. It ends when no positive weight has a gradient more than ``tolerance`` above the lowest one:
    the conditions of Karush, Kuhn and Tucker. A direction without positive curvature is followed to its end, so the
    conditions are reached whether or not ``matrix`` is positive semi-definite.

    Cost: two rows of ``matrix`` for each step.

    >>> weights, gradient = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    >>> pair_steps(np.eye(2), weights, gradient, tolerance=1e-9, max_steps=100)
    PairSteps(steps=1, violation=0.0, curvature=2.0)
    >>> weights
    array([0.5, 0.5])
    """
    at_once = max(1000, int(_CALL / max(1, len(weights))))
    steps, violation, curvature = 0, np.inf, np.inf
    while True:
        allowed = min(at_once, max_steps - steps)
        done, violation, smallest = core.pair_steps(matrix, weights, gradient, tolerance, allowed)
        steps, curvature = steps + done, min(curvature, smallest)
        if done < allowed or steps >= max_steps:
            return PairSteps(steps, violation, curvature)


def smallest_eigenvalue(matrix: Array) -> float:
    """Return the smallest eigenvalue of a symmetric matrix; for a large one Lanczos' estimate, which is never below it.

    Cost: the cube of a small size; of a large one up to 60 products with a vector.

    >>> round(smallest_eigenvalue(np.array([[1.0, 2.0], [2.0, 1.0]])), 12)
    -1.0
    """
    n = len(matrix)
    if n <= _LARGEST_EXACT:
        return float(np.linalg.eigvalsh(matrix)[0])
    vectors = np.zeros((_STEPS, n))
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    vector = np.cos(np.arange(n) + 1.0)  # not orthogonal to any feature
    vector /= np.sqrt(vector @ vector)
    for step in range(_STEPS):
        vectors[step] = vector
        vector = dsymv(1.0, matrix.T, vector)  # reads half of the matrix
        diagonal.append(float(vector @ vectors[step]))
        vector -= diagonal[-1] * vectors[step]
        if step > 0:
            vector -= off_diagonal[-1] * vectors[step - 1]
        vector -= (vectors[: step + 1] @ vector) @ vectors[: step + 1]  # of rounding
        off_diagonal.append(float(np.sqrt(vector @ vector)))
        last = step + 1 == _STEPS or off_diagonal[-1] <= _NOTHING
        if last or (step + 1) % _CHECKED == 0:
            lowest, ritz = eigh_tridiagonal(diagonal, off_diagonal[:-1], select="i", select_range=(0, 0))
            if last or off_diagonal[-1] * abs(ritz[-1, 0]) <= _SETTLED * abs(lowest[0]):
                break
        vector /= off_diagonal[-1]
    return float(lowest[0])


Indices = NDArray[np.intp]

FIRST_ROUND = 64  # features that compete with the best one at first; then twice as many newcomers as there are weights
LARGEST_ROUND = 4096  # features in one round, whose block of the matrix is stored: 128 MB
WHOLE = 8  # a round of more than one in so many features: columns one by one take longer than the whole matrix
FLAT = 1e-9  # bits: a negative eigenvalue this small is rounding
SMALL = 1e-4
CARE = 0.05  # of the violation is left by a round: more precision is lost to the next newcomers
FEW = 0.05  # newcomers for each weight: with fewer, the round converges fully
MAX_ROUNDS = 1000


class SymmetricMatrix(Protocol):
    """A symmetric matrix whose columns are computed on demand: the interface that the program uses."""

    @property
    def diagonal(self) -> Array:
        """Return the diagonal of the matrix."""

    def column(self, j: int) -> Array:
        """Return column ``j`` of the matrix."""

    def whole(self, *, counted: bool = False) -> Array | None:
        """All columns, which must not be modified, if they are few enough to be stored; or only if they are stored already."""

    def __len__(self) -> int: ...


@dataclass
class QuadraticProgram:
    r"""Find weights with :math:`\min_w \frac{1}{2} (1 - a) w'(H + sI)w - a F'w`, :math:`w \ge 0`, :math:`\sum w = 1`.

    Rounds of sequential minimal optimization: the features with weight and those whose gradient is lowest form a small
    program, which is solved two weights at a time; then the gradient of all features is brought up to date with the
    columns of the weights that changed. When a round has more than an eighth of the features, the matrix is counted as a
    whole if it can be stored. It ends at a point that satisfies the conditions of Karush, Kuhn and Tucker for all
    features: the minimum if the matrix is positive semi-definite.

    Parameters
    ----------
    matrix : SymmetricMatrix
        :math:`H`.
    relevance : ndarray
        :math:`F`.
    alpha, shift : float
        :math:`a` and :math:`s`.
    tolerance : float, default=1e-08
        Largest ``optimality`` at the end.
    max_steps : int, default=10000000
        Total number of pair steps.

    Attributes
    ----------
    weights, gradient : ndarray
    n_steps : int
        Pairs moved.
    pair_curvature : float
        The smallest along the directions taken, of :math:`H + sI` itself for a direction of length one.

    Examples
    --------
    >>> class Identity:
    ...     diagonal = np.ones(3)
    ...
    ...     def column(self, j):
    ...         return np.eye(3)[j]
    ...
    ...     def whole(self, *, counted=False):
    ...         return np.eye(3)
    ...
    ...     def __len__(self):
    ...         return 3
    >>> program = QuadraticProgram(Identity(), np.array([0.0, 0.5, 0.5]), alpha=0.5)
    >>> program.solve()
    >>> program.weights.round(12)
    array([0. , 0.5, 0.5])
    """

    matrix: SymmetricMatrix
    relevance: Array
    alpha: float
    shift: float = 0.0
    tolerance: float = 1e-8
    max_steps: int = 10_000_000

    def __post_init__(self) -> None:
        self.n_steps = 0
        self.pair_curvature = np.inf
        corners = 0.5 * self._quadratic * (self.matrix.diagonal + self.shift) - self.alpha * self.relevance
        self.weights = np.zeros(len(self.matrix))
        self.weights[int(np.argmin(corners))] = 1.0
        self._members: Indices = np.zeros(0, dtype=np.intp)
        self._block: Array = np.zeros((0, 0))
        self._whole = self.matrix.whole(counted=True)
        self._space: Array | None = None  # for parts of it
        self.gradient = self._exact_gradient()

    @property
    def _quadratic(self) -> float:
        return 1.0 - self.alpha

    @property
    def support(self) -> Indices:
        """Return the features with a positive weight."""
        return np.flatnonzero(self.weights)

    def terms(self) -> tuple[float, float]:
        r"""The quadratic and the linear term, :math:`\frac{1}{2} (1-a) w'(H+sI)w` and :math:`a F'w`."""
        relevance = self.alpha * float(self.weights @ self.relevance)
        return 0.5 * (float(self.weights @ self.gradient) + relevance), relevance

    @property
    def objective(self) -> float:
        """Return the value of the objective at the current weights."""
        quadratic, linear = self.terms()
        return quadratic - linear

    @property
    def multiplier(self) -> float:
        """The Lagrange multiplier of the sum of the weights: at the solution, the gradient of every feature with weight."""
        return float(self.weights @ self.gradient)

    @property
    def violation(self) -> float:
        """Largest gradient of a weighted feature minus the lowest of all: a bound on the gap of a convex program."""
        return max(0.0, float(self.gradient[self.weights > 0].max() - self.gradient.min()))

    @property
    def optimality(self) -> float:
        """The violation relative to the size of both terms, or to a small fraction of their largest possible size."""
        return self.violation / self._scale()

    def _scale(self) -> float:
        quadratic, linear = self.terms()
        most = self._quadratic * float(np.abs(self.matrix.diagonal).max()) + self.alpha * float(np.abs(self.relevance).max())
        return max(abs(quadratic) + abs(linear), SMALL * most) or 1.0

    def scores(self) -> Array:
        """Return the weights, and minus the reduced cost of features without weight."""
        cost = np.maximum(self.gradient - self.multiplier, 0.0)
        return np.where(self.weights > 0, self.weights, 0.0 - cost)

    def solve(self) -> None:
        """Iterate until ``optimality`` is within the tolerance, or ``max_steps`` is reached."""
        for _ in range(MAX_ROUNDS):
            if self.optimality <= self.tolerance:
                self.gradient = self._exact_gradient()
                if self.optimality <= self.tolerance:
                    return
            if self.n_steps >= self.max_steps:
                break
            self._round()
        self.gradient = self._exact_gradient()

    def solve_shifted(self) -> None:
        """Solve, and raise ``shift`` until the matrix is positive semi-definite among the features that have weight then."""
        self.solve()
        while (lowest := self.curvature()) < -FLAT:
            self.shift += _rounded_up(-lowest)
            self._members, self._block = self._members[:0], self._block[:0, :0]
            self.pair_curvature = np.inf
            self.gradient = self._exact_gradient()
            self.solve()

    def curvature(self) -> float:
        r"""The smallest eigenvalue of :math:`H + sI` among the features with weight, or the smallest curvature met if lower.

        Of more than 128 features it is Lanczos' estimate, from above; of more than 4,096 that among the heaviest.
        """
        support = self.support
        if len(support) > LARGEST_ROUND:
            support = np.sort(support[np.argsort(-self.weights[support], kind="stable")[:LARGEST_ROUND]])
        if self._quadratic > 0 and np.array_equal(support, self._members):  # as after the last round
            return min(smallest_eigenvalue(self._block) / self._quadratic, self.pair_curvature)
        if self._whole is not None:
            self._members = self._members[:0]  # whose block is in the same space
            block = self._part_of_whole(support, 1.0, 0.0)
        else:
            block = np.array([self.matrix.column(int(j))[support] for j in support])
        return min(smallest_eigenvalue(block) + self.shift, self.pair_curvature)

    def _round(self) -> None:
        self._gather(self._working_set())
        members = self._members
        before, weights, gradient = self.weights[members], self.weights[members], self.gradient[members]
        goal = 0.5 * self.tolerance * self._scale()
        if np.count_nonzero(before == 0) > FEW * np.count_nonzero(before):
            goal = max(goal, CARE * self.violation)
        done = pair_steps(self._block, weights, gradient, tolerance=goal, max_steps=self.max_steps - self.n_steps)
        self.n_steps += done.steps
        if self._quadratic > 0:
            self.pair_curvature = min(self.pair_curvature, done.curvature / (2 * self._quadratic))
        self.weights[members] = weights
        self._add(self.gradient, members, weights - before)

    def _working_set(self) -> Indices:
        """Return the features of the next round: those with weight, and those with the lowest gradients."""
        support = self.support
        highest = self.gradient[support].max()
        waiting = np.flatnonzero((self.weights == 0) & (self.gradient < highest))
        newcomers = waiting[np.argsort(self.gradient[waiting], kind="stable")]
        newcomers = newcomers[: max(FIRST_ROUND, 2 * len(support))]
        if len(support) + len(newcomers) > LARGEST_ROUND:
            newcomers = newcomers[: LARGEST_ROUND // 2]
            by_gradient = support[np.argsort(self.gradient[support], kind="stable")]
            n_kept = LARGEST_ROUND - len(newcomers)  # the lowest gradients, which grow, and the highest, which shrink
            support = np.concatenate([by_gradient[: n_kept // 2], by_gradient[len(by_gradient) - (n_kept - n_kept // 2) :]])
        members = np.zeros(len(self.matrix), dtype=bool)
        members[support] = members[newcomers] = True
        return np.flatnonzero(members)

    def _gather(self, members: Indices) -> None:
        """Return the rows and columns of the matrix for the members; columns of the last round are not counted again."""
        old = self._members
        if np.array_equal(members, old):
            return
        if self._whole is None and WHOLE * len(members) > len(self.matrix) and self._quadratic > 0:
            self._whole = self.matrix.whole()
        if self._whole is not None:
            self._members = members
            self._block = self._part_of_whole(members, self._quadratic, self._quadratic * self.shift)
            return
        block = np.empty((len(members), len(members)))
        stay, here, there = np.intersect1d(members, old, assume_unique=True, return_indices=True)
        block[np.ix_(here, here)] = self._block[np.ix_(there, there)]
        for position in np.flatnonzero(~np.isin(members, stay)):
            j = int(members[position])
            block[position] = self._quadratic * self.matrix.column(j)[members]
            block[position, position] += self._quadratic * self.shift
            block[:, position] = block[position]
        self._members, self._block = members, block

    def _part_of_whole(self, members: Indices, factor: float, shift: float) -> Array:
        """Rows and columns of the whole matrix, times a factor and with a shift of the diagonal, in the same space."""
        assert self._whole is not None
        n = len(members)
        if self._space is None:
            self._space = np.empty(len(self.matrix) ** 2)
        part = self._space[: n * n].reshape(n, n)
        for position, row in enumerate(members):
            np.take(self._whole[row], members, out=part[position], mode="clip")
        part *= factor
        part[np.diag_indices(n)] += shift
        return part

    def _exact_gradient(self) -> Array:
        gradient = -self.alpha * self.relevance
        support = self.support
        self._add(gradient, support, self.weights[support])
        return gradient

    def _add(self, gradient: Array, features: Indices, weights: Array) -> None:
        if self._quadratic == 0:  # no column is needed at all
            return
        features, weights = features[weights != 0], weights[weights != 0]
        for j, weight in zip(features, weights, strict=True):
            gradient += (self._quadratic * weight) * self.matrix.column(int(j))
            gradient[j] += self._quadratic * weight * self.shift


def _rounded_up(value: float) -> float:
    """Return slightly more than ``value``, in three digits, so that the last bits of an eigenvalue do not matter."""
    digit = 10.0 ** (np.floor(np.log10(value)) - 2)
    return float(np.ceil(1.01 * value / digit) * digit)
