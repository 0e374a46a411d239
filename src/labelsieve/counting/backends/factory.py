"""Choosing a backend: by the setting ``backend=``, or by the sizes of the tables."""

from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.known_targets import KnownTargets
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import Backend, BackendFactory
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.errors import DeviceError, InputError, unknown_name
from labelsieve.resources import n_threads
from labelsieve.tables.codes import Codes
from labelsieve.tables.weights import Estimator, RowWeights

BackendSetting = str | BackendFactory
NAMES = ("auto", "native", "chunked", "dask", "spark", "gpu", "gpu:0")
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
        The estimator of entropies.
    n_jobs : int, optional
        Threads; None is one, -1 is all.
    backend : {"auto", "native", "chunked", "dask", "spark", "gpu", "gpu:0", "gpu:1", ...} or callable, default="auto"
        What counts: a name, or a factory (:class:`~labelsieve.counting.backends.protocol.BackendFactory`).
    """

    weights: RowWeights | None = None
    estimator: Estimator = "plugin"
    n_jobs: int | None = None
    backend: BackendSetting = "auto"


DEFAULT_OPTIONS = CountingOptions()


def make_backend(
    X: Codes,
    Y: Codes,
    fixed: FixedPoint,
    options: CountingOptions = DEFAULT_OPTIONS,
    *,
    row_index: NDArray[np.uint32] | None = None,
) -> Backend:
    """Build the backend that ``options.backend`` names, or builds, for features ``X`` and targets ``Y``."""
    if X.has_missing:
        raise InputError(
            "Missing cells that are left out pair by pair (missing='drop-pairwise', or unknown labels) cannot be counted here; "
            "fill them or drop their rows."
        )
    setting = options.backend
    if setting == "auto":
        setting = fastest_backend(X, Y, options)
    build = named_backend(setting) if isinstance(setting, str) else setting
    # The core counts unknown cells of targets itself. Other backends count them as a level, and KnownTargets takes them out.
    if Y.has_missing and build is not NativeBackend:
        build = partial(KnownTargets, build)
    return build(X, Y, fixed, weights=options.weights, row_index=row_index, n_jobs=options.n_jobs)


def fastest_backend(X: Codes, Y: Codes, options: CountingOptions) -> BackendFactory | str:
    """Return the backend that is expected to be fastest for a table and a number of threads."""
    if X.in_file:
        from labelsieve.counting.backends.chunked.codes_file import MappedCodes

        return X.backend if isinstance(X, MappedCodes) else "chunked"
    enough = CELLS_PER_THREAD * n_threads(options.n_jobs)
    possible = options.weights is None and not Y.has_missing and X.n_columns * X.n_rows * (Y.n_columns + 1) >= enough
    if possible and panel_cells(X, Y) >= enough and has_gpu():
        return "gpu"
    return NativeBackend


def named_backend(name: str) -> BackendFactory:
    """Return the factory of a backend by its name; only the package of that backend is imported."""
    kind, _, device = name.partition(":")
    if name == "native":
        return NativeBackend
    if name == "chunked":
        from labelsieve.counting.backends.chunked.backend import ChunkedBackend

        return ChunkedBackend
    if name == "dask":
        from labelsieve.counting.backends.dask import dask_backend

        return dask_backend
    if name == "spark":
        from labelsieve.counting.backends.spark import SparkBackend

        return SparkBackend
    if name == "gpu" or (kind == "gpu" and device.isdecimal()):
        from labelsieve.counting.backends.gpu.backend import GpuBackend

        return partial(GpuBackend, device=int(device)) if device else GpuBackend
    raise unknown_name("backend", name, NAMES, more=", or a callable that builds one")


def panel_cells(X: Codes, Y: Codes) -> int:
    """Return the number of features times rows of targets that the core goes through for a panel.

    0 for tables of many levels and sparse ones, for which a GPU has no advantage.
    """
    from labelsieve.counting.backends.gpu.device import BIT_LEVELS

    if X.dense is None or int(X.levels.max()) > BIT_LEVELS or int(Y.levels.max()) > BIT_LEVELS:
        return 0
    listed = len(Y.sparse.rows) if Y.sparse is not None else int(np.count_nonzero(Y.to_dense()))
    return X.n_columns * (X.n_rows + listed)


@cache
def has_gpu() -> bool:
    """True when CuPy is installed and finds a GPU and a compiler; asked for once."""
    if find_spec("cupy") is None:
        return False
    from labelsieve.counting.backends.gpu.device import find_cupy

    try:
        find_cupy(None)
    except DeviceError:
        return False
    return True
