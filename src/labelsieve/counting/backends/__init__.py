from labelsieve.counting.backends.chunked.backend import ChunkedBackend
from labelsieve.counting.backends.dask.backend import dask_backend
from labelsieve.counting.backends.factory import CountingOptions, make_backend
from labelsieve.counting.backends.gpu.backend import GpuBackend
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import (
    Backend,
    BackendFactory,
    Column,
    Feature,
    FoldingBackend,
    JointFeatures,
    Panel,
    PanelFold,
    Target,
)

__all__ = [
    "Backend",
    "BackendFactory",
    "ChunkedBackend",
    "Column",
    "CountingOptions",
    "Feature",
    "FoldingBackend",
    "GpuBackend",
    "JointFeatures",
    "NativeBackend",
    "Panel",
    "PanelFold",
    "Target",
    "dask_backend",
    "make_backend",
]
