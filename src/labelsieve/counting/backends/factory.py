"""The factory of backends: from a ``backend=`` setting, or the sizes of the tables, to a backend."""

from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.chunked.backend import ChunkedBackend
from labelsieve.counting.backends.chunked.codes_file import MappedCodes
from labelsieve.counting.backends.dask.backend import dask_backend
from labelsieve.counting.backends.gpu.backend import GpuBackend
from labelsieve.counting.backends.gpu.device import BIT_LEVELS, find_cupy
from labelsieve.counting.backends.known_targets import KnownTargets
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import Backend, BackendFactory
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import DeviceError, InputError, unknown_name
from labelsieve.resources import n_threads
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import Estimator, RowWeights

BackendSetting = str | BackendFactory
BACKENDS: dict[str, BackendFactory] = {
    "native": NativeBackend,
    "chunked": ChunkedBackend,
    "dask": dask_backend,
    "gpu": GpuBackend,
}
# Cells of a panel from which on 50 panels take a thread of the core about 0.6 s, nearly as long as the start of a GPU. Once a
# GPU has started it is faster from a tenth of that on: benchmarks/gpu.py --sizes.
CELLS_PER_THREAD = 2**28


@dataclass(frozen=True, eq=False)
class CountingOptions:
    """Settings that all counting for one selection shares.

    Attributes
    ----------
    weights : RowWeights, optional
        Quantized weights of the rows of ``X``.
    estimator : {"plugin", "miller-madow", "shrinkage"}, default="plugin"
        Of entropies.
    n_jobs : int, optional
        Threads; None is one, -1 is all.
    backend : {"auto", "native", "chunked", "dask", "gpu", "gpu:0", "gpu:1", ...} or callable, default="auto"
        What counts: a name, or a factory (:class:`~labelsieve.counting.backends.protocol.BackendFactory`).
    """

    weights: RowWeights | None = None
    estimator: Estimator = "plugin"
    n_jobs: int | None = None
    backend: BackendSetting = "auto"


DEFAULT_OPTIONS = CountingOptions()


def _named(name: str, X: Codes, Y: Codes, options: CountingOptions) -> BackendFactory:
    if name == "auto":
        return auto_backend(X, Y, options.weights, options.n_jobs)
    kind, _, device = name.partition(":")
    if kind == "gpu" and device.isdecimal():
        return partial(GpuBackend, device=int(device))
    if name not in BACKENDS:
        raise unknown_name("backend", name, ["auto", *BACKENDS, "gpu:0"], more=", or a callable that builds one")
    return BACKENDS[name]


def make_backend(
    X: Codes,
    Y: Codes,
    fixed: FixedPoint,
    options: CountingOptions = DEFAULT_OPTIONS,
    *,
    row_index: NDArray[np.uint32] | None = None,
) -> Backend:
    """A backend for features ``X`` and targets ``Y``, as ``options.backend`` names or builds it."""
    setting = options.backend
    if isinstance(setting, str):
        setting = _named(setting, X, Y, options)
    if X.has_missing:
        raise InputError(
            "Missing cells that are left out pair by pair (missing='drop-pairwise', or unknown labels) cannot be counted here; "
            "fill them or drop their rows."
        )
    if Y.has_missing and not getattr(setting, "counts_unknown", False):
        return KnownTargets(setting, X, Y, fixed, weights=options.weights, row_index=row_index, n_jobs=options.n_jobs)
    return setting(X, Y, fixed, weights=options.weights, row_index=row_index, n_jobs=options.n_jobs)


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
