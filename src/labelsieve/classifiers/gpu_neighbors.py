"""The search for neighbors on a GPU: the distances, neighbors and ties of the core."""

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.gpu_compile import compiled_kernel
from labelsieve.counting.backends.gpu_memory import CardMemory
from labelsieve.table_types import DeviceArray

SUM_BYTES = 2**30  # of the distances of the queries that are searched for at once


class CudaNeighbors(CardMemory):
    """The kernel on an NVIDIA GPU, which CuPy compiles on first use."""

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
        """Nearest rows of the queries from ``first`` on, as many as ``rows`` of shape (sizes, queries, k) holds."""
        n_columns, n_rows = columns.shape
        n_sizes, n_queries, k = rows.shape
        out = 0 if squares is None else squares
        arguments = columns, points, n_rows, n_columns, first, int(leave_out), sizes, n_sizes, k, sums, rows, out
        compiled_kernel("labelsieve.classifiers", "gpu_neighbors.cu", "nearest")((n_queries,), (256,), arguments)


def nearest_on_gpu(
    table: NDArray[np.float64],
    points: NDArray[np.float64],
    sizes: NDArray[np.uint64],
    k: int,
    leave_out: bool,
    distances: bool,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
    """Ends of the lists of all sizes and queries, their rows, and squared distances: as ``core.nearest_dense``, ties first."""
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
