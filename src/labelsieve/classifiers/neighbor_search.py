"""Exact nearest neighbors of dense or sparse rows, on the processor or a GPU, and counts of their labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray

from labelsieve import core
from labelsieve.counting.backends.gpu.device import CardMemory, compiled_kernel
from labelsieve.errors import InputError, one_of, whole_number
from labelsieve.tables.frames import check_sparse, without_duplicates
from labelsieve.tables.magnitude import Numbers, extreme_exponent, times_power_of_two
from labelsieve.tables.types import CompressedMatrix, DeviceArray, Matrix, TableLike, is_sparse

SUM_BYTES = 2**30  # of the distances of the queries that a GPU searches at once
LARGEST_EXPONENT = 480  # of two: sums of 2**60 squares do not overflow
Ties = Literal["first", "all"]
Searcher = Literal["native", "gpu"]
Lists = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]  # ends, rows and squared distances of all lists


@dataclass(frozen=True)
class Neighbors:
    """The neighbors that :func:`nearest_neighbors` finds, nearest first.

    Attributes
    ----------
    starts : ndarray of int64, shape (n_queries + 1,)
        The neighbors of query ``i`` are ``rows[starts[i]:starts[i + 1]]``.
    rows, squared_distances : ndarray
        The row numbers of all neighbors, and their squared Euclidean distances.

    Examples
    --------
    >>> found = nearest_neighbors(np.array([[0.0], [1.0], [3.0], [3.5]]), k=2)
    >>> found.rows[found.starts[3] : found.starts[4]]
    array([2, 1], dtype=uint32)
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    squared_distances: NDArray[np.float64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of neighbors of each query."""
        return np.diff(self.starts)

    def sum(self, values: Matrix) -> Any:
        """Sum the values of the neighbors: an array for an array, a sparse matrix for a sparse matrix.

        Cost: one addition for each neighbor and column (or non-zero of its row).
        """
        ones = np.ones(len(self.rows), dtype=values.dtype)
        shape = (len(self.starts) - 1, values.shape[0])
        return sp.csr_matrix((ones, self.rows.astype(np.int64), self.starts), shape=shape) @ values


def nearest_neighbors(
    X: TableLike,
    queries: TableLike | None = None,
    *,
    k: int,
    ties: Ties = "first",
    n_jobs: int | None = None,
    backend: Searcher = "native",
) -> Neighbors:
    r"""Find the ``k`` rows of ``X`` nearest to every query, by :math:`\sum_f (a_f - b_f)^2`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        Finite numbers.
    queries : array or sparse matrix of shape (n_queries, n_features), default=None
        None: the rows of ``X``, each excluded from its own neighbors. They are converted to the format (dense or sparse) of
        ``X``.
    k : int
        Number of neighbors; all rows, if there are fewer.
    ties : {"first", "all"}, default="first"
        Exactly ``k`` neighbors, the first rows among ties; or all rows at most as far as the ``k``-th, as in Weka.
    n_jobs : int, default=None
        Threads; None: one, -1: all. The result does not depend on it.
    backend : {"native", "gpu"}, default="native"
        The compiled core, or a GPU (docs/scale/gpu.md), which searches dense tables with ``ties="first"``. The result
        does not depend on it.

    Notes
    -----
    Dense distances are summed feature by feature, so exact ties are preserved. Sparse distances are
    :math:`|a|^2 + |b|^2 - 2ab`: exact for whole numbers, else up to rounding. Cost: ``n_queries * n_rows * n_features``; for
    sparse data ``n_rows`` and the stored entries of the columns of each query. Memory: a few rows of distances per thread.
    Neighbors are right for numbers of any size; a squared distance that is no floating-point number is infinite, or 0.

    Examples
    --------
    >>> nearest_neighbors(np.array([[0.0], [1.0], [3.0], [3.5]]), k=1).rows
    array([1, 0, 3, 2], dtype=uint32)
    """
    k = _checked(k, ties, backend)
    check_sparse(X, "X")
    check_sparse(queries, "queries")
    if is_sparse(X):
        if backend == "gpu":
            raise InputError("backend='gpu' searches dense tables: use X.toarray(), or backend='native'.")
        return _search_sparse(sp.csc_matrix(X), None if queries is None else sp.csr_matrix(queries), k, ties, n_jobs)
    table = np.asfortranarray(X, dtype=np.float64)
    points = X if queries is None else queries.toarray() if is_sparse(queries) else queries
    points = np.ascontiguousarray(points, dtype=np.float64)
    _require_same_width(table, points)
    sizes = np.array([table.shape[1]], dtype=np.uint64)
    return _search_dense(table, points, sizes, k, ties, n_jobs, backend, leave_out=queries is None, distances=True)


def nested_neighbors(
    X: TableLike,
    queries: TableLike | None = None,
    *,
    features: Sequence[int],
    sizes: Sequence[int] | None = None,
    k: int,
    ties: Ties = "first",
    distances: bool = True,
    single: bool = False,
    n_jobs: int | None = None,
    backend: Searcher = "native",
) -> list[Neighbors]:
    """Find neighbors by the first 1, 2, ..., features of a ranking, from distances updated one feature at a time.

    Parameters
    ----------
    X, queries, k, ties, n_jobs, backend
        See :func:`nearest_neighbors`.
    features : sequence of int
        Columns of ``X``, best first.
    sizes : increasing sequence of int, default=None
        Numbers of features; None: 1 up to all.
    distances : bool, default=True
        False: ``squared_distances`` stay empty, and the lists take a third of the memory.
    single : bool, default=False
        Compute distances in single precision, which takes half the time, for standardized columns and up to 64 neighbors. Rows
        whose distances differ by less than its rounding may change places. A GPU always computes in double precision.

    Returns
    -------
    list of Neighbors
        One for each size.

    Notes
    -----
    Distances are updated one feature at a time, and rows within a bound on the ``k``-th distance are examined: ``n_queries *
    n_rows * len(features)`` steps of about a processor cycle, fewer if all values are small whole numbers or zeros and ones.
    More than 64 neighbors are searched again at every size.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 9.0], [3.0, 1.0]])
    >>> [found.rows.tolist() for found in nested_neighbors(X, features=[0, 1], k=1)]
    [[1, 0, 1], [2, 2, 0]]
    """
    k = _checked(k, ties, backend)
    columns = np.asarray(features, dtype=np.intp)
    steps = np.arange(1, len(columns) + 1) if sizes is None else np.asarray(sizes, dtype=np.int64)
    if len(columns) == 0 or len(steps) == 0:
        raise InputError("features and sizes must not be empty.")
    if steps[0] < 1 or steps[-1] > len(columns) or (np.diff(steps) < 1).any():
        raise InputError(f"sizes must increase, from at least 1 to at most {len(columns)}, the number of features.")
    check_sparse(X, "X")
    check_sparse(queries, "queries")
    table = np.asfortranarray(_dense_columns(X, columns), dtype=np.float64)
    points = np.ascontiguousarray(table if queries is None else _dense_columns(queries, columns), dtype=np.float64)
    ends = steps.astype(np.uint64)
    own = queries is None
    found = _search_dense(table, points, ends, k, ties, n_jobs, backend, leave_out=own, distances=distances, single=single)
    # The lists of all sizes lie one after the other.
    n_queries, nested = len(points), []
    for step in range(len(steps)):
        starts = found.starts[step * n_queries : (step + 1) * n_queries + 1]
        inside = slice(starts[0], starts[-1])
        nested.append(Neighbors(starts - starts[0], found.rows[inside], found.squared_distances[inside]))
    return nested


@dataclass(frozen=True)
class LabelVotes:
    """The labels of the training rows, as votes of neighbors: those of row ``i`` are ``labels[starts[i]:starts[i + 1]]``.

    >>> import scipy.sparse as sp
    >>> votes = LabelVotes.of(sp.csr_matrix([[1, 0], [1, 1], [0, 1]]))
    >>> votes.counts(nearest_neighbors(np.array([[0.0], [1.0], [5.0]]), np.array([[0.4]]), k=2))
    array([[2., 1.]])
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.uint32]
    n_labels: int

    @classmethod
    def of(cls, matrix: CompressedMatrix) -> Self:
        """Take the labels of a 0/1 matrix in CSR format."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.shape[1])

    def histograms(self, neighbors: Neighbors, most: int, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Count the rows by their own label and by the number of their neighbors with it.

        ``[b, l, j]`` is the number of rows without (``b`` = 0) or with label ``l`` that have ``j`` neighbors with it. ``j``
        ends at ``most``, which means ``most`` or more. ``neighbors`` are those of the training rows.
        Cost: one step for each label of each neighbor.
        """
        lists = neighbors.starts, neighbors.rows, self.starts, self.labels
        found = core.label_histograms(*lists, self.n_labels, most, effective_n_jobs(n_jobs))
        return found.reshape(2, self.n_labels, most + 1)

    def look_up(self, neighbors: Neighbors, table: NDArray[np.float64], n_jobs: int | None = None) -> NDArray[np.float64]:
        """Look up ``table[l, j]`` for each query and label ``l`` that ``j`` neighbors have; the last column: or more."""
        found = np.empty((len(neighbors.starts) - 1, self.n_labels))
        lists = neighbors.starts, neighbors.rows, self.starts, self.labels
        core.label_answers(*lists, np.ascontiguousarray(table), found, effective_n_jobs(n_jobs))
        return found

    def counts(self, neighbors: Neighbors, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Count the neighbors with each label, for each query."""
        most = int(neighbors.counts.max(initial=0))
        return self.look_up(neighbors, np.tile(np.arange(most + 1.0), (self.n_labels, 1)), n_jobs)


def _search_sparse(columns: sp.csc_matrix, rows: sp.csr_matrix | None, k: int, ties: Ties, n_jobs: int | None) -> Neighbors:
    """Search the neighbors of sparse rows; None: of the table's own rows."""
    leave_out = rows is None
    columns = without_duplicates(columns)
    rows = columns.tocsr() if rows is None else without_duplicates(rows)
    _require_same_width(columns, rows)
    exponent, (columns, rows) = _moderate(columns, rows)
    (starts, indices, values), points = (
        (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float64))
        for matrix in (columns, rows)
    )
    shape, threads = columns.shape[0], effective_n_jobs(n_jobs)
    found = core.nearest_sparse(starts, indices, values, shape, *points, k, ties == "all", leave_out, threads)
    return _neighbors(found, exponent)


def _search_dense(
    table: NDArray[np.float64],
    points: NDArray[np.float64],
    sizes: NDArray[np.uint64],
    k: int,
    ties: Ties,
    n_jobs: int | None,
    backend: Searcher,
    *,
    leave_out: bool,
    distances: bool,
    single: bool = False,
) -> Neighbors:
    """Search the neighbors of all points by the first columns, as many as each of ``sizes``, one list after the other."""
    exponent, (table, points) = _moderate(table, points)
    if backend == "gpu":
        found = nearest_on_gpu(table, points, sizes, k, leave_out, distances)
    else:
        threads = effective_n_jobs(n_jobs)
        found = core.nearest_dense(table, points, sizes, k, ties == "all", leave_out, distances, single, threads)
    return _neighbors(found, exponent)


def _checked(k: int, ties: str, backend: str) -> int:
    one_of(ties, "ties", ("first", "all"))
    one_of(backend, "backend", ("native", "gpu"))
    if backend == "gpu" and ties == "all":
        raise InputError("backend='gpu' searches for exactly k neighbors: use ties='first', or backend='native'.")
    return whole_number(k, "k", 1, 2**31)


def _dense_columns(X: TableLike, columns: NDArray[np.intp]) -> NDArray[Any]:
    dense: NDArray[Any] = sp.csc_matrix(X)[:, columns].toarray() if is_sparse(X) else np.asarray(X)[:, columns]
    return dense


def _require_same_width(table: Matrix, points: Matrix) -> None:
    if table.shape[1] != points.shape[1]:
        raise InputError(
            f"X has {table.shape[1]} columns and the queries have {points.shape[1]}; they must be the same columns."
        )


def _moderate(*tables: Numbers) -> tuple[int, list[Numbers]]:
    """Scale tables to units of ``2 ** exponent``, so that squares of very large or small numbers do not overflow or vanish.

    The largest number becomes as large as squares allow: numbers that are 1e290 times smaller still count.
    """
    exponent = extreme_exponent(*tables)
    exponent -= LARGEST_EXPONENT if exponent else 0
    return exponent, [times_power_of_two(table, -exponent) for table in tables]


def _neighbors(found: Lists, exponent: int) -> Neighbors:
    """Return the lists with squared distances in the units of the tables that were given."""
    ends, rows, squares = found
    if exponent:
        with np.errstate(over="ignore", under="ignore"):
            squares = np.ldexp(squares, 2 * exponent)
    return Neighbors(np.concatenate([[0], ends.astype(np.int64)]), rows, squares)


def nearest_on_gpu(
    table: NDArray[np.float64],
    points: NDArray[np.float64],
    sizes: NDArray[np.uint64],
    k: int,
    leave_out: bool,
    distances: bool,
) -> Lists:
    """Search on a GPU, with the results of ``core.nearest_dense`` when ties go to the first rows."""
    kernels = CudaNeighbors()
    xp, (n_rows, n_queries) = kernels.xp, (len(table), len(points))
    n_taken = min(k, n_rows - int(leave_out))
    at_once = max(1, min(n_queries, SUM_BYTES // (8 * n_rows)))
    shape = len(sizes), n_queries, n_taken
    found = np.empty(shape, dtype=np.uint32)
    squares = np.empty(shape if distances else 0)
    with kernels.device:
        columns, queries, steps = (xp.asarray(part) for part in (np.ascontiguousarray(table.T), points, sizes.astype(np.int64)))
        sums = xp.empty((at_once, n_rows))
        for first in range(0, n_queries if n_taken else 0, at_once):
            part = slice(first, min(n_queries, first + at_once))
            shape = len(sizes), part.stop - first, n_taken
            rows, of_rows = xp.empty(shape, dtype=np.uint32), xp.empty(shape) if distances else None
            kernels.nearest(columns, queries, first, steps, leave_out, sums, rows, of_rows)
            found[:, part] = kernels.to_host(rows)
            if distances:
                squares[:, part] = kernels.to_host(of_rows)
    ends = np.arange(1, len(sizes) * n_queries + 1, dtype=np.uint64) * np.uint64(n_taken)
    return ends, found.ravel(), squares.ravel()


class CudaNeighbors(CardMemory):
    """The search kernel on an NVIDIA GPU, which CuPy compiles on first use."""

    def nearest(
        self,
        columns: DeviceArray,
        points: DeviceArray,
        first: int,
        sizes: DeviceArray,
        leave_out: bool,
        sums: DeviceArray,
        rows: DeviceArray,
        squares: DeviceArray | None,
    ) -> None:
        """Find the nearest rows of the queries from ``first`` on, as many as ``rows`` of shape (sizes, queries, k) holds."""
        n_columns, n_rows = columns.shape
        n_sizes, n_queries, k = rows.shape
        out = 0 if squares is None else squares
        arguments = columns, points, n_rows, n_columns, first, int(leave_out), sizes, n_sizes, k, sums, rows, out
        compiled_kernel("labelsieve.classifiers", "gpu_neighbors.cu", "nearest")((n_queries,), (256,), arguments)
