"""Factories of GPU backends for tests: kernels in numpy everywhere, and those of a GPU with ``pytest -m gpu``."""

from functools import partial

import pytest

from labelsieve.counting.backends.gpu.backend import GpuBackend
from labelsieve.counting.backends.gpu.kernels import CudaKernels
from tests.support.numpy_kernels import NumpyKernels


def on_gpu(*tables, instruction=None, **options):
    return GpuBackend(*tables, kernels=CudaKernels(instruction=instruction), **options)


STAND_INS = {
    "gpu, numpy": partial(GpuBackend, kernels=NumpyKernels(tensor=True)),
    "gpu, numpy, features in host memory": partial(GpuBackend, kernels=NumpyKernels(), memory_limit=0),
}
CARDS = {
    "gpu": on_gpu,
    "gpu, mma": partial(on_gpu, instruction="mma"),
    "gpu, without tensor cores": partial(on_gpu, instruction="popcount"),
    "gpu, features in host memory": partial(on_gpu, memory_limit=0),
}
GPU_BACKENDS = {**STAND_INS, **{name: pytest.param(factory, marks=pytest.mark.gpu) for name, factory in CARDS.items()}}
