"""``backend="auto"``: the core, chunks or workers for tables that are not in memory, or a GPU for large tables."""

from functools import cache
from importlib.util import find_spec

import numpy as np

from labelsieve.counting.backends.chunked import ChunkedBackend
from labelsieve.counting.backends.dask_layout import dask_backend
from labelsieve.counting.backends.gpu_backend import GpuBackend
from labelsieve.counting.backends.gpu_bits import BIT_LEVELS
from labelsieve.counting.backends.gpu_compile import find_cupy
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import BackendFactory
from labelsieve.counting.codes import Codes
from labelsieve.counting.mapped_codes import MappedCodes
from labelsieve.counting.resources import n_threads
from labelsieve.counting.row_weights import RowWeights
from labelsieve.errors import DeviceError

# Cells of a panel from which on 50 panels take a thread of the core about 0.6 s, nearly as long as the start of a GPU. Once a
# GPU has started it is faster from a tenth of that on: benchmarks/gpu.py --sizes.
CELLS_PER_THREAD = 2**28


def auto_backend(X: Codes, Y: Codes, weights: RowWeights | None, n_jobs: int | None) -> BackendFactory:
    """The factory of the backend that is expected to be fastest for a table and a number of threads."""
    if isinstance(X, MappedCodes):
        return dask_backend if X.on_cluster else ChunkedBackend
    enough = CELLS_PER_THREAD * n_threads(n_jobs)
    possible = weights is None and not Y.has_missing and X.n_columns * X.n_rows * (Y.n_columns + 1) >= enough
    if possible and panel_cells(X, Y) >= enough and has_gpu():
        return GpuBackend
    return NativeBackend


def panel_cells(X: Codes, Y: Codes) -> int:
    """Features times rows of targets that the core goes through for a panel: those outside of the first level.

    0 for tables of many levels and sparse ones, for which a GPU has no advantage.
    """
    if X.dense is None or int(X.levels.max()) > BIT_LEVELS or int(Y.levels.max()) > BIT_LEVELS:
        return 0
    listed = len(Y.sparse.rows) if Y.sparse is not None else int(np.count_nonzero(Y.to_dense()))
    return X.n_columns * (X.n_rows + listed)


@cache
def has_gpu() -> bool:
    """True when CuPy is installed and finds a GPU and a compiler; asked for once."""
    if find_spec("cupy") is None:
        return False
    try:
        find_cupy(None)
    except DeviceError:
        return False
    return True
