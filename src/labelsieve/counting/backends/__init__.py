"""Backends count codes and answer with sums over the cells of joint tables.

Read ``protocol`` first: :class:`Backend` is all that formulas know of counting. ``native`` is the backend for data in memory;
``factory`` chooses one. Those for chunks of rows, Dask clusters, Spark and GPUs are imported when they are asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from labelsieve.counting.backends.factory import CountingOptions, make_backend
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import (
    Backend,
    BackendFactory,
    Column,
    Feature,
    JointFeatures,
    Panel,
    PanelFold,
    Target,
)

if TYPE_CHECKING:
    from labelsieve.counting.backends.chunked.backend import ChunkedBackend
    from labelsieve.counting.backends.dask import dask_backend
    from labelsieve.counting.backends.gpu.backend import GpuBackend

__all__ = [
    "Backend",
    "BackendFactory",
    "ChunkedBackend",
    "Column",
    "CountingOptions",
    "Feature",
    "GpuBackend",
    "JointFeatures",
    "NativeBackend",
    "Panel",
    "PanelFold",
    "Target",
    "dask_backend",
    "make_backend",
]

_IMPORTED_LATER = {"ChunkedBackend": "chunked.backend", "dask_backend": "dask", "GpuBackend": "gpu.backend"}


def __getattr__(name: str) -> Any:
    if name not in _IMPORTED_LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_IMPORTED_LATER[name]}"), name)
