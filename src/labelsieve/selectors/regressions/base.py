"""Selectors that fit a linear model of all targets: reading numbers, iterations, normal equations."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils import check_random_state

from labelsieve.classifiers.neighbor_search import nearest_neighbors
from labelsieve.errors import InputError, warn
from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import AT_LEAST_ONE, NOT_NEGATIVE, checked_fit, parameter
from labelsieve.resources import interruptible
from labelsieve.selectors.base import BaseRanking, Result
from labelsieve.tables.magnitude import moderate_columns
from labelsieve.tables.problem import Problem
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, is_sparse

Real = NDArray[np.float64]
LARGEST_DENSE = 2**27  # cells of a sparse matrix that is made dense: the same scores as for an array; a larger one stays sparse
MOSTLY_ZEROS = 0.1  # the fraction of other values below which linear models get a sparse matrix, whatever the format of X


def class_indicators(targets: Iterable[NDArray[Any]]) -> list[NDArray[np.bool_]]:
    """Return a column for each class of a target with more than two classes, and one for a target with two."""
    levels = [(column, np.unique(column)) for column in targets]
    return [column == level for column, found in levels for level in (found[1:] if len(found) == 2 else found)]


class ModelData(NamedTuple):
    """Features, targets and settings that a model is fitted on.

    ``X`` has unit variance: an array that is centered, or a CSR matrix that is not; for methods without negative numbers it is
    from 0 to 1. ``classes`` and ``numbers`` are the targets of either kind, columns of whole numbers from 0 and of standardized
    numbers.
    """

    X: Matrix
    classes: NDArray[np.int64]
    numbers: Real
    seed: int
    n_jobs: int | None

    @property
    def n_targets(self) -> int:
        return int(self.classes.shape[1] + self.numbers.shape[1])

    def targets(self) -> Iterator[tuple[NDArray[Any], bool]]:
        """Yield every target that is not constant, and whether it is numeric."""
        for table, is_number in ((self.classes, False), (self.numbers, True)):
            for column in table.T:
                if (column != column[0]).any():
                    yield column, is_number

    def indicators(self) -> Real:
        """Return all targets as numbers: a column for each class of a target with more than two, and the numeric ones."""
        return np.column_stack([*class_indicators(self.classes.T), self.numbers]).astype(np.float64)


@dataclass(eq=False, repr=False, kw_only=True)
class BaseModelRanking(BaseRanking):
    """Ranks features by the scores that ``_score`` returns for standardized features.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers; not used by deterministic methods.
    """

    random_state: RandomState = 0
    n_jobs: int | None = None

    _from_0_to_1: ClassVar[bool] = False  # the features, and numeric targets, instead of unit variance
    _keeps_zeros: ClassVar[bool] = False  # tables of mostly zeros are sparse and not centered

    def _score(self, data: ModelData) -> Real:
        """Return a score for every feature."""
        raise NotImplementedError

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Score the features of ``X`` for the targets ``y``: one column or many, classes or numbers, dense or sparse."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        checked = moderate_columns(problem.numbers(type(self).__name__))  # variances must not overflow
        if self._keeps_zeros and _share_of_nonzeros(checked) < MOSTLY_ZEROS:
            checked = sp.csr_array(checked)
        elif is_sparse(checked) and checked.shape[0] * checked.shape[1] <= LARGEST_DENSE:
            checked = checked.toarray()
        # Sums in the same order, whatever the layout in memory.
        rows = checked.tocsr() if is_sparse(checked) else np.ascontiguousarray(checked)
        table = problem.known_targets(type(self).__name__)
        classes = table.classes.to_dense()[:, ~np.asarray(table.is_numeric)].astype(np.int64)
        sparse = not isinstance(rows, np.ndarray)
        if self._from_0_to_1 and not isinstance(rows, np.ndarray) and rows.data.min(initial=0.0) < 0:
            raise InputError(
                f"{type(self).__name__} needs features from 0 on, and X, sparse and too large to be made dense, has negative "
                "values; shift them, or take fewer columns."
            )
        scaler = MinMaxScaler() if self._from_0_to_1 else StandardScaler()
        numbers = scaler.fit_transform(moderate_columns(table.numbers)) if table.numbers.size else table.numbers
        if sparse:
            scaler = MaxAbsScaler() if self._from_0_to_1 else StandardScaler(with_mean=False)
        scaled = scaler.fit_transform(rows)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        try:
            scores = self._score(ModelData(scaled, classes, numbers, seed, self.n_jobs))
        except InputError:
            raise
        except ValueError as error:  # of a model or test of scikit-learn, most often for too few rows
            name, n_rows = type(self).__name__, checked.shape[0]
            raise InputError(f"{name} cannot rank the features by these rows, n_samples = {n_rows}: {error}") from error
        finite = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0, posinf=float(np.finfo(float).max))
        return self._best(problem, finite)


def _share_of_nonzeros(X: Matrix) -> float:
    return float(np.count_nonzero(X.data if is_sparse(X) else X) / (X.shape[0] * X.shape[1]))


SMOOTHING = 1e-12  # added to squared lengths of rows: the penalty is differentiable, and no weight is infinite

_FLOOR = 0.01


@dataclass(eq=False, repr=False, kw_only=True)
class BaseIterativeRanking(BaseModelRanking):
    """Ranks features by the lengths of their rows of coefficients; ``_descend`` runs the steps and monitors the objective.

    Parameters
    ----------
    max_iter : int, default=100
        The largest number of steps; a warning is issued when they were not enough.
    tol : float, default=1e-5
        Stop when a step changes the objective by less than this fraction.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_targets)
        Coefficients W of standardized features; a column for each class of a target with more than two.
    objective_ : ndarray
        At the start and after each step; it does not rise.
    n_iter_ : int
        Number of steps.
    feature_scores_ : ndarray of float, shape (n_features,)
        Lengths of the rows of W.
    """

    max_iter: int = parameter(100, AT_LEAST_ONE)
    tol: float = parameter(1e-5, NOT_NEGATIVE)

    def _coefficients(self, data: ModelData) -> Real:
        """Return a row of coefficients for every feature; set ``objective_`` and ``n_iter_`` by :meth:`_descend`."""
        raise NotImplementedError

    def _score(self, data: ModelData) -> Real:
        self.coef_ = self._coefficients(data)
        return row_lengths(self.coef_)

    def _descend(self, start: float, step: Callable[[], float]) -> None:
        """Take steps, each of which returns the new objective, until it changes by less than ``tol`` of its value.

        Where the objective falls to 0, its value counts as a hundredth of that after the first step.
        """
        objective = [start]
        for _ in range(int(self.max_iter)):
            objective.append(step())
            if abs(objective[-2] - objective[-1]) <= self.tol * max(abs(objective[-2]), _FLOOR * abs(objective[1])):
                break
        else:
            change = abs(objective[-2] - objective[-1]) / max(abs(objective[-2]), np.finfo(float).tiny)
            warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} steps; the last changed the objective by "
                f"{change:.1e} of its value, more than tol={self.tol}. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.objective_, self.n_iter_ = np.array(objective), len(objective) - 1


def row_lengths(W: Real) -> Real:
    """Return the Euclidean length of every row."""
    lengths: Real = np.sqrt((W * W).sum(axis=1))
    return lengths


def l21_norm(W: Real) -> float:
    """Return the sum of the lengths of the rows, smoothed so that it has a derivative at 0."""
    return float(np.sqrt((W * W).sum(axis=1) + SMOOTHING).sum())


def l21_weights(W: Real) -> Real:
    r"""Return the weights of the rows in the quadratic function that is above the norm and meets it at W.

    :math:`\sum_i d_i \left\|v_i\right\|^2` with :math:`d_i = 1 / (2 \left\|w_i\right\|)`: a step that lowers this function
    plus a constant lowers the norm (iteratively reweighted least squares).
    """
    weights: Real = 0.5 / np.sqrt((W * W).sum(axis=1) + SMOOTHING)
    return weights


def scale_columns(X: Matrix, factors: Real) -> Matrix:
    """Multiply every column of X by a factor; X may be dense or sparse."""
    return X.multiply(factors[np.newaxis, :]).tocsr() if is_sparse(X) else X * factors


def neighbor_graph(rows: Matrix, n_neighbors: int, *, binary: bool = False, n_jobs: int | None = None) -> sp.csr_array:
    r"""Build a symmetric graph of rows, with edges between rows of which one is among the nearest of the other.

    Weights are 1 for both directions and 1/2 for one (``binary``), or :math:`\exp(-\left\|x_i - x_j\right\|^2 / w^2)`, w being
    the mean distance of neighbors. There are at most as many neighbors as other rows, and of rows at the same distance the
    first are taken.

    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, binary=True).toarray()
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    n_rows = rows.shape[0]
    n_neighbors = min(n_neighbors, n_rows - 1)
    if n_neighbors < 1:
        return sp.csr_array((n_rows, n_rows))
    found = nearest_neighbors(rows, k=n_neighbors, n_jobs=n_jobs)
    distances = np.ones(len(found.rows)) if binary else np.sqrt(found.squared_distances)
    graph = sp.csr_array((distances, found.rows.astype(np.int64), found.starts), shape=(n_rows, n_rows))
    if binary:
        return sp.csr_array((graph + graph.T) / 2)
    return _kernel_weights(graph)


def graph_of_distances(distances: Real, n_neighbors: int) -> sp.csr_array:
    """Build the graph of :func:`neighbor_graph` from a matrix of distances."""
    n_neighbors = min(n_neighbors, len(distances) - 1)
    if n_neighbors < 1:
        return sp.csr_array(distances.shape)
    return _kernel_weights(sp.csr_array(kneighbors_graph(distances, n_neighbors, mode="distance", metric="precomputed")))


def _kernel_weights(graph: sp.csr_array) -> sp.csr_array:
    scale = float(graph.data.mean())
    graph.data = np.exp(-((graph.data / scale) ** 2)) if scale > 0 else np.ones_like(graph.data)
    return sp.csr_array(graph.maximum(graph.T))


def laplacian(graph: sp.csr_array) -> sp.csr_array:
    """Return the Laplacian of a graph: the diagonal matrix of the degrees minus the weights.

    >>> laplacian(sp.csr_array(np.array([[0.0, 2], [2, 0]]))).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return sp.csr_array(sp.diags_array(np.asarray(graph.sum(axis=1)).ravel()) - graph)


Array = NDArray[np.float64]
LARGEST_SQUARE = 2048  # rows of the largest square matrix that is formed to multiply by: 34 MB
LARGEST_SYSTEM = 10_000  # and of the largest that is factorized: 800 MB; beyond, conjugate gradients take minutes and more
_ROWS_AT_ONCE = 512
_TOLERANCE = 1e-10  # of the residual of conjugate gradients, relative to the right-hand side
_MOST_STEPS = 5000


def gram(X: Matrix) -> Array:
    """Return X'X as a dense matrix."""
    if not is_sparse(X):
        return np.asarray(X.T @ X)
    rows, square = sp.csr_array(X.T), np.empty((X.shape[1], X.shape[1]))
    for start in range(0, len(square), _ROWS_AT_ONCE):  # the product is all but dense: as a sparse matrix it would be larger
        some = slice(start, start + _ROWS_AT_ONCE)
        square[some] = (rows[some] @ X).toarray()
    return square


def multiply_by_gram(X: Matrix) -> Callable[[Array], Array]:
    """Return the map V -> X'XV, by the matrix X'X if it is small and saves work, else by X twice."""
    n_rows, n_columns = X.shape
    if n_columns <= min(n_rows, LARGEST_SQUARE):
        square = gram(X)
        return lambda V: square @ V
    return lambda V: X.T @ (X @ V)


def solve(X: Matrix, B: Array, scale: float, ridge: float) -> Array:
    """Solve (scale X'X + ridge I) Z = B for Z; the ridge is positive.

    Cost: a factorization of the smaller of the two square matrices (Woodbury's identity for wide X), or, when both sides of X
    are beyond 10,000, conjugate gradients with two products by X per step.
    """
    n_rows, n_columns = X.shape
    if scale == 0:
        return B / ridge
    if n_columns <= min(n_rows, LARGEST_SYSTEM):
        return _solve_square(gram(X), B, scale, ridge)
    if n_rows <= LARGEST_SYSTEM:
        inner = _solve_square(gram(X.T), scale * (X @ B), scale, ridge)
        return np.asarray(B - X.T @ inner) / ridge
    squares = (X.multiply(X) if is_sparse(X) else X * X).sum(axis=0)
    diagonal = scale * np.asarray(squares, dtype=np.float64).reshape(-1, 1) + ridge
    return conjugate_gradients(lambda V: scale * (X.T @ (X @ V)) + ridge * V, B, diagonal)


def solve_centered(X: Matrix, B: Array, scale: float, ridge: float) -> Array:
    """Solve the system of :func:`solve` for centered columns: arrays are centered already, a sparse X stays as it is."""
    if not is_sparse(X):
        return solve(X, B, scale, ridge)
    means = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    both = solve(X, np.column_stack([B, means]), scale, ridge)
    Z, of_means = both[:, :-1], both[:, -1:]
    # Sherman and Morrison: the matrix less scale n m m'.
    factor = scale * X.shape[0]
    return np.asarray(Z + factor * of_means * (means @ Z) / (1 - factor * float(means @ of_means[:, 0])))


def _solve_square(square: Array, B: Array, scale: float, ridge: float) -> Array:
    square *= scale
    square[np.diag_indices_from(square)] += ridge
    # Symmetric, so its transpose is the same matrix in the order that LAPACK can work on in place.
    factor = interruptible(lambda: scipy.linalg.cho_factor(square.T, overwrite_a=True, check_finite=False), len(square))
    solution: Array = scipy.linalg.cho_solve(factor, B)
    return solution


def conjugate_gradients(multiply: Callable[[Array], Array], B: Array, diagonal: Array) -> Array:
    """Solve a linear system by conjugate gradients for all columns of B at once; the diagonal preconditions it."""
    Z, residual = np.zeros_like(B), B.copy()
    direction = residual / diagonal
    size = (residual * direction).sum(axis=0)
    goal = _TOLERANCE**2 * size
    for _ in range(_MOST_STEPS):
        if np.all(size <= goal):
            return Z
        image = multiply(direction)
        curvature = (direction * image).sum(axis=0)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        Z += step * direction
        residual -= step * image
        scaled = residual / diagonal
        before, size = size, (residual * scaled).sum(axis=0)
        direction = scaled + np.divide(size, before, out=np.zeros_like(size), where=before > 0) * direction
    warn(
        f"A linear system in X'X was not solved to {_TOLERANCE:g} in {_MOST_STEPS:,} steps; scale the features.",
        ConvergenceWarning,
    )
    return Z


def extreme_eigenvalues(X: Matrix) -> tuple[float, float]:
    """Bound the smallest eigenvalue of X'X from below and the largest from above, up to a per cent.

    The smallest is only looked for where X has at least as many rows as columns and 1,024 columns at the most; elsewhere 0.
    """
    n_rows, n_columns = X.shape
    smaller = min(n_rows, n_columns)
    if smaller <= LARGEST_SQUARE // 2:
        values = scipy.linalg.eigvalsh(gram(X if n_columns <= n_rows else X.T))
        return (max(0.0, float(values[0])) if n_columns <= n_rows else 0.0), max(0.0, float(values[-1]))
    operator = LinearOperator((n_columns, n_columns), matvec=lambda v: X.T @ (X @ v), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n_columns)
    (largest,) = eigsh(operator, k=1, v0=start, tol=1e-4, return_eigenvectors=False)
    return 0.0, 1.01 * float(largest)


def is_positive_definite(X: Matrix, shift: float) -> bool | None:
    """Tell whether X'X + shift I, shift below 0, has only positive eigenvalues; None if that would take too long.

    A column whose length, squared, is below -shift says no at once; else a Cholesky factorization decides, where X has 10,000
    columns at the most. Beyond, nothing is known.
    """
    n_rows, n_columns = X.shape
    squares = np.asarray((X.multiply(X) if is_sparse(X) else X * X).sum(axis=0), dtype=np.float64)
    if n_columns > n_rows or squares.min(initial=np.inf) + shift < 0:
        return False
    if n_columns > LARGEST_SYSTEM:
        return None
    square = gram(X)
    square[np.diag_indices_from(square)] += shift
    try:
        interruptible(lambda: scipy.linalg.cholesky(square.T, overwrite_a=True, check_finite=False), len(square))
    except scipy.linalg.LinAlgError:
        return False
    return True


def weighted_rows(matrix: Matrix, weights: Array) -> Matrix:
    """Multiply every row by its weight; the matrix may be dense or sparse."""
    return sp.csr_array(sp.diags_array(weights) @ matrix) if is_sparse(matrix) else weights[:, np.newaxis] * matrix
