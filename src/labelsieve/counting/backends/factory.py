"""The factory of backends: from a ``backend=`` setting to a backend."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.auto_backend import auto_backend
from labelsieve.counting.backends.chunked import ChunkedBackend
from labelsieve.counting.backends.dask_layout import dask_backend
from labelsieve.counting.backends.gpu_backend import GpuBackend
from labelsieve.counting.backends.known_targets import KnownTargets
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import Backend, BackendFactory
from labelsieve.counting.codes import Codes
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.row_weights import Estimator, RowWeights
from labelsieve.errors import InputError
from labelsieve.names import unknown_name

BackendSetting = str | BackendFactory
BACKENDS: dict[str, BackendFactory] = {
    "native": NativeBackend,
    "chunked": ChunkedBackend,
    "dask": dask_backend,
    "gpu": GpuBackend,
}


@dataclass(frozen=True, eq=False)
class CountingOptions:
    """What everything that counts for one selection shares.

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
